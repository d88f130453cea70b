"""Which attributes an instance surely has when a method of it, or whoever was given it, begins: those that its class
defines, and those that the text of its initialiser sets on every path. Reading one of them earlier can't fail.

Judged on the safe side: what a helper of the initialiser sets, what is set under a condition, what stands behind a
property, and everything of a class that is not known, is not sure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.prove.opaque import ATTR, ROOT, Opaque
from codemods.prove.sides import FunctionNode, Side, Target

_DEEPEST = 12
_PLAIN = ("staticmethod", "classmethod")


class Certain:
    """For one callable of a side. owner: the class of `self`, and the name of the method that runs; types: the
    annotations of its parameters, each with the module that it stands in."""

    def __init__(self, side: Side, owner: Target | None, method: str, types: dict[str, tuple[str, ast.expr]]) -> None:
        self._side, self._owner, self._method, self._types = side, owner, method, types
        self._known: dict[Opaque, bool] = {}
        self._found: dict[tuple[str, str], set[str]] = {}

    def has(self, value: Opaque) -> bool:
        """Whether an attribute of an input, or of an attribute of one, is surely there."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._has(value)
        return found

    def _has(self, value: Opaque) -> bool:
        base, name = value._u_parts[:2]
        kind = self._class_of(base)
        is_self = type(base) is Opaque and base._u_kind is ROOT and base._u_parts[0] == "self"
        return kind is not None and name in self._names(kind, self._method if is_self else "", 0)

    # -- what a class surely has

    def _names(self, kind: Target, until: str, depth: int) -> set[str]:
        """until: the method that is about to run: what its class sets after calling it, it does not have yet."""
        key = (kind.key, until)
        if key not in self._found:
            self._found[key] = set()  # a class that is behind itself
            self._found[key] = self._names_of(kind, until, depth)
        return self._found[key]

    def _names_of(self, kind: Target, until: str, depth: int) -> set[str]:
        assert isinstance(kind.node, ast.ClassDef)
        found = set(_defined(kind.node))
        bases = [base for base in self._bases(kind) if depth < _DEEPEST]
        for base in bases:
            found |= self._names(base, "__init__", depth + 1)
        found -= {each.name for each in kind.node.body if isinstance(each, FunctionNode) and not _is_plain(each)}
        maker = _method(kind.node, "__init__")
        if maker is not None and until != "__init__":
            found |= self._set_by(kind, maker, until, depth)
        elif maker is None and until != "__init__":
            for base in bases:
                found |= self._names(base, until, depth + 1)
        return found

    def _bases(self, kind: Target) -> Iterator[Target]:
        assert isinstance(kind.node, ast.ClassDef)
        for each in kind.node.bases:
            found = self._resolved(kind.module, each.value if isinstance(each, ast.Subscript) else each)
            if found is not None:
                yield found

    def _set_by(self, kind: Target, maker: FunctionNode, until: str, depth: int) -> set[str]:
        found: set[str] = set()
        for statement in maker.body:
            if until and self._leads_to(kind, statement, until):
                break
            found |= _assigned(statement)
            if _calls_base(statement):
                for base in self._bases(kind):
                    found |= self._names(base, "", depth + 1) if depth < _DEEPEST else set()
            if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
                break
        return found

    def _leads_to(self, kind: Target, statement: ast.stmt, method: str) -> bool:
        """Whether a statement may run a method of the same class, itself or through others."""
        assert isinstance(kind.node, ast.ClassDef)
        seen: set[str] = set()
        pending: list[ast.AST] = [statement]
        while pending:
            inside = pending.pop()
            for each in ast.walk(inside):
                name = each.attr if isinstance(each, ast.Attribute) else ""
                if name == method:
                    return True
                inner = _method(kind.node, name) if name and name not in seen else None
                if inner is not None:
                    seen.add(name)
                    pending.append(inner)
        return False

    # -- of which class a value is

    def _class_of(self, value: object) -> Target | None:
        if type(value) is not Opaque or value._u_kind not in (ROOT, ATTR):
            return None
        if value._u_kind is ROOT:
            name = value._u_parts[0]
            if name == "self" and self._owner is not None:
                return self._owner
            return self._annotated(*self._types[name]) if name in self._types else None
        kind = self._class_of(value._u_parts[0])
        return self._field_class(kind, value._u_parts[1]) if kind is not None else None

    def _field_class(self, kind: Target, name: str) -> Target | None:
        """The class of an attribute, where one statement alone says what it holds."""
        assert isinstance(kind.node, ast.ClassDef)
        for each in kind.node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id == name:
                return self._annotated(kind.module, each.annotation)
        given = list(_values(kind.node, name))
        if len(given) != 1:
            return None
        maker, value = given[0]
        if isinstance(value, ast.Call):
            return self._resolved(kind.module, value.func)
        if isinstance(value, ast.Name) and maker.name == "__init__":
            for one in ast.walk(maker.args):
                if isinstance(one, ast.arg) and one.arg == value.id and one.annotation is not None:
                    return self._annotated(kind.module, one.annotation)
        return None

    def _annotated(self, module: str, node: ast.expr) -> Target | None:
        """A class; None for what may be None too."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return None
        return self._resolved(module, node)

    def _resolved(self, module: str, node: ast.expr) -> Target | None:
        found: Target | None = None
        if isinstance(node, ast.Name):
            found = self._side.resolve(module, node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            front = self._side.resolve(module, node.value.id)
            found = self._side.member(front.module, node.attr) if front.kind == "module" else None
        return found if found is not None and isinstance(found.node, ast.ClassDef) else None


def certain_of_maker(side: Side, module: str, kind: ast.ClassDef) -> Certain:
    """For the initialiser of a class, as who makes an instance calls it."""
    maker = _method(kind, "__init__")
    given = [each for each in ast.walk(maker.args) if isinstance(each, ast.arg)] if maker is not None else []
    types = {each.arg: (module, each.annotation) for each in given if each.annotation is not None}
    return Certain(side, None, "", types)


def _defined(kind: ast.ClassDef) -> Iterator[str]:
    for each in kind.body:
        if isinstance(each, FunctionNode) and _is_plain(each):
            yield each.name
        elif isinstance(each, ast.Assign):
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and _is_field(kind, each):
            yield each.target.id


def _is_field(kind: ast.ClassDef, node: ast.AnnAssign) -> bool:
    """With a value, or a field of a data class, a struct, a model; alone it is a note for readers."""
    return bool(node.value is not None or kind.decorator_list or kind.bases)


def _is_plain(method: FunctionNode) -> bool:
    return all(isinstance(each, ast.Name) and each.id in _PLAIN for each in method.decorator_list)


def _method(kind: ast.ClassDef, name: str) -> FunctionNode | None:
    return next((each for each in kind.body if isinstance(each, FunctionNode) and each.name == name), None)


def _values(kind: ast.ClassDef, name: str) -> Iterator[tuple[FunctionNode, ast.expr | None]]:
    """What the methods of a class put into an attribute."""
    for method, each in _nodes(kind):
        targets: Iterable[ast.expr] = ()
        if isinstance(each, ast.Assign):
            targets = each.targets
        elif isinstance(each, ast.AnnAssign | ast.AugAssign):
            targets = (each.target,)
        if any(_is_own(inner, name) for target in targets for inner in ast.walk(target)):
            value = each.value if isinstance(each, ast.Assign | ast.AnnAssign) else None
            yield method, _part(targets, value, name)


def _part(targets: Iterable[ast.expr], value: ast.expr | None, name: str) -> ast.expr | None:
    """What of a value goes to `self.name`: all of it, or the part at the same place of a tuple."""
    for target in targets:
        if _is_own(target, name):
            return value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return next((part for one, part in zip(target.elts, value.elts, strict=True) if _is_own(one, name)), None)
    return None


def _nodes(kind: ast.ClassDef) -> Iterator[tuple[FunctionNode, ast.AST]]:
    for method in kind.body:
        if isinstance(method, FunctionNode):
            yield from ((method, each) for each in ast.walk(method))


def _is_own(node: ast.AST, name: str = "") -> bool:
    """`self.name`."""
    is_attribute = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return is_attribute and name in ("", node.attr)  # type: ignore[attr-defined]


def _assigned(node: ast.stmt) -> set[str]:
    """The attributes of `self` that a statement sets, whatever way it takes."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {
            each.attr
            for target in targets
            for each in ast.walk(target)
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) and _is_own(each)
        }
    if isinstance(node, ast.With):
        return _all_of(node.body)
    if isinstance(node, ast.If):
        ways = [_all_of(body) for body in (node.body, node.orelse) if not _leaves(body)]
        return set.intersection(*ways) if ways else set()
    return _all_of(node.finalbody) if isinstance(node, ast.Try) else set()


def _all_of(body: list[ast.stmt]) -> set[str]:
    return {name for each in body for name in _assigned(each)}


def _leaves(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _calls_base(node: ast.stmt) -> bool:
    """`super().__init__(...)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    front = function.value if isinstance(function, ast.Attribute) and function.attr == "__init__" else None
    return isinstance(front, ast.Call) and isinstance(front.func, ast.Name) and front.func.id == "super"
