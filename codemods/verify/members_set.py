"""Which attributes an object surely has: when it is made, and at a place in one of its methods.

Follows statements that run in any case and calls on self that do; a function of an object is called either by its own
class, where the order of statements counts, or by others once the object is made."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from codemods.source.nodes import children
from codemods.verify.class_text import ClassText
from codemods.verify.members import Members
from codemods.verify.readers_family import is_test_path
from codemods.verify.scopes import parameters, statements

_DEEPEST = 5
_CONSTRUCTORS = ("__init__", "__post_init__")
_LATER = (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp)


class Presence:
    """What is surely set, for the classes of one side."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self._methods: dict[tuple[str, str, str], frozenset[str]] = {}
        self._open: set[tuple[str, str, str]] = set()

    def is_always_set(self, klass: ClassText, name: str) -> bool:
        """Whether every instance has the attribute once it is made, those of classes below as well."""
        if self._has_value(klass, name):
            return True
        for each in [klass, *self.members.heirs(klass)]:
            if not any(name in self.method(each, constructor) for constructor in _CONSTRUCTORS):
                return False
        return True

    def double_without(self, klass: ClassText, name: str) -> ClassText | None:
        """A class below, of the tests, whose instances are made without the attribute."""
        if self._has_value(klass, name):
            return None
        for each in self.members.heirs(klass, with_tests=True):
            sets = any(name in self.method(each, constructor) for constructor in _CONSTRUCTORS)
            if is_test_path(each.path) and not sets and not self._has_value(each, name):
                return each
        return None

    def is_set_at(self, klass: ClassText, function: str, line: int, name: str, depth: int = _DEEPEST) -> bool:
        """Whether the object has the attribute whenever a line of one of its methods is reached."""
        if self._has_value(klass, name):
            return True
        home, node = self._found(klass, function)
        if node is not None and home is not None and name in self._before(klass, node.body, _me(node), line):
            return True
        if depth == 0 or function in _CONSTRUCTORS or node is None or not self.is_always_set(klass, name):
            return False
        return all(
            self.is_set_at(each, caller, at, name, depth - 1)
            for each, caller, at in self._callers(klass, function)
            if caller != function
        )

    def _has_value(self, klass: ClassText, name: str) -> bool:
        return any(each.kinds(name) & {"method", "value", "field"} for each in self.members.line(klass))

    def _callers(self, klass: ClassText, function: str) -> list[tuple[ClassText, str, int]]:
        """Methods of the family that name a function of self: their class, their name, and where."""
        found: list[tuple[ClassText, str, int]] = []
        word = re.compile(rb"\bself\.%b\b" % re.escape(function.encode()))
        for each in [*self.members.line(klass), *self.members.heirs(klass)]:
            for match in word.finditer(each.block):
                line = each.line + each.block.count(b"\n", 0, match.start())
                found.append((each, each.method_at(line), line))
        return found

    def _found(
        self, klass: ClassText, name: str, after: ClassText | None = None
    ) -> tuple[ClassText | None, ast.FunctionDef | ast.AsyncFunctionDef | None]:
        """The method of that name that an instance has, or the next one above a class."""
        line = self.members.line(klass)
        if after is not None:
            line = line[line.index(after) + 1 :] if after in line else []
        for each in line:
            if any(start == name for _, start in each.starts):
                return each, each.method(name)
        return None, None

    def method(self, klass: ClassText, name: str, after: ClassText | None = None) -> frozenset[str]:
        """What a call of a method on an instance of the class sets in any case."""
        home, node = self._found(klass, name, after)
        if home is None or node is None:
            return frozenset()
        key = (f"{klass.path}:{klass.name}", f"{home.path}:{home.name}", name)
        if key in self._open or len(self._open) > _DEEPEST:
            return frozenset()
        if key not in self._methods:
            self._open.add(key)
            self._methods[key] = frozenset(self._surely(klass, home, node.body, _me(node)))
            self._open.discard(key)
        return self._methods[key]

    def _surely(self, klass: ClassText, home: ClassText, body: Sequence[ast.stmt], me: str) -> set[str]:
        """The attributes that a block sets whatever happens, unless it raises; what it reads is there as well."""
        found: set[str] = set()
        for node in body:
            found |= _read(node, me)
            if isinstance(node, ast.If):
                arms = [self._surely(klass, home, arm, me) for arm in (node.body, node.orelse)]
                ends = [_ends(arm) for arm in (node.body, node.orelse)]
                found |= arms[1] if ends[0] == "raise" else arms[0] if ends[1] == "raise" else arms[0] & arms[1]
                if "leave" in ends:
                    break
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                found |= self._surely(klass, home, node.body, me)
            elif isinstance(node, ast.Try):
                found |= self._surely(klass, home, node.finalbody, me)
                if all(_ends(handler.body) == "raise" for handler in node.handlers):
                    found |= self._surely(klass, home, [*node.body, *node.orelse], me)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)) and node.value is not None:
                found |= self._stored(klass, home, node, me)
            elif isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
                break
        return found

    def _stored(self, klass: ClassText, home: ClassText, node: ast.stmt, me: str) -> set[str]:
        found: set[str] = set()
        todo: list[ast.AST] = [node]
        while todo:
            at = todo.pop()
            if isinstance(at, _LATER):
                continue
            todo += children(at)
            if isinstance(at, ast.Attribute) and isinstance(at.ctx, ast.Store) and _is_me(at.value, me):
                found.add(at.attr)
            if isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
                of = at.func.value
                if _is_me(of, me):
                    found |= self.method(klass, at.func.attr)
                elif isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "super":
                    found |= self.method(klass, at.func.attr, home)
        return found

    def _before(self, klass: ClassText, body: Sequence[ast.stmt], me: str, line: int) -> set[str]:
        """What is surely set when a line of a block is reached."""
        found: set[str] = set()
        for node in body:
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                found |= _read(node, me) if getattr(node, "body", None) and line >= node.body[0].lineno else set()  # type: ignore[attr-defined]
                for part in ("body", "orelse", "finalbody"):
                    inner = getattr(node, part, [])
                    if inner and inner[0].lineno <= line <= (inner[-1].end_lineno or 0):
                        found |= self._before(klass, inner, me, line)
                        if part == "orelse" and isinstance(node, ast.Try):
                            found |= self._surely(klass, klass, node.body, me)
                return found
            found |= self._surely(klass, klass, [node], me)
            if isinstance(node, ast.If):  # after a guard, what the way past it sets
                for arm, other in ((node.body, node.orelse), (node.orelse, node.body)):
                    if _ends(arm):
                        found |= self._surely(klass, klass, other, me)
        return found


