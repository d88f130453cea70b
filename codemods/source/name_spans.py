"""Where a bound name's own text stands when `ast` gives only the span of the whole construct. Reads only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.source.fstrings import literals
from codemods.source.parse import Definition, Source

_WORD = re.compile(rb"(?!\d)[\w\x80-\xff]+")


def definition(source: Source, node: Definition) -> tuple[int, int]:
    """The name after `def`, `async def` or `class`; blanks and line joins may stand between."""
    words = _WORD.finditer(source.body, source.start(node))
    wanted = node.name.encode()
    for word in words:
        if word.group() not in (b"def", b"async", b"class"):
            break
    assert word.group() == wanted or not wanted.isascii(), (word.group(), wanted)
    return word.span()


def alias(source: Source, node: ast.alias) -> tuple[int, int]:
    """The name that the alias binds: after `as`, else the first component of the module or the imported name."""
    start, end = source.start(node), source.end(node)
    words = [match.span() for match in _WORD.finditer(source.body, start, end)]
    return words[-1] if node.asname else words[0]


def declared(source: Source, node: ast.Global | ast.Nonlocal) -> Iterator[tuple[str, int, int]]:
    """Each name of a `global` or `nonlocal` statement."""
    words = list(_WORD.finditer(source.body, source.start(node), source.end(node)))[1:]
    for name, match in zip(node.names, words, strict=True):
        yield name, match.start(), match.end()


def handler(source: Source, node: ast.ExceptHandler) -> tuple[int, int]:
    """The name in `except E as name`."""
    assert node.type is not None and node.name
    for word in _WORD.finditer(source.body, source.end(node.type)):
        if word.group() != b"as":
            return word.span()
    raise AssertionError("an except handler with a name has it in its text")


def capture(source: Source, node: ast.AST, name: str) -> tuple[int, int]:
    """The name that a match pattern binds: the last word of `P as name`, `*name`, `**name`, or the whole pattern."""
    wanted = name.encode()
    spans = [match.span() for match in _WORD.finditer(source.body, source.start(node), source.end(node))]
    return [span for span in spans if source.body[span[0] : span[1]] == wanted][-1]


def names_in_string(source: Source, node: ast.Constant) -> Iterator[tuple[str, int, int]]:
    """Names in a quoted annotation, where its text can be mapped byte by byte (one literal, no escapes)."""
    parts = list(literals(source.body, source.start(node), source.end(node)))
    if len(parts) != 1:
        return
    literal = parts[0]
    start = literal.start + len(literal.prefix) + len(literal.quote)
    inner = source.body[start : literal.end - len(literal.quote)]
    if b"\\" in inner:
        return
    try:
        tree = ast.parse(b"(" + inner + b")", mode="eval")
    except (SyntaxError, ValueError):
        return
    if b"\n" in inner:
        return
    for found in ast.walk(tree):
        if isinstance(found, ast.Name):
            at = start + found.col_offset - 1
            yield found.id, at, at + len(found.id.encode())
