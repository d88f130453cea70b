"""What a list of statements does to variables: what it needs from outside, what it gives, on which paths, and when.

A variable is whatever the classifier says: a local name, or an attribute of `self`. Facts hold for every path that
Python's control flow allows, exceptions at every point that can raise included; which conditions are true is never
guessed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from codemods.source.flow_managers import Swallows, may_swallow
from codemods.source.flow_points import EXITS, Graph, KeyOf, Kind, Point, Risk, attributes, names
from codemods.source.flow_statements import graph_of

__all__ = ["Event", "Exit", "Flow", "KeyOf", "Kind", "Place", "Risk", "attributes", "flow_of", "may_swallow", "names"]

Mask = int


class Event(Struct, frozen=True, eq=False):
    """One read, write or deletion in the order of the text.

    node: where it stands (for an import its alias, for a handler, pattern or definition the node itself; for an
    augmented assignment the target, once as a read and once as a write). late: it happens when a function made here
    runs."""

    kind: Kind
    key: str
    node: ast.AST
    late: bool


class Place(Struct, frozen=True, eq=False):
    """Somewhere that other code may run, or something may be raised."""

    node: ast.AST
    line: int
    risk: Risk


class Exit(Struct, frozen=True, eq=False):
    """A way out of the block: its end, or a return, break or continue that leaves it, or an uncaught raise."""

    kind: Kind
    node: ast.AST


class Flow:
    """All answers about one block. Sets of keys; every answer is computed once."""

    def __init__(self, graph: Graph, bound: Iterable[str] = ()) -> None:
        """bound: variables that have a value for sure before the first statement."""
        self.graph = graph
        self.points = graph.points
        self.keys: tuple[str, ...] = tuple(dict.fromkeys(point.key for point in self.points if point.key))
        self.bit = {key: 1 << position for position, key in enumerate(self.keys)}
        self.everything: Mask = (1 << len(self.keys)) - 1
        self.bound = self.mask(bound)

    # -- masks

    def mask(self, keys: Iterable[str]) -> Mask:
        found = 0
        for key in keys:
            found |= self.bit.get(key, 0)
        return found

    def set_of(self, mask: Mask) -> frozenset[str]:
        return frozenset(key for key, bit in self.bit.items() if mask & bit)

    def forward(
        self,
        seeds: Iterable[tuple[Point, Mask]],
        transfer: Callable[[Point, Mask], Mask],
        within: Callable[[Point], bool] | None = None,
        *,
        tries_count: bool = False,
    ) -> dict[int, Mask]:
        """For each point that can be reached the union, over all paths to it, of what holds before it.

        tries_count: what a point does holds behind it also where it fails."""
        state: dict[int, Mask] = {}
        work: list[Point] = []
        for point, mask in seeds:
            state[point.number] = state.get(point.number, 0) | mask
            work.append(point)
        while work:
            point = work.pop()
            before = state[point.number]
            behind = transfer(point, before)
            failed = behind if tries_count else before
            for successors, mask in ((point.after, behind), (point.on_error, failed)):
                for successor in successors:
                    if within is not None and not within(successor):
                        continue
                    known = state.get(successor.number)
                    if known is None or mask & ~known:
                        state[successor.number] = mask if known is None else known | mask
                        work.append(successor)
        return state

    # -- what happens at all

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Reads, writes and deletions. A `finally` body counts once."""
        found: dict[tuple[Kind, str, int], Event] = {}
        for point in self.points:
            if point.key:
                event = Event(point.kind, point.key, point.node, point.late)
                found.setdefault((point.kind, point.key, id(point.node)), event)
        return tuple(sorted(found.values(), key=lambda event: _position(event.node)))

    def _keys(self, kind: Kind, *, late: bool | None = None) -> frozenset[str]:
        return frozenset(
            event.key for event in self.events if event.kind is kind and (late is None or event.late == late)
        )

    @cached_property
    def reads(self) -> frozenset[str]:
        """Read somewhere, now or later."""
        return self._keys(Kind.READ)

    @cached_property
    def writes(self) -> frozenset[str]:
        """Written on some path, now or later."""
        return self._keys(Kind.WRITE)

    @cached_property
    def deletes(self) -> frozenset[str]:
        """Deleted by `del` (or the end of a handler) on some path."""
        return self._keys(Kind.DELETE)

    @cached_property
    def late_reads(self) -> frozenset[str]:
        """Read by a function, lambda or generator that is made here and may run at any time."""
        return self._keys(Kind.READ, late=True)

    @cached_property
    def late_writes(self) -> frozenset[str]:
        """Written by a function that is made here: `nonlocal`, or an attribute."""
        return self._keys(Kind.WRITE, late=True) | self._keys(Kind.DELETE, late=True)

    # -- on which paths

    @cached_property
    def unwritten(self) -> dict[int, Mask]:
        """Before each point: keys that some path has not touched yet, so that a read sees the value from outside."""
        return self.forward([(self.graph.entry, self.everything)], self.still_unwritten)

    def still_unwritten(self, point: Point, mask: Mask) -> Mask:
        is_write = point.kind in (Kind.WRITE, Kind.DELETE) and not point.late
        return mask & ~self.bit[point.key] if is_write else mask

    @cached_property
    def unbound(self) -> dict[int, Mask]:
        """Before each point: keys that have no value on some path."""
        return self.forward([(self.graph.entry, self.everything & ~self.bound)], self.still_unbound)

    def still_unbound(self, point: Point, mask: Mask) -> Mask:
        if not point.key or point.late or point.kind is Kind.READ:
            return mask
        return mask & ~self.bit[point.key] if point.kind is Kind.WRITE else mask | self.bit[point.key]

    @cached_property
    def reads_before_write(self) -> frozenset[str]:
        """Keys whose value from outside is read on some path."""
        return self.set_of(self._exposed(self.unwritten))

    def _exposed(self, unwritten: dict[int, Mask]) -> Mask:
        found = 0
        for point in self.points:
            if point.kind is Kind.READ:
                found |= self.bit[point.key] & unwritten.get(point.number, 0)
        return found

    @cached_property
    def definite_writes(self) -> frozenset[str]:
        """Keys that every path to the normal end has written (and not deleted since)."""
        return self._written_at(Kind.END)

    @cached_property
    def definite_at_returns(self) -> frozenset[str]:
        """Keys that every path to every return, and to the normal end, has written."""
        return self._written_at(Kind.END, Kind.RETURN)

    def _written_at(self, *kinds: Kind) -> frozenset[str]:
        state = self.forward([(self.graph.entry, self.everything)], self.still_unbound)
        missing = 0
        reached = False
        for point in self.points:
            if point.kind in kinds and point.number in state:
                missing |= state[point.number]
                reached = True
        return self.set_of(self.everything & ~missing) if reached else frozenset()

    @cached_property
    def read_on_every_path(self) -> frozenset[str]:
        """Keys whose value from outside every path reads, whether it ends, returns or raises by itself.

        A read that fails counts as one (`guarded_reads` has those that a handler might catch). What other code raises
        on the way does not count: nothing is promised about it."""
        size = len(self.keys)
        low = self.everything

        def transfer(point: Point, mask: Mask) -> Mask:
            # the low half: paths that did not touch the key; the high half: paths that wrote it before any read
            if not point.key or point.late:
                return mask
            bit = self.bit[point.key]
            if point.kind is Kind.READ:
                return mask & ~bit
            return (mask & ~bit) | (bit << size) if mask & bit else mask

        state = self.forward([(self.graph.entry, low)], transfer, tries_count=True)
        missing = 0
        for point in self.points:
            if point.kind in EXITS and point.kind is not Kind.ERROR and point.number in state:
                missing |= state[point.number] | (state[point.number] >> size)
        return self.set_of(low & ~missing) & self.reads

    @cached_property
    def guarded_reads(self) -> frozenset[str]:
        """Keys whose value from outside is read where a handler of the block may catch that the read fails."""
        return frozenset(
            point.key
            for point in self.points
            if point.kind is Kind.READ
            and self.unwritten.get(point.number, 0) & self.bit[point.key]
            and any(_is_caught(way) for way in point.on_error)
        )

    @cached_property
    def exits(self) -> tuple[Exit, ...]:
        """The ways out that can be reached, `Kind.ERROR` left out."""
        reached = self.unwritten
        found: dict[tuple[Kind, int], Exit] = {}
        for point in self.points:
            if point.number not in reached:
                continue
            if point.kind in EXITS and point.kind not in (Kind.ERROR, Kind.RAISE):
                found[point.kind, id(point.node)] = Exit(point.kind, point.node)
            elif isinstance(point.node, ast.Raise) and any(way.kind is Kind.RAISE for way in point.on_error):
                found[Kind.RAISE, id(point.node)] = Exit(Kind.RAISE, point.node)
        return tuple(found.values())

    def leaves_by(self, *kinds: Kind) -> list[ast.AST]:
        """The statements that leave the block in one of these ways."""
        return [way.node for way in self.exits if way.kind in kinds]

    # -- what may happen in between

    def risks_before_read(self, key: str, least: Risk = Risk.CALL) -> list[Place]:
        """Where, between the start and a read of the value from outside, other code may run: it could change the value.

        A late read comes after anything; then every place that may follow its definition counts too."""
        bit = self.bit.get(key, 0)
        exposed = [
            point
            for point in self.points
            if point.kind is Kind.READ and point.key == key and self.unwritten.get(point.number, 0) & bit
        ]
        before: set[int] = set()
        work = [earlier for point in exposed for earlier in self._predecessors.get(point.number, [])]
        while work:
            point = work.pop()
            if point.number not in before and self.unwritten.get(point.number, 0) & bit:
                before.add(point.number)
                work += self._predecessors.get(point.number, [])
        if any(point.late for point in exposed):
            before |= set(self._after([point for point in exposed if point.late]))
        found = (point for point in self.points if point.number in before and not point.late)
        return places((point for point in found if point.risk is not Risk.RAISE), least)

    def risks_after_write(self, key: str, least: Risk = Risk.CALL) -> list[Place]:
        """Where, after some write of the key, other code may run or something may be raised."""
        written = [
            point
            for point in self.points
            if point.kind in (Kind.WRITE, Kind.DELETE) and point.key == key and point.number in self.unwritten
        ]
        behind = self._after(written)
        return places((point for point in self.points if point.number in behind and not point.late), least)

    def _after(self, points: list[Point]) -> set[int]:
        found: set[int] = set()
        work = [successor for point in points for successor in point.after]
        while work:
            point = work.pop()
            if point.number not in found:
                found.add(point.number)
                work += [*point.after, *point.on_error]
        return found

    @cached_property
    def _predecessors(self) -> dict[int, list[Point]]:
        found: dict[int, list[Point]] = {}
        for point in self.points:
            for successor in (*point.after, *point.on_error):
                found.setdefault(successor.number, []).append(point)
        return found


