"""Lists of CPUs as text, and which CPUs stand on which node. Reads `lscpu`; what this process may use is asked of the
kernel, never counted."""

from __future__ import annotations

import logging
import os
import subprocess
from collections.abc import Callable, Collection, Iterable

from msgspec import Struct

from engine.schema.errors import BadConfig, TopologyUnknown

log = logging.getLogger(__name__)
LSCPU = ("lscpu", "-p=CPU,Core,Socket,Node")


class Cpu(Struct, frozen=True, order=True):
    """One hardware thread as the kernel numbers it."""

    cpu: int
    core: int
    socket: int
    node: int


def _run_lscpu() -> str:
    environ = {"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)}
    return subprocess.run(LSCPU, capture_output=True, text=True, check=True, env=environ, timeout=30).stdout


def topology(run: Callable[[], str] = _run_lscpu) -> list[Cpu]:
    """Every CPU that is online. Raises TopologyUnknown when the machine does not tell."""
    try:
        text = run()
    except (OSError, subprocess.SubprocessError) as error:
        raise TopologyUnknown(
            f"`{' '.join(LSCPU)}` failed: {error}",
            fix="install util-linux, or set ENGINE_CPU_OMP_THREADS_BIND to one CPU list a rank",
        ) from error
    return parse_lscpu(text)


def parse_lscpu(text: str) -> list[Cpu]:
    """The rows of `lscpu -p=CPU,Core,Socket,Node`. An empty core, socket or node counts as 0; a row of another shape is
    skipped with a warning; one whose CPU is no number raises TopologyUnknown."""
    found: list[Cpu] = []
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        fields = line.split(",")
        if len(fields) != 4:
            log.warning("lscpu: row skipped: row=%r fields=%d expected=4", line, len(fields))
            continue
        try:
            cpu, core, socket, node = (int(each) if each or index == 0 else 0 for index, each in enumerate(fields))
        except ValueError:
            raise TopologyUnknown(f"lscpu row {line!r} is not numbers", fix="bind with a CPU list a rank") from None
        found.append(Cpu(cpu, core, socket, node))
    return found


def physical_by_node(cpus: Iterable[Cpu], allowed: Collection[int]) -> dict[int, list[int]]:
    """One CPU of each core, by node, cut with what this process may use: the first thread of a core stands for it. A
    node without CPUs of its own (memory only) does not appear; one that the cut empties stays, empty."""
    first: dict[int, dict[tuple[int, int], int]] = {}
    for each in sorted(cpus):
        first.setdefault(each.node, {}).setdefault((each.core, each.socket), each.cpu)
    return {node: sorted(set(cores.values()) & set(allowed)) for node, cores in sorted(first.items())}


def cpu_ids_by_node(cpus: Iterable[Cpu], allowed: Collection[int]) -> list[str]:
    """`"0,1,2,3"` a node, in the order of the nodes' numbers (which may have gaps)."""
    return [",".join(map(str, ids)) for ids in physical_by_node(cpus, allowed).values()]


def parse_cpu_list(text: str, *, source: str) -> list[int]:
    """`0-3,8,10-15:2` as the kernel writes it: sorted, each once. Raises BadConfig."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.strip().partition(":")
        low, dash, high = span.partition("-")
        numbers = [low, *([high] if dash else []), *([step] if step else [])]
        if not all(each.isascii() and each.isdigit() for each in numbers):
            raise BadConfig(f"{source}: {part.strip()!r} is no CPU or range", fix="write a list such as 0-3,8")
        first, last = int(low), int(high) if dash else int(low)
        if last < first or (step and int(step) == 0):
            raise BadConfig(f"{source}: {part.strip()!r} is an empty range", fix="write the lower CPU first")
        found.update(range(first, last + 1, int(step) if step else 1))
    return sorted(found)


def slice_for_rank(rank: int, ranks: int, allowed: Collection[int]) -> list[int]:
    """An even share of the allowed CPUs for one of the ranks of this machine, as they are numbered."""
    if not 0 <= rank < ranks:
        raise BadConfig(f"rank {rank} of {ranks}", fix="number ranks from 0")
    cpus = sorted(allowed)
    return cpus[rank * len(cpus) // ranks : (rank + 1) * len(cpus) // ranks]


def allowed_cpus() -> set[int]:
    """What the kernel lets this process run on: its affinity, which cpusets of containers cut."""
    return set(os.sched_getaffinity(0))
