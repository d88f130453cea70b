"""Whether an expression needs brackets where it is put, by what stands around it. Syntax only."""

from __future__ import annotations

import ast

_ATOMS = (
    ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.JoinedStr,
)  # fmt: skip
_NEVER_BARE = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Starred)


def is_atom(node: ast.expr) -> bool:
    """Whether nothing around it can tear the expression apart."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, (int, float, complex)) or isinstance(node.value, bool)
    return isinstance(node, _ATOMS)


def needs_brackets(node: ast.expr, text: bytes, above: ast.AST, place: ast.AST) -> bool:
    """Whether `text`, which is `node`, needs brackets in the place of `place`, a child of `above`."""
    if is_whole(text):
        return False
    if isinstance(above, ast.FormattedValue):
        return isinstance(node, _NEVER_BARE) or any(mark in text for mark in b"{}:!=")
    if is_atom(node):
        return not _stands_alone(text) and not is_enclosed(above, place)
    if isinstance(node, ast.Constant):  # a number
        return isinstance(above, ast.Attribute)
    if isinstance(node, _NEVER_BARE):
        return True
    if not is_free(above, place):
        return True
    if isinstance(node, ast.Tuple) and not isinstance(above, (ast.Assign, ast.Return, ast.Expr, ast.Subscript)):
        return True
    return not _stands_alone(text) and not is_enclosed(above, place)


def is_free(above: ast.AST, place: ast.AST) -> bool:
    """Whether the place takes any expression without brackets."""
    if isinstance(above, ast.Call):
        return place is not above.func
    if isinstance(above, ast.Subscript):
        return place is above.slice
    if isinstance(above, ast.Lambda):
        return place is above.body
    if isinstance(above, ast.comprehension):
        return False
    kinds = (
        ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.keyword, ast.Expr, ast.Assign, ast.AnnAssign,
        ast.AugAssign, ast.Return, ast.If, ast.While, ast.Assert, ast.List, ast.Set, ast.Dict, ast.Tuple, ast.For,
        ast.Raise, ast.Delete,
    )  # fmt: skip
    return isinstance(above, kinds)


def is_enclosed(above: ast.AST, place: ast.AST) -> bool:
    """Whether the place is inside brackets of the construct around it, where lines may break anywhere."""
    if isinstance(above, ast.Call):
        return place is not above.func
    displays = (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return isinstance(above, (ast.keyword, *displays)) or (isinstance(above, ast.Subscript) and place is above.slice)


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
