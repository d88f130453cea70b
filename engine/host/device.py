"""What a kind of device can do and how much memory it has: one interface for the CPU, CUDA and the other accelerators
that torch knows. What a run does with it is decided above."""

from __future__ import annotations

import os
from typing import Any

import torch

from engine.host.memory import available_bytes, total_bytes
from engine.schema.errors import BadConfig

KINDS = ("cpu", "cuda", "xpu", "npu", "hpu", "mps")


def probe() -> str:
    """The kind that this machine has: the first accelerator that torch can use, else the CPU."""
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            return kind
    return "cpu"


class Device:
    """One device of a kind: an accelerator. index: among those that this process sees."""

    can_capture = False

    def __init__(self, kind: str, index: int = 0) -> None:
        self.kind, self.index = kind, index

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    @property
    def module(self) -> Any:
        """torch's module of this kind. Raises BadConfig where this build of torch has none."""
        module = getattr(torch, self.kind, None)
        if module is None or not module.is_available():
            raise BadConfig(f"device {self.kind!r} is not there", fix="use --device cpu, or install torch for it")
        return module

    @property
    def place(self) -> torch.device:
        return torch.device(self.kind, self.index)

    def set_current(self) -> None:
        self.module.set_device(self.index)

    def available_bytes(self) -> int:
        """What can still be taken, the allocator's own unused blocks given back first."""
        self.module.empty_cache()
        return int(self.module.mem_get_info(self.index)[0])

    def total_bytes(self) -> int:
        return int(self.module.mem_get_info(self.index)[1])

    def best_dtype(self) -> torch.dtype:
        """bf16: every accelerator of the last years multiplies it."""
        return torch.bfloat16

    def synchronize(self) -> None:
        self.module.synchronize()


class CudaDevice(Device):
    """NVIDIA's, and AMD's through HIP."""

    can_capture = True

    def best_dtype(self) -> torch.dtype:
        """fp16 before compute capability 8: bf16 is emulated there."""
        major, _ = self.module.get_device_capability(self.index)
        return torch.bfloat16 if major >= 8 else torch.float16


class CpuDevice(Device):
    """The whole machine's memory, cut with the container's."""

    def __init__(self) -> None:
        super().__init__("cpu")

    def __str__(self) -> str:
        return self.kind

    @property
    def module(self) -> Any:
        return torch.cpu

    @property
    def place(self) -> torch.device:
        return torch.device("cpu")

    def set_current(self) -> None:
        """There is one."""

    def available_bytes(self) -> int:
        return available_bytes()

    def total_bytes(self) -> int:
        return total_bytes()

    def best_dtype(self) -> torch.dtype:
        """bf16 where the processor multiplies it, else fp32: emulated it is slower than that."""
        return torch.bfloat16 if torch.ops.mkldnn._is_mkldnn_bf16_supported() else torch.float32

    def synchronize(self) -> None:
        """Every product is done when its call returns."""


class MpsDevice(Device):
    """Apple's: one device that shares the machine's memory."""

    @property
    def module(self) -> Any:
        if not torch.backends.mps.is_available():
            raise BadConfig("device 'mps' is not there", fix="use --device cpu")
        return torch.mps

    def set_current(self) -> None:
        """There is one."""

    def available_bytes(self) -> int:
        return max(int(torch.mps.recommended_max_memory()) - int(torch.mps.driver_allocated_memory()), 0)

    def total_bytes(self) -> int:
        return int(torch.mps.recommended_max_memory())

    def best_dtype(self) -> torch.dtype:
        return torch.float16


def open_device(kind: str, index: int = 0) -> Device:
    """kind: of KINDS, or auto. Raises BadConfig for one that is not known; whether it is there shows at first use."""
    kind = probe() if kind == "auto" else kind
    if kind not in KINDS:
        raise BadConfig(f"device {kind!r}", fix=f"use auto, {', '.join(KINDS)}")
    if kind == "cpu":
        return CpuDevice()
    if kind == "mps":
        return MpsDevice(kind)
    return CudaDevice(kind, index) if kind == "cuda" else Device(kind, index)


def has_amx() -> bool:
    """Whether this processor has matrix tiles."""
    return bool(torch.cpu._is_amx_tile_supported())


def is_arm64() -> bool:
    return os.uname().machine in ("aarch64", "arm64")
