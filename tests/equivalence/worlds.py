"""The backends that a rank may run on, and a world for each: taken for real where the device is there, and else with
stand-ins for torch's module of the device, the libraries and the process groups, so that every backend's branches run
on every machine. What a stand-in can't show (a kernel, a communicator, memory of a device) is named in HARDWARE."""

from __future__ import annotations

import os
import re
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from msgspec import Struct
from torch.testing._internal.distributed.fake_pg import FakeStore

FREE_BYTES, TOTAL_BYTES = 60 << 30, 64 << 30
CHOSEN = "UNMOVED_TEST_BACKEND"


class Backend(Struct, frozen=True, kw_only=True):
    """name: the factor of tox. device: the kind. collective: what torch is asked for. options: of the server.
    environ: what such a machine sets. sizes: world sizes to try, ranks of one tensor-parallel group first."""

    name: str
    device: str
    collective: str
    options: dict[str, Any] = {}
    environ: dict[str, str] = {}
    sizes: tuple[tuple[int, int], ...] = ((1, 1), (2, 1), (2, 2), (8, 1))
    hardware: tuple[str, ...] = ()

    def is_there(self) -> bool:
        """Whether this machine has the device and torch the backend."""
        is_hip = torch.version.hip is not None
        if self.name in ("cpu-gloo", "fake"):
            return True
        if self.name == "cpu-mooncake":
            return _has("mooncake")
        if self.device == "mps":
            return torch.backends.mps.is_available()
        if self.device == "cuda":
            return torch.cuda.is_available() and dist.is_nccl_available() and is_hip == self.name.startswith("rocm")
        module = getattr(torch, self.device, None)
        return module is not None and bool(module.is_available())


