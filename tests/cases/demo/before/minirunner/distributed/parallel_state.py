"""Process groups. The simulation keeps all ranks in one process, so a group is a list of ranks and a mailbox."""

from __future__ import annotations

import logging
from typing import Dict, List, Optional

logger = logging.getLogger(__name__)

BACKENDS = ("ring", "shm", "tcp")


class ProcessGroup:
    def __init__(self, ranks: List[int], backend: str, init_method: str):
        self.ranks = ranks
        self.backend = backend
        self.init_method = init_method
        self._mailbox: Dict[int, List[int]] = {}

    @property
    def world_size(self) -> int:
        return len(self.ranks)

    def post(self, rank: int, values: List[int]) -> None:
        self._mailbox[rank] = values

    def all_gather(self) -> List[int]:
        """What every rank has posted, in the order of the ranks; the mailbox is empty afterwards."""
        missing = [rank for rank in self.ranks if rank not in self._mailbox]
        if missing:
            raise RuntimeError(f"all_gather would hang: ranks {missing} have posted nothing")
        gathered = [value for rank in self.ranks for value in self._mailbox[rank]]
        self._mailbox.clear()
        return gathered


_world: Optional[ProcessGroup] = None
_tp: Optional[ProcessGroup] = None


def init_distributed_environment(backend: str, world_size: int, rank: int, init_method: str) -> None:
    """The first rank creates the world, the others join it."""
    global _world
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: choose one of {', '.join(BACKENDS)}")
    if _world is None:
        logger.info(f"creating world: {world_size=} {backend=} {init_method=}")
        _world = ProcessGroup(list(range(world_size)), backend, init_method)
    if _world.world_size != world_size or rank not in _world.ranks:
        raise RuntimeError(f"rank {rank} of {world_size} can't join a world of {_world.world_size}")


def initialize_model_parallel(tensor_model_parallel_size: int) -> None:
    global _tp
    world = get_world_group()
    if world.world_size != tensor_model_parallel_size:
        raise RuntimeError(f"tensor parallel size {tensor_model_parallel_size} is not {world.world_size}")
    if _tp is None:
        _tp = ProcessGroup(world.ranks, world.backend, world.init_method)


def get_world_group() -> ProcessGroup:
    if _world is None:
        raise RuntimeError("the distributed environment is not initialised")
    return _world


def get_tp_group() -> ProcessGroup:
    if _tp is None:
        raise RuntimeError("model parallelism is not initialised")
    return _tp


def destroy() -> None:
    global _world, _tp
    _world = _tp = None
