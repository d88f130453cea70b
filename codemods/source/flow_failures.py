"""What an exception passes on its way out of a block: writes and calls in a `finally`. What may raise by itself is
`Flow.risks_after_write`'s and `Flow.risks_before_read`'s."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from codemods.source.flow import Flow, Place, places
from codemods.source.flow_points import Kind, Point, Risk


def writes_on_the_way_out(flow: Flow, key: str, is_harmless: Callable[[ast.AST], bool]) -> list[ast.AST]:
    """Writes of the key that an exception may pass and then leave the block, in the order of the text.

    is_harmless: whether an operation can't fail, so that no exception starts there."""
    harmless = {point.number for point in flow.points if point.risk is Risk.OPERATION and is_harmless(point.node)}
    reached = _reachable([flow.graph.entry], harmless).values()
    found = {
        id(point.node): point.node
        for point in reached
        if point.kind is Kind.WRITE and point.key == key and not point.late and _is_passed(point, harmless)
    }
    return sorted(found.values(), key=lambda node: (node.lineno, node.col_offset))  # type: ignore[attr-defined]


def risks_after_failed_read(flow: Flow, key: str) -> list[Place]:
    """Where something may happen when a read of the value from outside has failed."""
    ways = [
        way
        for point in flow.points
        if point.kind is Kind.READ and point.key == key and flow.unwritten.get(point.number, 0) & flow.bit[key]
        for way in point.on_error
    ]
    return places((point for point in _reachable(ways, set()).values() if not point.late), Risk.NAME)


def _is_passed(write: Point, harmless: set[int]) -> bool:
    """Whether some point behind carries an exception on (raising none itself) that then is not caught."""
    behind = _reachable(write.after, harmless).values()
    carried = [way for point in behind if point.risk is Risk.NONE for way in _errors(point, harmless)]
    return any(point.kind in (Kind.ERROR, Kind.RAISE) for point in _reachable(carried, harmless).values())


def _reachable(start: Iterable[Point], harmless: set[int]) -> dict[int, Point]:
    found: dict[int, Point] = {}
    work = list(start)
    while work:
        point = work.pop()
        if point.number not in found:
            found[point.number] = point
            work += [*point.after, *_errors(point, harmless)]
    return found


def _errors(point: Point, harmless: set[int]) -> list[Point]:
    # The start of a `try` in which nothing raises leads to its handlers all the same; an exception does not come by it.
    is_start = point.risk is Risk.NONE and isinstance(point.node, ast.Try) and bool(point.after)
    return [] if point.number in harmless or is_start else point.on_error
