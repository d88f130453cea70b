"""When experts are placed anew, and how much of that at a time: a generator that is stepped after every forward pass,
so that no pass waits for more than one chunk of layers. Which placement, and how weights get there, is decided
elsewhere."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Sequence

from msgspec import Struct
from torch import Tensor

from engine.distributed.group import Group
from engine.moe.eplb_algorithm import rebalance_experts
from engine.moe.location import ExpertLocationMetadata
from engine.moe.recorder import ExpertDistributionRecorder
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
Update = Callable[[Tensor, Sequence[int]], None]


class EplbOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """num_iterations: forward passes between two rebalances. layers_per_chunk: moved after one pass; None: all.
    min_utilization: nothing is done while the ranks are busier than this on average; 1: never passed over.
    num_groups: of experts."""

    num_iterations: int = 1000
    layers_per_chunk: int | None = None
    min_utilization: float = 1.0
    algorithm: str = "auto"
    num_groups: int = 1


class EPLBManager:
    """layer_ids: the sparse layers of this rank's stage. update: moves the weights of some layers to a placement, [L,
    P], and tells the maps. group: asked for when it is needed, since a rank may have gone meanwhile. All are called in
    the same pass on every rank of the group."""

    def __init__(
        self,
        options: EplbOptions,
        *,
        location: ExpertLocationMetadata,
        recorder: ExpertDistributionRecorder,
        layer_ids: Callable[[], Sequence[int]],
        group: Callable[[], Group],
        update: Update,
    ) -> None:
        check(options, recorder)
        self.options, self.location, self.recorder = options, location, recorder
        self._layer_ids, self._group, self._update = layer_ids, group, update
        self.num_rebalances = self.num_skipped = 0
        if not recorder.is_recording:
            recorder.start_record()
        self._work = self._run()

    def on_forward_pass_end(self) -> None:
        next(self._work)

    def restart(self) -> None:
        """Drop what is half done: a placement that was begun with other ranks is none for those that are left."""
        self._work.close()
        self._work = self._run()
        self.recorder.reset()

    def _run(self) -> Generator[None, None, None]:
        while True:
            for _ in range(self.options.num_iterations - 1):
                yield
            yield from self.rebalance()
            yield

    def rebalance(self) -> Generator[None, None, None]:
        """One whole rebalance: a pass may come between any two chunks."""
        started = time.perf_counter()
        found = self.recorder.dump_record(self._group())
        busy = found["utilization"]
        mean = sum(busy) / len(busy) if busy else 1.0
        if self.options.min_utilization < 1 and mean > self.options.min_utilization:
            self.num_skipped += 1
            log.info("eplb: passed over: utilization=%.3f limit=%.3f", mean, self.options.min_utilization)
            return
        placement = self.placement(found["logical_count"])
        ids = [each for each in self._layer_ids() if self._moves(placement, each)]
        step = self.options.layers_per_chunk or max(len(ids), 1)
        for at in range(0, len(ids), step):
            if at:
                yield
            self._update(placement, ids[at : at + step])
        self.num_rebalances += 1
        log.info(
            "eplb: rebalanced: utilization_before=%.3f layers=%d seconds=%.2f",
            mean,
            len(ids),
            time.perf_counter() - started,
        )

    def placement(self, logical_count: Tensor) -> Tensor:
        """[L, P], for counts over all ranks."""
        location = self.location
        return rebalance_experts(
            logical_count,
            num_physical=location.num_physical_experts,
            ep_size=location.ep_size,
            num_groups=self.options.num_groups,
            num_nodes=location.num_nodes,
            algorithm=self.options.algorithm,
            active_ranks=location.active_ranks,
            current=location.physical_to_logical_map,
        )

    def _moves(self, placement: Tensor, layer: int) -> bool:
        return bool((placement[layer] != self.location.physical_to_logical_map[layer]).any())


def check(options: EplbOptions, recorder: ExpertDistributionRecorder) -> None:
    if recorder.mode != "stat":
        raise BadConfig(f"rebalancing with expert_distribution_recorder_mode={recorder.mode}", fix="use stat")
    for name in ("num_iterations", "layers_per_chunk"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise BadConfig(f"eplb {name}={value}", fix="give at least 1")
    if not 0 < options.min_utilization <= 1:
        raise BadConfig(
            f"eplb_min_rebalancing_utilization_threshold={options.min_utilization}", fix="give more than 0, at most 1"
        )
