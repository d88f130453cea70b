"""What an expression is at its place: an instance of a class of the tree, a class, a module, or something else.

Believes annotations, constructor calls, isinstance guards and assignments that all agree; else it is unknown. Does not
follow values through containers without annotation, nor attributes set from outside their class."""

from __future__ import annotations

import ast
import builtins

from codemods.source.annotation_types import annotated
from codemods.source.attribute_values import Evaluate, attribute_of, global_type, method_at, returned
from codemods.source.binder import table
from codemods.source.class_names import qualname_of
from codemods.source.classes import Base, ClassKey, External, exists, memo, mro, resolve, resolve_class
from codemods.source.files import FileSet
from codemods.source.guards import guard_of
from codemods.source.imports import Origin
from codemods.source.members import function_at, self_name
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.receiver_kinds import (
    NONE,
    ClassObject,
    Known,
    ModuleObject,
    NotIn,
    Receiver,
    Unknown,
    instance_of,
    unite,
)
from codemods.source.scopes import BUILTINS, Occurrence, Role, Scope, ScopeKind, lookup

_DEEPEST = 12  # steps from one expression to what its value comes from
_SAME = frozenset({"copy.copy", "copy.deepcopy", "weakref.proxy"})
_LITERALS = (
    ast.JoinedStr, ast.List, ast.Dict, ast.Set, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Lambda, ast.Compare,
)  # fmt: skip


def receiver_type(files: FileSet, source: Source, expr: ast.expr, scope: Scope | None = None) -> Receiver:
    """What the value of `expr` is. scope: where it stands; found from its place in the tree by default."""
    return _Typer(files, source).of(expr, scope or scope_at(source, expr), _DEEPEST)


def attribute_type(files: FileSet, key: ClassKey, name: str) -> Receiver:
    """What attribute `name` of an instance of the class is, by its annotation or by all its assignments in the class
    and its bases; where those leave it None, by those in its subclasses."""
    return _attribute(files, key, name, _DEEPEST)


def _evaluator(files: FileSet, depth: int) -> Evaluate:
    return lambda source, value, scope: _Typer(files, source).of(value, scope, max(depth - 1, 0))


def _attribute(files: FileSet, key: ClassKey, name: str, depth: int) -> Receiver:
    if depth == 0:
        return Unknown("too many steps")

    pending = memo(files, "pending", None, set[tuple[ClassKey, str]])
    if (key, name) in pending:
        return Unknown(f"{key.name}.{name} depends on itself")
    pending.add((key, name))
    try:
        return memo(files, "attribute", (key, name), lambda: attribute_of(files, key, name, _evaluator(files, depth)))
    finally:
        pending.discard((key, name))


def scope_at(source: Source, node: ast.AST) -> Scope:
    """The scope in which an expression is evaluated; decorators, defaults and annotations stand in the one around."""
    scopes = table(source)
    below = node
    for above in source.ancestors(node):
        if isinstance(above, (*FUNCTIONS, ast.ClassDef)):
            if below in above.body:
                return scopes.scope_of(above)
        elif isinstance(above, ast.Lambda):
            if below is above.body:
                return scopes.scope_of(above)
        elif isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            first = above.generators[0]
            if below is not first or not _is_inside(source, node, first.iter):
                return scopes.scope_of(above)
        below = above
    return scopes.module


def _is_inside(source: Source, node: ast.AST, outer: ast.AST) -> bool:
    return node is outer or any(above is outer for above in source.ancestors(node))


