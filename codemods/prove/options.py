"""How much a proof may cost. The defaults are those of the command line."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


class ProveOptions(Struct, frozen=True, kw_only=True):
    """jobs: processes. paths, faults, seconds: for each pair. mutants: of each pair's new side, 0 for none. cache_dir:
    the root whose `.unmoved_cache` is used, None for no cache. real: modules that run for real."""

    jobs: int = _cores()
    paths: int = 20_000
    faults: int = 100_000
    seconds: float = 60.0
    mutants: int = 60
    seed: int = 0
    cache_dir: Path | None = None
    real: tuple[str, ...] = ()
