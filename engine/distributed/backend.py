"""Facts about collective backends by device, and which network cards a rank may use. What a run takes is decided where
the run begins."""

from __future__ import annotations

from collections.abc import Sequence

from engine.schema.errors import BadConfig

DEFAULT_BACKENDS = {"cpu": "gloo", "cuda": "nccl", "xpu": "xccl", "npu": "hccl", "hpu": "hccl", "mps": "gloo"}


def default_backend(device: str) -> str:
    """Raises BadConfig for a device that has none."""
    try:
        return DEFAULT_BACKENDS[device]
    except KeyError:
        known = ", ".join(sorted(DEFAULT_BACKENDS))
        raise BadConfig(f"device {device!r} has no collective backend", fix=f"use one of {known}") from None


def cards_for_gpus(gpu_ids: Sequence[int], cards: Sequence[str]) -> list[str]:
    """The network cards of some GPUs, nearest first, each once: the job's GPUs are spread over the cards in order,
    counted from the first GPU of the job, not from the machine's."""
    if not gpu_ids or not cards:
        return []
    per_card, base = max(len(gpu_ids) // len(cards), 1), min(gpu_ids)
    return list(dict.fromkeys(cards[min((each - base) // per_card, len(cards) - 1)] for each in gpu_ids))


def ranks_per_node(tp_size: int, pp_size: int, nnodes: int) -> int:
    """How many ranks of one tensor-parallel group stand on one node: pipeline stages take nodes first."""
    for name, value in (("tp_size", tp_size), ("pp_size", pp_size), ("nnodes", nnodes)):
        if value < 1:
            raise BadConfig(f"{name}={value}", fix="give at least 1")
    nodes = max(nnodes // pp_size, 1)
    if tp_size % nodes:
        raise BadConfig(f"tp_size={tp_size} over {nodes} nodes a group", fix="make tp_size a multiple of the nodes")
    return tp_size // nodes
