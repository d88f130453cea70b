"""How much memory there is, for this process: the machine's, cut with the limit of its container."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

BALANCE_RATIO = 0.9
_MEMINFO = Path("/proc/meminfo")
_CGROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def available_bytes(*, meminfo: Path = _MEMINFO, cgroups: Sequence[tuple[Path, Path]] = _CGROUPS) -> int:
    """What a process can still take without swapping, in bytes: MemAvailable, or less where a cgroup allows less."""
    fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
    available = int(fields["MemAvailable"].split()[0]) * 1024
    for limit_file, usage_file in cgroups:
        try:
            limit, usage = limit_file.read_text().strip(), int(usage_file.read_text())
        except (OSError, ValueError):
            continue
        if limit.isdigit():  # cgroup 2 writes `max` for none
            available = min(available, max(int(limit) - usage, 0))
    return available


def total_bytes(*, meminfo: Path = _MEMINFO, cgroups: Sequence[tuple[Path, Path]] = _CGROUPS) -> int:
    """What this process could take if nobody else took any, in bytes: MemTotal, or less where a cgroup allows less."""
    fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
    total = int(fields["MemTotal"].split()[0]) * 1024
    for limit_file, _ in cgroups:
        try:
            limit = limit_file.read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            total = min(total, int(limit))
    return total


def is_unbalanced(local_bytes: float, least_bytes: float) -> bool:
    """Whether some rank has less than 90 % of what this one has. least: the minimum over all ranks."""
    return least_bytes < local_bytes * BALANCE_RATIO
