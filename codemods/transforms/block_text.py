"""The text of a new function and of the call that stands in the block's place. Layout only: names come decided."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits, indent_edits, with_newline
from codemods.transforms.block_find import Part
from codemods.transforms.layout import exploded_lines


class Header(Struct, frozen=True, kw_only=True):
    """A function's head. items: its parameters as text, `*` included. decorators: without the `@`."""

    name: str
    items: tuple[str, ...]
    returns: str = ""
    is_async: bool = False
    decorators: tuple[str, ...] = ()


def header_lines(header: Header, indent: str, unit: str, line_length: int) -> list[str]:
    """The head, on one line where it fits."""
    found = [f"{indent}@{decorator}" for decorator in header.decorators]
    start = f"{indent}{'async ' if header.is_async else ''}def {header.name}("
    end = f") -> {header.returns}:" if header.returns else "):"
    one_line = start + ", ".join(header.items) + end
    if len(one_line) <= line_length or not header.items:
        return [*found, one_line]
    return [*found, start, *exploded_lines(header.items, indent + unit, line_length), indent + end]


def call_lines(
    before: str, callee: str, arguments: Sequence[str], after: str, indent: str, unit: str, line_length: int
) -> list[str]:
    """`before` + the call + `after`; the first line has no indentation (the caller knows where it stands)."""
    one_line = f"{before}{callee}({', '.join(arguments)}){after}"
    if len(indent) + len(one_line) <= line_length or not arguments:
        return [one_line]
    return [f"{before}{callee}(", *exploded_lines(arguments, indent + unit, line_length), f"{indent}){after}"]


class Cut(Struct, frozen=True, kw_only=True):
    """A part with the edits inside it, all in offsets of one file."""

    part: Part
    edits: tuple[Edit, ...]


def body_text(source: Source, cut: Cut, indent: bytes, unit: bytes) -> bytes:
    """The part with its edits, at its new indentation and with a newline at its end. unit: one more step.

    Raises MixedIndent where a block's lines do not share their indentation."""
    newline = source.text.newline
    start, end = cut.part.start, cut.part.end
    if cut.part.expression is None:
        old = source.text.indent_at(source.start(cut.part.statements[0]))
        text = _edited(source, cut, start, old, indent)
        return text if text.endswith((b"\n", b"\r")) else text + newline
    first_end = min(source.text.line_end(start), end)
    old = source.text.indent_at(start)
    text = _edited(source, cut, first_end, old, indent)
    if _is_closed(text):
        return indent + b"return " + text + newline
    if first_end == end:
        return indent + b"return (" + text + b")" + newline
    text = _edited(source, cut, first_end, old, indent + unit)
    return indent + b"return (" + newline + indent + unit + text + newline + indent + b")" + newline


def _edited(source: Source, cut: Cut, first_line: int, old: bytes, new: bytes) -> bytes:
    """The text with its edits and the indentation of the lines from offset `first_line` on replaced."""
    start, end = cut.part.start, cut.part.end
    moves = indent_edits(source, first_line, end, old=old, new=new) if first_line < end else []
    kept = [move for move in moves if not any(edit.start < move.start < edit.end for edit in cut.edits)]
    edits = [Edit(edit.start - start, edit.end - start, edit.text) for edit in (*kept, *cut.edits)]
    return apply_edits(source.body[start:end], edits)


def _is_closed(text: bytes) -> bool:
    """Whether the text is one statement's worth without brackets around it."""
    try:
        ast.parse(b"async def f():\n return " + text)
    except (SyntaxError, ValueError):
        return False
    return True


def lines_text(lines: Sequence[str], newline: bytes) -> bytes:
    """Lines as bytes in the file's own newline, each ended."""
    return with_newline("".join(f"{line}\n" for line in lines).encode(), newline)
