"""What a comparison or a calculation says about the values in it: constants at the spots, and ties between inputs."""

from __future__ import annotations

import ast
from typing import Any

from codemods.prove.domains_evidence import NOTHING, Facts, Value, united
from codemods.prove.domains_home import MISSING

_ORDERED = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def compared(facts: Facts, left: Value, op: ast.cmpop, right: Value) -> None:
    """`left op right`."""
    if isinstance(op, (ast.In, ast.NotIn)):
        _contained(facts, left, right)
        return
    if isinstance(op, (ast.Is, ast.IsNot)):
        for value, other in ((left, right), (right, left)):
            if other.constant is None:
                facts.note(value, "kind", "none")
            elif isinstance(other.constant, bool):
                facts.note(value, "kind", "bool")
        return
    for value, other in ((left, right), (right, left)):
        if other.constant is not MISSING:
            facts.equal(value, other.constant)
    if isinstance(op, _ORDERED):
        if isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            facts.note(united(left, right), "kind", "ordered")
        _tied(facts, left, right)


def _tied(facts: Facts, left: Value, right: Value) -> None:
    """An input compared with what other inputs make: the first one that is an input itself is tied."""
    for value, other in ((left, right), (right, left)):
        roots = {root for root, _ in other.spots}
        if value.root and other.expr is not None and roots and value.root not in roots:
            facts.tie(value.root, other.expr, "near")
            return


def _contained(facts: Facts, left: Value, right: Value) -> None:
    if isinstance(right.constant, (list, tuple, dict)):
        for each in right.constant:
            facts.equal(left, each)
    elif right.constant is not MISSING and isinstance(right.constant, str):
        facts.note(left, "exact", *right.constant)
        facts.note(left, "kind", "str")
    for item in right.items:
        compared(facts, left, ast.Eq(), item)
    if isinstance(left.constant, str):
        parts = frozenset(spot for spot in right.spots if spot[1][-1:] in {("pieces",), ("slice",)})
        facts.note(Value(parts).step("item"), "exact", left.constant)
        facts.note(Value(right.spots - parts), "mark", left.constant)
        facts.note(right, "kind", "contains_text")
    elif left.constant is not MISSING and left.constant is not None:
        facts.note(right.step("item"), "exact", left.constant)
        facts.note(right, "kind", "contains")
    if left.root and right.expr is not None and right.spots and left.root not in {root for root, _ in right.spots}:
        facts.tie(left.root, right.expr, "member")


def calculated(facts: Facts, left: Value, op: ast.operator, right: Value) -> Value:
    """`left op right`."""
    for value, other in ((left, right), (right, left)):
        _kind_from(facts, value, op, other.constant)
    if isinstance(op, (ast.Mod, ast.FloorDiv)):
        if isinstance(right.constant, int) and not isinstance(right.constant, bool):
            facts.note(left, "divisor", right.constant)
        elif (
            left.root and right.expr is not None and right.spots and left.root not in {root for root, _ in right.spots}
        ):
            facts.tie(left.root, right.expr, "near")
    if isinstance(op, (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.LShift, ast.RShift)):
        facts.note(united(left, right), "kind", "number")
    expr: ast.expr | None = None
    if left.expr is not None and right.expr is not None and not isinstance(op, (ast.Pow, ast.LShift, ast.MatMult)):
        expr = ast.BinOp(left.expr, op, right.expr)
    spots = united(left, right).spots
    return Value(spots, expr) if spots or expr is not None else NOTHING


def _kind_from(facts: Facts, value: Value, op: ast.operator, constant: Any) -> None:
    if not value.spots or constant is MISSING:
        return
    if isinstance(op, ast.Add) and isinstance(constant, str):
        facts.note(value, "kind", "str")
    elif isinstance(constant, float):
        facts.note(value, "kind", "float")
    elif isinstance(constant, int) and isinstance(op, (ast.Add, ast.Sub, ast.Mod, ast.FloorDiv, ast.Div)):
        facts.note(value, "kind", "int")
