"""Blocks of layers that look back a window only: which a sequence needs where it stands, and how memory is shared out
between those and the blocks of layers that see everything. Who gets them is the scheduler's; what of them is kept for
others, the prefix cache's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.kv.blocks import PADDING_BLOCK, BlockPool
from engine.schema.errors import NotEnoughMemory


class WindowPool:
    """window: positions that a token sees, itself included. Raises NotEnoughMemory where no sequence could go on."""

    def __init__(self, num_blocks: int, block_tokens: int, window: int) -> None:
        assert window > 0
        self.blocks, self.window, self._size = BlockPool(num_blocks, block_tokens), window, block_tokens
        if self.longest_slice < 1:
            raise NotEnoughMemory(
                f"{num_blocks} KV blocks of {block_tokens} for a window of {window} tokens",
                fix="give the KV cache more memory",
            )

    def first_seen(self, position: int) -> int:
        """The block of the first position that the token at `position` sees."""
        return max(position + 1 - self.window, 0) // self._size

    @property
    def longest_slice(self) -> int:
        """The most tokens that one sequence can compute in a step when it has all blocks: those before them that the
        first one sees may begin in the middle of a block, and the last one may end there."""
        return (self.blocks.num_blocks - 1) * self._size - (self.window - 1) - 2 * (self._size - 1)

    def hold(self, block_ids: Sequence[int]) -> None:
        self.blocks.hold(each for each in block_ids if each != PADDING_BLOCK)

    def release(self, block_ids: Sequence[int]) -> int:
        """One holder fewer of those that are no padding; how many became free."""
        return self.blocks.release(each for each in block_ids if each != PADDING_BLOCK)

    def is_held_by_others(self, block_id: int) -> bool:
        return self.blocks.holders(block_id) > 1


class WindowBlocks:
    """Of one sequence: as many as it has blocks of the first pool, the padding block for each that none of its tokens
    will look at again."""

    def __init__(self, pool: WindowPool) -> None:
        self._pool, self.ids, self._num_behind = pool, list[int](), 0

    def begin(self, found: Sequence[int], position: int) -> None:
        """What the prefix cache has, for a sequence that goes on at `position`."""
        self._num_behind = self._pool.first_seen(position)
        self.ids = [*[PADDING_BLOCK] * self._num_behind, *found[self._num_behind :]]
        self._pool.hold(self.ids)

    def slide(self, position: int) -> None:
        """Give back what the token at `position`, and those after it, do not see."""
        behind = min(self._pool.first_seen(position), len(self.ids))
        if behind > self._num_behind:
            self._pool.release(self.ids[self._num_behind : behind])
            self.ids[self._num_behind : behind] = [PADDING_BLOCK] * (behind - self._num_behind)
            self._num_behind = behind

    def take(self, count: int) -> None:
        self.ids.extend(self._pool.blocks.take(count))

    def trim(self, count: int) -> None:
        """All but the first so many."""
        self._pool.release(self.ids[count:])
        del self.ids[count:]


class Shares(NamedTuple):
    """Blocks of either pool, the padding blocks included. num_window_blocks: 0 where one pool is better."""

    num_blocks: int
    num_window_blocks: int


def shares(
    free_bytes: int,
    *,
    full_bytes: int,
    window_bytes: int,
    block_tokens: int,
    window: int,
    step_tokens: int,
    most_blocks: int,
    num_running: int,
) -> Shares:
    """The most tokens for the memory, and no more memory than they need. full_bytes, window_bytes: of one block of all
    layers of a kind. step_tokens: that a step computes over all sequences. most_blocks: that num_running sequences
    could fill in all.

    The second pool has what so many sequences see behind them and what a step adds, but where memory is short no more
    than half of what one pool for all layers would have: sequences shorter than the window fill both pools alike, and
    of those fewer may fit than with one; of longer ones more do."""
    whole = min(free_bytes // (full_bytes + window_bytes), most_blocks)
    behind, added = -(-(window - 1) // block_tokens) + 1, -(-step_tokens // block_tokens)
    num_window = min(num_running * (behind + 1) + added, max(whole // 2, behind + added + 2))
    num_full = min((free_bytes - num_window * window_bytes) // full_bytes, most_blocks)
    if num_full < whole or num_window >= num_full:
        return Shares(whole + 1, 0)
    return Shares(num_full + 1, num_window + 1)
