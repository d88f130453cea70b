"""One pair, explored: both subjects loaded, walked through every world, compared in each. Pure computation in this
process; who confines it is sandbox's, what is reported is verdicts'."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from codemods.prove.altering import Alterations
from codemods.prove.certain import Certain
from codemods.prove.compare import Difference, agree_at_once, differences, is_cut, topic
from codemods.prove.early import early_reads
from codemods.prove.explore import Budget, Exploration, Seen
from codemods.prove.inputs import bind_same, certain_of, input_term, shared_names
from codemods.prove.opaque import ATTR, EVENT, Opaque, current
from codemods.prove.run import Run
from codemods.prove.sides import Side
from codemods.prove.slices import Loader
from codemods.prove.stable import Twins
from codemods.prove.subject import Subject
from codemods.prove.world import World

_MOST_OF_A_TOPIC = 8
_MOST_READS = 6  # of one thing, between which it may become another


class Found(Struct, eq=False):
    """A difference with the world that shows it."""

    difference: Difference
    seen: Seen


class Walk(Struct, eq=False):
    """What came of the walk of one pair."""

    paths: int = 0
    faults: int = 0
    is_complete: bool = True
    cut: dict[str, int] = field(default_factory=dict)  # why runs were cut short, and how often
    found: list[Found] = field(default_factory=list)
    known: set[tuple[str, str]] = field(default_factory=set)  # code and message of all that differs


class PairOfSubjects:
    """Both sides of a pair, live. same: terms of the new side that stand for terms of the old one, as text. opened:
    what both sides share and is executed all the same, by its name on the old side."""

    def __init__(
        self,
        twins: Twins,
        old: str,
        new: str,
        *,
        is_real: bool = False,
        real_modules: frozenset[str] = frozenset(),
        same: Mapping[str, str] | None = None,
        opened: frozenset[str] = frozenset(),
    ) -> None:
        self.twins, self.is_real, self.real_modules, self.same = twins, is_real, real_modules, dict(same or {})
        self.opened = opened
        self.old = Subject(self._loader(twins.old), old)
        self.new = Subject(self._loader(twins.new), new)
        self.new.renamed = shared_names(self.old, self.new) | bind_same(self.same)
        self.new.never = frozenset({*self.new.roots()} - {*self.old.roots(), *self.new.renamed})
        if (
            not is_real
            and all(each.calls_itself() for each in (self.old, self.new))
            and self.old.called() == self.new.called()
        ):
            # By induction: what differs in a call of itself differs in a call of it.
            for each in (self.old, self.new):
                each.fold_recursion(self.old.loader.canonical(old))
        self.old.is_repeated = self.new.is_repeated = self.old.decorators != self.new.decorators
        self.old.beside, self.new.beside = self.new, self.old
        if not is_real:
            owner = (self.old.module, self.old.owner) if self.old.owner is not None else None
            self.old.altered = self.new.altered = Alterations(twins, owner)
        self.aliases = {input_term(name): input_term(other) for name, other in self.same.items()}

    def _loader(self, side: Side) -> Loader:
        return Loader(self.twins, side, is_real=self.is_real, real_modules=self.real_modules, opened=self.opened)

    @cached_property
    def _certain(self) -> Certain:
        return certain_of(self.old, self.new)

    def is_certain(self, value: Opaque) -> bool:
        """Whether an attribute of an input is there whenever the callable begins, or a spec speaks of it."""
        return value in self._spoken or self._certain.has(value)

    @cached_property
    def _spoken(self) -> frozenset[Opaque]:
        parts = [name.split(".") for name in self.same]
        return frozenset(input_term(".".join(each[:size])) for each in parts for size in range(2, len(each)))

    def with_new(self, side: Side) -> PairOfSubjects:
        """The same old side beside another new one."""
        made = copy.copy(self)
        made.twins = self.twins.with_new(side)
        made.new = Subject(made._loader(side), self.new.reference)
        made.new.renamed = shared_names(made.old, made.new) | bind_same(self.same)
        made.new.is_repeated, made.new.never, made.new.beside = made.old.is_repeated, self.new.never, made.old
        made.new.altered = made.old.altered
        return made

    def twin_of(self, subject: Subject) -> PairOfSubjects:
        """One side beside itself."""
        made = copy.copy(self)
        made.old = made.new = subject
        return made

    def run(self, world: World, *, trace: bool = False) -> tuple[Run, Run]:
        """Both twins in one world."""
        old = self.old.run(world, trace=trace)
        decided = len(world.trail)
        new = self.new.run(world, trace=trace)
        if len(world.trail) > decided and self._contradicts(world, old, decided):
            old = self.old.run(world, trace=trace)
        return old, new

    @staticmethod
    def _contradicts(world: World, old: Run, decided: int) -> bool:
        """Whether the new twin made the world say something of a value that the old one had used otherwise before."""
        for choice in world.trail[decided:]:
            question, answer = choice.question, choice.options[choice.taken]
            if question[0] == "none" and answer and question[1] in old.implicit:
                return True
            if question[0] == "item" and answer is not True:
                return True
            if question[0] == "has" and not answer and _has_read(old, question[1], question[2]):
                return True
        return False


class _Outside:
    """Stands where a run would: no opaque value may be asked anything now."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"an opaque value was asked ({name}) outside a run")


