"""The items of a bracketed list as they stand in the text: parameters, arguments, with their commas and comments.

Reads only; where a new item goes is layout.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from msgspec import Struct

from codemods.source.name_spans import definition
from codemods.source.parse import Function, Source

_GAP = re.compile(rb"(?:[ \t\x0c\r\n,/*]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")
_BLANK = re.compile(rb"(?:[ \t\x0c\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")
_SKIPPED = re.compile(rb"#[^\r\n]*|\s+|\\(?:\r\n|\n|\r)")


class Brackets(Struct, frozen=True):
    """A bracketed list: offsets of the opening bracket and of the closing one."""

    open: int
    close: int


class Item(Struct, frozen=True):
    """start:end is the item with its stars, brackets and default. comma: offset of the comma behind it, else -1."""

    start: int
    end: int
    comma: int = -1


def parameter_brackets(source: Source, function: Function) -> Brackets:
    """The brackets around a function's parameters."""
    at = _blank_end(source, definition(source, function)[1])
    if source.body[at : at + 1] == b"[":
        last = function.type_params[-1]  # type: ignore[union-attr]
        at = source.body.index(b"(", source.body.index(b"]", source.end(last)))
    inner = [*_all_arguments(function.args), *function.args.defaults, *filter(None, function.args.kw_defaults)]
    after = max([at + 1, *(source.end(node) for node in inner)])
    close = _gap_end(source, after)
    while source.body[close : close + 1] != b")":  # a default in brackets of its own
        close = _gap_end(source, close + 1)
    return Brackets(at, close)


def argument_brackets(source: Source, call: ast.Call) -> Brackets:
    """The brackets around a call's arguments."""
    close = source.end(call) - 1
    at = _blank_end(source, source.end(call.func))
    while source.body[at : at + 1] == b")":  # the callee stands in brackets of its own
        at = _blank_end(source, at + 1)
    return Brackets(at, close)


def _blank_end(source: Source, at: int) -> int:
    match = _BLANK.match(source.body, at)
    return match.end() if match else at


def _gap_end(source: Source, at: int) -> int:
    match = _GAP.match(source.body, at)
    return match.end() if match else at


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    starred = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def default_of(arguments: ast.arguments) -> dict[ast.arg, ast.expr]:
    """The default of each parameter that has one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    found: dict[ast.arg, ast.expr] = {}
    if arguments.defaults:
        found.update(zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True))
    found.update(
        {each: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    )
    return found


def parameter_list(source: Source, function: Function) -> list[Item]:
    """The parameters of a function, with the `/` and `*` markers, in the order of the text."""
    defaults = default_of(function.args)
    nodes = sorted(_all_arguments(function.args), key=source.start)
    spans = [(source.start(each), source.end(defaults.get(each, each))) for each in nodes]
    return items_between(source, parameter_brackets(source, function), spans)


def argument_list(source: Source, call: ast.Call) -> list[Item]:
    """The arguments of a call in the order of the text."""
    brackets = argument_brackets(source, call)
    nodes: list[ast.AST] = sorted([*call.args, *call.keywords], key=source.start)
    # a generator that is the only argument counts the call's brackets as its own
    spans = [(max(source.start(node), brackets.open + 1), min(source.end(node), brackets.close)) for node in nodes]
    return items_between(source, brackets, spans)


def items_between(source: Source, brackets: Brackets, spans: Sequence[tuple[int, int]]) -> list[Item]:
    """What stands between the commas of a list; spans: its nodes, whose own commas do not count."""
    ends = dict(spans)
    found: list[Item] = []
    start, end = -1, -1
    at = brackets.open + 1
    while at < brackets.close:
        skipped = _SKIPPED.match(source.body, at)
        if at in ends:
            start, end = (at if start < 0 else start), ends[at]
            at = ends[at]
        elif skipped:
            at = skipped.end()
        elif source.body[at : at + 1] == b",":
            found.append(Item(start, end, at))
            start = -1
            at += 1
        else:
            start, end = (at if start < 0 else start), at + 1
            at += 1
    if start >= 0:
        found.append(Item(start, end))
    return found


def has_comment(source: Source, brackets: Brackets, items: Sequence[Item]) -> bool:
    """Whether a comment stands between the items (one inside an item is the item's own)."""
    edges = [brackets.open + 1, *(edge for item in items for edge in (item.start, item.end)), brackets.close]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return any(b"#" in source.body[left:right] for left, right in gaps)


def texts_of(source: Source, items: Sequence[Item]) -> list[str]:
    """The items as written."""
    return [source.body[item.start : item.end].decode() for item in items]
