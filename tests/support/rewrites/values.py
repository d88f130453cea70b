"""Rewrites of values: texts, calls, tables."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tests.support.rewrites.editing import Change, Place, same


def text_to_format(place: Place) -> Iterator[Change]:
    """An f-string to `str.format`. Slip: the values change places, or the text around them is another."""
    for each in place.expressions():
        parts = _parts(each)
        if parts is None:
            continue
        text = "".join(part if isinstance(part, str) else "{" + part[1] + "}" for part in parts)
        values = [part[0] for part in parts if not isinstance(part, str)]
        func = ast.Attribute(value=ast.Constant(value=text), attr="format", ctx=ast.Load())
        other: ast.expr = ast.Attribute(value=ast.Constant(value=text + "."), attr="format", ctx=ast.Load())
        turned = values[::-1]
        if not same(values, turned):
            other = func
        safe = ast.Call(func=func, args=values, keywords=[])
        yield Change({id(each): safe}, {id(each): ast.Call(func=other, args=turned, keywords=[])})


def text_to_sum(place: Place) -> Iterator[Change]:
    """An f-string to two that are put together. Slip: in the other order."""
    for each in place.expressions():
        if isinstance(each, ast.JoinedStr) and len(each.values) > 1:
            halves = [ast.JoinedStr(values=each.values[:1]), ast.JoinedStr(values=each.values[1:])]
            made = [ast.BinOp(left=one, op=ast.Add(), right=other) for one, other in (halves, halves[::-1])]
            yield Change({id(each): made[0]}, {id(each): made[1]})


def _parts(node: ast.expr) -> list[Any] | None:
    """Texts as they stand in a format, and (value, conversion); None where the format would be another."""
    if not isinstance(node, ast.JoinedStr) or not any(isinstance(each, ast.FormattedValue) for each in node.values):
        return None
    found: list[Any] = []
    for each in node.values:
        if isinstance(each, ast.Constant):
            found.append(str(each.value).replace("{", "{{").replace("}", "}}"))
        elif isinstance(each, ast.FormattedValue) and each.format_spec is None:
            found.append((each.value, "" if each.conversion < 0 else f"!{chr(each.conversion)}"))
        else:
            return None
    return found


def _signature(place: Place, node: ast.expr) -> ast.arguments | None:
    """Of the function of the tree that is called by a plain name."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    return place.functions.get(node.func.id)


def to_keywords(place: Place) -> Iterator[Change]:
    """Positional arguments of a function of the tree by name. Slip: under each other's name."""
    for each in place.expressions():
        args = _signature(place, each)
        if args is None or not isinstance(each, ast.Call) or not each.args or args.posonlyargs or args.vararg:
            continue
        if any(isinstance(one, ast.Starred) for one in each.args) or len(each.args) > len(args.args):
            continue
        names = [one.arg for one in args.args[: len(each.args)]]
        keywords = [ast.keyword(arg=known, value=value) for known, value in zip(names, each.args, strict=True)]
        turned = [ast.keyword(arg=known, value=value) for known, value in zip(names[::-1], each.args, strict=True)]
        safe = ast.Call(func=each.func, args=[], keywords=[*keywords, *each.keywords])
        slip = ast.Call(func=each.func, args=[], keywords=[*turned, *each.keywords])
        yield Change({id(each): safe}, None if same(each.args, each.args[::-1]) else {id(each): slip})


def to_positions(place: Place) -> Iterator[Change]:
    """Keywords of a function of the tree, in their order, by position. Slip: in the other order."""
    for each in place.expressions():
        args = _signature(place, each)
        if args is None or not isinstance(each, ast.Call) or not each.keywords or args.posonlyargs or args.vararg:
            continue
        given, free = len(each.args), [one.arg for one in args.args[len(each.args) :]]
        named = [one.arg for one in each.keywords]
        if given + len(named) > len(args.args) or named != free[: len(named)]:
            continue
        values = [one.value for one in each.keywords]
        safe = ast.Call(func=each.func, args=[*each.args, *values], keywords=[])
        slip = ast.Call(func=each.func, args=[*each.args, *values[::-1]], keywords=[])
        yield Change({id(each): safe}, None if same(values, values[::-1]) else {id(each): slip})


def table_to_call(place: Place) -> Iterator[Change]:
    """`{"a": x}` to `dict(a=x)`. Slip: one entry is lost."""
    for each in place.expressions():
        if not isinstance(each, ast.Dict) or not each.keys:
            continue
        keys = [one.value if isinstance(one, ast.Constant) else None for one in each.keys]
        if all(isinstance(one, str) and one.isidentifier() and not _is_word(one) for one in keys) and len(
            set(keys)
        ) == len(keys):
            made = [ast.keyword(arg=str(key), value=value) for key, value in zip(keys, each.values, strict=True)]
            func = ast.Name(id="dict", ctx=ast.Load())
            short = ast.Dict(keys=each.keys[:-1], values=each.values[:-1])
            yield Change({id(each): ast.Call(func=func, args=[], keywords=made)}, {id(each): short})


def _is_word(text: str) -> bool:
    import keyword

    return keyword.iskeyword(text)


def conditional_argument(place: Place) -> Iterator[Change]:
    """`f(a if c else b)` to `f(a) if c else f(b)`. Slip: the values change places."""
    for each in place.expressions():
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and len(each.args) == 1 and not each.keywords:
            value = each.args[0]
            if isinstance(value, ast.IfExp) and not same(value.body, value.orelse):
                calls = [ast.Call(func=each.func, args=[one], keywords=[]) for one in (value.body, value.orelse)]
                safe = ast.IfExp(test=value.test, body=calls[0], orelse=calls[1])
                slip = ast.IfExp(test=value.test, body=calls[1], orelse=calls[0])
                yield Change({id(each): safe}, {id(each): slip})


def chained_comparison(place: Place) -> Iterator[Change]:
    """`a < b < c` to two comparisons, where `b` takes nothing to compute. Slip: the second is lost."""
    for each in place.expressions():
        if isinstance(each, ast.Compare) and len(each.ops) == 2 and isinstance(each.comparators[0], ast.Name):
            first = ast.Compare(left=each.left, ops=each.ops[:1], comparators=each.comparators[:1])
            second = ast.Compare(left=each.comparators[0], ops=each.ops[1:], comparators=each.comparators[1:])
            yield Change({id(each): ast.BoolOp(op=ast.And(), values=[first, second])}, {id(each): first})


VALUES = (
    text_to_format, text_to_sum, to_keywords, to_positions, table_to_call, conditional_argument, chained_comparison,
)  # fmt: skip
