"""From how much each expert was asked for to a placement: the hottest get more copies, and copies are packed onto ranks
so that the fullest rank has as little as possible. Begins with the greedy choice that DeepSeek published (heaviest
first, to the lightest place with room) and swaps from there on, so that it is never worse. Pure functions of arrays,
the same on every rank. L layers, E logical experts, P slots, N ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.schema.errors import BadConfig

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

ALGORITHMS = ("auto", "deepseek", "deepseek_hierarchical", "elasticity_aware", "elasticity_aware_hierarchical")
_MOST_SWAPS = 200  # of one packing; a few dozen are usual


def rebalance_experts(
    logical_count: Tensor,
    *,
    num_physical: int,
    ep_size: int,
    num_groups: int = 1,
    num_nodes: int = 1,
    algorithm: str = "auto",
    active_ranks: Sequence[bool] | None = None,
    current: Tensor | None = None,
) -> Tensor:
    """The placement, [L, P]. logical_count: [L, E]. num_groups: of experts, one token's stay within few of them; a
    hierarchical placement keeps each group on one node. active_ranks: slots of the others keep what they have, and
    count for nothing. current: the placement so far; experts stay where they are as far as that costs nothing.

    Raises BadConfig where the slots do not suffice, or for an algorithm that is none."""
    if algorithm not in ALGORITHMS:
        raise BadConfig(f"eplb_algorithm={algorithm!r}", fix=f"use one of {', '.join(ALGORITHMS)}")
    if num_physical % ep_size:
        raise BadConfig(f"{num_physical} slots over {ep_size} ranks", fix="change ep_num_redundant_experts")
    active = [True] * ep_size if active_ranks is None else list(active_ranks)
    if not all(active) and algorithm.startswith("deepseek"):
        raise BadConfig(f"eplb_algorithm={algorithm} with ranks that are gone", fix="use auto or elasticity_aware")
    counts: Floats = logical_count.double().numpy()
    per_rank, alive = num_physical // ep_size, [rank for rank, is_there in enumerate(active) if is_there]
    if per_rank * len(alive) < counts.shape[1]:
        raise BadConfig(
            f"{len(alive)} ranks have {per_rank * len(alive)} slots, for {counts.shape[1]} experts",
            fix="start with more redundant experts, or let ranks rejoin",
        )
    nodes = _nodes(active, num_nodes)
    can_nest = num_groups > 1 and num_groups % nodes == 0 and counts.shape[1] % num_groups == 0
    if algorithm.endswith("hierarchical") and not can_nest and nodes > 1:
        raise BadConfig(
            f"eplb_algorithm={algorithm} with {num_groups} groups of experts on {nodes} nodes",
            fix="use auto, or a number of nodes that divides the groups",
        )
    is_nested = nodes > 1 and can_nest and algorithm in ("auto", *(each for each in ALGORITHMS if "hier" in each))
    total = per_rank * len(alive)
    made = nested(counts, total, num_groups, nodes, len(alive)) if is_nested else flat(counts, total, len(alive))
    before = None if current is None else current.numpy().reshape(len(counts), ep_size, per_rank)
    whole = np.arange(num_physical) % counts.shape[1] if before is None else before
    out = np.broadcast_to(np.reshape(whole, (-1, ep_size, per_rank)), (len(counts), ep_size, per_rank)).copy()
    out[:, alive] = made.reshape(len(counts), len(alive), per_rank)
    if before is not None:
        for layer, row in enumerate(out):
            row[alive] = _kept_in_place(row[alive], before[layer, alive], 1 if not is_nested else nodes)
    return torch.from_numpy(out.reshape(len(counts), num_physical))


def _nodes(active: Sequence[bool], num_nodes: int) -> int:
    """How many nodes a placement may reckon with: one, where some have more ranks left than others."""
    per_node = len(active) // num_nodes
    left = {sum(active[first : first + per_node]) for first in range(0, len(active), per_node)} - {0}
    if len(left) != 1:
        return 1
    return sum(any(active[first : first + per_node]) for first in range(0, len(active), per_node))


def balancedness(counts: Any, placement: Any, ep_size: int) -> Floats:
    """[L]: the mean of the ranks' loads over the largest, copies of an expert sharing its load evenly; 1 is the
    best."""
    load = rank_loads(np.asarray(counts, dtype=np.float64), np.asarray(placement), ep_size)
    most = load.max(-1)
    even: Floats = np.divide(load.mean(-1), most, out=np.ones_like(most), where=most > 0)
    return even


def rank_loads(counts: Floats, placement: Ints, ep_size: int) -> Floats:
    """[L, N]."""
    copies = np.stack([np.bincount(row, minlength=counts.shape[1]) for row in placement])
    each = np.take_along_axis(counts / np.maximum(copies, 1), placement, axis=1)
    made: Floats = each.reshape(len(counts), ep_size, -1).sum(-1)
    return made


def flat(counts: Floats, num_physical: int, num_ranks: int) -> Ints:
    """Any expert on any rank."""
    owner, copies = replicate(counts, num_physical)
    loads = np.take_along_axis(counts / copies, owner, axis=1)
    packed = pack(loads, num_ranks)
    made: Ints = np.take_along_axis(owner, packed.reshape(len(counts), -1), axis=1)
    return made


def nested(counts: Floats, num_physical: int, num_groups: int, num_nodes: int, num_ranks: int) -> Ints:
    """Groups to nodes, then copies within each node, then to its ranks. Groups are packed in two ways, since the one
    that is more even may leave the nodes less even inside: each layer takes the better end."""
    found = []
    groups = counts.reshape(len(counts), num_groups, -1).sum(-1)
    for is_swapped in (False, True):
        on_node = pack(groups, num_nodes, is_swapped=is_swapped)  # [L, nodes, groups of each]
        found.append(_inside(counts, on_node, num_physical, num_groups, num_ranks))
    best = balancedness(counts, found[1], num_ranks) > balancedness(counts, found[0], num_ranks)
    made: Ints = np.where(best[:, None], found[1], found[0])
    return made


def _inside(counts: Floats, on_node: Ints, num_physical: int, num_groups: int, num_ranks: int) -> Ints:
    layers, nodes, _ = on_node.shape
    size = counts.shape[1] // num_groups
    experts = (on_node[..., None] * size + np.arange(size)).reshape(layers, nodes, -1)
    local = np.take_along_axis(counts[:, None], experts, axis=2).reshape(layers * nodes, -1)
    placed = flat(local, num_physical // nodes, num_ranks // nodes).reshape(layers, nodes, -1)
    made: Ints = np.take_along_axis(experts, placed, axis=2).reshape(layers, -1)
    return made


def replicate(counts: Floats, num_physical: int) -> tuple[Ints, Floats]:
    """Which expert each copy is of, [L, P], and how many copies each has, [L, E]: one more for the expert whose copies
    have most to do, again and again."""
    layers, experts = counts.shape
    owner = np.empty((layers, num_physical), dtype=np.int64)
    owner[:, :experts] = np.arange(experts)
    copies, rows = np.ones_like(counts), np.arange(layers)
    for at in range(experts, num_physical):
        owner[:, at] = (counts / copies).argmax(-1)
        copies[rows, owner[:, at]] += 1
    return owner, copies


def pack(loads: Floats, num_packs: int, *, is_swapped: bool = True) -> Ints:
    """[L, packs, items of each], as many in each: the heaviest first, to the lightest pack with room; then swaps that
    lower the heaviest pack."""
    layers, items = loads.shape
    room = items // num_packs
    order = np.argsort(-loads, axis=-1, kind="stable")
    made = np.empty((layers, num_packs, room), dtype=np.int64)
    sums, taken, rows = np.zeros((layers, num_packs)), np.zeros((layers, num_packs), dtype=np.int64), np.arange(layers)
    for at in range(items):
        item = order[:, at]
        chosen = np.where(taken < room, sums, np.inf).argmin(-1)
        made[rows, chosen, taken[rows, chosen]] = item
        sums[rows, chosen] += loads[rows, item]
        taken[rows, chosen] += 1
    if is_swapped and num_packs > 1:
        for layer in range(layers):
            _swap(made[layer], loads[layer])
    return made


def _swap(packs: Ints, loads: Floats) -> None:
    """In place: one of the heaviest pack for a lighter one of another pack, the pair that leaves the two least, as long
    as that is less than before."""
    weights = loads[packs]
    sums = weights.sum(-1)
    for _ in range(_MOST_SWAPS):
        heavy = int(sums.argmax())
        gain = weights[heavy][:, None, None] - weights[None]  # what moves from the heaviest: [room, packs, room]
        after = np.maximum(sums[heavy] - gain, sums[None, :, None] + gain)
        after[:, heavy] = np.inf
        mine, other, theirs = np.unravel_index(after.argmin(), after.shape)
        if not after[mine, other, theirs] < sums[heavy] * (1 - 1e-12):
            return
        for array in (packs, weights):
            array[heavy, mine], array[other, theirs] = array[other, theirs], array[heavy, mine]
        sums[heavy], sums[other] = weights[heavy].sum(), weights[other].sum()


def _kept_in_place(ranks: Ints, before: Ints, num_nodes: int) -> Ints:
    """The same packs with other numbers, [N, slots]: each on the rank (of its node) that has most of it already, and in
    each what stays in the slot where it is."""
    per_node, out, experts = len(ranks) // num_nodes, np.empty_like(ranks), int(max(ranks.max(), before.max())) + 1
    for first in range(0, len(ranks), per_node):
        node = slice(first, first + per_node)
        left = set(range(per_node))
        shared = _has(ranks[node], experts) @ _has(before[node], experts).T
        for at in np.argsort(-shared.max(-1), kind="stable"):
            to = max(sorted(left), key=lambda each: shared[at, each])
            left.discard(to)
            out[first + to] = _in_slots(ranks[first + at], before[first + to])
    return out


def _has(ranks: Ints, experts: int) -> Ints:
    """[N, E]: whether an expert is on a rank."""
    made = np.zeros((len(ranks), experts), dtype=np.int64)
    np.put_along_axis(made, ranks, 1, axis=1)
    return made


def _in_slots(new: Ints, old: Ints) -> Ints:
    out, left = np.full_like(new, -1), new.tolist()
    for slot, expert in enumerate(old):
        if expert in left:
            out[slot] = expert
            left.remove(expert)
    out[out < 0] = left
    return out
