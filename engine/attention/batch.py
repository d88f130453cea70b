"""Where the tokens of one step stand: positions, slots to write, slots to read. Made once a step, used by every
layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.schema.step import Slice


class Span(NamedTuple):
    """One sequence: its tokens are rows `first` to `last` of the step, at positions `start` on; its KV ends at
    `end`."""

    first: int
    last: int
    start: int
    end: int


class AttentionBatch:
    """decodes: the first so many sequences have one token each, and are computed together. slots_T: where the step's
    tokens are written. history: slots of each sequence's positions from 0 to `end`."""

    def __init__(self, slices: Sequence[Slice], block_tokens: int) -> None:
        self.spans: list[Span] = []
        self.history: list[Tensor] = []
        positions: list[int] = []
        row = 0
        for each in slices:
            self.spans.append(Span(row, row + len(each.token_ids), each.start, each.end))
            positions.extend(range(each.start, each.end))
            row += len(each.token_ids)
            self.history.append(_slots(each, block_tokens))
        self.positions_T = torch.tensor(positions, dtype=torch.long)
        parts = [slots[span.start :] for slots, span in zip(self.history, self.spans, strict=True)]
        self.slots_T = torch.cat(parts) if parts else torch.empty(0, dtype=torch.long)
        self.decodes = next(
            (index for index, span in enumerate(self.spans) if span.last - span.first > 1), len(self.spans)
        )
        self._padded: dict[int, tuple[Tensor, Tensor]] = {}

    def padded(self, window: int) -> tuple[Tensor, Tensor]:
        """Of the decodes: slots [B, L] and whether each is seen [B, L]; what is not stands for slot 0."""
        found = self._padded.get(window)
        if found is None:
            parts = [each[max(len(each) - window, 0) if window else 0 :] for each in self.history[: self.decodes]]
            lengths = torch.tensor([len(each) for each in parts])
            slots = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
            seen = torch.arange(slots.shape[1])[None] < lengths[:, None]
            found = self._padded[window] = (slots, seen)
        return found


def _slots(part: Slice, block_tokens: int) -> Tensor:
    blocks = torch.tensor(part.block_ids, dtype=torch.long)
    slots = blocks[:, None] * block_tokens + torch.arange(block_tokens)[None]
    return slots.flatten()[: part.end]
