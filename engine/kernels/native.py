"""The compiled kernels as functions over addresses: loads them once, tries them on a small product, describes their
structs (src/*.h). Which tensors they fit is for the callers to see.

Without a compiler, or with `ENGINE_NATIVE=0`, there is no library; that is logged once."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import Tensor

from engine.config.env import read_env
from engine.host.compiler import NoCompiler, compiled

log = logging.getLogger(__name__)
SOURCE = Path(__file__).parent / "src" / "kernels.cpp"
ABI = 3
KINDS = {
    torch.float32: 0,
    torch.bfloat16: 1,
    torch.int8: 2,
    torch.float8_e5m2: 4,
    torch.float8_e4m3fn: 5,
    torch.float16: 6,
}
GATES = {"none": 0, "silu": 1, "gelu_tanh": 2}
Struct: TypeAlias = Any  # a ctypes.Structure whose fields are made below
_P, _I, _F = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float


def _struct(name: str, **fields: Any) -> Any:
    return type(name, (ctypes.Structure,), {"_fields_": list(fields.items())})


Weight = _struct("Weight", numbers=_P, scale=_P, low=_P, bias=_P, kind=_I, outputs=_I, inputs=_I, group=_I)
Norm = _struct("Norm", weight=_P, eps=_F, offset=_F)
Turn = _struct(
    "Turn",
    **dict.fromkeys(("qkv", "cos", "sin", "positions", "slots", "keys", "values"), _P),
    q_norm=Norm,
    k_norm=Norm,
    **dict.fromkeys(("heads", "kv_heads", "dim", "kind", "kv_kind"), _I),
)
Attend = _struct(
    "Attend",
    **dict.fromkeys(("q", "out", "keys", "values", "key_scales", "value_scales", "tables", "spans"), _P),
    **dict.fromkeys(("q_stride", "kind", "kv_kind", "heads", "kv_heads", "dim", "block_tokens"), _I),
    **dict.fromkeys(("table_stride", "sequences", "window"), _I),
    **dict.fromkeys(("scale", "key_factor", "value_factor"), _F),
)
Layer = _struct(
    "Layer",
    **dict.fromkeys(("qkv", "out", "gate_up", "down"), Weight),
    **dict.fromkeys(("attention", "post_attention", "ffn", "post_ffn"), Norm),
    turn=Turn,
    attend=Attend,
    **dict.fromkeys(("width", "gate", "is_windowed"), _I),
)
Step = _struct(
    "Step",
    **dict.fromkeys(("positions", "slots", "window_slots", "tables", "window_tables", "spans"), _P),
    **dict.fromkeys(("table_stride", "sequences"), _I),
)
_SIGNATURES = {
    "engine_linear": (_P, _P, _I, _I, _P, _I, _I, _I),
    "engine_unpack": (_P, _P, _I),
    "engine_unblock": (_P, _I, _I, _P, _I),
    "engine_add_norm": (_P, _P, _P, _P, _P, _I, _I, _I, _I),
    "engine_turn": (_P, _I, _I),
    "engine_attend": (_P, _I),
    "engine_gate": (_P, _P, _I, _I, _I, _I, _I),
    "engine_experts": (_P, _P, _I, _P, _I, _P, _I, _I, _P, _I, _I, _I),
    "engine_weighed": (_P, _P, _P, _I, _I, _I, _I, _I),
    "engine_layers": (_P, _I, _P, _P, _P, _I, _I, _I),
}


@functools.cache
def library() -> ctypes.CDLL | None:
    """The kernels, compiled if they are not yet; None where that can't be."""
    settings = read_env(os.environ)
    if not settings.is_native:
        log.info("kernels: torch's alone: ENGINE_NATIVE=0")
        return None
    try:
        found = opened(compiled(SOURCE, settings.cache_dir / "kernels"))
    except (NoCompiler, OSError) as error:
        log.warning("kernels: torch's alone: %s", error)
        return None
    if not is_right(found):
        log.warning("kernels: torch's alone: what was compiled gives wrong products: path=%s", found._name)
        return None
    return found


def opened(path: Path) -> ctypes.CDLL:
    """A compiled library with its functions' types. Raises OSError for one that is of other sources."""
    found = ctypes.CDLL(str(path))
    for name, types in _SIGNATURES.items():
        function = getattr(found, name, None)
        if function is None:
            raise OSError(f"{path} has no {name}")
        function.argtypes, function.restype = list(types), None
    found.engine_abi.restype = _I
    if found.engine_abi() != ABI:
        raise OSError(f"{path} is of version {found.engine_abi()}, needed is {ABI}")
    return found


def is_right(found: ctypes.CDLL) -> bool:
    """One product of whole numbers, in bf16, one row and seven, against torch: a compiler for a machine that nobody
    tried this on may be wrong."""
    weight = ((torch.arange(16 * 24) * 7) % 11 - 5).view(16, 24)
    panel = weight.view(2, 8, 24).permute(2, 1, 0).to(torch.bfloat16).contiguous()
    described = Weight(numbers=panel.data_ptr(), kind=1, outputs=16, inputs=24, group=24)
    for rows in (1, 7):
        x = ((torch.arange(rows * 24) * 5) % 7 - 3).view(rows, 24)
        out, given = torch.zeros(rows, 16), x.to(torch.bfloat16)
        found.engine_linear(ctypes.addressof(described), given.data_ptr(), 1, rows, out.data_ptr(), 0, 0, 2)
        if not torch.equal(out.long(), x @ weight.T):
            return False
    return True


def fits(*tensors: Tensor) -> bool:
    """Whether the kernels take these: plain tensors on the CPU, in fp32 or bf16, all alike, with numbers in eights, and
    nobody is tracing."""
    first = tensors[0]
    if first.dtype is not torch.bfloat16 and first.dtype is not torch.float32:
        return False
    if library() is None or torch.compiler.is_compiling():
        return False
    return all(
        each.device.type == "cpu" and each.dtype is first.dtype and each.shape[-1] % 8 == 0 and each.is_contiguous()
        for each in tensors
    )


def address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()