_OUTSIDE: Any = _Outside()


@contextmanager
def outside_of_runs() -> Iterator[None]:
    """While twins are compared, nothing may ask the world."""
    current.run = _OUTSIDE
    yield


def _has_read(run: Run, base: Any, name: str) -> bool:
    return any(each._u_kind is ATTR and each._u_parts[0] is base and each._u_parts[1] == name for each in run.reads)


def walk(
    pair: PairOfSubjects,
    budget: Budget,
    *,
    values: dict[Opaque, Any] | None = None,
    most: int = 200,
    besides: Collection[tuple[str, str]] = (),
    with_faults: bool = True,
) -> Walk:
    """Every world of a pair. Of differences that speak of the same thing, the first few are kept; the walk stops early
    where `most` different things differ. besides: code and message of what is known to differ."""
    made = Walk(known=set(besides))
    exploration = Exploration(pair.run, budget, values)
    topics: dict[Any, int] = {}
    for seen in exploration.worlds(with_faults=with_faults):
        current.run = _OUTSIDE  # whoever compares must not ask the world anything
        _count_cut(made, seen)
        for each in [] if is_only_moved(pair, seen) else differing(pair, seen):
            key = (each.code, each.message)
            if key in made.known:
                continue
            made.known.add(key)
            about = topic(each, seen)
            topics[about] = topics.get(about, 0) + 1
            if topics[about] <= _MOST_OF_A_TOPIC:
                made.found.append(Found(each, seen))
        if len(topics) >= most:
            exploration.is_complete = False
            break
    made.found = _telling(made.found)
    made.paths, made.is_complete = exploration.paths, exploration.is_complete
    made.faults = exploration.faults + exploration.changes
    return made


def differing(pair: PairOfSubjects, seen: Seen) -> list[Difference]:
    """All that differs in one world."""
    found = differences(seen, pair.aliases)
    return found if seen.is_fault or seen.world.change is not None else [*found, *early_reads(seen, pair.is_certain)]


def is_only_moved(pair: PairOfSubjects, seen: Seen) -> bool:
    """Whether twins differ in a world in which a call sets something anew only by where they read it: each does what
    the other one does where it becomes another between some other two of its reads."""
    change = seen.world.change
    if change is None or change.what._u_kind is not ATTR or agree_at_once(seen) or not differences(seen, pair.aliases):
        return False
    return _comes_to(pair.new, seen, seen.old, pair) and _comes_to(pair.old, seen, seen.new, pair)


def _comes_to(subject: Subject, seen: Seen, other: Run, pair: PairOfSubjects) -> bool:
    change = seen.world.change
    assert change is not None
    for after in range(_MOST_READS):
        world = seen.world.after(len(seen.world.trail), None)
        world.change = replace(change, after=after)
        run = subject.run(world)
        current.run = _OUTSIDE
        is_new = other is seen.old
        if not differences(Seen(world, other, run) if is_new else Seen(world, run, other), pair.aliases):
            return True
        if run.anew is None or run.anew.reads <= after:
            break
    return False


def _telling(found: list[Found]) -> list[Found]:
    """Without what only follows from another one: that a call raises which one side alone makes."""
    if all(each.seen.is_fault for each in found):
        return found
    return [each for each in found if not each.seen.is_fault or _is_on_both(each.seen)]


def _is_on_both(seen: Seen) -> bool:
    return all(any(_is_of(each, seen.world.fault) for each in run.events) for run in (seen.old, seen.new))


def _is_of(event: Opaque, fault: Opaque | None) -> bool:
    """Whether an effect is the call that raises; by identity, since `==` asks the world."""
    return event is fault or (event._u_kind is EVENT and len(event._u_parts) > 1 and event._u_parts[1] is fault)


def _count_cut(made: Walk, seen: Seen) -> None:
    for run in seen[1:]:
        reason = is_cut(run)
        if reason:
            made.cut[reason] = made.cut.get(reason, 0) + 1
            return
