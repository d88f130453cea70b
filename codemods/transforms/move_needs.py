"""What a definition needs where it goes: each free name with where it comes from, and what follows for the new file.

Decides name by name; the text is cut and pasted by move_definition.py."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import has_postponed_annotations
from codemods.source.imports import Import, binding_import, origin
from codemods.source.locate import flattened
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.scopes import BUILTINS, MODULE_NAMES, Occurrence, Role, Scope, ScopeKind, lookup


class FreeName(Struct, frozen=True, kw_only=True, eq=False):
    """A name the block reads from outside. is_lazy: only inside function bodies, so not when the module is imported.
    is_deferred: only in annotations that are not evaluated. imports: how the source module gets it (none: it is at home
    there)."""

    name: str
    occurrences: tuple[Occurrence, ...]
    imports: tuple[Import, ...]
    is_lazy: bool
    is_deferred: bool

    @property
    def line_node(self) -> ast.AST:
        return self.occurrences[0].node


class Block(Struct, frozen=True, kw_only=True, eq=False):
    """The text that moves, as a span of its file, with what it reads.

    type_parameters: texts of those that belong to the class around and are used here."""

    source: Source
    start: int
    end: int
    names: tuple[FreeName, ...]
    builtins: frozenset[str]
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    type_parameters: tuple[str, ...] = ()


def block_of(files: FileSet, source: Source, start: int, end: int, own: frozenset[str], skip: frozenset[int]) -> Block:
    """Free names of the text start:end. own: names that move with it; skip: offsets of names that will be rewritten."""
    scopes = table(source)
    groups: dict[str, list[Occurrence]] = {}
    builtins: set[str] = set()
    hazards: list[Hazard] = []
    refusals: list[Refusal] = []
    types: list[str] = []
    for occurrence in scopes.between(start, end):
        home = scopes.resolve(occurrence)
        if occurrence.start in skip or (occurrence.role is Role.DEFINE and occurrence.name in own):
            continue
        if home is None:
            builtins.add(occurrence.name)
            hazards.extend(_unresolved(source, occurrence))
        elif home is scopes.module:
            is_declared_global = occurrence.role is Role.DECLARE or _binds_global(occurrence, home)
            if is_declared_global and occurrence.name not in own:
                refusals.append(_writes_module_state(source, occurrence))
            elif occurrence.name not in own and not _is_bound_by_block(occurrence):
                groups.setdefault(occurrence.name, []).append(occurrence)
        elif not _is_inside(source, home, start, end):
            hazards.extend(_outer_scope(source, occurrence, home, types))
    names = tuple(_free_name(files, source, name, group) for name, group in groups.items())
    return Block(
        source=source,
        start=start,
        end=end,
        names=names,
        builtins=frozenset(builtins),
        hazards=tuple(hazards),
        refusals=tuple(refusals),
        type_parameters=tuple(types),
    )


def _is_inside(source: Source, scope: Scope, start: int, end: int) -> bool:
    return scope.kind is not ScopeKind.MODULE and start <= source.start(scope.node) < end


def _is_bound_by_block(occurrence: Occurrence) -> bool:
    """The definition's own name: bound where it stands."""
    return occurrence.role in (Role.DEFINE, Role.STORE) and occurrence.scope.kind is ScopeKind.MODULE


def _binds_global(occurrence: Occurrence, module: Scope) -> bool:
    is_write = occurrence.role in (Role.STORE, Role.DELETE, Role.DEFINE, Role.IMPORT)
    return is_write and occurrence.scope is not module


def _free_name(files: FileSet, source: Source, name: str, group: list[Occurrence]) -> FreeName:
    evaluated = [occurrence for occurrence in group if not occurrence.deferred]
    return FreeName(
        name=name,
        occurrences=tuple(group),
        imports=tuple(binding_import(files, source, name)),
        is_lazy=all(_runs_late(occurrence.scope) for occurrence in evaluated),
        is_deferred=not evaluated,
    )


