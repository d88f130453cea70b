"""Which expert's weights go from where to where for one layer to change its placement. Every rank works out the whole
plan by itself, from the two placements alone, so that senders and receivers agree without talking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Transfer(NamedTuple):
    """Between ranks of the placement; slots are within a rank."""

    expert: int
    source_rank: int
    source_slot: int
    rank: int
    slot: int


class Copy(NamedTuple):
    """Within a rank. is_new: from a slot that has received it in this same change."""

    expert: int
    source_slot: int
    slot: int
    is_new: bool


class Plan(NamedTuple):
    """missing: (rank, slot, expert) that no rank which is there has: from a backup, or from disk."""

    transfers: tuple[Transfer, ...]
    copies: dict[int, tuple[Copy, ...]]
    missing: tuple[tuple[int, int, int], ...]


def plan(
    before: Sequence[int],
    after: Sequence[int],
    *,
    ep_size: int,
    num_nodes: int = 1,
    active_ranks: Sequence[bool] | None = None,
    fresh_ranks: Sequence[int] = (),
) -> Plan:
    """before, after: the expert of every slot of all ranks. active_ranks: the others neither send nor receive.
    fresh_ranks: have no weights yet, whatever `before` says of them.

    A slot that keeps its expert is left alone; one whose expert is elsewhere on the rank takes a copy; of several new
    slots of one rank for the same expert the first receives. Senders of a node serve their node, and take turns."""
    per_rank, per_node = len(before) // ep_size, ep_size // num_nodes
    active = [True] * ep_size if active_ranks is None else list(active_ranks)
    holders: dict[int, list[tuple[int, int]]] = {}
    for at, expert in enumerate(before):
        rank, slot = divmod(at, per_rank)
        if active[rank] and rank not in fresh_ranks and all(rank != each for each, _ in holders.get(expert, ())):
            holders.setdefault(expert, []).append((rank, slot))
    needed: dict[int, list[tuple[int, int]]] = {}
    copies: dict[int, tuple[Copy, ...]] = {}
    for rank in range(ep_size):
        if not active[rank]:
            continue
        first = rank * per_rank
        old = [None] * per_rank if rank in fresh_ranks else list(before[first : first + per_rank])
        local, wanted = _within(old, after[first : first + per_rank])
        copies[rank] = tuple(local)
        for expert, slot in wanted:
            needed.setdefault(expert, []).append((rank, slot))
    transfers, missing = [], []
    for expert in sorted(needed):
        served: dict[tuple[int, int], int] = {}
        for rank, slot in needed[expert]:
            source = _source(holders.get(expert, []), rank // per_node, per_node, served)
            if source is None:
                missing.append((rank, slot, expert))
            else:
                served[source] = served.get(source, 0) + 1
                transfers.append(Transfer(expert, *source, rank, slot))
    return Plan(tuple(transfers), copies, tuple(missing))


def _within(old: Sequence[int | None], new: Sequence[int]) -> tuple[list[Copy], list[tuple[int, int]]]:
    """Copies inside one rank, and (expert, slot) that it has to receive."""
    copies, wanted = list[Copy](), list[tuple[int, int]]()
    received: dict[int, int] = {}
    for slot, expert in enumerate(new):
        if old[slot] == expert:
            continue
        if expert in old:
            copies.append(Copy(expert, old.index(expert), slot, is_new=False))
        elif expert in received:
            copies.append(Copy(expert, received[expert], slot, is_new=True))
        else:
            received[expert] = slot
            wanted.append((expert, slot))
    return copies, wanted


def _source(
    holders: Sequence[tuple[int, int]], node: int, per_node: int, served: dict[tuple[int, int], int]
) -> tuple[int, int] | None:
    """Of the same node if there is one, and of those the one that serves fewest so far; the first of equals."""
    near = [each for each in holders if each[0] // per_node == node] or list(holders)
    return min(near, key=lambda each: served.get(each, 0)) if near else None