class _Typer:
    """One question in one file; other files get their own."""

    def __init__(self, files: FileSet, source: Source) -> None:
        self.files, self.source = files, source

    def of(self, node: ast.expr, scope: Scope, depth: int) -> Receiver:
        if depth == 0:
            return Unknown("too many steps")
        if isinstance(node, ast.Name):
            return self.name(node, scope, depth - 1)
        if isinstance(node, ast.Attribute):
            return self.attribute(node, scope, depth - 1)
        if isinstance(node, ast.Call):
            return self.call(node, scope, depth - 1)
        if isinstance(node, ast.Constant):
            return NONE if node.value is None else NotIn(type(node.value).__name__)
        if isinstance(node, (ast.List, ast.Set)) and node.elts:
            each = unite(self.of(element, scope, depth - 1) for element in node.elts)
            return NotIn("list", element=each, item=each)
        if isinstance(node, ast.ListComp):
            each = self.of(node.elt, table(self.source).scope_of(node), depth - 1)
            return NotIn("list", element=each, item=each)
        if isinstance(node, _LITERALS):
            return NotIn(type(node).__name__)
        if isinstance(node, (ast.BoolOp, ast.IfExp)):
            sides = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            return unite(self.of(side, scope, depth - 1) for side in sides)
        if isinstance(node, (ast.NamedExpr, ast.Await)):
            return self.of(node.value, scope, depth - 1)
        if isinstance(node, ast.Subscript):
            held = self.of(node.value, scope, depth - 1)
            is_one = not isinstance(node.slice, ast.Slice)
            return held.item if isinstance(held, NotIn) and held.item and is_one else Unknown("an element")
        return Unknown(f"a {type(node).__name__}")

    # -- names

    def name(self, node: ast.Name, scope: Scope, depth: int) -> Receiver:
        home = lookup(scope, node.id)
        if home is None:
            return NotIn(node.id, is_external=True) if node.id in BUILTINS else Unknown(f"nobody binds {node.id}")
        guard = guard_of(self.source, node, home)
        if guard is not None:
            kinds = guard.elts if isinstance(guard, ast.Tuple) else [guard]
            bases = [base for each in kinds for base in resolve_class(self.files, self.source, each, scope)]
            return unite(instance_of(base) for base in bases)
        me = self.me(node.id, home)
        return me or unite(
            self.bound(each, home, depth) for each in home.bound[node.id] if each.role is not Role.DELETE
        )

    def me(self, name: str, home: Scope) -> Receiver | None:
        """`self` and `cls`: the first parameter of a method, without annotation and never rebound."""
        node, around = home.node, home.parent
        if not isinstance(node, FUNCTIONS) or around is None or around.kind is not ScopeKind.CLASS:
            return None
        arguments = [*node.args.posonlyargs, *node.args.args]
        if self_name(node) != name or arguments[0].annotation is not None or len(home.bound[name]) > 1:
            return None
        key = ClassKey(modules_of(self.files).module_of(self.source.path), qualname_of(around))
        decorators = {getattr(each, "id", "") for each in node.decorator_list}
        is_class = "classmethod" in decorators or node.name in {"__new__", "__init_subclass__", "__class_getitem__"}
        if is_class or any(base.name == "type" for base in mro(self.files, key).external):
            return ClassObject(key, is_exact=False)
        return Known((key,))

    def bound(self, occurrence: Occurrence, home: Scope, depth: int) -> Receiver:
        node = occurrence.node
        if occurrence.role is Role.PARAMETER:
            return self.parameter(node, home)
        if occurrence.role in (Role.IMPORT, Role.DEFINE):
            if isinstance(node, FUNCTIONS):
                return NotIn("a function")
            return self.named(ast.Name(occurrence.name, ast.Load()), home, depth)
        above = self.source.parents.get(node)
        if isinstance(above, ast.AnnAssign):
            return annotated(self.files, self.source, above.annotation, occurrence.scope)
        if isinstance(above, (ast.Assign, ast.NamedExpr)):
            return self.of(above.value, occurrence.scope, depth)
        if isinstance(above, ast.withitem):
            return self.entered(self.of(above.context_expr, occurrence.scope, depth), depth)
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)) and above.target is node:
            outer = occurrence.scope
            if isinstance(above, ast.comprehension) and outer.parent is not None:
                outer = scope_at(self.source, above.iter)
            held = self.of(above.iter, outer, depth)
            return held.element if isinstance(held, NotIn) and held.element else Unknown("an element")
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            bases = [base for each in kinds for base in resolve_class(self.files, self.source, each, home)]
            return unite(instance_of(base) for base in bases)
        return Unknown(f"{occurrence.name} is bound by a {type(above).__name__}")

    def parameter(self, node: ast.AST, home: Scope) -> Receiver:
        assert isinstance(node, ast.arg)
        arguments = getattr(home.node, "args", None)
        if isinstance(arguments, ast.arguments) and (node is arguments.vararg or node is arguments.kwarg):
            return NotIn("tuple" if node is arguments.vararg else "dict")
        if node.annotation is None:
            return Unknown(f"{node.arg} has no annotation")
        return annotated(self.files, self.source, node.annotation, home.parent or home)

    def entered(self, held: Receiver, depth: int) -> Receiver:
        """What `with held as x` binds: the object itself when `__enter__` returns self."""
        if not isinstance(held, Known) or len(held.keys) != 1:
            return Unknown("what __enter__ returns")
        found = method_at(self.files, held.key, "__enter__")
        if found is None:
            return Unknown("what __enter__ returns")
        node = found[1]
        results = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
        if results and all(isinstance(value, ast.Name) and value.id == self_name(node) for value in results):
            return held
        return returned(self.files, found, held, _evaluator(self.files, depth))

    def named(self, node: ast.expr, scope: Scope, depth: int) -> Receiver:
        """A module-level object by its dotted name: class, module, function, or value of a module."""
        found = [self.at_home(each, depth) for each in resolve(self.files, self.source, node, scope)]
        return unite(found) if found else Unknown(ast.unparse(node))

    def at_home(self, home: Base | Origin, depth: int) -> Receiver:
        if isinstance(home, ClassKey):
            return ClassObject(home)
        if isinstance(home, Origin):
            if not home.name:
                return ModuleObject(home.module)
            return global_type(self.files, home, _evaluator(self.files, depth))
        return NotIn(home.name, is_external=True) if home.is_known else Unknown(home.name)

    # -- attributes and calls

    def attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> Receiver:
        owner = self.of(node.value, scope, depth)
        if node.attr == "__class__" and isinstance(owner, Known) and len(owner.keys) == 1:
            return ClassObject(owner.key, is_exact=owner.is_exact)
        if isinstance(owner, ModuleObject):
            return self.named(node, scope, depth)
        if isinstance(owner, Known):
            return unite(_attribute(self.files, key, node.attr, depth) for key in owner.keys)
        if isinstance(owner, ClassObject):
            inner = ClassKey(owner.key.module, f"{owner.key.qualname}.{node.attr}")
            if exists(self.files, inner):
                return ClassObject(inner)
            return _attribute(self.files, owner.key, node.attr, depth)
        if isinstance(owner, NotIn) and owner.is_external:
            return NotIn(f"{owner.what}.{node.attr}", is_external=True)
        return Unknown(f"an attribute of {owner.what}" if isinstance(owner, NotIn) else ast.unparse(node))

    def call(self, node: ast.Call, scope: Scope, depth: int) -> Receiver:
        func = node.func
        homes = resolve(self.files, self.source, func, scope)
        home = homes[0] if len(homes) == 1 else None
        text = home.name if isinstance(home, External) else ""
        if text in _SAME and node.args:
            return self.of(node.args[0], scope, depth)
        if text == "typing.cast" and len(node.args) == 2:
            return annotated(self.files, self.source, node.args[0], scope)
        if text == "type" and len(node.args) == 1:
            held = self.of(node.args[0], scope, depth)
            is_one = isinstance(held, Known) and len(held.keys) == 1
            return ClassObject(held.key, is_exact=False) if is_one else Unknown("a type")  # type: ignore[union-attr]
        found = function_at(self.files, home) if isinstance(home, Origin) else None
        if found is not None:
            return returned(self.files, found, None, _evaluator(self.files, depth))
        if isinstance(func, ast.Attribute) and not isinstance(home, ClassKey):
            owner = self.of(func.value, scope, depth)
            result = self.method_result(owner, func.attr, depth)
            if result is not None:
                return result
            if func.attr == "__new__" and node.args:
                made = self.of(node.args[0], scope, depth)
                return (
                    Known((made.key,), is_exact=made.is_exact)
                    if isinstance(made, ClassObject)
                    else Unknown("an object")
                )
        called = self.of(func, scope, depth)
        if isinstance(called, ClassObject):
            return Known((called.key,), is_exact=called.is_exact)
        if isinstance(called, NotIn) and called.is_external:
            return _made_outside(called.what)
        return Unknown(f"what {ast.unparse(func)}() returns")

    def method_result(self, owner: Receiver, name: str, depth: int) -> Receiver | None:
        if isinstance(owner, NotIn) and owner.item is not None and name in {"get", "pop", "values"}:
            return NotIn("values", element=owner.item) if name == "values" else owner.item
        if isinstance(owner, Known) or (isinstance(owner, ClassObject) and name != "__call__"):
            keys = owner.keys if isinstance(owner, Known) else (owner.key,)
            found = [method_at(self.files, key, name) for key in keys]
            if all(each is not None for each in found):
                held = owner if isinstance(owner, Known) else Known((owner.key,))
                each_result = _evaluator(self.files, depth)
                return unite(returned(self.files, each, held, each_result) for each in found if each is not None)
        return None


def _made_outside(name: str) -> Receiver:
    """What calling something external gives: an object of a class where the name says that it is one."""
    package, _, leaf = name.rpartition(".")
    if package in {"unittest.mock", "mock"}:
        return Unknown("a test double", is_double=True)
    is_class = leaf[:1].isupper() or (not package and isinstance(getattr(builtins, leaf, None), type))
    return NotIn(name) if is_class and leaf != "super" else Unknown(f"what {name}() returns")
