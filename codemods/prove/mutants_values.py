"""Mutants of constants, of the bounds of ranges and slices, and of the parts of f-strings."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from codemods.prove.mutants_ground import Candidate, Ground, Kind, becomes, short
from codemods.prove.mutants_operators import Rule
from codemods.source.fstrings import Literal, literals

_LONG = 60  # characters of a string constant that is changed at its end; a longer one becomes another one
_OTHER = "mutated"


def _constant(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Constant)
    parent = ground.parents[node]
    if isinstance(parent, (ast.Expr, ast.JoinedStr)):
        return  # a docstring or `...`; text of an f-string
    is_identity = isinstance(parent, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in parent.ops)
    if is_identity and not isinstance(node.value, bool):
        return  # the operator says it better
    before = ground.segment(node)
    for value in _others(node.value, is_returned=isinstance(parent, ast.Return)):
        new = repr(value).encode()
        if isinstance(parent, ast.Attribute):
            new = b"(" + new + b")"
        yield ground.replace(Kind.CONSTANT, node, new, becomes(before, new))


def _others(value: object, *, is_returned: bool) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        yield from (value + 1, value - 1)
    elif isinstance(value, str):
        yield from (value + "_" if len(value) <= _LONG else _OTHER, "") if value else (_OTHER,)
    elif isinstance(value, bytes):
        yield from (value + b"_" if len(value) <= _LONG else _OTHER.encode(), b"") if value else (_OTHER.encode(),)
    elif value is None and not is_returned:
        yield 1


def _range(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Call)
    if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) <= 2 and not node.keywords:
        for bound in node.args:
            if not isinstance(bound, ast.Starred):
                yield from _moved(ground, Kind.RANGE, bound)


def _slice(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Slice)
    for bound in (node.lower, node.upper):
        if bound is not None:
            yield from _moved(ground, Kind.SLICE, bound)
    at = ground.start(node)
    for bound, name in ((node.lower, "lower bound"), (node.upper, "upper bound"), (node.step, "step")):
        if bound is None:
            continue
        start, end = _with_brackets(ground, bound, at, ground.end(node))
        note = f"without the {name} `{short(ground.segment(bound))}`"
        yield ground.splice(Kind.SLICE, start, end, b"", note, node)


def _index(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """`x[i]` becomes `x[i + 1]` where the index is computed: a key that is only named may be a string."""
    assert isinstance(node, ast.Subscript)
    if isinstance(node.slice, ast.BinOp) and isinstance(node.slice.op, (ast.Add, ast.Sub)):
        yield from _moved(ground, Kind.SLICE, node.slice)


def _moved(ground: Ground, kind: Kind, bound: ast.expr) -> Iterator[Candidate]:
    """A bound that is no constant, one more and one less."""
    sign = bound.operand if isinstance(bound, ast.UnaryOp) else bound
    if isinstance(sign, ast.Constant):
        return
    inner = ground.wrapped(bound)
    for step in (b" + 1", b" - 1"):
        yield ground.replace(kind, bound, inner + step, becomes(ground.segment(bound), inner + step))


def _with_brackets(ground: Ground, node: ast.expr, low: int, high: int) -> tuple[int, int]:
    """The span of an expression with the round brackets that are around it alone, inside low:high."""
    start, end = ground.start(node), ground.end(node)
    while True:
        after = ground.skip_blank(end)
        before = start - 1
        while before >= low and ground.body[before : before + 1].isspace():
            before -= 1
        is_open = before >= low and ground.body[before : before + 1] == b"("
        if not is_open or after >= high or ground.body[after : after + 1] != b")":
            return start, end
        start, end = before, after + 1


def _f_string(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.JoinedStr)
    if ground.f_strings.get(node) is not node:
        return  # inside another one: a part of it
    try:
        found = list(literals(ground.body, ground.start(node), ground.end(node)))
    except ValueError:
        return
    parts = [part for literal in found for part in _parts(ground, node, literal)]
    yield from parts
    if len(parts) > 1:
        yield ground.replace(Kind.F_STRING, node, b'""', becomes(ground.segment(node), b'""'))


def _parts(ground: Ground, node: ast.JoinedStr, literal: Literal) -> Iterator[Candidate]:
    """Each text and each field of one literal left out; a field without its conversion."""
    at = literal.start + len(literal.prefix) + len(literal.quote)
    stop = literal.end - len(literal.quote)
    if b"b" in literal.prefix:
        return
    for field in literal.fields:
        if at < field.start:
            yield _dropped(ground, node, at, field.start)
        yield _dropped(ground, node, field.start, field.end)
        if field.has_conversion:
            start = field.equal_end
            text = ground.body[start : start + 2]
            yield ground.splice(Kind.F_STRING, start, start + 2, b"", f"without the `{short(text)}`", node)
        at = field.end
    if at < stop:
        yield _dropped(ground, node, at, stop)


def _dropped(ground: Ground, node: ast.JoinedStr, start: int, end: int) -> Candidate:
    note = f"without the part `{short(ground.body[start:end])}`"
    return Candidate(kind=Kind.F_STRING, start=start, end=end, text=b"", note=note, node=node)


RULES: dict[type[ast.AST], tuple[Rule, ...]] = {
    ast.Constant: (_constant,),
    ast.Call: (_range,),
    ast.Slice: (_slice,),
    ast.Subscript: (_index,),
    ast.JoinedStr: (_f_string,),
}
