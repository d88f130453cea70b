"""How an expression is laid out in the place of a call: on its line, on its own, or with the call around it broken.

Looks at the lines of the file only; what the expression is has been decided."""

from __future__ import annotations

import ast

from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits
from codemods.transforms.layout import argument_brackets, indent_unit


class Place:
    """The place of one call."""

    def __init__(self, source: Source, call: ast.Call, line_length: int) -> None:
        self.source, self.call, self.line_length = source, call, line_length
        self.above = source.parents[call]
        self.start, self.end = source.start(call), source.end(call)
        self.indent = source.text.indent_at(self.start)

    def fits(self, edits: list[Edit]) -> bool:
        """Whether the lines of the call stay within the length; where they were longer before, no longer than that."""
        text = self.source.text
        start, end = text.line_start(self.start), text.line_end(self.end - 1)
        old = self.source.body[start:end]
        new = apply_edits(old, [Edit(each.start - start, each.end - start, each.text) for each in edits])
        is_one_line = self.call.lineno == self.call.end_lineno
        return _longest(new) <= (max(self.line_length, _longest(old)) if is_one_line else self.line_length)

    def whole(self, text: bytes) -> list[Edit]:
        return [Edit(self.start, self.end, text)]

    @property
    def has_trailing_comma(self) -> bool:
        """The author's sign that each argument has a line of its own."""
        brackets = argument_brackets(self.source, self.call)
        inside = self.source.body[brackets.open + 1 : brackets.close]
        return b"\n" in inside and inside.rstrip().endswith(b",")

    def broken_around(self, text: bytes) -> list[Edit] | None:
        """The expression on a line of its own: in brackets, or as the only argument of the call around it. None where
        that does not help."""
        inner = self.indent + indent_unit(self.source) + text
        if b"\n" in text or _longest(inner) > self.line_length:
            return None
        newline = self.source.text.newline
        is_alone = isinstance(self.above, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return))
        if is_alone and self.above.value is self.call:  # type: ignore[attr-defined]
            return self.whole(b"(" + newline + inner + newline + self.indent + b")")
        return self._in_broken_call(inner)

    def _in_broken_call(self, inner: bytes) -> list[Edit] | None:
        outer = self.above
        if not isinstance(outer, ast.Call) or outer.args != [self.call] or outer.keywords:
            return None
        if outer.lineno != outer.end_lineno:
            return None
        newline = self.source.text.newline
        brackets = argument_brackets(self.source, outer)
        text = newline + inner + newline + self.indent
        edits = [Edit(brackets.open + 1, brackets.close, text)]
        is_only = not self.source.body[brackets.open + 1 : self.start].strip()
        return edits if is_only and self.fits(edits) else None


def _longest(text: bytes) -> int:
    return max((len(line.rstrip()) for line in text.decode("utf-8", "replace").splitlines()), default=0)
