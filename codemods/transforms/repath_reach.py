"""Who reads a name through a module when the code runs: the code that a patch of `module.name` reaches.

An import at module level has read the name once and for all; it is not among them."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import imports_of, resolve_dotted
from codemods.source.index import mentioning
from codemods.source.mentions import attributes
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.readers import takes
from codemods.source.receivers import scope_at
from codemods.source.scopes import Role
from codemods.source.string_use import callee


class Reader(Struct, frozen=True):
    path: str
    line: int
    start: int


def readers_of(files: FileSet, module: str, name: str) -> list[Reader]:
    """Every read of `module.name` at run time: bare in the module itself, as `module.name`, by an import in a function.

    A read below module level only; what runs at import is done before anyone can patch."""
    path = modules_of(files).path_of(module)
    if path is None:
        return []
    found = _bare(load(files, path), name)
    for other in mentioning(files, module.rpartition(".")[2], name):
        if other != path and not takes(files, path, other, name):
            continue
        found.extend(_through(files, load(files, other), module, name))
    return sorted(set(found), key=lambda each: (each.path, each.start))


def _bare(source: Source, name: str) -> list[Reader]:
    scopes = table(source)
    return [
        Reader(source.path, source.text.line_of(each.start), each.start)
        for each in scopes.named(name)
        if each.role is Role.LOAD
        and not each.deferred
        and not each.in_annotation
        and each.scope is not scopes.module
        and scopes.resolve(each) is scopes.module
    ]


def _through(files: FileSet, source: Source, module: str, name: str) -> list[Reader]:
    found: list[Reader] = []
    modules = modules_of(files)
    for mention in attributes(source.text, source.tree, name):
        if _is_patched(source, mention.node):
            continue
        base = resolve_dotted(files, source, mention.node.value, scope_at(source, mention.node))
        if base is not None and (base.module, base.name) == (module, "") and isinstance(mention.node.ctx, ast.Load):
            start = source.start(mention.node)
            found.append(Reader(source.path, source.text.line_of(start), start))
    for each in imports_of(files, source):
        holder = modules.path_of(each.module, near=source.path)
        is_ours = each.attribute == name and holder is not None and modules.module_of(holder) == module
        if is_ours and not each.at_module_level:
            start = source.start(each.statement)
            found.append(Reader(source.path, each.statement.lineno, start))
    return found


def _is_patched(source: Source, node: ast.expr) -> bool:
    """`monkeypatch.setattr(src.time, …)`: named to be patched, not to be used."""
    call = source.parents.get(node)
    if not isinstance(call, ast.Call) or not call.args or call.args[0] is not node:
        return False
    return callee(call)[-1:] in (["setattr"], ["delattr"], ["object"], ["multiple"], ["spy"])


def binds(files: FileSet, module: str, name: str) -> bool:
    """Whether `module.name` is there to be patched."""
    path = modules_of(files).path_of(module)
    return path is not None and name in module_facts(files, path).bound
