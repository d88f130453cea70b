"""The balancer that DeepSeek published, written down from its description, as what ours is held against. Plain
loops."""

from __future__ import annotations

import numpy as np

from engine.moe.eplb_algorithm import Floats, Ints


def packed(weights: list[float], num_packs: int) -> list[list[int]]:
    """The heaviest item first, each to the lightest pack that has room; as many items in each."""
    room = len(weights) // num_packs
    packs: list[list[int]] = [[] for _ in range(num_packs)]
    sums = [0.0] * num_packs
    for item in sorted(range(len(weights)), key=lambda each: -weights[each]):
        open_packs = [pack for pack in range(num_packs) if len(packs[pack]) < room]
        chosen = min(open_packs, key=lambda pack: sums[pack])
        packs[chosen].append(item)
        sums[chosen] += weights[item]
    return packs


def replicated(weights: list[float], num_copies: int) -> tuple[list[int], list[int]]:
    """The expert of every copy, and how many copies each has: again and again one more of the one whose copies weigh
    most."""
    owner, copies = list(range(len(weights))), [1] * len(weights)
    for _ in range(num_copies - len(weights)):
        heaviest = max(range(len(weights)), key=lambda each: weights[each] / copies[each])
        owner.append(heaviest)
        copies[heaviest] += 1
    return owner, copies


def placed(weights: list[float], num_copies: int, num_ranks: int) -> list[int]:
    owner, copies = replicated(weights, num_copies)
    packs = packed([weights[each] / copies[each] for each in owner], num_ranks)
    return [owner[item] for pack in packs for item in pack]


def nested(weights: list[float], num_copies: int, num_groups: int, num_nodes: int, num_ranks: int) -> list[int]:
    """Groups of experts to nodes, then each node by itself."""
    size = len(weights) // num_groups
    groups = [sum(weights[at * size : (at + 1) * size]) for at in range(num_groups)]
    made: list[int] = []
    for node in packed(groups, num_nodes):
        experts = [group * size + at for group in node for at in range(size)]
        inside = placed([weights[each] for each in experts], num_copies // num_nodes, num_ranks // num_nodes)
        made.extend(experts[each] for each in inside)
    return made


def rebalanced(counts: Floats, num_copies: int, num_groups: int, num_nodes: int, num_ranks: int) -> Ints:
    """[L, P]: nested where groups can be shared out over the nodes, else as if there were one."""
    if num_groups % num_nodes or num_groups == 1:
        return np.array([placed(row, num_copies, num_ranks) for row in counts.tolist()])
    return np.array([nested(row, num_copies, num_groups, num_nodes, num_ranks) for row in counts.tolist()])
