"""Rewrites of conditions and of what hangs on them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support.rewrites.editing import Change, Place, assign, ends, name, negated, same, single_name


def _tests(place: Place) -> Iterator[ast.expr]:
    """Expressions of which only the truth counts."""
    for each in place.statements():
        if isinstance(each, ast.If | ast.While | ast.Assert):
            yield each.test
    for node in place.expressions():
        if isinstance(node, ast.IfExp):
            yield node.test


def guard_inversion(place: Place) -> Iterator[Change]:
    """`if c: A else: B` to `if not c: B else: A`. Slip: the branches change places, the condition does not turn."""
    for each in place.statements():
        if isinstance(each, ast.If) and each.orelse and not same(each.body, each.orelse):
            safe = ast.If(test=negated(each.test), body=each.orelse, orelse=each.body)
            slip = ast.If(test=each.test, body=each.orelse, orelse=each.body)
            yield Change({id(each): [safe]}, {id(each): [slip]})


def early_return_to_else(place: Place) -> Iterator[Change]:
    """What follows a branch that ends goes into its `else`. Slip: the branch no longer ends."""
    for block in place.blocks():
        for index, each in enumerate(block[:-1]):
            if isinstance(each, ast.If) and not each.orelse and ends(each.body):
                rest = block[index + 1 :]
                gone: dict[int, object] = {id(other): [] for other in rest}
                safe = ast.If(test=each.test, body=each.body, orelse=rest)
                kept = each.body[:-1] or [ast.Pass()]
                slip = ast.If(test=each.test, body=kept, orelse=[])
                is_told = not same(each.body[-1], rest[0])
                yield Change({**gone, id(each): [safe]}, {id(each): [slip]} if is_told else None)


def else_to_early_return(place: Place) -> Iterator[Change]:
    """The `else` of a branch that ends is unindented. Slip: what was in it is lost."""
    for each in place.statements():
        if isinstance(each, ast.If) and each.orelse and ends(each.body):
            plain = ast.If(test=each.test, body=each.body, orelse=[])
            yield Change({id(each): [plain, *each.orelse]}, {id(each): [plain]})


def merge_nested_ifs(place: Place) -> Iterator[Change]:
    """`if a: if b:` to `if a and b:`. Slip: `or`."""
    for each in place.statements():
        if not isinstance(each, ast.If) or each.orelse or len(each.body) != 1:
            continue
        inner = each.body[0]
        if isinstance(inner, ast.If) and not inner.orelse:
            made = [
                ast.If(test=ast.BoolOp(op=op, values=[each.test, inner.test]), body=inner.body, orelse=[])
                for op in (ast.And(), ast.Or())
            ]
            yield Change({id(each): [made[0]]}, {id(each): [made[1]]})


def split_and(place: Place) -> Iterator[Change]:
    """`if a and b:` to two nested ones. Slip: the second condition is lost."""
    for each in place.statements():
        test = each.test if isinstance(each, ast.If) and not each.orelse else None
        if isinstance(each, ast.If) and isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            first, *rest = test.values
            second = rest[0] if len(rest) == 1 else ast.BoolOp(op=ast.And(), values=rest)
            inner = ast.If(test=second, body=each.body, orelse=[])
            safe = ast.If(test=first, body=[inner], orelse=[])
            yield Change({id(each): [safe]}, {id(each): [ast.If(test=first, body=each.body, orelse=[])]})


def conditional_to_statement(place: Place) -> Iterator[Change]:
    """`x = a if c else b` to an `if` statement. Slip: the values change places."""
    for each in place.statements():
        if single_name(each) and isinstance(each, ast.Assign) and isinstance(each.value, ast.IfExp):
            made, target = each.value, single_name(each)
            first, second = assign(target, made.body), assign(target, made.orelse)
            safe = ast.If(test=made.test, body=[first], orelse=[second])
            slip = ast.If(test=made.test, body=[second], orelse=[first])
            yield Change({id(each): [safe]}, None if same(made.body, made.orelse) else {id(each): [slip]})


def statement_to_conditional(place: Place) -> Iterator[Change]:
    """`if c: x = a else: x = b`, or two returns, to one conditional expression. Slip: the condition is lost."""
    for each in place.statements():
        if not isinstance(each, ast.If) or len(each.body) != 1 or len(each.orelse) != 1:
            continue
        one, other = each.body[0], each.orelse[0]
        if isinstance(one, ast.Assign) and isinstance(other, ast.Assign):
            if not single_name(one) or single_name(one) != single_name(other) or same(one.value, other.value):
                continue
            whole = assign(single_name(one), ast.IfExp(test=each.test, body=one.value, orelse=other.value))
            yield Change({id(each): [whole]}, {id(each): [one]})
        elif isinstance(one, ast.Return) and isinstance(other, ast.Return) and one.value and other.value:
            value = ast.IfExp(test=each.test, body=one.value, orelse=other.value)
            slip = None if same(one.value, other.value) else {id(each): [one]}
            yield Change({id(each): [ast.Return(value=value)]}, slip)


def de_morgan(place: Place) -> Iterator[Change]:
    """`a and b` to `not (not a or not b)`, where only the truth counts. Slip: the word between stays."""
    for test in _tests(place):
        inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        if isinstance(inner, ast.BoolOp):
            values = [negated(each) for each in inner.values]
            other = ast.Or() if isinstance(inner.op, ast.And) else ast.And()
            made = [ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=op, values=values)) for op in (other, inner.op)]
            yield Change({id(inner): made[0]}, {id(inner): made[1]})


_TURNED = {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}


def negated_operator(place: Place) -> Iterator[Change]:
    """`a is not b` to `not a is b`, `in` alike, `!=` where one side is a constant. Slip: the `not` is lost."""
    for each in place.expressions():
        if not isinstance(each, ast.Compare) or len(each.ops) != 1:
            continue
        op, right = each.ops[0], each.comparators[0]
        turned = _TURNED.get(type(op))
        if turned is None and isinstance(op, ast.Eq | ast.NotEq) and isinstance(right, ast.Constant):
            turned = ast.NotEq if isinstance(op, ast.Eq) else ast.Eq
        if turned is not None:
            made = ast.Compare(left=each.left, ops=[turned()], comparators=[right])
            yield Change({id(each): ast.UnaryOp(op=ast.Not(), operand=made)}, {id(each): made})


def none_first(place: Place) -> Iterator[Change]:
    """`x is None` to `None is x`. Slip: its truth is asked instead."""
    tests = {id(each) for each in _tests(place)}
    for each in place.expressions():
        if isinstance(each, ast.Compare) and len(each.ops) == 1 and isinstance(each.ops[0], ast.Is | ast.IsNot):
            right = each.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None:
                safe = ast.Compare(left=right, ops=each.ops, comparators=[each.left])
                slip = each.left if isinstance(each.ops[0], ast.IsNot) else negated(each.left)
                yield Change({id(each): safe}, {id(each): slip} if id(each) in tests else None)


def isinstance_split(place: Place) -> Iterator[Change]:
    """`isinstance(x, (A, B))` to two calls. Slip: one class is lost."""
    for each in place.expressions():
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "isinstance":
            value, kinds = each.args
            if isinstance(value, ast.Name) and isinstance(kinds, ast.Tuple) and len(kinds.elts) > 1:
                made = [ast.Call(func=each.func, args=[value, kind], keywords=[]) for kind in kinds.elts]
                whole = ast.BoolOp(op=ast.Or(), values=list(made))
                part = ast.Call(
                    func=each.func, args=[value, ast.Tuple(elts=kinds.elts[:-1], ctx=ast.Load())], keywords=[]
                )
                yield Change({id(each): whole}, {id(each): part})


def membership_to_or(place: Place) -> Iterator[Change]:
    """`x in ("a", "b")` to comparisons, where only the truth counts. Slip: one text is lost."""
    for test in _tests(place):
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.In):
            held = test.comparators[0]
            if not isinstance(test.left, ast.Name) or not isinstance(held, ast.Tuple | ast.List) or len(held.elts) < 2:
                continue
            if all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in held.elts):
                made: list[ast.expr] = [
                    ast.Compare(left=test.left, ops=[ast.Eq()], comparators=[each]) for each in held.elts
                ]
                slip = made[0] if len(made) == 2 else ast.BoolOp(op=ast.Or(), values=made[:-1])
                yield Change({id(test): ast.BoolOp(op=ast.Or(), values=made)}, {id(test): slip})


def or_to_conditional(place: Place) -> Iterator[Change]:
    """`a or b` to `a if a else b`. Slip: `and`."""
    for each in place.expressions():
        if isinstance(each, ast.BoolOp) and isinstance(each.op, ast.Or) and len(each.values) == 2:
            first, second = each.values
            if isinstance(first, ast.Name):
                safe = ast.IfExp(test=first, body=first, orelse=second)
                yield Change({id(each): safe}, {id(each): ast.BoolOp(op=ast.And(), values=[first, second])})


def test_in_local(place: Place) -> Iterator[Change]:
    """The condition of an `if` gets a name first. Slip: what is named is its opposite."""
    known = place.fresh("is_meant")
    for each in place.statements():
        if isinstance(each, ast.If) and not isinstance(each.test, ast.Name):
            made = ast.If(test=name(known), body=each.body, orelse=each.orelse)
            yield Change(
                {id(each): [assign(known, each.test), made]}, {id(each): [assign(known, negated(each.test)), made]}
            )


def assert_to_raise(place: Place) -> Iterator[Change]:
    """`assert c, m` to `if not c: raise AssertionError(m)`. Slip: the condition does not turn."""
    for each in place.statements():
        if isinstance(each, ast.Assert):
            error: ast.expr = name("AssertionError")
            if each.msg is not None:
                error = ast.Call(func=error, args=[each.msg], keywords=[])
            body: list[ast.stmt] = [ast.Raise(exc=error, cause=None)]
            safe = ast.If(test=negated(each.test), body=body, orelse=[])
            yield Change({id(each): [safe]}, {id(each): [ast.If(test=each.test, body=body, orelse=[])]})


CONDITIONS = (
    guard_inversion, early_return_to_else, else_to_early_return, merge_nested_ifs, split_and, conditional_to_statement,
    statement_to_conditional, de_morgan, negated_operator, none_first, isinstance_split, membership_to_or,
    or_to_conditional, test_in_local, assert_to_raise,
)  # fmt: skip
