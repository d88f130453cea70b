"""What each file's module level binds, small enough to keep for a whole tree: names, where they come from, stars.

One shallow reading of one file (function bodies are not entered); following an import into other files is imports.py's.
A file that does not parse binds nothing here: whoever changes it reports that."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import DEFINITIONS, light_tree

_KEEP = 4096  # files; facts are a few kilobytes each


class Imported(Struct, frozen=True):
    """`from module import attribute`, or `import module` (attribute ""). has_alias: bound under a name of its own."""

    module: str
    attribute: str
    has_alias: bool


class ModuleFacts(Struct, frozen=True):
    """imported: name -> what it is imported from, for names that only imports bind. bound: all names. stars: modules of
    star imports, in order."""

    imported: dict[str, tuple[Imported, ...]]
    bound: frozenset[str]
    stars: tuple[str, ...]


_NOTHING = ModuleFacts({}, frozenset(), ())
_cache: OrderedDict[tuple[str, str, bytes], ModuleFacts] = OrderedDict()


def module_facts(files: FileSet, path: str) -> ModuleFacts:
    """The facts of one file, kept by its content."""
    modules = modules_of(files)
    key = (path, modules.module_of(path), files.read(path))
    found = _cache.get(key)
    if found is None:
        try:
            text, tree = light_tree(files, path)
            found = _read(modules, path, tree, _declared_global(tree) if b"global" in text.body else set())
        except SourceError:
            found = _NOTHING
        _cache[key] = found
        while len(_cache) > _KEEP:
            _cache.popitem(last=False)
    else:
        _cache.move_to_end(key)
    return found


def _read(modules: Modules, path: str, tree: ast.Module, declared: set[str]) -> ModuleFacts:
    imported: dict[str, list[Imported]] = {}
    other: set[str] = set()
    stars: list[str] = []
    for node in _module_level(tree.body):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                imported.setdefault(name, []).append(Imported(alias.name, "", bool(alias.asname)))
        elif isinstance(node, ast.ImportFrom):
            module = modules.absolute(path, node.level, node.module)
            for alias in node.names:
                if alias.name == "*":
                    stars.append(module)
                else:
                    found = Imported(module, alias.name, bool(alias.asname))
                    imported.setdefault(alias.asname or alias.name, []).append(found)
        elif isinstance(node, DEFINITIONS):
            other.add(node.name)
        else:
            other.update(_targets(node))
    only = {name: tuple(found) for name, found in imported.items() if name not in other and name not in declared}
    return ModuleFacts(only, frozenset(imported) | other | declared, tuple(stars))


def _module_level(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        yield statement
        if isinstance(statement, DEFINITIONS):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from _module_level(getattr(statement, block, []))
        for handler in getattr(statement, "handlers", []):
            yield from _module_level(handler.body)
        for case in getattr(statement, "cases", []):
            yield from _module_level(case.body)


def _targets(statement: ast.stmt) -> Iterator[str]:
    """Names a simple statement, or the head of a compound one, binds (walrus included)."""
    blocks = {"body", "orelse", "finalbody", "handlers", "cases"}
    stack: list[ast.AST] = []
    for field, value in ast.iter_fields(statement):
        if field not in blocks:
            values = value if isinstance(value, list) else [value]
            stack.extend(each for each in values if isinstance(each, ast.AST))
    for handler in getattr(statement, "handlers", []):
        if handler.name:
            yield handler.name
    for case in getattr(statement, "cases", []):
        stack.append(case.pattern)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield node.id
        elif not isinstance(node, ast.Lambda):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):  # patterns, type aliases
                yield name
            stack.extend(ast.iter_child_nodes(node))


def _declared_global(tree: ast.Module) -> set[str]:
    """Names that some function declares `global`: assigned there, bound here."""
    found: set[str] = set()
    stack: list[ast.stmt] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Global):
            found.update(node.names)
        for block in ("body", "orelse", "finalbody"):
            stack.extend(getattr(node, block, []))
        for handler in getattr(node, "handlers", []):
            stack.extend(handler.body)
        for case in getattr(node, "cases", []):
            stack.extend(case.body)
    return found
