"""Calls in the tree that fitted a signature before the change and do not fit it now (U121).

Counts only calls that are known to reach the callable: by import, as `self` or by a type. Where a product's heir
overrides the method, or a call passes `*args` or `**kwargs`, only what can't fit in any case is said. Partials and
calls through variables are not seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.classes import ClassKey, mro
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.mentions import occurrences
from codemods.source.modules import modules_of
from codemods.source.nodes import below
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Source, load
from codemods.source.receiver_kinds import Known
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.scopes import Role, lookup
from codemods.verify.readers_call_text import fits_at, may_misfit, misfit
from codemods.verify.readers_family import Family, class_around, receiver_before
from codemods.verify.readers_gone import Refit
from codemods.verify.readers_inventory import ClassInventory, imports_in, inventory, text_of
from codemods.verify.readers_signatures import Signature


def misfit_calls(old: FileSet, new: FileSet, refit: Refit) -> Iterator[Problem]:
    """The calls of one callable that do not fit its new signature, and did fit the old one or are new."""
    for source, call in _calls(new, refit):
        why = misfit(call, refit.after)
        if not why or (misfit(call, refit.before) and _stood_before(old, source, call)):
            continue
        name = refit.key.name if refit.key is not None and refit.name == "__init__" else refit.name
        yield Problem(source.path, call.lineno, "U121", f"{name}(…) does not fit its new signature: {why}")


def _stood_before(old: FileSet, source: Source, call: ast.Call) -> bool:
    return source.path in old and source.segment(call) in old.read(source.path)


def _calls(files: FileSet, refit: Refit) -> Iterator[tuple[Source, ast.Call]]:
    if refit.key is None:
        yield from _function_calls(files, refit.path, refit.name, refit.after)
        return
    family = Family(files, refit.key, [] if refit.name == "__init__" else [refit.name])
    if refit.name != "__init__":
        yield from _method_calls(files, family, refit)
        return
    if "." not in refit.key.qualname and "__new__" not in _members(files, refit.key):
        yield from _function_calls(files, refit.path, refit.key.name, refit.after)
        for heir in family.heirs:
            inherits = all("__init__" not in each.members for each in _classes(files, heir.path, heir.name))
            key = ClassKey(modules_of(files).module_of(heir.path), heir.name)
            if inherits and _provider(files, key, "__init__") == refit.key:
                yield from _function_calls(files, heir.path, heir.name, refit.after)
    yield from _super_calls(files, family, refit)


# -- functions and constructors


def _function_calls(files: FileSet, path: str, name: str, after: Signature) -> Iterator[tuple[Source, ast.Call]]:
    """Calls of a module-level name, in its module and through imports, in files where some call does not fit."""
    for other in mentioning(files, name):
        raw = text_of(files, other)
        if (other != path and b"import" not in raw) or not may_misfit(raw, name, after):
            continue
        try:
            source = load(files, other)
        except SourceError:
            continue
        aliases, holders = _reached(files, source, path, name)
        for node in below(source.tree):
            if isinstance(node, ast.Call) and _is_call_of(source, node.func, name, aliases, holders):
                yield source, node


def _is_call_of(source: Source, func: ast.expr, name: str, aliases: set[str], holders: set[str]) -> bool:
    if isinstance(func, ast.Name):
        return func.id in aliases and _is_module_binding(source, func)
    return (
        bool(holders) and isinstance(func, ast.Attribute) and func.attr == name and ast.unparse(func.value) in holders
    )


def _reached(files: FileSet, source: Source, path: str, name: str) -> tuple[set[str], set[str]]:
    """The names by which a file knows the callable, and those by which it knows its module."""
    modules = modules_of(files)
    aliases = {name} if source.path == path else set()
    holders: set[str] = set()
    for statement in imports_in(source.tree):
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                if modules.path_of(alias.name, near=source.path) == path:
                    holders.add(alias.asname or alias.name)
                continue
            absolute = modules.absolute(source.path, statement.level, statement.module)
            target = modules.path_of(absolute, near=source.path)
            if alias.name == name and (target == path or _leads_to(files, target, name, path)):
                aliases.add(alias.asname or name)
            elif modules.path_of(f"{absolute}.{alias.name}", near=source.path) == path:
                holders.add(alias.asname or alias.name)
    return aliases, holders


def _leads_to(files: FileSet, through: str | None, name: str, path: str, depth: int = 4) -> bool:
    """Whether a module takes the name from the module at `path`, directly or through others."""
    if through is None or depth == 0 or through not in files:
        return False
    held = inventory(files, through).bound.get(name)
    if held is None or held.kind != "import":
        return False
    modules = modules_of(files)
    for statement in imports_in(load(files, through).tree):
        if isinstance(statement, ast.ImportFrom) and any(alias.name == name for alias in statement.names):
            target = modules.path_of(modules.absolute(through, statement.level, statement.module), near=through)
            return target == path or _leads_to(files, target, name, path, depth - 1)
    return False


def _is_module_binding(source: Source, node: ast.Name) -> bool:
    """Whether a bare name means one import or definition, and nothing that a function binds otherwise."""
    home = lookup(scope_at(source, node), node.id)
    if home is None:
        return False
    return all(each.role in (Role.IMPORT, Role.DEFINE) for each in home.bound[node.id])


# -- methods


def _method_calls(files: FileSet, family: Family, refit: Refit) -> Iterator[tuple[Source, ast.Call]]:
    overriding = [
        heir
        for heir in family.heirs
        if not heir.is_test and any(refit.name in each.members for each in _classes(files, heir.path, heir.name))
    ]
    for path in mentioning(files, refit.name):
        if not _may_misfit(family, path, text_of(files, path), refit):
            continue
        try:
            source = load(files, path)
        except SourceError:
            continue
        for call, receiver in _calls_of(source, refit.name):
            if _reaches(files, source, receiver, refit, is_overridden=bool(overriding)):
                yield source, call


def _may_misfit(family: Family, path: str, raw: bytes, refit: Refit) -> bool:
    """Whether some `x.name(…)` of a file does not fit where `x` may be one of the family."""
    name = refit.name.encode()
    for at in occurrences(raw, name):
        receiver = receiver_before(raw, at)
        if receiver is None or fits_at(raw, at, name, refit.after):
            continue
        if receiver in (b"self", b"cls", b"super()"):
            if class_around(raw, at) in family.names:
                return True
        elif family.may_hold(path, raw, receiver):
            return True
    return False


def _reaches(files: FileSet, source: Source, receiver: ast.expr, refit: Refit, *, is_overridden: bool) -> bool:
    if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
        return _next_after(files, _class_of(files, source, receiver), refit.name) == refit.key
    what = receiver_type(files, source, receiver)
    if not isinstance(what, Known) or (is_overridden and not what.is_exact):
        return False
    return all(_provider(files, key, refit.name) == refit.key for key in what.keys)


def _super_calls(files: FileSet, family: Family, refit: Refit) -> Iterator[tuple[Source, ast.Call]]:
    """`super().__init__(…)` in heirs."""
    for path in sorted({heir.path for heir in family.heirs}):
        raw = text_of(files, path)
        if b"super()" not in raw or not may_misfit(raw, refit.name, refit.after):
            continue
        try:
            source = load(files, path)
        except SourceError:
            continue
        for call, held in _calls_of(source, refit.name):
            is_super = isinstance(held, ast.Call) and getattr(held.func, "id", "") == "super" and not held.args
            if is_super and _next_after(files, _class_of(files, source, held), refit.name) == refit.key:
                yield source, call


def _calls_of(source: Source, name: str) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Calls of `receiver.name`, each with the receiver."""
    for node in below(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node, node.func.value


# -- who provides a method


def _class_of(files: FileSet, source: Source, node: ast.AST) -> ClassKey:
    parts: list[str] = []
    for above in source.ancestors(node):
        if isinstance(above, DEFINITIONS) and (parts or isinstance(above, ast.ClassDef)):
            parts.append(f"{above.name}.<locals>" if isinstance(above, FUNCTIONS) else above.name)
    return ClassKey(modules_of(files).module_of(source.path), ".".join(reversed(parts)))


def _classes(files: FileSet, path: str, name: str) -> list[ClassInventory]:
    return [each for each in inventory(files, path).classes.values() if each.name == name]


def _members(files: FileSet, key: ClassKey) -> frozenset[str]:
    path = modules_of(files).path_of(key.module)
    found = inventory(files, path).classes.get(key.qualname) if path is not None else None
    return frozenset(found.members) if found is not None else frozenset()


def _provider(files: FileSet, key: ClassKey, name: str) -> ClassKey | None:
    """The class of the tree in which an instance finds the method."""
    return next((each for each in mro(files, key).classes if name in _members(files, each)), None)


def _next_after(files: FileSet, key: ClassKey, name: str) -> ClassKey | None:
    """The class in which `super().name` is found from a method of the class."""
    return next((each for each in mro(files, key).classes[1:] if name in _members(files, each)), None)
