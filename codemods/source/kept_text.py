"""What `{expression=}` prints is the source text of the expression: the edits that keep it when the expression changes.

`f"{x=}"` becomes `f"x={y!r}"` when x becomes y. Which expressions change is the caller's to say."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from codemods.source.fstrings import Field, Literal, literals, outermost
from codemods.source.parse import Source
from codemods.source.splice import Edit

Span = tuple[int, int]


class Kept(Struct, frozen=True):
    """`edits` go together with those that change the expressions. unkept: offsets of fields whose text can't be written
    into their string (a raw string has no way to write its own quote)."""

    edits: tuple[Edit, ...] = ()
    unkept: tuple[int, ...] = ()


def keep_printed(source: Source, changing: Iterable[Span]) -> Kept:
    """What is needed so that fields with `=` print what they did, where code inside the spans changes."""
    spans = sorted(changing)
    if not spans or b"=" not in source.body:
        return Kept()
    edits: list[Edit] = []
    unkept: list[int] = []
    for node in outermost(source.tree):
        if not any(source.start(node) <= start and end <= source.end(node) for start, end in spans):
            continue
        for literal, field in _fields(source, node):
            if not field.has_equal or not _changes(field, spans):
                continue
            text = _written(source.body[field.expression_start : field.equal_end], literal)
            if text is None:
                unkept.append(field.start)
            else:
                edits += _kept(source, field, text)
    return Kept(tuple(edits), tuple(unkept))


def _fields(source: Source, node: ast.JoinedStr) -> Iterator[tuple[Literal, Field]]:
    """Every field with the literal it stands in: those of format specs and of f-strings inside expressions as well."""
    for literal in literals(source.body, source.start(node), source.end(node)):
        for field in literal.fields:
            yield literal, field
            yield from ((literal, inner) for inner in field.nested)
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            for inner in outermost(value.value):
                yield from _fields(source, inner)
            for spec in ast.iter_child_nodes(value.format_spec) if value.format_spec else ():
                for inner in outermost(spec.value) if isinstance(spec, ast.FormattedValue) else ():
                    yield from _fields(source, inner)


def _changes(field: Field, spans: list[Span]) -> bool:
    return any(field.expression_start <= start and end <= field.expression_end for start, end in spans)


def _kept(source: Source, field: Field, text: bytes) -> list[Edit]:
    expression = source.body[field.expression_start : field.expression_end]
    end = field.expression_start + len(expression.rstrip())
    # With a format spec and no conversion the value is formatted, not represented.
    conversion = b"" if field.has_conversion or field.has_spec else b"!r"
    return [Edit(field.start, field.start, text), Edit(end, field.equal_end, conversion)]


def _written(text: bytes, literal: Literal) -> bytes | None:
    """The text as it must stand between the quotes to print as it is; None when it can't."""
    if b"#" in text and b"\n" in text:
        return None  # a comment inside the braces: what Python prints of it has changed between versions
    if b"r" in literal.prefix:
        needs_escape = b"\\" in text or literal.quote[:1] in text or (b"\n" in text and len(literal.quote) == 1)
        return None if needs_escape else text.replace(b"{", b"{{").replace(b"}", b"}}")
    text = text.replace(b"\\", b"\\\\").replace(literal.quote[:1], b"\\" + literal.quote[:1])
    if len(literal.quote) == 1:
        text = text.replace(b"\r\n", b"\\n").replace(b"\n", b"\\n").replace(b"\r", b"\\n")
    return text.replace(b"{", b"{{").replace(b"}", b"}}")
