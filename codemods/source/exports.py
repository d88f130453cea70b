"""`__all__` of a module: which names it lists, where each stands, and how one is added. Reads and plans edits."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.source.locate import flattened
from codemods.source.parse import Source
from codemods.source.splice import Edit


class Export(Struct, frozen=True, eq=False):
    """One name in a list that makes up `__all__`."""

    name: str
    node: ast.Constant
    container: ast.List | ast.Tuple


def exports_of(source: Source) -> list[Export]:
    """The names of `__all__ = […]`, `__all__ += […]`, `__all__.extend([…])` and `.append("…")` at module level."""
    found: list[Export] = []
    for container in _containers(source):
        for node in container.elts:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(Export(node.value, node, container))
    return found


def _containers(source: Source) -> list[ast.List | ast.Tuple]:
    found: list[ast.List | ast.Tuple] = []
    for statement in flattened(source.tree.body):
        value: ast.expr | None = None
        if isinstance(statement, ast.Assign):
            value = statement.value if _is_all(statement.targets[0]) else None
        elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            value = statement.value if _is_all(statement.target) else None
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func
            if isinstance(function, ast.Attribute) and _is_all(function.value) and statement.value.args:
                value = statement.value.args[0]
        if isinstance(value, (ast.List, ast.Tuple)):
            found.append(value)
    return found


def _is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "__all__"


def has_exports(source: Source) -> bool:
    """Whether the module declares what it exports."""
    return bool(_containers(source))


def add_export(source: Source, name: str) -> list[Edit]:
    """`name` at the end of the first list of `__all__`; nothing when the module has none, or lists it already."""
    containers = _containers(source)
    if not containers or any(export.name == name for export in exports_of(source)):
        return []
    container = containers[0]
    close = source.end(container) - 1 if source.body[source.end(container) - 1 : source.end(container)] in b")]" else 0
    if not close:
        return []
    quote = "'" if container.elts and source.segment(container.elts[-1]).startswith(b"'") else '"'
    text = f"{quote}{name}{quote}"
    if not container.elts:
        return [Edit(close, close, text.encode() + (b"," if isinstance(container, ast.Tuple) else b""))]
    last = container.elts[-1]
    after = source.end(last)
    if container.lineno == container.end_lineno:
        return [Edit(after, after, f", {text}".encode())]
    tail = source.body[after:close]
    comma = b"" if tail.lstrip().startswith(b",") else b","
    at = after + tail.index(b",") + 1 if not comma else after
    indent = source.text.indent_at(source.start(last))
    return [Edit(at, at, comma + source.text.newline + indent + text.encode() + (b"," if not comma else b""))]
