"""Memory that all ranks of a group have at the same place of their own, so that they can read each other's: one pool of
it, whose blocks are kept for later allocations. GPUs get it from NCCL's allocator; a CPU has shared memory, and needs
none of this."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import torch

from engine.config.server_args import ServerArgs
from engine.distributed.group import Group
from engine.host.device import Device
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)

_POOLS: dict[tuple[int, ...], Any] = {}


@contextlib.contextmanager
def symmetric_pool(group: Group, device: torch.device) -> Iterator[None]:
    """What is allocated inside comes from the group's pool, which is registered with the communicator at the end.

    Raises BadConfig on a device whose backend has no such allocator."""
    backend = None if group.handle is None else group.handle._get_backend(device)
    allocator = getattr(backend, "mem_allocator", None)
    if device.type != "cuda" or backend is None or allocator is None:
        raise BadConfig(f"enable_symm_mem on {device.type}", fix="it is for CUDA with NCCL 2.27; leave it out")
    pool = _POOLS.get(group.ranks)
    if pool is None:
        pool = _POOLS[group.ranks] = torch.cuda.MemPool(allocator)
    with torch.cuda.use_mem_pool(pool):
        yield
    backend.register_mem_pool(pool)  # type: ignore[attr-defined]


def prealloc_symmetric_memory_pool(
    *,
    server_args: ServerArgs,
    tp_size: int,
    forward_stream_context: Callable[[], contextlib.AbstractContextManager[Any]],
    tp_group: Group,
    device_handle: Device,
    rank: int,
) -> None:
    """One large block in the pool of symmetric memory, taken and given back on the forward stream: what is asked
    for later comes out of it, where growing the pool in the middle of a step would wait for every rank."""
    if not server_args.enable_symm_mem or tp_size == 1:
        return
    if server_args.symm_mem_prealloc_bytes <= 0:
        return
    with forward_stream_context(), symmetric_pool(tp_group, device_handle.place):
        block = torch.empty(server_args.symm_mem_prealloc_bytes, dtype=torch.uint8, device=device_handle.place)
        del block
    device_handle.synchronize()
    log.info("symmetric memory: bytes=%d rank=%d", server_args.symm_mem_prealloc_bytes, rank)
