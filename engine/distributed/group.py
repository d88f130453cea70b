"""Some ranks that compute together, and what they do as one. A group of one does nothing, so that no caller asks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor


class Group:
    """ranks: global ones, in the order of their rank within the group. handle: of torch.distributed, None for one."""

    def __init__(self, ranks: Sequence[int], rank: int, handle: dist.ProcessGroup | None = None) -> None:
        self.ranks, self.rank, self.handle = tuple(ranks), rank, handle
        self.size = len(self.ranks)

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """The sum over the ranks, in place."""
        if self.size > 1:
            dist.all_reduce(tensor, group=self.handle)
        return tensor

    def all_gather(self, tensor: Tensor, dim: int = -1) -> Tensor:
        """The ranks' tensors, all of one shape, put together along a dimension in the order of the ranks."""
        if self.size == 1:
            return tensor
        parts = [torch.empty_like(tensor) for _ in self.ranks]
        dist.all_gather(parts, tensor.contiguous(), group=self.handle)
        return torch.cat(parts, dim=dim)

    def minimum(self, value: float) -> float:
        """The least of the ranks' values. On the CPU whatever the default device is: the group may know no other."""
        if self.size == 1:
            return value
        tensor = torch.tensor([value], dtype=torch.float64, device="cpu")
        dist.all_reduce(tensor, op=dist.ReduceOp.MIN, group=self.handle)
        return float(tensor.item())


def single() -> Group:
    """The group of a rank that is alone."""
    return Group((0,), 0)
