"""Which adapters are there, which are in use, and which slots of the layers hold them. Every rank is asked the same
things in the same order, so that all hold the same."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.config.model_config import ModelConfig
from engine.distributed.group import Group
from engine.layers.target import Target
from engine.lora.adapter import Adapter, BadAdapter, Shapes, check, read
from engine.lora.layer import LoraLayer, Segment, StepAdapters
from engine.schema.errors import BadConfig, BadRequest

log = logging.getLogger(__name__)


class Adaptable(Protocol):
    """What is asked of a model."""

    config: ModelConfig
    dtype: torch.dtype

    def adapter_targets(self) -> dict[str, Target]: ...


class LoraManager:
    """max_loaded: adapters in memory, max_in_batch: in the slots of the layers, so in one step. target_modules: such as
    q_proj, or empty for all that the model has. base_model: its name, for a warning where an adapter names another.
    Over max_loaded the one that was used longest ago goes, unless a request holds it."""

    def __init__(
        self,
        model: Adaptable,
        *,
        max_rank: int,
        max_loaded: int,
        max_in_batch: int,
        target_modules: Collection[str] = (),
        group: Group | None = None,
        base_model: str = "",
    ) -> None:
        for key, value in (("max_rank", max_rank), ("max_in_batch", max_in_batch)):
            if value < 1:
                raise BadConfig(f"{key}={value}", fix="give at least 1")
        if max_loaded < max_in_batch:
            raise BadConfig(
                f"max_loaded={max_loaded} and max_in_batch={max_in_batch}", fix="load as many as a batch has"
            )
        self.max_loaded, self.max_in_batch, self.group, self._base_model = max_loaded, max_in_batch, group, base_model
        targets = _wanted(model.adapter_targets(), target_modules)
        sizes = {name.split(".", 3)[3]: (each.inputs, each.outputs) for name, each in targets.items()}
        self.shapes = Shapes(model.config.num_layers, sizes, max_rank)
        self._step = StepAdapters()
        self.layers = _attach(targets, num_slots=max_in_batch, max_rank=max_rank, dtype=model.dtype, step=self._step)
        self._loaded: OrderedDict[str, Adapter] = OrderedDict()  # in the order of use, the latest last
        self._holds: dict[str, int] = {}
        self._leaving: set[str] = set()
        self._slots: OrderedDict[str, int] = OrderedDict()
        self._free = list(range(max_in_batch - 1, -1, -1))

    @property
    def names(self) -> tuple[str, ...]:
        """Those that a request may ask for, in alphabetical order."""
        return tuple(sorted(each for each in self._loaded if each not in self._leaving))

    @property
    def num_bytes(self) -> int:
        """Of the slots, on this rank."""
        return sum(each.num_bytes for each in self.layers)

    def load(self, name: str, path: Path | str) -> None:
        """From a PEFT folder. Raises BadAdapter; then nothing has changed."""
        self._check_name(name)
        self._keep(read(name, Path(path), self.shapes))

    def load_tensors(self, name: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """As `load`, from what such a folder would hold."""
        self._check_name(name)
        self._keep(check(name, dict(config), tensors, self.shapes))

    def unload(self, name: str) -> bool:
        """No request may ask for it any more; whether it is gone already, or goes when the last one releases it."""
        self._require(name)
        if self._holds.get(name):
            self._leaving.add(name)
            return False
        self._drop(name)
        return True

    def hold(self, name: str) -> None:
        """Once a request that will use it; it stays until as many releases. Raises BadRequest where it isn't there."""
        self._require(name)
        self._loaded.move_to_end(name)
        self._holds[name] = self._holds.get(name, 0) + 1

    def release(self, name: str) -> None:
        left = self._holds.get(name, 0) - 1
        if left < 0:
            raise ValueError(f"nobody holds the adapter {name!r}")
        if left:
            self._holds[name] = left
            return
        del self._holds[name]
        if name in self._leaving:
            self._drop(name)

    def begin_step(self, adapter_of_row: Sequence[str | None]) -> None:
        """Say which adapter each row of the next step has, before it is computed. Raises BadRequest for an adapter that
        isn't there and BadConfig for more than max_in_batch of them."""
        rows_of: dict[str, list[int]] = {}
        for row, name in enumerate(adapter_of_row):
            if name is not None:
                rows_of.setdefault(name, []).append(row)
        if len(rows_of) > self.max_in_batch:
            raise BadConfig(
                f"{len(rows_of)} adapters in one step", fix=f"raise max_in_batch, which is {self.max_in_batch}"
            )
        for name in rows_of:
            if name not in self._loaded:
                raise _unknown(name, self.names)
        segments = []
        for name in sorted(rows_of, key=lambda each: each not in self._slots):  # first those that need no slot
            rows, slot = rows_of[name], self._slot(name)
            is_all = len(rows) == len(adapter_of_row)
            index = None if is_all else torch.tensor(rows, device=self.layers[0].a.device)
            segments.append(Segment(slot, index))
        self._step.segments = tuple(segments)

    def _check_name(self, name: str) -> None:
        if name in self._loaded:
            is_leaving = name in self._leaving
            fix = "wait until its requests have ended" if is_leaving else "unload it first, or choose another name"
            raise BadAdapter(
                f"{name}: an adapter of that name is {'still in use' if is_leaving else 'loaded'}", fix=fix
            )
        if not name:
            raise BadAdapter("an adapter without a name", fix="give it one")

    def _keep(self, adapter: Adapter) -> None:
        if len(self._loaded) >= self.max_loaded:
            unused = next((each for each in self._loaded if not self._holds.get(each)), None)
            if unused is None:
                raise BadAdapter(
                    f"{adapter.name}: all of {self.max_loaded} adapters are in use",
                    fix="wait until requests have ended, or raise max_loaded",
                )
            log.info("adapter evicted: name=%s", unused)
            self._drop(unused)
        base, ours = (each.rstrip("/").rpartition("/")[2] for each in (adapter.base_model, self._base_model))
        if base and ours and base.lower() != ours.lower():
            log.warning("adapter of another base: name=%s its_base=%s model=%s", adapter.name, base, ours)
        self._loaded[adapter.name] = adapter
        log.info("adapter loaded: name=%s rank=%d modules=%d", adapter.name, adapter.rank, len(adapter.pairs))

    def _drop(self, name: str) -> None:
        del self._loaded[name]
        self._leaving.discard(name)
        slot = self._slots.pop(name, None)
        if slot is not None:
            self._free.append(slot)

    def _slot(self, name: str) -> int:
        """Where the adapter is, put there if it was not; the slot that was used longest ago is given up for it."""
        self._loaded.move_to_end(name)
        slot = self._slots.get(name)
        if slot is None:
            slot = self._free.pop() if self._free else self._slots.popitem(last=False)[1]
            for layer in self.layers:
                layer.fill(slot, self._loaded[name].pairs)
            self._slots[name] = slot
        self._slots.move_to_end(name)
        return slot

    def _require(self, name: str) -> None:
        if name not in self._loaded or name in self._leaving:
            raise _unknown(name, self.names)


