"""All worlds of a pair: every combination of the decisions that either twin asks for, and for each call on the way the
world in which it raises. A depth-first walk; equal prefixes are walked once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from codemods.prove.opaque import CALL, EVENT, OP, Opaque
from codemods.prove.run import Run
from codemods.prove.world import Question, World

Preset = dict[Question, Any]
PairRun = Callable[[World], tuple[Run, Run]]


class Seen(NamedTuple):
    """One world and what both twins did in it."""

    world: World
    old: Run
    new: Run

    @property
    def is_fault(self) -> bool:
        return self.world.fault is not None


class Budget(NamedTuple):
    """How many worlds without and with a fault, and how long (seconds), before covering everything is given up."""

    paths: int = 20_000
    faults: int = 100_000
    seconds: float = 60.0


class Exploration:
    """The walk. `is_complete` says afterwards whether every world was walked."""

    def __init__(self, run: PairRun, budget: Budget, values: dict[Opaque, Any] | None = None) -> None:
        self._run, self._budget, self._values = run, budget, values or {}
        self.paths = self.faults = 0
        self.is_complete = True
        self._pending: list[tuple[Preset, int]] = [({}, 0)]
        self._strikes: list[tuple[Preset, int, Opaque]] = []

    def worlds(self, *, with_faults: bool = True) -> Iterator[Seen]:
        end = time.monotonic() + self._budget.seconds
        while self._pending:
            if self.paths >= self._budget.paths or time.monotonic() > end:
                self.is_complete = False
                break
            preset, forced = self._pending.pop()
            seen = self._walk(preset, None)
            self.paths += 1
            self._branch(seen.world, forced, self._pending)
            if with_faults:
                self._strike(seen, forced)
            yield seen
        while self._strikes and with_faults:
            if self.faults >= self._budget.faults or time.monotonic() > end:
                self.is_complete = False
                break
            preset, forced, call = self._strikes.pop()
            yield from self._faulty(preset, forced, call, end)

    def _walk(self, preset: Preset, fault: Opaque | None) -> Seen:
        world = World(preset, fault)
        world.values = self._values
        old, new = self._run(world)
        return Seen(world, old, new)

    def _faulty(self, preset: Preset, forced: int, call: Opaque, end: float) -> Iterator[Seen]:
        pending = [(preset, forced)]
        while pending:
            if self.faults >= self._budget.faults or time.monotonic() > end:
                self.is_complete = False
                return
            preset, forced = pending.pop()
            seen = self._walk(preset, call)
            self.faults += 1
            self._branch(seen.world, forced, pending)
            yield seen

    @staticmethod
    def _branch(world: World, forced: int, pending: list[tuple[Preset, int]]) -> None:
        """The worlds that differ from this one in one decision of its own, and agree with it before that."""
        trail = world.trail
        taken: Preset = {choice.question: choice.options[choice.index] for choice in trail[:forced]}
        for position in range(forced, len(trail)):
            question, options, index = trail[position]
            for other, option in enumerate(options):
                if other != index:
                    pending.append(({**taken, question: option}, position + 1))
            taken[question] = options[index]

    def _strike(self, seen: Seen, forced: int) -> None:
        """The worlds in which a call of this one raises, unless an earlier world with the same beginning had it."""
        trail = seen.world.trail
        for event, moment in _calls(seen):
            if moment < forced:
                continue
            preset = {choice.question: choice.options[choice.index] for choice in trail[:moment]}
            self._strikes.append((preset, moment, event))


def _calls(seen: Seen) -> list[tuple[Opaque, int]]:
    """What can raise on this path, each once, with the number of decisions before it."""
    found: dict[Opaque, int] = {}
    for run in (seen.old, seen.new):
        for event, moment in zip(run.events, run.moments, strict=True):
            if event._u_kind is CALL:
                found.setdefault(event, moment)
            elif event._u_kind is EVENT and event._u_parts[0] == "pure":
                found.setdefault(event._u_parts[1], moment)
            elif event._u_kind is OP:
                found.setdefault(event, moment)
    return list(found.items())
