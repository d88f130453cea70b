"""One sequence of tokens on its way through the engine, and when it ends. Mutable; only the scheduler changes it."""

from __future__ import annotations

import enum
from collections.abc import Hashable

from engine.kv.radix import Node
from engine.kv.window import WindowBlocks
from engine.schema.output import FinishReason
from engine.schema.sampling import SamplingParams


class Status(enum.Enum):
    """Where a sequence stands. A preempted one waits again, with its output kept."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"


class Sequence:
    """tokens: prompt and output. num_computed: tokens whose KV is in `block_ids`. num_cached: those that the prefix
    cache had when it came. num_kept: its blocks that the cache has now. max_length: at which it ends, with prompt.
    namespace: whose KV it may share: an adapter's, as it was loaded. must_compute: every token, whatever the cache
    has. window: its blocks of the second pool, where there is one."""

    def __init__(
        self,
        seq_id: int,
        prompt: tuple[int, ...],
        params: SamplingParams,
        *,
        max_length: int,
        eos_ids: frozenset[int] = frozenset(),
        adapter: str | None = None,
        namespace: Hashable = None,
        must_compute: bool = False,
    ) -> None:
        self.seq_id, self.params, self.adapter, self.eos_ids = seq_id, params, adapter, eos_ids
        self.namespace = adapter if namespace is None else namespace
        self.must_compute = must_compute
        self.tokens: list[int] = list(prompt)
        self.num_prompt = len(prompt)
        wanted = max_length if params.max_tokens is None else self.num_prompt + params.max_tokens
        self.max_length = min(wanted, max_length)
        self.status = Status.WAITING
        self.block_ids: list[int] = []
        self.window: WindowBlocks | None = None
        self.num_computed = self.num_cached = self.num_kept = 0
        self.node: Node | None = None
        self.times_skipped = self.times_preempted = 0
        self.finish_reason: FinishReason | None = None
        self.matched_stop: int | None = None

    @property
    def output(self) -> list[int]:
        return self.tokens[self.num_prompt :]

    @property
    def num_missing(self) -> int:
        """Tokens that have to be computed before the next one can be chosen."""
        return len(self.tokens) - self.num_computed

    def append(self, token_ids: tuple[int, ...]) -> int:
        """Add chosen tokens until one of them ends the sequence; how many were taken."""
        for count, token in enumerate(token_ids, 1):
            self.tokens.append(token)
            reason = self._ends_with(token)
            if reason is not None:
                self.finish_reason = reason
                return count
        return len(token_ids)

    def _ends_with(self, token: int) -> FinishReason | None:
        num_output = len(self.tokens) - self.num_prompt
        if num_output >= self.params.min_tokens:
            if token in self.params.stop_token_ids:
                self.matched_stop = token
                return FinishReason.STOP
            if token in self.eos_ids and not self.params.ignore_eos:
                return FinishReason.STOP
        return FinishReason.LENGTH if len(self.tokens) >= self.max_length else None
