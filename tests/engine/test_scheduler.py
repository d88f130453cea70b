"""The scheduler under a token oracle: the token at a position is a hash of sequence and position, and a fake KV store
remembers which token of which sequence was written to which slot. A wrong block, position, length or order shows as a
wrong token."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from engine.kv.blocks import BlockPool
from engine.kv.radix import RadixCache
from engine.kv.window import WindowPool, shares
from engine.scheduler.scheduler import Limits, Scheduler
from engine.scheduler.sequence import Sequence, Status
from engine.schema.errors import BadRequest, NotEnoughMemory
from engine.schema.output import FinishReason
from engine.schema.sampling import SamplingParams
from engine.schema.step import Sampled, Slice, StepPlan

EOS = 7


def oracle(history: tuple[int, ...], adapter: str | None) -> int:
    """The next token, of all that came before it: what a model's answer depends on."""
    value = len(history) * 0x9E3779B97F4A7C15 + sum(history) * 31 + ord(adapter or " ")
    for token in history[-3:]:
        value = (value ^ token) * 0x100000001B3 % 2**64
    return value % 50


class FakeRunner:
    """Keeps tokens in place of keys and values, and reads every sequence back through its blocks; with a window, what
    each token sees through those of the second pool, too."""

    def __init__(self, block_tokens: int, window: int = 0) -> None:
        self._size, self._window = block_tokens, window
        self._slots: dict[tuple[int, int], tuple[int, int, str | None]] = {}
        self._window_slots: dict[tuple[int, int], tuple[int, int, str | None]] = {}

    def run(self, plan: StepPlan) -> list[Sampled]:
        for part in plan.slices:
            for at, token in enumerate(part.token_ids, part.start):
                self._slots[self._slot(part, at)] = (token, at, part.adapter)
                if self._window:
                    self._window_slots[self._window_slot(part, at)] = (token, at, part.adapter)
        for part in plan.slices if self._window else ():
            assert len(part.window_block_ids) == len(part.block_ids)
            for at in range(max(part.start + 1 - self._window, 0), part.end):
                assert self._window_slots[self._window_slot(part, at)] == self._slots[self._slot(part, at)]
        made = []
        for part in plan.slices:
            history = tuple(self._read(part, at) for at in range(part.end))
            assert history[part.start :] == part.token_ids
            if part.is_sampled:
                made.append(Sampled(seq_id=part.seq_id, token_ids=(oracle(history, part.adapter),)))
        return made

    def _slot(self, part: Slice, at: int) -> tuple[int, int]:
        block = part.block_ids[at // self._size]
        assert block != 0
        return block, at % self._size

    def _window_slot(self, part: Slice, at: int) -> tuple[int, int]:
        block = part.window_block_ids[at // self._size]
        assert block != 0
        return block, at % self._size

    def _read(self, part: Slice, at: int) -> int:
        token, position, adapter = self._slots[self._slot(part, at)]
        assert (position, adapter) == (at, part.adapter)
        return token


def expected(seq: Sequence) -> list[int]:
    tokens = seq.tokens[: seq.num_prompt]
    while len(tokens) < len(seq.tokens):
        tokens.append(oracle(tuple(tokens), seq.adapter))
    return tokens


def made(
    seq_id: int, prompt: tuple[int, ...], max_tokens: int, adapter: str | None = None, *, to_the_end: bool = False
) -> Sequence:
    params = SamplingParams(max_tokens=max_tokens, ignore_eos=to_the_end)
    return Sequence(seq_id, prompt, params, max_length=4096, eos_ids=frozenset({EOS}), adapter=adapter)


def requests(rng: random.Random, count: int) -> Iterator[Sequence]:
    shared = [tuple(rng.randrange(50) for _ in range(60)) for _ in range(4)]
    for seq_id in range(count):
        start = rng.choice(shared)[: rng.choice([0, 8, 16, 37, 60])]
        own = tuple(rng.randrange(50) for _ in range(rng.randrange(1, 30)))
        yield made(seq_id, (*start, *own), rng.randrange(1, 25), rng.choice([None, None, "a", "b", "c"]))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("has_cache", [True, False])
@pytest.mark.parametrize("has_window", [True, False])
def test_no_wrong_token_and_no_lost_block(seed: int, has_cache: bool, has_window: bool) -> None:
    rng = random.Random(seed)
    size = rng.choice([1, 4, 16])
    pool = BlockPool(rng.choice([130, 200, 400]) // size + 2, size)
    width = rng.choice([3, 10, 24])
    window = WindowPool(rng.choice([30, 60, 150]) // size + width // size + 4, size, width) if has_window else None
    cache = RadixCache(pool, window) if has_cache else None
    limits = Limits(num_running=rng.choice([3, 12, 50]), step_tokens=rng.choice([7, 40, 300]), num_adapters=2)
    scheduler, runner = Scheduler(pool, limits, cache, window), FakeRunner(size, width if has_window else 0)
    left = list(requests(rng, 640))
    everyone, aborted = list(left), set[int]()
    while left or scheduler.has_work:
        for _ in range(min(rng.randrange(0, 4), len(left))):
            scheduler.add(left.pop(0))
        plan = scheduler.plan()
        assert plan.num_tokens <= limits.step_tokens
        if rng.random() < 0.05:
            victim = rng.randrange(len(everyone))
            scheduler.abort([victim])
            aborted.add(victim)
        scheduler.done(runner.run(plan))
        if cache is not None:
            assert cache.num_evictable + cache.num_protected == cache.num_stored
        if window is not None:
            assert window.blocks.num_held < window.blocks.num_blocks
    for seq in everyone:
        assert seq.tokens == expected(seq), seq.seq_id
        is_whole = seq.finish_reason is not FinishReason.ABORT
        assert is_whole or seq.seq_id in aborted
        if is_whole:
            assert (seq.finish_reason is FinishReason.STOP) == (seq.tokens[-1] == EOS)
    assert cache is None or cache.num_protected == 0
    assert pool.num_held == (cache.num_stored if cache is not None else 0)
    if cache is not None:
        cache.clear()
    assert pool.num_held == 0 and (window is None or window.blocks.num_held == 0)


def test_a_long_sequence_has_a_window_of_the_second_pool() -> None:
    pool, window = BlockPool(80, 4), WindowPool(9, 4, 10)
    assert window.longest_slice == 8 * 4 - 9 - 6
    scheduler, runner = Scheduler(pool, Limits(step_tokens=100), None, window), FakeRunner(4, 10)
    scheduler.add(made(0, tuple(range(200)), 60, to_the_end=True))
    most = 0
    while scheduler.has_work:
        plan = scheduler.plan()
        (part,) = plan.slices
        assert len(part.token_ids) <= window.longest_slice
        most = max(most, window.blocks.num_held)
        scheduler.done(runner.run(plan))
        if len(part.token_ids) == 1:
            assert window.blocks.num_held <= 4 < len(part.block_ids)
    assert most <= 8 and window.blocks.num_held == 0


def test_a_beginning_is_found_as_far_as_its_window_is_there() -> None:
    pool, window = BlockPool(100, 4), WindowPool(40, 4, 8)
    cache = RadixCache(pool, window)
    tokens, blocks, windowed = tuple(range(40)), pool.take(10), window.blocks.take(10)
    cache.insert(tokens, blocks, window_ids=windowed)
    for each in (blocks, windowed):
        (pool if each is blocks else window.blocks).release(each)
    assert len(cache.match(tokens).block_ids) == 10
    assert cache.evict_windows(3) == 3  # those before the last window of the node go first
    found = cache.match(tokens)
    assert (len(found.block_ids), found.window_ids[:3], found.window_ids[3:]) == (10, [0, 0, 0], windowed[3:])
    assert len(cache.match(tokens[:30]).block_ids) == 7
    assert len(cache.match(tokens[:16]).block_ids) == 0  # of its window one block is gone
    assert cache.evict_windows(99) == 7 and len(cache.match(tokens).block_ids) == 0
    again, new = window.blocks.take(10), pool.take(10)
    cache.insert(tokens, new, window_ids=again)  # the blocks of the tree stay; what it lacks is taken
    assert cache.match(tokens)[::2] == (blocks, again)
    cache.clear()
    pool.release(new)
    window.release(again)
    assert pool.num_held == window.blocks.num_held == 0


def test_a_pool_that_no_window_fits_in_is_refused() -> None:
    with pytest.raises(NotEnoughMemory, match="3 KV blocks of 4 for a window of 8 tokens"):
        WindowPool(3, 4, 8)


@given(
    st.integers(10_000, 10_000_000),
    st.integers(100, 5000),
    st.integers(100, 5000),
    st.sampled_from([1, 16]),
    st.integers(1, 1024),
    st.integers(1, 300),
)
def test_two_pools_never_hold_less_than_one(
    free: int, full: int, windowed: int, size: int, window: int, num_running: int
) -> None:
    most = 4096 // size * num_running
    one = min(free // (full + windowed), most)
    found = shares(
        free,
        full_bytes=full,
        window_bytes=windowed,
        block_tokens=size,
        window=window,
        step_tokens=512,
        most_blocks=most,
        num_running=num_running,
    )
    event("two" if found.num_window_blocks else "one")
    if not found.num_window_blocks:
        assert found.num_blocks == one + 1
        return
    assert found.num_blocks - 1 >= one and found.num_window_blocks < found.num_blocks
    taken = (found.num_blocks - 1) * full + (found.num_window_blocks - 1) * windowed
    assert taken <= free and (found.num_blocks - 1 > one or taken < one * (full + windowed))
    assert WindowPool(found.num_window_blocks, size, window).longest_slice >= 1


def small(num_blocks: int = 9, **limits: int) -> tuple[Scheduler, FakeRunner, BlockPool]:
    pool = BlockPool(num_blocks, 4)
    return Scheduler(pool, Limits(**limits), RadixCache(pool)), FakeRunner(4), pool


def test_decodes_come_before_prefills_and_long_prompts_in_chunks() -> None:
    scheduler, runner, _ = small(40, step_tokens=10)
    scheduler.add(made(0, (1, 2, 3), 9))
    scheduler.done(runner.run(scheduler.plan()))
    scheduler.add(made(1, tuple(range(8, 33)), 9))
    plan = scheduler.plan()
    assert [(each.seq_id, len(each.token_ids), each.is_sampled) for each in plan.slices] == [
        (0, 1, True),
        (1, 9, False),
    ]


def test_the_latest_is_preempted_first_and_goes_on_where_it_was() -> None:
    scheduler, runner, _ = small(9, step_tokens=64)
    first, second = (
        made(0, tuple(range(20, 35)), 12, to_the_end=True),
        made(1, tuple(range(8, 20)), 12, to_the_end=True),
    )
    scheduler.add(first)
    scheduler.add(second)
    seen: list[int] = []
    while scheduler.has_work:
        plan = scheduler.plan()
        seen.extend(plan.preempted)
        scheduler.done(runner.run(plan))
    assert set(seen) == {1}
    assert (first.tokens, second.tokens) == (expected(first), expected(second))
    assert second.times_preempted == len(seen)


def test_a_whole_prompt_in_the_cache_still_computes_its_last_token() -> None:
    scheduler, runner, _ = small(40, step_tokens=64)
    prompt = tuple(range(8, 24))
    for seq_id in (0, 1):
        seq = made(seq_id, prompt, 3)
        scheduler.add(seq)
        plan = scheduler.plan()
        assert len(plan.slices[0].token_ids) == (16 if seq_id == 0 else 4)
        assert seq.num_cached == (0 if seq_id == 0 else 12)
        while scheduler.has_work:
            scheduler.done(runner.run(plan))
            plan = scheduler.plan()
        scheduler.done(runner.run(plan))


def test_sequences_that_cannot_join_yet_are_passed_over_but_not_for_ever() -> None:
    scheduler, _, _ = small(60, step_tokens=256, num_adapters=1, patience=3, num_running=8)
    scheduler.add(made(0, (1, 2, 3), 40, "a"))
    scheduler.add(made(1, (1, 2, 3), 5, "b"))
    scheduler.add(made(2, (1, 2, 3), 5))
    assert scheduler.plan().admitted == (0, 2)
    scheduler.done([Sampled(seq_id=0, token_ids=(1,)), Sampled(seq_id=2, token_ids=(1,))])
    for seq_id in range(3, 7):
        scheduler.add(made(seq_id, (1, 2, 3), 40))
        plan = scheduler.plan()
        assert plan.admitted == ((seq_id,) if seq_id < 5 else ())  # passed over three times, then nobody overtakes
        scheduler.done([Sampled(seq_id=each.seq_id, token_ids=(1,)) for each in plan.slices])


def test_a_slot_of_a_preempted_sequence_is_counted_once() -> None:
    scheduler, runner, _ = small(9, step_tokens=64, num_running=2)
    for seq_id, length in ((0, 15), (1, 12), (2, 2)):
        scheduler.add(made(seq_id, tuple(range(8, 8 + length)), 12, to_the_end=True))
    while scheduler.has_work:
        plan = scheduler.plan()
        assert scheduler.num_running <= 2
        assert len({each.seq_id for each in plan.slices}) == len(plan.slices) <= 2
        scheduler.done(runner.run(plan))


def test_an_abort_while_a_step_is_out_waits_for_it() -> None:
    scheduler, runner, pool = small(9, step_tokens=64)
    seq = made(0, (1, 2, 3, 4, 5), 9)
    scheduler.add(seq)
    plan = scheduler.plan()
    scheduler.abort([0, 99])
    assert seq.status is Status.RUNNING and pool.num_held > 0
    scheduler.done(runner.run(plan))
    assert seq.finish_reason is FinishReason.ABORT and not scheduler.has_work


@pytest.mark.parametrize("length", [0, 32, 33, 500])
def test_what_could_never_run_is_refused(length: int) -> None:
    scheduler, _, _ = small(9, step_tokens=64)
    with pytest.raises(BadRequest, match="prompt"):
        scheduler.add(made(0, tuple(range(length)), 1))


def test_several_accepted_tokens_end_at_the_first_that_ends() -> None:
    scheduler, _, _ = small(9, step_tokens=64)
    seq = made(0, (1, 2, 3), 9)
    scheduler.add(seq)
    scheduler.plan()
    ended = scheduler.done([Sampled(seq_id=0, token_ids=(4, EOS, 5))])
    assert ended == [seq] and seq.output == [4, EOS] and seq.finish_reason is FinishReason.STOP


def test_a_prompt_that_came_earlier_takes_the_blocks_of_a_decode_that_stands_in_the_same_step() -> None:
    scheduler, runner, _ = small(9, step_tokens=8, num_adapters=1)
    first, early, late = (
        made(0, (1, 2, 3), 2, "a", to_the_end=True),
        made(1, tuple(range(8, 32)), 4, "b", to_the_end=True),  # waits for the adapter, and is overtaken
        made(2, tuple(range(32, 38)), 9, to_the_end=True),
    )
    for seq in (first, early, late):
        scheduler.add(seq)
    seen: list[int] = []
    while scheduler.has_work:
        plan = scheduler.plan()
        assert not {each.seq_id for each in plan.slices} & set(plan.preempted)
        assert plan.num_tokens <= 8
        seen.extend(plan.preempted)
        scheduler.done(runner.run(plan))
    assert seen == [2]
    for seq in (first, early, late):
        assert seq.tokens == expected(seq)


def test_only_what_may_be_shared_is_waited_for() -> None:
    scheduler, _, _ = small(40, step_tokens=256, shared_tokens=4)
    prompt = tuple(range(8, 28))
    for seq_id, adapter in enumerate((None, None, "a", "a")):
        scheduler.add(made(seq_id, prompt, 2, adapter))
    scheduler.add(made(4, (*prompt[:3], *prompt), 2))  # begins alike, for less than it would wait for
    assert scheduler.plan().admitted == (0, 2, 4)
