"""How much the experts have to do: counts of every forward pass, kept in one of three forms, summed over the ranks when
they are asked for. What follows from them is decided in eplb.py. L layers, E logical experts, P slots, N ranks."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.distributed.group import Group
from engine.moe.location import ExpertLocationMetadata
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
MODES = ("stat", "per_pass", "per_token")


class ExpertDistributionRecorder:
    """stat: counts of each pass, [L, E], and the load of every rank; what rebalancing needs. per_pass: the slots'
    counts of each pass, [L, P], by its number. per_token: which slots each token went to. buffer_size: passes that are
    kept; -1: all. Counts of this rank's own tokens: nobody counts those of others."""

    def __init__(self, location: ExpertLocationMetadata, *, mode: str = "stat", buffer_size: int = 1000) -> None:
        if mode not in MODES:
            raise BadConfig(f"expert_distribution_recorder_mode={mode!r}", fix=f"use one of {', '.join(MODES)}")
        if buffer_size < 1 and buffer_size != -1:
            raise BadConfig(f"expert_distribution_recorder_buffer_size={buffer_size}", fix="give at least 1, or -1")
        self.location, self.mode = location, mode
        self.is_recording = False
        self._passes: deque[dict[str, Any]] = deque(maxlen=None if buffer_size == -1 else buffer_size)
        self._counts: Tensor | None = None
        self._chosen: dict[int, Tensor] = {}

    @property
    def num_passes(self) -> int:
        return len(self._passes)

    def start_record(self) -> None:
        """Raises BadConfig when it records already."""
        if self.is_recording:
            raise BadConfig("experts are being recorded already", fix="stop or dump the recording first")
        self.reset()
        self.is_recording = True

    def stop_record(self) -> None:
        """Raises BadConfig when nothing is recorded."""
        if not self.is_recording:
            raise BadConfig("experts are not being recorded", fix="start a recording first")
        self.is_recording = False

    def reset(self) -> None:
        self._passes.clear()

    @contextmanager
    def with_forward_pass(self, forward_pass_id: int, positions_T: Tensor | None = None) -> Iterator[None]:
        """One pass of the model. positions: of its tokens, for per_token. A pass that fails leaves nothing."""
        if not self.is_recording:
            yield
            return
        shape = self.location.physical_to_logical_map.shape
        self._counts, self._chosen = torch.zeros(shape, dtype=torch.long), {}
        try:
            yield
            self._passes.append(self._made(forward_pass_id, positions_T, self._counts))
        finally:
            self._counts, self._chosen = None, {}

    def on_select_experts(self, layer: int, physical_TK: Tensor) -> None:
        if self._counts is None:
            return
        flat = physical_TK.flatten().cpu()
        self._counts[layer] += torch.bincount(flat, minlength=self._counts.shape[1])
        if self.mode == "per_token":
            self._chosen[layer] = physical_TK.cpu().clone()

    def _made(self, forward_pass_id: int, positions_T: Tensor | None, counts_LP: Tensor) -> dict[str, Any]:
        made: dict[str, Any] = {"forward_pass_id": forward_pass_id}
        if self.mode == "stat":  # by logical expert now: a slot may have another one in the next pass
            made["logical_count"] = logical_counts(counts_LP, self.location)
            made["rank_load"] = counts_LP.view(len(counts_LP), self.location.ep_size, -1).sum(-1)
        elif self.mode == "per_pass":
            made["physical_count"] = counts_LP.clone()
            made["logical_count"] = logical_counts(counts_LP, self.location)
        else:
            made["topk_ids"] = self._chosen
            made["positions"] = None if positions_T is None else positions_T.tolist()
        return made

    def dump_record(self, group: Group, path: Path | None = None) -> dict[str, Any]:
        """What was recorded, over all ranks of the group, which have to ask together; then begins anew. path: a folder
        that gets it as a file, too. stat: `logical_count` [L, E] in all, `utilization` of every pass (the mean of the
        ranks' loads over the largest, its mean over the layers). The others: `records`."""
        records = list(self._passes)
        self.reset()
        if self.mode == "stat":
            made = self._summed(records, group)
        elif self.mode == "per_pass":
            for each in records:
                group.all_reduce(each["physical_count"])
                group.all_reduce(each["logical_count"])
            made = {"records": records}
        else:
            made = {"records": records, "rank": group.rank}  # each rank has tokens of its own
        made.update(
            mode=self.mode,
            num_passes=len(records),
            physical_to_logical_map=self.location.physical_to_logical_map.clone(),
        )
        if path is not None and (group.is_first or self.mode == "per_token"):
            path.mkdir(parents=True, exist_ok=True)
            target = path / f"expert_distribution-{time.time():.0f}-{group.rank}.pt"
            torch.save(made, target)
            log.info("experts recorded: passes=%d path=%s", len(records), target)
        return made

    def total(self, group: Group) -> Tensor:
        """The counts so far, [L, E], over all ranks of the group, however many passes each has; nothing is forgotten.
        For when ranks have failed in different passes."""
        layers, experts = self.location.num_layers, self.location.num_logical_experts
        none = torch.zeros(layers, experts, dtype=torch.long)
        return group.all_reduce(sum((each["logical_count"] for each in self._passes if "logical_count" in each), none))

    def _summed(self, records: list[dict[str, Any]], group: Group) -> dict[str, Any]:
        layers, experts = self.location.num_layers, self.location.num_logical_experts
        total = sum((each["logical_count"] for each in records), torch.zeros(layers, experts, dtype=torch.long))
        group.all_reduce(total)
        if not records:
            return {"logical_count": total, "utilization": []}
        loads = group.all_reduce(torch.stack([each["rank_load"] for each in records]))
        return {"logical_count": total, "utilization": [utilization(each, self.location) for each in loads]}


def logical_counts(counts_LP: Tensor, location: ExpertLocationMetadata) -> Tensor:
    """[L, E], from counts of slots."""
    out = torch.zeros(location.num_layers, location.num_logical_experts, dtype=counts_LP.dtype)
    return out.scatter_add_(1, location.physical_to_logical_map.cpu(), counts_LP)


def utilization(load_LN: Tensor, location: ExpertLocationMetadata) -> float:
    """The mean load of the ranks that are there over the largest, its mean over the layers that had anything to do."""
    there = load_LN[:, [rank for rank, is_there in enumerate(location.active_ranks) if is_there]].double()
    busy = there[there.amax(-1) > 0]
    return float((busy.mean(-1) / busy.amax(-1)).mean()) if len(busy) else 1.0
