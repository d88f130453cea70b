"""How much memory there is."""

from __future__ import annotations

from minirunner import simdev


def get_available_memory(device: str, gpu_id: int, distributed: bool = False) -> float:
    """Free memory in MiB; with `distributed`, the smallest of all ranks in the world group."""
    if device == "cpu":
        # All ranks of a host share its memory, which the simulation keeps on device 0.
        gpu_id = 0
    free = simdev.mem_info(gpu_id)[0]
    if distributed and device != "cpu":
        from minirunner.distributed.parallel_state import get_world_group

        free = min(simdev.mem_info(rank)[0] for rank in get_world_group().ranks)
    return free / simdev.MIB


def get_total_memory(device: str, gpu_id: int) -> float:
    """Total memory in MiB."""
    return simdev.mem_info(0 if device == "cpu" else gpu_id)[1] / simdev.MIB
