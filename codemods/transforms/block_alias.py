"""Locals that only stand for an attribute of `self` (`args = self.args`): a new method reads the attribute itself and
does not take the local as a parameter.

Done where nobody in the class assigns the attribute after `__init__`, so that reading it again gives the same."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.classes import class_at, dynamic_lookup, mro, subclasses
from codemods.source.kept_text import keep_printed
from codemods.source.members import MemberKind, members
from codemods.source.scopes import Occurrence, Role
from codemods.source.splice import Edit
from codemods.transforms.block_find import Part
from codemods.transforms.block_host import Host, assignments_of

_STABLE = frozenset({MemberKind.ATTRIBUTE, MemberKind.FIELD, MemberKind.SLOT})


class Alias(Struct, frozen=True, kw_only=True, eq=False):
    """`name = receiver.attribute`, assigned once, at the top level of the method."""

    name: str
    attribute: str
    statement: ast.Assign


def aliases_of(host: Host) -> list[Alias]:
    """The locals that stand for an attribute which stays what it is."""
    found = (_alias(host, statement) for statement in host.function.body if isinstance(statement, ast.Assign))
    return [
        each for each in found if each is not None and _binds_once(host, each.name) and _stays(host, each.attribute)
    ]


def _alias(host: Host, statement: ast.Assign) -> Alias | None:
    target, value = statement.targets[0], statement.value
    if len(statement.targets) > 1 or not isinstance(target, ast.Name) or not isinstance(value, ast.Attribute):
        return None
    if not isinstance(value.value, ast.Name) or value.value.id != host.receiver or host.is_rebound(host.receiver):
        return None
    return Alias(name=target.id, attribute=value.attr, statement=statement)


def _binds_once(host: Host, name: str) -> bool:
    bound = table(host.source).scope_of(host.function).bound.get(name, [])
    return len(bound) == 1 and name not in host.flow.late_writes


def _stays(host: Host, attribute: str) -> bool:
    """Whether reading the attribute runs no code and nobody in the class assigns it after `__init__`."""
    if host.key is None or host.name == "__init__" or dynamic_lookup(host.files, host.key):
        return False
    for each in mro(host.files, host.key).classes:
        at = class_at(host.files, each)
        member = members(host.files, *at).get(attribute) if at is not None else None
        if member is not None and member.kind not in _STABLE:
            return False
    family = (*mro(host.files, host.key).classes, *subclasses(host.files, host.key))
    assigned = (assignments_of(host.files, each, attribute) for each in family)
    return all(each.method in ("", "__init__") for group in assigned for each in group)


def uses_in(host: Host, alias: Alias, part: Part) -> list[Occurrence]:
    """Where a part reads the local."""
    scopes = table(host.source)
    home = scopes.scope_of(host.function)
    inside = scopes.between(part.start, part.end)
    return [each for each in inside if each.name == alias.name and scopes.resolve(each) is home]


def restored(host: Host, alias: Alias, part: Part) -> list[Edit] | None:
    """Edits that read the attribute in the part; None where it can't (its text is printed, the alias comes later)."""
    uses = uses_in(host, alias, part)
    if part.start <= host.source.start(alias.statement):
        return None
    text = f"{host.receiver}.{alias.attribute}".encode()
    edits = [Edit(each.start, each.end, text) for each in uses if each.role is Role.LOAD]
    if len(edits) != len(uses):
        return None
    kept = keep_printed(host.source, [(edit.start, edit.end) for edit in edits])
    return None if kept.unkept else edits + [each for each in kept.edits if part.start <= each.start < part.end]


class Bare(Struct, frozen=True, kw_only=True):
    """What a part needs no parameters for: names, edits inside the part, and what to tell about it."""

    names: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    hazards: tuple[Hazard, ...] = ()


def bare_of(host: Host, part: Part, known: Sequence[Alias]) -> Bare:
    """The part's aliases, read as the attributes they stand for."""
    names: list[str] = []
    edits: list[Edit] = []
    notes: list[Hazard] = []
    for alias in known:
        found = restored(host, alias, part) if uses_in(host, alias, part) else None
        if found is not None:
            names.append(alias.name)
            edits.extend(found)
            notes.append(note(host, alias, part))
    return Bare(names=tuple(names), edits=tuple(edits), hazards=tuple(notes))


def unused_edits(host: Host, known: Sequence[Alias], taken: Sequence[tuple[Part, Bare]]) -> list[Edit]:
    """Takes away the aliases that only the parts read. taken: each part with what it reads by itself."""
    edits = []
    for alias in known:
        parts = [part for part, bare in taken if alias.name in bare.names]
        edit = unused_after(host, alias, parts) if parts else None
        edits += [edit] if edit is not None else []
    return edits


def unused_after(host: Host, alias: Alias, parts: Sequence[Part]) -> Edit | None:
    """The edit that takes the alias away when only the parts read it, and no longer need it; a blank line goes too."""
    scopes = table(host.source)
    home = scopes.scope_of(host.function)
    outside = [
        each
        for each in scopes.named(alias.name)
        if scopes.resolve(each) is home
        and each.role is not Role.STORE
        and not any(part.start <= each.start < part.end for part in parts)
    ]
    source = host.source
    start = source.text.line_start(source.start(alias.statement))
    end = source.text.line_end(source.end(alias.statement) - 1)
    is_alone = source.body[start:end].strip() == source.segment(alias.statement)
    if outside or not is_alone:
        return None
    if alias.statement is host.function.body[0]:
        while end < len(source.body) and not source.body[end : source.text.line_end(end)].strip():
            end = source.text.line_end(end)
    return Edit(start, end, b"")


def note(host: Host, alias: Alias, part: Part) -> Hazard:
    """What the reader should know: the attribute is read again."""
    return host.hazard(
        "U101",
        part.line,
        f"{host.receiver}.{alias.attribute} is read again here; nobody in the class assigns it after __init__",
        "nothing to do unless somebody outside of the class assigns it while the method runs",
        severity=Severity.NOTE,
    )
