"""Which imports of a file can go once a definition has left it.

An import stays when anything still reads it: the file, another file through this module, a string, a star import; when
it is a probe, one arm of several, a fixture or marked as a re-export; when only it makes a module with effects run."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterable

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_effects import has_effects
from codemods.source.imports import Import, imports_of
from codemods.source.modules import Modules, modules_of
from codemods.source.names_in_text import names_in_text
from codemods.source.parse import Source, load
from codemods.source.readers import reader_through
from codemods.source.scopes import Role, Scope, chain
from codemods.source.splice import apply_edits
from codemods.transforms.import_removal import removal

__all__ = ["Dropped", "ImportKey", "drop_named", "drop_unused", "import_key", "removal"]

_MARKED = re.compile(
    rb"#.*(noqa(?!:)|noqa:[^#]*\bF4|unused-import|re-?export|isort: *skip|\bkeep\b|side.?effect|regist)", re.IGNORECASE
)


class Dropped(Struct, frozen=True):
    """The files without the imports that could go, and why others stayed."""

    files: FileSet
    hazards: tuple[Hazard, ...] = ()
    dropped: tuple[str, ...] = ()


class ImportKey(Struct, frozen=True):
    """One import of a file, found again after other edits: the functions and classes around it, and what it says."""

    around: tuple[str, ...]
    module: str
    attribute: str
    name: str
    for_types: bool = False


def import_key(found: Import) -> ImportKey:
    """The key of an import."""
    return ImportKey(_around(found.scope), found.module, found.attribute, found.name, found.type_checking_only)


def _around(scope: Scope) -> tuple[str, ...]:
    return tuple(getattr(each.node, "name", "") for each in chain(scope))


def drop_named(files: FileSet, path: str, keys: Iterable[ImportKey]) -> Dropped:
    """Remove the imports that the keys name, whatever reads them."""
    source = load(files, path)
    wanted = set(keys)
    going = [found for found in imports_of(files, source) if import_key(found) in wanted]
    return _without(files, source, going, [])


def drop_unused(files: FileSet, path: str, names: Iterable[str], *, drop_effects: bool = False) -> Dropped:
    """Remove the module-level imports of `names` from a file where nothing reads them any more.

    drop_effects: the plan accepts that a module may no longer be imported (U109)."""
    source = load(files, path)
    hazards: list[Hazard] = []
    going: list[Import] = []
    for name in dict.fromkeys(names):
        found = _removable(files, source, name)
        if found is None:
            continue
        reader = reader_through(files, path, name)
        if reader:
            hazards.append(
                _kept(source, found, "U119", f"{name} stays imported: {reader} reads it through this module")
            )
        elif not drop_effects and _runs_only_here(files, source, found, going):
            why = f"{name} stays imported: nothing else here imports {found.module}, and importing it may have effects"
            hazards.append(_kept(source, found, "U109", why))
        else:
            going.append(found)
    dropped = _without(files, source, going, hazards)
    if any(each.type_checking_only for each in going):
        rest = drop_unused(dropped.files, path, ("TYPE_CHECKING", "typing"))
        return Dropped(rest.files, (*dropped.hazards, *rest.hazards), (*dropped.dropped, *rest.dropped))
    return dropped


def _without(files: FileSet, source: Source, going: list[Import], hazards: list[Hazard]) -> Dropped:
    if not going:
        return Dropped(files, tuple(hazards))
    edits, lost = removal(source, going)
    body = apply_edits(source.body, edits)
    changed = files.write(source.path, source.text.encode(body))
    return Dropped(changed, (*hazards, *lost), tuple(each.name for each in going))


def _kept(source: Source, found: Import, code: str, message: str) -> Hazard:
    return Hazard(
        code=code,
        severity=Severity.NOTE,
        path=source.path,
        line=found.statement.lineno,
        message=message,
        settle=f"accept {code} to drop the import" if code == "U109" else "point the reader at the name's home first",
    )


def _removable(files: FileSet, source: Source, name: str) -> Import | None:
    """The one import of a name that nothing in its own file reads; None when it has to stay."""
    module = table(source).module
    bound = module.bound.get(name, [])
    found = [each for each in imports_of(files, source) if each.name == name and each.at_module_level]
    if len(found) != 1 or len(bound) != 1 or found[0].guards not in ((), ("type-checking",)):
        return None  # bound in several arms or by a probe: one group, all stay
    only = found[0]
    if posixpath.basename(source.path).startswith(("__init__.", "conftest.")):
        return None
    if only.alias.asname == only.alias.name or _is_marked(source, only) or _is_read(source, name):
        return None
    return only


def _is_marked(source: Source, found: Import) -> bool:
    lines = {found.alias.lineno, found.statement.lineno, found.statement.end_lineno or found.statement.lineno}
    return any(_MARKED.search(source.text.line_text(line)) for line in lines)


def _is_read(source: Source, name: str) -> bool:
    scopes = table(source)
    for occurrence in scopes.named(name):
        if occurrence.role is not Role.IMPORT and scopes.resolve(occurrence) is scopes.module:
            return True
    return name in names_in_text(source)


def _runs_only_here(files: FileSet, source: Source, found: Import, going: list[Import]) -> bool:
    """Whether dropping the import could leave its module unimported although importing it may do something."""
    modules = modules_of(files)
    wanted = _loaded_by(modules, source.path, found)
    paths = [modules.path_of(name, near=source.path) for name in wanted]
    if found.type_checking_only or (found.module.partition(".")[0] in sys.stdlib_module_names and not any(paths)):
        return False
    if any(paths) and not any(path is not None and has_effects(files, path) for path in paths):
        return False
    gone = {each.alias for each in (*going, found)}
    staying = [each for each in imports_of(files, source) if each.is_plain and each.alias not in gone]
    for other in staying:
        loaded = _loaded_by(modules, source.path, other)
        if wanted & loaded or any(name.startswith(found.module + ".") for name in loaded):
            return False
    for other in staying:  # one step further: what the modules that stay import themselves
        for name in _loaded_by(modules, source.path, other):
            path = modules.path_of(name, near=source.path)
            if path is None or not _mentions(files.read(path), found.module):
                continue
            inner = [each for each in imports_of(files, load(files, path)) if each.is_plain]
            if any(wanted & _loaded_by(modules, path, each) for each in inner):
                return False
    return True


def _mentions(raw: bytes, module: str) -> bool:
    return module.rpartition(".")[2].encode() in raw


def _loaded_by(modules: Modules, path: str, found: Import) -> set[str]:
    """Dotted names of the modules that an import surely runs."""
    names = {found.module}
    if found.attribute and modules.path_of(f"{found.module}.{found.attribute}", near=path):
        names.add(f"{found.module}.{found.attribute}")
    return names
