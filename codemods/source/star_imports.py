"""Which names `from module import *` brings into a file, and who imports everything from a file. Reads only."""

from __future__ import annotations

from codemods.source.binder import table
from codemods.source.exports import exports_of, has_exports
from codemods.source.files import FileSet
from codemods.source.imports import imports_of
from codemods.source.index import mentioning
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load


def star_modules(files: FileSet, source: Source) -> list[tuple[str, str]]:
    """Each module that the file imports everything from at module level, with its path ("" outside the tree)."""
    modules = modules_of(files)
    stars = [each for each in imports_of(files, source) if each.attribute == "*" and each.at_module_level]
    return [(each.module, modules.path_of(each.module, near=source.path) or "") for each in stars]


def star_bringing(files: FileSet, source: Source, name: str) -> str:
    """The module of the tree whose star import brings the name into the file, or may bring it; "" when none does."""
    for module, path in star_modules(files, source):
        if path and _gives(files, path, name, frozenset()):
            return module
    return ""


def overriding_star(files: FileSet, source: Source, name: str) -> str:
    """The module of the tree whose star import has the last word about a name; "" when an own binding has it."""
    star = star_bringing(files, source, name)
    if not star:
        return ""
    bound = table(source).module.bound.get(name, [])
    places = [
        source.start(each.statement)
        for each in imports_of(files, source)
        if each.attribute == "*" and each.module == star and each.at_module_level
    ]
    return star if max(places) > max((each.start for each in bound), default=-1) else ""


def unknown_star(files: FileSet, source: Source) -> str:
    """A module outside the tree that the file imports everything from; what it brings is not known."""
    return next((module for module, path in star_modules(files, source) if not path), "")


def _gives(files: FileSet, path: str, name: str, seen: frozenset[str]) -> bool:
    """Whether a star import of the file at `path` binds the name; an unknown module further on may."""
    source = load(files, path)
    if has_exports(source):
        return any(export.name == name for export in exports_of(source))
    if name.startswith("_"):
        return False
    if name in module_facts(files, path).bound:
        return True
    further = [other for _, other in star_modules(files, source)]
    return any(not other or _gives(files, other, name, seen | {path}) for other in further if other not in seen)


def star_readers(files: FileSet, path: str) -> list[Source]:
    """The files that import everything from the file at `path`."""
    modules = modules_of(files)
    found = []
    for other in mentioning(files, modules.module_of(path).rpartition(".")[2]):
        if other != path and b"import *" in files.read(other):
            reader = load(files, other)
            if any(star == path for _, star in star_modules(files, reader)):
                found.append(reader)
    return found
