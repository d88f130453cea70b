"""Root-mean-square normalisation. T tokens, D width."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn

from engine.kernels import native


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * (offset + weight), computed in fp32. offset: 1 where weights are stored around 0."""

    def __init__(self, width: int, *, eps: float, offset: float = 0.0, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, dtype=dtype), requires_grad=False)
        self.eps, self.offset = eps, offset

    def forward(self, x_TD: Tensor) -> Tensor:
        if native.fits(x_TD, self.weight):
            return self._native(x_TD)
        x = x_TD.float()
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        if self.offset:
            return (x * (self.offset + self.weight.float())).to(x_TD.dtype)
        return self.weight * x.to(x_TD.dtype)

    def after_adding(self, x_TD: Tensor, added_TD: Tensor) -> tuple[Tensor, Tensor]:
        """x + added, and its norm."""
        if native.fits(x_TD, added_TD, self.weight):
            total = torch.empty_like(x_TD)
            return total, self._native(x_TD, added_TD, total)
        x_TD = x_TD + added_TD
        return x_TD, self(x_TD)

    def _native(self, x_TD: Tensor, added_TD: Tensor | None = None, total_TD: Tensor | None = None) -> Tensor:
        library = native.library()
        assert library is not None, "fits() said so"
        out, width = torch.empty_like(x_TD), x_TD.shape[-1]
        library.engine_add_norm(
            ctypes.byref(self.described()),
            x_TD.data_ptr(),
            native.address(added_TD),
            native.address(total_TD),
            out.data_ptr(),
            x_TD.numel() // width,
            width,
            native.KINDS[x_TD.dtype],
            torch.get_num_threads(),
        )
        return out

    def described(self) -> native.Struct:
        """For the kernels; right until the weight moves."""
        return native.Norm(weight=self.weight.data_ptr(), eps=self.eps, offset=self.offset)
