"""Works out what one input is tied to from the values of the others: a small evaluator that runs nothing of the
tree."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from codemods.prove.domains import Build
from codemods.prove.domains_home import MISSING

_LARGEST = 1 << 128
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": len,
    "int": int,
    "float": float,
    "abs": abs,
    "min": min,
    "max": max,
    "sum": sum,
    "round": round,
    "sorted": sorted,
    "set": set,
    "list": list,
    "tuple": tuple,
}
_METHODS = frozenset({"split", "rsplit", "partition", "rpartition"})
_FAILURES = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError)


@lru_cache(maxsize=4096)
def _parsed(expression: str) -> ast.expr:
    return ast.parse(expression, mode="eval").body


def worked_out(expression: str, case: Mapping[str, Any]) -> Any:
    """The value of an expression over the inputs of a case; MISSING when an input or the value is missing."""
    try:
        value = _value(_parsed(expression), case)
    except _FAILURES:
        return MISSING
    if isinstance(value, int) and abs(value) > _LARGEST:
        return MISSING
    return value


def _value(node: ast.expr, case: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _input(node, case)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, case), _value(node.right, case)
        if isinstance(node.op, ast.Mod) and isinstance(left, (str, bytes)):
            raise TypeError
        if isinstance(node.op, ast.Mult) and not (_is_number(left) and _is_number(right)):
            raise TypeError  # a sequence times a large number
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, case)
    if isinstance(node, ast.Subscript):
        return _value(node.value, case)[_value(node.slice, case)]
    if isinstance(node, ast.Call) and not node.keywords:
        args = [_value(each, case) for each in node.args]
        if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
            return _FUNCTIONS[node.func.id](*args)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            owner = _value(node.func.value, case)
            if isinstance(owner, str):
                return getattr(owner, node.func.attr)(*args)
    raise TypeError


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _input(node: ast.Name | ast.Attribute, case: Mapping[str, Any]) -> Any:
    """An input, or a field of one that is built."""
    name = ast.unparse(node)
    if name in case:
        return case[name]
    if isinstance(node, ast.Name):
        raise KeyError(name)
    assert isinstance(node.value, (ast.Name, ast.Attribute)), name
    owner = _input(node.value, case)
    if not isinstance(owner, Build):
        raise TypeError
    return dict(owner.kwargs)[node.attr]


def is_workable(expression: str) -> bool:
    """Whether an expression has only what can be worked out here. Raises SyntaxError for text that is no expression."""
    return _is_workable(_parsed(expression))


def _is_workable(node: ast.expr) -> bool:
    if isinstance(node, (ast.Constant, ast.Name)):
        return True
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, (ast.Name, ast.Attribute)) and _is_workable(node.value)
    if isinstance(node, ast.BinOp):
        return type(node.op) in _OPERATORS and _is_workable(node.left) and _is_workable(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_workable(node.operand)
    if isinstance(node, ast.Subscript):
        return _is_workable(node.value) and _is_workable(node.slice)
    if isinstance(node, ast.Call) and not node.keywords and all(_is_workable(each) for each in node.args):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in _METHODS and _is_workable(node.func.value)
        return isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
    return False


def names_in(expression: str) -> tuple[str, ...]:
    """The dotted names of the inputs in an expression."""
    found: list[str] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                visit(node.func.value)
            for each in node.args:
                visit(each)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            found.append(ast.unparse(node))
        else:
            for child in ast.iter_child_nodes(node):
                visit(child)

    visit(_parsed(expression))
    return tuple(dict.fromkeys(found))


def renamed(expression: str, names: Mapping[str, str]) -> str:
    """The expression with the inputs' other names."""

    class Renamer(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return self._renamed(node)

        def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
            if ast.unparse(node) in names:
                return self._renamed(node)
            return ast.Attribute(self.visit(node.value), node.attr, node.ctx)

        def _renamed(self, node: ast.Name | ast.Attribute) -> ast.expr:
            name = ast.unparse(node)
            return ast.parse(names.get(name, name), mode="eval").body

    return ast.unparse(Renamer().visit(ast.parse(expression, mode="eval").body))


def near(value: Any, offset: int) -> Any:
    """The value, or its neighbour: one more or less, the next float."""
    if offset == 0 or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value + offset
    if isinstance(value, float) and math.isfinite(value):
        return math.nextafter(value, math.inf if offset > 0 else -math.inf)
    return value
