"""Whether a module-level name is surely bound once its module has been imported. Follows if, try, with and raise."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.source.parse import DEFINITIONS, Source


def always_bound(source: Source, name: str) -> bool:
    """Whether every way through the module's statements binds the name (or does not get to the end)."""
    return _binds(source.tree.body, name)


def _binds(statements: Sequence[ast.stmt], name: str) -> bool:
    return any(_one_binds(statement, name) for statement in statements)


def _one_binds(node: ast.stmt, name: str) -> bool:
    if isinstance(node, DEFINITIONS):
        return node.name == name
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return any((alias.asname or alias.name.partition(".")[0]) == name for alias in node.names)
    if isinstance(node, ast.Raise):
        return True  # nobody gets past it
    if isinstance(node, ast.If):
        return not _is_for_types(node.test) and _binds(node.body, name) and _binds(node.orelse, name)
    if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        return _try_binds(node, name)  # type: ignore[arg-type]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return _stores(node.items, name) or _binds(node.body, name)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        return False
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return False
    return _stores([node], name)


def _try_binds(node: ast.Try, name: str) -> bool:
    if _binds(node.finalbody, name):
        return True
    if not (_binds(node.body, name) or _binds(node.orelse, name)):
        return False
    return all(_binds(handler.body, name) for handler in node.handlers)


def _is_for_types(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _stores(nodes: Sequence[ast.AST], name: str) -> bool:
    return any(
        isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Store)
        for node in nodes
        for inner in ast.walk(node)
    )
