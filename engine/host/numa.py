"""Binding to a NUMA node: which CPUs, which arguments of numactl, through which library. A machine or container that
forbids it is no error unless it was asked for strictly."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any

from engine.config.env import read_env
from engine.host import cpus
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


def init_threads_binding(*, local_size: int, local_rank: int, rank: int) -> str | None:
    """Which CPUs this rank computes on, as a list in text; None where it stays as it is. Only chosen here;
    bootstrap.py binds. Raises BadConfig for a list that does not fit the ranks or the CPUs."""
    omp_cpuids = read_env(os.environ).cpu_omp_threads_bind
    cpu_ids_by_node = cpus.cpu_ids_by_node(cpus.topology(), cpus.allowed_cpus())
    num_nodes = len(cpu_ids_by_node)
    local_omp_cpuid: str | None
    if omp_cpuids == "all":
        if local_size > num_nodes:
            # Ranks share nodes: each node's CPUs are dealt out to its ranks, neighbours together.
            log.warning("threads: nodes are shared: ranks=%d nodes=%d", local_size, num_nodes)
            node = local_rank * num_nodes // local_size
            mates = [each for each in range(local_size) if each * num_nodes // local_size == node]
            ids = cpu_ids_by_node[node].split(",") if cpu_ids_by_node and cpu_ids_by_node[node] else []
            at = mates.index(local_rank) if mates else 0
            share = ids[at * len(ids) // len(mates) : (at + 1) * len(ids) // len(mates)] if mates else []
            local_omp_cpuid = ",".join(share)
        else:
            if local_size < num_nodes:
                log.warning("threads: nodes stay idle: ranks=%d nodes=%d", local_size, num_nodes)
            local_omp_cpuid = cpu_ids_by_node[local_rank]
        if not local_omp_cpuid:
            log.warning("threads: unbound: rank=%d reason=no CPU of its node may be used", rank)
            local_omp_cpuid = None
    else:
        parts = omp_cpuids.split("|")
        if len(parts) != local_size:
            raise BadConfig(
                f"ENGINE_CPU_OMP_THREADS_BIND={omp_cpuids!r} has {len(parts)} parts for {local_size} ranks",
                fix="give one CPU list a rank of this machine, separated by |, or `all`",
            )
        if local_size > num_nodes:
            log.warning("threads: nodes are shared: ranks=%d nodes=%d", local_size, num_nodes)
        local_omp_cpuid = parts[local_rank]
        wanted = cpus.parse_cpu_list(local_omp_cpuid, source="ENGINE_CPU_OMP_THREADS_BIND")
        forbidden = sorted(set(wanted) - cpus.allowed_cpus())
        if forbidden:
            raise BadConfig(
                f"ENGINE_CPU_OMP_THREADS_BIND={omp_cpuids!r}: rank {local_rank} may not use CPUs {forbidden}",
                fix=f"choose from {sorted(cpus.allowed_cpus())}",
            )
    log.info("threads: chosen: rank=%d cpus=%s", rank, local_omp_cpuid)
    return local_omp_cpuid
