"""Where the tokens of one step stand: positions, slots to write, slots to read. Made once a step, used by every
layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from msgspec import structs
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
    tokens are written."""

    def __init__(self, slices: Sequence[Slice], block_tokens: int) -> None:
        self.block_tokens, self._slices = block_tokens, slices
        self.spans: list[Span] = []
        self._block_ids = [each.block_ids for each in slices]
        positions: list[int] = []
        slots: list[int] = []
        row = 0
        for each in slices:
            self.spans.append(Span(row, row + len(each.token_ids), each.start, each.end))
            positions.extend(range(each.start, each.end))
            blocks = each.block_ids
            slots.extend(
                blocks[at // block_tokens] * block_tokens + at % block_tokens for at in range(each.start, each.end)
            )
            row += len(each.token_ids)
        self.positions_T = torch.tensor(positions, dtype=torch.long)
        self.slots_T = torch.tensor(slots, dtype=torch.long)
        self.decodes = next(
            (index for index, span in enumerate(self.spans) if span.last - span.first > 1), len(self.spans)
        )
        self._padded: dict[int, tuple[Tensor, Tensor]] = {}

    @cached_property
    def windowed(self) -> AttentionBatch:
        """The same for layers whose blocks are the second pool's."""
        parts = [structs.replace(each, block_ids=each.window_block_ids) for each in self._slices]
        return AttentionBatch(parts, self.block_tokens)

    @cached_property
    def history(self) -> list[Tensor]:
        """Slots of each sequence's positions from 0 to its end."""
        within = torch.arange(self.block_tokens)[None]
        made = []
        for blocks, span in zip(self._block_ids, self.spans, strict=True):
            slots = torch.tensor(blocks, dtype=torch.long)[:, None] * self.block_tokens + within
            made.append(slots.flatten()[: span.end])
        return made

    @cached_property
    def tables(self) -> Tensor:
        """Blocks of each sequence, int32, [N, M]; what is lacking is 0."""
        most = max((len(each) for each in self._block_ids), default=0)
        rows = [[*each, *[0] * (most - len(each))] for each in self._block_ids]
        return torch.tensor(rows, dtype=torch.int32).view(len(rows), most)

    @cached_property
    def spans_N4(self) -> Tensor:
        """The spans as one tensor, int64."""
        return torch.tensor(self.spans, dtype=torch.long).view(-1, 4)

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