def _has(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


BACKENDS = (
    Backend(name="cpu-gloo", device="cpu", collective="gloo"),
    Backend(
        name="cpu-mooncake",
        device="cpu",
        collective="mooncake-cpu",
        options={"elastic_ep_backend": "mooncake", "mooncake_ib_device": "mlx5_0, mlx5_1"},
        hardware=("a transfer between network cards",),
    ),
    Backend(
        name="cuda-nccl",
        device="cuda",
        collective="nccl",
        options={"pre_warm_nccl": True},
        environ={"NCCL_DEBUG": "WARN"},
        hardware=("a sum through NCCL", "memory of peers that is mapped", "cuBLAS's first product"),
    ),
    Backend(
        name="rocm-nccl",
        device="cuda",
        collective="nccl",
        options={"enable_p2p_check": True},
        environ={"HSA_NO_SCRATCH_RECLAIM": "1"},
        hardware=("a sum through RCCL", "a copy between peers"),
    ),
    Backend(name="npu-hccl", device="npu", collective="hccl", hardware=("the name of a communicator of HCCL",)),
    Backend(name="xpu-xccl", device="xpu", collective="xccl", hardware=("a sum through XCCL",)),
    Backend(name="mps", device="mps", collective="gloo", hardware=("memory that the GPU shares with the machine",)),
    Backend(
        name="fake",
        device="cpu",
        collective="fake",
        options={"dist_backend": "fake", "disable_custom_all_reduce": True},
        sizes=((1, 1), (8, 1), (8, 8), (16, 16), (64, 16), (8, 512)),
    ),
)


def chosen() -> tuple[Backend, ...]:
    """Those that the environment names, with a comma between, as tox calls them or without the Python before it; all
    where it names none. Raises KeyError for one that does not exist."""
    names = [re.sub(r"^py[0-9]+-", "", each) for each in os.environ.get(CHOSEN, "").split(",") if each]
    known = {each.name: each for each in BACKENDS}
    return tuple(known[name] for name in names) if names else BACKENDS


class Met(Struct):
    """What a simulated world was asked for. calls: of the device's module and of torch.distributed, in order."""

    calls: list[tuple[Any, ...]] = []


@contextmanager
def simulated(backend: Backend, met: Met) -> Iterator[None]:
    """The backend's device, libraries, variables and process groups, none of which is there. Groups are torch's fake
    ones: ranks, sizes and handles are real, sums are not."""
    with ExitStack() as stack:
        put = stack.enter_context
        put(patch.dict(os.environ, backend.environ))
        if backend.device != "cpu":
            module = _module(backend, met)
            put(patch.object(torch, backend.device, module, create=True))
            if backend.device == "mps":
                put(patch.object(torch.backends.mps, "is_available", lambda: True))
        if backend.name == "rocm-nccl":
            put(patch.object(torch.version, "hip", "6.4"))
        mooncake = types.ModuleType("mooncake")
        mooncake.__dict__["ep"] = types.SimpleNamespace(
            set_device_filter=lambda given: met.calls.append(("cards", tuple(given)))
        )
        has_mooncake = backend.name == "cpu-mooncake"
        put(patch.dict("sys.modules", {"mooncake": mooncake if has_mooncake else None}))
        put(patch.object(dist, "init_process_group", _meeting(met)))
        put(patch.object(dist, "new_group", _grouping(met)))
        put(patch.object(torch, "zeros", _on_the_cpu(torch.zeros)))
        if backend.device == "cuda":
            put(patch("engine.distributed.all_reduce.SymmetricMemory.__init__", _mapping(met)))
            put(patch("engine.distributed.all_reduce._copies", _copying(met)))
        if backend.device == "npu":
            put(patch.object(dist.ProcessGroup, "_get_backend", lambda *_: _Hccl(), create=True))
            # torch knows the name `npu` once its extension is loaded; until then such devices have the general one.
            place = property(lambda device: torch.device("privateuseone", device.index))
            put(patch("engine.host.device.Device.place", place))
        try:
            yield
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()


def _module(backend: Backend, met: Met) -> Any:
    """Stands in for torch.cuda and its like."""

    def seen(name: str, answer: Any = None) -> Any:
        def called(*given: Any) -> Any:
            met.calls.append((f"{backend.device}.{name}", *map(str, given)))
            return answer

        return called

    return types.SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: False,
        _is_in_bad_fork=lambda: False,
        device_count=lambda: 8,
        current_device=lambda: 0,
        set_device=seen("set_device"),
        empty_cache=seen("empty_cache"),
        mem_get_info=seen("mem_get_info", (FREE_BYTES, TOTAL_BYTES)),
        recommended_max_memory=lambda: TOTAL_BYTES,
        driver_allocated_memory=lambda: TOTAL_BYTES - FREE_BYTES,
        synchronize=seen("synchronize"),
        can_device_access_peer=seen("can_device_access_peer", True),
        get_device_capability=lambda _: (9, 0),
    )


def _meeting(met: Met) -> Any:
    real = dist.init_process_group

    def init_process_group(backend: str, *, init_method: str, world_size: int, rank: int, timeout: Any) -> None:
        met.calls.append(("init_process_group", backend, init_method, world_size, rank, timeout.total_seconds()))
        real("fake", store=FakeStore(), rank=rank, world_size=world_size)

    return init_process_group


def _grouping(met: Met) -> Any:
    real = dist.new_group

    def new_group(ranks: list[int], backend: str | None = None) -> Any:
        met.calls.append(("new_group", tuple(ranks), backend))
        return real(ranks, backend="fake")

    return new_group


def _on_the_cpu(real: Any) -> Any:
    """A tensor on a device that is not there stands on the CPU."""
    return lambda *given, **named: real(*given, **{name: it for name, it in named.items() if name != "device"})


def _mapping(met: Met) -> Any:
    def made(self: Any, group_name: str, *, max_bytes: int, device: torch.device) -> None:
        del self, group_name
        met.calls.append(("peers", max_bytes, str(device)))

    return made


def _copying(met: Met) -> Any:
    def copies(one: int, other: int) -> bool:
        met.calls.append(("copied", one, other))
        return True

    return copies


class _Hccl:
    """A communicator as HCCL names it."""

    def get_hccl_comm_name(self, rank: int) -> str:
        return f"hccl-of-{rank}"
