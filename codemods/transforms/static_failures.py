"""What may fail in the body of a method that loses `self`, and what can't: for the hazards of writes and reads.

Whether a condition or an object's truth may fail is not asked."""

from __future__ import annotations

import ast

from codemods.source.classes import memo
from codemods.source.flow import Kind, Place, Risk, flow_of, names
from codemods.source.flow_points import Point
from codemods.source.parse import Function
from codemods.source.presence import Presence
from codemods.transforms.static_subject import Subject


def may_raise(subject: Subject, place: Place, known: str = "") -> bool:
    """Whether what stands there may fail. Code that is called may; so may a local that some path has not bound."""
    if place.risk is Risk.NAME:
        return place.node in memo(
            subject.files, "unbound names", subject.function, lambda: _unbound_names(subject.function)
        )
    return not is_harmless(subject, place.node, known)


def _unbound_names(function: Function) -> frozenset[ast.AST]:
    """Where a method uses a local that some path has not bound. What stands outside of it is taken to be there."""
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    bound = [each.arg for each in given if each is not None]
    flow = flow_of(function.body, names(), bound=bound)
    shared = {
        name for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names
    }
    local = flow.mask(flow.writes - shared)
    return frozenset(
        point.node
        for point in flow.points
        if point.kind in (Kind.READ, Kind.DELETE) and flow.unbound.get(point.number, 0) & flow.bit[point.key] & local
    )


def is_harmless(subject: Subject, node: ast.AST, known: str = "") -> bool:
    """An operation that can't fail: using an attribute of the object that is surely there. known: one that is."""
    if not isinstance(node, ast.Attribute):
        return False
    use = next((each for each in subject.needs.uses if each.node is node), None)
    if use is None or subject.accessor(use.attribute):
        return False
    is_known = use.attribute == known or subject.presence(use.attribute) is Presence.SURE
    return is_known or (use.attribute in subject.needs.written and not _is_first_use(subject, node))


def _is_first_use(subject: Subject, node: ast.AST) -> bool:
    """Whether some path comes to this read with the attribute neither written nor read before."""
    flow = subject.flow

    def unmet(point: Point, mask: int) -> int:
        return mask & ~flow.bit[point.key] if point.key and not point.late else mask

    before = flow.forward([(flow.graph.entry, flow.everything)], unmet)
    return any(
        point.kind is Kind.READ and before.get(point.number, 0) & flow.bit[point.key]
        for point in flow.points
        if point.node is node
    )
