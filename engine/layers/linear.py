"""Matrix products whose weights are shared out over the ranks of a group: by output (columns of the transposed matrix)
or by input (rows). T tokens, I inputs, O outputs of this rank.

A weight may be packed for this machine: reordered by oneDNN where the CPU multiplies bf16 (which it would else do on
every call), else in the panels of our own kernels. Neither changes a weight; a packed weight costs its memory a second
time unless the plain one goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor, nn

from engine.distributed.group import Group
from engine.kernels import panels
from engine.schema.errors import BadConfig

_WIDE_ROWS = 128
_PACK_ROWS = 16  # what a decode batch usually is; the packed weight serves other sizes too


def share(total: int, size: int, what: str) -> int:
    """How much of it each rank has. Raises BadConfig when it can't be shared out evenly."""
    if total % size:
        raise BadConfig(f"{what}={total} over {size} ranks", fix=f"use a number of ranks that divides {total}")
    return total // size


class Adapters(Protocol):
    """What some rows of a step have added to their products. is_idle: nothing, to none of this step's."""

    @property
    def is_idle(self) -> bool: ...

    def add(self, x_TI: Tensor, y_TO: Tensor) -> Tensor:
        """y, its rows without an adapter bit for bit as they were. May be written in place."""
        ...


class HasWeight(Protocol):
    weight: nn.Parameter


