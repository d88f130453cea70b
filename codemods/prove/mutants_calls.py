"""Mutants of calls: arguments swapped or left out, another method of the same family, a conversion left out, another
level of a log record."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from codemods.prove.mutants_ground import Candidate, Ground, Kind, becomes, short
from codemods.prove.mutants_operators import Rule

_LEVELS = {
    "debug": "info",
    "info": "warning",
    "warning": "error",
    "warn": "error",
    "error": "warning",
    "exception": "error",
    "critical": "error",
    "fatal": "error",
}
_LOGGER = re.compile(r"(?:(?:\w*_)?log|\w*logg(?:er|ing))\Z", re.IGNORECASE)
_PAIRS = (
    "split rsplit",
    "partition rpartition",
    "find rfind",
    "index rindex",
    "strip lstrip",
    "startswith endswith",
    "removeprefix removesuffix",
    "lower upper",
    "append extend",
    "keys values",
    "update setdefault",
    "discard add",
    "min max",
    "any all",
    "getattr hasattr",
    "floor ceil",
    "ljust rjust",
    "is_file is_dir",
    "isfile isdir",
)
_TWINS = {one: other for pair in _PAIRS for one, other in (pair.split(), reversed(pair.split()))}
_TWINS |= {"lstrip": "strip", "rstrip": "strip", "appendleft": "append", "popleft": "pop"}
_SHAPES = frozenset({"sorted", "reversed", "set", "frozenset", "list", "tuple", "dict", "iter", "enumerate"})
_CONVERSIONS = _SHAPES | {"str", "int", "float", "bool", "abs", "repr", "round", "bytes"}
_SELF_CONVERSIONS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "copy", "casefold"})
Argument = ast.expr | ast.keyword


def _arguments(node: ast.Call, ground: Ground) -> list[Argument]:
    return sorted([*node.args, *node.keywords], key=ground.start)


def _swaps(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """Two positional arguments side by side, or the values of two keywords."""
    assert isinstance(node, ast.Call)
    both = [node.args, [each.value for each in node.keywords if each.arg is not None]]
    for values in both:
        for one, other in pairwise(values):
            if isinstance(one, ast.Starred) or isinstance(other, ast.Starred):
                continue
            start, middle, then, end = ground.start(one), ground.end(one), ground.start(other), ground.end(other)
            if start >= then:
                continue
            text = ground.segment(other) + ground.body[middle:then] + ground.segment(one)
            note = f"`{short(ground.segment(one))}` and `{short(ground.segment(other))}` change places"
            yield ground.splice(Kind.ARGUMENT_SWAP, start, end, text, note, node)


def _drops(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """A keyword left out; the last of several positional arguments left out."""
    assert isinstance(node, ast.Call)
    arguments = _arguments(node, ground)
    last = node.args[-1] if len(node.args) > 1 else None
    for number, argument in enumerate(arguments):
        if argument is last or isinstance(argument, ast.keyword):
            span = _removal(ground, node, arguments, number)
            if span is not None:
                note = f"without the argument `{short(ground.segment(argument))}`"
                yield ground.splice(Kind.ARGUMENT_DROP, *span, b"", note, node)


def _removal(ground: Ground, call: ast.Call, arguments: list[Argument], number: int) -> tuple[int, int] | None:
    """From the comma before an argument to what follows it; of the first one up to the next."""
    stop = ground.end(call) - 1
    after = ground.start(arguments[number + 1]) if number + 1 < len(arguments) else stop
    if number == 0:
        return ground.start(arguments[0]), after
    before = ground.find(b",", ground.end(arguments[number - 1]), ground.start(arguments[number]))
    comma = ground.find(b",", ground.end(arguments[number]), after)
    if before < 0:
        return None
    if comma >= 0:
        return before, comma
    end = ground.end(arguments[number])
    while (bracket := ground.find(b")", end, stop)) >= 0:
        end = bracket + 1  # brackets around the argument itself
    return before, end


def _log_level(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Call)
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in _LEVELS:
        return
    receiver = func.value.attr if isinstance(func.value, ast.Attribute) else getattr(func.value, "id", "")
    if _LOGGER.match(receiver):
        yield from _renamed(ground, Kind.LOG_LEVEL, func, _LEVELS[func.attr])


def _twins(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """A method or function that is easily taken for another one."""
    assert isinstance(node, ast.Call)
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name in _TWINS:
        yield from _renamed(ground, Kind.CALL_TWIN, func, _TWINS[name])


def _renamed(ground: Ground, kind: Kind, func: ast.expr, new: str) -> Iterator[Candidate]:
    old = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    end = ground.end(func)
    start = end - len(old.encode())
    if ground.body[start:end] == old.encode():
        yield ground.splice(kind, start, end, new.encode(), becomes(old.encode(), new.encode()), func)


def _unwraps(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """`sorted(x)` becomes `x`, `x.strip()` becomes `x`."""
    assert isinstance(node, ast.Call)
    func = node.func
    inner: ast.expr | None = None
    if isinstance(func, ast.Name) and func.id in _CONVERSIONS and len(node.args) == 1:
        inner = node.args[0]
    elif isinstance(func, ast.Attribute) and func.attr in _SELF_CONVERSIONS and not node.args:
        inner = func.value
    if inner is None or isinstance(inner, ast.Starred):
        return
    text = ground.wrapped(inner)
    yield ground.replace(Kind.CALL_UNWRAP, node, text, becomes(ground.segment(node), text))


RULES: dict[type[ast.AST], tuple[Rule, ...]] = {ast.Call: (_swaps, _drops, _log_level, _twins, _unwraps)}
