"""Attention by our own kernel: reads keys and values where they lie, in whatever format the cache has. A query's bits
depend on its own history alone. T tokens, H heads, K KV heads, D head width."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from engine.attention.base import Attention
from engine.attention.plain import SdpaAttention
from engine.kernels import native


class NativeAttention(Attention):
    """SDPA takes what the kernel does not: other dtypes and widths, no compiler."""

    def attend(self, layer: int, q_THD: Tensor, scale: float, window: int) -> Tensor:
        if not fits(q_THD, self.cache.head_dim):
            return SdpaAttention(self.cache, self.batch).attend(layer, q_THD, scale, window)
        library = native.library()
        assert library is not None, "fits() said so"
        out = torch.empty(q_THD.shape, dtype=q_THD.dtype)
        described = self.described(layer, heads=q_THD.shape[1], kind=q_THD.dtype, scale=scale, window=window)
        described.q, described.out, described.q_stride = q_THD.data_ptr(), out.data_ptr(), q_THD.stride(0)
        library.engine_attend(ctypes.byref(described), torch.get_num_threads())
        return out

    def described(self, layer: int, *, heads: int, kind: torch.dtype, scale: float, window: int) -> native.Struct:
        """For the kernels, without queries and answers."""
        cache, batch = self.cache, self.batch_of(layer)
        tables, spans = batch.tables, batch.spans_N4
        stored = cache.stored(layer)
        return native.Attend(
            keys=stored.keys.data_ptr(),
            values=stored.values.data_ptr(),
            key_scales=native.address(stored.key_scales),
            value_scales=native.address(stored.value_scales),
            tables=tables.data_ptr(),
            spans=spans.data_ptr(),
            kind=native.KINDS[kind],
            kv_kind=native.KINDS[cache.dtype],
            heads=heads,
            kv_heads=cache.heads,
            dim=cache.head_dim,
            block_tokens=cache.block_tokens,
            table_stride=tables.shape[1],
            sequences=len(batch.spans),
            window=window,
            scale=scale,
            key_factor=stored.key_factor,
            value_factor=stored.value_factor,
        )


def fits(q_THD: Tensor, dim: int) -> bool:
    """Whether the kernel takes such queries: heads side by side, in fp32 or bf16, their width in sixteens."""
    if q_THD.device.type != "cpu" or q_THD.dtype not in (torch.float32, torch.bfloat16) or dim % 16:
        return False
    is_dense = q_THD.stride(2) == 1 and q_THD.stride(1) == dim
    return is_dense and native.library() is not None and not torch.compiler.is_compiling()
