"""Where the replacement fields of f-strings are in the text. Before Python 3.12 `ast` gives what is in them wrong
positions, so the fields are found by scanning the literal and, where needed, parsed again in place.

Finds and re-positions only; what a field means is its expression's business."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.nodes import children
from codemods.source.text import Text

_PREFIX = re.compile(rb"[A-Za-z]{0,3}(?=['\"])")
_GAP = re.compile(rb"(?:[ \t\x0c\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")
_OPEN, _CLOSE = b"([{", b")]}"
_QUOTES = b"'\""
_MARK = re.compile(rb"[fFtT][rR]?['\"]|[rR][fFtT]['\"]")


class Field(Struct, frozen=True, eq=False):
    """`{expression=!r:spec}`: offsets of the expression's text, of the `=` part, and of the field with its braces."""

    start: int
    end: int
    expression_start: int
    expression_end: int
    equal_end: int  # expression_end when there is no `=`; else the offset after `=` and the blanks behind it
    has_conversion: bool
    has_spec: bool
    nested: tuple[Field, ...]

    @property
    def has_equal(self) -> bool:
        return self.equal_end > self.expression_end


class Literal(Struct, frozen=True, eq=False):
    """One string literal of a (possibly implicitly joined) string: its span, prefix in lower case, and fields."""

    start: int
    end: int
    prefix: bytes
    quote: bytes
    fields: tuple[Field, ...]


def literals(body: bytes, start: int, end: int) -> Iterator[Literal]:
    """The string literals of one `Constant` or `JoinedStr` node that spans start:end."""
    at = _skip_gap(body, start)
    while at < end:
        if body[at : at + 1] in b"()" and body[at : at + 1]:
            at = _skip_gap(body, at + 1)  # a parenthesised group inside an implicit join can't occur, but its edge can
            continue
        literal = _literal(body, at)
        yield literal
        at = _skip_gap(body, literal.end)


def may_have(body: bytes) -> bool:
    """Whether an f-string may stand in the text (a quick look; text in comments counts)."""
    return _MARK.search(body) is not None


def fields_of(text: Text, node: ast.JoinedStr) -> tuple[Field, ...]:
    """The top-level fields of an f-string, in order: one for each FormattedValue among `node.values`."""
    start = text.offset(node.lineno, node.col_offset)
    end = text.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    return tuple(field for literal in literals(text.body, start, end) for field in literal.fields)


def reposition(text: Text, node: ast.JoinedStr, fields: tuple[Field, ...] | None = None) -> None:
    """Give everything inside `node` true positions. A no-op in effect on 3.12 and later."""
    found = fields_of(text, node) if fields is None else fields
    values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
    for value, field in zip(values, found, strict=True):
        if not _stands_right(text, value.value, field):
            value.value = _parse_at(text, field.expression_start, field.expression_end)
        _place(text, value, field.start, field.end)
        if isinstance(value.format_spec, ast.JoinedStr):
            _place(text, value.format_spec, field.start, field.end)
            reposition(text, value.format_spec, field.nested)


def _stands_right(text: Text, value: ast.expr, field: Field) -> bool:
    """Whether the parser placed the expression where it is. One shift holds for all of its nodes, so when both its ends
    are right on one line every part is; strings inside may be f-strings with a shift of their own."""
    inner = text.body[field.expression_start : field.expression_end]
    if b"'" in inner or b'"' in inner or value.lineno != value.end_lineno or value.lineno > len(text.line_starts):
        return False
    start = field.expression_start + len(inner) - len(inner.lstrip())
    end = start + len(inner.strip())
    line = text.line_starts[value.lineno - 1]
    return (line + value.col_offset, line + (value.end_col_offset or 0)) == (start, end)


def _parse_at(text: Text, start: int, end: int) -> ast.expr:
    """Parse an expression in brackets, then shift its nodes to where the text stands in the file."""
    inner = text.body[start:end]
    tree = ast.parse(b"(" + inner + b")", mode="eval")
    line, column = text.position(start)
    for node in ast.walk(tree):
        if not hasattr(node, "lineno"):
            continue
        shift = column - 1
        node.col_offset += shift if node.lineno == 1 else 0  # type: ignore[attr-defined]
        node.end_col_offset += shift if node.end_lineno == 1 else 0  # type: ignore[attr-defined]
        node.lineno += line - 1
        node.end_lineno += line - 1  # type: ignore[attr-defined]
    if b"'" in inner or b'"' in inner:
        for node in outermost(tree):
            reposition(text, node)
    return tree.body


def outermost_in(text: Text, tree: ast.AST) -> Iterator[ast.JoinedStr]:
    """As `outermost`, for the tree of a whole text: only where a line looks as if it had an f-string."""
    lines = [text.line_of(match.start()) for match in _MARK.finditer(text.body)]
    stack: list[ast.AST] = [tree] if lines else []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.JoinedStr):
            yield node
            continue
        for child in children(node):
            first = getattr(child, "lineno", None)
            if first is None or _has_between(lines, first, child):
                stack.append(child)


