"""A part of a function seen from the rest of it: what comes in, what has to come out, what would be lost on the way.

The part is any set of syntax nodes: a row of statements, or one expression. What an extraction makes of the answers is
decided by transforms/block_*.py."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from codemods.source.flow import Flow, Mask, Place, Risk, places
from codemods.source.flow_points import EXITS, Kind, Point

_TOUCHES = (Kind.WRITE, Kind.DELETE)


class Region:
    """The answers about one part. `whole` is the flow of the function's body, with its parameters bound."""

    def __init__(self, whole: Flow, part: Iterable[ast.AST]) -> None:
        self.whole = whole
        self._nodes = frozenset(id(node) for root in part for node in ast.walk(root))
        self.points = [point for point in whole.points if self.has(point)]

    def has(self, point: Point) -> bool:
        return id(point.node) in self._nodes and point.kind not in EXITS

    @cached_property
    def entries(self) -> list[Point]:
        """Where control comes in. Empty when nothing reaches the part."""
        reached = self.whole.unwritten
        found: dict[int, Point] = {}
        for point in self.whole.points:
            if point.number in reached and not self.has(point):
                for successor in (*point.after, *point.on_error):
                    if self.has(successor):
                        found[successor.number] = successor
        return list(found.values())

    @cached_property
    def _untouched(self) -> dict[int, Mask]:
        """Before each point of the part: keys that some path from its start has not touched."""
        seeds = [(point, self.whole.everything) for point in self.entries]
        return self.whole.forward(seeds, self.whole.still_unwritten, self.has)

    @cached_property
    def _unbound(self) -> dict[int, Mask]:
        """As `_untouched`, but a deletion makes a key missing again."""
        seeds = [(point, self.whole.everything) for point in self.entries]
        return self.whole.forward(seeds, self.whole.still_unbound, self.has)

    @cached_property
    def _touched(self) -> dict[int, Mask]:
        """Before each point of the part: keys that some path from its start has touched."""

        def transfer(point: Point, mask: Mask) -> Mask:
            is_touch = point.kind in _TOUCHES and not point.late
            return mask | self.whole.bit[point.key] if is_touch else mask

        return self.whole.forward([(point, 0) for point in self.entries], transfer, self.has)

    # -- what comes in

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Keys whose value from outside the part reads, by first read in the text; late reads count."""
        found = [
            point.key
            for point in sorted(self.points, key=_position)
            if point.kind is Kind.READ and self._untouched.get(point.number, 0) & self.whole.bit[point.key]
        ]
        return tuple(dict.fromkeys(found))

    @cached_property
    def maybe_bound(self) -> frozenset[str]:
        """Keys that have a value on some path when control comes in."""

        def transfer(point: Point, mask: Mask) -> Mask:
            if not point.key or point.kind is Kind.READ:
                return mask
            bit = self.whole.bit[point.key]
            return mask | bit if point.kind is Kind.WRITE else mask & ~bit

        state = self.whole.forward([(self.whole.graph.entry, self.whole.bound)], transfer)
        found = 0
        for point in self.entries:
            found |= state.get(point.number, 0)
        return self.whole.set_of(found)

    @cached_property
    def surely_bound(self) -> frozenset[str]:
        """Keys that have a value on every path when control comes in."""
        missing = 0
        for point in self.entries:
            missing |= self.whole.unbound.get(point.number, 0)
        return self.whole.set_of(self.whole.everything & ~missing)

    # -- what goes out

    @cached_property
    def _ways_out(self) -> list[tuple[Point, Point]]:
        """Steps from the part to what follows it in the ordinary way."""
        return [
            (point, successor)
            for point in self.points
            if point.number in self._untouched
            for successor in point.after
            if not self.has(successor)
        ]

    @cached_property
    def _ways_up(self) -> list[tuple[Point, Point]]:
        """Exceptions that leave the part."""
        return [
            (point, target)
            for point in self.points
            if point.number in self._untouched
            for target in point.on_error
            if not self.has(target)
        ]

    @cached_property
    def written(self) -> frozenset[str]:
        """Keys that the part writes on some path (by itself, not by a function made in it)."""
        return frozenset(point.key for point in self.points if point.kind is Kind.WRITE and not point.late)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Keys that the part writes and that may be read behind it, by first write in the text."""
        live = 0
        for point, successor in self._ways_out:
            touched = self._touched.get(point.number, 0)
            if point.kind in _TOUCHES and not point.late:
                touched |= self.whole.bit[point.key]
            live |= self._live.get(successor.number, 0) & touched
        wanted = self.whole.set_of(live | self._captured_outside) & self.written
        order = [point.key for point in sorted(self.points, key=_position) if point.kind is Kind.WRITE]
        return tuple(key for key in dict.fromkeys(order) if key in wanted)

    @cached_property
    def surely_written(self) -> frozenset[str]:
        """Keys that every ordinary way out has written (and not deleted since)."""
        missing = 0
        for point, _ in self._ways_out:
            missing |= self.whole.still_unbound(point, self._unbound.get(point.number, 0))
        return self.whole.set_of(self.whole.everything & ~missing) if self._ways_out else frozenset()

    def is_read_at_once(self, key: str) -> bool:
        """Whether every ordinary way out reads the key before anything else happens, and nobody catches its failing.

        Then it makes no difference whether a missing value is noticed at the end of the part or right behind it."""
        uncaught = (Kind.ERROR, Kind.RAISE)
        if any(target.kind not in uncaught for _, target in self._ways_up):
            return False
        seen: set[int] = set()
        work = [successor for _, successor in self._ways_out]
        while work:
            point = work.pop()
            if point.number in seen:
                continue
            seen.add(point.number)
            is_read = point.kind is Kind.READ and point.key == key and not point.late
            if is_read and all(target.kind in uncaught for target in point.on_error):
                continue
            if is_read or point.kind in EXITS or point.risk >= Risk.OPERATION or point.key == key:
                return False
            work += point.after
        return True

    @cached_property
    def maybe_gone(self) -> frozenset[str]:
        """Keys that some ordinary way out leaves deleted."""

        def transfer(point: Point, mask: Mask) -> Mask:
            if point.kind not in _TOUCHES or point.late:
                return mask
            bit = self.whole.bit[point.key]
            return mask | bit if point.kind is Kind.DELETE else mask & ~bit

        state = self.whole.forward([(point, 0) for point in self.entries], transfer, self.has)
        found = 0
        for point, _ in self._ways_out:
            found |= transfer(point, state.get(point.number, 0))
        return self.whole.set_of(found)

    @cached_property
    def deleted(self) -> frozenset[str]:
        """Keys from outside that the part deletes."""
        return frozenset(
            point.key
            for point in self.points
            if point.kind is Kind.DELETE and self._untouched.get(point.number, 0) & self.whole.bit[point.key]
        ) & (self.maybe_bound | self.whole.late_reads)

    @cached_property
    def lost_on_error(self) -> dict[str, ast.AST]:
        """Keys that the part writes before an exception leaves it and that a handler around it reads: key -> where."""
        found: dict[str, ast.AST] = {}
        for point, target in self._ways_up:
            lost = self._touched.get(point.number, 0) & self._live.get(target.number, 0)
            for key in sorted(self.whole.set_of(lost)):
                found.setdefault(key, point.node)
        return found

    @cached_property
    def _live(self) -> dict[int, Mask]:
        """Before each point of the function: keys that are read before they are written again."""
        state: dict[int, Mask] = {}
        before: dict[int, list[Point]] = {}
        for point in self.whole.points:
            for successor in (*point.after, *point.on_error):
                before.setdefault(successor.number, []).append(point)
        work = list(self.whole.points)
        while work:
            point = work.pop()
            mask = 0
            for successor in point.after:
                mask |= state.get(successor.number, 0)
            if point.key:
                is_write = point.kind is Kind.WRITE and not point.late
                bit = self.whole.bit[point.key]
                mask = mask & ~bit if is_write else mask | bit
            for target in point.on_error:
                mask |= state.get(target.number, 0)
            if mask != state.get(point.number, 0) or point.number not in state:
                state[point.number] = mask
                work += before.get(point.number, [])
        return state

    # -- functions that are made inside or outside and share variables

    def _late(self, *, inside: bool, kinds: tuple[Kind, ...]) -> Iterator[Point]:
        return (
            point
            for point in self.whole.points
            if point.late and point.kind in kinds and point.key and self.has(point) == inside
        )

    @cached_property
    def _captured_outside(self) -> Mask:
        return self.whole.mask(point.key for point in self._late(inside=False, kinds=(Kind.READ, *_TOUCHES)))

    @cached_property
    def shared(self) -> dict[str, ast.AST]:
        """Keys that would fall apart into two variables: a function made on one side uses what the other side changes
        while it may run. Key -> where it is used."""
        found: dict[str, ast.AST] = {}
        changed_later = self._changed_behind()
        for point in self._late(inside=True, kinds=(Kind.READ, *_TOUCHES)):
            is_ours = point.kind is Kind.READ and point.key not in changed_later
            is_private = point.kind is not Kind.READ and point.key not in self._used_outside
            if not is_ours and not is_private:
                found.setdefault(point.key, point.node)
        runs = any(point.risk is Risk.CALL and not point.late for point in self.points)
        for point in self._late(inside=False, kinds=(Kind.READ, *_TOUCHES)):
            is_changed = point.key in self.written and self._runs_after_write(point.key)
            is_stale = point.kind is not Kind.READ and runs and point.key in {each.key for each in self.points}
            if is_changed or is_stale:
                found.setdefault(point.key, point.node)
        return found

    @cached_property
    def _used_outside(self) -> frozenset[str]:
        return frozenset(point.key for point in self.whole.points if point.key and not self.has(point))

    def _changed_behind(self) -> set[str]:
        """Keys that may be written after the part has been left (by the part itself when a loop comes back to it)."""
        seen: set[int] = set()
        work = [successor for _, successor in (*self._ways_out, *self._ways_up)]
        found: set[str] = set()
        while work:
            point = work.pop()
            if point.number in seen:
                continue
            seen.add(point.number)
            if point.kind in _TOUCHES:
                found.add(point.key)
            work += [*point.after, *point.on_error]
        return found | {point.key for point in self._late(inside=False, kinds=_TOUCHES)}

    def _runs_after_write(self, key: str) -> bool:
        bit = self.whole.bit[key]
        return any(
            point.risk is Risk.CALL and not point.late and self._touched.get(point.number, 0) & bit
            for point in self.points
        )

    def risks(self, least: Risk = Risk.CALL) -> list[Place]:
        """Where other code may run inside the part."""
        return places((point for point in self.points if not point.late), least)


def _position(point: Point) -> tuple[int, int, int]:
    node = point.node
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0), point.number
