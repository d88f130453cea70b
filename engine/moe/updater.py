"""Moves the weights of experts to a new placement: between ranks, within this one, and the maps behind them. All that
is sent is read, and all that arrives is held aside, before the first slot is written. Who has what is decided in
transfers.py."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from engine.distributed.group import Group
from engine.moe.layer import RoutedExperts
from engine.moe.location import ExpertLocationMetadata
from engine.moe.transfers import Plan, plan
from engine.schema.errors import EngineError

log = logging.getLogger(__name__)
Restore = Callable[[int, int, int], None]  # layer, slot, expert


class ExpertLost(EngineError):
    """Nobody that is there has an expert's weights."""

    code = "expert-lost"


class ExpertLocationUpdater:
    """restore: puts an expert that no rank has into a slot of this rank, from a backup or from disk."""

    def __init__(self, location: ExpertLocationMetadata, restore: Restore | None = None) -> None:
        self.location, self.restore = location, restore

    def update(
        self,
        layers: Mapping[int, RoutedExperts],
        placement: Tensor,
        layer_ids: Sequence[int],
        *,
        group: Group,
        owners: Sequence[int],
        fresh_ranks: Sequence[int] = (),
        active_ranks: Sequence[bool] | None = None,
    ) -> int:
        """How many experts came from other ranks. Every rank of the group calls it with the same placement, [L, P].
        owners: of each rank of the placement, its rank within the group. fresh_ranks: those that have no weights yet.
        active_ranks: as they are from now on.

        Raises ExpertLost, on every rank and before anything is moved, where an expert is nowhere and there is nothing
        to restore it from."""
        started, location = time.perf_counter(), self.location
        active = list(location.active_ranks if active_ranks is None else active_ranks)
        plans = {
            layer: plan(
                location.physical_to_logical_map[layer].tolist(),
                placement[layer].tolist(),
                ep_size=location.ep_size,
                num_nodes=location.num_nodes,
                active_ranks=active,
                fresh_ranks=fresh_ranks,
            )
            for layer in layer_ids
        }
        self._check(plans)
        count = 0
        for layer, each in plans.items():
            count += self._move(layer, layers[layer], each, group, owners)
            location.update(placement, layer_ids=[layer])
            _verify(layers[layer], location)
        if active != location.active_ranks:
            location.update(location.physical_to_logical_map.clone(), layer_ids=[], active_ranks=active)
        log.info(
            "experts moved: layers=%d received=%d restored=%d seconds=%.3f",
            len(plans),
            count,
            sum(len(each.missing) for each in plans.values()),
            time.perf_counter() - started,
        )
        return count

    def _check(self, plans: Mapping[int, Plan]) -> None:
        if self.restore is not None:
            return
        for layer, each in plans.items():
            if each.missing:
                raise ExpertLost(
                    f"no rank that is left has expert {each.missing[0][2]} of layer {layer}",
                    fix="run with enable_elastic_expert_backup, or with more redundant experts",
                )

    def _move(self, number: int, layer: RoutedExperts, plan: Plan, group: Group, owners: Sequence[int]) -> int:
        """One layer: send and receive, then copies of what was here, then what came or is restored, then copies of
        that."""
        ours, rows = self.location.ep_rank, layer.slot_rows()
        arrived = _exchanged(rows, plan, ours, group, owners)
        copies = plan.copies.get(ours, ())
        held = [(each.slot, [part[each.source_slot].clone() for part in rows]) for each in copies if not each.is_new]
        for slot, parts in (*held, *arrived.items()):
            for part, new in zip(rows, parts, strict=True):
                part[slot].copy_(new)
        for rank, slot, expert in plan.missing:
            if rank == ours:
                assert self.restore is not None, "checked before anything was moved"
                self.restore(number, slot, expert)
        for each in copies:
            if each.is_new:
                for part in rows:
                    part[each.slot].copy_(part[each.source_slot])
        return len(arrived)


def _exchanged(
    rows: Sequence[Tensor], plan: Plan, ours: int, group: Group, owners: Sequence[int]
) -> dict[int, list[Tensor]]:
    """What other ranks have sent for slots of this one. Messages between two ranks are in the order of the plan, which
    both of them know."""
    if group.size == 1:
        assert not plan.transfers, "a rank that is alone has everything, or nobody has"
        return {}
    sizes = [part[0].numel() * part.element_size() for part in rows]
    buffers, sent = dict[int, Tensor](), dict[int, Tensor]()
    sends, receives = list[tuple[Tensor, int]](), list[tuple[Tensor, int]]()
    for each in plan.transfers:
        if each.source_rank == ours:
            if each.source_slot not in sent:  # kept until all has been waited for
                sent[each.source_slot] = torch.cat([_bytes(part[each.source_slot]) for part in rows])
            sends.append((sent[each.source_slot], owners[each.rank]))
        if each.rank == ours:
            buffers[each.slot] = rows[0].new_empty(sum(sizes), dtype=torch.uint8)
            receives.append((buffers[each.slot], owners[each.source_rank]))
    group.exchange(sends, receives)
    return {
        slot: [
            piece.clone().view(part.dtype).view_as(part[0])
            for piece, part in zip(torch.split(buffer, sizes), rows, strict=True)
        ]
        for slot, buffer in buffers.items()
    }


def _bytes(row: Tensor) -> Tensor:
    return row.contiguous().view(-1).view(torch.uint8)


def _verify(layer: RoutedExperts, location: ExpertLocationMetadata) -> None:
    """Every slot carries the number of its expert, which moves with the weights: what arrived is what was planned."""
    found, wanted = layer.canary.tolist(), location.local(layer.layer)
    if found != wanted:
        raise ExpertLost(
            f"layer {layer.layer}: slots hold experts {found}, planned are {wanted}",
            fix="report it: ranks did not agree on what to move",
        )
