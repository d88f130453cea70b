"""Where a difference is, as `path:line` on either side: of the lines that led to an effect the innermost one that the
change touched; of an effect that one side lacks, where its place would be on that side."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import NamedTuple

from codemods.prove.compare import Difference
from codemods.prove.following import Place
from codemods.prove.opaque import EVENT
from codemods.prove.run import Run
from codemods.prove.sides import Side
from codemods.prove.stable import Twins

_RESULTS = ("return", "callback returns")


class Hunk(NamedTuple):
    """Lines that differ: from `old` up to `old_end` on the old side became `new` up to `new_end`. Counted from 1."""

    old: int
    old_end: int
    new: int
    new_end: int


class Placing:
    """Kept for one pair of trees."""

    def __init__(self, twins: Twins) -> None:
        self._twins = twins
        self._hunks: dict[str, list[Hunk]] = {}

    def places(self, difference: Difference, old: Run, new: Run) -> tuple[Place, Place]:
        """On the old and on the new side; ("", 0) where there is nothing to name."""
        before = self._of(old, difference.old_at, is_old=True)
        read = new.read_at.get(difference.read, ()) if difference.read is not None else ()
        after = self._chosen(read, is_old=False) if read else self._of(new, difference.new_at, is_old=False)
        if not after[0]:
            after = self._across(before, is_old=True) or self._near(new, difference.old_at, is_old=False)
        if not before[0]:
            before = self._across(after, is_old=False) or self._near(old, difference.new_at, is_old=True)
        return before, after

    def _of(self, run: Run, at: int, *, is_old: bool) -> Place:
        if not 0 <= at < len(run.stacks):
            return "", 0
        stack = run.stacks[at]
        event = run.events[at]
        if stack and event._u_kind is EVENT and event._u_parts[0] in _RESULTS:
            last = (stack[-1][0].partition(">")[2], stack[-1][1])  # the statement that gives the whole result
            first = self._chosen(stack, is_old=is_old)
            return first if self._is_touched(first, is_old=is_old) and len(stack) > 1 else last
        return self._chosen(stack, is_old=is_old)

    def _chosen(self, stack: tuple[Place, ...], *, is_old: bool) -> Place:
        found = [(name.partition(">")[2], line) for name, line in stack if name]
        touched = [each for each in found if self._is_touched(each, is_old=is_old)]
        return (touched or found or [("", 0)])[0]

    def _near(self, run: Run, at: int, *, is_old: bool) -> Place:
        """The effect that stands where the missing one would."""
        for stack in (*run.stacks[max(at, 0) :], *reversed(run.stacks)):
            if stack:
                return self._chosen(stack, is_old=is_old)
        return "", 0

    def _is_touched(self, place: Place, *, is_old: bool) -> bool:
        for each in self._hunks_of(place[0]):
            start, end = (each.old, each.old_end) if is_old else (each.new, each.new_end)
            if start <= place[1] < end:
                return True
        return False

    def _across(self, place: Place, *, is_old: bool) -> Place | None:
        """Where a changed line of one side is on the other, when the file is there."""
        path, line = place
        other = self._twins.new if is_old else self._twins.old
        if path not in other.files:
            return None
        for each in self._hunks_of(path):
            here, end, there, there_end = each if is_old else (each.new, each.new_end, each.old, each.old_end)
            if here <= line < end:
                return path, min(there + line - here, max(there_end - 1, there))
        return None

    def _hunks_of(self, path: str) -> list[Hunk]:
        if path not in self._hunks:
            before, after = (_lines(side, path) for side in (self._twins.old, self._twins.new))
            codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if before != after else []
            self._hunks[path] = [Hunk(a + 1, b + 1, c + 1, d + 1) for tag, a, b, c, d in codes if tag != "equal"]
        return self._hunks[path]


def _lines(side: Side, path: str) -> list[str]:
    return side.files.read(path).decode("utf-8", "replace").splitlines() if path in side.files else []
