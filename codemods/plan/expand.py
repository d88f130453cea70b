"""From a step to its stages: which transforms make which commit. A table per `do`; plans and writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from codemods.schema.plan import (
    ExtractFunction,
    ExtractMethod,
    InlineMethod,
    Move,
    RedirectAttribute,
    Rename,
    ResultStruct,
    SplitMethod,
    Step,
)
from codemods.schema.refs import DefRef
from codemods.schema.result import Phase
from codemods.source.files import FileSet
from codemods.source.locate import find_method, module_path
from codemods.source.members import MemberKind, members
from codemods.source.modules import modules_of
from codemods.transforms.make_static import static_name
from codemods.transforms.move_definition import MoveArgs
from codemods.transforms.registry import transform
from codemods.transforms.transform import Transform, Words


class Stage(Struct, frozen=True, kw_only=True):
    """One commit to be: the transforms that make it, in order, and its words."""

    phase: Phase
    parts: tuple[tuple[Transform, Any], ...]
    words: Words


def stages_of(files: FileSet, step: Step) -> tuple[Stage, ...]:
    """The stages of a step, for the tree as it is before the step. Raises what `locate.find` raises."""
    return _TABLE[type(step)](files, step)


def _single(name: str) -> Callable[[FileSet, Any], tuple[Stage, ...]]:
    def stages(files: FileSet, step: Any) -> tuple[Stage, ...]:
        del files
        return (_stage((transform(name), step)),)

    return stages


def _stage(*parts: tuple[Transform, Any]) -> Stage:
    first, args = parts[0]
    return Stage(phase=first.phase, parts=parts, words=first.words(args))


def _extract_method(files: FileSet, step: ExtractMethod) -> tuple[Stage, ...]:
    ref = DefRef.parse(step.method)
    located = find_method(files, ref)
    kind = members(files, located.source, located.owner)[ref.name].kind if located.owner else MemberKind.METHOD
    is_static = kind is MemberKind.STATIC
    name = ref.name if is_static else static_name(files, step, located)
    making = (transform("make_static"), step)
    stages = [] if is_static else [_stage(making)]
    if not step.to:
        return tuple(stages)
    moving = transform("move_definition")
    args = MoveArgs(
        definition=str(DefRef(ref.module, f"{ref.owner}.{name}")),
        to=step.to,
        call=step.call,
        carry=step.carry,
        alias=step.wrapper and is_static,
        drop_effects="U109" in step.accept,
        strings=step.strings,
    )
    # of a method that is static already, make_static only says what speaks against qualified calls of it
    parts = (making, (moving, args)) if is_static else ((moving, args),)
    stages.append(Stage(phase=moving.phase, parts=parts, words=moving.words(args)))
    final = step.name or ref.name
    if name != final:
        moved = Rename(definition=f"{_module_name(files, step.to)}:{name}", to=final, strings=step.strings)
        renaming = transform("rename")
        stages.append(Stage(phase=Phase.POST, parts=((renaming, moved),), words=renaming.words(moved)))
    return tuple(stages)


def _module_name(files: FileSet, module: str) -> str:
    """The dotted name of a destination that may be written as a path."""
    modules = modules_of(files)
    path = modules.path_of(module) or modules.new_path_of(module)
    return modules.module_of(path) if path else module


def _move(files: FileSet, step: Move) -> tuple[Stage, ...]:
    del files
    args = MoveArgs(
        definition=step.definition,
        to=step.to,
        call=step.call,
        carry=step.carry,
        reexport=step.reexport,
        drop_effects="U109" in step.accept,
        strings=step.strings,
    )
    return (_stage((transform("move_definition"), args)),)


def _extract_function(files: FileSet, step: ExtractFunction) -> tuple[Stage, ...]:
    stages = [_stage((transform("extract_function"), step))]
    if step.to:
        module = DefRef.parse(step.function).module
        if module_path(files, module) != modules_of(files).path_of(step.to):
            args = MoveArgs(definition=f"{module}:{step.name}", to=step.to, call=step.call, carry=step.carry)
            stages.append(_stage((transform("move_definition"), args)))
    return tuple(stages)


_TABLE: dict[type, Callable[[FileSet, Any], tuple[Stage, ...]]] = {
    ExtractMethod: _extract_method,
    Move: _move,
    Rename: _single("rename"),
    InlineMethod: _single("inline_function"),
    ExtractFunction: _extract_function,
    SplitMethod: _single("split_method"),
    ResultStruct: _single("result_struct"),
    RedirectAttribute: _single("redirect_attribute"),
}
