"""Ways to sum over the ranks of one machine that are faster than the backend's own: which of them a run wants, and
which its machine has."""

from __future__ import annotations

import importlib.util
import logging
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
_FLAGS = {"custom": True, "mscclpp": False, "torch_symm_mem": False, "trust_peers": False}
_ONE_SHOT_BYTES = 1 << 18  # beyond it, every rank reading every other's whole tensor costs more than two rounds


class Reducer(Protocol):
    """Sums what it takes; the rest is the backend's."""

    def takes(self, tensor: Tensor) -> bool: ...

    def all_reduce(self, tensor: Tensor) -> Tensor: ...


def set_custom_all_reduce(is_wanted: bool) -> None:
    """The engine's own: shared memory between CPU ranks, peer memory between GPUs."""
    _FLAGS["custom"] = is_wanted


def set_mscclpp_all_reduce(is_wanted: bool) -> None:
    """Raises BadConfig where it is wanted and not installed."""
    if is_wanted and importlib.util.find_spec("mscclpp") is None:
        raise BadConfig("enable_mscclpp, and mscclpp is not installed", fix="install it, or leave the option out")
    _FLAGS["mscclpp"] = is_wanted


def set_torch_symm_mem_all_reduce(is_wanted: bool) -> None:
    _FLAGS["torch_symm_mem"] = is_wanted


def wants(name: str) -> bool:
    """name: custom, mscclpp or torch_symm_mem."""
    return _FLAGS[name]


class SymmetricMemory:
    """Tensors of GPUs that read each other's memory: copied to a buffer that all have mapped, summed by one kernel."""

    def __init__(self, group_name: str, *, max_bytes: int, device: torch.device) -> None:
        from torch.distributed import _symmetric_memory as symmetric

        self.group_name, self.max_bytes = group_name, max_bytes
        self._buffer: Tensor = symmetric.empty(max_bytes, dtype=torch.uint8, device=device)
        rendezvous: Any = symmetric.rendezvous
        rendezvous(self._buffer, group_name)

    def takes(self, tensor: Tensor) -> bool:
        count = tensor.numel() * tensor.element_size()
        return tensor.is_cuda and tensor.dtype in (torch.bfloat16, torch.float32) and 0 < count <= self.max_bytes

    def all_reduce(self, tensor: Tensor) -> Tensor:
        count = tensor.numel() * tensor.element_size()
        ours = self._buffer[:count].view(tensor.dtype)
        ours.copy_(tensor.reshape(-1))
        operators: Any = torch.ops.symm_mem
        if count <= _ONE_SHOT_BYTES:
            made: Tensor = operators.one_shot_all_reduce(ours, "sum", self.group_name)
        else:
            made = operators.two_shot_all_reduce_(ours, "sum", self.group_name)
        return tensor.copy_(made.view_as(tensor))


def peers_reach_each_other(count: int) -> bool:
    """Whether each of the first GPUs can read the memory of every other, as the driver says."""
    pairs = [(one, other) for one in range(count) for other in range(count) if one != other]
    return all(torch.cuda.can_device_access_peer(one, other) for one, other in pairs)


def trust_peer_access() -> None:
    """Take the driver's word, where a test that copies between every two GPUs would take seconds."""
    _FLAGS["trust_peers"] = True


def can_use_peers(count: int) -> bool:
    """Whether GPUs may be read directly: what the driver says, tested by a copy unless that is to be trusted."""
    if not peers_reach_each_other(count):
        return False
    return _FLAGS["trust_peers"] or all(_copies(one, (one + 1) % count) for one in range(count))


def _copies(one: int, other: int) -> bool:
    sent = torch.arange(1024, device=f"cuda:{one}")
    came = sent.to(f"cuda:{other}")
    is_same = bool((came.cpu() == sent.cpu()).all())
    if not is_same:
        log.warning("peer access is broken: from=%d to=%d", one, other)
    return is_same
