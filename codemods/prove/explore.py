"""All worlds of a pair: every combination of the decisions that either twin asks for, and for each call on the way the
world in which it raises. Equal prefixes are walked once; where there are too
many, those with few decisions away from the usual path are walked."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from codemods.prove.opaque import CALL, EVENT, OP, Opaque
from codemods.prove.run import Run
from codemods.prove.world import Question, World

Preset = dict[Question, Any]
_PATH_SHARE = 0.6  # of the time; the rest is for faults
PairRun = Callable[[World], tuple[Run, Run]]


class Seen(NamedTuple):
    """One world and what both twins did in it."""

    world: World
    old: Run
    new: Run

    @property
    def is_fault(self) -> bool:
        return self.world.fault is not None


class _Next(NamedTuple):
    """A world to walk. flips: decisions away from the usual path. forced: how many decisions `preset` fixes."""

    flips: int
    number: int
    preset: Preset
    forced: int
    fault: Opaque | None


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
        self._number = itertools.count()
        self._pending: list[_Next] = [_Next(0, 0, {}, 0, None)]
        self._strikes: list[_Next] = []
        self.reached = 0  # every combination of so many decisions away from the usual path has been walked

    def worlds(self, *, with_faults: bool = True) -> Iterator[Seen]:
        """The worlds, those that decide most as usual first; where the budget ends, faults have had their share."""
        start = time.monotonic()
        end = start + self._budget.seconds
        yield from self._walked(self._pending, start + self._budget.seconds * _PATH_SHARE, with_faults=with_faults)
        if with_faults:
            yield from self._walked(self._strikes, end, with_faults=False)

    def _walked(self, pending: list[_Next], end: float, *, with_faults: bool) -> Iterator[Seen]:
        while pending:
            if self._is_spent(pending is self._strikes) or time.monotonic() > end:
                self.is_complete = False
                return
            following = heapq.heappop(pending)
            world = World(following.preset, following.fault)
            world.values = self._values
            seen = Seen(world, *self._run(world))
            if following.fault is None:
                self.paths += 1
                self.reached = following.flips - 1
            else:
                self.faults += 1
            self._branch(seen.world, following, pending)
            if with_faults:
                self._strike(seen, following.forced)
            yield seen

    def _is_spent(self, is_fault: bool) -> bool:
        return self.faults >= self._budget.faults if is_fault else self.paths >= self._budget.paths

    def _branch(self, world: World, walked: _Next, pending: list[_Next]) -> None:
        """The worlds that differ from this one in one decision of its own, and agree with it before that."""
        trail = world.trail
        taken: Preset = {choice.question: choice.options[choice.index] for choice in trail[: walked.forced]}
        for position in range(walked.forced, len(trail)):
            question, options, index = trail[position]
            for other, option in enumerate(options):
                if other != index:
                    made = {**taken, question: option}
                    number = next(self._number)
                    heapq.heappush(pending, _Next(walked.flips + 1, -number, made, position + 1, walked.fault))
            taken[question] = options[index]

    def _strike(self, seen: Seen, forced: int) -> None:
        """The worlds in which a call of this one raises, unless an earlier world with the same beginning had it."""
        trail = seen.world.trail
        flips = sum(choice.index > 0 for choice in trail[:forced])
        for event, moment in _calls(seen):
            if moment >= forced:
                preset = {choice.question: choice.options[choice.index] for choice in trail[:moment]}
                heapq.heappush(self._strikes, _Next(flips, next(self._number), preset, moment, event))


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
