"""KV blocks: which request owns which, and what is in them."""

from __future__ import annotations

from typing import Dict, List

from minirunner.host.common import ceil_div


class KVPool:
    def __init__(self, num_blocks: int, block_tokens: int, num_layers: int):
        self.num_blocks = num_blocks
        self.block_tokens = block_tokens
        self.num_layers = num_layers
        self._states: Dict[str, List[List[List[int]]]] = {}

    def _blocks_of(self, request_id: str) -> int:
        return ceil_div(len(self._states[request_id][0]), self.block_tokens)

    @property
    def num_free_blocks(self) -> int:
        return self.num_blocks - sum(map(self._blocks_of, self._states))

    def append(self, request_id: str, layer: int, state: List[int]) -> None:
        layers = self._states.setdefault(request_id, [[] for _ in range(self.num_layers)])
        starts_block = layer == 0 and len(layers[0]) % self.block_tokens == 0
        if starts_block and self.num_free_blocks == 0:
            raise RuntimeError(f"no KV block is free for {request_id} ({self.num_blocks} in all)")
        layers[layer].append(state)

    def read(self, request_id: str, layer: int) -> List[List[int]]:
        return self._states[request_id][layer]

    def free(self, request_id: str) -> None:
        self._states.pop(request_id, None)
