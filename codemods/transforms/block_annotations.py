"""Annotations around a block: which the new function's parameters and result can have, and which can't travel with it.

An annotation of a local is never evaluated, so it makes no parameter; where it names a local class it stays behind."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.source.binder import table
from codemods.source.flow_scopes import parameters
from codemods.source.import_layout import has_postponed_annotations
from codemods.source.scopes import BUILTINS, ScopeKind
from codemods.source.splice import Edit
from codemods.transforms.block_find import Part, own_nodes
from codemods.transforms.block_host import Host
from codemods.transforms.block_types import inferred


def is_annotated(host: Host) -> bool:
    """Whether the function around uses annotations at all; where it does not, the new one gets none."""
    annotated = any(argument.annotation is not None for argument in parameters(host.function.args))
    return annotated or host.function.returns is not None


def annotation_of(host: Host, name: str, at: int, *, in_class: bool) -> str:
    """The annotation of a local as text, where a signature at offset `at` can have it; else ""."""
    found = _declared(host, name)
    if found is not None:
        return text_at(host, found, at, in_class=in_class)
    return inferred(host, name)


def text_at(host: Host, annotation: ast.expr, at: int, *, in_class: bool) -> str:
    """The annotation's text where each of its names means the same in a signature at offset `at`; else ""."""
    source = host.source
    text = source.segment(annotation).decode()
    if "\n" in text or "\r" in text:
        return ""
    scopes = table(source)
    for occurrence in scopes.between(source.start(annotation), source.end(annotation)):
        home = scopes.resolve(occurrence)
        if home is None:
            if occurrence.name not in BUILTINS:
                return ""
            continue
        is_own_class = in_class and home.kind is ScopeKind.CLASS and home.node is host.owner
        is_class_parameter = in_class and home.kind is ScopeKind.TYPE_PARAMETERS and home.node is host.owner
        if home.kind is not ScopeKind.MODULE and not is_own_class and not is_class_parameter:
            return ""
        first = min(each.start for each in home.bound[occurrence.name])
        if first >= at and not has_postponed_annotations(source) and not occurrence.deferred:
            return ""
    return text


def missing_name(host: Host, text: str, at: int) -> str:
    """A name of an annotation's text that the module does not have yet at offset `at`; "" when all are there."""
    module = table(host.source).module
    is_postponed = has_postponed_annotations(host.source)
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Name) and (node.id in module.bound or node.id not in BUILTINS):
            bound = module.bound.get(node.id)
            if not bound or (not is_postponed and min(each.start for each in bound) >= at):
                return node.id
    return ""


def _declared(host: Host, name: str) -> ast.expr | None:
    arguments = host.function.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if argument.arg == name:
            return argument.annotation
    found = [
        node.annotation
        for node in ast.walk(host.function)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name
    ]
    return found[0] if len(found) == 1 else None


def result_annotation(host: Host, names: tuple[str, ...], at: int, *, in_class: bool) -> str:
    """The annotation of what the function returns; "" unless it is known of every name."""
    found = [annotation_of(host, name, at, in_class=in_class) for name in names]
    if not names:
        return "None"
    if not all(found):
        return ""
    return found[0] if len(found) == 1 else f"tuple[{', '.join(found)}]"


class Left(Struct, frozen=True):
    """Annotations that can't travel. edits take them out of the block; texts: the name each annotated -> its text."""

    edits: tuple[Edit, ...]
    texts: dict[str, str]
    refusals: tuple[Refusal, ...]


def left_behind(host: Host, part: Part, parameters_: tuple[str, ...]) -> Left:
    """Annotations in the block that name a local class of the function around. The call can carry them."""
    edits: list[Edit] = []
    texts: dict[str, str] = {}
    refusals: list[Refusal] = []
    for node in own_nodes(part):
        if not isinstance(node, ast.AnnAssign) or not _names_locals(host, part, node.annotation, parameters_):
            continue
        if node.value is None:
            message = f"this declaration names a class that is local to {host.name}"
            refusals.append(host.refusal("local-annotation", node, message, "leave the declaration out of the block"))
            continue
        edits.append(Edit(host.source.end(node.target), host.source.end(node.annotation), b""))
        if isinstance(node.target, ast.Name):
            texts[node.target.id] = host.source.segment(node.annotation).decode()
    return Left(tuple(edits), texts, tuple(refusals))


def _names_locals(host: Host, part: Part, annotation: ast.expr, parameters_: tuple[str, ...]) -> bool:
    scopes = table(host.source)
    home = scopes.scope_of(host.function)
    for occurrence in scopes.between(host.source.start(annotation), host.source.end(annotation)):
        if scopes.resolve(occurrence) is home and occurrence.name not in parameters_:
            bound = home.bound[occurrence.name]
            if not any(part.start <= each.start < part.end for each in bound):
                return True
    return False
