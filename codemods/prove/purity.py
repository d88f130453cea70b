"""Whether a function of the trees only computes: no writes but to its own locals, no calls but of what only computes.
Such a function is executed where its arguments are concrete; every other shared one stays a collaborator."""

from __future__ import annotations

import ast
import builtins

from codemods.prove.sides import FunctionNode, Side, Target
from codemods.prove.stand_ins import PURE

_IMPURE_BUILTINS = frozenset(
    """
        print open input exec eval compile setattr delattr globals locals vars __import__ breakpoint exit quit
        next
    """.split()
)
_CHANGING = frozenset(
    """
        append extend insert remove pop clear add discard update setdefault popitem sort reverse write
        writelines send put
    """.split()
)


class Purity:
    """Answers for one side; remembers."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._known: dict[str, bool] = {}

    def is_pure(self, target: Target) -> bool:
        key = target.key
        if key not in self._known:
            self._known[key] = True  # recursion adds nothing
            node = target.node
            self._known[key] = isinstance(node, FunctionNode) and self.is_pure_function(target.module, node)
        return self._known[key]

    def is_pure_function(self, module: str, node: FunctionNode) -> bool:
        """Judged by its text: what can't be told from it is not pure."""
        if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list:
            return False
        parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        own = {
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        } - parameters
        return all(self._is_harmless(module, each, own) for each in ast.walk(node))

    def _is_harmless(self, module: str, node: ast.AST, own: set[str]) -> bool:
        if isinstance(
            node, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await | ast.With | ast.AsyncWith
        ):
            return False
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            return _root(node) in own
        if isinstance(node, ast.Call):
            return self._is_harmless_call(module, node, own)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            return not self._is_rebound(self._side.resolve(module, node.id))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in own:
            found = self._side.resolve(module, node.value.id)
            return found.kind != "module" or not self._is_rebound(self._side.member(found.module, node.attr))
        return True

    def _is_rebound(self, found: Target) -> bool:
        """Whether a name of the tree is bound anew by some function of its module: what it holds depends on the
        moment."""
        facts = self._side.facts(found.module) if found.kind == "value" else None
        return facts is not None and found.name in facts.rebound

    def _is_harmless_call(self, module: str, node: ast.Call, own: set[str]) -> bool:
        function = node.func
        if isinstance(function, ast.Name):
            return self._is_harmless_name(module, function.id, own)
        if not isinstance(function, ast.Attribute):
            return False
        root = _root(function)
        if root is None:
            return function.attr not in _CHANGING and _is_text(function.value)
        if root in own:
            return True
        found = self._side.resolve(module, root)
        if found.kind == "outside":
            return found.module.partition(".")[0] in PURE or found.module in PURE
        if found.kind == "missing" or found.kind == "builtin":  # a parameter
            return function.attr not in _CHANGING and hasattr(str, function.attr)
        if found.kind == "module" and isinstance(function.value, ast.Name):
            return self.is_pure(self._side.member(found.module, function.attr))
        return False

    def _is_harmless_name(self, module: str, name: str, own: set[str]) -> bool:
        if name in own:
            return False
        found = self._side.resolve(module, name)
        if found.kind == "builtin":
            return hasattr(builtins, name) and name not in _IMPURE_BUILTINS
        if found.kind == "outside":
            return found.module.rpartition(".")[0] in PURE
        return found.kind == "function" and self.is_pure(found)


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_text(node: ast.expr) -> bool:
    """A text literal, or what a method of one gives."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return isinstance(node, ast.Constant | ast.JoinedStr)
