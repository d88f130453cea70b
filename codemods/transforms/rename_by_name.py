"""Who goes by a definition's name without reading the variable: pickles, registries, fixtures, test collection.

Looks into decorators and `__init_subclass__` of the tree; what is not in the tree is only noted."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

from codemods.schema.hazards import Hazard
from codemods.source.binder import table
from codemods.source.classes import class_at, defines, key_of, mro
from codemods.source.files import FileSet
from codemods.source.imports import resolve_dotted
from codemods.source.index import mentioning
from codemods.source.members import decorator_name, function_at
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Definition, Source
from codemods.source.scopes import Scope
from codemods.transforms.rename_report import note, stop

_NAMES = (b"__name__", b"__qualname__")
# Modules whose decorators do not look at a name, or only to show it.
_PLAIN = frozenset({"functools", "dataclasses", "contextlib", "typing", "typing_extensions", "abc", "enum", "torch"})
_BUILTIN = frozenset({"staticmethod", "classmethod", "property"})


def by_name(files: FileSet, source: Source, node: ast.AST, old: str, new: str) -> Iterator[Hazard]:
    """Hazards of giving a module-level definition another name. node: the definition, or the name that is assigned."""
    scope = table(source).module
    yield from _read(source, old, new)
    for name in ("__getattr__", "__dir__"):
        if name in (old, new):
            message = f"Python itself looks up {name} in a module"
            yield stop("U104", source, source.start(node), message, "choose another name")
    if isinstance(node, ast.ClassDef):
        message = f"objects of {old} that were pickled before can't be loaded under the new name"
        yield note("U110", source, source.start(node), message, f"keep `{old} = {new}` where old pickles are loaded")
        yield from _registered(files, source, node, scope, old)
    if isinstance(node, DEFINITIONS):
        yield from decorated(files, source, node, scope, old)
        yield from _collected(source, node, old, new)
    else:
        yield from _named_by_text(source, node, old)


def _read(source: Source, old: str, new: str) -> Iterator[Hazard]:
    for occurrence in table(source).named(old):
        above = source.parents.get(occurrence.node)
        if isinstance(above, ast.Attribute) and above.attr.encode() in _NAMES:
            message = f"{old}.{above.attr} is read here and comes to {new} now"
            yield stop("U110", source, occurrence.start, message, "accept U110 when only messages show it")


def decorated(files: FileSet, source: Source, node: Definition, scope: Scope, old: str) -> Iterator[Hazard]:
    """Decorators that may go by the name of what they decorate. scope: where the definition stands."""
    for decorator in node.decorator_list:
        name = decorator_name(files, source, decorator, scope)
        at = source.start(decorator)
        keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
        if name.rpartition(".")[2] == "fixture" and not any(each.arg == "name" for each in keywords):
            users = [path for path in mentioning(files, old) if path != source.path]
            message = f"{old} is a fixture, which tests ask for by its name ({len(users)} other files mention it)"
            yield stop("U119", source, source.start(node), message, f'give it `name="{old}"` first')
            continue
        if name in _BUILTIN or name.partition(".")[0] in _PLAIN or name.rpartition(".")[2] in {"setter", "getter"}:
            continue
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        home = resolve_dotted(files, source, called, scope)
        found = function_at(files, home) if home is not None else None
        if found is None:
            message = f"the decorator {name} gets {old} and may go by its name"
            yield note("U112", source, at, message, "check what the decorator does with the name")
        elif _asks_for_name(found[0], found[1]):
            message = f"the decorator {name} reads the name of what it decorates"
            yield stop("U110", source, at, message, "check who uses that name, then accept U110")


def _asks_for_name(source: Source, node: ast.AST) -> bool:
    """Whether a function reads a name, other than to hand it on with `wraps`."""
    return any(name in source.segment(node) for name in _NAMES)


def _registered(files: FileSet, source: Source, node: ast.ClassDef, scope: Scope, old: str) -> Iterator[Hazard]:
    for each in mro(files, key_of(files, source, node, scope)).classes:
        located = class_at(files, each) if defines(files, each, "__init_subclass__") else None
        if located is None:
            continue
        hooks = [item for item in located[1].body if isinstance(item, FUNCTIONS) and item.name == "__init_subclass__"]
        if any(_asks_for_name(located[0], hook) for hook in hooks):
            message = f"__init_subclass__ of {each.name} reads the name of {old}"
            yield stop("U110", source, source.start(node), message, "check who uses that name, then accept U110")


def _named_by_text(source: Source, node: ast.AST, old: str) -> Iterator[Hazard]:
    """`Point = namedtuple("Point", …)`: the object keeps the name it was given."""
    statement = source.parents.get(node)
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, ast.Call) and value.args:
        first = value.args[0]
        if isinstance(first, ast.Constant) and first.value == old:
            message = f"the object goes on calling itself {old}, and pickles find it by that"
            yield note("U110", source, source.start(first), message, "change the text by hand where that matters")


def _collected(source: Source, node: Definition, old: str, new: str) -> Iterator[Hazard]:
    base = posixpath.basename(source.path)
    if not (base.startswith("test") or base.endswith("_test.py")):
        return
    prefix = "Test" if isinstance(node, ast.ClassDef) else "test"
    if old.startswith(prefix) != new.startswith(prefix):
        message = f"pytest collects names that start with {prefix}"
        yield stop("U119", source, source.start(node), message, "choose a name that is collected as before")
