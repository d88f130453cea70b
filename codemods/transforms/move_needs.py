"""What a definition needs where it goes: each free name with where it comes from, and what follows for the new file.

Decides name by name; the text is cut and pasted by move_definition.py."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.always_bound import always_bound
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_effects import is_inert
from codemods.source.import_layout import has_postponed_annotations
from codemods.source.imports import Import, Origin, binding_import, origin
from codemods.source.locate import flattened, is_main_guard
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.scopes import BUILTINS, MODULE_NAMES, Occurrence, Role, Scope, ScopeKind, lookup
from codemods.source.star_imports import overriding_star, star_bringing


class FreeName(Struct, frozen=True, kw_only=True, eq=False):
    """A name the block reads from outside. is_lazy: only inside function bodies, so not when the module is imported.
    is_deferred: only in annotations that are not evaluated. imports: how the source module gets it (none: it is at home
    there). is_sure: the module has it once it is imported, whatever way it took.
    star: the module of the tree whose star import brings it, over other bindings or without any."""

    name: str
    occurrences: tuple[Occurrence, ...]
    imports: tuple[Import, ...]
    is_lazy: bool
    is_deferred: bool
    is_sure: bool
    star: str = ""


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
        if home is None and star_bringing(files, source, occurrence.name):
            groups.setdefault(occurrence.name, []).append(occurrence)
        elif home is None:
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


def merged(blocks: list[Block]) -> Block:
    """Several blocks of one file as one, for what they need together."""
    names: dict[str, FreeName] = {}
    for block in blocks:
        for name in block.names:
            before = names.get(name.name)
            names[name.name] = name if before is None else _both(before, name)
    return Block(
        source=blocks[0].source,
        start=min(block.start for block in blocks),
        end=max(block.end for block in blocks),
        names=tuple(names.values()),
        builtins=frozenset().union(*(block.builtins for block in blocks)),
    )


def _both(first: FreeName, second: FreeName) -> FreeName:
    return FreeName(
        name=first.name,
        occurrences=(*first.occurrences, *second.occurrences),
        imports=first.imports,
        is_lazy=first.is_lazy and second.is_lazy,
        is_deferred=first.is_deferred and second.is_deferred,
        is_sure=first.is_sure,
        star=first.star,
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
        is_sure=always_bound(source, name),
        star=overriding_star(files, source, name),
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
        severity = Severity.NOTE if _names_logger(source, occurrence) else Severity.STOP
        message = f"{name} is another value in another module"
        return [_hazard(source, occurrence, "U110", severity, message, "accept U110 when the other value is right")]
    if _looks_around(source, occurrence):
        message = f"{name}() would see the names of another module"
        settle = "hand over the names that it looks up, or accept U110 when it finds none of the module's"
        return [_hazard(source, occurrence, "U110", Severity.STOP, message, settle)]
    if name not in BUILTINS and occurrence.role is Role.LOAD and not occurrence.deferred:
        message = f"nothing in {source.path} binds {name} (a star import may)"
        return [_hazard(source, occurrence, "U107", Severity.STOP, message, "import the name by name first")]
    return []


def _names_logger(source: Source, occurrence: Occurrence) -> bool:
    """`getLogger(__name__)`: whoever says that wants the module's own."""
    call = source.parents.get(occurrence.node)
    if not isinstance(call, ast.Call) or occurrence.name != "__name__":
        return False
    leaf = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return leaf in ("getLogger", "init_logger", "get_logger")


def _looks_around(source: Source, occurrence: Occurrence) -> bool:
    """`globals()`, `eval(text)`, `exec(text)`: what they give depends on the module they stand in."""
    call = source.parents.get(occurrence.node)
    if not isinstance(call, ast.Call) or call.func is not occurrence.node:
        return False
    num_given = len(call.args) + len(call.keywords)
    return occurrence.name == "globals" or (occurrence.name in ("eval", "exec") and num_given == 1)


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


def loaded_twice(source: Source, name: str) -> int:
    """The line of `if __name__ == "__main__":`, when importing the name from a running script would make another one.

    0 when nothing would be different."""
    guard = next((each for each in source.tree.body if is_main_guard(each)), None)
    if guard is None:
        return 0
    others = [each for each in source.tree.body if each is not guard]
    node = _only_assignment(source, name)
    is_literal = node is not None and isinstance(node.value, ast.Constant)
    return 0 if is_literal and all(is_inert(each) for each in others) else guard.lineno


def logger_key(source: Source, name: str) -> str:
    """What the logger that a module-level name is bound to is called: `__name__` or a text; "" when it is none."""
    value = logger_value(source, name)
    if value is None:
        return ""
    key = value.args[0]
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return repr(key.value)
    return "__name__" if isinstance(key, ast.Name) and key.id == "__name__" else ""


def logger_value(source: Source, name: str) -> ast.Call | None:
    """The call that makes the logger a module-level name is bound to, when that is all that binds it."""
    node = _only_assignment(source, name)
    if node is None or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    leaf = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    is_maker = leaf in ("getLogger", "init_logger", "get_logger")
    return call if is_maker and len(call.args) == 1 and not call.keywords else None


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


def logger_of(source: Source, key: str, *, like: str) -> str:
    """The name of the module's logger with that key, the wanted name first; "" when it has none."""
    names = sorted(table(source).module.bound, key=lambda name: (name != like, name))
    return next((name for name in names if logger_key(source, name) == key), "")


def same_there(files: FileSet, source: Source, target: Source, name: str) -> bool:
    """Whether the target's module level binds the name to the very same object."""
    if lookup(table(target).module, name) is None:
        return False
    return _home(files, source, name) == _home(files, target, name)


def _home(files: FileSet, source: Source, name: str) -> Origin:
    modules = modules_of(files)
    star = overriding_star(files, source, name)
    holder = modules.path_of(star, near=source.path) if star else source.path
    return origin(files, modules.module_of(holder or source.path), name)


def annotations_run(source: Source) -> bool:
    """Whether annotations in the file are evaluated when the definition is."""
    return not has_postponed_annotations(source)
