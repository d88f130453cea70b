"""Memory that all ranks of a group have at the same place of their own, so that they can read each other's: one pool of
it, whose blocks are kept for later allocations. GPUs get it from NCCL's allocator; a CPU has shared memory, and needs
none of this."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from engine.distributed.group import Group
from engine.schema.errors import BadConfig

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
