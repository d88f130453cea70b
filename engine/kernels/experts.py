"""The feed-forwards of many experts by the kernels (src/experts.h), and the weighed sum of what a token's experts gave.
The matrices of all experts stand one below the other in one pair of panels. T tokens, K experts of each, D width."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels import native
from engine.kernels.panels import COLUMNS, Panels

_MOST_PLACES = 8192  # at a time: their inputs stand in memory as floats, once for every expert


def can_stack(outputs: int, *, is_gated: bool) -> bool:
    """Whether experts of so many outputs begin with a panel each, and gated ones have whole panels in their halves."""
    return outputs % (2 * COLUMNS if is_gated else COLUMNS) == 0


def outputs_of(
    gate_up: Panels, down: Panels, x_TD: Tensor, slots_TK: Tensor, *, count: int, activation: str, dtype: torch.dtype
) -> Tensor:
    """[T, K, D] in `dtype`. slots: which of the `count` experts; zeros where it is below 0."""
    library = native.library()
    assert library is not None, "there are no panels without the kernels"
    tokens, top = slots_TK.shape
    x_TD, slots_TK = x_TD.contiguous(), slots_TK.contiguous()
    assert slots_TK.dtype is torch.long, "the kernels read eight bytes each"
    out = torch.empty(tokens, top, gate_up.inputs, dtype=dtype)
    step = max(_MOST_PLACES // max(top, 1), 1)
    for first in range(0, tokens, step):
        part = slice(first, min(first + step, tokens))
        library.engine_experts(
            gate_up.address,
            down.address,
            count,
            x_TD[part].data_ptr(),
            native.KINDS[x_TD.dtype],
            slots_TK[part].data_ptr(),
            part.stop - first,
            top,
            out[part].data_ptr(),
            native.KINDS[dtype],
            native.GATES[activation],
            torch.get_num_threads(),
        )
    return out


def weighed(x_TKD: Tensor, weights_TK: Tensor) -> Tensor:
    """[T, D]: the sum over a token's places, in their order, in fp32 until the end."""
    tokens, top, width = x_TKD.shape
    weights_TK = weights_TK.float().contiguous()
    library = native.library()
    if library is None or not native.fits(x_TKD):
        made = torch.zeros(tokens, width, device=x_TKD.device)
        for place in range(top):  # one after the other: a sum over a dimension may take another order for another T
            made = made + x_TKD[:, place].float() * weights_TK[:, place, None]
        return made.to(x_TKD.dtype)
    out = torch.empty(tokens, width, dtype=x_TKD.dtype)
    library.engine_weighed(
        x_TKD.data_ptr(),
        weights_TK.data_ptr(),
        out.data_ptr(),
        tokens,
        top,
        width,
        native.KINDS[x_TKD.dtype],
        torch.get_num_threads(),
    )
    return out
