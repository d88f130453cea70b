"""Numbers of GGUF files, unpacked by the kernels: of the two kinds that the shipped model has. Others are left to the
library that reads the files."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.kernels import native

_BLOCK = 32
_BYTES = {"Q4_1": 20, "Q8_0": 34}  # of a block


def floats(raw: Tensor, kind: str, shape: Sequence[int]) -> Tensor | None:
    """In fp32, bit for bit what the file says; None for another kind, and without the kernels. raw: the bytes."""
    library = native.library()
    if library is None or kind not in _BYTES or not raw.is_contiguous():
        return None
    count = math.prod(shape) // _BLOCK
    if raw.dtype is not torch.uint8 or raw.numel() != count * _BYTES[kind]:
        return None
    out = torch.empty(*shape)
    library.engine_unblock(raw.data_ptr(), count, kind == "Q4_1", out.data_ptr(), torch.get_num_threads())
    return out
