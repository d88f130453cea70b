"""Whether an expression needs brackets where it is put, by what stands around it. Syntax only."""

from __future__ import annotations

import ast

_OR, _AND, _COMPARE, _BIT_OR, _UNARY, _POWER, _ATOM = 3, 4, 6, 7, 13, 14, 16
_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: _BIT_OR, ast.BitXor: 8, ast.BitAnd: 9, ast.LShift: 10, ast.RShift: 10, ast.Add: 11, ast.Sub: 11,
    ast.Mult: 12, ast.MatMult: 12, ast.Div: 12, ast.FloorDiv: 12, ast.Mod: 12, ast.Pow: _POWER,
}  # fmt: skip
_STATEMENTS = (
    ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.If, ast.While, ast.Assert, ast.For, ast.Raise,
    ast.Delete,
)  # fmt: skip
_DISPLAYS = (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NEVER_BARE = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)


def strength(node: ast.expr) -> int:
    """How tightly an expression holds together: 0 for `x := 1`, the most for names, calls and displays."""
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.BoolOp):
        return _OR if isinstance(node.op, ast.Or) else _AND
    if isinstance(node, ast.UnaryOp):
        return 5 if isinstance(node.op, ast.Not) else _UNARY
    kinds = {ast.Lambda: 1, ast.IfExp: 2, ast.Compare: _COMPARE, ast.Await: 15, ast.Tuple: 0}
    return 0 if isinstance(node, _NEVER_BARE) else kinds.get(type(node), _ATOM)


def required(above: ast.AST, place: ast.AST) -> int:
    """How tightly an expression must hold together to stand bare in the place of `place`, a child of `above`."""
    if isinstance(above, ast.BinOp):
        own = _BINARY[type(above.op)]
        if isinstance(above.op, ast.Pow):
            return own + 1 if place is above.left else _UNARY
        return own if place is above.left else own + 1
    if isinstance(above, ast.BoolOp):
        return strength(above) + 1
    if isinstance(above, ast.Compare):
        return _BIT_OR
    if isinstance(above, ast.UnaryOp):
        return _UNARY  # `not (a in b)`: brackets that readers want
    if isinstance(above, ast.IfExp):
        return 1 if place is above.orelse else _OR
    if isinstance(above, (ast.comprehension, ast.withitem)):
        return _OR
    if isinstance(above, ast.Starred):
        return _BIT_OR
    if isinstance(above, (ast.Call, ast.Subscript)):
        is_head = place is (above.func if isinstance(above, ast.Call) else above.value)
        return _ATOM if is_head else 1
    takes_any = (ast.Lambda, ast.keyword, ast.Tuple, *_DISPLAYS, *_STATEMENTS)
    return 1 if isinstance(above, takes_any) else _ATOM


def needs_brackets(node: ast.expr, text: bytes, above: ast.AST, place: ast.AST) -> bool:
    """Whether `text`, which is `node`, needs brackets in the place of `place`, a child of `above`."""
    if is_whole(text):
        return False
    if isinstance(above, ast.FormattedValue):
        return isinstance(node, _NEVER_BARE) or any(mark in text for mark in b"{}:!=")
    if isinstance(node, ast.Constant) and isinstance(above, ast.Attribute):
        return isinstance(node.value, (int, float, complex)) and not isinstance(node.value, bool)
    if isinstance(node, ast.Tuple):
        return not isinstance(above, (ast.Assign, ast.Return, ast.Expr, ast.Subscript))
    if strength(node) < required(above, place):
        return True
    return not _stands_alone(text) and not _is_enclosed(above, place)


def _is_enclosed(above: ast.AST, place: ast.AST) -> bool:
    """Whether the place is inside brackets of the construct around it, where lines may break anywhere."""
    if isinstance(above, ast.Call):
        return place is not above.func
    return isinstance(above, (ast.keyword, *_DISPLAYS)) or (isinstance(above, ast.Subscript) and place is above.slice)


def is_whole(text: bytes) -> bool:
    """Whether the text is in brackets of its own already: `(a + b)`, not `(a) + (b)`."""
    if not (text.startswith(b"(") and text.endswith(b")")):
        return False
    try:
        inner = ast.parse(b"f" + text, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name)


def _stands_alone(text: bytes) -> bool:
    """Whether the text is an expression without anything around it that lets its lines break."""
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
