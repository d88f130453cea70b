"""The text of a new function and of the call that stands in the block's place. Layout only: names come decided."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits, shifted, with_newline
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


def body_texts(source: Source, cuts: Sequence[Cut], indents: Sequence[bytes], unit: bytes) -> list[bytes]:
    """The text of each part with its edits, at its new indentation and with a newline at its end. unit: one more step.

    Raises MixedIndent where a block's lines do not share their indentation."""
    edits = [edit for cut in cuts for edit in cut.edits]
    edited = source
    if edits:
        edited = Source(source.path, source.text.encode(apply_edits(source.body, edits)))
    found = []
    for cut, indent in zip(cuts, indents, strict=True):
        start, end = _moved(cut.part.start, edits), _moved(cut.part.end, edits)
        found.append(
            _expression_text(edited, start, end, indent, unit)
            if cut.part.expression is not None
            else _row_text(edited, start, end, source.text.indent_at(source.start(cut.part.statements[0])), indent)
        )
    return found


def _moved(offset: int, edits: Sequence[Edit]) -> int:
    """Where an offset outside of all edits is once they are made."""
    return offset + sum(len(edit.text) - (edit.end - edit.start) for edit in edits if edit.end <= offset)


def _row_text(source: Source, start: int, end: int, old: bytes, new: bytes) -> bytes:
    text = shifted(source, start, end, old=old, new=new)
    return text if text.endswith((b"\n", b"\r")) else text + source.text.newline


def _expression_text(source: Source, start: int, end: int, indent: bytes, unit: bytes) -> bytes:
    """`return` of an expression; one that needs brackets to go over several lines gets them."""
    newline = source.text.newline
    first_end = min(source.text.line_end(start), end)
    head, old = source.body[start:first_end], source.text.indent_at(start)
    lines = head + shifted(source, first_end, end, old=old, new=indent)
    if _is_closed(lines):
        return indent + b"return " + lines + newline
    lines = head + shifted(source, first_end, end, old=old, new=indent + unit)
    return indent + b"return (" + newline + indent + unit + lines + newline + indent + b")" + newline


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
