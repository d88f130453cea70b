"""A group of ranks that may lose some: connected anew for each generation of a membership, and usable without a world.
Whatever goes wrong with a peer is one error, PeerLost; the connections are closed then, so that everybody who waits for
this rank hears of it too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch._C._distributed_c10d import PrefixStore

from engine.distributed.group import Group
from engine.distributed.membership import Membership
from engine.schema.errors import PeerLost

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _together(call: Callable[Concatenate[ElasticGroup, _P], _R]) -> Callable[Concatenate[ElasticGroup, _P], _R]:
    """What several ranks do at once: fails as PeerLost, and leaves nothing connected."""

    @functools.wraps(call)
    def checked(self: ElasticGroup, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self.size > 1 and self._backend is None:
            raise PeerLost(f"generation {self.generation} is over", fix="agree on who is left")
        try:
            return call(self, *args, **kwargs)
        except RuntimeError as error:
            self.close()
            raise PeerLost(
                f"rank {self.ranks[self.rank]} lost a peer in {call.__name__}: {str(error)[:200]}",
                fix="agree on who is left",
            ) from error

    return checked


class ElasticGroup(Group):
    """ranks: numbers of the membership. timeout: seconds that one exchange may take; a rank that hangs is noticed then.
    Raises PeerLost when one of the others does not connect."""

    def __init__(self, membership: Membership, *, name: str = "ep", timeout: float = 10.0) -> None:
        super().__init__(membership.members, membership.members.index(membership.rank))
        self.generation = membership.generation
        self._backend: Any = None
        if self.size == 1:
            return
        store = PrefixStore(f"{self.generation}/{name}", membership.store)
        try:
            self._backend = dist.ProcessGroupGloo(store, self.rank, self.size, timedelta(seconds=timeout))
        except RuntimeError as error:
            raise PeerLost(
                f"rank {membership.rank} can't connect generation {self.generation}: {str(error)[:200]}",
                fix="agree on who is left",
            ) from error

    def close(self) -> None:
        """Nobody waits for this rank any longer: its connections are closed with their last owner."""
        self._backend = None

    @_together
    def all_reduce(self, tensor: Tensor) -> Tensor:
        if self.size > 1:
            made = tensor.contiguous()
            self._backend.allreduce([made]).wait()
            if made is not tensor:
                tensor.copy_(made)
        return tensor

    @_together
    def all_gather(self, tensor: Tensor, dim: int = -1) -> Tensor:
        if self.size == 1:
            return tensor
        parts = [torch.empty_like(tensor, memory_format=torch.contiguous_format) for _ in self.ranks]
        self._backend.allgather([parts], [tensor.contiguous()]).wait()
        return torch.cat(parts, dim=dim)

    @_together
    def all_to_all(self, rows: Tensor, send: Sequence[int], receive: Sequence[int]) -> Tensor:
        if self.size == 1:
            return rows
        out = rows.new_empty(sum(receive), *rows.shape[1:])
        self._backend.alltoall_base(out, rows.contiguous(), list(receive), list(send)).wait()
        return out

    @_together
    def broadcast(self, tensor: Tensor, source: int = 0) -> Tensor:
        if self.size > 1:
            options = dist.BroadcastOptions()
            options.rootRank = source
            self._backend.broadcast([tensor], options).wait()
        return tensor

    @_together
    def send(self, tensor: Tensor, to: int) -> None:
        self._backend.send([tensor.contiguous()], to, 0).wait()

    @_together
    def recv(self, tensor: Tensor, source: int) -> Tensor:
        self._backend.recv([tensor], source, 0).wait()
        return tensor

    @_together
    def exchange(self, sends: Sequence[tuple[Tensor, int]], receives: Sequence[tuple[Tensor, int]]) -> None:
        works = [self._backend.send([each.contiguous()], to, 0) for each, to in sends]
        works += [self._backend.recv([each], source, 0) for each, source in receives]
        for work in works:
            work.wait()

    @_together
    def minimum(self, value: float) -> float:
        made = torch.tensor([value], dtype=torch.float64, device="cpu")
        if self.size > 1:
            options: Any = dist.AllreduceOptions()
            options.reduceOp = dist.ReduceOp.MIN
            self._backend.allreduce([made], options).wait()
        return float(made.item())

    @_together
    def barrier(self, timeout: timedelta) -> None:
        if self.size > 1:
            options = dist.BarrierOptions()
            options.timeout = timeout
            self._backend.barrier(options).wait()
