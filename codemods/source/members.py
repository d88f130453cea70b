"""What a class holds: the members of its body by kind, and where its methods assign instance attributes.

One class at a time, over the bases in the tree where it says so. Attributes set from outside (`runner.x = 1`) are not
seen; what type an attribute has is receivers.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from weakref import WeakKeyDictionary

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.classes import ClassKey, External, bases, class_at, defines, mro, resolve, resolve_class
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.imports import Origin
from codemods.source.locate import flattened
from codemods.source.mentions import lines_of
from codemods.source.modules import modules_of
from codemods.source.nodes import walk
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source
from codemods.source.scopes import Scope


class MemberKind(Enum):
    METHOD = "method"
    STATIC = "static method"
    CLASS_METHOD = "class method"
    ACCESSOR = "property"  # read without a call: property, cached_property, a decorator or class that makes one
    DECORATED = "decorated"  # by something whose result is not known
    ATTRIBUTE = "class attribute"
    FIELD = "field"  # annotated, without a value
    CLASS = "nested class"
    SLOT = "slot"


class Member(Struct, frozen=True, eq=False):
    """`nodes`: every statement that binds the name in the class body (a property's getter and setter, overloads)."""

    name: str
    kind: MemberKind
    nodes: tuple[ast.stmt, ...]

    @property
    def node(self) -> ast.stmt:
        return self.nodes[0]


class Assignment(Struct, frozen=True, eq=False):
    """One statement that gives an attribute a value (or only an annotation).

    method: "" for the class body. is_unconditional: at the top level of `__init__` or of the class body, before any
    return. value: None when it is not a plain assignment. parameter: the method's parameter that is the value."""

    owner: ClassKey
    path: str
    method: str
    line: int
    node: ast.AST
    is_unconditional: bool
    value: ast.expr | None
    annotation: ast.expr | None
    parameter: ast.arg | None


_ACCESSORS = frozenset({"property", "functools.cached_property", "abc.abstractproperty", "enum.property"})
_ACCESSOR_LEAVES = frozenset({"setter", "getter", "deleter"})
_TRANSPARENT = frozenset({"abc.abstractmethod", "typing.override", "typing.final", "typing_extensions.override"})


def members(files: FileSet, source: Source, node: ast.ClassDef) -> dict[str, Member]:
    """Members of the class body by name, in the order of the text; instance attributes are `instance_attributes`'."""
    found: dict[str, Member] = {}
    scope = table(source).scope_of(node)
    for statement in flattened(node.body):
        for name, kind in _bound(files, source, statement, scope):
            before = found.get(name)
            if before is None:
                found[name] = Member(name, kind, (statement,))
            else:
                kinds = {before.kind, kind}
                kept = MemberKind.ACCESSOR if MemberKind.ACCESSOR in kinds else kind
                found[name] = Member(name, kept, (*before.nodes, statement))
    return found


def _bound(files: FileSet, source: Source, node: ast.stmt, scope: Scope) -> Iterator[tuple[str, MemberKind]]:
    if isinstance(node, FUNCTIONS):
        yield node.name, method_kind(files, source, node, scope)
    elif isinstance(node, ast.ClassDef):
        yield node.name, MemberKind.CLASS
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, MemberKind.ATTRIBUTE if node.value is not None else MemberKind.FIELD
    elif isinstance(node, ast.Assign):
        names = [inner.id for target in node.targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
        if "__slots__" in names:
            yield from ((name, MemberKind.SLOT) for name in _texts(node.value))
        for name in names:
            yield name, _assigned_kind(files, source, node.value, scope)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0], MemberKind.ATTRIBUTE


def _texts(value: ast.expr) -> list[str]:
    return [node.value for node in ast.walk(value) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _assigned_kind(files: FileSet, source: Source, value: ast.expr, scope: Scope) -> MemberKind:
    if isinstance(value, ast.Call):
        made = _decorator_kind(files, source, value.func, scope)
        if made in (MemberKind.ACCESSOR, MemberKind.STATIC, MemberKind.CLASS_METHOD):
            return made
    return MemberKind.ATTRIBUTE


def method_kind(files: FileSet, source: Source, node: Function, scope: Scope) -> MemberKind:
    """How a function in a class body (`scope`) is called; a custom decorator that makes a property is seen through."""
    kinds = [_decorator_kind(files, source, each, scope) for each in node.decorator_list]
    if kinds and kinds[0] is MemberKind.STATIC:
        return MemberKind.STATIC  # the outermost one decides how the attribute is read, whatever stands under it
    kinds = [kind for kind in kinds if kind is not MemberKind.METHOD]
    for wanted in (MemberKind.ACCESSOR, MemberKind.DECORATED, MemberKind.STATIC, MemberKind.CLASS_METHOD):
        if wanted in kinds:
            return wanted
    implicit = {"__new__": MemberKind.STATIC}
    implicit.update(dict.fromkeys(("__init_subclass__", "__class_getitem__"), MemberKind.CLASS_METHOD))
    return implicit.get(node.name, MemberKind.METHOD)


def _decorator_kind(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> MemberKind:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute) and node.attr in _ACCESSOR_LEAVES:
        return MemberKind.ACCESSOR
    name = decorator_name(files, source, node, scope)
    if name in _ACCESSORS:
        return MemberKind.ACCESSOR
    if name in {"staticmethod", "classmethod"}:
        return MemberKind.STATIC if name == "staticmethod" else MemberKind.CLASS_METHOD
    if name in _TRANSPARENT:
        return MemberKind.METHOD
    return MemberKind.ACCESSOR if _makes_accessor(files, source, node, scope) else MemberKind.DECORATED


def decorator_name(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> str:
    """The home of a decorator: "property", "functools.cached_property", "pkg.mod.traced"."""
    if isinstance(node, ast.Call):
        node = node.func
    found = resolve(files, source, node, scope)
    if len(found) != 1:
        return ast.unparse(node)
    home = found[0]
    return f"{home.module}.{home.qualname}" if isinstance(home, ClassKey) else str(getattr(home, "name", home))


def _makes_accessor(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> bool:
    """Whether a decorator of the tree is a descriptor class, derives from property, or uses property."""
    for found in resolve(files, source, node, scope):
        if isinstance(found, ClassKey):
            order = mro(files, found)
            if any(defines(files, each, "__get__") for each in order.classes):
                return True
            if any(each.name in _ACCESSORS for each in order.external):
                return True
        elif isinstance(found, Origin):
            located = function_at(files, found)
            if located is not None and any(_names_accessor(files, located[0], each) for each in ast.walk(located[1])):
                return True
    return False


def function_at(files: FileSet, home: Origin) -> tuple[Source, Function, Scope] | None:
    """The module-level function of that home; None when it is something else, or defined more than once."""
    path = modules_of(files).path_of(home.module)
    if path is None or not home.name:
        return None
    source = glimpse(files, path, home.name)
    bound = table(source).module.bound.get(home.name, [])
    if len(bound) == 1 and isinstance(bound[0].node, FUNCTIONS):
        return source, bound[0].node, table(source).module
    return None


def _names_accessor(files: FileSet, source: Source, node: ast.AST) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    leaf = node.id if isinstance(node, ast.Name) else node.attr
    if leaf not in {"property", "cached_property"}:
        return False
    found = resolve_class(files, source, node, table(source).module)
    return any(isinstance(each, External) and (each.name in _ACCESSORS or each.is_known) for each in found)


# -- instance attributes

_kept: WeakKeyDictionary[Source, dict[ClassKey, list[tuple[str, Assignment]]]] = WeakKeyDictionary()


def own_attributes(files: FileSet, key: ClassKey) -> dict[str, list[Assignment]]:
    """Attributes that the class itself assigns: in its body and through the first parameter of its methods."""
    located = class_at(files, key)
    found: dict[str, list[Assignment]] = {}
    if located is not None:
        source, node = located
        kept = _kept.setdefault(source, {})
        if key not in kept:
            kept[key] = list(_assignments(source, node, key))
        for name, assignment in kept[key]:
            found.setdefault(name, []).append(assignment)
    return found


def assignments_in(source: Source, node: ast.ClassDef, key: ClassKey, name: str) -> list[Assignment]:
    """The assignments of one attribute in a class at hand."""
    lines = lines_of(source.text, name)
    found: list[Assignment] = []
    for statement in flattened(node.body):
        if any(statement.lineno <= line <= (statement.end_lineno or line) for line in lines):
            found.extend(each for other, each in _of_statement(source, node, statement, key) if other == name)
    return found


def instance_attributes(files: FileSet, key: ClassKey) -> dict[str, list[Assignment]]:
    """As `own_attributes`, over the class and its bases in the tree, in method resolution order."""
    found: dict[str, list[Assignment]] = {}
    for each in mro(files, key).classes:
        for name, assignments in own_attributes(files, each).items():
            found.setdefault(name, []).extend(assignments)
    return found


def has_unknown_bases(files: FileSet, key: ClassKey) -> bool:
    """Whether some base of the class is not in the tree (and is not `object`), so that it may bring more attributes."""
    harmless = {"object", "abc.ABC", "typing.Generic", "typing.Protocol"}
    direct = (base for each in mro(files, key).classes for base in bases(files, each))
    return any(isinstance(base, External) and base.name not in harmless for base in direct)


def _assignments(source: Source, node: ast.ClassDef, key: ClassKey) -> Iterator[tuple[str, Assignment]]:
    for statement in flattened(node.body):
        yield from _of_statement(source, node, statement, key)


def _of_statement(
    source: Source, node: ast.ClassDef, statement: ast.stmt, key: ClassKey
) -> Iterator[tuple[str, Assignment]]:
    if isinstance(statement, FUNCTIONS):
        yield from _in_method(source, statement, key)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        annotation = statement.annotation if isinstance(statement, ast.AnnAssign) else None
        is_plain = statement in node.body
        for target in targets:
            if isinstance(target, ast.Name):
                value, line = statement.value, statement.lineno
                yield (
                    target.id,
                    Assignment(key, source.path, "", line, statement, is_plain, value, annotation, None),
                )


def _in_method(source: Source, method: Function, key: ClassKey) -> Iterator[tuple[str, Assignment]]:
    me = self_name(method)
    if not me:
        return
    arguments = [*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs]
    parameters = {each.arg: each for each in arguments}
    plain = _plain_statements(method) if method.name == "__init__" else []
    found = [(name, node, target) for node in walk(method) for name, target in [_self_target(node, me)]]
    for name, node, target in sorted(found, key=lambda each: source.start(each[2]) if each[2] is not None else 0):
        if target is None:
            continue
        statement = source.statement_of(target)
        value = _value_for(statement, node, target)
        annotation = statement.annotation if isinstance(statement, ast.AnnAssign) else None
        parameter = parameters.get(value.id) if isinstance(value, ast.Name) else None
        is_plain = statement in plain
        line = statement.lineno
        yield name, Assignment(key, source.path, method.name, line, statement, is_plain, value, annotation, parameter)


def self_name(method: Function) -> str:
    """The first parameter of a method; "" for a static method or one without positional parameters."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in method.decorator_list)
    return arguments[0].arg if arguments and not is_static else ""


def _plain_statements(method: Function) -> list[ast.stmt]:
    """The statements that run whenever the method runs: its top level, down to the first that may leave it."""
    found: list[ast.stmt] = []
    for statement in method.body:
        found.append(statement)
        inner = [statement] if isinstance(statement, DEFINITIONS) else list(ast.walk(statement))
        if any(isinstance(each, ast.Return) for each in inner):
            break
    return found


def _self_target(node: ast.AST, me: str) -> tuple[str, ast.AST | None]:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        if isinstance(node.value, ast.Name) and node.value.id == me:
            return node.attr, node
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr" and len(node.args) == 3:
        owner, name, _ = node.args
        is_text = isinstance(name, ast.Constant) and isinstance(name.value, str)
        if isinstance(owner, ast.Name) and owner.id == me and is_text:
            return str(name.value), node  # type: ignore[attr-defined]
    return "", None


def _value_for(statement: ast.stmt, node: ast.AST, target: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Call):
        return node.args[2]
    if isinstance(statement, ast.AnnAssign) and statement.target is target:
        return statement.value
    if not isinstance(statement, ast.Assign):
        return None
    if any(each is target for each in statement.targets):
        return statement.value
    for each in statement.targets:
        both = [each, statement.value]
        left, right = (list(side.elts) if isinstance(side, ast.Tuple) else [] for side in both)
        if len(left) == len(right) and any(element is target for element in left):
            return next(value for element, value in zip(left, right, strict=True) if element is target)
    return None
