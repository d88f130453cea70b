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


def add_export(source: Source, name: str, *, line_length: int = 88) -> list[Edit]:
    """`name` in the first list of `__all__`: in its place when the list is sorted, else at the end.

    Nothing when the module has no such list, or lists the name already."""
    containers = _containers(source)
    if not containers or any(export.name == name for export in exports_of(source)):
        return []
    container = containers[0]
    close = source.end(container) - 1 if source.body[source.end(container) - 1 : source.end(container)] in b")]" else 0
    if not close:
        return []
    quote = "'" if container.elts and source.segment(container.elts[-1]).startswith(b"'") else '"'
    text = f"{quote}{name}{quote}".encode()
    if not container.elts:
        return [Edit(close, close, text + (b"," if isinstance(container, ast.Tuple) else b""))]
    before = _successor(container, name)
    if container.lineno == container.end_lineno:
        line = source.text.line_text(container.lineno)
        if len(line.decode()) + len(text) + 2 > line_length and b"#" not in line and isinstance(container, ast.List):
            return [_exploded(source, container, text, before)]
        if before is not None:
            return [Edit(source.start(before), source.start(before), text + b", ")]
        return [Edit(source.end(container.elts[-1]), source.end(container.elts[-1]), b", " + text)]
    return [_own_line(source, container, text, before, close)]


def _successor(container: ast.List | ast.Tuple, name: str) -> ast.expr | None:
    """The entry that a new name stands before, when all are texts in order."""
    names = [each.value for each in container.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if len(names) < len(container.elts) or len(names) < 2 or names != sorted(names):
        return None
    return next((each for each, other in zip(container.elts, names, strict=True) if other > name), None)


def _exploded(source: Source, container: ast.List | ast.Tuple, text: bytes, before: ast.expr | None) -> Edit:
    """A list that gets too long for its line, one name a line."""
    entries = [source.segment(each) for each in container.elts]
    at = container.elts.index(before) if before is not None else len(entries)
    entries.insert(at, text)
    newline = source.text.newline
    indent = source.text.indent_at(source.start(container))
    lines = b"".join(indent + b"    " + entry + b"," + newline for entry in entries)
    return Edit(source.start(container) + 1, source.end(container) - 1, newline + lines + indent)


def _own_line(
    source: Source, container: ast.List | ast.Tuple, text: bytes, before: ast.expr | None, close: int
) -> Edit:
    newline = source.text.newline
    if before is not None:
        at = source.text.line_start(source.start(before))
        indent = source.text.indent_at(at)
        if not source.body[at : source.start(before)].strip():
            return Edit(at, at, indent + text + b"," + newline)
        return Edit(source.start(before), source.start(before), text + b", ")
    last = container.elts[-1]
    after = source.end(last)
    tail = source.body[after:close]
    has_comma = tail.lstrip().startswith(b",")
    indent = source.text.indent_at(source.start(last))
    if not has_comma:
        return Edit(after, after, b"," + newline + indent + text)
    if b"\n" not in tail and b"\r" not in tail:
        return Edit(after, after, b", " + text)
    at = source.text.line_end(after)
    return Edit(at, at, indent + text + b"," + newline)
