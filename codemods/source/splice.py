"""Edits as spans of the original text: everything outside the spans stays byte for byte. Decides no syntax."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from msgspec import Struct

from codemods.schema.errors import InternalError
from codemods.source.fstrings import literals
from codemods.source.nodes import children
from codemods.source.parse import Source

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)?")


class Edit(Struct, frozen=True, order=True):
    """Replace start:end of a body by `text`; an insertion has start == end."""

    start: int
    end: int
    text: bytes


class OverlappingEdits(InternalError):
    """Two operations claim the same bytes."""

    code = "overlapping-edits"


def apply_edits(body: bytes, edits: Iterable[Edit]) -> bytes:
    """The new body. Insertions at one offset keep their order. Raises OverlappingEdits."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    parts: list[bytes] = []
    at = 0
    for edit in ordered:
        if edit.start < at:
            raise OverlappingEdits(
                f"two edits meet at byte {edit.start}", fix="report this plan as a bug; nothing was written"
            )
        parts += [body[at : edit.start], edit.text]
        at = edit.end
    parts.append(body[at:])
    return b"".join(parts)


def with_newline(text: bytes, newline: bytes) -> bytes:
    """Text written with \\n, in a file's own newline."""
    return text if newline == b"\n" else text.replace(b"\n", newline)


def frozen_spans(source: Source, start: int, end: int) -> list[tuple[int, int]]:
    """Spans inside start:end whose bytes are a string's content: the inside of literals that go over several lines."""
    found: list[tuple[int, int]] = []
    stack: list[ast.AST] = [source.tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt) and not _overlaps(source, node, start, end):
            continue
        stack.extend(_parts(node))
        is_string = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
        )
        if not is_string or getattr(node, "lineno", 0) == getattr(node, "end_lineno", 0):
            continue
        node_start, node_end = source.start(node), source.end(node)
        if start <= node_start and node_end <= end and source.body[node_start : node_start + 1] not in b"{:":
            found.extend((part.start, part.end) for part in literals(source.body, node_start, node_end))
    return sorted(found)


def _parts(node: ast.AST) -> list[ast.AST]:
    """Child nodes; of an f-string only what its fields evaluate (its text has no place of its own before 3.12)."""
    if isinstance(node, ast.JoinedStr):
        return [part for value in node.values if isinstance(value, ast.FormattedValue) for part in _parts(value)]
    if isinstance(node, ast.FormattedValue):
        return [node.value, *(_parts(node.format_spec) if node.format_spec is not None else ())]
    return children(node)


def _overlaps(source: Source, node: ast.stmt, start: int, end: int) -> bool:
    """Whether a statement (with its decorators) has a part in start:end."""
    first = min([source.start(node), *(source.start(each) for each in getattr(node, "decorator_list", []))])
    return first < end and start < source.end(node)


class MixedIndent(InternalError):
    """A block's lines do not share the indentation they must lose."""

    code = "mixed-indent"


def shifted(source: Source, start: int, end: int, *, old: bytes, new: bytes) -> bytes:
    """The lines of start:end with indentation `old` replaced by `new`, as `indent_edits` does it."""
    edits = [
        Edit(edit.start - start, edit.end - start, edit.text)
        for edit in indent_edits(source, start, end, old=old, new=new)
    ]
    return apply_edits(source.body[start:end], edits)


def indent_edits(source: Source, start: int, end: int, *, old: bytes, new: bytes) -> list[Edit]:
    """Edits that replace indentation `old` of the lines of start:end by `new`; text inside multi-line strings stays.

    `start` is at the beginning of a physical line. Lines that are blank, or continue an open bracket further left than
    `old`, lose what they have. Raises MixedIndent when a line starts with other blanks than `old` (tabs for spaces)."""
    frozen = frozen_spans(source, start, end)
    edits: list[Edit] = []
    at = start
    while at < end:
        match = _LINE.match(source.body, at, end)
        assert match is not None
        line = match.group()
        inside = any(span_start < at < span_end for span_start, span_end in frozen)
        if not inside and line.strip():
            edits.append(Edit(at, at + _indent_width(source, at, line, old), new))
        at = match.end()
    return [edit for edit in edits if source.body[edit.start : edit.end] != edit.text]


def _indent_width(source: Source, at: int, line: bytes, old: bytes) -> int:
    """How many bytes of the line's indentation stand for `old`."""
    if line.startswith(old):
        return len(old)
    blanks = line[: len(line) - len(line.lstrip(b" \t\x0c"))]
    if not old.startswith(blanks) or _is_logical_start(source, at):
        raise MixedIndent(
            f"line {source.text.line_of(at)} is indented with {blanks!r}, the block around it with {old!r}",
            path=source.path,
            fix="make the indentation of the block uniform first",
        )
    return len(blanks)


def _is_logical_start(source: Source, at: int) -> bool:
    first = at + len(source.text.indent_at(at))
    if source.body[first : first + 1] == b"#":
        return False
    return any(isinstance(node, ast.stmt) and source.start(node) == first for node in ast.walk(source.tree))
