"""Which cores belong together."""

from __future__ import annotations

import logging
from typing import List

from minirunner import simdev

logger = logging.getLogger(__name__)


def get_cpu_ids_by_node() -> List[str]:
    """The cores of each NUMA node as text, in the order of the nodes: ["0,1,2,3", "4,5,6,7"]."""
    topology = simdev.numa_topology()
    return [",".join(map(str, sorted(topology[node]))) for node in sorted(topology)]


def parse_cpu_list(text: str) -> List[int]:
    """The cores that "0-3,8" names."""
    cpus: List[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise ValueError(f"{part!r} in {text!r} is not a core or a range of cores")
        cpus.extend(range(int(first), int(last if dash else first) + 1))
    if len(set(cpus)) != len(cpus):
        logger.warning(f"cores named twice in {text!r}")
    return sorted(set(cpus))
