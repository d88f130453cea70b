"""A group with processes that are not of this run, such as a trainer's: beside the world that the ranks are in, with a
rendezvous of its own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import PrefixStore, TCPStore

from engine.schema.errors import BadConfig


class OutsideGroup:
    """Raises BadConfig when the others do not come."""

    def __init__(
        self, host: str, port: int, *, rank: int, size: int, backend: str, timeout: float, name: str = "weights"
    ) -> None:
        self.rank, self.size, self.backend = rank, size, backend
        limit = timedelta(seconds=timeout)
        try:
            store = TCPStore(host, port, size, is_master=rank == 0, timeout=limit)
            self._store = PrefixStore(name, store)
            self._group: Any
            if backend == "nccl":
                options = dist.ProcessGroupNCCL.Options()
                options._timeout = limit
                self._group = dist.ProcessGroupNCCL(self._store, rank, size, options)
            else:
                self._group = dist.ProcessGroupGloo(self._store, rank, size, limit)
        except (RuntimeError, ValueError) as error:
            raise BadConfig(
                f"rank {rank} of {size} meets nobody at {host}:{port}: {error}",
                fix="see whether all of them were started with the same address and size",
            ) from error

    def broadcast(self, tensor: Tensor, source: int = 0) -> Tensor:
        """In place. Raises RuntimeError when one of the others has gone."""
        options = dist.BroadcastOptions()
        options.rootRank = source
        self._group.broadcast([tensor], options).wait()
        return tensor

    @property
    def device(self) -> torch.device:
        """Where its tensors have to be."""
        return torch.device("cuda" if self.backend == "nccl" else "cpu")
