"""Imports inside functions: which scope an offset is in, where an import stands in a body, and the edits that put it
there. That one is needed, and why not at the top, is decided by adjust_imports.py."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.source.binder import table
from codemods.source.import_layout import Line, from_statement
from codemods.source.parse import Function, Source
from codemods.source.scopes import Scope, ScopeKind
from codemods.source.splice import Edit, with_newline
from codemods.transforms.layout import indent_unit

# What stands inside may not be evaluated when the statement around it is.
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ExceptHandler, ast.match_case)


def scope_at(source: Source, at: int) -> Scope:
    """The innermost scope whose body holds the offset; a decorator or default belongs to the scope around."""
    scopes = table(source)
    current = scopes.module
    while True:
        inner = [child for child in current.children if _holds(source, child, at)]
        if not inner:
            return current
        current = inner[0]


def _holds(source: Source, scope: Scope, at: int) -> bool:
    node = scope.node
    if scope.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
        body = node.body  # type: ignore[attr-defined]
        return source.text.line_start(source.start(body[0])) <= at < source.end(node) or _on_one_line(source, node, at)
    return source.start(node) <= at < source.end(node)


def _on_one_line(source: Source, node: ast.AST, at: int) -> bool:
    return source.start(node.body[0]) <= at < source.end(node)  # type: ignore[attr-defined]


def body_start(source: Source, function: Function) -> tuple[int, bytes]:
    """Offset of the line of the first statement after the docstring, the comments above it, and its indent."""
    body = function.body
    has_docstring = _has_docstring(function)
    anchor = source.start(body[1] if has_docstring else body[0])
    start = source.text.line_start(anchor)
    floor = source.end(body[0]) if has_docstring else source.start(function)
    while source.text.line_start(start - 1) > floor:
        above = source.text.line_start(start - 1)
        if not source.body[above:start].lstrip().startswith(b"#"):
            break
        start = above
    return start, source.text.indent_at(anchor)


def _has_docstring(function: Function) -> bool:
    first = function.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return is_text and len(function.body) > 1


def local_edit(source: Source, function: Function, lines: Iterable[str], *, outer: bytes = b"") -> Edit:
    """Imports at the top of a body. outer: indentation that the function is about to lose."""
    texts = [line.encode() for line in lines]
    first = function.body[1 if _has_docstring(function) else 0]
    at, inner = body_start(source, function)
    if at <= source.start(function):  # the body stands on the line of the header
        own = source.text.indent_at(source.start(function))
        inner = own.removeprefix(outer) + indent_unit(source)
        block = b"".join(b"\n" + inner + text for text in texts) + b"\n\n" + inner
        at = source.start(first)
        start = at - len(source.body[:at]) + len(source.body[:at].rstrip(b" \t"))
        return Edit(start, at, with_newline(block, source.text.newline))
    inner = inner.removeprefix(outer)
    gap = b"" if isinstance(first, (ast.Import, ast.ImportFrom)) else b"\n"
    block = b"".join(inner + text + b"\n" for text in texts) + gap
    return Edit(at, at, with_newline(block, source.text.newline))


def line_above(source: Source, statement: ast.stmt, line: str, *, outer: bytes = b"") -> Edit:
    """An import directly above a statement that begins its line. outer: as in `local_edit`."""
    at = source.text.line_start(source.start(statement))
    inner = source.text.indent_at(source.start(statement))
    inner = inner.removeprefix(outer)
    return Edit(at, at, with_newline(inner + line.encode() + b"\n\n", source.text.newline))


def places_for(source: Source, function: Function, reads: Iterable[ast.AST]) -> list[ast.stmt] | None:
    """Statements above which an import runs exactly when the code gets to the first of the reads, and no sooner.

    None when there are none: a read that only a part of a statement gets to, or one where a missing name is caught."""
    wanted = set(reads)
    found: list[ast.stmt] = []
    return found if _search(source, function.body, wanted, found) else None


def _search(source: Source, block: list[ast.stmt], wanted: set[ast.AST], found: list[ast.stmt]) -> bool:
    for statement in block:
        inside = wanted.intersection(ast.walk(statement))
        if not inside:
            continue
        blocks = _blocks(statement)
        nested = {node for each in blocks for inner in each for node in ast.walk(inner)}
        in_head = inside - nested
        if in_head:
            if not _begins_line(source, statement) or not any(_is_certain(source, node, statement) for node in in_head):
                return False
            found.append(statement)
            return True  # whatever follows in this block comes later
        if isinstance(statement, ast.Try) and _catches_names(statement):
            return False
        if not all(_search(source, each, wanted, found) for each in blocks):
            return False
    return True


def _begins_line(source: Source, statement: ast.stmt) -> bool:
    start = source.start(statement)
    return not source.body[source.text.line_start(start) : start].strip() and not source.body.startswith(b"elif", start)


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    found = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    found += [case.body for case in getattr(statement, "cases", [])]
    return [block for block in found if isinstance(block, list) and block and isinstance(block[0], ast.stmt)]


def _is_certain(source: Source, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether the statement evaluates the node whenever it runs."""
    below = node
    for above in source.ancestors(node):
        if isinstance(above, ast.IfExp) and below is not above.test:
            return False
        if isinstance(above, ast.BoolOp) and below is not above.values[0]:
            return False
        if isinstance(above, ast.Compare) and below not in (above.left, above.comparators[0]):
            return False
        if isinstance(above, _LATER):
            return False
        if above is statement:
            return not (isinstance(above, ast.Assert) and below is above.msg)
        below = above
    return True


def _catches_names(statement: ast.Try) -> bool:
    """Whether a handler is there for a name that is missing: an import would raise something else."""
    kinds = [ast.unparse(handler.type) if handler.type is not None else "" for handler in statement.handlers]
    return any(kind == "" or "NameError" in kind or "ImportError" in kind for kind in kinds)


def grouped(lines: list[str], line_length: int) -> tuple[str, ...]:
    """One statement for all names of a module."""
    groups: dict[str, list[Line]] = {}
    for line in dict.fromkeys(lines):
        each = parsed(line)
        groups.setdefault(each.module if each.name else line, []).append(each)
    found = []
    for module, group in groups.items():
        text = from_statement(module, [each.one for each in group], "", 10_000) if group[0].name else group[0].text()
        is_long = len(text) + 4 > line_length
        found.extend([each.text() for each in sorted(group)] if is_long else [text])
    return tuple(found)


def parsed(line: str) -> Line:
    """A `from … import` as data."""
    statement = ast.parse(line).body[0]
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    alias = statement.names[0]
    if isinstance(statement, ast.Import):
        return Line(alias.name, "", alias.asname or "")
    return Line("." * statement.level + (statement.module or ""), alias.name, alias.asname or "")
