"""One answer on its way: what the request asked, what was told of it so far, and what the next step has to know of it.
Decides no token and no schedule."""

from __future__ import annotations

from collections.abc import Sequence as Tokens
from typing import Protocol

from engine.sampling.oracle import splitmix64
from engine.scheduler.sequence import Sequence
from engine.schema.errors import EngineError
from engine.schema.messages import Add
from engine.schema.output import PositionLogprobs
from engine.schema.step import PromptTargets, RowOptions, Slice

_SEED_MASK = 2**63 - 1


class Matcher(Protocol):
    """A grammar's place in one answer. masks: here and after each draft."""

    def masks(self, drafts: Tokens[int]) -> tuple[bytes, ...]: ...

    def accept(self, token: int) -> None: ...


def choice_seed(seed: int, index: int) -> int:
    """Of the choices of one request. The first has the request's own: alone it gets the same."""
    return seed if index == 0 else splitmix64(splitmix64(seed) ^ index) & _SEED_MASK


class Choice:
    """index: of the request's n choices. oracle_id: what the token oracle knows it by. num_told: output tokens that
    left already. drafts: guesses for what comes next. fault: what ends it."""

    def __init__(
        self, add: Add, index: int, seq: Sequence, *, seed: int, oracle_id: int, matcher: Matcher | None
    ) -> None:
        self.request_id, self.index, self.seq, self.matcher = add.request_id, index, seq, matcher
        self.seed, self.oracle_id = choice_seed(seed, index), oracle_id
        self.num_told = 0
        self.drafts: tuple[int, ...] = ()
        self.prompt_logprobs: list[PositionLogprobs] = []
        self.fault: EngineError | None = None

    @property
    def untold(self) -> tuple[int, ...]:
        return tuple(self.seq.tokens[self.seq.num_prompt + self.num_told :])

    def accept(self, token_ids: Tokens[int]) -> None:
        """Let the grammar see what was chosen."""
        if self.matcher is None or self.fault is not None:
            return
        try:
            for token in token_ids:
                self.matcher.accept(token)
        except EngineError as error:
            self.fault = error

    def row(self, part: Slice) -> RowOptions:
        """How the token after a slice is chosen. Where the grammar fails, without it: the choice ends with the step."""
        seq, params = self.seq, self.seq.params
        is_repetition = params.repetition_penalty != 1.0
        looks_back = is_repetition or params.presence_penalty or params.frequency_penalty or params.min_tokens
        return RowOptions(
            seq_id=seq.seq_id,
            params=params,
            seed=self.seed,
            position=len(seq.tokens),
            oracle_id=self.oracle_id,
            prompt=tuple(seq.tokens[: seq.num_prompt]) if is_repetition else (),
            output=tuple(seq.output) if looks_back else (),
            end_ids=() if params.ignore_eos else tuple(sorted(seq.eos_ids)),
            allowed=self._masks(part),
        )

    def _masks(self, part: Slice) -> tuple[bytes, ...]:
        if self.matcher is None:
            return ()
        try:
            return self.matcher.masks(part.token_ids[len(part.token_ids) - part.num_drafts :])
        except EngineError as error:
            self.fault = error
            return ()

    # -- log-probabilities of the prompt: of choice 0, from the second token on

    def targets(self, part: Slice) -> PromptTargets | None:
        """What of the prompt this slice weighs. A sequence that is preempted half-way computes its prompt again."""
        count, seq = self.seq.params.prompt_logprobs, self.seq
        if count is None or self.index or len(self.prompt_logprobs) >= seq.num_prompt - 1:
            return None
        token_ids = tuple(seq.tokens[part.start + 1 : min(part.end + 1, seq.num_prompt)])
        return PromptTargets(token_ids=token_ids, count=count) if token_ids else None

    def weigh(self, part: Slice, found: Tokens[PositionLogprobs]) -> None:
        """Take what a slice gave; what was known before its preemption stays."""
        known = len(self.prompt_logprobs) - part.start
        assert known >= 0, "a part of the prompt was never weighed"
        self.prompt_logprobs.extend(found[known:])
        self.seq.must_compute = len(self.prompt_logprobs) < self.seq.num_prompt - 1
