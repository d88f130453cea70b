"""Rotary position embeddings: angles once for all positions, halves of a head turned against each other. T tokens, H
heads, D head width."""

from __future__ import annotations

import ctypes
import math
from functools import cached_property
from typing import TypeAlias

import torch
from torch import Tensor, nn

from engine.config.model_config import Rope
from engine.kernels import native
from engine.layers.norm import RMSNorm
from engine.schema.errors import BadModel

Norms: TypeAlias = "tuple[RMSNorm | None, RMSNorm | None]"  # of q and k


class Rotary(nn.Module):
    """Tables of cosine and sine in fp32, [max_position, D]."""

    cos: Tensor
    sin: Tensor

    def __init__(self, rope: Rope, *, head_dim: int, max_position: int) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(max_position, dtype=torch.float32), inverse_frequencies(rope, head_dim))
        table = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", table.cos(), persistent=False)
        self.register_buffer("sin", table.sin(), persistent=False)

    def at(self, positions_T: Tensor, dtype: torch.dtype) -> Angles:
        """Of some positions: once a step, for all layers."""
        return Angles(self, positions_T, dtype)


class Angles:
    """Cosine and sine of the step's positions, [T, 1, D], made when somebody asks; the kernels look into the tables
    themselves."""

    def __init__(self, rotary: Rotary, positions_T: Tensor, dtype: torch.dtype) -> None:
        self.rotary, self.positions_T, self.dtype = rotary, positions_T, dtype

    @cached_property
    def cos(self) -> Tensor:
        return self.rotary.cos[self.positions_T, None].to(self.dtype)

    @cached_property
    def sin(self) -> Tensor:
        return self.rotary.sin[self.positions_T, None].to(self.dtype)


def turn(x_THD: Tensor, cos_T1D: Tensor, sin_T1D: Tensor) -> Tensor:
    """Each pair (x[i], x[i + D/2]) turned by its angle."""
    first, second = x_THD.chunk(2, dim=-1)
    return x_THD * cos_T1D + torch.cat((-second, first), dim=-1) * sin_T1D


def turn_heads(qkv_TX: Tensor, angles: Angles, heads: tuple[int, int], norms: Norms) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values out of one product's rows, [T, H or K, D]: q and k normed, where norms are given, and
    turned. heads: of q, and of k and v. The rows may be changed."""
    num_q, num_kv = heads
    dim = qkv_TX.shape[-1] // (num_q + 2 * num_kv)
    if dim % 16 == 0 and native.fits(qkv_TX) and all(norm is None or native.fits(norm.weight) for norm in norms):
        _turn_in_place(qkv_TX, angles, heads, norms)
        return split_heads(qkv_TX, dim, num_q, num_kv)
    q, k, v = split_heads(qkv_TX, dim, num_q, num_kv)
    if norms[0] is not None and norms[1] is not None:
        q, k = norms[0](q), norms[1](k)
    return turn(q, angles.cos, angles.sin), turn(k, angles.cos, angles.sin), v


def split_heads(qkv_TX: Tensor, dim: int, num_q: int, num_kv: int) -> tuple[Tensor, Tensor, Tensor]:
    heads = qkv_TX.view(len(qkv_TX), -1, dim)
    last = num_q + num_kv
    return heads[:, :num_q], heads[:, num_q:last], heads[:, last:]


def _turn_in_place(qkv_TX: Tensor, angles: Angles, heads: tuple[int, int], norms: Norms) -> None:
    library = native.library()
    assert library is not None, "fits() said so"
    described = described_turn(angles.rotary, heads, norms, qkv_TX.dtype)
    described.qkv, described.positions = qkv_TX.data_ptr(), angles.positions_T.data_ptr()
    library.engine_turn(ctypes.byref(described), qkv_TX.shape[0], torch.get_num_threads())


def described_turn(rotary: Rotary, heads: tuple[int, int], norms: Norms, dtype: torch.dtype) -> native.Struct:
    """For the kernels, without what a step brings; keys and values are written by the caller unless it adds where."""
    none = native.Norm()
    return native.Turn(
        cos=rotary.cos.data_ptr(),
        sin=rotary.sin.data_ptr(),
        q_norm=none if norms[0] is None else norms[0].described(),
        k_norm=none if norms[1] is None else norms[1].described(),
        heads=heads[0],
        kv_heads=heads[1],
        dim=rotary.cos.shape[1],
        kind=native.KINDS[dtype],
    )


def inverse_frequencies(rope: Rope, head_dim: int) -> Tensor:
    """[D / 2] in fp32. Source of the Llama 3 ramp: the model card's reference code."""
    exponent = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    plain = 1.0 / (rope.theta**exponent)
    if rope.divisors:
        if len(rope.divisors) != len(plain):
            raise BadModel(f"{len(rope.divisors)} rotary divisors for heads of {head_dim}", fix="fetch the model again")
        plain = plain / torch.tensor(rope.divisors)
    if not rope.original:
        return plain / rope.factor
    turns = rope.original * plain / (2 * math.pi)
    ramp = ((turns - rope.low) / (rope.high - rope.low)).clamp(0, 1)
    return plain / rope.factor * (1 - ramp) + plain * ramp
