"""The prefix cache against a plain set of sequences, under random operations; and the laws of its counts."""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from engine.kv.blocks import BlockPool
from engine.kv.radix import Node, RadixCache
from engine.schema.errors import NotEnoughMemory

SIZE = 2
TOKENS = st.lists(st.integers(0, 2), min_size=0, max_size=14)
STEPS = st.lists(st.tuples(st.sampled_from(["insert", "match", "lock", "unlock", "evict"]), TOKENS), max_size=40)


def check_counts(cache: RadixCache, pool: BlockPool) -> None:
    assert cache.num_evictable >= 0 and cache.num_protected >= 0
    assert cache.num_evictable + cache.num_protected == cache.num_stored == pool.num_held
    for node in cache.nodes():
        assert len(node.tokens) == len(node.block_ids) * SIZE
        assert node.parent is not None and (node.parent.parent is None or node.parent.locks >= node.locks)


@given(STEPS)
@settings(max_examples=300)
def test_counts_hold_and_what_is_found_was_put_there(steps: list[tuple[str, list[int]]]) -> None:
    pool = BlockPool(64, SIZE)
    cache = RadixCache(pool)
    content: dict[int, tuple[int, ...]] = {}  # block: all tokens up to its end
    locked: list[tuple[Node, list[int]]] = []
    for action, tokens in steps:
        if action == "insert":
            mine = pool.take(len(tokens) // SIZE)
            kept = cache.insert(tokens, mine)
            for at, block in enumerate(kept.block_ids):
                content.setdefault(block, tuple(tokens[: (at + 1) * SIZE]))
            pool.release(mine)
        elif action == "lock":
            found = cache.match(tokens)
            cache.lock(found.node)
            locked.append((found.node, tokens[: len(found.block_ids) * SIZE]))
        elif action == "unlock" and locked:
            cache.unlock(locked.pop(len(tokens) % len(locked))[0])
        elif action == "evict":
            before = cache.num_stored
            gone = cache.evict(len(tokens))
            assert before - cache.num_stored == gone >= min(len(tokens), before - cache.num_protected)
            content = {block: each for block, each in content.items() if pool.holders(block)}
        found = cache.match(tokens)
        for at, block in enumerate(found.block_ids):
            assert content[block] == tuple(tokens[: (at + 1) * SIZE])
        check_counts(cache, pool)
    for _, prefix in locked:
        assert len(cache.match(prefix).block_ids) * SIZE == len(prefix), "a locked prefix was thrown out"
    event("locked at the end" if locked else "free at the end")
    for node, _ in locked:
        cache.unlock(node)
    cache.clear()
    assert pool.num_held == 0


def filled(*sequences: list[int], size: int = 1) -> tuple[RadixCache, BlockPool]:
    pool = BlockPool(50, size)
    cache = RadixCache(pool)
    for tokens in sequences:
        mine = pool.take(len(tokens) // size)
        cache.insert(tokens, mine)
        pool.release(mine)
    return cache, pool


@pytest.mark.parametrize(("tokens", "blocks"), [([1, 2, 3, 4], 1), ([1, 2, 3, 4, 5, 6, 7], 1), ([1, 2], 0), ([], 0)])
def test_less_than_a_block_matches_nothing(tokens: list[int], blocks: int) -> None:
    cache, _ = filled([1, 2, 3, 4, 9, 9, 9, 9], size=4)
    assert len(cache.match(tokens).block_ids) == blocks


def test_both_halves_of_a_split_carry_the_hits_and_a_request_adds_one() -> None:
    cache, _ = filled([1, 2, 3, 4])
    for _ in range(7):
        cache.match([1, 2, 3, 4])
    cache.match([1, 2, 9])
    assert sorted((each.tokens, each.hits) for each in cache.nodes()) == [((1, 2), 8), ((3, 4), 7)]


@pytest.mark.parametrize(("wanted", "gone"), [(0, 0), (1, 2), (3, 4), (99, 4)])
def test_eviction_stops_when_enough_is_gone_and_spares_what_is_locked(wanted: int, gone: int) -> None:
    cache, pool = filled([1, 1], [2, 2], [3, 3])
    cache.lock(cache.match([1, 1]).node)
    assert cache.evict(wanted) == gone
    assert pool.num_held == 6 - gone
    assert len(cache.match([1, 1]).block_ids) == 2


def test_the_least_recently_used_goes_first() -> None:
    cache, _ = filled([1, 1], [2, 2])
    cache.match([1, 1])
    cache.evict(1)
    assert [len(cache.match(each).block_ids) for each in ([1, 1], [2, 2])] == [2, 0]


def test_namespaces_share_nothing() -> None:
    cache, _ = filled([1, 1])
    assert cache.match([1, 1], namespace="adapter").block_ids == []


def test_blocks_are_counted() -> None:
    pool = BlockPool(4, 16)
    assert (pool.num_free, pool.blocks_for(0), pool.blocks_for(16), pool.blocks_for(17)) == (3, 0, 1, 2)
    assert pool.take(2) == [1, 2]
    pool.hold([1])
    assert pool.release([1, 2]) == 1
    with pytest.raises(NotEnoughMemory, match="3 KV blocks asked for, 2 free"):
        pool.take(3)
    assert pool.take(2) == [2, 3]
    with pytest.raises(NotEnoughMemory):
        BlockPool(1, 16)


def test_nothing_is_kept_of_a_namespace_that_is_gone() -> None:
    pool = BlockPool(64, SIZE)
    cache = RadixCache(pool)
    for number in range(20):
        assert cache.match([1, 1, 2, 2], namespace=("adapter", number)).block_ids == []
        mine = pool.take(2)
        cache.insert([1, 1, 2, 2], mine, namespace=("adapter", number))
        pool.release(mine)
        cache.clear()
    assert cache.num_namespaces == 0
