"""`f"{self.x=}"` prints its own source text: when the expression changes, the text is kept as literal text.

Turns edits inside such fields into one edit of the whole field; other edits pass through."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.schema.hazards import Refusal
from codemods.source.fstrings import Field, fields_of, literals, outermost
from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits


def keep_printed(source: Source, scope: ast.AST, edits: Iterable[Edit]) -> tuple[list[Edit], list[Refusal]]:
    """Edits for the code under `scope` such that every `{expression=}` prints what it printed before.

    A field whose text can't stand in the literal part of its f-string (a backslash, its own quote) is refused."""
    pending = sorted(edits)
    fields = [(node, field) for node in outermost(scope) for field in _equal_fields(source, node)]
    out: list[Edit] = []
    refusals: list[Refusal] = []
    for node, field in fields:
        inside = [edit for edit in pending if field.expression_start <= edit.start and edit.end <= field.expression_end]
        if not inside:
            continue
        pending = [edit for edit in pending if edit not in inside]
        if _can_be_literal(source, node, field):
            out.append(_spelled_out(source, field, inside))
        else:
            refusals.append(_refusal(source, field))
    return [*out, *pending], refusals


def _equal_fields(source: Source, node: ast.JoinedStr) -> list[Field]:
    found: list[Field] = []
    stack = list(fields_of(source.text, node))
    while stack:
        field = stack.pop()
        stack.extend(field.nested)
        if field.has_equal:
            found.append(field)
    return found


def _can_be_literal(source: Source, node: ast.JoinedStr, field: Field) -> bool:
    text = source.body[field.expression_start : field.equal_end]
    holder = next(
        part
        for part in literals(source.body, source.start(node), source.end(node))
        if part.start <= field.start and field.end <= part.end
    )
    quote = holder.quote[:1]
    return (
        b"\\" not in text and quote not in text and b"#" not in text and not (b"\n" in text and len(holder.quote) == 1)
    )


def _spelled_out(source: Source, field: Field, inside: list[Edit]) -> Edit:
    """`{self.x = :>4}` becomes `self.x = {x:>4}`; without conversion and format spec `=` means `!r`."""
    literal = source.body[field.expression_start : field.equal_end].replace(b"{", b"{{").replace(b"}", b"}}")
    shifted = [
        Edit(edit.start - field.expression_start, edit.end - field.expression_start, edit.text) for edit in inside
    ]
    expression = apply_edits(source.body[field.expression_start : field.expression_end], shifted).strip()
    conversion = b"" if field.has_conversion or field.has_spec else b"!r"
    return Edit(field.start, field.equal_end, literal + b"{" + expression + conversion)


def _refusal(source: Source, field: Field) -> Refusal:
    text = source.body[field.expression_start : field.equal_end].decode("utf-8", "replace")
    return Refusal(
        code="printed-text",
        path=source.path,
        line=source.text.line_of(field.start),
        message=f"{{{text}}} prints its own source text, which can't be kept as literal text in this string",
        settle="write the text out by hand first",
    )
