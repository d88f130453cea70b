"""Which branches of the subject's functions a walk has taken: a mark at the head of each, in the rewritten code.

Measured by ourselves and not by coverage.py: the code that runs is rewritten text under a name that is no file, and in
thousands of short runs a mark (one `set.add`) costs less than any tracer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_NAME = "_u_reach"


def mark(tree: ast.Module) -> None:
    """Put a mark into every branch of every function; in place. A branch is known by the line of its first statement,
    the missing `else` of an `if` by the negative line of the `if`."""
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for each in list(_own(node)):
                _mark_statement(each)
    ast.fix_missing_locations(tree)


def branches(function: ast.AST) -> dict[int, str]:
    """The branches of a function as it is written: line (negative for a missing `else`) to what it is."""
    found: dict[int, str] = {}
    for node in _own(function):
        found.update(_branches(node))
    return found


def _own(function: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, those of functions in it too (they run when it runs)."""
    for node in ast.walk(function):
        if isinstance(node, ast.stmt):
            yield node


def _branches(node: ast.stmt) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.If):
        yield node.body[0].lineno, "if"
        yield (node.orelse[0].lineno, "else") if node.orelse else (-node.lineno, "no else")
    elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
        yield node.body[0].lineno, "loop"
    elif isinstance(node, ast.Try):
        for handler in node.handlers:
            yield handler.body[0].lineno, "except"
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield case.body[0].lineno, "case"


def _mark_statement(node: ast.stmt) -> None:
    if isinstance(node, ast.If):
        _insert(node.body, node.body[0].lineno)
        if node.orelse:
            _insert(node.orelse, node.orelse[0].lineno)
        else:
            _insert(node.orelse, -node.lineno)
    elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
        _insert(node.body, _first_line(node.body))
    elif isinstance(node, ast.Try):
        for handler in node.handlers:
            _insert(handler.body, handler.body[0].lineno)


def _first_line(body: list[ast.stmt]) -> int:
    """Of a loop, whose first statement may be one of ours (on the line of its head)."""
    for each in body:
        is_ours = isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and _is_helper(each.value.func)
        if not is_ours:
            return each.lineno
    return body[0].lineno


def _is_helper(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith("_u_tick")


def _insert(body: list[ast.stmt], line: int) -> None:
    call = ast.Call(func=ast.Name(id=_NAME, ctx=ast.Load()), args=[ast.Constant(value=line)], keywords=[])
    at = body[0] if body else None
    made = ast.Expr(value=call)
    if at is not None:
        ast.copy_location(made, at)
    else:
        made.lineno, made.col_offset = abs(line), 0
    body.insert(0, made)
