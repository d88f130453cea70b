"""Comments of a function that is inlined: which go with it, and which may stand above its only call. Text only."""

from __future__ import annotations

import ast

from codemods.source.locate import head_start, tail_end
from codemods.source.parse import Source
from codemods.source.splice import Edit
from codemods.transforms.inline_body import Forwarder


def _lines(forwarder: Forwarder) -> list[tuple[int, bytes]]:
    """Comment lines of the definition, with their offsets, those inside its expression left out."""
    source, node = forwarder.source, forwarder.function
    first, last = source.start(forwarder.expression), source.end(forwarder.expression)
    at, end = head_start(source, node), tail_end(source, node)
    found: list[tuple[int, bytes]] = []
    while at < end:
        after = source.text.line_end(at)
        line = source.body[at:after].strip()
        if line.startswith(b"#") and not first <= at < last:
            found.append((at, line))
        at = after
    return found


def _in_body(forwarder: Forwarder, at: int) -> bool:
    arguments = [each for each in ast.walk(forwarder.function.args) if hasattr(each, "end_lineno")]
    header = max([forwarder.source.start(forwarder.function), *(forwarder.source.end(each) for each in arguments)])
    return at > header


def above_call(forwarder: Forwarder, source: Source, call: ast.Call) -> list[Edit]:
    """The body's comments above the statement that has the call; nothing where that shares its line."""
    statement = source.statement_of(call)
    at = source.text.line_start(source.start(statement))
    indent = source.body[at : source.start(statement)]
    lines = [line for where, line in _lines(forwarder) if _in_body(forwarder, where)]
    if indent.strip() or not lines:
        return []
    return [Edit(at, at, b"".join(indent + line + source.text.newline for line in lines))]


def left_out(forwarder: Forwarder, *, is_carried: bool) -> list[str]:
    """Comments that are gone with the definition."""
    lines = [line for at, line in _lines(forwarder) if not (is_carried and _in_body(forwarder, at))]
    return [line.decode("utf-8", "replace") for line in lines]
