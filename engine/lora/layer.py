"""What adapters add to one product: small products for each adapter of the step, over its own rows. T rows of the step,
I inputs and O outputs of this rank, S slots, R the largest rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from engine.layers.target import Target
from engine.lora.adapter import Pair


class Segment(NamedTuple):
    """The rows of one adapter in a step; None where it has all of them."""

    slot: int
    rows: Tensor | None


class StepAdapters:
    """What the layers look at while a step is computed: one for all of them."""

    def __init__(self) -> None:
        self.segments: tuple[Segment, ...] = ()


class LoraLayer:
    """The slots of one Linear. parts: the matrices fused in it, by name. A slot whose adapter does not change this
    Linear is empty, and adds nothing."""

    def __init__(
        self,
        parts: Sequence[tuple[str, Target]],
        *,
        num_slots: int,
        max_rank: int,
        dtype: torch.dtype,
        step: StepAdapters,
    ) -> None:
        first = parts[0][1]
        device = first.linear.weight.device
        self.parts, self.max_rank, self._step = tuple(parts), max_rank, step
        self.a = torch.zeros(num_slots, len(parts) * max_rank, first.local_inputs, dtype=dtype, device=device)
        self.b = [
            torch.zeros(num_slots, each.last - each.first, max_rank, dtype=dtype, device=device) for _, each in parts
        ]
        self._filled: list[tuple[int, ...]] = [()] * num_slots  # the parts that the slot's adapter changes

    @property
    def is_idle(self) -> bool:
        return not any(self._filled[slot] for slot, _ in self._step.segments)

    @property
    def num_bytes(self) -> int:
        return sum(each.numel() * each.element_size() for each in (self.a, *self.b))

    def fill(self, slot: int, pairs: dict[str, Pair]) -> None:
        """This rank's share of an adapter into a slot, the scale multiplied in; whatever was there goes."""
        self.a[slot].zero_()
        filled = []
        for index, (name, target) in enumerate(self.parts):
            self.b[index][slot].zero_()
            pair = pairs.get(name)
            if pair is None:
                continue
            filled.append(index)
            rank, at = len(pair.a), index * self.max_rank
            self.a[slot, at : at + rank].copy_(pair.a[:, target.input_start :][:, : target.local_inputs])
            rows = pair.b[target.output_start :][: target.last - target.first]
            self.b[index][slot, :, :rank].copy_(rows.float() * pair.scale)
        self._filled[slot] = tuple(filled)

    def add(self, x_TI: Tensor, y_TO: Tensor) -> Tensor:
        """y, changed in place where a row's adapter changes it."""
        tile = self.parts[0][1].linear.tile_rows
        for slot, rows in self._step.segments:
            if not self._filled[slot]:
                continue
            x = x_TI if rows is None else x_TI[rows]
            low = _product(x, self.a[slot], tile)
            for index in self._filled[slot]:
                target, at = self.parts[index][1], index * self.max_rank
                made = _product(low[:, at : at + self.max_rank], self.b[index][slot], tile)
                part = y_TO[:, target.first : target.last]
                if rows is None:
                    part += made
                else:
                    part.index_add_(0, rows, made)
        return y_TO


def _product(x_NI: Tensor, weight_OI: Tensor, tile_rows: int) -> Tensor:
    """[N, O]. tile_rows: so many rows at a time, where a row's bits may not depend on how many there are."""
    if not tile_rows:
        return F.linear(x_NI, weight_OI)
    count = x_NI.shape[0]
    tiles = torch.split(F.pad(x_NI, (0, 0, 0, -count % tile_rows)), tile_rows)
    return torch.cat([F.linear(each, weight_OI) for each in tiles])[:count]
