"""What the ranks of test_rebalancing.py do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.layers.quantise import quantise
from engine.moe.eplb import EPLBManager, EplbOptions
from engine.moe.location import ExpertLocationMetadata
from engine.moe.recorder import ExpertDistributionRecorder
from engine.moe.updater import ExpertLocationUpdater
from tests.engine import checkpoints
from tests.engine.moe import jobs

RUN = (8, "dynamic", "all_to_all")  # 8 redundant experts beside 16


class Running:
    """A model on this rank, its experts recorded and moved."""

    def __init__(self, rank: int, size: int, folder: str, form: str, **options: Any) -> None:
        groups = jobs.groups_of(rank, tp_size=size, ep_size=size)
        self.experts = jobs.parallel_of(Path(folder), groups, RUN)
        self.model = checkpoints.decoder(Path(folder), group=groups["tp"], experts=self.experts)
        if form == "packed":
            for each in self.model.linears():
                each.pack(is_plain_kept=False)
        elif form != "plain":
            quantise(self.model, form)
        location: ExpertLocationMetadata = self.experts.location
        self.recorder = ExpertDistributionRecorder(location)
        self.experts.recorder = self.recorder
        self.updater = ExpertLocationUpdater(location)
        self.layers = {index: each.routed for index, each in self.model.sparse_layers().items()}
        self.chunks: list[list[int]] = []
        self.manager = EPLBManager(
            EplbOptions(**{"num_iterations": 2, "layers_per_chunk": 1, **options}),
            location=location,
            recorder=self.recorder,
            layer_ids=lambda: list(self.layers),
            group=lambda: self.experts.ep,
            update=self.move,
        )

    def move(self, placement: Tensor, layer_ids: Any) -> None:
        self.chunks.append(list(layer_ids))
        self.updater.update(self.layers, placement, layer_ids, group=self.experts.ep, owners=self.experts.owners)

    def step(self, found: list[list[int]]) -> None:
        """The next token of every prompt."""
        self.experts.step += 1
        with self.recorder.with_forward_pass(self.experts.step):
            made = checkpoints.logits([self.model], found, chunks=[99], attention="sdpa")
        for tokens, logits in zip(found, made, strict=True):
            tokens.append(int(logits[-1].argmax()))
        self.manager.on_forward_pass_end()

    def greedy(self, count: int) -> list[list[int]]:
        found = [list(each) for each in jobs.PROMPTS]
        for _ in range(count):
            self.step(found)
        return found


def tokens_while_experts_move(rank: int, size: int, folder: str) -> Any:
    made: dict[str, Any] = {}
    for form in ("plain", "packed", "int8wo"):
        running = Running(rank, size, folder, form)
        before = running.experts.location.physical_to_logical_map.clone()
        made[form] = running.greedy(9)
        made[f"{form} moved"] = bool((running.experts.location.physical_to_logical_map != before).any())
        made[f"{form} chunks"] = list(running.chunks)
        made[f"{form} rebalances"] = running.manager.num_rebalances
    made["random"] = random_placements(running)
    made["utilization"] = utilizations(rank, size, folder)
    return made


def random_placements(running: Running) -> list[bool]:
    """Any placement at all, one after the other: weights are those of the experts that the maps name."""
    location, found = running.experts.location, []
    generator = torch.Generator().manual_seed(5)  # the same on every rank
    reference = {
        layer: {
            expert: [part[slot].clone() for part in each.slot_rows()]
            for slot, expert in enumerate(location.local(layer))
        }
        for layer, each in running.layers.items()
    }
    everything: list[Any] = [None] * location.ep_size
    torch.distributed.all_gather_object(everything, reference)
    known = {layer: {k: v for each in everything for k, v in each[layer].items()} for layer in running.layers}
    for _ in range(6):
        fill = torch.cat([torch.arange(16), torch.randint(16, (8,), generator=generator)])
        placement = torch.stack([fill[torch.randperm(24, generator=generator)] for _ in range(location.num_layers)])
        running.move(placement, list(running.layers))
        for layer, each in running.layers.items():
            for slot, expert in enumerate(location.local(layer)):
                rows = [part[slot] for part in each.slot_rows()]
                found.append(all(torch.equal(a, b) for a, b in zip(rows, known[layer][expert], strict=True)))
    return found


def utilizations(rank: int, size: int, folder: str) -> Any:
    """One pass, its counts asked for over all ranks; a threshold that nothing is below; modes that record otherwise."""
    running = Running(rank, size, folder, "plain", min_utilization=0.01, num_iterations=1)
    running.greedy(2)
    skipped = running.manager.num_skipped, running.manager.num_rebalances
    prompts = sum(len(each) for each in jobs.PROMPTS)
    made: dict[str, Any] = {"skipped": skipped}
    for mode in ("stat", "per_pass", "per_token"):
        recorder = ExpertDistributionRecorder(running.experts.location, mode=mode)
        running.experts.recorder = recorder
        recorder.start_record()
        with recorder.with_forward_pass(7):
            checkpoints.logits([running.model], jobs.PROMPTS, chunks=[99], attention="sdpa")
        recorder.stop_record()
        with recorder.with_forward_pass(8):  # not recorded
            checkpoints.logits([running.model], jobs.PROMPTS, chunks=[99], attention="sdpa")
        made[mode] = recorder.dump_record(running.experts.ep)
    made["tokens"] = prompts
    return made
