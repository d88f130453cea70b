"""Which string literals of a file may become the value of an expression, by way of names, loops, tables and parameters.

Goes too far rather than not far enough: what it finds may be the text, not must be. Stays in the file: what other files
pass to a parameter is not followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.receivers import scope_at
from codemods.source.scopes import Role, lookup
from codemods.source.string_use import callee

_DEEPEST = 6
_WRAPPERS = frozenset({"sorted", "list", "tuple", "set", "frozenset", "reversed", "enumerate", "zip", "iter", "chain"})
_VIEWS = frozenset({"items", "keys", "values", "get", "pop", "union", "copy"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


def literals_behind(source: Source, node: ast.expr) -> list[ast.Constant]:
    """The literals, in the order of the text; the expression itself when it is one."""
    flow = _Flow(source)
    flow.value(node, _DEEPEST)
    return sorted(flow.found, key=source.start)


class _Flow:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.found: set[ast.Constant] = set()
        self._seen: set[tuple[ast.AST, bool]] = set()

    def value(self, node: ast.expr, depth: int) -> None:
        """Literals that the expression itself may be."""
        if depth == 0 or (node, False) in self._seen:
            return
        self._seen.add((node, False))
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                self.found.add(node)
        elif isinstance(node, ast.IfExp):
            self.value(node.body, depth)
            self.value(node.orelse, depth)
        elif isinstance(node, ast.BoolOp):
            for each in node.values:
                self.value(each, depth)
        elif isinstance(node, (ast.NamedExpr, ast.Starred, ast.Await)):
            self.value(node.value, depth)
        elif isinstance(node, ast.Subscript):
            self.parts(node.value, depth)
        elif isinstance(node, ast.Call):
            self.call(node, depth)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            for bound, is_part in self.bindings(node):
                (self.parts if is_part else self.value)(bound, depth - 1)

    def parts(self, node: ast.expr, depth: int) -> None:
        """Literals that an element of the expression may be, or a part of an element."""
        if depth == 0 or (node, True) in self._seen:
            return
        self._seen.add((node, True))
        if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            given = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
            for each in given:
                if each is not None:
                    self.value(each, depth)
                    self.parts(each, depth)
        elif isinstance(node, _COMPREHENSIONS):
            self.value(node.elt, depth)
        elif isinstance(node, (ast.BinOp, ast.IfExp)):
            for side in (node.left, node.right) if isinstance(node, ast.BinOp) else (node.body, node.orelse):
                self.parts(side, depth)
        elif isinstance(node, (ast.Starred, ast.NamedExpr)):
            self.parts(node.value, depth)
        elif isinstance(node, ast.Call):
            self.call(node, depth)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            for bound, _ in self.bindings(node):
                self.parts(bound, depth - 1)

    def call(self, node: ast.Call, depth: int) -> None:
        last = (callee(node) or [""])[-1]
        if last in _VIEWS and isinstance(node.func, ast.Attribute):
            self.parts(node.func.value, depth)
        for each in node.args if last in _WRAPPERS | {"get"} else ():
            self.parts(each, depth)
            self.value(each, depth)

    def bindings(self, node: ast.Name | ast.Attribute) -> Iterator[tuple[ast.expr, bool]]:
        """What a name or an attribute is bound to, and whether only a part of that is."""
        if isinstance(node, ast.Attribute):
            yield from self.attribute(node.attr)
            return
        home = lookup(scope_at(self.source, node), node.id)
        for each in home.bound[node.id] if home is not None else ():
            if each.role is Role.PARAMETER and isinstance(each.node, ast.arg):
                yield from ((value, False) for value in self.passed(each.node))
            elif isinstance(each.node, ast.expr):
                yield from self.assigned(each.node)

    def attribute(self, name: str) -> Iterator[tuple[ast.expr, bool]]:
        """`self.NAMES`, `Table.NAMES`: whatever of that name a body or a method of this file sets."""
        for node in _inventory(self.source).assigned.get(name, ()):
            assert node.value is not None
            yield node.value, False

    def assigned(self, target: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
        """The value of one target of an assignment or a loop."""
        at: ast.AST = target
        above = self.source.parents.get(at)
        is_part = False
        while isinstance(above, (ast.Tuple, ast.List, ast.Starred)):
            at, above, is_part = above, self.source.parents.get(above), True
        if isinstance(above, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and above.value is not None:
            yield above.value, is_part
        elif isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.target is at:
            yield above.iter, True

    def passed(self, parameter: ast.arg) -> Iterator[ast.expr]:
        """The parameter's default, and what calls in this file pass for it."""
        function = self.source.enclosing(parameter, *FUNCTIONS, ast.Lambda)
        if not isinstance(function, FUNCTIONS):
            return
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip(reversed(plain), reversed(arguments.defaults), strict=False))
        given = defaults.get(parameter) or dict(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)).get(
            parameter
        )
        if given is not None:
            yield given
        place = plain.index(parameter) if parameter in plain else None
        for node in _inventory(self.source).called.get(function.name, ()):
            yield from _argument(node, parameter.arg, place, function)


class _Inventory(Struct, frozen=True, eq=False):
    """The assignments and the calls of a file by the last name of their target."""

    assigned: dict[str, list[ast.Assign | ast.AnnAssign]]
    called: dict[str, list[ast.Call]]


def _inventory(source: Source) -> _Inventory:
    """Made once a file."""
    kept = source.notes.get("string flow")
    if not isinstance(kept, _Inventory):
        kept = source.notes["string flow"] = _Inventory({}, {})
        for node in walk(source.tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {name for each in targets for name in (getattr(each, "id", ""), getattr(each, "attr", ""))}
                for name in names:
                    kept.assigned.setdefault(name, []).append(node)
            elif isinstance(node, ast.Call):
                kept.called.setdefault((callee(node) or [""])[-1], []).append(node)
    return kept


def _argument(call: ast.Call, name: str, place: int | None, function: Function) -> Iterator[ast.expr]:
    """What a call passes for a parameter; the object in front of a method may be among the arguments or not."""
    yield from (each.value for each in call.keywords if each.arg == name)
    if place is None:
        if function.args.vararg is not None and function.args.vararg.arg == name:
            yield from call.args
        return
    for index in {place, place - 1}:
        if 0 <= index < len(call.args):
            yield call.args[index]
