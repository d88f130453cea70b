"""An attribute, method, property or nested class under another name: in its class, in those that share it by descent,
and wherever an object of them is known to be at hand.

A receiver that nothing tells about stops the step, unless the name is unique in the tree. Fields that are also keys of
data (structs that are serialized) are refused."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Literal

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source import foreign
from codemods.source.attribute_sites import AttributeSite, Sure, attribute_sites, bearers
from codemods.source.binder import table
from codemods.source.classes import ClassKey, External, class_at, is_in_family, key_of, mro, subclasses
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.kept_text import keep_printed
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.splice import Edit
from codemods.source.strings import mentions_of
from codemods.transforms.rename_by_name import decorated
from codemods.transforms.rename_fields import field_keywords, plain_as_data
from codemods.transforms.rename_report import Edits, hazard, note, refusal, shortened, stop
from codemods.transforms.rename_strings import rename_in_strings
from codemods.transforms.rename_variable import is_mangled, rename_variable
from codemods.transforms.transform import Planned, refused

_HARMLESS = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol"})


def plan_attribute(
    files: FileSet, source: Source, node: ast.ClassDef, old: str, new: str, strings: Literal["rewrite", "keep"]
) -> Planned:
    """The plan for one member of a class; the new name is known to be an identifier."""
    scope = table(source).scope_of(node)
    assert scope.parent is not None
    key = key_of(files, source, node, scope.parent)
    if key not in bearers(files, old):
        return refused(_missing(files, source, node, key, old))
    found = attribute_sites(files, key, old)
    sites = [site for site in found.sites if not is_mangled(old) or _is_inside(source, node, site)]
    problems = [*_taken(files, found.owners, new), *_mangled(files, source, node, found.owners, sites, old, new)]
    edits = Edits(files)
    problems.extend(_in_bodies(files, edits, found.owners, old, new))
    problems.extend(_at_sites(edits, [site for site in sites if site.sure is Sure.YES], new))
    if problems:
        return refused(*dict.fromkeys(problems))
    hazards = [*_outside(files, source, node, found.owners, old), *_protocol(source, node, old, new)]
    hazards.extend(unsure(sites, f"{key.name}.{old}"))
    for each in node.body:
        if isinstance(each, FUNCTIONS) and each.name == old:
            hazards.extend(decorated(files, source, each, scope, old))
    fields = field_keywords(files, found.owners, old)
    for path, places in fields.edits(new).items():
        edits.add_to(path, places)
    hazards.extend(fields.hazards)
    if not any(_is_method(each, old) for each in _bodies(files, found.owners)):
        hazards.extend(plain_as_data(files, found.owners, old))
    targets = [(each.module, f"{each.qualname}.{old}") for each in found.owners]
    text = rename_in_strings(edits, mentions_of(files, targets), old, new, mode=strings)
    hazards.extend(text.hazards)
    return Planned(files=edits.applied(), hazards=tuple(shortened(hazards)), findings=text.findings)


def _missing(files: FileSet, source: Source, node: ast.ClassDef, key: ClassKey, name: str) -> Refusal:
    having = bearers(files, name)
    above = next((each for each in mro(files, key).classes if each in having), None)
    if above is not None:
        message = f"{key.name} inherits {name} from {above.name}"
        return refusal("inherited", source.path, node.lineno, message, f"rename {above}.{name} instead")
    message = f"{key.name} has no {name!r}, in its body or set by its methods"
    return refusal("unknown-definition", source.path, node.lineno, message, "name a member that is there")


def _taken(files: FileSet, owners: Iterable[ClassKey], new: str) -> Iterator[Refusal]:
    """Classes of the family that have something of the new name already, or inherit it from outside."""
    having = bearers(files, new)
    for owner in owners:
        path = modules_of(files).path_of(owner.module) or ""
        for other in sorted(having):
            if is_in_family(files, owner, other):
                message = f"{other.name} has a {new} already"
                yield refusal("U107", path, 0, message, "choose another name, or rename that one first")
        for heir in (owner, *subclasses(files, owner)):
            for base in mro(files, heir).external:
                if foreign.defines(base.name, new):
                    message = f"{heir.name} has a {new} from {base.name}"
                    yield refusal("U107", path, 0, message, "choose another name")


def _is_inside(source: Source, node: ast.ClassDef, site: AttributeSite) -> bool:
    return site.path == source.path and source.start(node) <= site.start < source.end(node)


def _mangled(
    files: FileSet,
    source: Source,
    node: ast.ClassDef,
    owners: tuple[ClassKey, ...],
    sites: list[AttributeSite],
    old: str,
    new: str,
) -> Iterator[Refusal]:
    """Two leading underscores: outside of the class's own text the name is spelt otherwise."""
    if not is_mangled(old) and not is_mangled(new):
        return
    if len(owners) > 1:
        message = f"{owners[0].name} and {owners[1].name} share it, and each would spell it its own way"
        yield refusal("U105", source.path, node.lineno, message, "choose names without two leading underscores")
    for site in sites:
        if not _is_inside(source, node, site):
            message = f"outside of {node.name} this is not spelt {new}"
            yield refusal("U105", site.path, site.line, message, "choose a name without two leading underscores")
    spelt = f"_{node.name.lstrip('_')}{old}"
    for path in mentioning(files, spelt) if is_mangled(old) else ():
        line = 1 + files.read(path)[: files.read(path).index(spelt.encode())].count(b"\n")
        yield refusal("U105", path, line, f"{spelt} is {old} of {node.name} as others spell it", "change this first")


