"""Rotary position embeddings: angles once for all positions, halves of a head turned against each other. T tokens, H
heads, D head width."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from engine.config.model_config import Rope


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

    def at(self, positions_T: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Cosine and sine of some positions, [T, 1, D]: once a step, for all layers."""
        return self.cos[positions_T, None].to(dtype), self.sin[positions_T, None].to(dtype)


def turn(x_THD: Tensor, cos_T1D: Tensor, sin_T1D: Tensor) -> Tensor:
    """Each pair (x[i], x[i + D/2]) turned by its angle."""
    first, second = x_THD.chunk(2, dim=-1)
    return x_THD * cos_T1D + torch.cat((-second, first), dim=-1) * sin_T1D


def inverse_frequencies(rope: Rope, head_dim: int) -> Tensor:
    """[D / 2] in fp32. Source of the Llama 3 ramp: the model card's reference code."""
    exponent = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    plain = 1.0 / (rope.theta**exponent)
    if not rope.original:
        return plain / rope.factor
    turns = rope.original * plain / (2 * math.pi)
    ramp = ((turns - rope.low) / (rope.high - rope.low)).clamp(0, 1)
    return plain / rope.factor * (1 - ramp) + plain * ramp
