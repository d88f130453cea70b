"""Differences as they are reported: run once more from their world to be sure of them and to see where they are, then
held against what a spec declares."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from codemods.prove.compare import Difference
from codemods.prove.domains_show import repr_value
from codemods.prove.explore import Seen
from codemods.prove.pairing import Found, PairOfSubjects, differing, outside_of_runs
from codemods.prove.placing import Placing
from codemods.prove.run import Run
from codemods.prove.wording import event, question, word
from codemods.prove.world import World
from codemods.schema.prove import DeclaredDelta, Delta, Effects, gravity

_MOST_EFFECTS = 200
_MOST_DELTAS = 40


class Again(NamedTuple):
    """A world that was run once more, with the place of every effect."""

    seen: Seen
    difference: Difference


class Confirmed(NamedTuple):
    """A difference that a second run has shown too, and how it was found."""

    delta: Delta
    found: Found


class Shown(NamedTuple):
    """Each place once, the gravest first. gone: that a difference did not come back, in words; "" where all did."""

    confirmed: list[Confirmed]
    gone: str

    @property
    def deltas(self) -> list[Delta]:
        return [each.delta for each in self.confirmed]


def again(found: Found, pair: PairOfSubjects) -> Again | None:
    """The same world, the same difference; None where it does not come back."""
    before = found.seen.world
    preset = {choice.question: choice.options[choice.taken] for choice in before.trail}
    world = World(preset, before.fault)
    world.values, world.change = before.values, before.change
    old, new = pair.run(world, trace=True)
    seen = Seen(world, old, new)
    with outside_of_runs():
        for each in differing(pair, seen):
            if (each.code, each.message) == (found.difference.code, found.difference.message):
                return Again(seen, each)
    return None


def delta_of(found: Found, pair: PairOfSubjects) -> Delta | None:
    """A difference with its place and its world; None where a second run does not show it."""
    seen_again = again(found, pair)
    if seen_again is None:
        return None
    seen, difference = seen_again
    before, after = Placing(pair.twins).places(difference, seen.old, seen.new)
    old_path, old_line = before if before[0] else (pair.old.path, pair.old.node.lineno)
    path, line = after if after[0] else (pair.new.path, pair.new.node.lineno)
    return Delta(
        code=difference.code,
        path=path,
        line=line,
        message=difference.message,
        old_path=old_path,
        old_line=old_line,
        world=world_words(seen.world),
        is_fault=seen.is_fault,
    )


def distinct(found: Iterable[Found]) -> list[Found]:
    """Each difference once, in the order of the smallest world; where no call raises comes before where one does."""
    known: dict[tuple[str, str], Found] = {}
    for each in sorted(found, key=lambda one: (len(one.seen.world.trail), one.seen.is_fault)):
        known.setdefault((each.difference.code, each.difference.message), each)
    return list(known.values())


def confirmed(found: Iterable[Found], pair_of: Callable[[Found], PairOfSubjects]) -> Shown:
    """Run once more to be sure. Only so many are looked at."""
    made: dict[tuple[str, str, int, str, int], Confirmed] = {}
    gone = ""
    for each in islice(found, _MOST_DELTAS * 5):
        delta = delta_of(each, pair_of(each))
        if delta is None:
            gone = gone or f"a difference was seen once and did not come back: {each.difference.message}"
        else:
            key = (delta.code, delta.path, delta.line, delta.old_path, delta.old_line)
            made.setdefault(key, Confirmed(delta, each))
        if len(made) >= _MOST_DELTAS:
            break
    return Shown(sorted(made.values(), key=lambda each: gravity(each.delta)), gone)


def world_words(world: World) -> tuple[str, ...]:
    """What a world decided, and which call raises, one sentence each."""
    values = [f"{word(name)} = {repr_value(value)}" for name, value in world.values.items()]
    found = [question(choice.question, choice.options[choice.taken]) for choice in world.trail]
    fault = [f"{word(world.fault)} raises"] if world.fault is not None else []
    change = world.change
    anew = [f"{word(change.call)} sets {word(change.what)} anew"] if change is not None else []
    return (*values, *found, *fault, *anew)


def effects_of(found: Found, pair: PairOfSubjects) -> Effects | None:
    """Both lists of effects, side by side."""
    seen_again = again(found, pair)
    if seen_again is None:
        return None
    seen, _ = seen_again
    old, new = _listed(seen.old), _listed(seen.new)
    first = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a[0] != b[0]), min(len(old), len(new)))
    return Effects(old=old, new=new, first=first)


def _listed(run: Run) -> tuple[tuple[str, int], ...]:
    places = run.places or []
    found = []
    for at, each in enumerate(run.events[:_MOST_EFFECTS]):
        text = event(each)
        if not text.startswith("pure "):
            found.append((text, places[at][1] if at < len(places) else 0))
    return tuple(found)


def apply_declared(
    deltas: Sequence[Delta], declared: Sequence[DeclaredDelta], today: dt.date | None = None
) -> tuple[list[Delta], list[str]]:
    """The deltas, those that are declared marked; and what is wrong with the declarations: expired, or of nothing."""
    today = today or dt.datetime.now(tz=dt.timezone.utc).date()
    found: list[Delta] = []
    used: set[int] = set()
    for each in deltas:
        match = next((index for index, one in enumerate(declared) if _is_meant(each, one, today)), -1)
        if match >= 0:
            used.add(match)
        found.append(replace(each, declared=match >= 0))
    stale = []
    for index, one in enumerate(declared):
        if one.until and dt.date.fromisoformat(one.until) < today:
            stale.append(f"the declared {one.code} at {one.where!r} was good until {one.until}")
        elif index not in used:
            stale.append(f"the declared {one.code} at {one.where!r} does not occur any more: take it out")
    return found, stale


def _is_meant(delta: Delta, declared: DeclaredDelta, today: dt.date) -> bool:
    if delta.code != declared.code:
        return False
    if declared.until and dt.date.fromisoformat(declared.until) < today:
        return False
    places = (f"{delta.path}:{delta.line}", f"{delta.old_path}:{delta.old_line}")
    return declared.where in delta.message or declared.where in places