def _runs_late(scope: Scope) -> bool:
    at: Scope | None = scope
    while at is not None:
        if at.kind in (ScopeKind.FUNCTION, ScopeKind.LAMBDA):
            return True
        at = at.parent
    return False


def _hazard(source: Source, occurrence: Occurrence, code: str, severity: Severity, message: str, settle: str) -> Hazard:
    line = source.text.line_of(occurrence.start)
    return Hazard(code=code, severity=severity, path=source.path, line=line, message=message, settle=settle)


def _unresolved(source: Source, occurrence: Occurrence) -> list[Hazard]:
    name = occurrence.name
    if name in MODULE_NAMES:
        message = f"{name} is another value in another module"
        return [_hazard(source, occurrence, "U110", Severity.PROVE, message, "accept U110 when the value is not used")]
    if name not in BUILTINS and occurrence.role is Role.LOAD and not occurrence.deferred:
        message = f"nothing in {source.path} binds {name} (a star import may)"
        return [_hazard(source, occurrence, "U107", Severity.STOP, message, "import the name by name first")]
    return []


def _writes_module_state(source: Source, occurrence: Occurrence) -> Refusal:
    return Refusal(
        code="module-state",
        path=source.path,
        line=source.text.line_of(occurrence.start),
        message=f"the definition rebinds the module's {occurrence.name}, which would stay behind",
        settle=f'move it along: carry = ["{occurrence.name}"]',
    )


def _outer_scope(source: Source, occurrence: Occurrence, home: Scope, types: list[str]) -> list[Hazard]:
    """A name of the class around: a type parameter can be declared anew, anything else can't be had outside."""
    if home.kind is ScopeKind.TYPE_PARAMETERS:
        parameter = home.bound[occurrence.name][0].node
        text = source.segment(parameter).decode()
        if text not in types:
            types.append(text)
        return []
    message = f"{occurrence.name} is bound in {home.kind.value} {getattr(home.node, 'name', '')}, and not outside"
    return [_hazard(source, occurrence, "U114", Severity.STOP, message, "give it to the function as a parameter first")]


def rebound_by(source: Source, name: str) -> int:
    """Line of a function that rebinds a module-level name with `global`; 0 when none does."""
    scopes = table(source)
    for occurrence in scopes.named(name):
        if occurrence.role is Role.DECLARE and name in occurrence.scope.global_names:
            return source.text.line_of(occurrence.start)
    return 0


def is_logger(source: Source, name: str) -> bool:
    """Whether the module binds the name once, to `getLogger(__name__)`."""
    node = _only_assignment(source, name)
    if node is None or not isinstance(node.value, ast.Call):
        return False
    call = node.value
    leaf = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    is_by_name = len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id == "__name__"
    return leaf in ("getLogger", "init_logger", "get_logger") and is_by_name


def _only_assignment(source: Source, name: str) -> ast.Assign | ast.AnnAssign | None:
    found = table(source).module.bound.get(name, [])
    if len(found) != 1:
        return None
    for node in flattened(source.tree.body):
        if isinstance(node, ast.Assign) and node.targets == [found[0].node]:
            return node
        if isinstance(node, ast.AnnAssign) and node.target is found[0].node:
            return node
    return None


def logger_of(source: Source, *, like: str) -> str:
    """The name of the module's own logger, the wanted one first; "" when it has none."""
    names = sorted(table(source).module.bound, key=lambda name: (name != like, name))
    return next((name for name in names if is_logger(source, name)), "")


def same_there(files: FileSet, source: Source, target: Source, name: str) -> bool:
    """Whether the target's module level binds the name to the very same object."""
    if lookup(table(target).module, name) is None:
        return False
    modules = modules_of(files)
    here = origin(files, modules.module_of(source.path), name)
    return origin(files, modules.module_of(target.path), name) == here


def annotations_run(source: Source) -> bool:
    """Whether annotations in the file are evaluated when the definition is."""
    return not has_postponed_annotations(source)
