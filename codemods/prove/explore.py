"""All worlds of a pair: every combination of the decisions that either twin asks for, and for each call on the way the
world in which it raises. Equal prefixes are walked once; where there are too many, those with few decisions away from
the usual path are walked. A fault that no code of the subject would see is not run: both runs end there with it."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from codemods.prove.opaque import CALL, EVENT, Opaque, term
from codemods.prove.run import Run
from codemods.prove.world import Change, Question, World

Preset = dict[Question, Any]
_MOST_STRUCK = 4000  # effects of a run whose calls are made to raise, one by one
_PATH_SHARE = 0.6  # of the time; the rest is for faults
PairRun = Callable[[World], tuple[Run, Run]]


class Cut(Run):
    """What a run would have done, had the last of these calls raised: nothing was there to see it but the caller."""

    def __init__(self, events: list[Opaque]) -> None:
        self.events, self.reads, self.places = events, {}, None


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
    change: Change | None = None


class Budget(NamedTuple):
    """How many worlds without and with a fault, and how long (seconds), before covering everything is given up."""

    paths: int = 20_000
    faults: int = 100_000
    seconds: float = 60.0


class Exploration:
    """The walk. `is_complete` says afterwards whether every world was walked."""

    def __init__(self, run: PairRun, budget: Budget, values: dict[Opaque, Any] | None = None) -> None:
        self._run, self._budget, self._values = run, budget, values or {}
        self.paths = self.faults = self.changes = 0
        self.is_complete = True
        self._number = itertools.count()
        self._pending: list[_Next] = [_Next(0, 0, {}, 0, None)]
        self._strikes: list[_Next] = []
        self._changes: set[tuple[Any, ...]] = set()  # what was set anew by which call, after which decisions
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
            if self._is_spent(pending) or time.monotonic() > end:
                self.is_complete = False
                return
            following = heapq.heappop(pending)
            world = World(following.preset, following.fault)
            world.values, world.change = self._values, following.change
            old, new = self._run(world)
            if following.change is not None:
                self.changes += 1
            elif following.fault is None:
                self.paths += 1
                self.reached = following.flips - 1
            else:
                self.faults += 1
            self._branch(world, following, pending)
            yield Seen(world, old, new)
            if with_faults:
                self._change(world, old, new, following.forced)
                yield from self._strike(world, old, new, following.forced)

    def _is_spent(self, pending: list[_Next]) -> bool:
        if pending is not self._strikes:
            return self.paths >= self._budget.paths
        return max(self.faults, self.changes) >= self._budget.faults

    def _branch(self, world: World, walked: _Next, pending: list[_Next]) -> None:
        """The worlds that differ from this one in one decision of its own, and agree with it before that."""
        trail = world.trail
        taken: Preset = {choice.question: choice.options[choice.taken] for choice in trail[: walked.forced]}
        for position in range(walked.forced, len(trail)):
            choice = trail[position]
            question, options, index = choice.question, choice.options, choice.taken
            for other, option in enumerate(options):
                if other != index:
                    made = {**taken, question: option}
                    number = next(self._number)
                    heapq.heappush(
                        pending, _Next(walked.flips + 1, -number, made, position + 1, walked.fault, walked.change)
                    )
            taken[question] = options[index]

    def _change(self, world: World, old: Run, new: Run, forced: int) -> None:
        """The worlds in which a call of this one sets anew what is read again after it."""
        again = {**(old.anew.again if old.anew else {}), **(new.anew.again if new.anew else {})}
        for call, what in again:
            reach = max(_reach(old, call), _reach(new, call))
            key = (call, what, *((id(choice.question), choice.taken) for choice in world.trail[:reach]))
            if key not in self._changes:
                self._changes.add(key)
                preset = {choice.question: choice.options[choice.taken] for choice in world.trail[:reach]}
                flips = sum(choice.taken > 0 for choice in world.trail[:forced])
                change = Change(call=call, what=what)
                heapq.heappush(self._strikes, _Next(flips, next(self._number), preset, reach, None, change))

    def _strike(self, world: World, old: Run, new: Run, forced: int) -> Iterator[Seen]:
        """The worlds in which a call of this one raises, unless an earlier world with the same beginning had it. Where
        nothing would see the exception pass, what would happen is clear; else the world is kept, to be walked."""
        if max(len(old.events), len(new.events)) > _MOST_STRUCK:
            self.is_complete = False
            return
        ours, theirs = _calls(old), _calls(new)
        flips = sum(choice.taken > 0 for choice in world.trail[:forced])
        is_plain = old.is_plain and new.is_plain
        same = _alike_until(old, new) if is_plain else 0
        for event in {**ours, **theirs}:
            a, b = ours.get(event, -1), theirs.get(event, -1)
            reach = max(old.reaches[a] if a >= 0 else 0, new.reaches[b] if b >= 0 else 0)
            is_clear = is_plain and a not in old.guarded and b not in new.guarded
            if is_clear:
                reach = max(reach, old.reaches[-1] if a < 0 else 0, new.reaches[-1] if b < 0 else 0)
            if reach < forced:
                continue
            if not is_clear:
                preset = {choice.question: choice.options[choice.taken] for choice in world.trail[:reach]}
                heapq.heappush(self._strikes, _Next(flips, next(self._number), preset, reach, event))
                continue
            if self._is_spent(self._strikes):
                self.is_complete = False
                return
            self.faults += 1
            if a != b or a >= same:
                yield Seen(world.after(reach, event), _cut(old, a, event), _cut(new, b, event))


def _reach(run: Run, call: Opaque) -> int:
    """How much of the trail a run had looked at before a call; found by identity, since `==` would ask the world."""
    return next((reach for event, reach in zip(run.events, run.reaches, strict=True) if event is call), 0)


def _alike_until(old: Run, new: Run) -> int:
    """How many effects at the beginning are the same, term by term."""
    pairs = zip(old.events, new.events, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a is not b), min(len(old.events), len(new.events)))


def _cut(run: Run, at: int, event: Opaque) -> Run:
    return run if at < 0 else Cut([*run.events[: at + 1], term(EVENT, "raise", ("fault", event))])


def _calls(run: Run) -> dict[Opaque, int]:
    """What can raise on this path, with its place among the effects."""
    found: dict[Opaque, int] = {}
    for at, event in enumerate(run.events):
        if event._u_kind is CALL:
            found.setdefault(event, at)
        elif event._u_parts[0] in _CAN_RAISE:
            result = event._u_parts[1]
            if type(result) is Opaque:
                found.setdefault(result, at)
    return found


_CAN_RAISE = frozenset(["pure", "with", "async with", "await"])