def _in_bodies(files: FileSet, edits: Edits, owners: Iterable[ClassKey], old: str, new: str) -> Iterator[Refusal]:
    """The name as the class bodies bind it: definitions, decorators like `@size.setter`, values that read it."""
    for owner in owners:
        located = class_at(files, owner)
        if located is None:
            continue
        source, node = located
        scope = table(source).scope_of(node)
        if old not in scope.bound:
            continue
        renaming = rename_variable(source, scope, old, new)
        edits.add(source, renaming.edits)
        for each in renaming.obstacles:
            yield refusal("U107", source.path, each.line, each.message, "choose another name")


def _at_sites(edits: Edits, sites: Iterable[AttributeSite], new: str) -> Iterator[Refusal]:
    by_source: dict[int, list[AttributeSite]] = {}
    for site in sites:
        by_source.setdefault(id(site.source), []).append(site)
    for same in by_source.values():
        source = same[0].source
        spans = [(site.start, site.end) for site in same]
        kept = keep_printed(source, spans)
        edits.add(source, [*(Edit(start, end, new.encode()) for start, end in spans), *kept.edits])
        for at in kept.unkept:
            message = "what this f-string prints with `=` can't be written into its string"
            yield refusal("U107", source.path, source.text.line_of(at), message, "write the text out by hand first")


def unsure(sites: Iterable[AttributeSite], what: str) -> Iterator[Hazard]:
    """The places that may or may not mean the attribute, and the test doubles that stand in for its objects."""
    for site in sites:
        if site.sure is Sure.PERHAPS:
            settle = "annotate the receiver, then plan again; or accept U115 when none of them is this class"
            message = f"this may be {what} ({site.reason})"
            yield hazard("U115", Severity.STOP, site.path, site.line, message, settle)
        elif site.sure is Sure.DOUBLE:
            message = f"a test double answers for {what} here under the old name"
            yield note("U120", site.source, site.start, message, "change the test, or build the double with `spec=`")


def _outside(
    files: FileSet, source: Source, node: ast.ClassDef, owners: Iterable[ClassKey], old: str
) -> Iterator[Hazard]:
    """Bases from outside of the tree that may declare or look up the name."""
    seen: set[str] = set()
    for owner in owners:
        for heir in (owner, *subclasses(files, owner)):
            for base in mro(files, heir).external:
                if base.name in _HARMLESS or base.name in seen:
                    continue
                seen.add(base.name)
                yield from _from_base(source, node, heir, base, old)


def _from_base(source: Source, node: ast.ClassDef, heir: ClassKey, base: External, old: str) -> Iterator[Hazard]:
    answer = foreign.defines(base.name, old) if base.is_known else None
    at = source.start(node)
    if answer:
        message = f"{heir.name} overrides {old} of {base.name}, which goes on calling it by that name"
        yield stop("U104", source, at, message, "leave the name, or accept U104 when nothing calls it there")
    elif answer is None and not old.startswith("_"):
        message = f"{base.name}, a base of {heir.name}, is not in the tree and may declare or call {old}"
        yield stop("U104", source, at, message, f"accept U104 when {base.name} has no {old}")
    elif answer is None:
        message = f"{base.name}, a base of {heir.name}, is not in the tree; a private {old} is taken for our own"
        yield note("U104", source, at, message, f"check that {base.name} has no {old}")


def _protocol(source: Source, node: ast.ClassDef, old: str, new: str) -> Iterator[Hazard]:
    """Names that Python itself, or a framework of the standard library, looks up."""
    for name in (old, new):
        if name.startswith("__") and name.endswith("__"):
            message = f"Python itself looks up {name} in classes"
            yield stop("U104", source, source.start(node), message, "choose another name")
    bases = {base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases}
    if bases & {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"} and not _is_method(node, old):
        message = f"{node.name} is an enumeration: members are looked up, shown and stored by name"
        yield stop("U119", source, source.start(node), message, "accept U119 when no stored text has the name")


def _bodies(files: FileSet, owners: Iterable[ClassKey]) -> Iterator[ast.ClassDef]:
    return (located[1] for owner in owners if (located := class_at(files, owner)) is not None)


def _is_method(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(each, FUNCTIONS) and each.name == name for each in node.body)