def _has_between(lines: list[int], first: int, node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", ())
    at = bisect_left(lines, min(first, decorators[0].lineno) if decorators else first)
    return at < len(lines) and lines[at] <= node.end_lineno  # type: ignore[attr-defined]


def outermost(tree: ast.AST) -> Iterator[ast.JoinedStr]:
    """The f-strings that are not inside another one (nor its format spec)."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.JoinedStr):
            yield node
        else:
            stack.extend(children(node))


def _place(text: Text, node: ast.expr, start: int, end: int) -> None:
    node.lineno, node.col_offset = text.position(start)
    node.end_lineno, node.end_col_offset = text.position(end)


def _skip_gap(body: bytes, at: int) -> int:
    match = _GAP.match(body, at)
    return match.end() if match else at


def _literal(body: bytes, start: int) -> Literal:
    match = _PREFIX.match(body, start)
    if match is None:
        raise ValueError(f"no string literal at byte {start}: {body[start : start + 20]!r}")
    prefix, at = match.group().lower(), match.end()
    quote = body[at : at + 3] if body[at : at + 3] in (b"'''", b'"""') else body[at : at + 1]
    at += len(quote)
    if b"f" not in prefix and b"t" not in prefix:
        end = _plain_end(body, at, quote)
        return Literal(start, end, prefix, quote, ())
    fields, end = _scan(body, at, quote, raw=b"r" in prefix)
    return Literal(start, end, prefix, quote, fields)


def _plain_end(body: bytes, at: int, quote: bytes) -> int:
    while not body.startswith(quote, at):
        if at >= len(body):
            raise ValueError("unterminated string literal")
        at += 2 if body[at : at + 1] == b"\\" else 1
    return at + len(quote)


def _scan(body: bytes, at: int, quote: bytes, *, raw: bool) -> tuple[tuple[Field, ...], int]:
    """Fields of the literal part that starts at `at`, and the offset after the closing quote."""
    fields: list[Field] = []
    while not body.startswith(quote, at):
        here = body[at : at + 1]
        if not here:
            raise ValueError("unterminated f-string")
        if here == b"\\" and not (raw and body[at + 1 : at + 2] in b"{}"):
            named = body[at + 1 : at + 3] == b"N{" and not raw
            at = body.index(b"}", at) + 1 if named else at + 2
            continue
        if body[at : at + 2] in (b"{{", b"}}"):
            at += 2
        elif here == b"{":
            field = _field(body, at, quote)
            fields.append(field)
            at = field.end
        else:
            at += 1
    return tuple(fields), at + len(quote)


def _field(body: bytes, start: int, quote: bytes) -> Field:
    stop = _expression_end(body, start + 1)
    equal_end, at = stop, stop
    if body[at : at + 1] == b"=":
        at += 1
        while body[at : at + 1] in (b" ", b"\t", b"\n", b"\r", b"\x0c"):
            at += 1
        equal_end = at
    has_conversion = body[at : at + 1] == b"!"
    if has_conversion:
        while body[at : at + 1] not in (b":", b"}"):
            at += 1
    nested: list[Field] = []
    has_spec = body[at : at + 1] == b":"
    if has_spec:
        at += 1
        while body[at : at + 1] != b"}":
            if body[at : at + 1] == b"{":
                inner = _field(body, at, quote)
                nested.append(inner)
                at = inner.end
            else:
                at += 1
    return Field(start, at + 1, start + 1, stop, equal_end, has_conversion, has_spec, tuple(nested))


def _expression_end(body: bytes, at: int) -> int:
    """Offset of the `=`, `!`, `:` or `}` that ends the expression which starts at `at`."""
    depth = 0
    while True:
        here = body[at : at + 1]
        if not here:
            raise ValueError("unterminated replacement field")
        if here in _QUOTES:
            at = _literal(body, _prefix_start(body, at)).end
            continue
        if here in _OPEN:
            depth += 1
        elif here in _CLOSE and depth:
            depth -= 1
        elif depth == 0:
            if here == b"}" or here == b":":
                return at
            if here == b"!" and body[at + 1 : at + 2] != b"=":
                return at
            if here == b"=" and body[at + 1 : at + 2] != b"=" and body[at - 1 : at] not in (b"=", b"!", b"<", b">"):
                return at
        if here == b"#":
            at = _skip_gap(body, at)
            continue
        at += 1


def _prefix_start(body: bytes, quote_at: int) -> int:
    at = quote_at
    while at > 0 and quote_at - at < 3 and body[at - 1 : at].isalpha():
        at -= 1
    before = body[at - 1 : at]
    return quote_at if before.isalnum() or before == b"_" else at
