"""The library of matrix products on NVIDIA's GPUs: what it makes at its first use is made when it does no harm."""

from __future__ import annotations

import torch

from engine.host.device import Device


def init_cublas(*, device_handle: Device) -> None:
    """The first product makes the library's handle and workspace: here, and not in the middle of a capture."""
    dtype = torch.float16
    device = device_handle.place
    a = torch.ones((16, 16), dtype=dtype, device=device)
    b = torch.ones((16, 16), dtype=dtype, device=device)
    c = a @ b
    del c
