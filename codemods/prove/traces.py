"""Whether code may leave something behind in its module: a global, an attribute of a class, a table that it changes.
Where it surely does not, a run that is ended by a fault leaves nothing to look for. Judged by the text, on the safe
side."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_REACHING = frozenset("setattr delattr globals locals vars exec eval __dict__ __setattr__ __class__".split())
_WIDE = frozenset(["BaseException", "KeyboardInterrupt", "SystemExit", "GeneratorExit"])
_LOOKS = frozenset("get items keys values index count copy union intersection difference issubset isdisjoint".split())
_LOOKING = frozenset(
    """
        len sorted list dict tuple set frozenset any all min max sum enumerate isinstance iter bool str
    """.split()
)


class Traces:
    """What the functions of one side that were executed may leave."""

    def __init__(self) -> None:
        self.is_left = False  # something other than a change of a table
        self.is_wide = False  # there is an `except` that catches what is no Exception
        self.handed: set[str] = set()  # names that are used otherwise than by looking something up in them

    def read(self, statements: Iterable[ast.stmt]) -> None:
        """Look at the functions in statements; what modules and classes do is done before any run."""
        for statement in statements:
            for each in ast.walk(statement):
                if isinstance(each, ast.ExceptHandler):
                    self.is_wide = self.is_wide or _is_wide(each)
                elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                    self._function(each)

    def _function(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        harmless: set[int] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Global):
                self.is_left = True
            elif isinstance(node, ast.Name):
                self._name(node.id, node, harmless)
            elif isinstance(node, ast.Attribute):
                is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
                if not isinstance(node.ctx, ast.Load) and not is_self:
                    self.is_left = True
                self._name(node.attr, node, harmless)
            harmless.update(map(id, _looked_at(node)))

    def _name(self, name: str, node: ast.expr, harmless: set[int]) -> None:
        if name in _REACHING:
            self.is_left = True
        if id(node) not in harmless:
            self.handed.add(name)


def _is_wide(handler: ast.ExceptHandler) -> bool:
    names = [each.id for each in ast.walk(handler.type) if isinstance(each, ast.Name)] if handler.type else []
    return handler.type is None or not _WIDE.isdisjoint(names)


def _looked_at(node: ast.AST) -> list[ast.expr]:
    """The parts of an expression that it only looks into."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return [node.value]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [node.iter]
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _LOOKING:
            return node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKS:
            return [node.func.value]
    return []
