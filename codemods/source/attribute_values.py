"""What an attribute, a module-level name or a result is, from its declaration or from every value it is given.

Values are judged by the evaluator that is passed in (receivers.py). Not seen: attributes set from outside their class
(`runner.backend = x`), and a subclass that gives an attribute which has a value already one of an unrelated class."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from codemods.source.annotation_types import annotated
from codemods.source.binder import table
from codemods.source.class_facts import facts_of
from codemods.source.classes import ClassKey, bases, class_at, defines, mro, subclasses
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.imports import Origin
from codemods.source.index import mentioning
from codemods.source.locate import flattened
from codemods.source.members import Assignment, MemberKind, assignments_in, members
from codemods.source.mentions import sets_attribute
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source
from codemods.source.receiver_kinds import NONE, Known, NotIn, Receiver, Unknown, unite
from codemods.source.scopes import Scope

Evaluate = Callable[[Source, ast.expr, Scope], Receiver]


def method_at(files: FileSet, key: ClassKey, name: str) -> tuple[Source, Function, Scope] | None:
    """The method that an instance of the class finds under this name in the tree, with the scope of its class body."""
    home = next((each for each in mro(files, key).classes if defines(files, each, name)), None)
    located = class_at(files, home, name) if home is not None else None
    if located is None:
        return None
    source, node = located
    for statement in flattened(node.body):
        if isinstance(statement, FUNCTIONS) and statement.name == name:
            return source, statement, table(source).scope_of(node)
    return None


def returned(
    files: FileSet, found: tuple[Source, Function, Scope], held: Receiver | None, evaluate: Evaluate
) -> Receiver:
    """What a call gives: the return annotation (`Self` is the receiver), else what all its returns agree on."""
    source, node, scope = found
    if any(getattr(each, "id", "") == "contextmanager" for each in node.decorator_list):
        return NotIn("a context manager")
    if node.returns is not None:
        names = {getattr(node.returns, "id", ""), getattr(node.returns, "attr", ""), getattr(node.returns, "value", "")}
        return held if held is not None and "Self" in names else annotated(files, source, node.returns, scope)
    results = [each for each in _own_nodes(node) if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom))]
    if any(not isinstance(each, ast.Return) for each in results):
        return NotIn("a generator")
    inner = table(source).scope_of(node)
    values = [each.value for each in results if each.value is not None]
    return unite(evaluate(source, value, inner) for value in values) if values else NONE


def _own_nodes(node: Function) -> list[ast.AST]:
    found: list[ast.AST] = []
    stack: list[ast.AST] = list(node.body)
    while stack:
        at = stack.pop()
        found.append(at)
        if not isinstance(at, (*DEFINITIONS, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(at))
    return found


def global_type(files: FileSet, home: Origin, evaluate: Evaluate) -> Receiver:
    """What a module-level name that is no class holds."""
    path = modules_of(files).path_of(home.module)
    if path is None:
        return Unknown(str(home))
    source = glimpse(files, path, home.name)
    module = table(source).module
    found: list[Receiver] = []
    for occurrence in module.bound.get(home.name, []):
        above = source.parents.get(occurrence.node)
        if isinstance(occurrence.node, FUNCTIONS):
            found.append(NotIn("a function"))
        elif isinstance(above, ast.AnnAssign):
            return annotated(files, source, above.annotation, module)
        elif isinstance(above, ast.Assign):
            found.append(evaluate(source, above.value, occurrence.scope))
        else:
            return Unknown(str(home))
    kind = unite(found)
    return Unknown(f"{home} is None at first") if kind == NONE else kind


def attribute_of(files: FileSet, key: ClassKey, name: str, evaluate: Evaluate) -> Receiver:
    """What attribute `name` of an instance is: its annotation, else what all its assignments agree on."""
    for each in mro(files, key).classes:
        if defines(files, each, name):
            kind = _in_body(files, each, name, evaluate)
            if kind is not None:
                return kind
            break
    kind = _assigned_in(files, mro(files, key).classes, name, evaluate)
    if kind == NONE:
        kind = _assigned_in(files, _assigning_heirs(files, key, name), name, evaluate)
    return Unknown(f"{key.name}.{name} has no value in its class") if kind == NONE else kind


def _assigned_in(files: FileSet, classes: Sequence[ClassKey], name: str, evaluate: Evaluate) -> Receiver:
    """What the assignments of these classes agree on; an annotation decides alone."""
    found: list[Receiver] = []
    for each in classes:
        located = class_at(files, each, name)
        if located is None:
            continue
        for assignment in assignments_in(*located, each, name):
            kind = _assigned(files, located[0], assignment, evaluate)
            if assignment.annotation is not None:
                return kind
            found.append(kind)
    return unite(found)


def _assigning_heirs(files: FileSet, key: ClassKey, name: str) -> tuple[ClassKey, ...]:
    """Subclasses in files that may set the attribute."""
    word = name.encode()
    path_of = modules_of(files).path_of
    own = path_of(key.module)
    paths = [path for path in mentioning(files, name) if path != own and sets_attribute(files.read(path), word)]
    siblings = facts_of(files, own).classes if own is not None else {}
    is_derived_beside = any(key in bases(files, ClassKey(key.module, qualname)) for qualname in siblings)
    if not paths and not is_derived_beside:
        return ()
    return tuple(each for each in subclasses(files, key) if path_of(each.module) in {own, *paths})


def _in_body(files: FileSet, key: ClassKey, name: str, evaluate: Evaluate) -> Receiver | None:
    located = class_at(files, key, name)
    if located is None:
        return None
    source, node = located
    member = members(files, source, node).get(name)
    if member is None or not isinstance(member.node, FUNCTIONS):
        return None
    if member.kind is MemberKind.ACCESSOR:
        return returned(files, (source, member.node, table(source).scope_of(node)), Known((key,)), evaluate)
    return NotIn("a method")


def _assigned(files: FileSet, source: Source, assignment: Assignment, evaluate: Evaluate) -> Receiver:
    scope = _scope_of(source, assignment)
    if assignment.annotation is not None:
        return annotated(files, source, assignment.annotation, scope)
    if assignment.value is None:
        return Unknown(f"set at line {assignment.line}")
    return evaluate(source, assignment.value, scope)


def _scope_of(source: Source, assignment: Assignment) -> Scope:
    around = source.enclosing(assignment.node, *DEFINITIONS, ast.Lambda)
    scopes = table(source)
    return scopes.scope_of(around) if around is not None else scopes.module
