"""How a longer parameter or argument list is laid out: on its line while it fits, else one item a line.

Text only: which parameters and arguments there are is decided by the transform that asks."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from codemods.source.name_spans import definition
from codemods.source.parse import Function, Source
from codemods.source.splice import Edit, with_newline

_GAP = re.compile(rb"(?:[ \t\x0c\r\n,/*]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")
_BLANK = re.compile(rb"(?:[ \t\x0c\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")


class Brackets(Struct, frozen=True):
    """A bracketed list: offsets of the opening bracket and of the closing one."""

    open: int
    close: int


def indent_unit(source: Source) -> bytes:
    """One step of indentation as the file has it; four blanks when it has none."""
    for node in ast.walk(source.tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.stmt) and isinstance(body, list) and body:
            outer, inner = source.text.indent_at(source.start(node)), source.text.indent_at(source.start(body[0]))
            if inner.startswith(outer) and len(inner) > len(outer):
                return inner[len(outer) :]
    return b"    "


# -- parameters


def parameter_brackets(source: Source, function: Function) -> Brackets:
    """The brackets around a function's parameters."""
    at = _BLANK.match(source.body, definition(source, function)[1]).end()  # type: ignore[union-attr]
    if source.body[at : at + 1] == b"[":
        last = function.type_params[-1]  # type: ignore[union-attr]
        at = source.body.index(b"(", source.body.index(b"]", source.end(last)))
    inner = [*_all_arguments(function.args), *function.args.defaults, *filter(None, function.args.kw_defaults)]
    after = max([at + 1, *(source.end(node) for node in inner)])
    close = _GAP.match(source.body, after).end()  # type: ignore[union-attr]
    while source.body[close : close + 1] != b")":  # a default in brackets of its own
        close = _GAP.match(source.body, close + 1).end()  # type: ignore[union-attr]
    return Brackets(at, close)


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    starred = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def parameter_items(source: Source, function: Function, *, skip_first: bool) -> list[str]:
    """The parameters as written (annotation and default included), with the `/` and `*` markers."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[ast.arg, ast.expr] = {}
    if arguments.defaults:
        defaults.update(zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True))
    defaults.update(
        {each: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    )

    nodes = sorted(_all_arguments(arguments), key=source.start)
    spans = [(source.start(each), source.end(defaults.get(each, each))) for each in nodes]
    brackets = parameter_brackets(source, function)
    items = _split(source, brackets, spans)
    return (items[2:] if items[1:2] == ["/"] else items[1:]) if skip_first else items


def _split(source: Source, brackets: Brackets, spans: list[tuple[int, int]]) -> list[str]:
    """The texts between the commas of a list whose items have these spans; commas inside the spans don't count."""
    cuts = [brackets.open]
    edges = [*spans, (brackets.close, brackets.close)]
    for (_, end), (start, _) in pairwise(edges):
        cuts += [end + index for index, byte in enumerate(source.body[end:start]) if byte == ord(",")]
    cuts.append(brackets.close)
    texts = [source.body[left + 1 : right].strip().decode() for left, right in pairwise(cuts)]
    return [text for text in texts if text]


def with_keywords(items: list[str], keywords: Sequence[str]) -> list[str]:
    """Keyword-only parameters added behind what is there, before `**kwargs`."""
    if not keywords:
        return items
    tail = [item for item in items[-1:] if item.startswith("**")]
    head = items[: len(items) - len(tail)]
    has_star = any(item.startswith("*") for item in head)
    return [*head, *([] if has_star else ["*"]), *keywords, *tail]


def parameters_edit(source: Source, function: Function, items: list[str], line_length: int) -> Edit:
    """The parameter list rewritten as `items`; it stays exploded when each parameter had its own line."""
    brackets = parameter_brackets(source, function)
    inner = source.body[brackets.open + 1 : brackets.close]
    start = source.text.line_start(source.start(function))
    head = source.body[start : brackets.open + 1]
    tail = source.body[brackets.close : source.text.line_end(brackets.close)].rstrip()
    one_line = ", ".join(items)
    fits = len(head.decode()) + len(one_line) + len(tail.decode()) <= line_length and "\n" not in one_line
    was_exploded = b"\n" in inner and len(function.args.args) + len(function.args.kwonlyargs) > 1
    if not items or (fits and not was_exploded):
        return Edit(brackets.open + 1, brackets.close, one_line.encode())
    indent = source.text.indent_at(source.start(function))
    return Edit(brackets.open + 1, brackets.close, _exploded(source, items, indent, line_length))


def _exploded(source: Source, items: Sequence[str], indent: bytes, line_length: int) -> bytes:
    lines = exploded_lines(items, (indent + indent_unit(source)).decode(), line_length)
    return with_newline(b"\n" + "\n".join(lines).encode() + b"\n" + indent, source.text.newline)


