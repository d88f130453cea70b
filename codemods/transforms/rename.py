"""rename: a definition, a member of a class, a local or a module gets another name, everywhere at once.

Decides what the step names and hands over to the file that knows that kind. Refuses what is no name to Python."""

from __future__ import annotations

import ast
import keyword

from msgspec import Struct

from codemods.schema.errors import PlanError
from codemods.schema.plan import Rename
from codemods.schema.refs import DefRef
from codemods.schema.result import Phase
from codemods.source.attribute_sites import bearers
from codemods.source.binder import table
from codemods.source.classes import key_of
from codemods.source.files import FileSet
from codemods.source.locate import AmbiguousDefinition, UnknownDefinition, flattened, module_path
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, Function, Source, load
from codemods.source.receivers import scope_at
from codemods.transforms.rename_attribute import plan_attribute
from codemods.transforms.rename_definition import plan_definition
from codemods.transforms.rename_local import plan_local
from codemods.transforms.rename_module import plan_module
from codemods.transforms.rename_report import refusal
from codemods.transforms.transform import Planned, Transform, Words, refused


class Place(Struct, frozen=True, eq=False):
    """Where a name stands: `around` is the class or function that has it, None for the module."""

    source: Source
    around: ast.ClassDef | Function | None
    name: str


def plan(files: FileSet, step: Rename) -> Planned:
    """The plan of the step. Raises UnknownModule, UnknownDefinition, AmbiguousDefinition, BadReference, Unparsable."""
    bad = _bad_name(step)
    if bad:
        path = modules_path(files, step)
        return refused(refusal("bad-name", path, 0, bad, "choose a name that Python takes"))
    if ":" not in step.definition:
        return plan_module(files, step.definition, step.to, step.strings)
    place = find_place(files, DefRef.parse(step.definition))
    if place.around is None:
        return plan_definition(files, place.source, place.name, step.to, step.strings)
    if isinstance(place.around, ast.ClassDef):
        return plan_attribute(files, place.source, place.around, place.name, step.to, step.strings)
    return plan_local(files, place.source, place.around, place.name, step.to)


def modules_path(files: FileSet, step: Rename) -> str:
    """The file that the step names, for messages; "" when there is none."""
    try:
        return module_path(files, step.definition.partition(":")[0])
    except PlanError:
        return ""


def _bad_name(step: Rename) -> str:
    is_module = ":" not in step.definition
    parts = step.to.split(".") if is_module else [step.to]
    for part in parts:
        if not part.isidentifier() or keyword.iskeyword(part):
            return f"{step.to!r} is no name for a {'module' if is_module else 'variable'}"
    old = step.definition if is_module else DefRef.parse(step.definition).name
    return f"it is called {old} already" if step.to == old else ""


def find_place(files: FileSet, ref: DefRef) -> Place:
    """The scope that a reference's last name belongs to: a module, a class or a function, however deeply nested."""
    source = load(files, module_path(files, ref.module))
    around: ast.ClassDef | Function | None = None
    for part in ref.qualname.split(".")[:-1]:
        if part == "<locals>":
            continue
        body = around.body if around is not None else source.tree.body
        found = [node for node in flattened(body) if isinstance(node, DEFINITIONS) and node.name == part]
        if not found:
            raise UnknownDefinition(
                f"{source.path} has no class or function {part!r} for {ref.qualname}",
                path=source.path,
                fix="name the class or function that has the name",
            )
        if len(found) > 1:
            lines = ", ".join(str(node.lineno) for node in found)
            raise AmbiguousDefinition(
                f"{part} of {ref} has {len(found)} definitions (lines {lines})",
                path=source.path,
                line=found[0].lineno,
                fix="leave one of them, or give them different names first",
            )
        around = found[0]
    return Place(source, around, ref.name)


def is_renamed(files: FileSet, step: Rename) -> bool:
    """Whether the tree looks as the step leaves it: the new name is where the old one was."""
    modules = modules_of(files)
    if ":" not in step.definition:
        return modules.path_of(step.definition) is None and modules.path_of(step.to) is not None
    try:
        place = find_place(files, DefRef.parse(step.definition))
    except PlanError:
        return False
    if isinstance(place.around, ast.ClassDef):
        key = key_of(files, place.source, place.around, scope_at(place.source, place.around))
        return key not in bearers(files, place.name) and key in bearers(files, step.to)
    scopes = table(place.source)
    bound = (scopes.module if place.around is None else scopes.scope_of(place.around)).bound
    return step.to in bound and place.name not in bound


def words(step: Rename) -> Words:
    """The commit's words."""
    if ":" not in step.definition:
        return Words(
            f"Rename module {step.definition} to {step.to}",
            f"The module {step.definition} is called {step.to}; imports and strings that name it follow. "
            "Nothing else changes.",
        )
    ref = DefRef.parse(step.definition)
    return Words(
        f"Rename {ref.qualname} to {step.to}",
        f"{ref.qualname} of {ref.module} is called {step.to}, and whoever uses it follows. Nothing else changes.",
    )


TRANSFORM = Transform(name="rename", phase=Phase.POST, args=Rename, plan=plan, words=words)
