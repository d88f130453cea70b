"""Which copy of an expert a token's place goes to: from logical to physical ids. Ranks that have the same tokens choose
the same copies, since nothing here is drawn that is not computed from the step and the place. T tokens, K places, X
copies, E logical experts."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.moe.location import ExpertLocationMetadata
from engine.schema.errors import BadConfig

ALGORITHMS = ("static", "dynamic", "fake", "lp")
_MIX = (-4658895280553007687, -7723592293110705685)  # splitmix64's, as signed numbers
_STEP, _LAYER = 7046029254386353131, 3935559000370003845


def check_algorithm(name: str) -> str:
    """Raises BadConfig for a name that is none."""
    if name not in ALGORITHMS:
        raise BadConfig(f"ep_dispatch_algorithm={name!r}", fix=f"use one of {', '.join(ALGORITHMS)}")
    return name


def physical_ids(
    ids_TK: Tensor,
    location: ExpertLocationMetadata,
    *,
    layer: int,
    algorithm: str,
    step: int = 0,
    first: int = 0,
    is_common: bool = False,
    shares_EX: Tensor | None = None,
) -> Tensor:
    """static: the copy nearest to this rank. dynamic: any copy, each as often. lp: copies in the given shares, which
    sum to 1 over those that are. fake: any expert at all, each as often: for measurements, its answers are wrong.
    first: the number of the first token among those that other ranks have too. is_common: ranks look through the same
    tokens, so that nearness to one of them can't count: with static, every expert has one copy that serves all."""
    if algorithm == "static" and is_common:
        experts = torch.arange(location.num_logical_experts, device=ids_TK.device)
        counts_E = location.logical_to_all_physical_map_num_valid[layer]
        return location.logical_to_all_physical_map[layer][experts, experts % counts_E][ids_TK]
    if algorithm == "static":
        return location.logical_to_rank_dispatch_physical_map[layer][ids_TK]
    if algorithm == "fake":
        ids_TK = _hashed(ids_TK, layer, step, first).remainder(location.num_logical_experts)
    copies_EX, counts_E = (
        location.logical_to_all_physical_map[layer],
        location.logical_to_all_physical_map_num_valid[layer],
    )
    drawn_TK = _hashed(ids_TK, layer, step + 1, first)
    if algorithm == "lp":
        assert shares_EX is not None, "who asks for lp solves first"
        uniform_TK = (drawn_TK >> 11).double() * 2.0**-52
        reached_TKX = shares_EX.cumsum(-1)[ids_TK] <= uniform_TK[..., None]
        chosen_TK = torch.minimum(reached_TKX.sum(-1), counts_E[ids_TK] - 1)
    else:
        chosen_TK = drawn_TK.remainder(counts_E[ids_TK])
    return copies_EX[ids_TK].gather(-1, chosen_TK[..., None]).squeeze(-1)


def _hashed(like_TK: Tensor, layer: int, step: int, first: int) -> Tensor:
    """63 bits for every place, the same wherever the place, the step and the layer are."""
    tokens, top = like_TK.shape
    start = _wrapped(step * _STEP + layer * _LAYER)
    x = torch.arange(first * top, (first + tokens) * top, device=like_TK.device).view(tokens, top) + start
    x = (x ^ _shifted(x, 30)) * _MIX[0]
    x = (x ^ _shifted(x, 27)) * _MIX[1]
    return _shifted(x ^ _shifted(x, 31), 1)


def _shifted(x: Tensor, by: int) -> Tensor:
    """To the right, zeros coming in."""
    return (x >> by) & ((1 << (64 - by)) - 1)


def _wrapped(x: int) -> int:
    return (x + (1 << 63)) % (1 << 64) - (1 << 63)
