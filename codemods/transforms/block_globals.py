"""`global` declarations around a block: which ones the rest of the function keeps. What the new function has to declare
is block_needs.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.source.binder import table
from codemods.source.scopes import Role
from codemods.source.splice import Edit
from codemods.transforms.block_find import Part, own_nodes, suites
from codemods.transforms.block_host import Host


def declared_for_the_rest(host: Host, part: Part) -> tuple[str, ...]:
    """Names that only the block declares global and that the rest of the function binds as well."""
    taken = {name for node in own_nodes(part) if isinstance(node, ast.Global) for name in node.names}
    kept = {name for node in _declarations(host) if not _is_in(host, node, [part]) for name in node.names}
    return tuple(name for name in sorted(taken - kept) if _is_bound_outside(host, name, [part]))


def global_edits(host: Host, parts: Sequence[Part]) -> list[Edit]:
    """Removes declarations that the rest of the function no longer needs because the blocks took all assignments."""
    edits: list[Edit] = []
    for node in _declarations(host):
        if _is_in(host, node, parts):
            continue
        was_needed = [name for name in node.names if _is_bound_inside(host, name, parts)]
        is_free = all(name in was_needed and not _is_bound_outside(host, name, parts) for name in node.names)
        if is_free and _is_alone(host, node):
            start = host.source.text.line_start(host.source.start(node))
            edits.append(Edit(start, host.source.text.line_end(host.source.end(node) - 1), b""))
    return edits


def _declarations(host: Host) -> Iterator[ast.Global]:
    for suite in suites(host.function):
        yield from (statement for statement in suite if isinstance(statement, ast.Global))


def _is_in(host: Host, node: ast.AST, parts: Sequence[Part]) -> bool:
    return any(part.start <= host.source.start(node) < part.end for part in parts)


def _bindings(host: Host, name: str) -> Iterator[int]:
    home = table(host.source).scope_of(host.function)
    for occurrence in table(host.source).between(host.source.start(host.function), host.source.end(host.function)):
        at = occurrence.scope
        while at is not home and at.parent is not None and at.kind.value == "comprehension":
            at = at.parent
        if occurrence.name == name and occurrence.role not in (Role.LOAD, Role.DECLARE) and at is home:
            yield occurrence.start


def _is_bound_inside(host: Host, name: str, parts: Sequence[Part]) -> bool:
    return any(part.start <= at < part.end for at in _bindings(host, name) for part in parts)


def _is_bound_outside(host: Host, name: str, parts: Sequence[Part]) -> bool:
    return any(not any(part.start <= at < part.end for part in parts) for at in _bindings(host, name))


def _is_alone(host: Host, node: ast.Global) -> bool:
    """Whether the statement has its line to itself and its suite another statement."""
    source = host.source
    line = source.text.line_text(source.text.line_of(source.start(node))).strip()
    suite = next(block for block in suites(host.function) if node in block)
    return line == source.segment(node) and len(suite) > 1
