"""Attention in torch: as the formula is written, and by its fused kernel. T tokens, H heads, K KV heads, D head width,
L positions of one sequence."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from engine.attention.base import Attention


class ReferenceAttention(Attention):
    """One sequence after the other, in fp32, as the formula is written: what the others are held against."""

    def attend(self, layer: int, q_THD: Tensor, scale: float, window: int) -> Tensor:
        out, batch = torch.empty_like(q_THD), self.batch_of(layer)
        for span, slots in zip(batch.spans, batch.history, strict=True):
            keys, values = self.cache.read(layer, slots)
            repeat = q_THD.shape[1] // keys.shape[1]
            keys = keys.float().repeat_interleave(repeat, dim=1)
            values = values.float().repeat_interleave(repeat, dim=1)
            scores = torch.einsum("thd,lhd->htl", q_THD[span.first : span.last].float(), keys) * scale
            scores = scores.masked_fill(~seen(span.start, span.end, window), float("-inf"))
            made = torch.einsum("htl,lhd->thd", scores.softmax(-1), values)
            out[span.first : span.last] = made.to(out.dtype)
        return out


class SdpaAttention(Attention):
    """torch's fused kernel: all decodes in one call over padded histories, each prefill in one of its own."""

    def attend(self, layer: int, q_THD: Tensor, scale: float, window: int) -> Tensor:
        out, batch = torch.empty_like(q_THD), self.batch_of(layer)
        count = batch.decodes
        if count:
            slots, is_seen = batch.padded(window)
            keys, values = self._of(layer, slots, q_THD.dtype)
            made = F.scaled_dot_product_attention(
                q_THD[:count, :, None],
                keys.transpose(1, 2),
                values.transpose(1, 2),
                attn_mask=is_seen[:, None, None],
                scale=scale,
                enable_gqa=True,
            )
            out[:count] = made[:, :, 0]
        for span, history in zip(batch.spans[count:], batch.history[count:], strict=True):
            first = max(span.start + 1 - window, 0) if window else 0
            keys, values = self._of(layer, history[first:], q_THD.dtype)
            is_plain = span.start == 0 and not (window and span.end > window)
            made = F.scaled_dot_product_attention(
                q_THD[span.first : span.last].transpose(0, 1)[None],
                keys.transpose(0, 1)[None],
                values.transpose(0, 1)[None],
                attn_mask=None if is_plain else seen(span.start, span.end, window)[:, first:],
                is_causal=is_plain,
                scale=scale,
                enable_gqa=True,
            )
            out[span.first : span.last] = made[0].transpose(0, 1)
        return out

    def _of(self, layer: int, slots: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        keys, values = self.cache.read(layer, slots)
        return keys.to(dtype), values.to(dtype)


def seen(start: int, end: int, window: int) -> Tensor:
    """Which positions [0, end) each of the positions [start, end) sees: [T, L]."""
    query, key = torch.arange(start, end)[:, None], torch.arange(end)[None]
    return (key <= query) & (key > query - window) if window else key <= query
