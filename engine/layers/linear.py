"""Matrix products whose weights are shared out over the ranks of a group: by output (columns of the transposed matrix)
or by input (rows). T tokens, I inputs, O outputs of this rank.

On CPUs with bf16 products, oneDNN reorders the plain weight on every call; the packed form is reordered once, gives the
same bits, and costs the memory of a second copy unless the plain one goes."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor, nn

from engine.distributed.group import Group
from engine.schema.errors import BadConfig

_PACK_ROWS = 16  # what a decode batch usually is; the packed weight serves other sizes too


def share(total: int, size: int, what: str) -> int:
    """How much of it each rank has. Raises BadConfig when it can't be shared out evenly."""
    if total % size:
        raise BadConfig(f"{what}={total} over {size} ranks", fix=f"use a number of ranks that divides {total}")
    return total // size


class Adapters(Protocol):
    """What some rows of a step have added to their products."""

    def add(self, x_TI: Tensor, y_TO: Tensor) -> Tensor:
        """y, its rows without an adapter bit for bit as they were. May be written in place."""
        ...


class Linear(nn.Module):
    """weight: [O, I]. Whole on every rank; the two below keep a share. adapters: asked after every product, before
    ranks sum up what they have."""

    def __init__(self, inputs: int, outputs: int, *, has_bias: bool, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, dtype=dtype), requires_grad=False)
        self.bias = nn.Parameter(torch.empty(outputs, dtype=dtype), requires_grad=False) if has_bias else None
        self._packed: Tensor | None = None
        self.adapters: Adapters | None = None

    def pack(self, *, is_plain_kept: bool = True) -> bool:
        """Reorder the weight for this machine; whether it could be. Without the plain weight it can't be loaded
        anew."""
        weight = self.weight
        if not can_pack(weight):
            return False
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight.data, _PACK_ROWS)
        if not is_plain_kept:
            weight.data = torch.empty(0, dtype=weight.dtype)
        return True

    def unpack(self) -> None:
        """After the weight was written: the packed form is of the old one."""
        self._packed = None

    def product(self, x_TI: Tensor) -> Tensor:
        """[T, O]."""
        if self._packed is None:
            return F.linear(x_TI, self.weight, self.bias)
        made: Tensor = torch.ops.mkldnn._linear_pointwise(x_TI, self._packed, self.bias, "none", [], "")
        return made

    def adapted(self, x_TI: Tensor) -> Tensor:
        """[T, O], with what adapters add on this rank."""
        made = self.product(x_TI)
        return made if self.adapters is None else self.adapters.add(x_TI, made)

    def forward(self, x_TI: Tensor) -> Tensor:
        return self.adapted(x_TI)


def can_pack(weight: Tensor) -> bool:
    """Whether oneDNN has a reordered form for it on this machine: bf16 on a CPU with products for it."""
    if weight.device.type != "cpu" or weight.dtype != torch.bfloat16:
        return False
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


class ColumnLinear(Linear):
    """Each rank computes its own outputs; nothing is exchanged."""


class RowLinear(Linear):
    """Each rank has its own inputs; the sum over the ranks is the product. Only the first rank adds the bias."""

    def __init__(self, inputs: int, outputs: int, *, group: Group, has_bias: bool, dtype: torch.dtype) -> None:
        super().__init__(inputs, outputs, has_bias=has_bias and group.rank == 0, dtype=dtype)
        self.group = group

    def forward(self, x_TI: Tensor) -> Tensor:
        return self.group.all_reduce(self.adapted(x_TI))
