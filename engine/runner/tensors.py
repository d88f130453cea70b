"""Tensors as plain data, for messages: dtype, shape and bytes. Nothing is executed to read one."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from engine.schema.errors import BadConfig

DTYPES = {
    str(each).removeprefix("torch."): each
    for each in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32, torch.int64)
}


def dtype_of(name: str) -> torch.dtype:
    if name not in DTYPES:
        raise BadConfig(f"tensor dtype {name!r}", fix=f"use one of {', '.join(DTYPES)}")
    return DTYPES[name]


def bytes_of(tensor: Tensor) -> bytes:
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def packed(tensor: Tensor) -> dict[str, Any]:
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "data": bytes_of(tensor)}


def unpacked(name: str, given: Any) -> Tensor:
    """Raises BadConfig where the bytes are not of that dtype and shape."""
    try:
        dtype, shape, raw = dtype_of(given["dtype"]), [int(each) for each in given["shape"]], bytes(given["data"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadConfig(f"{name} is no tensor: {error!r}", fix="give dtype, shape and data") from error
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise BadConfig(f"{name}: {len(raw)} bytes for {shape} of {given['dtype']}", fix="send all of it")
    if not raw:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)
