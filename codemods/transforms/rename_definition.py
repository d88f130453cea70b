"""A function, class or constant of a module under another name, in the whole tree.

The own file by its scopes, importers and re-exports by rename_uses.py, strings by rename_strings.py. What the old name
means to somebody outside of Python's own rules (pickles, fixtures, test collection) is reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from codemods.schema.hazards import Refusal
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import Origin, binding_import
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import Role
from codemods.source.strings import StringMention, mentions
from codemods.transforms.rename_by_name import by_name
from codemods.transforms.rename_report import Edits, refusal, shortened
from codemods.transforms.rename_strings import rename_in_strings
from codemods.transforms.rename_uses import Uses, candidates, star_brings
from codemods.transforms.rename_variable import rename_variable
from codemods.transforms.transform import Planned, refused


def plan_definition(files: FileSet, source: Source, old: str, new: str, strings: Literal["rewrite", "keep"]) -> Planned:
    """The plan for one module-level name; the new name is known to be an identifier."""
    scopes = table(source)
    bound = scopes.module.bound.get(old, [])
    if all(each.role is Role.IMPORT for each in bound):
        return refused(_not_here(files, source, old))
    renaming = rename_variable(source, scopes.module, old, new)
    problems = [
        refusal("U107", source.path, each.line, each.message, "choose another name") for each in renaming.obstacles
    ]
    module = modules_of(files).module_of(source.path)
    home = Origin(module, old)
    uses = Uses(files, home, source.path, new, is_exported=_is_exported(source, new))
    edits = Edits(files)
    edits.add(source, renaming.edits)
    own = uses.of(source.path)
    edits.add(source, own.edits)
    problems.extend(own.problems)
    definition = next(each for each in bound if each.role is not Role.IMPORT)
    for path in sorted({*candidates(files, old)} - {source.path}):
        found = uses.of(path)
        edits.add(found.source, found.edits)
        problems.extend(found.problems)
    problems.extend(uses.star_victims())
    if star_brings(files, source, new):
        message = f"a star import of {module} may bring another {new}"
        problems.append(refusal("U107", source.path, 0, message, "choose another name"))
    problems.extend(_stub(files, edits, source.path, old, new))
    if problems:
        return refused(*dict.fromkeys(problems))
    text = rename_in_strings(
        edits, mentions(files, module, old), old, new, mode=strings, follows=lambda each: _follows(files, uses, each)
    )
    hazards = shortened([*text.hazards, *by_name(files, source, definition.node, old, new)])
    return Planned(files=edits.applied(), hazards=tuple(hazards), findings=text.findings)


def _not_here(files: FileSet, source: Source, name: str) -> Refusal:
    found = binding_import(files, source, name)
    module = modules_of(files).module_of(source.path)
    if not found:
        names = ", ".join(sorted(table(source).module.bound)[:6])
        message, settle = f"{module} defines no {name!r}", f"name a definition that is there: {names}"
        return refusal("unknown-definition", source.path, 0, message, settle)
    first = found[0]
    message = f"{module} only imports {name}, from {first.module}"
    settle = f"rename {first.module}:{first.attribute} instead" if first.attribute else "name a definition"
    return refusal("not-defined-here", source.path, first.statement.lineno, message, settle)


def _is_exported(source: Source, new: str) -> bool:
    """Whether a star import brings the new name: `__all__` follows, and without it a leading underscore hides."""
    return "__all__" in table(source).module.bound or not new.startswith("_")


def _stub(files: FileSet, edits: Edits, path: str, old: str, new: str) -> Iterator[Refusal]:
    """The stub beside the module declares the same name."""
    stub = f"{path}i"
    if not path.endswith(".py") or stub not in files:
        return
    source = load(files, stub)
    module = table(source).module
    if old in module.bound:
        renaming = rename_variable(source, module, old, new)
        edits.add(source, renaming.edits)
        for each in renaming.obstacles:
            yield refusal("U107", stub, each.line, each.message, "choose another name")


def _follows(files: FileSet, uses: Uses, each: StringMention) -> bool:
    """Whether the name that a string reads is renamed where the string reads it."""
    modules = modules_of(files)
    if each.kind == "dunder-all":
        return uses.carries(each.path)
    if each.holder:
        return uses.carries(modules.path_of(each.holder, near=each.path))
    return True
