"""The prefix cache: a tree of token sequences whose KV is kept, in whole blocks. Decides what is found and what is
thrown out; who computes is the scheduler's.

Every node holds its blocks in the pool. A node that a running sequence uses is locked, and all above it; what is not
locked can be evicted, leaf by leaf, least recently used first. At all times evictable + protected = stored."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from engine.kv.blocks import PADDING_BLOCK, BlockPool
from engine.kv.window import WindowPool


class Node:
    """tokens: those between its parent and it, a multiple of the block. window_ids: as many as block_ids where layers
    that look back a window have a pool of their own, the padding block for what is not kept there; else none. locks:
    running sequences at it or below. number: in order of making, so that every rank throws out the same leaf."""

    __slots__ = ("block_ids", "children", "hits", "locks", "number", "parent", "tokens", "used", "window_ids")

    def __init__(
        self, tokens: tuple[int, ...], block_ids: list[int], window_ids: list[int], parent: Node | None, number: int
    ) -> None:
        self.tokens, self.block_ids, self.window_ids = tokens, block_ids, window_ids
        self.parent, self.number = parent, number
        self.children: dict[tuple[int, ...], Node] = {}  # by the tokens of the first block
        self.locks = self.hits = self.used = 0


class Match(NamedTuple):
    """What is there of a sequence: blocks from its start, and the node where they end (the root for none)."""

    block_ids: list[int]
    node: Node
    window_ids: list[int]


class RadixCache:
    """Sequences of different namespaces (adapters) share nothing. window: the second pool, where there is one. What of
    it is kept may go before the blocks of the first: then a beginning is found as far as the window before its end is
    there."""

    def __init__(self, pool: BlockPool, window: WindowPool | None = None) -> None:
        self._pool, self._size, self._window = pool, pool.block_tokens, window
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
        node = self._roots.get(namespace) or Node((), [], [], None, 0)
        found, seen = list[int](), list[int]()
        at, now = 0, next(self._clock)
        if self._window is not None:
            tokens = tokens[: self._usable(node, tokens, self._window) * self._size]
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
            seen.extend(child.window_ids)
            at += len(child.tokens)
            node = child
        return Match(found, node, seen)

    def _usable(self, node: Node, tokens: Sequence[int], window: WindowPool) -> int:
        """How many blocks are stored of a beginning that the next token could go on from: all that it sees is there."""
        at, kept, usable = 0, 0, 0  # kept: blocks of the second pool, one after the other, before this place
        while len(tokens) - at * self._size >= self._size:
            child = node.children.get(tuple(tokens[at * self._size : (at + 1) * self._size]))
            if child is None:
                break
            same = self._common(child, tokens, at * self._size)
            for each in child.window_ids[:same]:
                at += 1
                kept = kept + 1 if each != PADDING_BLOCK else 0
                if kept >= at - window.first_seen(at * self._size):
                    usable = at
            if same < len(child.block_ids):
                break
            node = child
        return usable

    def insert(
        self,
        tokens: Sequence[int],
        block_ids: Sequence[int],
        *,
        window_ids: Sequence[int] = (),
        namespace: Hashable = None,
    ) -> Match:
        """Keep the KV of a sequence, as far as it fills blocks. Where a beginning is there already, the blocks of the
        tree stay, and those given for it are not kept; of the second pool, those that the tree lacks are. Returns the
        blocks that the tree has of it now.

        The tree holds what it keeps; the caller still holds all that it gave."""
        num_blocks = min(len(tokens) // self._size, len(block_ids))
        node, now = self._root(namespace), next(self._clock)
        found, seen = list[int](), list[int]()
        while len(found) < num_blocks:
            at = len(found)
            child = node.children.get(tuple(tokens[at * self._size : (at + 1) * self._size]))
            if child is None:
                part = tuple(tokens[at * self._size : num_blocks * self._size])
                child = self._grow(node, part, block_ids[at:num_blocks], window_ids[at:num_blocks])
            else:
                same = min(self._common(child, tokens, at * self._size), num_blocks - at)
                if same < len(child.block_ids):
                    child = self._split(child, same)
                self._complete(child, window_ids[at : at + same])
            child.used = now
            found.extend(child.block_ids)
            seen.extend(child.window_ids)
            node = child
        return Match(found, node, seen)

    def _grow(self, parent: Node, tokens: tuple[int, ...], block_ids: Sequence[int], window_ids: Sequence[int]) -> Node:
        made = Node(tokens, list(block_ids), list(window_ids), parent, next(self._numbers))
        parent.children[tokens[: self._size]] = made
        self._pool.hold(made.block_ids)
        if self._window is not None:
            assert len(window_ids) == len(block_ids), "a block of each pool"
            self._window.hold(made.window_ids)
        self.num_evictable += len(made.block_ids)
        return made

    def _complete(self, node: Node, window_ids: Sequence[int]) -> None:
        """Blocks of the second pool where the node has none."""
        for at, each in enumerate(window_ids):
            if self._window is not None and node.window_ids[at] == PADDING_BLOCK != each:
                self._window.hold([each])
                node.window_ids[at] = each

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
            if self._window is not None:
                self._window.release(leaf.window_ids)
            gone += len(leaf.block_ids)
            self.num_evictable -= len(leaf.block_ids)
            if parent.parent is not None and not parent.children and parent.locks == 0:
                heapq.heappush(leaves, (parent.used, parent.number, parent))
        self._roots = {namespace: root for namespace, root in self._roots.items() if root.children}
        return gone

    def evict_windows(self, num_blocks: int) -> int:
        """Let go of blocks of the second pool until so many more are free, or the tree has none: of what was used
        longest ago first, and of each node what stands before its last window before that. The blocks of the first
        pool stay. Returns how many became free."""
        if self._window is None:
            return 0
        nodes, gone = sorted(self.nodes(), key=lambda each: (each.used, each.number)), 0
        for is_whole in (False, True):
            for node in nodes:
                count = len(node.window_ids)
                last = count if is_whole else count - -(-(self._window.window - 1) // self._size)
                for at, each in enumerate(node.window_ids[: max(last, 0)]):
                    if gone >= num_blocks:
                        return gone
                    if each != PADDING_BLOCK and not self._window.is_held_by_others(each):
                        gone += self._window.release([each])
                        node.window_ids[at] = PADDING_BLOCK
        return gone

    def clear(self) -> int:
        """Throw out all that is not locked: after new weights nothing kept is right any more."""
        return self.evict(self._pool.num_blocks)

    def _root(self, namespace: Hashable) -> Node:
        return self._roots.setdefault(namespace, Node((), [], [], None, 0))

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
        upper = Node(node.tokens[:cut], node.block_ids[:blocks], node.window_ids[:blocks], parent, next(self._numbers))
        upper.hits, upper.locks, upper.used = node.hits, node.locks, node.used
        parent.children[upper.tokens[: self._size]] = upper
        node.tokens, node.block_ids, node.parent = node.tokens[cut:], node.block_ids[blocks:], upper
        node.window_ids = node.window_ids[blocks:]
        upper.children[node.tokens[: self._size]] = node
        return upper
