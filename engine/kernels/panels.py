"""Weights in the order in which the kernels read them (src/linear.h): panels of 16 outputs, whole numbers with scales
where they are quantised. Makes them, multiplies by them, gives them back. T tokens, I inputs, O outputs, P panels, G
groups of inputs that share a scale."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from engine.kernels import native

COLUMNS = 16
KINDS = {"fp32": 0, "bf16": 1, "int8": 2, "int4": 3}
K_BLOCK = 256  # of src/linear.h: a group lies within one
_SERIALS = itertools.count()


class Panels:
    """numbers: of the kind that the kernels know by `kind`. scale_OG, low_OG: a weight is scale * number + low.
    remake: how another weight is brought into this form; `pack` where none is given. serial: nobody else's, not even
    after this is gone."""

    def __init__(
        self,
        numbers: Tensor,
        *,
        kind: str,
        outputs: int,
        inputs: int,
        dtype: torch.dtype,
        bias: Tensor | None,
        scale_OG: Tensor | None = None,
        low_OG: Tensor | None = None,
        remake: Callable[[Tensor, Tensor | None], Panels] | None = None,
    ) -> None:
        self.serial = next(_SERIALS)
        self.numbers, self.outputs, self.inputs, self.dtype = numbers, outputs, inputs, dtype
        self.remake: Callable[[Tensor, Tensor | None], Panels] = remake or pack
        self.group = inputs if scale_OG is None else inputs // scale_OG.shape[1]
        self.scale = None if scale_OG is None else _in_panels(scale_OG.half())
        self.low = None if low_OG is None else _in_panels(low_OG.half())
        self.bias = None if bias is None else F.pad(bias.float(), (0, -len(bias) % COLUMNS))
        self.described = native.Weight(
            numbers=numbers.data_ptr(),
            scale=native.address(self.scale),
            low=native.address(self.low),
            bias=native.address(self.bias),
            kind=KINDS[kind],
            outputs=outputs,
            inputs=inputs,
            group=self.group,
        )
        self._at = ctypes.addressof(self.described)

    @property
    def address(self) -> int:
        """Where the kernels find its description."""
        return self._at

    @property
    def num_bytes(self) -> int:
        parts = (self.numbers, self.scale, self.low, self.bias)
        return sum(each.numel() * each.element_size() for each in parts if each is not None)

    @property
    def is_quantised(self) -> bool:
        return self.scale is not None

    def is_of(self, weight_OI: Tensor, bias: Tensor | None) -> bool:
        """Whether these are what it stands for, bit for bit."""
        if (bias is None) is not (self.bias is None):
            return False
        if bias is not None and self.bias is not None and not torch.equal(self.bias[: len(bias)], bias.float()):
            return False
        return torch.equal(self.plain(), weight_OI)

    def product(self, x_TI: Tensor, dtype: torch.dtype | None = None, gate: str = "none") -> Tensor:
        """[T, O] in `dtype`, the sums not rounded to anything else before. gate: the activation of the first half of
        the outputs, times the second half: [T, O / 2]."""
        library = native.library()
        assert library is not None, "there are no panels without the kernels"
        x_TI = x_TI.contiguous()
        rows = x_TI.numel() // self.inputs
        width = self.outputs if gate == "none" else self.outputs // 2
        out = torch.empty((*x_TI.shape[:-1], width), dtype=dtype or x_TI.dtype)
        kinds = native.KINDS
        library.engine_linear(
            self._at,
            x_TI.data_ptr(),
            kinds[x_TI.dtype],
            rows,
            out.data_ptr(),
            kinds[out.dtype],
            native.GATES[gate],
            torch.get_num_threads(),
        )
        return out

    def can_gate(self) -> bool:
        """Whether the halves of the outputs are whole panels."""
        return self.outputs % (2 * COLUMNS) == 0

    def plain(self) -> Tensor:
        """[O, I] again; of quantised weights what they stand for."""
        library = native.library()
        assert library is not None, "there are no panels without the kernels"
        out = torch.empty(self.outputs, self.inputs)
        library.engine_unpack(self._at, out.data_ptr(), torch.get_num_threads())
        return out.to(self.dtype)


def can_pack(weight_OI: Tensor) -> bool:
    return native.fits(weight_OI)


def pack(weight_OI: Tensor, bias: Tensor | None) -> Panels:
    """fp32 or bf16, every bit kept."""
    outputs, inputs = weight_OI.shape
    panels_PIC = _rows_in_panels(weight_OI)
    if weight_OI.dtype is torch.bfloat16:  # outputs j and j + 8 side by side
        panels_PIC = panels_PIC.reshape(-1, inputs, 2, 8).transpose(-1, -2)
    kind = "bf16" if weight_OI.dtype is torch.bfloat16 else "fp32"
    return Panels(panels_PIC.contiguous(), kind=kind, outputs=outputs, inputs=inputs, dtype=weight_OI.dtype, bias=bias)


def pack_int8(numbers_OI: Tensor) -> Tensor:
    return _rows_in_panels(numbers_OI).contiguous()


def pack_int4(numbers_OI: Tensor) -> Tensor:
    """numbers: 0 to 15, in uint8. Four inputs of 16 outputs are 32 bytes: byte i of word j has input i of output j in
    its low half, that of output j + 8 in its high half."""
    words = _rows_in_panels(numbers_OI).reshape(-1, numbers_OI.shape[1] // 4, 4, 2, 8)
    return (words[:, :, :, 0] | (words[:, :, :, 1] << 4)).transpose(-1, -2).contiguous()


def is_group(inputs: int, group: int) -> bool:
    """Whether the kernels can have a scale for every `group` inputs."""
    return inputs % 8 == 0 and inputs % group == 0 and group % 4 == 0 and (group == inputs or K_BLOCK % group == 0)


def _rows_in_panels(rows_OI: Tensor) -> Tensor:
    """[P, I, 16]; the last panel is filled up with zeros."""
    lacking = -rows_OI.shape[0] % COLUMNS  # F.pad copies, even where nothing is
    padded = F.pad(rows_OI, (0, 0, 0, lacking)) if lacking else rows_OI.contiguous()
    return padded.view(-1, COLUMNS, rows_OI.shape[1]).transpose(1, 2)


def _in_panels(each_OG: Tensor) -> Tensor:
    return _rows_in_panels(each_OG).contiguous()
