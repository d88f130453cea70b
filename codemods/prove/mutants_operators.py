"""Mutants of operators and conditions: comparison, boundary, truth, and / or / not, arithmetic, sign, an operand left
out."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from codemods.prove.mutants_ground import Candidate, Ground, Kind, becomes

Rule = Callable[[Ground, ast.AST], Iterator[Candidate]]

_COMPARISON = re.compile(rb"is(?:[\s\\]+not)?\b|not[\s\\]+in\b|in\b|<=|>=|==|!=|<|>")
_OPPOSITE: dict[type[ast.cmpop], bytes] = {
    ast.Lt: b">=",
    ast.LtE: b">",
    ast.Gt: b"<=",
    ast.GtE: b"<",
    ast.Eq: b"!=",
    ast.NotEq: b"==",
    ast.Is: b"is not",
    ast.IsNot: b"is",
    ast.In: b"not in",
    ast.NotIn: b"in",
}
_BOUNDARY: dict[type[ast.cmpop], bytes] = {ast.Lt: b"<=", ast.LtE: b"<", ast.Gt: b">=", ast.GtE: b">"}
_ARITHMETIC: dict[type[ast.operator], tuple[bytes, bytes]] = {
    ast.Add: (b"+", b"-"),
    ast.Sub: (b"-", b"+"),
    ast.Mult: (b"*", b"/"),
    ast.Div: (b"/", b"*"),
    ast.FloorDiv: (b"//", b"/"),
    ast.Mod: (b"%", b"*"),
    ast.Pow: (b"**", b"*"),
    ast.LShift: (b"<<", b">>"),
    ast.RShift: (b">>", b"<<"),
    ast.BitAnd: (b"&", b"|"),
    ast.BitOr: (b"|", b"&"),
    ast.BitXor: (b"^", b"&"),
}
_PLACES = (ast.Name, ast.Attribute, ast.Subscript)


def _comparisons(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Compare)
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        at = ground.skip_blank(ground.end(left), brackets=True)
        match = _COMPARISON.match(ground.body, at)
        left = right
        if match is None:
            continue
        for kind, table in ((Kind.COMPARISON, _OPPOSITE), (Kind.BOUNDARY, _BOUNDARY)):
            new = table.get(type(operator))
            if new is not None:
                yield ground.splice(kind, match.start(), match.end(), new, becomes(match.group(), new), node)


def _nothing(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """`x is None` and `not x` are the same for most values, and so are `x is not None` and `x`."""
    assert isinstance(node, ast.Compare)
    right = node.comparators[0]
    if len(node.ops) != 1 or not (isinstance(right, ast.Constant) and right.value is None):
        return
    inner = ground.wrapped(node.left)
    new = {ast.Is: b"(not " + inner + b")", ast.IsNot: inner}.get(type(node.ops[0]))
    if new is not None and not isinstance(node.left, ast.Constant):
        yield ground.replace(Kind.TRUTH, node, new, becomes(ground.segment(node), new))


def conditions(node: ast.AST) -> list[ast.expr]:
    """The expressions of a node that only decide which way it goes. What an `assert` asks is not among them: answered
    True it is as good as dropped."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        return [node.test]
    if isinstance(node, ast.comprehension):
        return node.ifs
    return [node.guard] if isinstance(node, ast.match_case) and node.guard is not None else []


def _condition(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """Always, never, and the other way round. A loop that has no end any more is of no use."""
    for test in conditions(node):
        yield from _presence(ground, test)
        if isinstance(test, ast.Constant):
            continue
        before = ground.segment(test)
        for new in (b"True", b"False"):
            if not (isinstance(node, ast.While) and new == b"True"):
                yield ground.replace(Kind.CONDITION, test, new, becomes(before, new))
        if not isinstance(test, (ast.Compare, ast.BoolOp)) and not _is_not(test):
            new = b"not " + ground.wrapped(test)
            yield ground.replace(Kind.BOOLEAN, test, new, becomes(before, new))


def _presence(ground: Ground, test: ast.expr) -> Iterator[Candidate]:
    """What is asked for its truth is asked whether it is there instead."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _presence(ground, value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _presence(ground, test.operand)
    elif isinstance(test, _PLACES):
        before = ground.segment(test)
        new = b"(" + before + b" is not None)"
        yield ground.replace(Kind.TRUTH, test, new, becomes(before, new[1:-1]))


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _boolean(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.BoolOp)
    old, new = (b"and", b"or") if isinstance(node.op, ast.And) else (b"or", b"and")
    for left in node.values[:-1]:
        at = ground.skip_blank(ground.end(left), brackets=True)
        if ground.body.startswith(old, at):
            note = f"`{old.decode()}` becomes `{new.decode()}`"
            yield ground.splice(Kind.BOOLEAN, at, at + len(old), new, note, node)
    for number, dropped in enumerate(node.values):
        kept = [ground.wrapped(each) for each in [*node.values[:number], *node.values[number + 1 :]]]
        text = (b" " + old + b" ").join(kept)
        text = b"(" + text + b")" if len(kept) > 1 else text
        note = f"without the operand `{ground.segment(dropped).decode()}`"
        yield ground.replace(Kind.OPERAND, node, text, " ".join(note.split()))


def _unary(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.UnaryOp)
    kind = Kind.BOOLEAN if isinstance(node.op, ast.Not) else Kind.UNARY
    new = ground.wrapped(node.operand)
    yield ground.replace(kind, node, new, becomes(ground.segment(node), new))


def _arithmetic(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.BinOp)
    pair = _ARITHMETIC.get(type(node.op))
    if pair is not None and not _joins_text(node):
        old, new = pair
        at = ground.skip_blank(ground.end(node.left), brackets=True)
        if ground.body.startswith(old, at):
            yield ground.splice(Kind.ARITHMETIC, at, at + len(old), new, becomes(old, new), node)
    for kept, dropped in ((node.left, node.right), (node.right, node.left)):
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            return  # the string constant is a place of its own
        text = ground.wrapped(kept)
        note = " ".join(f"without the operand `{ground.segment(dropped).decode()}`".split())
        yield ground.replace(Kind.OPERAND, node, text, note)


def _joins_text(node: ast.BinOp) -> bool:
    """`+` and `%` of strings and lists: any other operator is a plain TypeError."""
    return any(
        _is_text(each) or isinstance(each, (ast.List, ast.Tuple, ast.ListComp)) for each in (node.left, node.right)
    )


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))


def _augmented(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """`+=` becomes `-=` and `=`."""
    assert isinstance(node, ast.AugAssign)
    pair = _ARITHMETIC.get(type(node.op))
    at = ground.skip_blank(ground.end(node.target), brackets=True)
    if pair is None or not ground.body.startswith(pair[0] + b"=", at):
        return
    end = at + len(pair[0]) + 1
    for new in (b"=", *(() if _is_text(node.value) or isinstance(node.value, ast.List) else (pair[1] + b"=",))):
        yield ground.splice(Kind.ARITHMETIC, at, end, new, becomes(ground.body[at:end], new), node)


RULES: dict[type[ast.AST], tuple[Rule, ...]] = {
    ast.Compare: (_comparisons, _nothing),
    ast.If: (_condition,),
    ast.While: (_condition,),
    ast.IfExp: (_condition,),
    ast.comprehension: (_condition,),
    ast.match_case: (_condition,),
    ast.BoolOp: (_boolean,),
    ast.UnaryOp: (_unary,),
    ast.BinOp: (_arithmetic,),
    ast.AugAssign: (_augmented,),
}
