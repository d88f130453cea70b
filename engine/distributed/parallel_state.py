"""The groups of this process: made once from a layout, asked for by name. One process is one rank of one world; a
second runner of the same process (a draft model's) shares them."""

from __future__ import annotations

import logging
import secrets
from datetime import timedelta

import torch
import torch.distributed as dist

from engine.distributed.all_reduce import SymmetricMemory
from engine.distributed.group import Group, single
from engine.distributed.layout import Groups, Layout, group_of
from engine.distributed.shared_memory import SharedMemory
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
_GROUPS: dict[str, Group] = {}


def init_distributed_environment(*, backend: str, world_size: int, rank: int, init_method: str, timeout: float) -> None:
    """Meet the other ranks. A world of one meets nobody, and opens no port. Does nothing the second time.

    Raises BadConfig when the others do not come, or the process is in another world already."""
    if dist.is_initialized():
        if (dist.get_world_size(), dist.get_rank()) != (world_size, rank):
            raise BadConfig(
                f"this process is rank {dist.get_rank()} of {dist.get_world_size()}, asked for is {rank} of"
                f" {world_size}",
                fix="shut the first engine down before the second one starts",
            )
        return
    if world_size == 1:
        return
    try:
        dist.init_process_group(
            backend, init_method=init_method, world_size=world_size, rank=rank, timeout=timedelta(seconds=timeout)
        )
    except (RuntimeError, ValueError) as error:
        raise BadConfig(
            f"rank {rank} of {world_size} finds no world at {init_method} ({backend}): {error}",
            fix="see whether every rank was started, with the same address and sizes",
        ) from error


def initialize_model_parallel(layout: Layout, *, rank: int, device: str) -> None:
    """Make this rank's group of every kind. Every rank makes all groups, in the same order: torch asks for it. The same
    ranks are connected once, whatever kinds they are."""
    _GROUPS.clear()
    known: dict[tuple[int, ...], tuple[dist.ProcessGroup, dist.ProcessGroup]] = {}
    for kind in Layout.__struct_fields__:
        groups: Groups = getattr(layout, kind)
        for ranks in groups:
            if len(ranks) > 1 and ranks not in known:
                made = dist.new_group(list(ranks))
                known[ranks] = made, (made if device == "cpu" else dist.new_group(list(ranks), backend="gloo"))
        ours = group_of(groups, rank)
        _GROUPS[kind] = Group(ours, ours.index(rank), *known.get(ours, (None, None)))


def share_memory(kind: str, *, timeout: float) -> bool:
    """Let the ranks of a group, all of this machine, sum small tensors through shared memory; whether they do. Where
    one of them can't map it, none does."""
    group = get_group(kind)
    if group.size == 1:
        return False
    name = [f"engine-{secrets.token_hex(8)}"]
    dist.broadcast_object_list(name, group.ranks[0], group=group.cpu_handle, device=torch.device("cpu"))
    try:
        memory = SharedMemory(name[0], rank=group.rank, size=group.size, timeout=timeout)
    except OSError as error:
        log.warning("shared memory: none: rank=%d reason=%s", group.rank, error)
        memory = None
    have_all = bool(group.minimum(float(memory is not None)))
    if memory is not None and group.is_first:
        memory.unlink()
    group.reducer = memory if have_all else None
    return have_all


def map_peer_memory(kind: str, *, device: torch.device, max_bytes: int = 8 << 20) -> None:
    """Let the GPUs of a group, all of this machine, sum tensors by reading each other's memory."""
    group = get_group(kind)
    if group.handle is not None:
        group.reducer = SymmetricMemory(group.handle.group_name, max_bytes=max_bytes, device=device)


def get_group(kind: str) -> Group:
    """This rank's group of a kind, as layout.py names it. The group of a rank that is alone before any is made."""
    return _GROUPS.get(kind) or single()


def tell(key: str, text: str) -> None:
    """Leave something for every rank to ask for. Only between ranks that have met."""
    dist.distributed_c10d._get_default_store().set(key, text)


def ask(key: str) -> str:
    """What a rank told; waits for it as long as for any collective."""
    return dist.distributed_c10d._get_default_store().get(key).decode()


def destroy() -> None:
    """Leave all groups, and the world."""
    _GROUPS.clear()
    if dist.is_initialized():
        dist.destroy_process_group()