def _me(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return parameters(node)[0].arg if parameters(node) else ""


def _is_me(node: ast.expr, me: str) -> bool:
    return isinstance(node, ast.Name) and node.id == me


def _ends(body: Sequence[ast.stmt]) -> str:
    """How a block ends: "raise", "leave" for another way out of it, or ""."""
    if body and isinstance(body[-1], ast.Raise):
        return "raise"
    return "leave" if any(isinstance(each, (ast.Return, ast.Break, ast.Continue)) for each in statements(body)) else ""


def _read(node: ast.stmt, me: str) -> set[str]:
    """The attributes of the object that a statement reads in any case, before anything of its blocks runs."""
    if isinstance(node, (ast.If, ast.While)):
        todo: list[ast.AST] = [node.test]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        todo = [node.iter]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        todo = [node.items[0].context_expr]
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)):
        todo = [node.value] if node.value is not None else []
    else:
        return set()
    found = set()
    while todo:
        at = todo.pop()
        if isinstance(at, ast.BoolOp):
            todo.append(at.values[0])
        elif isinstance(at, ast.IfExp):
            todo.append(at.test)
        elif not isinstance(at, (*_LATER, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            todo += children(at)
            if isinstance(at, ast.Attribute) and isinstance(at.ctx, ast.Load) and _is_me(at.value, me):
                found.add(at.attr)
    return found