class Packed(Protocol):
    """A weight in a form of its own."""

    def product(self, x_TI: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """[T, O], in the dtype of x or another."""
        ...

    def plain(self) -> Tensor:
        """[O, I] as it was; of a quantised weight what it stands for."""
        ...

    @property
    def remake(self) -> Remake:
        """How another weight is brought into the same form."""
        ...

    @property
    def is_quantised(self) -> bool:
        """Whether it stands for another weight than the one that it was made of."""
        ...

    def is_of(self, weight_OI: Tensor, bias: Tensor | None) -> bool:
        """Whether it stands for these. Then it is to be kept: of a weight that was quantised once, another form may
        come."""
        ...

    @property
    def num_bytes(self) -> int: ...


Remake = Callable[[Tensor, "Tensor | None"], Packed]  # weight and bias


class OneDnn:
    """Gives the bits of F.linear."""

    def __init__(self, weight_OI: Tensor, bias: Tensor | None) -> None:
        self.outputs, self.inputs = weight_OI.shape
        self.weight, self.bias = torch.ops.mkldnn._reorder_linear_weight(weight_OI, _PACK_ROWS), bias

    @property
    def num_bytes(self) -> int:
        return self.outputs * self.inputs * 2

    def product(self, x_TI: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        made: Tensor = torch.ops.mkldnn._linear_pointwise(x_TI, self.weight, self.bias, "none", [], "")
        return made if dtype is None else made.to(dtype)

    def plain(self) -> Tensor:
        made: Tensor = self.weight.to_dense()
        return made

    @property
    def remake(self) -> Remake:
        return OneDnn

    @property
    def is_quantised(self) -> bool:
        return False

    def is_of(self, weight_OI: Tensor, bias: Tensor | None) -> bool:
        return self.bias is bias and torch.equal(self.plain(), weight_OI)


class Linear(nn.Module):
    """weight: [O, I], empty while only the packed form is kept. Whole on every rank; the two below keep a share.
    tile_rows: so many rows are multiplied at a time, whatever there are (batch_invariant.py); 0 is all. tied: modules
    with the same weight, which is theirs to keep. is_exact: nothing may round its weight. adapters: asked after every
    product, before ranks sum up what they have."""

    def __init__(self, inputs: int, outputs: int, *, has_bias: bool, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, dtype=dtype), requires_grad=False)
        self.bias = nn.Parameter(torch.empty(outputs, dtype=dtype), requires_grad=False) if has_bias else None
        self.outputs, self.inputs, self.tile_rows = outputs, inputs, 0
        self.packed: Packed | None = None
        self._remake: Remake | None = None
        self._before: Packed | None = None  # a quantised form, until it is known whether its weight is another
        self.adapters: Adapters | None = None
        self.is_exact = False
        self.tied: tuple[HasWeight, ...] = ()

    def tie(self, other: HasWeight) -> None:
        """Take the weight of another module, such as the table of embeddings."""
        self.tied = (other,)
        self.weight = other.weight

    def pack(self, *, is_plain_kept: bool = True) -> bool:
        """Whether there is a packed form now: the one it had before it was unpacked, if it had one. A plain weight that
        another module has too stays there."""
        if self.packed is not None:
            return True
        weight, bias = self.weight.data, None if self.bias is None else self.bias.data
        before, self._before = self._before, None
        if before is not None and before.is_of(weight, bias):
            self.packed = before
        elif self._remake is not None:
            self.packed = self._remake(weight, bias)
        elif can_reorder(weight):
            self.packed = OneDnn(weight, bias)
        elif panels.can_pack(weight):
            self.packed = panels.pack(weight, bias)
        else:
            return False
        if not is_plain_kept:
            self.drop_plain()
        return True

    def drop_plain(self) -> None:
        self.weight = nn.Parameter(torch.empty(0, dtype=self.weight.dtype), requires_grad=False)

    def unpack(self) -> bool:
        """Back to the plain weight, before it is written; whether it was packed. A quantised weight comes back as what
        it stood for."""
        if self.packed is None:
            return False
        if self.weight.numel() == 0:
            self.weight = self.tied[0].weight if self.tied else nn.Parameter(self.packed.plain(), requires_grad=False)
        self._remake = self.packed.remake
        self._before = self.packed if self.packed.is_quantised else None
        self.packed = None
        return True

    def use(self, packed: Packed) -> None:
        """Multiply by this from now on, and give the plain weight up."""
        self.packed, self._before = packed, None
        self.drop_plain()

    def product(self, x_TI: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        """[T, O], in the dtype of x or another."""
        packed = self.packed
        if isinstance(packed, panels.Panels) and not self.tile_rows and is_wide(packed, x_TI):
            made = F.linear(x_TI, packed.plain(), self.bias)
        elif packed is not None and (not self.tile_rows or isinstance(packed, panels.Panels)):
            return packed.product(x_TI, dtype)  # panels: no row's bits depend on the others
        else:
            made = self._tiled(x_TI) if self.tile_rows else F.linear(x_TI, self.weight, self.bias)
        return made if dtype is None else made.to(dtype)

    def _tiled(self, x_TI: Tensor) -> Tensor:
        rows = x_TI.shape[0]
        padded = F.pad(x_TI, (0, 0, 0, -rows % self.tile_rows))
        tiles = torch.split(padded, self.tile_rows)
        packed = self.packed
        made = [F.linear(each, self.weight, self.bias) if packed is None else packed.product(each) for each in tiles]
        return torch.cat(made)[:rows]

    def adapted(self, x_TI: Tensor) -> Tensor:
        """[T, O], with what adapters add on this rank."""
        made = self.product(x_TI)
        return made if self.adapters is None else self.adapters.add(x_TI, made)

    def forward(self, x_TI: Tensor) -> Tensor:
        return self.adapted(x_TI)


def can_reorder(weight: Tensor) -> bool:
    """Whether oneDNN has a reordered form for it on this machine: bf16 on a CPU with products for it."""
    if weight.device.type != "cpu" or weight.dtype != torch.bfloat16:
        return False
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def is_wide(packed: panels.Panels, x_TI: Tensor) -> bool:
    """Whether so many rows pay for unpacking a quantised weight: where the CPU multiplies bf16 many times faster than
    fp32, which the panels are multiplied in."""
    if packed.scale is None or x_TI.dtype != torch.bfloat16 or x_TI.shape[0] < _WIDE_ROWS:
        return False
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def is_bare(layer: nn.Module) -> bool:
    """Whether what a linear layer gives in this step is its own product and nothing more: no adapter, hook or other
    class adds to it."""
    if type(layer) not in (Linear, ColumnLinear, RowLinear) or "forward" in vars(layer):
        return False
    adapters: Adapters | None = vars(layer)["adapters"]
    if adapters is not None and not adapters.is_idle:
        return False
    return not (layer._forward_hooks or layer._forward_pre_hooks)


class ColumnLinear(Linear):
    """Each rank computes its own outputs; nothing is exchanged."""


class RowLinear(Linear):
    """Each rank has its own inputs; the sum over the ranks is the product. Only the first rank adds the bias."""

    def __init__(self, inputs: int, outputs: int, *, group: Group, has_bias: bool, dtype: torch.dtype) -> None:
        super().__init__(inputs, outputs, has_bias=has_bias and group.rank == 0, dtype=dtype)
        self.group = group

    def forward(self, x_TI: Tensor) -> Tensor:
        return self.group.all_reduce(self.adapted(x_TI))
