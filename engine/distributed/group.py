"""Some ranks that compute together, and what they do as one. A group of one does nothing, so that no caller asks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor

from engine.distributed.all_reduce import Reducer


class Group:
    """ranks: global ones, in the order of their rank within the group. handle: of torch.distributed, None for one.
    cpu_handle: the same ranks over a backend that takes tensors of the CPU, where the first does not."""

    def __init__(
        self,
        ranks: Sequence[int],
        rank: int,
        handle: dist.ProcessGroup | None = None,
        cpu_handle: dist.ProcessGroup | None = None,
    ) -> None:
        self.ranks, self.rank, self.handle = tuple(ranks), rank, handle
        self.cpu_handle = handle if cpu_handle is None else cpu_handle
        self.size = len(self.ranks)
        self.reducer: Reducer | None = None  # a faster way to sum, for tensors that it takes
        self.hccl_comm_name: str | None = None  # what HCCL calls the communicator of these ranks

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    @property
    def is_last(self) -> bool:
        return self.rank == self.size - 1

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """The sum over the ranks, in place."""
        if self.size == 1:
            return tensor
        if self.reducer is not None and self.reducer.takes(tensor):
            return self.reducer.all_reduce(tensor)
        dist.all_reduce(tensor, group=self.handle)
        return tensor

    def all_gather(self, tensor: Tensor, dim: int = -1) -> Tensor:
        """The ranks' tensors, all of one shape, put together along a dimension in the order of the ranks."""
        if self.size == 1:
            return tensor
        parts = [torch.empty_like(tensor) for _ in self.ranks]
        dist.all_gather(parts, tensor.contiguous(), group=self.handle)
        return torch.cat(parts, dim=dim)

    def all_to_all(self, rows: Tensor, send: Sequence[int], receive: Sequence[int]) -> Tensor:
        """The first send[0] rows to the first rank, the next send[1] to the second, and so on; what all of them sent
        here, in the order of the ranks. receive: how many each sends."""
        if self.size == 1:
            return rows
        out = rows.new_empty(sum(receive), *rows.shape[1:])
        dist.all_to_all_single(out, rows.contiguous(), list(receive), list(send), group=self.handle)
        return out

    def broadcast(self, tensor: Tensor, source: int = 0) -> Tensor:
        """The tensor of one rank, on all of them, in place. source: its rank within the group."""
        if self.size > 1:
            dist.broadcast(tensor, self.ranks[source], group=self.handle)
        return tensor

    def send(self, tensor: Tensor, to: int) -> None:
        """To a rank within the group, which receives at the same time."""
        dist.send(tensor.contiguous(), self.ranks[to], group=self.handle)

    def recv(self, tensor: Tensor, source: int) -> Tensor:
        """From a rank within the group, into the tensor."""
        dist.recv(tensor, self.ranks[source], group=self.handle)
        return tensor

    def exchange(self, sends: Sequence[tuple[Tensor, int]], receives: Sequence[tuple[Tensor, int]]) -> None:
        """Tensors to and from ranks within the group, all at the same time. Between two ranks they go in order."""
        operations = [dist.P2POp(dist.isend, each, self.ranks[to], self.handle) for each, to in sends]
        operations += [dist.P2POp(dist.irecv, each, self.ranks[source], self.handle) for each, source in receives]
        for work in dist.batch_isend_irecv(operations) if operations else ():
            work.wait()

    def minimum(self, value: float) -> float:
        """The least of the ranks' values. On the CPU whatever the default device is: the group may know no other."""
        if self.size == 1:
            return value
        tensor = torch.tensor([value], dtype=torch.float64, device="cpu")
        dist.all_reduce(tensor, op=dist.ReduceOp.MIN, group=self.cpu_handle)
        return float(tensor.item())

    def barrier(self, timeout: timedelta) -> None:
        """Until all ranks are here. Raises RuntimeError that names those which are not, on the first rank."""
        if self.size > 1:
            dist.monitored_barrier(self.cpu_handle, timeout=timeout, wait_all_ranks=True)


def single() -> Group:
    """The group of a rank that is alone."""
    return Group((0,), 0)
