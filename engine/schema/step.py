"""One step of the engine as plain data: what the scheduler decided, what came of it. Both ends know nothing else of
each other."""

from __future__ import annotations

from msgspec import Struct

from engine.schema.output import PositionLogprobs
from engine.schema.sampling import SamplingParams


class Slice(Struct, frozen=True, kw_only=True):
    """The tokens of one sequence that this step computes. start: position of the first. num_cached: positions before
    it whose KV is there. block_ids: the blocks of the whole sequence so far, those of these tokens included.
    window_block_ids: as many, of layers that look back a window only, where those have blocks of their own; 0 for each
    that lies behind the window. is_sampled: whether a token is chosen after the last one. num_drafts: how many of the
    last tokens are guesses, each of which is kept only where it is what would have been chosen."""

    seq_id: int
    token_ids: tuple[int, ...]
    start: int
    block_ids: tuple[int, ...]
    is_sampled: bool
    num_drafts: int = 0
    adapter: str | None = None
    window_block_ids: tuple[int, ...] = ()

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


class RowOptions(Struct, frozen=True, kw_only=True):
    """How the next token of a sampled slice is chosen. seed: the sequence's own. position: of the first token to be
    chosen. oracle_id: what the token oracle knows the sequence by. prompt, output: tokens so far, given only where the
    options look at them (min_tokens, too, looks at the output). allowed: what a grammar lets through, a bit a token,
    little end first, one mask for each position to be chosen; empty for no grammar."""

    seq_id: int
    params: SamplingParams
    seed: int
    position: int
    oracle_id: int
    prompt: tuple[int, ...] = ()
    output: tuple[int, ...] = ()
    end_ids: tuple[int, ...] = ()
    allowed: tuple[bytes, ...] = ()


class PromptTargets(Struct, frozen=True, kw_only=True):
    """Tokens of a prompt to be weighed: token_ids[i] is what follows the i-th token of the slice. The last slice of a
    prompt has one fewer of them than tokens. count: alternatives a token."""

    token_ids: tuple[int, ...]
    count: int


class StepInput(Struct, frozen=True, kw_only=True):
    """rows: one for each slice that is sampled, in the order of the slices. prompt_targets: by sequence."""

    plan: StepPlan
    rows: tuple[RowOptions, ...] = ()
    prompt_targets: dict[int, PromptTargets] = {}


class Sampled(Struct, frozen=True, kw_only=True):
    """What one slice gave: the tokens accepted after it (more than one where a draft was verified), their
    log-probabilities where those were asked for, and guesses for the tokens after them where a draft model made
    some."""

    seq_id: int
    token_ids: tuple[int, ...]
    logprobs: tuple[PositionLogprobs, ...] = ()
    drafts: tuple[int, ...] = ()


class StepOutput(Struct, frozen=True, kw_only=True):
    """prompt_logprobs: of each target that was asked about, by sequence."""

    number: int
    sampled: tuple[Sampled, ...] = ()
    prompt_logprobs: dict[int, tuple[PositionLogprobs, ...]] = {}