def _unknown(name: str, names: Sequence[str]) -> BadRequest:
    return BadRequest("adapter", f"{name!r} is not loaded", fix=f"use one of: {', '.join(names) or '(none)'}")


def _wanted(targets: dict[str, Target], modules: Collection[str]) -> dict[str, Target]:
    """Those whose last name is among `modules`. Raises BadConfig for a module that the model has not."""
    known = {name.rpartition(".")[2] for name in targets}
    if unknown := sorted(set(modules) - known):
        raise BadConfig(f"target_modules names {', '.join(unknown)}", fix=f"use some of {', '.join(sorted(known))}")
    return {name: each for name, each in targets.items() if not modules or name.rpartition(".")[2] in modules}


def _attach(
    targets: dict[str, Target], *, num_slots: int, max_rank: int, dtype: torch.dtype, step: StepAdapters
) -> list[LoraLayer]:
    """A layer of slots on every Linear that has a target."""
    of_linear: dict[int, list[tuple[str, Target]]] = {}
    for name, target in targets.items():
        of_linear.setdefault(id(target.linear), []).append((name, target))
    made = []
    for parts in of_linear.values():
        layer = LoraLayer(parts, num_slots=num_slots, max_rank=max_rank, dtype=dtype, step=step)
        parts[0][1].linear.adapters = layer
        made.append(layer)
    return made
