"""Which isinstance test holds where a name is read: `if`, `and`, conditional expressions, `assert`, early exits.

Only tests of the very name, not reassigned in between. Reads one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.source.parse import FUNCTIONS, Source
from codemods.source.scopes import Scope

_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def guard_of(source: Source, node: ast.Name, home: Scope) -> ast.expr | None:
    """The class expression C of the innermost `isinstance(name, C)` that holds at `node`; None without one."""
    if node not in source.parents:
        return None
    at = source.start(node)
    rebound = [each.start for each in home.bound.get(node.id, ()) if each.node is not node]
    for tested, since in _holding(source, node):
        found = _instance_test(tested, node.id)
        if found is not None and not any(since <= start < at for start in rebound):
            return found
    return None


def _holding(source: Source, node: ast.AST) -> Iterator[tuple[ast.expr, int]]:
    """Conditions that hold at a node, inside out, each with the offset since when; a function's body starts afresh."""
    below: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, (ast.If, ast.While)) and below in above.body:
            yield from ((each, source.end(each)) for each in _conjuncts(above.test))
        elif isinstance(above, ast.IfExp) and below is above.body:
            yield from ((each, source.start(above)) for each in _conjuncts(above.test))
        elif isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And):
            before = above.values[: next(index for index, value in enumerate(above.values) if value is below)]
            yield from ((each, source.end(each)) for value in before for each in _conjuncts(value))
        if isinstance(below, ast.stmt):
            yield from _above_in_block(source, above, below)
        if isinstance(above, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            return
        below = above


def _above_in_block(source: Source, block: ast.AST, statement: ast.stmt) -> Iterator[tuple[ast.expr, int]]:
    """`assert isinstance(...)` and `if not isinstance(...): return` above a statement in its own block."""
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(block, name, None)
        if not isinstance(statements, list) or statement not in statements:
            continue
        for each in reversed(statements[: statements.index(statement)]):
            if isinstance(each, ast.Assert):
                yield from ((test, source.end(each)) for test in _conjuncts(each.test))
            elif isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], _LEAVING):
                test = each.test
                if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    yield from ((inner, source.end(each)) for inner in [test.operand])


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [each for value in test.values for each in _conjuncts(value)]
    return [test]


def _instance_test(test: ast.expr, name: str) -> ast.expr | None:
    if isinstance(test, ast.Call) and getattr(test.func, "id", "") == "isinstance" and len(test.args) == 2:
        tested = test.args[0]
        if isinstance(tested, ast.Name) and tested.id == name:
            return test.args[1]
    return None
