"""Sums over the ranks of one machine through memory that all of them map, without a socket between them. Small tensors,
the many of a decode step: a copy in, a wait for the others, one pass over their parts."""

from __future__ import annotations

import mmap
import os
import threading
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

MAX_BYTES = 1 << 20  # of one tensor; larger ones are the backend's
_FLAG_BYTES = 64  # a rank's counter has a cache line of its own
_SPINS = 2000  # before a waiting rank lets others run
_LOOK_S = 0.05  # how often a rank that waits long sees whether the others still live


class SharedMemory:
    """name: the same on every rank, and no other group's. Every rank maps it before the first sum; who made the file
    takes its name away as soon as all have it (unlink)."""

    def __init__(self, name: str, *, rank: int, size: int, timeout: float, folder: Path = Path("/dev/shm")) -> None:
        self.path, self.rank, self.size, self.timeout = folder / name, rank, size, timeout
        total = size * (_FLAG_BYTES + 2 * MAX_BYTES)
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(handle, total)
            self._memory = mmap.mmap(handle, total)
        finally:
            os.close(handle)
        flags = np.frombuffer(self._memory, dtype=np.int64, count=size * _FLAG_BYTES // 8).reshape(size, -1)
        self._counts, self._pids = flags[:, 0], flags[:, 1]
        self._data = torch.frombuffer(self._memory, dtype=torch.uint8, offset=size * _FLAG_BYTES).view(2, size, -1)
        self._number = 0
        self._fence_lock = threading.Lock()
        self._pids[rank] = os.getpid()

    def unlink(self) -> None:
        self.path.unlink(missing_ok=True)

    def takes(self, tensor: Tensor) -> bool:
        return tensor.device.type == "cpu" and 0 < tensor.numel() * tensor.element_size() <= MAX_BYTES

    def all_reduce(self, tensor: Tensor) -> Tensor:
        """The sum over the ranks, in place: added in the order of the ranks, so that all have the same bits.

        Raises RuntimeError when another rank has ended, or does not come in time."""
        self._number += 1
        count = tensor.numel() * tensor.element_size()
        # Two halves in turn: who writes one has seen that everybody is done with the sum before the last.
        half = self._data[self._number % 2, :, :count]
        half[self.rank].copy_(tensor.contiguous().view(-1).view(torch.uint8))
        self._fence()
        self._counts[self.rank] = self._number
        self._wait()
        self._fence()
        parts = half.view(tensor.dtype)
        made = parts[0] + parts[1]
        for rank in range(2, self.size):
            made += parts[rank]
        return tensor.copy_(made.view_as(tensor))

    def _fence(self) -> None:
        """Orders what this rank wrote or read before against what it does after, for processors that reorder: a lock
        that is let go and taken again does."""
        with self._fence_lock:
            pass
        with self._fence_lock:
            pass

    def _wait(self) -> None:
        for _ in range(_SPINS):
            if self._counts.min() >= self._number:
                return
        limit = time.monotonic() + self.timeout
        look = time.monotonic() + _LOOK_S
        while self._counts.min() < self._number:
            os.sched_yield()
            now = time.monotonic()
            if now > look:
                look = now + _LOOK_S
                self._look(now > limit)

    def _look(self, is_late: bool) -> None:
        for rank in np.flatnonzero(self._counts < self._number).tolist():
            if self._pids[rank] and not is_running(int(self._pids[rank])):
                raise RuntimeError(f"rank {rank} of the machine's group has ended")
            if is_late:
                raise RuntimeError(f"rank {rank} of the machine's group did not come in {self.timeout:.0f} s")


def is_running(pid: int) -> bool:
    """Whether a process of this machine runs; one that nobody has buried yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in ("Z", "X")
