"""The model: an embedding, layers that mix a token with what came before, and this rank's rows of the output matrix.

All arithmetic is on integers modulo a prime, so results are exact on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List

if TYPE_CHECKING:
    from minirunner.config import ModelConfig
    from minirunner.runner.kv_pool import KVPool

PRIME = 997


class TinyModel:
    def __init__(self, config: ModelConfig, tp_rank: int, tp_size: int):
        if config.vocab_size % tp_size:
            raise ValueError(f"vocab_size {config.vocab_size} does not divide by tp_size {tp_size}")
        shard = config.vocab_size // tp_size
        self.config = config
        self.vocab_range = range(tp_rank * shard, (tp_rank + 1) * shard)
        self.params: Dict[str, List[List[int]]] = {}

    def expected_names(self) -> List[str]:
        return ["embed", "lm_head", *(f"layers.{layer}.mix" for layer in range(self.config.num_layers))]

    def load_weight(self, name: str, matrix: List[List[int]]) -> None:
        if name == "lm_head":
            matrix = [matrix[row] for row in self.vocab_range]
        self.params[name] = matrix

    def num_bytes(self) -> int:
        return sum(len(matrix) * len(matrix[0]) * 4 for matrix in self.params.values())

    def forward_token(self, request_id: str, token: int, kv_pool: KVPool) -> List[int]:
        """This rank's logits after `token`; the token's state joins the request's KV blocks."""
        hidden = self.params["embed"][token % self.config.vocab_size]
        for layer in range(self.config.num_layers):
            kv_pool.append(request_id, layer, hidden)
            context = [sum(column) % PRIME for column in zip(*kv_pool.read(request_id, layer))]
            mix = self.params[f"layers.{layer}.mix"]
            hidden = [(_dot(row, context) + own) % PRIME for row, own in zip(mix, hidden)]
        return [_dot(row, hidden) for row in self.params["lm_head"]]


def _dot(a: List[int], b: List[int]) -> int:
    return sum(x * y for x, y in zip(a, b)) % PRIME
