"""A decoder on MLX, Apple's arrays: made of one whose weights are loaded, and asked like it. Prompts and single tokens
alike go sequence by sequence through MLX's fused attention. T tokens, D model width, H and K query and KV heads, S
slots.

Host tensors go in and out: on Apple's chips both sides have the same memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.attention.base import Attention
from engine.layers.norm import RMSNorm
from engine.models.decoder import Decoder, DecoderLayer, SelfAttention
from engine.models.feed_forward import FeedForward
from engine.schema.errors import BadConfig


def load_mlx() -> Any:
    """The module mlx.core. Raises BadConfig where it is not installed."""
    try:
        import mlx.core as mx
    except ImportError as error:
        raise BadConfig(f"device mlx: {error}", fix="pip install mlx, or use another device") from error
    return mx


class MlxKVCache:
    """[S, K, D] arrays of keys and values for each layer."""

    def __init__(self, mx: Any, *, num_layers: int, num_slots: int, heads: int, head_dim: int, dtype: Any) -> None:
        shape = (num_slots, heads, head_dim)
        self.keys = [mx.zeros(shape, dtype=dtype) for _ in range(num_layers)]
        self.values = [mx.zeros(shape, dtype=dtype) for _ in range(num_layers)]
        self.num_bytes = sum(int(each.nbytes) for each in (*self.keys, *self.values))


class MlxDecoder:
    """Weights in MLX's memory. A dense model of one stage, whole on its device."""

    def __init__(self, model: Decoder, dtype: torch.dtype) -> None:
        self.mx = mx = load_mlx()
        self.config, self.stage = model.config, model.stage
        self.dtype = getattr(mx, str(dtype).removeprefix("torch."))
        assert model.embedding is not None and model.norm is not None and model.head is not None
        self._table = self._array(model.embedding.weight)
        self._head = self._table if model.config.is_tied else self._array(model.head.weight)
        self._norm = self._normed(model.norm)
        self._angles = [
            (self._array(each.cos, mx.float32), self._array(each.sin, mx.float32))
            for each in (model.rotary, model.local_rotary)
        ]
        self._layers = [self._layer(each) for each in model.layers if isinstance(each, DecoderLayer)]
        mx.eval(self._table, self._head)
        self.cache: MlxKVCache | None = None

    def _array(self, tensor: Tensor, dtype: Any = None) -> Any:
        return self.mx.array(tensor.detach().float().numpy()).astype(dtype or self.dtype)

    def _normed(self, norm: RMSNorm) -> Callable[[Any], Any]:
        weight, eps, mx = self._array(norm.weight, self.mx.float32) + norm.offset, norm.eps, self.mx
        return lambda x: mx.fast.rms_norm(x.astype(mx.float32), weight, eps).astype(self.dtype)

    def _layer(self, layer: DecoderLayer) -> Callable[..., Any]:
        """As DecoderLayer.forward is written."""
        attention, ffn = self._attention(layer.attention), self._feed_forward(layer)
        before, after = self._normed(layer.attention_norm), self._normed(layer.ffn_norm)
        posts = [
            self._normed(each) if isinstance(each, RMSNorm) else _same
            for each in (layer.post_attention_norm, layer.post_ffn_norm)
        ]
        angles = self._angles[layer.is_local]

        def forward(x_TD: Any, positions: Any, attend: Attention) -> Any:
            x_TD = x_TD + posts[0](attention(before(x_TD), angles, positions, attend))
            return x_TD + posts[1](ffn(after(x_TD)))

        return forward

    def _feed_forward(self, layer: DecoderLayer) -> Callable[[Any], Any]:
        mx, ffn = self.mx, layer.feed_forward
        if not isinstance(ffn, FeedForward):
            raise BadConfig("a sparse model with MLX", fix="use --device cpu")
        gate_up, down = self._array(ffn.gate_up.weight), self._array(ffn.down.weight)
        is_gelu = ffn.activation == "gelu_tanh"

        def forward(x_TD: Any) -> Any:
            gate, up = mx.split(x_TD @ gate_up.T, 2, axis=-1)
            if is_gelu:
                gate = 0.5 * gate * (1 + mx.tanh(0.7978845608028654 * (gate + 0.044715 * gate * gate * gate)))
            else:
                gate = gate * mx.sigmoid(gate)
            return (gate * up) @ down.T

        return forward

    def _attention(self, layer: SelfAttention) -> Callable[..., Any]:
        mx, index = self.mx, layer.cache_layer
        qkv, out = self._array(layer.qkv.weight), self._array(layer.out.weight)
        bias = None if layer.qkv.bias is None else self._array(layer.qkv.bias)
        norms = [_same if each is None else self._normed(each) for each in (layer.q_norm, layer.k_norm)]
        heads, kv_heads, dim = layer.heads, layer.kv_heads, layer.head_dim

        def turn(x_THD: Any, cos: Any, sin: Any) -> Any:
            first, second = mx.split(x_THD, 2, axis=-1)
            return (x_THD * cos + mx.concatenate((-second, first), axis=-1) * sin).astype(self.dtype)

        def forward(x_TD: Any, angles: tuple[Any, Any], positions: Any, attend: Attention) -> Any:
            made = x_TD @ qkv.T
            made = (made if bias is None else made + bias).reshape(x_TD.shape[0], -1, dim)
            q, k, v = made[:, :heads], made[:, heads : heads + kv_heads], made[:, heads + kv_heads :]
            cos, sin = (each[positions][:, None] for each in angles)
            q, k = turn(norms[0](q), cos, sin), turn(norms[1](k), cos, sin)
            assert self.cache is not None, "the blocks are allocated before the first step"
            slots = mx.array(attend.batch.slots_T.numpy())
            self.cache.keys[index][slots] = k
            self.cache.values[index][slots] = v
            return self._attend(q, index, attend, layer.scale, layer.window).reshape(x_TD.shape[0], -1) @ out.T

        return forward

    def _attend(self, q_THD: Any, index: int, attend: Attention, scale: float, window: int) -> Any:
        """Every sequence by itself, over what it sees."""
        mx, parts = self.mx, []
        assert self.cache is not None, "checked where keys are written"
        for span, history in zip(attend.batch.spans, attend.batch.history, strict=True):
            first = max(span.start + 1 - window, 0) if window else 0
            slots = mx.array(history[first:].numpy())
            keys, values = (each[slots].transpose(1, 0, 2)[None] for each in (self._keys(index), self._values(index)))
            queries = mx.arange(span.start, span.end)[:, None]
            seen = mx.arange(first, span.end)[None]
            mask = (seen <= queries) & (seen > queries - window) if window else seen <= queries
            made = mx.fast.scaled_dot_product_attention(
                q_THD[span.first : span.last].transpose(1, 0, 2)[None], keys, values, scale=scale, mask=mask
            )
            parts.append(made[0].transpose(1, 0, 2))
        return mx.concatenate(parts, axis=0)

    def _keys(self, index: int) -> Any:
        assert self.cache is not None, "checked where keys are written"
        return self.cache.keys[index]

    def _values(self, index: int) -> Any:
        assert self.cache is not None, "checked where keys are written"
        return self.cache.values[index]

    def __call__(
        self, tokens_T: Tensor, positions_T: Tensor, attend: Attention, hidden_TD: Tensor | None = None
    ) -> Tensor:
        assert hidden_TD is None, "there is one stage"
        x_TD = self._table[self.mx.array(tokens_T.numpy())]
        if self.config.embed_scale != 1.0:
            x_TD = x_TD * self.mx.array(self.config.embed_scale, dtype=self.dtype)
        positions = self.mx.array(positions_T.numpy())
        for layer in self._layers:
            x_TD = layer(x_TD, positions, attend)
        return self._tensor(x_TD)

    def logits(self, hidden_TD: Tensor) -> Tensor:
        normed = self._norm(self._array(hidden_TD))
        return self._tensor(normed @ self._head.T)[:, : self.config.vocab_size]

    def _tensor(self, array: Any) -> Tensor:
        return torch.from_numpy(np.array(array.astype(self.mx.float32)))


def _same(x: Any) -> Any:
    return x
