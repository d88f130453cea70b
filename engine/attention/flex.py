"""Attention by torch's flex_attention: all sequences of a step in one call, who sees whom said by a mask that skips
whole blocks. Compiled where there is a compiler; else, and where torch can't compile it, the same by torch's plain
operators. T tokens, H heads, K KV heads, D head width, L positions of all sequences, one after the other.

torch compiles it for CPUs at fixed sizes alone, and for each anew, so T and L are filled up to powers of two."""

from __future__ import annotations

import functools
import logging
import os
import shutil
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from engine.attention.base import Attention
from engine.attention.batch import AttentionBatch
from engine.config.env import read_env
from engine.host.compiler import COMPILERS
from engine.kv.cache import KVCache

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

log = logging.getLogger(__name__)
_LEAST_T, _LEAST_L = 16, 128
_NOBODY = -1  # the sequence of rows that fill up; a key that fills up has another


class Seen(NamedTuple):
    """Slots of what is read, and who sees what of it."""

    slots_L: Tensor
    mask: BlockMask


class FlexAttention(Attention):
    """Masks are made once a step, for each window that layers have."""

    def __init__(self, cache: KVCache, batch: AttentionBatch) -> None:
        super().__init__(cache, batch)
        self._seen: dict[int, Seen] = {}

    def attend(self, layer: int, q_THD: Tensor, scale: float, window: int) -> Tensor:
        if window not in self._seen:
            self._seen[window] = seen_by(self.batch_of(layer), window)
        slots_L, mask = self._seen[window]
        keys_LKD, values_LKD = self.cache.read(layer, slots_L)
        count = q_THD.shape[0]
        q_THD = F.pad(q_THD, (0, 0, 0, 0, 0, mask.seq_lengths[0] - count))
        q, k, v = (each.to(q_THD.dtype).transpose(0, 1)[None] for each in (q_THD, keys_LKD, values_LKD))
        made = attend(q, k, v, mask=mask, scale=scale)
        return made[0].transpose(0, 1)[:count].contiguous()


def seen_by(batch: AttentionBatch, window: int) -> Seen:
    """Each token sees its own sequence up to itself, or the last `window` positions of it."""
    from torch.nn.attention.flex_attention import create_block_mask

    parts, starts = [], []
    for span, history in zip(batch.spans, batch.history, strict=True):
        starts.append(max(span.start + 1 - window, 0) if window else 0)
        parts.append(history[starts[-1] :])
    num_tokens, num_seen = len(batch.positions_T), sum(map(len, parts))
    size_T, size_L = _filled(num_tokens, _LEAST_T), _filled(num_seen, _LEAST_L)
    sequences = torch.arange(len(parts))
    counts_T = torch.tensor([span.last - span.first for span in batch.spans])
    counts_L = torch.tensor([len(each) for each in parts])
    sequence_T = F.pad(sequences.repeat_interleave(counts_T), (0, size_T - num_tokens), value=_NOBODY)
    sequence_L = F.pad(sequences.repeat_interleave(counts_L), (0, size_L - num_seen), value=_NOBODY - 1)
    at_T = F.pad(batch.positions_T, (0, size_T - num_tokens))
    at_L = torch.cat([torch.arange(first, first + len(each)) for first, each in zip(starts, parts, strict=True)])
    at_L = F.pad(at_L, (0, size_L - num_seen))

    def sees(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        is_own = (sequence_T[query] == sequence_L[key]) & (at_L[key] <= at_T[query])
        return is_own & (at_L[key] > at_T[query] - window) if window else is_own

    mask = create_block_mask(sees, None, None, size_T, size_L, device=batch.positions_T.device)
    return Seen(F.pad(torch.cat(parts), (0, size_L - num_seen)), mask)


def attend(q: Tensor, k: Tensor, v: Tensor, *, mask: BlockMask, scale: float) -> Tensor:
    """[1, H, T, D] against [1, K, L, D]."""
    options = {"block_mask": mask, "scale": scale, "enable_gqa": q.shape[1] != k.shape[1]}
    run = compiled(q.device.type)
    if run is not None and not torch.compiler.is_compiling():
        try:
            made: Tensor = run(q, k, v, **options)
            return made
        except Exception as error:
            if not _is_of_the_compiler(error):
                raise
            log.warning("flex attention: by torch's plain operators: T=%d L=%d: %s", q.shape[2], k.shape[2], error)
            compiled.cache_clear()
            _FAILED.add(q.device.type)
    return _plain(q, k, v, options)


_FAILED: set[str] = set()  # devices that it can't be compiled for


@functools.cache
def compiled(device: str) -> Callable[..., Any] | None:
    """None where there is no compiler, or it failed."""
    from torch.nn.attention.flex_attention import flex_attention

    if device in _FAILED or (device == "cpu" and not can_compile()):
        return None
    made: Callable[..., Any] = torch.compile(flex_attention, dynamic=device != "cpu")
    return made


def can_compile() -> bool:
    """Whether there is a C++ compiler, and its use is not forbidden."""
    return read_env(os.environ).is_native and any(shutil.which(each) for each in COMPILERS)


def _plain(q: Tensor, k: Tensor, v: Tensor, options: dict[str, Any]) -> Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is not compiled is known
        made: Tensor = flex_attention(q, k, v, **options)
    return made


def _is_of_the_compiler(error: Exception) -> bool:
    from torch._dynamo.exc import TorchDynamoException
    from torch._inductor.exc import InductorError

    return isinstance(error, (TorchDynamoException, InductorError))


def _filled(count: int, least: int) -> int:
    return max(least, 1 << (count - 1).bit_length())
