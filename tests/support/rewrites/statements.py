"""Rewrites of statements: loops, `with`, locals, their order."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from tests.support.rewrites.editing import (
    Change,
    Edits,
    Place,
    assign,
    is_constant_like,
    name,
    negated,
    same,
    single_name,
)

_BY_FRAME = frozenset(["locals", "vars", "eval", "exec", "dir", "globals"])
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def continue_to_if(place: Place) -> Iterator[Change]:
    """`if c: continue` before the rest of a loop, to `if not c:` around it. Slip: the loop ends instead."""
    for loop in place.statements():
        if not isinstance(loop, ast.For | ast.While):
            continue
        for index, each in enumerate(loop.body[:-1]):
            if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[0], ast.Continue):
                rest = loop.body[index + 1 :]
                gone: dict[int, Any] = {id(other): [] for other in rest}
                safe = ast.If(test=negated(each.test), body=rest, orelse=[])
                slip = ast.If(test=each.test, body=[ast.Break()], orelse=[])
                yield Change({**gone, id(each): [safe]}, {id(each): [slip]})


def merge_with(place: Place) -> Iterator[Change]:
    """`with a:` around `with b:` to `with a, b:`. Slip: in the other order."""
    for each in place.statements():
        if isinstance(each, ast.With) and len(each.body) == 1 and isinstance(each.body[0], ast.With):
            inner = each.body[0]
            safe = ast.With(items=[*each.items, *inner.items], body=inner.body)
            slip = ast.With(items=[*inner.items, *each.items], body=inner.body)
            yield Change({id(each): [safe]}, {id(each): [slip]})


def split_with(place: Place) -> Iterator[Change]:
    """`with a, b:` to two. Slip: the second one is lost."""
    for each in place.statements():
        if isinstance(each, ast.With) and len(each.items) > 1 and not any(item.optional_vars for item in each.items):
            inner = ast.With(items=each.items[1:], body=each.body)
            safe = ast.With(items=each.items[:1], body=[inner])
            yield Change({id(each): [safe]}, {id(each): [ast.With(items=each.items[:1], body=each.body)]})


def result_in_local(place: Place) -> Iterator[Change]:
    """`return f(x)` gets a name first. Slip: the name is not what is returned."""
    known = place.fresh("made")
    for each in place.statements():
        value = each.value if isinstance(each, ast.Return) else None
        if value is not None and not isinstance(value, ast.Constant | ast.Name):
            first = assign(known, value)
            slip = {id(each): [first, ast.Return(value=None)]}
            yield Change({id(each): [first, ast.Return(value=name(known))]}, slip)


def local_inlined(place: Place) -> Iterator[Change]:
    """`x = f(y)` and `return x` to one. Slip: the first line is lost as well."""
    for block in place.blocks():
        for one, other in itertools.pairwise(block):
            if isinstance(one, ast.Assign) and isinstance(other, ast.Return) and isinstance(other.value, ast.Name):
                is_open = place.has(ast.Nonlocal, ast.Global, ast.Try, *_OWN_SCOPE)
                if single_name(one) == other.value.id and not is_open:
                    slip: Edits | None = None if isinstance(one.value, ast.Constant) else {id(one): []}
                    yield Change({id(one): [], id(other): [ast.Return(value=one.value)]}, slip)


def comprehension_to_loop(place: Place) -> Iterator[Change]:
    """`x = [e for t in y if c]` to a loop. Slip: the loop ends after the first."""
    items = place.fresh("items")
    for each in place.statements():
        if not isinstance(each, ast.Assign | ast.Return) or not isinstance(each.value, ast.ListComp):
            continue
        made = each.value
        if len(made.generators) != 1 or made.generators[0].is_async or _inner_scopes(made):
            continue
        generator = made.generators[0]
        bound = {node.id for node in ast.walk(generator.target) if isinstance(node, ast.Name)}
        if bound & _names_outside(place, made):
            continue
        append = ast.Call(
            func=ast.Attribute(value=name(items), attr="append", ctx=ast.Load()), args=[made.elt], keywords=[]
        )
        body: list[ast.stmt] = [ast.Expr(value=append)]
        for test in reversed(generator.ifs):
            body = [ast.If(test=test, body=body, orelse=[])]
        empty = assign(items, ast.List(elts=[], ctx=ast.Load()))
        loop = ast.For(target=generator.target, iter=generator.iter, body=body, orelse=[])
        short = ast.For(target=generator.target, iter=generator.iter, body=[*body, ast.Break()], orelse=[])
        last = ast.Return(value=name(items)) if isinstance(each, ast.Return) else ast.Assign(each.targets, name(items))
        yield Change({id(each): [empty, loop, last]}, {id(each): [empty, short, last]})


def _inner_scopes(node: ast.AST) -> bool:
    kinds = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Await)
    return any(isinstance(each, kinds) for each in ast.walk(node) if each is not node)


def _names_outside(place: Place, node: ast.AST) -> set[str]:
    inside = {id(each) for each in ast.walk(node)}
    found = {each.id for each in ast.walk(place.node) if isinstance(each, ast.Name) and id(each) not in inside}
    return found | {each.arg for each in ast.walk(place.node) if isinstance(each, ast.arg)}


def rename_local(place: Place) -> Iterator[Change]:
    """A local gets another name. Slip: the last place that reads it keeps the old one."""
    if place.has(*_OWN_SCOPE, ast.Global, ast.Nonlocal, ast.Match) or place.names() & _BY_FRAME:
        return
    parameters = {each.arg for each in ast.walk(place.node.args) if isinstance(each, ast.arg)}
    caught = {each.name for each in ast.walk(place.node) if isinstance(each, ast.ExceptHandler)}
    imported = {each.asname or each.name for each in ast.walk(place.node) if isinstance(each, ast.alias)}
    for each in place.statements():
        known = single_name(each)
        if not known or known in parameters | caught | imported:
            continue
        uses = [node for node in ast.walk(place.node) if isinstance(node, ast.Name) and node.id == known]
        loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
        fresh = place.fresh(f"{known}_now")
        safe = {id(node): ast.Name(id=fresh, ctx=node.ctx) for node in uses}
        slip = {key: value for key, value in safe.items() if not loads or key != id(loads[-1])}
        yield Change(safe, slip if loads else None)


def annotated_local(place: Place) -> Iterator[Change]:
    """`x = v` to `x: object = v`, a docstring, annotations. Slip: the value is lost."""
    if place.has(ast.Global, ast.Nonlocal):
        return
    read = {each.id for each in ast.walk(place.node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    docstring = ast.Expr(value=ast.Constant(value="Say what it does."))
    first = place.node.body[0]
    is_there = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    for each in place.statements():
        if single_name(each) and isinstance(each, ast.Assign) and (single_name(each) in read):
            target = ast.Name(id=single_name(each), ctx=ast.Store())
            safe: dict[int, Any] = {id(each): [ast.AnnAssign(target, name("object"), each.value, simple=1)]}
            if not is_there and first is not each:
                safe[id(first)] = [docstring, first]
            yield Change(safe, {id(each): [ast.AnnAssign(target, name("object"), None, simple=1)]})


def swap_independent(place: Place) -> Iterator[Change]:
    """Two assignments of constants change places. Slip: two calls do."""
    for block in place.blocks():
        for one, other in itertools.pairwise(block):
            if not isinstance(one, ast.Assign) or not isinstance(other, ast.Assign):
                continue
            names = [single_name(one), single_name(other)]
            if all(names) and names[0] != names[1] and is_constant_like(one.value) and is_constant_like(other.value):
                calls = _two_calls(place)
                yield Change({id(one): [other], id(other): [one]}, calls)


def _two_calls(place: Place) -> dict[int, Any] | None:
    """Two calls in sequence that change places."""
    for block in place.blocks():
        for one, other in itertools.pairwise(block):
            if _is_call(one) and _is_call(other) and not same(one, other):
                return {id(one): [other], id(other): [one]}
    return None


def _is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def assignments_to_tuple(place: Place) -> Iterator[Change]:
    """`a = x` and `b = y` to `a, b = x, y`, where `y` does not read `a`. Slip: the values change places."""
    if place.has(ast.Try, ast.Nonlocal, ast.Global, *_OWN_SCOPE):
        return
    for block in place.blocks():
        for one, other in itertools.pairwise(block):
            if not isinstance(one, ast.Assign) or not isinstance(other, ast.Assign):
                continue
            first, second = single_name(one), single_name(other)
            read = {each.id for each in ast.walk(other.value) if isinstance(each, ast.Name)}
            if not first or not second or first == second or first in read or same(one.value, other.value):
                continue
            goal = ast.Tuple(elts=[ast.Name(id=each, ctx=ast.Store()) for each in (first, second)], ctx=ast.Store())
            made = [
                ast.Assign(targets=[goal], value=ast.Tuple(elts=values, ctx=ast.Load()))
                for values in ([one.value, other.value], [other.value, one.value])
            ]
            yield Change({id(one): [made[0]], id(other): []}, {id(one): [made[1]], id(other): []})


def tuple_to_assignments(place: Place) -> Iterator[Change]:
    """`a, b = x, y` to two assignments, where `y` does not read `a`. Slip: the values change places."""
    for each in place.statements():
        if not isinstance(each, ast.Assign) or len(each.targets) != 1:
            continue
        target, value = each.targets[0], each.value
        if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
            continue
        if not all(isinstance(one, ast.Name) for one in target.elts) or place.has(ast.Try, ast.Starred):
            continue
        bound = {one.id for one in target.elts if isinstance(one, ast.Name)}
        read = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
        if len(bound) != len(target.elts) or bound & read:
            continue
        pairs = list(zip(target.elts, value.elts, strict=True))
        turned = list(zip(target.elts, reversed(value.elts), strict=True))
        slip = {id(each): [assign(one, other) for one, other in turned]}
        is_same = same(value.elts[0], value.elts[-1])
        yield Change({id(each): [assign(one, other) for one, other in pairs]}, None if is_same else slip)


def plain_end(place: Place) -> Iterator[Change]:
    """`return None` at the end of what has none. Slip: before the last statement."""
    last = place.node.body[-1]
    if isinstance(last, ast.Return | ast.Raise | ast.Pass) or len(place.node.body) < 2 or place.has(ast.Yield):
        return
    if not isinstance(last, ast.Expr | ast.If | ast.For | ast.Assign):
        return
    gone = ast.Return(value=ast.Constant(value=None))
    is_seen = not isinstance(last, ast.Assign) or not single_name(last)
    yield Change({id(last): [last, gone]}, {id(last): [gone]} if is_seen else None)


STATEMENTS = (
    continue_to_if, merge_with, split_with, result_in_local, local_inlined, comprehension_to_loop, rename_local,
    annotated_local, swap_independent, assignments_to_tuple, tuple_to_assignments, plain_end,
)  # fmt: skip
