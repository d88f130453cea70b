"""What the imports of a file bind, in absolute terms, and what object a module-level name finally is.

Reads only. How to add or drop an import is transforms/adjust_imports.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.module_facts import Imported, module_facts
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import DEFINITIONS, Source
from codemods.source.scopes import Role, Scope, ScopeKind, ScopeTable, lookup

_DEEPEST = 16  # re-export chains longer than this are cycles


class Import(Struct, frozen=True, eq=False):
    """One name that one import statement binds.

    module: absolute dotted name. attribute: the imported name, "" for `import module`, "*" for a star import.
    name: what is bound ("" for a star). scope: where. guards: kinds of blocks around the statement inside its scope:
    "if", "else", "try", "except", "type-checking", "loop", "with"."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    module: str
    attribute: str
    name: str
    scope: Scope
    guards: tuple[str, ...]

    @property
    def at_module_level(self) -> bool:
        return self.scope.kind is ScopeKind.MODULE

    @property
    def is_plain(self) -> bool:
        """Module level and unconditional."""
        return self.at_module_level and not self.guards

    @property
    def type_checking_only(self) -> bool:
        return "type-checking" in self.guards


class Origin(Struct, frozen=True):
    """An object by its home: `module` defines (or is) it. `name` "" means the module itself.

    is_external: the module is not in the tree."""

    module: str
    name: str
    is_external: bool = False

    def __str__(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def imports_of(files: FileSet, source: Source) -> list[Import]:
    """Every import of a file in the order of the text, function-level ones included."""
    kept = source.notes.get("imports")
    if isinstance(kept, list):
        return kept
    modules = modules_of(files)
    scopes = table(source)
    found: list[Import] = []
    for statement, scope, guards in _statements(scopes, source.tree.body, scopes.module, ()):
        for alias in statement.names:
            if isinstance(statement, ast.Import):
                name = alias.asname or alias.name.partition(".")[0]
                found.append(Import(statement, alias, alias.name, "", name, scope, guards))
            else:
                module = modules.absolute(source.path, statement.level, statement.module)
                name = "" if alias.name == "*" else alias.asname or alias.name
                found.append(Import(statement, alias, module, alias.name, name, scope, guards))
    source.notes["imports"] = found
    return found


_Found = tuple[ast.Import | ast.ImportFrom, Scope, tuple[str, ...]]


def _statements(scopes: ScopeTable, nodes: list[ast.stmt], scope: Scope, guards: tuple[str, ...]) -> Iterator[_Found]:
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, scope, guards
        elif isinstance(node, DEFINITIONS):
            yield from _statements(scopes, node.body, scopes.scope_of(node), ())
        else:
            for label, block in _blocks(node):
                yield from _statements(scopes, block, scope, (*guards, label))


def _blocks(node: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    if isinstance(node, ast.If):
        test = node.test
        guard = test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""
        yield ("type-checking" if guard == "TYPE_CHECKING" else "if"), node.body
        yield "else", node.orelse
    elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        yield "try", node.body  # type: ignore[attr-defined]
        for handler in node.handlers:  # type: ignore[attr-defined]
            yield "except", handler.body
        yield "else", node.orelse  # type: ignore[attr-defined]
        yield "try", node.finalbody  # type: ignore[attr-defined]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield "with", node.body
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        yield "loop", node.body
        yield "else", node.orelse
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield "if", case.body


def binding_import(files: FileSet, source: Source, name: str, scope: Scope | None = None) -> list[Import]:
    """The imports that bind `name` in a scope (the module by default)."""
    home = scope or table(source).module
    return [found for found in imports_of(files, source) if found.name == name and found.scope is home]


def origin(files: FileSet, module: str, name: str) -> Origin:
    """The home of `module.name`, followed through re-exports, aliases of imports and submodules.

    A name that the module binds in several ways, or by assignment, is at home there."""
    modules = modules_of(files)
    for _ in range(_DEEPEST):
        path = modules.path_of(module)
        if path is None:
            submodule = modules.path_of(f"{module}.{name}") if name else None  # of a namespace package
            if submodule is not None:
                return Origin(modules.module_of(submodule), "")
            return Origin(module, name, is_external=not modules.is_package_directory(module))
        if not name:
            return Origin(modules.module_of(path), "")
        step = _one_step(files, modules, path, name)
        if step is None:
            return Origin(modules.module_of(path), name)
        module, name = step
    return Origin(module, name)


def _one_step(files: FileSet, modules: Modules, path: str, name: str) -> tuple[str, str] | None:
    """Where `name` of a file is imported from; None when it is bound here otherwise (or not at all)."""
    facts = module_facts(files, path)
    found = facts.imported.get(name, ())
    if found:
        first = found[0]
        if len({_what(each) for each in found}) > 1:
            return None
        return _import_step(files, modules, path, first)
    if name in facts.bound:
        return None
    submodule = modules.path_of(f"{modules.module_of(path)}.{name}")
    if submodule is not None:
        return modules.module_of(submodule), ""
    for star in reversed(facts.stars):  # the last one that brings the name wins
        holder = modules.path_of(star, near=path)
        if holder is not None and holder != path and _binds(files, holder, name, frozenset({path})):
            return modules.module_of(holder), name
    return None


def _what(found: Imported) -> tuple[str, str]:
    """What an import binds: `import a.b` and `import a.c` both bind a."""
    is_top = not found.attribute and not found.has_alias
    return (found.module.partition(".")[0] if is_top else found.module), found.attribute


def _import_step(files: FileSet, modules: Modules, path: str, found: Imported) -> tuple[str, str]:
    if not found.attribute:
        target = found.module if found.has_alias else found.module.partition(".")[0]
        near = modules.path_of(target, near=path)
        return (modules.module_of(near) if near else target), ""
    holder = modules.path_of(found.module, near=path)
    # `from . import core` in a package binds the very name that it looks for: the module is meant.
    if holder is None or holder == path or not _binds(files, holder, found.attribute, frozenset({path})):
        submodule = modules.path_of(f"{found.module}.{found.attribute}", near=path)
        if submodule is not None and submodule != path:
            return modules.module_of(submodule), ""
    return (modules.module_of(holder) if holder else found.module), found.attribute


def _binds(files: FileSet, path: str, name: str, seen: frozenset[str]) -> bool:
    facts = module_facts(files, path)
    if name in facts.bound:
        return True
    modules = modules_of(files)
    holders = {modules.path_of(star, near=path) for star in facts.stars} - seen
    return any(holder is not None and _binds(files, holder, name, seen | {path}) for holder in holders)


def resolve_dotted(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> Origin | None:
    """The home of a `name` or `a.b.c` expression read in `scope`; None when its head is no import or module-level name.

    Follows modules as far as they go; stops at the first attribute of an object, so `mod.Class.method` gives
    Origin(mod, "Class") only for the node of `mod.Class`."""
    parts: list[str] = []
    at = node
    while isinstance(at, ast.Attribute):
        parts.append(at.attr)
        at = at.value
    if not isinstance(at, ast.Name):
        return None
    home = lookup(scope, at.id)
    if home is None:
        return None
    bound = home.bound[at.id]
    modules = modules_of(files)
    if all(occurrence.role is Role.IMPORT for occurrence in bound):
        found = binding_import(files, source, at.id, home)
        if len({(each.module, each.attribute) for each in found if each.alias.asname or each.attribute}) > 1:
            return None
        first = found[0]
        if first.attribute:
            holder = modules.path_of(first.module, near=source.path)
            current = origin(files, modules.module_of(holder) if holder else first.module, first.attribute)
        else:
            target = first.module if first.alias.asname else first.module.partition(".")[0]
            current = origin(files, _near(modules, target, source.path), "")
    elif home.kind is ScopeKind.MODULE:
        current = origin(files, modules.module_of(source.path), at.id)
    else:
        return None
    for part in reversed(parts):
        if current.name:
            return None
        current = origin(files, current.module, part)
    return current


def _near(modules: Modules, module: str, path: str) -> str:
    found = modules.path_of(module, near=path)
    return modules.module_of(found) if found else module
