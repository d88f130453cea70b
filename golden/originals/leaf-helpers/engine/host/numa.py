"""Binding to a NUMA node: which CPUs, which arguments of numactl, through which library. A machine or container that
forbids it is no error unless it was asked for strictly."""

from __future__ import annotations

import ctypes
import functools
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Any

from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
LIBRARIES = ("libnuma.so", "libnuma.so.1")  # the first comes with the development package only


def cpus_of_node(node: int, node_cpus: Collection[int], allowed: Collection[int], *, strict: bool) -> list[int] | None:
    """The CPUs of a node that this process may use; None: stay unbound. Raises BadConfig where strict and there are
    none."""
    both = sorted(set(node_cpus) & set(allowed))
    if both:
        return both
    if strict:
        raise BadConfig(
            f"node {node} has CPUs {sorted(node_cpus)}, of which this process may use none",
            fix="widen its affinity or cpuset, choose another node, or unset ENGINE_NUMA_BIND_STRICT",
        )
    log.warning("numa: unbound: node=%d node_cpus=%s allowed=%s", node, sorted(node_cpus), sorted(allowed))
    return None


def numactl_args(node: int, try_run: Callable[[Sequence[str]], bool]) -> list[str]:
    """The strongest binding that a dry run lets through: CPUs and memory, memory preferred, CPUs alone, none. try_run:
    whether numactl with these arguments can start a program."""
    cpu = [f"--cpunodebind={node}"]
    for memory in ([f"--membind={node}"], [f"--preferred={node}"], []):
        if try_run(cpu + memory):
            return cpu + memory
        log.warning("numa: numactl refused: node=%d args=%s", node, cpu + memory)
    return []


def load_libnuma(load: Callable[[str], Any] = ctypes.CDLL) -> Any | None:
    """The library under the first name that loads; None, said once, where there is none."""
    reasons = []
    for name in LIBRARIES:
        try:
            return load(name)
        except OSError as error:  # noqa: PERF203 - two names
            reasons.append(f"{name}: {error}")
    _tell_missing("; ".join(reasons))
    return None


@functools.cache
def _tell_missing(reasons: str) -> None:
    """Once for the same reasons, however many ranks of a process ask."""
    log.warning("numa: memory stays unbound: %s", reasons)
