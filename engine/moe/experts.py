"""The experts that stand on one rank, in slots, and what they give for tokens that ask for them. Which expert is in
which slot, and how tokens of other ranks come here, is decided elsewhere. P slots, T tokens, K places of a token, D
model width, F width of an expert on this rank."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor, nn

from engine.kernels import experts as kernels
from engine.kernels import native
from engine.kernels.panels import COLUMNS, Panels
from engine.layers.linear import Linear, can_reorder
from engine.schema.errors import BadConfig


class ExpertLinear(Linear):
    """One matrix a slot, all below each other: [P * O, I], so that whatever packs or quantises a matrix does it to all
    of them at once. Where oneDNN multiplies bf16 they stay plain: what it reorders can't be cut into experts again."""

    def __init__(self, inputs: int, outputs: int, *, slots: int, is_gated: bool, dtype: torch.dtype) -> None:
        super().__init__(inputs, slots * outputs, has_bias=False, dtype=dtype)
        self.slots, self.rows, self.is_gated = slots, outputs, is_gated

    def pack(self, *, is_plain_kept: bool = True) -> bool:
        is_new = self.packed is None and self._remake is None
        if is_new and (can_reorder(self.weight.data) or not kernels.can_stack(self.rows, is_gated=self.is_gated)):
            return False
        return super().pack(is_plain_kept=is_plain_kept)

    def of(self, slot: int) -> Tensor:
        """[O, I] of one slot, a view; only while there is a plain weight."""
        return self.weight.data[slot * self.rows : (slot + 1) * self.rows]

    def write(self, slot: int, weight_OI: Tensor) -> None:
        """Another weight into a slot, in whatever form the others are."""
        weight_OI = weight_OI.to(self.weight.dtype)
        if self.weight.numel():
            self.of(slot).copy_(weight_OI)
        if isinstance(self.packed, Panels):
            made = self.packed.remake(weight_OI, None)
            assert isinstance(made, Panels), "what remakes panels makes panels"
            for ours, new in zip(_tensors(self.packed), _tensors(made), strict=True):
                ours.view(self.slots, -1)[slot].copy_(new.flatten())

    def parts(self) -> list[Tensor]:
        """Every tensor that the products read, one row a slot: what has to move for an expert to move."""
        found = [self.weight.data] if self.weight.numel() else []
        if isinstance(self.packed, Panels):
            if self.rows % COLUMNS:
                raise BadConfig(
                    f"experts of {self.rows} outputs in whole numbers share panels, and can't move",
                    fix="leave quantization out, or rebalancing",
                )
            found.extend(_tensors(self.packed))
        return [each.view(self.slots, -1) for each in found]


class Experts(nn.Module):
    """down(act(gate(x)) * up(x)) of each slot. width: of one expert on this rank."""

    def __init__(self, width: int, inner: int, *, slots: int, activation: str, dtype: torch.dtype) -> None:
        super().__init__()
        self.slots, self.activation = slots, activation
        self.gate_up = ExpertLinear(width, 2 * inner, slots=slots, is_gated=True, dtype=dtype)
        self.down = ExpertLinear(inner, width, slots=slots, is_gated=False, dtype=dtype)

    def forward(self, x_TD: Tensor, slots_TK: Tensor) -> Tensor:
        """[T, K, D]: of every place what its slot gives for the token; zeros where the slot is below 0."""
        gate_up, down = self.gate_up.packed, self.down.packed
        if isinstance(gate_up, Panels) and isinstance(down, Panels) and self._takes(x_TD):
            return kernels.outputs_of(
                gate_up, down, x_TD, slots_TK, count=self.slots, activation=self.activation, dtype=x_TD.dtype
            )
        return self._plain(x_TD, slots_TK)

    def _takes(self, x_TD: Tensor) -> bool:
        stackable = kernels.can_stack(self.gate_up.rows, is_gated=True) and kernels.can_stack(
            self.down.rows, is_gated=False
        )
        return stackable and native.fits(x_TD.contiguous())

    def _plain(self, x_TD: Tensor, slots_TK: Tensor) -> Tensor:
        """Rows sorted by slot, one product for each slot that somebody asks for."""
        top = slots_TK.shape[1]
        flat = slots_TK.flatten()
        order = flat.argsort(stable=True)
        counts = torch.bincount(flat + 1, minlength=self.slots + 1).tolist()
        out = torch.zeros(len(flat), x_TD.shape[1], dtype=x_TD.dtype, device=x_TD.device)
        at, both = counts[0], [each.packed.plain() if each.packed is not None else None for each in self.linears()]
        for slot, count in enumerate(counts[1:]):
            if count:
                places = order[at : at + count]
                out[places] = self._one(x_TD[places // top], slot, both)
                at += count
        return out.view(*slots_TK.shape, x_TD.shape[1])

    def _one(self, x_ND: Tensor, slot: int, packed: list[Tensor | None]) -> Tensor:
        gate_up, down = (
            each.of(slot) if whole is None else whole[slot * each.rows : (slot + 1) * each.rows]
            for each, whole in zip(self.linears(), packed, strict=True)
        )
        gate_NF, up_NF = _tiled(x_ND, gate_up, self.gate_up.tile_rows).chunk(2, dim=-1)
        is_gelu = self.activation == "gelu_tanh"
        made = (F.gelu(gate_NF, approximate="tanh") if is_gelu else F.silu(gate_NF)) * up_NF
        return _tiled(made, down, self.down.tile_rows)

    def linears(self) -> tuple[ExpertLinear, ExpertLinear]:
        return self.gate_up, self.down

    def parts(self) -> list[Tensor]:
        """One row a slot each: all that has to move for an expert to move."""
        return [*self.gate_up.parts(), *self.down.parts()]


def _tensors(packed: Panels) -> list[Tensor]:
    return [each for each in (packed.numbers, packed.scale, packed.low) if each is not None]


def _tiled(x_NI: Tensor, weight_OI: Tensor, tile_rows: int) -> Tensor:
    """tile_rows: so many rows at a time, so that no row's bits depend on how many there are; 0 is all."""
    if not tile_rows:
        return F.linear(x_NI, weight_OI)
    padded = F.pad(x_NI, (0, 0, 0, -len(x_NI) % tile_rows))
    return torch.cat([F.linear(each, weight_OI) for each in torch.split(padded, tile_rows)])[: len(x_NI)]
