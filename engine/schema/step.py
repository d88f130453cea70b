"""One step of the engine as plain data: what the scheduler decided, what came of it. Both ends know nothing else of
each other."""

from __future__ import annotations

from msgspec import Struct


class Slice(Struct, frozen=True, kw_only=True):
    """The tokens of one sequence that this step computes. start: position of the first. num_cached: positions before
    it whose KV is there. block_ids: the blocks of the whole sequence so far, those of these tokens included.
    is_sampled: whether a token is chosen after the last one."""

    seq_id: int
    token_ids: tuple[int, ...]
    start: int
    block_ids: tuple[int, ...]
    is_sampled: bool
    adapter: str | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.token_ids)


class StepPlan(Struct, frozen=True, kw_only=True):
    """Decodes first, then prefills, each in order of arrival. preempted, admitted: sequences that left or joined the
    running ones."""

    number: int
    slices: tuple[Slice, ...] = ()
    preempted: tuple[int, ...] = ()
    admitted: tuple[int, ...] = ()

    @property
    def num_tokens(self) -> int:
        return sum(len(each.token_ids) for each in self.slices)


class Sampled(Struct, frozen=True, kw_only=True):
    """What one slice gave: the tokens accepted after it (more than one where a draft was verified)."""

    seq_id: int
    token_ids: tuple[int, ...]
