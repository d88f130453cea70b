"""Locals that only give an attribute of `self` a shorter name: `server_args = self.server_args` at the top of a method.

The parameter takes the local's name and the statement goes; finding them is all that is done here."""

from __future__ import annotations

import ast

from codemods.source.binder import table
from codemods.source.parse import Function, Source
from codemods.source.scopes import Role
from codemods.source.usage import Use


def alias_of(source: Source, function: Function, uses: list[Use], path: str, wanted: str) -> ast.Assign | None:
    """The statement that makes `wanted` a local for the attribute at `path`, if that is all the local ever is.

    The local is bound once, at the top level of the body, and used only after that."""
    for use in uses:
        node: ast.AST = use.node
        for _ in range(path.count(".")):
            node = source.parents[node]
        statement = source.parents[node]
        if not isinstance(statement, ast.Assign) or statement not in function.body or statement.value is not node:
            continue
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name) or target.id != wanted:
            continue
        if _is_only_binding(source, function, statement, target) and _stands_alone(source, function, statement):
            return statement
    return None


def _is_only_binding(source: Source, function: Function, statement: ast.Assign, target: ast.Name) -> bool:
    scopes = table(source)
    home = scopes.scope_of(function)
    end = source.end(statement)
    for each in scopes.between(source.start(function), source.end(function)):
        if each.name != target.id or each.node is target:
            continue
        if each.role is not Role.LOAD or scopes.resolve(each) is not home or each.start < end:
            return False
    return True


def _stands_alone(source: Source, function: Function, statement: ast.Assign) -> bool:
    """Nothing else is on its lines, and the body has more than this statement."""
    start, end = source.start(statement), source.end(statement)
    before = source.body[source.text.line_start(start) : start].strip()
    after = source.body[end : source.text.line_end(end)].strip()
    is_text = isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant)
    return not before and (not after or after.startswith(b"#")) and len(function.body) > 1 + is_text
