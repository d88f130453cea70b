"""Which ways to compute attention there are, by name, and which one a device takes where nothing is said."""

from __future__ import annotations

from engine.attention.base import Attention
from engine.attention.flex import FlexAttention
from engine.attention.native import NativeAttention
from engine.attention.plain import ReferenceAttention, SdpaAttention
from engine.kernels import native
from engine.schema.errors import BadConfig

__all__ = ["BACKENDS", "Attention", "backend", "default_backend"]
BACKENDS: dict[str, type[Attention]] = {
    "flex": FlexAttention,
    "native": NativeAttention,
    "reference": ReferenceAttention,
    "sdpa": SdpaAttention,
}


def backend(name: str) -> type[Attention]:
    """Raises BadConfig for a name that is none."""
    if name not in BACKENDS:
        raise BadConfig(f"attention backend {name!r}", fix=f"use one of {', '.join(sorted(BACKENDS))}")
    return BACKENDS[name]


def default_backend(device: str) -> str:
    """For prompts and single tokens alike: our own kernel on a CPU that it could be compiled for."""
    return "native" if device == "cpu" and native.library() is not None else "sdpa"
