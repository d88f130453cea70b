"""Continuous batching: decodes first, then prefills in chunks, within the step's tokens and the blocks that are free.
Decides who runs, who is preempted and which blocks they get; never what a token is.

Every queue is in order of arrival. A sequence is preempted from the back (the latest first), gives back its blocks and
computes again later; what of it is in the prefix cache it finds again. What a running sequence is about to put there is
worth waiting for: of several that begin alike, one computes the beginning."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping

from msgspec import Struct

from engine.kv.blocks import BlockPool
from engine.kv.radix import Match, RadixCache
from engine.kv.window import WindowBlocks, WindowPool
from engine.scheduler.sequence import Sequence, Status
from engine.schema.errors import BadRequest
from engine.schema.output import FinishReason
from engine.schema.step import Sampled, Slice, StepPlan


class Limits(Struct, frozen=True, kw_only=True):
    """step_tokens: computed in one step, over all sequences. num_adapters: different ones in one batch. patience: how
    often a sequence is passed over because of its adapter before nobody behind it may join, and how many are passed
    over in one step. shared_tokens: so many more than the cache has are worth a wait for who computes them."""

    num_running: int = 256
    step_tokens: int = 2048
    num_adapters: int = 8
    patience: int = 64
    shared_tokens: int = 64


class Scheduler:
    """Without a cache (None) every prompt is computed whole. window: the second pool, of layers that look back a window
    only, where those have one."""

    def __init__(
        self, pool: BlockPool, limits: Limits, cache: RadixCache | None = None, window: WindowPool | None = None
    ) -> None:
        self._pool, self._limits, self._cache, self._window = pool, limits, cache, window
        self._waiting: list[Sequence] = []
        self._running: list[Sequence] = []
        self._planned: dict[int, Slice] = {}
        self._to_abort: set[int] = set()
        self._number = self._budget = 0
        self.preemptions = 0  # since the start
        self._preempted: list[int] = []
        self._admitted: list[int] = []

    # -- coming and going

    @property
    def capacity(self) -> int:
        """The longest sequence, in tokens, that fits when it is alone."""
        return (self._pool.num_blocks - 1) * self._pool.block_tokens

    @property
    def has_work(self) -> bool:
        return bool(self._waiting or self._running)

    @property
    def num_running(self) -> int:
        return len(self._running)

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> tuple[Sequence, ...]:
        return tuple(self._running)

    def add(self, seq: Sequence) -> None:
        """Raises BadRequest for what could never run."""
        if not seq.tokens:
            raise BadRequest("prompt", "no tokens", fix="give at least one")
        most = min(self.capacity, seq.max_length)
        if len(seq.tokens) >= most:
            raise BadRequest("prompt", f"{len(seq.tokens)} tokens leave none to answer", fix=f"give at most {most - 1}")
        seq.max_length = most
        _join(self._waiting, seq)

    def abort(self, seq_ids: Iterable[int]) -> None:
        """End sequences, wherever they are; unknown ones are no error. While a step is out, after it: until then it
        may write to their blocks."""
        self._to_abort.update(seq_ids)
        if not self._planned:
            self._abort_now()

    def finish(self, seq_id: int, reason: FinishReason) -> None:
        """End a running sequence for a reason that the scheduler can't see, such as a stop text."""
        for seq in self._running:
            if seq.seq_id == seq_id:
                self._end(seq, reason)
                return

    # -- a step

    def plan(self, drafts: Mapping[int, tuple[int, ...]] | None = None) -> StepPlan:
        """What to compute next. Empty when there is nothing, or nothing of what waits can run. drafts: guesses by
        sequence; those that no room is left for are dropped."""
        assert not self._planned, "the last step has not come back"
        self._number += 1
        self._preempted, self._admitted = [], []
        self._budget = self._limits.step_tokens
        # Decodes first: who waits for its next token does not wait for another's prompt. Else as they arrived.
        for seq in sorted(self._running, key=lambda each: each.num_missing > 1):
            if seq.status is Status.RUNNING and self._budget:
                self._go_on(seq, (drafts or {}).get(seq.seq_id, ()))
        if not self._preempted:
            self._admit()
        return StepPlan(
            number=self._number,
            slices=tuple(sorted(self._planned.values(), key=lambda each: len(each.token_ids) > 1)),
            preempted=tuple(self._preempted),
            admitted=tuple(self._admitted),
        )

    def done(self, sampled: Iterable[Sampled]) -> list[Sequence]:
        """Take what the step gave. Returns the sequences that ended with it."""
        chosen = {each.seq_id: each.token_ids for each in sampled}
        for seq in self._running:
            part = self._planned.get(seq.seq_id)
            if part is None:
                continue
            if part.is_sampled:
                before = len(seq.tokens)
                taken = seq.append(chosen[seq.seq_id])
                seq.num_computed = before + taken - 1  # the last token chosen has no KV yet
                if part.num_drafts:
                    self._trim(seq)
            else:
                seq.num_computed = part.end
            self._keep(seq)
        self._planned = {}
        ended = [each for each in self._running if each.finish_reason is not None]
        for seq in ended:
            assert seq.finish_reason is not None
            self._end(seq, seq.finish_reason)
        self._abort_now()
        return ended

    def drop(self) -> None:
        """The step that is out gives nothing: what it was to compute is computed again."""
        self._planned = {}
        self._abort_now()

    def preempt_all(self) -> None:
        """Between steps: what is computed is worth nothing any more (other weights, memory that was given away)."""
        assert not self._planned, "the last step has not come back"
        while self._running:
            self._preempt(self._running[-1])
        if self._cache is not None:
            self._cache.clear()

    def _go_on(self, seq: Sequence, drafts: tuple[int, ...]) -> None:
        count = self._most(seq)
        drafts = drafts[: min(self._budget, seq.max_length - len(seq.tokens)) - 1] if seq.num_missing == 1 else ()
        if drafts and not self._make_room(len(seq.tokens) + len(drafts), seq):
            drafts = ()  # a guess is worth no preemption
        if self._reserve(seq, seq.num_computed + count):
            self._put(seq, count, drafts)

    # -- admission

    def _admit(self) -> None:
        adapters = {each.adapter for each in self._running if each.adapter is not None}
        num_passed = 0
        for seq in list(self._waiting):
            if not self._budget or len(self._running) >= self._limits.num_running or num_passed > self._limits.patience:
                break
            if seq.adapter is not None and len(adapters | {seq.adapter}) > self._limits.num_adapters:
                seq.times_skipped += 1
                num_passed += 1
                if seq.times_skipped > self._limits.patience:
                    break
                continue
            found = self._find(seq)
            if self._is_being_computed(seq, 0 if found is None else len(found.block_ids) * self._pool.block_tokens):
                num_passed += 1
                continue
            if not self._start(seq, found):
                break  # the next may be smaller, but passing this one over would starve it
            if seq.adapter is not None:
                adapters.add(seq.adapter)

    def _find(self, seq: Sequence) -> Match | None:
        if self._cache is None or seq.must_compute:
            return None
        # The last token is computed in any case: without it there is nothing to choose the next from.
        return self._cache.match(seq.tokens[:-1], namespace=seq.namespace)

    def _is_being_computed(self, seq: Sequence, num_found: int) -> bool:
        """Whether a running sequence computes tokens that this one begins with too, beyond those that are there."""
        size = self._pool.block_tokens
        most = num_found + -(-self._limits.shared_tokens // size) * size
        if self._cache is None or seq.must_compute or most >= len(seq.tokens):
            return False
        return any(
            other.num_computed < most < len(other.tokens)
            and other.namespace == seq.namespace
            and other.tokens[:most] == seq.tokens[:most]
            for other in self._running
        )

    def _start(self, seq: Sequence, found: Match | None) -> bool:
        """The first slice of a sequence; False when the blocks for it are not there."""
        if self._cache is not None:
            found = found if found is not None else self._cache.match((), namespace=seq.namespace)
            seq.node = found.node
            self._cache.lock(seq.node)
            self._pool.hold(found.block_ids)
            seq.block_ids, seq.num_kept = list(found.block_ids), len(found.block_ids)
        seq.num_computed = len(seq.block_ids) * self._pool.block_tokens
        if self._window is not None:
            seq.window = WindowBlocks(self._window)
            seq.window.begin([] if found is None else found.window_ids, seq.num_computed)
        count = self._most(seq)
        if not self._make_room(seq.num_computed + count, seq):
            self._give_back(seq)
            return False
        if seq.times_preempted == 0:
            seq.num_cached = seq.num_computed
        self._waiting.remove(seq)
        seq.status = Status.RUNNING
        _join(self._running, seq)
        self._admitted.append(seq.seq_id)
        self._put(seq, count)
        return True

    def _most(self, seq: Sequence) -> int:
        """How many of its tokens a step can compute."""
        count = min(seq.num_missing, self._budget)
        return count if self._window is None else min(count, self._window.longest_slice)

    def _put(self, seq: Sequence, count: int, drafts: tuple[int, ...] = ()) -> None:
        """Into the step."""
        start = seq.num_computed
        part = Slice(
            seq_id=seq.seq_id,
            token_ids=(*seq.tokens[start : start + count], *drafts),
            start=start,
            block_ids=tuple(seq.block_ids),
            is_sampled=start + count == len(seq.tokens),
            num_drafts=len(drafts),
            adapter=seq.adapter,
            window_block_ids=() if seq.window is None else tuple(seq.window.ids),
        )
        self._planned[seq.seq_id] = part
        self._budget -= len(part.token_ids)

    # -- blocks

    def _reserve(self, seq: Sequence, num_tokens: int) -> bool:
        """Blocks for so many tokens of a running sequence, if need be at the cost of those that came later, or of
        itself (then False)."""
        while not self._make_room(num_tokens, seq):
            victim = self._running[-1]
            self._preempt(victim)
            if victim is seq:
                return False
        return True

    def _make_room(self, num_tokens: int, seq: Sequence) -> bool:
        need = self._pool.blocks_for(num_tokens) - len(seq.block_ids)
        missing = need - self._pool.num_free
        if missing > 0 and self._cache is not None and self._cache.num_evictable > 0:
            self._cache.evict(missing)
        if need > self._pool.num_free:
            return False
        if self._window is not None and seq.window is not None:
            seq.window.slide(seq.num_computed)
            missing = need - self._window.blocks.num_free
            if missing > (0 if self._cache is None else self._cache.evict_windows(missing)):
                return False
            seq.window.take(max(need, 0))
        seq.block_ids.extend(self._pool.take(max(need, 0)))
        return True

    def _trim(self, seq: Sequence) -> None:
        """Give back the blocks that were taken for drafts alone."""
        num_needed = self._pool.blocks_for(seq.num_computed)
        self._pool.release(seq.block_ids[num_needed:])
        del seq.block_ids[num_needed:]
        if seq.window is not None:
            seq.window.trim(num_needed)

    def _preempt(self, seq: Sequence) -> None:
        part = self._planned.pop(seq.seq_id, None)
        if part is not None:
            self._budget += len(part.token_ids)
        self.preemptions += 1
        self._running.remove(seq)
        self._give_back(seq)
        seq.status = Status.WAITING
        seq.times_preempted += 1
        _join(self._waiting, seq)
        self._preempted.append(seq.seq_id)

    def _keep(self, seq: Sequence) -> None:
        """Put what is computed into the prefix cache. Blocks that another sequence put there first replace our own."""
        num_full = seq.num_computed // self._pool.block_tokens
        if self._cache is None or num_full == seq.num_kept:
            return
        assert seq.node is not None
        seq.num_kept = num_full
        kept = self._cache.insert(
            seq.tokens[: num_full * self._pool.block_tokens],
            seq.block_ids[:num_full],
            window_ids=() if seq.window is None else seq.window.ids[:num_full],
            namespace=seq.namespace,
        )
        self._cache.lock(kept.node)
        self._cache.unlock(seq.node)
        seq.node = kept.node
        self._pool.hold(kept.block_ids)
        self._pool.release(seq.block_ids[:num_full])
        seq.block_ids[:num_full] = kept.block_ids

    def _give_back(self, seq: Sequence) -> None:
        if self._cache is not None and seq.node is not None:
            self._cache.unlock(seq.node)
        self._pool.release(seq.block_ids)
        if seq.window is not None:
            seq.window.trim(0)
        seq.block_ids, seq.window, seq.node, seq.num_computed, seq.num_kept = [], None, None, 0, 0

    # -- endings

    def _end(self, seq: Sequence, reason: FinishReason) -> None:
        if seq.status is Status.RUNNING:
            self._running.remove(seq)
            self._give_back(seq)
        elif seq.status is Status.WAITING:
            self._waiting.remove(seq)
        seq.status, seq.finish_reason = Status.FINISHED, reason

    def _abort_now(self) -> None:
        if self._to_abort:
            for seq in [each for each in (*self._running, *self._waiting) if each.seq_id in self._to_abort]:
                self._end(seq, FinishReason.ABORT)
            self._to_abort.clear()


def _join(queue: list[Sequence], seq: Sequence) -> None:
    """Sequences are numbered as they arrive."""
    bisect.insort(queue, seq, key=lambda each: each.seq_id)
