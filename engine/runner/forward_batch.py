"""A step's plan as the model takes it: tokens, positions, slots, and which rows of the hidden states become logits.
T tokens of the step, R rows that need logits."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import torch
from msgspec import structs
from torch import Tensor

from engine.attention.batch import AttentionBatch
from engine.schema.step import RowOptions, Slice, StepInput, StepPlan


class ForwardMode(enum.Enum):
    """What the slices of a step are: one token each, prompts, both, drafts to verify, or nothing (a rank that only
    joins collectives)."""

    DECODE = "decode"
    EXTEND = "extend"
    MIXED = "mixed"
    VERIFY = "verify"
    IDLE = "idle"


class SampledRows(NamedTuple):
    """Of one sampled slice: where its rows stand among the step's R rows. One row a draft, then one."""

    part: Slice
    options: RowOptions
    first: int
    last: int

    @property
    def drafts(self) -> tuple[int, ...]:
        return self.part.token_ids[len(self.part.token_ids) - self.part.num_drafts :]


class ForwardBatch:
    """rows_R: of the hidden states, for sampling; prompt logprobs take rows of their own (`weighed`)."""

    def __init__(self, step: StepInput, *, block_tokens: int) -> None:
        self.number, self.slices = step.plan.number, step.plan.slices
        self.mode = mode_of(self.slices)
        self.tokens_T = torch.tensor([token for each in self.slices for token in each.token_ids], dtype=torch.long)
        self.attention = AttentionBatch(self.slices, block_tokens)
        self.positions_T = self.attention.positions_T
        self.sampled: list[SampledRows] = []
        rows: list[int] = []
        options = iter(step.rows)
        for part, span in zip(self.slices, self.attention.spans, strict=True):
            if part.is_sampled:
                first = len(rows)
                rows.extend(range(span.last - 1 - part.num_drafts, span.last))
                self.sampled.append(SampledRows(part, next(options), first, len(rows)))
        assert next(options, None) is None, "a row for every sampled slice, and no other"
        self.rows_R = torch.tensor(rows, dtype=torch.long)
        self.weighed = {
            part.seq_id: (span, step.prompt_targets[part.seq_id])
            for part, span in zip(self.slices, self.attention.spans, strict=True)
            if part.seq_id in step.prompt_targets
        }
        self.split_index = 0  # layers done, where a prefill is split over several calls
        self.split_hidden_TD: Tensor | None = None

    @classmethod
    def decode(cls, parts: Sequence[Slice], *, block_tokens: int) -> ForwardBatch:
        """One token each of some sequences; whoever asks chooses what follows."""
        plain = [structs.replace(each, is_sampled=False) for each in parts]
        made = cls(StepInput(plan=StepPlan(number=0, slices=tuple(plain))), block_tokens=block_tokens)
        made.mode = ForwardMode.DECODE
        return made

    @property
    def num_tokens(self) -> int:
        return len(self.tokens_T)

    @property
    def batch_size(self) -> int:
        return len(self.slices)


def mode_of(slices: Sequence[Slice]) -> ForwardMode:
    if not slices:
        return ForwardMode.IDLE
    is_decode = [each.is_sampled and len(each.token_ids) == 1 for each in slices]
    if all(is_decode):
        return ForwardMode.DECODE
    is_verify = [bool(each.num_drafts) for each in slices]
    if all(one or draft for one, draft in zip(is_decode, is_verify, strict=True)):
        return ForwardMode.VERIFY
    return ForwardMode.MIXED if any(is_decode) or any(is_verify) else ForwardMode.EXTEND
