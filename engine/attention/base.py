"""What a way to compute attention over paged KV gives its layers. T tokens, H heads, K KV heads, D head width."""

from __future__ import annotations

from torch import Tensor

from engine.attention.batch import AttentionBatch
from engine.kv.cache import KVCache


class Attention:
    """Writes the step's keys and values, then answers its queries. window: positions seen, itself included; 0 is
    all."""

    def __init__(self, cache: KVCache, batch: AttentionBatch) -> None:
        self.cache, self.batch = cache, batch

    def __call__(self, layer: int, q_THD: Tensor, k_TKD: Tensor, v_TKD: Tensor, *, scale: float, window: int) -> Tensor:
        """[T, H, D]."""
        self.cache.write(layer, self.batch_of(layer).slots_T, k_TKD, v_TKD)
        return self.attend(layer, q_THD, scale, window)

    def batch_of(self, layer: int) -> AttentionBatch:
        """Where the step's tokens stand in the pool that this layer keeps its KV in."""
        return self.batch.windowed if self.cache.is_windowed[layer] else self.batch

    def attend(self, layer: int, q_THD: Tensor, scale: float, window: int) -> Tensor:
        raise NotImplementedError
