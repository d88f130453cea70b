"""Experts after ranks have gone or come: whose slots still count, what stands in them for certain, and a placement for
those that are left. The parts of it; when they are called, and in what order, is the runner's (elastic.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from engine.distributed.group import Group
from engine.moe.eplb_algorithm import rebalance_experts
from engine.moe.layer import RoutedExperts
from engine.moe.location import ExpertLocationMetadata


def active_ranks(members: Sequence[int], ep_size: int) -> list[bool]:
    """One a rank of the placement."""
    return [rank in members for rank in range(ep_size)]


def owners_of(members: Sequence[int], ep_size: int) -> list[int]:
    """Of each rank of the placement its rank within a group of the members; -1 where it is gone."""
    return [members.index(rank) if rank in members else -1 for rank in range(ep_size)]


def true_placement(
    layers: Mapping[int, RoutedExperts], location: ExpertLocationMetadata, group: Group, members: Sequence[int]
) -> Tensor:
    """What stands in the slots of all members, by the numbers that move with the weights; [L, P]. The maps may not know
    it: ranks may have failed in the middle of a move, some having gone on to the next layer; a rank that has just come
    has whatever it loaded. Slots of who is gone stay as they are in the maps. Every member calls it."""
    made = location.physical_to_logical_map.clone()
    ids, count = sorted(layers), location.num_local_physical_experts
    if not ids:
        return made
    ours = torch.stack([layers[each].canary for each in ids])
    everything = group.all_gather(ours[None], dim=0)
    for place, rank in enumerate(members):
        made[ids, rank * count : (rank + 1) * count] = everything[place]
    return made


def synchronise(
    location: ExpertLocationMetadata, group: Group, members: Sequence[int], *, source: int, step: int
) -> int:
    """The step of the run, and the placement where this rank can't know it, from a member that was there before;
    source: its rank within the group. Every member calls it."""
    told = group.broadcast(torch.tensor([step]), source)
    placement = group.broadcast(location.physical_to_logical_map.clone(), source)
    location.update(placement, active_ranks=active_ranks(members, location.ep_size))
    return int(told.item())


def placement_for(
    location: ExpertLocationMetadata,
    logical_count: Tensor,
    *,
    layer_ids: Sequence[int],
    num_groups: int = 1,
    algorithm: str = "auto",
) -> Tensor:
    """[L, P]: for the ranks that are there now, those layers that have something to gain alone. Counts may be all zero:
    then experts are only made whole and spread. Raises BadConfig where the slots that are left do not suffice."""
    counts = torch.where(logical_count.sum(-1, keepdim=True) > 0, logical_count, 1)
    made = rebalance_experts(
        counts,
        num_physical=location.num_physical_experts,
        ep_size=location.ep_size,
        num_groups=num_groups,
        num_nodes=location.num_nodes,
        algorithm=algorithm,
        active_ranks=location.active_ranks,
        current=location.physical_to_logical_map,
    )
    out = location.physical_to_logical_map.clone()
    out[list(layer_ids)] = made[list(layer_ids)]
    return out
