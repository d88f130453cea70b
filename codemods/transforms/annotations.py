"""Which annotation a new parameter gets: what the class says of the attribute, where it can't be wrong.

Copies text that stands in the class's own file; says U116 where an annotation would hide that a value may be None."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.import_graph import cycle
from codemods.source.imports import binding_import, imports_of
from codemods.source.members import Assignment, instance_attributes
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import BUILTINS


class Annotated(Struct, frozen=True):
    """Attribute -> annotation text, for those that have one."""

    texts: dict[str, str]
    hazards: tuple[Hazard, ...] = ()


def annotations_for(files: FileSet, source: Source, key: ClassKey, attributes: list[str], to: str) -> Annotated:
    """Annotations for parameters that take these attributes. to: the module the function goes to ("" for none)."""
    known = instance_attributes(files, key) if attributes else {}
    texts: dict[str, str] = {}
    hazards: list[Hazard] = []
    for attribute in attributes:
        assignments = known.get(attribute, [])
        found = _annotation(assignments)
        if found is None or found[1].path != source.path:
            continue
        node = found[0]
        none_at = _may_be_none(assignments, node)
        if none_at:
            hazards.append(_hidden_none(source, attribute, node, none_at))
        elif _can_travel(files, source, node, to):
            texts[attribute] = source.segment(node).decode()
    return Annotated(texts, tuple(hazards))


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
    text = ast.unparse(annotation)
    if any(word in text for word in ("Optional", "None", "Any", "object")):
        return 0
    for each in assignments:
        values = [each.value]
        if isinstance(each.value, ast.IfExp):
            values = [each.value.body, each.value.orelse]
        if any(isinstance(value, ast.Constant) and value.value is None for value in values):
            return each.line
    return 0


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
        imports = binding_import(files, source, occurrence.name)
        if home is not scopes.module or len(imports) != 1 or not imports[0].is_plain:
            return destination == source.path and home is scopes.module
        target = modules.path_of(imports[0].module, near=source.path)
        if target is None or destination is None or destination == target or destination == source.path:
            continue
        plain = [each for each in imports_of(files, load(files, destination)) if each.is_plain]
        present = any(modules.path_of(each.module, near=destination) == target for each in plain)
        if not present and cycle(files, destination, target):
            return False
    return True


def _hidden_none(source: Source, attribute: str, annotation: ast.expr, none_at: int) -> Hazard:
    return Hazard(
        code="U116",
        severity=Severity.NOTE,
        path=source.path,
        line=none_at,
        message=f"{attribute} may be None here, so its parameter is not annotated {ast.unparse(annotation)}",
        settle="annotate the attribute as it is (`T | None`), or handle None at the call",
    )
