"""Root-mean-square normalisation. T tokens, D width."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * (offset + weight), computed in fp32. offset: 1 where weights are stored around 0."""

    def __init__(self, width: int, *, eps: float, offset: float = 0.0, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, dtype=dtype), requires_grad=False)
        self.eps, self.offset = eps, offset

    def forward(self, x_TD: Tensor) -> Tensor:
        x = x_TD.float()
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        if self.offset:
            return (x * (self.offset + self.weight.float())).to(x_TD.dtype)
        return self.weight * x.to(x_TD.dtype)
