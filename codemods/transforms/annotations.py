"""Which annotation a new parameter, or a result, gets: what the class says of the attribute, where it can't be wrong.

Copies text that stands in the class's own file; says U116 where an annotation would hide that a value may be None."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.import_graph import cycle
from codemods.source.import_layout import has_postponed_annotations
from codemods.source.imports import binding_import, imports_of, resolve_dotted
from codemods.source.members import Assignment, instance_attributes
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Function, Source, load
from codemods.source.scopes import BUILTINS, ScopeKind
from codemods.transforms.static_results import Results

_GENERIC = frozenset({"dict", "frozenset", "list", "set", "tuple", "type"})
_GENERIC_MODULES = frozenset({"collections", "collections.abc", "contextlib", "typing", "typing_extensions"})


class Annotated(Struct, frozen=True):
    """Attribute -> annotation text, for those that have one."""

    texts: dict[str, str]
    hazards: tuple[Hazard, ...] = ()


def annotations_for(files: FileSet, source: Source, key: ClassKey, attributes: list[str], to: str) -> Annotated:
    """Annotations for parameters that take these attributes. to: the module the function goes to ("" for none)."""
    known = instance_attributes(files, key)
    texts: dict[str, str] = {}
    hazards: list[Hazard] = []
    for attribute in attributes:
        assignments = known.get(attribute, [])
        found = _annotation(assignments)
        if found is None or found[1].path != source.path:
            continue
        node, assignment = found
        none_at = _may_be_none(assignments, node)
        if none_at:
            hazards.append(_hidden_none(source, attribute, node, none_at))
        elif _can_travel(files, source, node, to) and _can_be_evaluated(files, source, assignment, node):
            texts[attribute] = source.segment(node).decode()
    return Annotated(texts, tuple(hazards))


def result_annotation(
    files: FileSet,
    source: Source,
    function: Function,
    key: ClassKey,
    results: Results,
    to: str,
) -> str:
    """The annotation of what the function returns; "" where the method has none or a part of it is not known."""
    if function.returns is None:
        return ""
    own = source.segment(function.returns).decode()
    if not results.attributes:
        return own
    known = annotations_for(files, source, key, list(results.attributes), to).texts
    if results.returned and results.returned not in known:
        known = {**known, results.returned: own}
    parts = [own] if results.own else []
    parts += [known.get(attribute, "") for attribute in results.attributes]
    if not all(parts) or "\n" in own or _is_iterator(function):
        return ""
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]"


def _is_iterator(function: Function) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function))


def _annotation(assignments: list[Assignment]) -> tuple[ast.expr, Assignment] | None:
    """The one annotation of the attribute: its own, else that of the parameter which is its only value."""
    own = [each for each in assignments if each.annotation is not None and each.parameter is None]
    if own and own[0].annotation is not None:
        return own[0].annotation, own[0]
    first = assignments[0] if assignments else None
    if first is None or first.parameter is None or first.parameter.annotation is None:
        return None
    if not (first.method == "__init__" and first.is_unconditional):
        return None
    return first.parameter.annotation, first


def _may_be_none(assignments: list[Assignment], annotation: ast.expr) -> int:
    """Line of an assignment that gives None to an attribute whose annotation does not allow it; else 0."""
    words = {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(annotation) if isinstance(node, ast.Attribute)}
    texts = [str(node.value) for node in ast.walk(annotation) if isinstance(node, ast.Constant)]
    if words & {"Optional", "Any", "object"} or any(part in text for text in texts for part in ("None", "Optional")):
        return 0
    for each in assignments:
        values = [each.value]
        if isinstance(each.value, ast.IfExp):
            values = [each.value.body, each.value.orelse]
        if any(isinstance(value, ast.Constant) and value.value is None for value in values):
            return each.line
    return 0


# -- may the text stand there


def _can_travel(files: FileSet, source: Source, annotation: ast.expr, to: str) -> bool:
    """Whether every name of the annotation can be had, at module level, where the function goes."""
    if "\n" in source.segment(annotation).decode():
        return False
    scopes = table(source)
    modules = modules_of(files)
    destination = modules.path_of(to) if to else source.path
    for occurrence in scopes.between(source.start(annotation), source.end(annotation)):
        home = scopes.resolve(occurrence)
        if home is None:
            if occurrence.name not in BUILTINS:
                return False
            continue
        if home.kind is ScopeKind.TYPE_PARAMETERS and isinstance(home.node, ast.ClassDef):
            continue  # the function declares it anew where it goes
        imports = binding_import(files, source, occurrence.name)
        if home is not scopes.module or len(imports) != 1 or not imports[0].is_plain:
            if home is scopes.module and destination == source.path:
                continue
            return False
        target = modules.path_of(imports[0].module, near=source.path)
        if target is None or destination is None or destination == target or destination == source.path:
            continue
        plain = [each for each in imports_of(files, load(files, destination)) if each.is_plain]
        present = any(modules.path_of(each.module, near=destination) == target for each in plain)
        if not present and cycle(files, destination, target):
            return False
    return True


def _can_be_evaluated(files: FileSet, source: Source, assignment: Assignment, annotation: ast.expr) -> bool:
    """Whether Python may evaluate the annotation when it makes the class. That of an attribute inside a method is never
    evaluated where it stands; a parameter's is, unless the file postpones that."""
    if has_postponed_annotations(source):
        return True
    scopes = table(source)
    made = source.enclosing(assignment.node, ast.ClassDef)
    hidden = scopes.scope_of(made).bound.keys() if made is not None else ()
    names = {each.name for each in scopes.between(source.start(annotation), source.end(annotation))}
    if not names.isdisjoint(hidden):
        return False  # a method called `list` would be meant further down in the class
    if assignment.method == "" or assignment.parameter is not None:
        return True  # it is evaluated where it stands already
    for occurrence in scopes.between(source.start(annotation), source.end(annotation)):
        if isinstance(occurrence.node, ast.Constant) or occurrence.name in BUILTINS:
            continue
        home = scopes.resolve(occurrence)
        bindings = home.bound.get(occurrence.name, []) if home is not None else []
        before = [each for each in bindings if made is None or each.start < source.start(made)]
        if not any(_is_unconditional(source, each.node) for each in before):
            return False
    return all(
        _is_subscriptable(files, source, node) for node in ast.walk(annotation) if isinstance(node, ast.Subscript)
    )


def _is_unconditional(source: Source, node: ast.AST) -> bool:
    statement = source.statement_of(node) if not isinstance(node, (ast.stmt, ast.alias)) else node
    around = source.enclosing(statement, ast.If, ast.Try, ast.For, ast.While, ast.With, *FUNCTIONS)
    return around is None


def _is_subscriptable(files: FileSet, source: Source, node: ast.Subscript) -> bool:
    if isinstance(node.value, ast.Name) and node.value.id in _GENERIC:
        return True
    home = resolve_dotted(files, source, node.value, table(source).module)
    return home is not None and home.module in _GENERIC_MODULES


def _hidden_none(source: Source, attribute: str, annotation: ast.expr, none_at: int) -> Hazard:
    return Hazard(
        code="U116",
        severity=Severity.NOTE,
        path=source.path,
        line=none_at,
        message=f"{attribute} may be None here, so its parameter is not annotated {ast.unparse(annotation)}",
        settle="annotate the attribute as it is (`T | None`), or handle None at the call",
    )
