"""The KV blocks of one rank: which are free, and how many hold each of the others. Which are worth keeping is the
prefix cache's business (radix.py)."""

from __future__ import annotations

from collections.abc import Iterable

from engine.schema.errors import NotEnoughMemory

PADDING_BLOCK = 0  # rows of a batch that stand for nothing write here


class BlockPool:
    """num_blocks counts the padding block, which is never given out. Blocks are given out lowest number first, so that
    the same requests get the same blocks on every rank."""

    def __init__(self, num_blocks: int, block_tokens: int) -> None:
        if num_blocks < 2 or block_tokens < 1:
            raise NotEnoughMemory(
                f"{num_blocks} KV blocks of {block_tokens} tokens",
                fix="give the KV cache more memory, or lower the model's",
            )
        self.num_blocks, self.block_tokens = num_blocks, block_tokens
        self._free = list(range(num_blocks - 1, PADDING_BLOCK, -1))
        self._holders = [0] * num_blocks

    @property
    def num_free(self) -> int:
        return len(self._free)

    @property
    def num_held(self) -> int:
        return self.num_blocks - 1 - len(self._free)

    def blocks_for(self, num_tokens: int) -> int:
        """How many blocks so many tokens fill."""
        return -(-num_tokens // self.block_tokens)

    def take(self, count: int) -> list[int]:
        """That many blocks, held once each. Raises NotEnoughMemory, taking none, when fewer are free."""
        if count > len(self._free):
            raise NotEnoughMemory(f"{count} KV blocks asked for, {len(self._free)} free", fix="evict or preempt first")
        taken = [self._free.pop() for _ in range(count)]
        for each in taken:
            self._holders[each] = 1
        return taken

    def hold(self, block_ids: Iterable[int]) -> None:
        """One more holder of blocks that are held already."""
        for each in block_ids:
            assert self._holders[each] > 0, f"block {each} is free"
            self._holders[each] += 1

    def release(self, block_ids: Iterable[int]) -> int:
        """One holder fewer; how many became free."""
        freed = []
        for each in block_ids:
            assert self._holders[each] > 0, f"block {each} is free already"
            self._holders[each] -= 1
            if self._holders[each] == 0:
                freed.append(each)
        if freed:
            self._free.extend(freed)
            self._free.sort(reverse=True)
        return len(freed)

    def holders(self, block_id: int) -> int:
        return self._holders[block_id]
