"""The tensors of the KV blocks of one rank, and the formats that keys and values are kept in. S slots (blocks * tokens
a block), K KV heads of this rank, D head width.

int8 has a scale of its own for every token and head. fp8 is a cast; what is out of its range is cut off at its ends,
and keys and values are divided before by factors of the layer, 1 unless the checkpoint gives others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.schema.errors import BadConfig

FP8 = (torch.float8_e5m2, torch.float8_e4m3fn)
DTYPES = (torch.float32, torch.bfloat16, torch.float16, *FP8, torch.int8)
_SCALE = torch.float32  # of int8


class Stored(NamedTuple):
    """Of one layer, as it lies: keys and values [S, K, D]; scales [S, K], of int8 alone; factors that all are
    multiplied with."""

    keys: Tensor
    values: Tensor
    key_scales: Tensor | None
    value_scales: Tensor | None
    key_factor: float
    value_factor: float


def _unwritten(shape: tuple[int, ...], dtype: torch.dtype, block_tokens: int) -> Tensor:
    """Zeros in the padding block alone, which is read unwritten. The rest is not touched: gigabytes of zeros take
    minutes on a machine that is short of memory, and most of them would never be used."""
    made = torch.empty(shape, dtype=dtype)
    made[:, :block_tokens].zero_()
    return made


class _Pool:
    """Some layers' blocks: one pair of [S, K, D] tensors a layer."""

    def __init__(self, shape: tuple[int, int, int, int], dtype: torch.dtype, block_tokens: int) -> None:
        self.keys, self.values = _unwritten(shape, dtype, block_tokens), _unwritten(shape, dtype, block_tokens)
        self.key_scales = self.value_scales = None
        if dtype is torch.int8:
            self.key_scales = _unwritten(shape[:3], _SCALE, block_tokens)
            self.value_scales = _unwritten(shape[:3], _SCALE, block_tokens)

    @property
    def num_bytes(self) -> int:
        tensors = (self.keys, self.values, self.key_scales, self.value_scales)
        return sum(each.numel() * each.element_size() for each in tensors if each is not None)


class KVCache:
    """Slot of a position: block id * block_tokens + position % block_tokens. is_windowed: of each layer, whether it
    looks back a window only and keeps its KV in the second pool, of num_window_blocks; empty for one pool. Raises
    BadConfig for a dtype that is none of DTYPES."""

    def __init__(
        self,
        *,
        num_layers: int,
        num_blocks: int,
        block_tokens: int,
        heads: int,
        head_dim: int,
        dtype: torch.dtype,
        is_windowed: Sequence[bool] = (),
        num_window_blocks: int = 0,
    ) -> None:
        _check(dtype)
        self.block_tokens, self.num_blocks, self.num_window_blocks = block_tokens, num_blocks, num_window_blocks
        self.heads, self.head_dim, self.dtype = heads, head_dim, dtype
        self.is_windowed = tuple(is_windowed) or (False,) * num_layers
        assert len(self.is_windowed) == num_layers and any(self.is_windowed) == (num_window_blocks > 0)
        pools = [
            _Pool((self.is_windowed.count(which), blocks * block_tokens, heads, head_dim), dtype, block_tokens)
            for which, blocks in ((False, num_blocks), (True, num_window_blocks))
        ]
        self._pools = pools
        self._places = [(pools[each], self.is_windowed[:at].count(each)) for at, each in enumerate(self.is_windowed)]
        self._factors = [(1.0, 1.0)] * num_layers

    @property
    def keys(self) -> Tensor:
        """Of the layers that see everything."""
        return self._pools[0].keys

    @property
    def values(self) -> Tensor:
        return self._pools[0].values

    @property
    def num_bytes(self) -> int:
        return sum(each.num_bytes for each in self._pools)

    @property
    def addresses(self) -> tuple[int, ...]:
        """Where the tensors lie: what was made of them is right as long as these stay."""
        return tuple(each.data_ptr() for pool in self._pools for each in (pool.keys, pool.values))

    def set_factors(self, layer: int, key: float, value: float) -> None:
        """What the layer's keys and values are divided by before they are cast to fp8. Before anything is written.
        Raises BadConfig for another dtype, and for a factor that is not above 0."""
        if self.dtype not in FP8 or not (key > 0 and value > 0):
            raise BadConfig(f"KV factors {key} and {value} for {self.dtype}", fix="use fp8 and factors above 0")
        self._factors[layer] = (key, value)

    def stored(self, layer: int) -> Stored:
        pool, at = self._places[layer]
        if pool.key_scales is None or pool.value_scales is None:
            return Stored(pool.keys[at], pool.values[at], None, None, *self._factors[layer])
        scales = pool.key_scales[at], pool.value_scales[at]
        return Stored(pool.keys[at], pool.values[at], *scales, *self._factors[layer])

    def write(self, layer: int, slots_T: Tensor, keys_TKD: Tensor, values_TKD: Tensor) -> None:
        stored = self.stored(layer)
        _write(stored.keys, stored.key_scales, stored.key_factor, slots_T, keys_TKD)
        _write(stored.values, stored.value_scales, stored.value_factor, slots_T, values_TKD)

    def read(self, layer: int, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values at some slots, of any shape: [..., K, D]; in fp32 where they are kept in 8 bits."""
        stored = self.stored(layer)
        keys = _read(stored.keys, stored.key_scales, stored.key_factor, slots)
        return keys, _read(stored.values, stored.value_scales, stored.value_factor, slots)


def _write(into: Tensor, scales: Tensor | None, factor: float, slots_T: Tensor, given_TKD: Tensor) -> None:
    if scales is not None:
        wide = given_TKD.float()
        scale_TK = wide.abs().amax(-1) / 127
        made = (wide / scale_TK.clamp(min=torch.finfo(_SCALE).tiny)[..., None]).round().to(torch.int8)
        scales.index_copy_(0, slots_T, scale_TK)
        into.index_copy_(0, slots_T, made)
    elif into.dtype in FP8:
        most = torch.finfo(into.dtype).max
        made = (given_TKD.float() / factor).clamp(-most, most).to(into.dtype)
        into.view(torch.uint8).index_copy_(0, slots_T, made.view(torch.uint8))  # index_copy_ knows no fp8
    else:
        into.index_copy_(0, slots_T, given_TKD.to(into.dtype))


def _read(kept: Tensor, scales: Tensor | None, factor: float, slots: Tensor) -> Tensor:
    if scales is not None:
        return kept[slots].float() * scales[slots][..., None]
    if kept.dtype in FP8:
        return kept.view(torch.uint8)[slots].view(kept.dtype).float() * factor
    return kept[slots]


def _check(dtype: torch.dtype) -> None:
    if dtype not in DTYPES:
        raise BadConfig(f"KV in {dtype}", fix=f"use one of {', '.join(map(str, DTYPES))}")


def block_bytes(*, num_layers: int, block_tokens: int, heads: int, head_dim: int, dtype: torch.dtype) -> int:
    """What one block takes on this rank: 2 * layers * block_tokens * heads * (head_dim * itemsize + scale)."""
    _check(dtype)
    scale = _SCALE.itemsize if dtype is torch.int8 else 0
    return 2 * num_layers * block_tokens * heads * (head_dim * dtype.itemsize + scale)