def places(points: Iterable[Point], least: Risk) -> list[Place]:
    found = {id(point.node): point for point in points if point.risk >= least and hasattr(point.node, "lineno")}
    ordered = sorted(found.values(), key=lambda point: _position(point.node))
    return [Place(point.node, point.node.lineno, point.risk) for point in ordered]  # type: ignore[attr-defined]


def _is_caught(way: Point) -> bool:
    """Whether an exception that goes this way meets a handler, or a `finally` or manager that may end it."""
    seen: set[int] = set()
    work = [way]
    while work:
        point = work.pop()
        if point.catches or (point.kind in EXITS and point.kind not in (Kind.ERROR, Kind.RAISE)):
            return True
        if point.number not in seen:
            seen.add(point.number)
            work += point.after if point.risk is not Risk.NONE else [*point.after, *point.on_error]
    return False


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def flow_of(
    block: Sequence[ast.stmt],
    key_of: KeyOf,
    *,
    bound: Iterable[str] = (),
    evaluates_annotations: bool = True,
    swallows: Swallows = may_swallow,
) -> Flow:
    """The flow of statements that stand one after the other (a whole body, or part of one).

    key_of: `names(...)`, `attributes("self")`, or any function from an expression with a context to a key or None."""
    graph = graph_of(block, key_of, evaluates_annotations=evaluates_annotations, swallows=swallows)
    return Flow(graph, bound)
