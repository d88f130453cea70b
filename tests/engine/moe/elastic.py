"""What the ranks of test_elastic.py do: each has requests of its own and computes them for ever, with experts on all
ranks, whatever happens to the others. The parts are put together here as the runner does it."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.distributed.elastic_group import ElasticGroup
from engine.distributed.group import Group, single
from engine.distributed.membership import Membership, connect_store
from engine.models.checkpoint import Checkpoint
from engine.models.expert_weights import experts_of, put
from engine.moe.location import ExpertLocationMetadata, trivial_map
from engine.moe.parallel import ExpertParallel
from engine.moe.recorder import ExpertDistributionRecorder
from engine.moe.survivors import active_ranks, owners_of, placement_for, synchronise, true_placement
from engine.moe.updater import ExpertLocationUpdater
from engine.schema.errors import Excluded, PeerLost
from tests.engine import checkpoints
from tests.engine.moe.ranks import end_with_parent

TIMEOUT_S = 4.0


class Rank:
    def __init__(self, rank: int, size: int, port: int, folder: Path, redundant: int) -> None:
        self.size = size
        self.membership = Membership(
            lambda: connect_store("127.0.0.1", port), rank=rank, size=size, silence=3.0, patience=4 * TIMEOUT_S
        )
        self.checkpoint = Checkpoint(folder)
        moe = self.checkpoint.config.moe
        assert moe is not None
        self.location = ExpertLocationMetadata(
            trivial_map(len(moe.is_sparse), moe.num_experts, redundant),
            num_logical_experts=moe.num_experts,
            ep_size=size,
            ep_rank=rank,
        )
        self.recorder = ExpertDistributionRecorder(self.location, buffer_size=20)
        self.recorder.start_record()
        self.num_restored = 0

    def load(self, group: Group) -> None:
        self.experts = ExpertParallel(
            self.location, ep=group, same_tokens=single(), backend="all_to_all", algorithm="dynamic"
        )
        self.experts.recorder = self.recorder
        self.model = checkpoints.decoder(self.checkpoint.path, experts=self.experts)
        for each in self.model.linears():
            each.pack(is_plain_kept=False)
        self.layers = {index: each.routed for index, each in self.model.sparse_layers().items()}
        self.updater = ExpertLocationUpdater(self.location, self.restore)

    def restore(self, layer: int, slot: int, expert: int) -> None:
        found = experts_of(self.checkpoint.tensors(), self.checkpoint.config.family, {(layer, expert)})
        put(self.model.sparse_layers()[layer], slot, expert, found[layer, expert])
        self.num_restored += 1

    def begin(self, is_joiner: bool) -> None:
        if is_joiner:
            self.load(Group(range(self.size), self.membership.rank))  # connected when it is let in
            self.membership.join(timeout=60)
            self.settle(is_new=True)
        else:
            together = ElasticGroup(self.membership, timeout=60)  # processes need a while to start
            self.load(together)
            together.barrier(timedelta(seconds=60))
            together.close()
            self.recover()

    def recover(self) -> None:
        while True:
            self.membership.agree()
            try:
                return self.settle(is_new=False)
            except PeerLost:
                continue

    def settle(self, *, is_new: bool) -> None:
        """The members of the current generation: connected, with the same maps, every expert somewhere."""
        members, location = self.membership.members, self.location
        group, owners = ElasticGroup(self.membership, timeout=TIMEOUT_S), owners_of(members, self.size)
        self.experts.regroup(group, owners, single())
        was_there = torch.zeros(len(members))
        was_there[group.rank] = not is_new
        source = int(group.all_reduce(was_there).argmax())
        self.experts.step = synchronise(location, group, members, source=source, step=self.experts.step)
        location.update(true_placement(self.layers, location, group, members))
        placement = placement_for(location, self.recorder.total(group), layer_ids=list(self.layers))
        self.updater.update(self.layers, placement, list(self.layers), group=group, owners=owners)
        self.active = active_ranks(members, self.size)

    def step(self, tokens: list[int]) -> int | None:
        """The next token; None when all are told to stop."""
        time.sleep(0.02)  # requests of this machine are not all there is to do on it
        while True:
            try:
                return self._step(tokens)
            except PeerLost:  # noqa: PERF203 - the step is what is tried again
                self.recover()

    def _step(self, tokens: list[int]) -> int | None:
        seen = torch.zeros(self.size + 1)
        seen[self.membership.joiners()] = 1
        seen[-1] = self.membership.store.check(["stop"])
        self.experts.ep.all_reduce(seen)
        if seen[-1]:
            return None
        joiners = seen[:-1].nonzero().flatten().tolist()
        if joiners:
            self.membership.admit(joiners)
            self.settle(is_new=False)
        self.experts.step += 1
        with self.recorder.with_forward_pass(self.experts.step):
            made: Tensor = checkpoints.logits([self.model], [tokens], chunks=[99], attention="sdpa")[0]
        return int(made[-1].argmax())


def main(rank: int, size: int, port: int, folder: str, redundant: int, is_joiner: bool, known: Any) -> None:
    end_with_parent()
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    made = Rank(rank, size, port, Path(folder), redundant)
    store = made.membership.store
    with torch.inference_mode():
        try:
            made.begin(is_joiner)
            serve(made, rank, store, known)
        except Excluded:
            store.set(f"excluded/{rank}", "1")
            os._exit(3)


def serve(made: Rank, rank: int, store: Any, known: Any) -> None:
    number = 0
    while True:
        prompt, expected = known[(rank + number) % len(known)]
        tokens = list(prompt)
        for _ in expected:
            token = made.step(tokens)
            if token is None:
                store.set(f"end/{rank}", f"{made.num_restored} {made.membership.generation}")
                return
            tokens.append(token)
        if tokens[len(prompt) :] != expected:
            store.add("wrong", 1)
        number += 1
        store.set(f"done/{rank}", str(number))
        store.set(f"members/{rank}", json.dumps(made.membership.members))


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    main(**given)
    os._exit(0)
