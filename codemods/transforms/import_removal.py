"""The edits that take imported names out: a line of a list, a name of a line, a statement with blank lines, a block.

Whether an import may go is decided by drop_imports.py."""

from __future__ import annotations

import ast
import re

from codemods.schema.hazards import Hazard, Severity
from codemods.source.import_layout import Statement, module_of
from codemods.source.imports import Import
from codemods.source.locate import shares_line, tail_end
from codemods.source.parse import Source
from codemods.source.splice import Edit

_PRAGMA = re.compile(rb"#\s*(noqa|type: *ignore|pylint|isort|pragma|pyright|ruff)")

_SHORT = 79  # what fits on one line by any formatter's measure


def removal(source: Source, going: list[Import]) -> tuple[list[Edit], list[Hazard]]:
    """Edits that take the names out of their statements, and a note for each comment that goes with them."""
    by_statement: dict[Statement, set[ast.alias]] = {}
    for found in going:
        by_statement.setdefault(found.statement, set()).add(found.alias)
    whole: list[ast.stmt] = [node for node, names in by_statement.items() if len(names) == len(node.names)]
    edits = _whole(source, whole)
    for statement, aliases in by_statement.items():
        if statement not in whole:
            edits.extend(_some(source, statement, aliases))
    return edits, [note for edit in edits for note in _lost_comments(source, edit)]


def _lost_comments(source: Source, edit: Edit) -> list[Hazard]:
    found = []
    at = edit.start
    for line in source.body[edit.start : edit.end].splitlines(keepends=True):
        comment = line[line.index(b"#") :].strip() if b"#" in line else b""
        if comment and comment not in edit.text and not _PRAGMA.match(comment):
            found.append(
                Hazard(
                    code="U109",
                    severity=Severity.NOTE,
                    path=source.path,
                    line=source.text.line_of(at),
                    message=f"the comment {comment.decode('utf-8', 'replace')!r} goes with the import it stood on",
                    settle="move the comment by hand if it still says something",
                )
            )
        at += len(line)
    return found


# -- whole statements


def _whole(source: Source, going: list[ast.stmt]) -> list[Edit]:
    """Statements out of their blocks; a block that would be empty keeps `pass`, or goes when it is for types only."""
    edits: list[Edit] = []
    lines: list[ast.stmt] = []
    emptied: list[ast.If] = []
    for statement in going:
        parent = source.parents[statement]
        block = _block_of(parent, statement)
        if isinstance(parent, ast.Module) or any(other not in going for other in block):
            if shares_line(source, statement):
                edits.append(_out_of_line(source, statement))
            else:
                lines.append(statement)
        elif isinstance(parent, ast.If) and _is_for_types(parent) and not parent.orelse:
            if parent not in emptied:
                emptied.append(parent)
                edits_of_parent = _whole(source, [parent])
                edits.extend(edits_of_parent)
        elif statement is block[0]:
            edits.append(Edit(source.start(statement), source.end(statement), b"pass"))
        else:
            lines.append(statement)
    return [*edits, *(_lines_out(source, start, end) for start, end in _runs(source, lines))]


def _block_of(parent: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    for _, value in ast.iter_fields(parent):
        if isinstance(value, list) and statement in value:
            return value
    raise AssertionError("a statement stands in a block of its parent")


def _is_for_types(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _runs(source: Source, statements: list[ast.stmt]) -> list[tuple[int, int]]:
    """Spans of whole lines; neighbours make one."""
    runs: list[tuple[int, int]] = []
    for statement in sorted(statements, key=source.start):
        start, end = source.text.line_start(source.start(statement)), tail_end(source, statement)
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def _lines_out(source: Source, start: int, end: int) -> Edit:
    """Whole lines, with blank lines that held them apart: those above when there are some on both sides, those below
    at the top of the file."""
    text, body = source.text, source.body
    first_blank, last_blank = start, end
    while first_blank > 0 and not body[text.line_start(first_blank - 1) : first_blank].strip(b" \t\r\n"):
        first_blank = text.line_start(first_blank - 1)
    if first_blank > 0 and body[:first_blank].rstrip(b"\r\n").endswith(b"\\"):
        first_blank = start  # a blank line that a backslash has made part of the statement above
    while last_blank < len(body) and not body[last_blank : text.line_end(last_blank)].strip(b" \t\r\n"):
        last_blank = text.line_end(last_blank)
    if first_blank == 0:
        return Edit(0, last_blank, b"")
    if last_blank > end or end == len(body):
        return Edit(first_blank, end, b"")
    return Edit(start, end, b"")


def _out_of_line(source: Source, statement: ast.stmt) -> Edit:
    """One of several statements on a line."""
    start, end = source.start(statement), source.end(statement)
    tail = end
    while source.body[tail : tail + 1] in (b" ", b"\t", b";"):
        tail += 1
    is_last = source.body[tail : tail + 1] in (b"", b"\n", b"\r", b"#")
    if not is_last:
        return Edit(start, tail, b"")
    line = source.body[source.text.line_start(start) : start]
    return Edit(start - len(line) + len(line.rstrip(b" \t;")), end, b"")


# -- some names of a statement


def _some(source: Source, statement: Statement, aliases: set[ast.alias]) -> list[Edit]:
    """Whole lines where each name has its own, else each name up to its neighbour."""
    names = statement.names
    lines = [alias.lineno for alias in names]
    own_lines = len(set(lines)) == len(lines) and statement.lineno not in lines and statement.end_lineno not in lines
    if own_lines and b"\\" not in source.segment(statement):
        line_start, line_end = source.text.line_start, source.text.line_end
        spans = [(line_start(source.start(each)), line_end(source.end(each) - 1)) for each in names if each in aliases]
        return [Edit(start, end, b"") for start, end in spans]
    segment = source.segment(statement)
    if isinstance(statement, ast.ImportFrom) and statement.lineno != statement.end_lineno and b"#" not in segment:
        left = ", ".join(source.segment(each).decode() for each in names if each not in aliases)
        text = f"from {module_of(statement)} import {left}"
        if len(text) + statement.col_offset <= _SHORT:
            return [Edit(source.start(statement), source.end(statement), text.encode())]
    edits: list[Edit] = []
    kept = [index for index, alias in enumerate(names) if alias not in aliases]
    if kept[-1] + 1 < len(names):
        edits.append(Edit(source.end(names[kept[-1]]), source.end(names[-1]), b""))
    for index, alias in enumerate(names[: kept[-1]]):
        if alias in aliases:
            edits.append(Edit(source.start(alias), source.start(names[index + 1]), b""))
    return edits