def exploded_lines(items: Sequence[str], indent: str, line_length: int) -> list[str]:
    """The items on one line of their own where they fit it together, else one a line with a comma behind each."""
    together = indent + ", ".join(items)
    if len(together) <= line_length and "\n" not in together:
        return [together]
    return [f"{indent}{item}," for item in items]


def has_comment(source: Source, brackets: Brackets) -> bool:
    """Whether a comment stands between the brackets (a `#` in a string counts too: then nothing is laid out anew)."""
    return b"#" in source.body[brackets.open : brackets.close]


# -- arguments


def argument_brackets(source: Source, call: ast.Call) -> Brackets:
    """The brackets around a call's arguments."""
    close = source.end(call) - 1
    at = _BLANK.match(source.body, source.end(call.func)).end()  # type: ignore[union-attr]
    while source.body[at : at + 1] == b")":  # the callee stands in brackets of its own
        at = _BLANK.match(source.body, at + 1).end()  # type: ignore[union-attr]
    return Brackets(at, close)


def arguments_edit(
    source: Source, call: ast.Call, extra: Sequence[str], callee: str, line_length: int, *, skip: int = 0
) -> list[Edit]:
    """The call with another callee and keyword arguments added behind those it has, the first `skip` left out."""
    brackets = argument_brackets(source, call)
    edits = [Edit(source.start(call), source.end(call.func), callee.encode())]
    if brackets.open > source.end(call.func):  # blanks or brackets between callee and arguments
        edits = [Edit(source.start(call), brackets.open, callee.encode())]
    indent = source.text.indent_at(source.start(call))
    if skip:
        kept = [*_argument_items(source, call)[skip:], *extra]
        fits = _fits(source, call, callee, ", ".join(kept), line_length)
        text = ", ".join(kept).encode() if fits or not kept else _exploded(source, kept, indent, line_length)
        return [*edits, Edit(brackets.open + 1, brackets.close, text)]
    if not extra:
        return edits
    is_bare_generator = len(call.args) == 1 and not call.keywords and isinstance(call.args[0], ast.GeneratorExp)
    if is_bare_generator and source.start(call.args[0]) == brackets.open:
        return [*edits, Edit(brackets.open, brackets.open, b"("), _before_close(brackets, ", " + ", ".join(extra))]
    inner = source.body[brackets.open + 1 : brackets.close]
    items = _argument_items(source, call)
    if items and b"\n" in inner and _each_on_own_line(source, call, brackets):
        return [*edits, _line_by_line(source, brackets, extra)]
    joined = ", ".join([*items, *extra])
    if _fits(source, call, callee, joined, line_length) or b"#" in inner or "\n" in joined:
        glue = "" if not items else " " if inner.rstrip().endswith(b",") else ", "
        return [*edits, _before_close(brackets, glue + ", ".join(extra), len(inner) - len(inner.rstrip()))]
    return [*edits, Edit(brackets.open + 1, brackets.close, _exploded(source, [*items, *extra], indent, line_length))]


def _before_close(brackets: Brackets, text: str, blanks: int = 0) -> Edit:
    return Edit(brackets.close - blanks, brackets.close, text.encode())


def _argument_items(source: Source, call: ast.Call) -> list[str]:
    nodes: list[ast.AST] = sorted([*call.args, *call.keywords], key=source.start)
    return _split(source, argument_brackets(source, call), [(source.start(node), source.end(node)) for node in nodes])


def _each_on_own_line(source: Source, call: ast.Call, brackets: Brackets) -> bool:
    nodes = [*call.args, *call.keywords]
    lines = [source.text.line_of(source.start(node)) for node in nodes]
    opening, closing = source.text.line_of(brackets.open), source.text.line_of(brackets.close)
    return len(set(lines)) == len(lines) and opening not in lines and closing > max(lines)


def _line_by_line(source: Source, brackets: Brackets, extra: Sequence[str]) -> Edit:
    start = source.text.line_start(brackets.close)
    above = source.body[brackets.open + 1 : start].rstrip()
    end_of_items = brackets.open + 1 + len(above)
    indent = source.text.indent_at(end_of_items - 1)
    has_comma = above.endswith(b",") or b"#" in source.body[source.text.line_start(end_of_items) : end_of_items]
    text = (b"" if has_comma else b",") + b"".join(b"\n" + indent + item.encode() + b"," for item in extra)
    return Edit(end_of_items, end_of_items, with_newline(text, source.text.newline))


def _fits(source: Source, call: ast.Call, callee: str, arguments: str, line_length: int) -> bool:
    start = source.text.line_start(source.start(call))
    head = source.body[start : source.start(call)].decode()
    tail = source.body[source.end(call) : source.text.line_end(source.end(call))].rstrip().decode()
    code = tail.partition("  #")[0]
    return len(head) + len(callee) + 2 + len(arguments) + len(code) <= line_length
