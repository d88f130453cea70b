"""What a dotted path written as text names: `pkg.mod.Class.m`, `pkg.mod:func`, walked as an importer would walk it.

Every part is followed through imports and re-exports of the tree, so "user.time.sleep" is time.sleep when user imports
time. Attributes of objects are followed by name only."""

from __future__ import annotations

import re
from typing import cast

from msgspec import Struct

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.imports import origin
from codemods.source.modules import modules_of

PATH = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\s*:\s*[^\W\d]\w*(?:\.[^\W\d]\w*)*)?")
PARTS = re.compile(r"\w+")


class Named(Struct, frozen=True):
    """An object by its home; `qualname` is "" for the module itself. holder: the module whose attribute the path reads
    (it differs from `module` when that module only imports the object)."""

    module: str
    qualname: str
    holder: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.module, self.qualname


def walk(files: FileSet, text: str, *, near: str = "") -> tuple[Named, ...]:
    """What each part of the path names, in order; () when the first part is not a module of the tree.

    near: the file the text stands in, whose directory is searched first when it is a script's."""
    kept = cast("dict[tuple[str, str], tuple[Named, ...]]", files.notes.setdefault("dotted.walks", {}))
    key = (text, near.rpartition("/")[0])
    if key not in kept:
        kept[key] = tuple(_walk(files, PARTS.findall(text), near))
    return kept[key]


def _walk(files: FileSet, parts: list[str], near: str) -> list[Named]:
    modules = modules_of(files)
    path = modules.path_of(parts[0], near=near)
    if path is None and not modules.is_package_directory(parts[0]):
        return []
    at = Named(modules.module_of(path) if path is not None else parts[0], "")
    found = [at]
    for part in parts[1:]:
        at = _member(files, at, part)
        found.append(at)
    return found


def _member(files: FileSet, at: Named, part: str) -> Named:
    if at.qualname:
        return Named(at.module, f"{at.qualname}.{part}", at.holder)
    modules = modules_of(files)
    module = at.module
    if modules.path_of(module) is None:
        inner = f"{module}.{part}"
        is_module = modules.path_of(inner) is not None or modules.is_package_directory(inner)
        return Named(inner, "", module) if is_module else Named(module, part, module)
    try:
        home = origin(files, module, part)
    except SourceError:
        return Named(module, part, module)
    return Named(home.module, home.name, module)
