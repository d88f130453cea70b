"""What text a string expression comes to, and where each stretch of that text stands in the file.

Literals, joined literals, f-strings, `+`, `%` and `.format` are followed, and names that are bound once to such a text.
A part whose text is not known is WILD; nothing is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.fstrings import Field, literals
from codemods.source.parse import Source
from codemods.source.scopes import Scope, lookup

WILD = "\x00"  # stands in a text for a part that may be anything
_DEEPEST = 6  # names bound to names
_ESCAPE = re.compile(
    r"\\(?:\r\n|N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|[\s\S])|\r\n|\r|\{\{|\}\}"
)
_PERCENT = re.compile(r"%(?:\(\w*\))?[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[a-zA-Z]|%%")
_BRACES = re.compile(r"\{\{|\}\}|\{[^{}]*\}")


class Chunk(Struct, frozen=True):
    """value[value_start:value_end] stands verbatim in the body from `body_start` on."""

    value_start: int
    value_end: int
    body_start: int


class StringText(Struct, frozen=True):
    """`value` with WILD where a part is not known."""

    value: str
    chunks: tuple[Chunk, ...] = ()

    @property
    def is_known(self) -> bool:
        return WILD not in self.value

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Where value[start:end] stands in the body; None when it is not written there in one piece."""
        for chunk in self.chunks:
            if chunk.value_start <= start and end <= chunk.value_end:
                before = len(self.value[chunk.value_start : start].encode())
                first = chunk.body_start + before
                return first, first + len(self.value[start:end].encode())
        return None

    def could_be(self, text: str) -> bool:
        """Whether the whole text may come to `text`; a text that may be anything at all does not count."""
        fixed = self.value.replace(WILD, "")
        if self.is_known or not fixed:
            return self.value == text
        return re.fullmatch(".*".join(map(re.escape, self.value.split(WILD))), text, re.DOTALL) is not None


def text_of(source: Source, node: ast.expr, scope: Scope | None = None, *, module: str = "") -> StringText | None:
    """The text of a string expression; None when the node is no string expression. scope: where it stands, so that
    names in it can be followed. module: what `__name__` is there."""
    return _Reader(source, module).text(node, scope, _DEEPEST)


