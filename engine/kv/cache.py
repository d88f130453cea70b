"""The tensors of the KV blocks of one rank. S slots (blocks * tokens a block), K KV heads of this rank, D head
width."""

from __future__ import annotations

import torch
from torch import Tensor


class KVCache:
    """One pair of [S, K, D] tensors a layer. Slot of a position: block id * block_tokens + position % block_tokens."""

    def __init__(
        self, *, num_layers: int, num_blocks: int, block_tokens: int, heads: int, head_dim: int, dtype: torch.dtype
    ) -> None:
        self.block_tokens, self.num_blocks = block_tokens, num_blocks
        shape = (num_layers, num_blocks * block_tokens, heads, head_dim)
        self.keys, self.values = torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)

    @property
    def num_bytes(self) -> int:
        return 2 * self.keys.numel() * self.keys.element_size()

    def write(self, layer: int, slots_T: Tensor, keys_TKD: Tensor, values_TKD: Tensor) -> None:
        self.keys[layer].index_copy_(0, slots_T, keys_TKD.to(self.keys.dtype))
        self.values[layer].index_copy_(0, slots_T, values_TKD.to(self.values.dtype))

    def read(self, layer: int, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values at some slots, of any shape: [..., K, D]."""
        return self.keys[layer][slots], self.values[layer][slots]


def block_bytes(*, num_layers: int, block_tokens: int, heads: int, head_dim: int, dtype: torch.dtype) -> int:
    """What one block takes on this rank: 2 * layers * block_tokens * heads * head_dim * itemsize."""
    return 2 * num_layers * block_tokens * heads * head_dim * torch.empty((), dtype=dtype).element_size()
