"""How a longer parameter or argument list is laid out: on its line while it fits, else one item a line.

Text only: which parameters and arguments there are is decided by the transform that asks. A list with comments, or laid
out as the formatter would not, keeps its lines and gets more; a line that a `# noqa` stands on is not broken unless it
is known where the comment has to go."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from msgspec import Struct

from codemods.source.parse import Function, Source
from codemods.source.splice import Edit, with_newline
from codemods.transforms.bracket_items import (
    Brackets,
    Item,
    argument_brackets,
    argument_list,
    has_comment,
    parameter_brackets,
    parameter_list,
    texts_of,
)
from codemods.transforms.pragmas import Place, place_of, pragma_in

__all__ = [
    "argument_brackets",
    "arguments_edit",
    "exploded_lines",
    "indent_unit",
    "parameter_brackets",
    "parameter_edits",
]


def indent_unit(source: Source) -> bytes:
    """One step of indentation as the file has it; four blanks when it has none."""
    for node in ast.walk(source.tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.stmt) and isinstance(body, list) and body:
            outer, inner = source.text.indent_at(source.start(node)), source.text.indent_at(source.start(body[0]))
            if inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
    return b"    "


def exploded_lines(items: Sequence[str], indent: str, line_length: int) -> list[str]:
    """The items on one line of their own where they fit it together, else one a line with a comma behind each."""
    together = indent + ", ".join(items)
    if len(together) <= line_length and "\n" not in together:
        return [together]
    return one_a_line(items, indent)


def one_a_line(items: Sequence[str], indent: str) -> list[str]:
    return [f"{indent}{item}," for item in items]


class _List(Struct, frozen=True, kw_only=True, eq=False):
    """A list of items that loses its first `drop` and gets `new` ones in front of the last `tail`.

    before, after: how many characters stand before the opening bracket and behind the closing one on their lines.
    may_rebuild: whether all of its text may be replaced. may_break: whether a list on one line may get more lines.
    shift: how far the opening bracket itself moves to the right."""

    source: Source
    brackets: Brackets
    items: list[Item]
    drop: int
    new: Sequence[str]
    tail: int
    indent: bytes
    before: int
    after: int
    line_length: int
    may_rebuild: bool = True
    may_break: bool = True
    shift: int = 0

    @property
    def kept(self) -> list[Item]:
        return self.items[self.drop :]

    @property
    def inner(self) -> bytes:
        return self.source.body[self.brackets.open + 1 : self.brackets.close]

    def line(self, at: int) -> int:
        return self.source.text.line_of(at)

    @property
    def is_on_one_line(self) -> bool:
        return self.line(self.brackets.open) == self.line(self.brackets.close)

    @property
    def hangs(self) -> bool:
        """The opening bracket ends its line."""
        return (
            not self.is_on_one_line
            and bool(self.items)
            and self.line(self.items[0].start) > self.line(self.brackets.open)
        )

    @property
    def is_one_a_line(self) -> bool:
        lines = [self.line(item.start) for item in self.items]
        closes_alone = bool(lines) and self.line(self.brackets.close) > lines[-1]
        is_open = len(self.items) > 1 or (bool(self.items) and self.items[-1].comma >= 0)
        return self.hangs and closes_alone and is_open and len(set(lines)) == len(lines)

    def texts(self) -> list[str]:
        """The new items, in order."""
        kept = texts_of(self.source, self.kept)
        cut = len(kept) - self.tail
        return [*kept[:cut], *self.new, *kept[cut:]]

    # -- edits

    def edits(self) -> list[Edit]:
        texts = self.texts()
        if not texts and not has_comment(self.source, self.brackets, self.items):
            return [Edit(self.brackets.open + 1, self.brackets.close, b"")]
        is_free = self.may_rebuild and not has_comment(self.source, self.brackets, self.items)
        if not is_free or not (self.is_on_one_line or self.hangs) or any("\n" in text for text in texts):
            return [*self._dropped(), *self._aligned(), *self._inserted()]
        if self.is_one_a_line:
            return [self._rebuilt(one_a_line(texts, self._inner_indent()))]
        joined = ", ".join(texts)
        fits = self.before + 2 + len(joined) + self.after <= self.line_length
        if fits or (self.is_on_one_line and not self.may_break):
            if self.is_on_one_line and not self.drop:
                return self._inserted()  # the least change: others may edit the arguments too
            return [Edit(self.brackets.open + 1, self.brackets.close, joined.encode())]
        return [self._rebuilt(exploded_lines(texts, self._inner_indent(), self.line_length))]

    def _inner_indent(self) -> str:
        if self.hangs:
            return self.source.text.indent_at(self.items[0].start).decode()
        return (self.indent + indent_unit(self.source)).decode()

    def _rebuilt(self, lines: list[str]) -> Edit:
        close = self.source.text.indent_at(self.brackets.close) if self.hangs else self.indent
        text = b"\n" + "\n".join(lines).encode() + b"\n" + close
        return Edit(self.brackets.open + 1, self.brackets.close, with_newline(text, self.source.text.newline))

    def _dropped(self) -> list[Edit]:
        """The first items go; a comment behind one of them stays."""
        if not self.drop:
            return []
        last = self.items[self.drop - 1]
        start = self.items[0].start
        end = self.kept[0].start if self.kept else self.brackets.close
        behind = max(last.end, last.comma + 1)
        if b"#" in self.source.body[behind:end]:
            gap = self.source.body[behind:end]
            end = behind + len(gap) - len(gap.lstrip(b" \t"))
        return [Edit(start, end, b"")]

    def _inserted(self) -> list[Edit]:
        """The new items behind what is there, on lines of their own where the others have them."""
        if not self.new:
            return []
        if self.tail:
            anchor = self.kept[-self.tail]
            glue = self._own_line(anchor)
            return [Edit(anchor.start, anchor.start, "".join(f"{text},{glue}" for text in self.new).encode())]
        if not self.kept and self.is_on_one_line:
            return [Edit(self.brackets.close, self.brackets.close, ", ".join(self.new).encode())]
        if not self.kept:
            at = self.source.text.line_start(self.brackets.close)
            lines = "\n".join([*one_a_line(self.new, self._inner_indent()), ""]).encode()
            return [Edit(at, at, with_newline(lines, self.source.text.newline))]
        last = self.kept[-1]
        comma = b"," if last.comma < 0 else b""
        line_end = self.source.text.line_end(max(last.end - 1, last.comma))
        has_note = b"#" in self.source.body[max(last.end, last.comma + 1) : line_end]
        if (self.hangs or has_note) and self.line(last.end) < self.line(self.brackets.close):
            # of an aligned list that has a comment behind its last item, the comment stays with the item
            indent = self.source.text.indent_at(last.start).decode()
            if last.start == self.items[0].start or (self.drop and last is self.kept[0] and not self.hangs):
                indent = self._newline(self.items[0].start).lstrip("\r\n")
            at = self.source.text.line_end(max(last.end - 1, last.comma))
            lines = "".join(f"{indent}{text},\n" for text in self.new).encode()
            return [Edit(last.end, last.end, comma), Edit(at, at, with_newline(lines, self.source.text.newline))]
        behind = max(last.end, last.comma + 1)
        column = behind - self.source.text.line_start(behind)
        joined = ", ".join(self.new)
        fits = self.is_on_one_line or column + 4 + len(joined) + self.after <= self.line_length
        line = self._newline(self.items[0].start)
        if not fits and len(line) + len(joined) + self.after > self.line_length:
            joined = f",{line}".join(self.new)
        return [Edit(behind, behind, comma + (" " if fits else line).encode() + joined.encode())]

    def _aligned(self) -> list[Edit]:
        """Items that stand under the first one follow it."""
        first = self.items[0].start if self.items else self.brackets.close
        edits = []
        for item in self.kept if self.shift and not self.hangs else ():
            start = self.source.text.line_start(item.start)
            is_under = item.start - start == first - self.source.text.line_start(first) and item.start != first
            if is_under and not self.source.body[start : item.start].strip():
                edits.append(Edit(start, item.start, b" " * max(item.start - start + self.shift, 0)))
        return edits

    def _own_line(self, item: Item) -> str:
        """What parts an item put before this one from it: a line break where this one starts its line."""
        start = self.source.text.line_start(item.start)
        is_first = not self.source.body[start : item.start].strip()
        return self._newline(item.start) if is_first and not self.is_on_one_line else " "

    def _newline(self, at: int) -> str:
        """A line break, and blanks up to the column of an item."""
        before = self.source.body[self.source.text.line_start(at) : at]
        pad = " " * (len(before.decode()) + self.shift) if before.strip() else before.decode()
        return self.source.text.newline.decode() + pad


def parameter_edits(source: Source, function: Function, keywords: Sequence[str], line_length: int) -> list[Edit]:
    """The parameter list without its first, with keyword-only parameters added before `**kwargs`."""
    brackets = parameter_brackets(source, function)
    items = parameter_list(source, function)
    texts = texts_of(source, items)
    drop = 2 if texts[1:2] == ["/"] else 1
    tail = 1 if texts and texts[-1].startswith("**") else 0
    has_star = any(text.startswith("*") and not text.startswith("**") for text in texts)
    new = [*([] if has_star or not keywords else ["*"]), *keywords]
    start = source.text.line_start(source.start(function))
    behind = source.body[brackets.close : source.text.line_end(brackets.close)].rstrip(b"\r\n")
    code, comment = _comment_of(source, function, brackets, behind)
    listed = _List(
        source=source,
        brackets=brackets,
        items=items,
        drop=drop,
        new=new,
        tail=tail,
        indent=source.text.indent_at(source.start(function)),
        before=len(source.body[start : brackets.open].decode()),
        after=len(code.decode()) - 1,  # the closing bracket is counted already
        line_length=line_length,
    )
    edits = listed.edits()
    if comment and listed.is_on_one_line and any(b"\n" in edit.text or b"\r" in edit.text for edit in edits):
        return _with_pragma(listed, function, comment, brackets.close + len(code))
    return edits


def _comment_of(source: Source, function: Function, brackets: Brackets, behind: bytes) -> tuple[bytes, bytes]:
    """The code behind the brackets on their line, and the pragma that follows it."""
    body_starts = source.start(function.body[0])
    is_alone = source.text.line_of(body_starts) > source.text.line_of(brackets.close)
    at = behind.find(b"#", source.end(function.returns) - brackets.close if function.returns else 0)
    if at < 0 or not is_alone or not pragma_in(behind[at:]):
        return behind, b""
    return behind[:at].rstrip(), behind[at:]


def _with_pragma(listed: _List, function: Function, comment: bytes, behind: int) -> list[Edit]:
    """The broken list with the pragma where its rule reports; a list that stays on its line when that is not known."""
    place = place_of(function, comment)
    texts = listed.texts()
    if place is Place.UNKNOWN:
        return [Edit(listed.brackets.open + 1, listed.brackets.close, ", ".join(texts).encode())]
    lines = one_a_line(texts, listed._inner_indent())
    head = b"\n"
    if isinstance(place, tuple):
        for argument in place:
            position = next(at for at, text in enumerate(texts) if re.match(rf"{argument.arg}\b", text))
            lines[position] += "  " + comment.decode()
    else:
        head = b"  " + comment + b"\n"
    text = head + "\n".join(lines).encode() + b"\n" + listed.indent
    end = behind + len(b"  ") + len(comment)
    return [
        Edit(listed.brackets.open + 1, listed.brackets.close, with_newline(text, listed.source.text.newline)),
        Edit(behind, _line_content_end(listed.source, end), b""),
    ]


def _line_content_end(source: Source, at: int) -> int:
    end = source.text.line_end(at - 1)
    return source.text.line_start(at - 1) + len(source.body[source.text.line_start(at - 1) : end].rstrip(b"\r\n"))


# -- arguments


def arguments_edit(
    source: Source,
    call: ast.Call,
    extra: Sequence[str],
    callee: str,
    line_length: int,
    *,
    skip: int = 0,
    may_rebuild: bool = True,
    lead: int = 0,
) -> list[Edit]:
    """The call with another callee and keyword arguments added behind those it has, the first `skip` left out.

    may_rebuild: False where other edits lie between the brackets. lead: characters that other edits put before the call
    on its line."""
    brackets = argument_brackets(source, call)
    # blanks or brackets between callee and arguments go
    edits = [Edit(source.start(call), max(source.end(call.func), brackets.open), callee.encode())]
    if not extra and not skip:
        return edits
    only = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if isinstance(only, ast.GeneratorExp) and source.start(only) == brackets.open:
        more = f"), {', '.join(extra)}".encode()
        return [*edits, Edit(brackets.open + 1, brackets.open + 1, b"("), Edit(brackets.close, brackets.close, more)]
    start = source.text.line_start(source.start(call))
    behind = source.body[source.end(call) : source.text.line_end(source.end(call))].rstrip(b"\r\n")
    code, _, comment = behind.partition(b"  #")
    listed = _List(
        source=source,
        brackets=brackets,
        items=argument_list(source, call),
        drop=skip,
        new=extra,
        tail=0,
        indent=source.text.indent_at(source.start(call)),
        before=len(source.body[start : source.start(call)].decode()) + lead + len(callee),
        after=len(code.decode()),
        line_length=line_length,
        may_rebuild=may_rebuild,
        shift=len(callee) - (brackets.open - source.start(call)),
        may_break=not (comment and pragma_in(b"#" + comment)),
    )
    return [*edits, *listed.edits()]