class _Reader:
    def __init__(self, source: Source, module: str) -> None:
        self.source, self.module = source, module

    def text(self, node: ast.expr, scope: Scope | None, depth: int) -> StringText | None:
        if isinstance(node, ast.Constant):
            return self.constant(node) if isinstance(node.value, str) else None
        if isinstance(node, ast.JoinedStr):
            return self.joined(node, scope, depth)
        if isinstance(node, ast.Name):
            return self.named(node, scope, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = (self.text(side, scope, depth) for side in (node.left, node.right))
            if left is None and right is None:
                return None
            return _concatenated([left or StringText(WILD), right or StringText(WILD)])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
            return self.templated(node.left, _PERCENT, values, scope, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            values = node.args if not node.keywords else []
            return self.templated(node.func.value, _BRACES, values, scope, depth)
        return None

    def constant(self, node: ast.Constant) -> StringText:
        parts: list[StringText] = []
        for literal in literals(self.source.body, self.source.start(node), self.source.end(node)):
            start = literal.start + len(literal.prefix) + len(literal.quote)
            end = literal.end - len(literal.quote)
            parts.extend(self.stretch(start, end, is_raw=b"r" in literal.prefix, doubled=False))
        found = _concatenated(parts)
        # A text that this reading of escapes does not reproduce is known by value only.
        return found if found.value == node.value else StringText(str(node.value))

    def stretch(self, start: int, end: int, *, is_raw: bool, doubled: bool) -> Iterator[StringText]:
        """The text of a part of a literal without fields. doubled: `{{` stands for `{` (f-strings)."""
        text = self.source.body[start:end].decode("utf-8")
        at = 0
        for match in _ESCAPE.finditer(text):
            token = match.group()
            if (token in ("{{", "}}") and not doubled) or (token.startswith("\\") and is_raw):
                continue
            yield _verbatim(text, at, match.start(), start)
            yield StringText(_meaning(token))
            at = match.end()
        yield _verbatim(text, at, len(text), start)

    def joined(self, node: ast.JoinedStr, scope: Scope | None, depth: int) -> StringText:
        values = iter([value for value in node.values if isinstance(value, ast.FormattedValue)])
        parts: list[StringText] = []
        for literal in literals(self.source.body, self.source.start(node), self.source.end(node)):
            at = literal.start + len(literal.prefix) + len(literal.quote)
            is_raw, doubled = b"r" in literal.prefix, b"f" in literal.prefix
            for field in literal.fields:
                parts.extend(self.stretch(at, field.start, is_raw=is_raw, doubled=doubled))
                parts.append(self.field(next(values), field, scope, depth))
                at = field.end
            parts.extend(self.stretch(at, literal.end - len(literal.quote), is_raw=is_raw, doubled=doubled))
        return _concatenated(parts)

    def field(self, value: ast.FormattedValue, field: Field, scope: Scope | None, depth: int) -> StringText:
        is_plain = not (field.has_spec or field.has_equal or field.has_conversion)
        found = self.text(value.value, scope, depth) if is_plain else None
        return StringText(found.value) if found is not None else StringText(WILD)

    def templated(
        self, template: ast.expr, holes: re.Pattern[str], values: list[ast.expr], scope: Scope | None, depth: int
    ) -> StringText | None:
        """`"do_%s" % x` and `"do_{}".format(x)`; a value is filled in when it is the only one and a known text."""
        if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
            return None
        found = self.constant(template)
        filled = [self.text(value, scope, depth) for value in values]
        only = filled[0].value if len(filled) == 1 and filled[0] is not None else WILD
        parts: list[StringText] = []
        at = 0
        for match in holes.finditer(found.value):
            parts.append(_cut(found, at, match.start()))
            literal = {"%%": "%", "{{": "{", "}}": "}"}.get(match.group())
            parts.append(StringText(literal if literal is not None else only))
            at = match.end()
        parts.append(_cut(found, at, len(found.value)))
        return _concatenated(parts)

    def named(self, node: ast.Name, scope: Scope | None, depth: int) -> StringText | None:
        """The text that a name is bound to, when it is bound once, by a plain assignment."""
        home = lookup(scope, node.id) if scope is not None and depth else None
        if home is None:
            return StringText(self.module) if node.id == "__name__" and self.module and scope is not None else None
        bound = home.bound[node.id]
        if len(bound) != 1:
            return None
        statement = self.source.parents.get(bound[0].node)
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
            return None
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if bound[0].node not in targets:
            return None
        found = self.text(statement.value, home, depth - 1)
        return StringText(found.value) if found is not None else None


def _concatenated(parts: list[StringText]) -> StringText:
    value = ""
    chunks: list[Chunk] = []
    for part in parts:
        shift = len(value)
        chunks += [Chunk(each.value_start + shift, each.value_end + shift, each.body_start) for each in part.chunks]
        value += part.value
    return StringText(value, tuple(chunks))


def _verbatim(text: str, at: int, end: int, start: int) -> StringText:
    body_start = start + len(text[:at].encode())
    return StringText(text[at:end], (Chunk(0, end - at, body_start),) if end > at else ())


def _meaning(token: str) -> str:
    if token in ("{{", "}}"):
        return token[0]
    if token in ("\r\n", "\r"):
        return "\n"
    if token[1:] in ("\r\n", "\n", "\r"):
        return ""
    try:
        return str(ast.literal_eval(f'"{token}"')) if token != '\\"' else '"'
    except (SyntaxError, ValueError):
        return token


def _cut(text: StringText, start: int, end: int) -> StringText:
    span = text.span(start, end)
    chunks = (Chunk(0, end - start, span[0]),) if span is not None and end > start else ()
    return StringText(text.value[start:end], chunks)


def fold(source: Source, node: ast.expr) -> ast.expr:
    """The whole string expression that a literal is a part of: `"do_" + x`, `"%s" % x`, `"{}".format(x)`."""
    at: ast.expr = node
    while True:
        above = source.parents.get(at)
        if isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Add, ast.Mod)):
            if isinstance(above.op, ast.Mod) and above.left is not at:
                return at
            at = above
        elif isinstance(above, ast.Attribute) and above.attr == "format":
            call = source.parents.get(above)
            if not isinstance(call, ast.Call) or call.func is not above:
                return at
            at = call
        elif isinstance(above, (ast.FormattedValue, ast.JoinedStr)) and isinstance(at, ast.Constant):
            joined: ast.AST = above
            while not isinstance(joined, ast.JoinedStr) or isinstance(source.parents.get(joined), ast.FormattedValue):
                joined = source.parents[joined]
            at = joined
        else:
            return at
