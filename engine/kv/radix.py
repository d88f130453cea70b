"""The prefix cache: a tree of token sequences whose KV is kept, in whole blocks. Decides what is found and what is
thrown out; who computes is the scheduler's.

Every node holds its blocks in the pool. A node that a running sequence uses is locked, and all above it; what is not
locked can be evicted, leaf by leaf, least recently used first. At all times evictable + protected = stored."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from engine.kv.blocks import BlockPool


class Node:
    """tokens: those between its parent and it, a multiple of the block. locks: running sequences at it or below.
    number: in order of making, so that every rank throws out the same leaf."""

    __slots__ = ("block_ids", "children", "hits", "locks", "number", "parent", "tokens", "used")

    def __init__(self, tokens: tuple[int, ...], block_ids: list[int], parent: Node | None, number: int) -> None:
        self.tokens, self.block_ids, self.parent, self.number = tokens, block_ids, parent, number
        self.children: dict[tuple[int, ...], Node] = {}  # by the tokens of the first block
        self.locks = self.hits = self.used = 0


class Match(NamedTuple):
    """What is there of a sequence: blocks from its start, and the node where they end (the root for none)."""

    block_ids: list[int]
    node: Node


class RadixCache:
    """Sequences of different namespaces (adapters) share nothing."""

    def __init__(self, pool: BlockPool) -> None:
        self._pool, self._size = pool, pool.block_tokens
        self._roots: dict[Hashable, Node] = {}
        self._clock, self._numbers = itertools.count(1), itertools.count(1)
        self.num_evictable = self.num_protected = 0  # in blocks

    @property
    def num_stored(self) -> int:
        """Blocks in the tree, counted anew: for checks."""
        return sum(len(each.block_ids) for each in self.nodes())

    @property
    def num_namespaces(self) -> int:
        """Of which something is stored."""
        return len(self._roots)

    def nodes(self) -> Iterator[Node]:
        """Every node but the roots."""
        pending = [each for root in self._roots.values() for each in root.children.values()]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(node.children.values())

    def match(self, tokens: Sequence[int], *, namespace: Hashable = None) -> Match:
        """The longest stored beginning, in whole blocks. Each node on the way counts one hit, however it is split."""
        node = self._roots.get(namespace) or Node((), [], None, 0)
        found: list[int] = []
        at, now = 0, next(self._clock)
        while len(tokens) - at >= self._size:
            child = node.children.get(tuple(tokens[at : at + self._size]))
            if child is None:
                break
            same = self._common(child, tokens, at)
            if same < len(child.block_ids):
                child = self._split(child, same)
            child.hits += 1
            child.used = now
            found.extend(child.block_ids)
            at += len(child.tokens)
            node = child
        return Match(found, node)

    def insert(self, tokens: Sequence[int], block_ids: Sequence[int], *, namespace: Hashable = None) -> Match:
        """Keep the KV of a sequence, as far as it fills blocks. Where a beginning is there already, the blocks of the
        tree stay, and those given for it are not kept. Returns the blocks that the tree has of it now.

        The tree holds what it keeps; the caller still holds all that it gave."""
        num_blocks = min(len(tokens) // self._size, len(block_ids))
        node, now = self._root(namespace), next(self._clock)
        found: list[int] = []
        while len(found) < num_blocks:
            at = len(found)
            child = node.children.get(tuple(tokens[at * self._size : (at + 1) * self._size]))
            if child is None:
                child = self._grow(
                    node, tuple(tokens[at * self._size : num_blocks * self._size]), block_ids[at:num_blocks]
                )
            else:
                same = min(self._common(child, tokens, at * self._size), num_blocks - at)
                if same < len(child.block_ids):
                    child = self._split(child, same)
            child.used = now
            found.extend(child.block_ids)
            node = child
        return Match(found, node)

    def _grow(self, parent: Node, tokens: tuple[int, ...], block_ids: Sequence[int]) -> Node:
        made = Node(tokens, list(block_ids), parent, next(self._numbers))
        parent.children[tokens[: self._size]] = made
        self._pool.hold(made.block_ids)
        self.num_evictable += len(made.block_ids)
        return made

    def lock(self, node: Node) -> None:
        """A sequence uses all up to this node."""
        each: Node | None = node
        while each is not None and each.parent is not None:
            if each.locks == 0:
                self.num_evictable -= len(each.block_ids)
                self.num_protected += len(each.block_ids)
            each.locks += 1
            each = each.parent

    def unlock(self, node: Node) -> None:
        each: Node | None = node
        while each is not None and each.parent is not None:
            assert each.locks > 0, "unlocked more often than locked"
            each.locks -= 1
            if each.locks == 0:
                self.num_evictable += len(each.block_ids)
                self.num_protected -= len(each.block_ids)
            each = each.parent

    def evict(self, num_blocks: int) -> int:
        """Throw out leaves nobody uses until at least so many blocks are gone, or nothing is left to throw out. Returns
        how many left the tree (a block that somebody else holds too is not free by that)."""
        leaves = [(each.used, each.number, each) for each in self.nodes() if not each.children and each.locks == 0]
        heapq.heapify(leaves)
        gone = 0
        while leaves and gone < num_blocks:
            _, _, leaf = heapq.heappop(leaves)
            parent = leaf.parent
            assert parent is not None
            del parent.children[leaf.tokens[: self._size]]
            self._pool.release(leaf.block_ids)
            gone += len(leaf.block_ids)
            self.num_evictable -= len(leaf.block_ids)
            if parent.parent is not None and not parent.children and parent.locks == 0:
                heapq.heappush(leaves, (parent.used, parent.number, parent))
        self._roots = {namespace: root for namespace, root in self._roots.items() if root.children}
        return gone

    def clear(self) -> int:
        """Throw out all that is not locked: after new weights nothing kept is right any more."""
        return self.evict(self._pool.num_blocks)

    def _root(self, namespace: Hashable) -> Node:
        return self._roots.setdefault(namespace, Node((), [], None, 0))

    def _common(self, node: Node, tokens: Sequence[int], at: int) -> int:
        """How many of a node's blocks the tokens from `at` on repeat; at least the first, which was looked up."""
        same = 1
        while same < len(node.block_ids):
            first = same * self._size
            part = tuple(tokens[at + first : at + first + self._size])
            if part != node.tokens[first : first + self._size]:
                break
            same += 1
        return same

    def _split(self, node: Node, blocks: int) -> Node:
        """The first blocks of a node become a node of their own, above it. Hits, locks and time of use are those of
        both; nothing is stored, protected or evictable that was not before."""
        parent = node.parent
        assert parent is not None and 0 < blocks < len(node.block_ids)
        cut = blocks * self._size
        upper = Node(node.tokens[:cut], node.block_ids[:blocks], parent, next(self._numbers))
        upper.hits, upper.locks, upper.used = node.hits, node.locks, node.used
        parent.children[upper.tokens[: self._size]] = upper
        node.tokens, node.block_ids, node.parent = node.tokens[cut:], node.block_ids[blocks:], upper
        upper.children[node.tokens[: self._size]] = node
        return upper
