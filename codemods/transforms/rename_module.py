"""A module or package under another dotted name: its files move, imports and strings in the whole tree follow.

What import statements need is rename_imports.py's. Names in packaging files and paths that may mean something else are
reported; what a loader outside of the tree does is not seen."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from typing import Literal

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import imports_of
from codemods.source.index import DOCUMENT_SUFFIXES, mentioning
from codemods.source.locate import module_path
from codemods.source.modules import modules_of
from codemods.source.parse import load
from codemods.source.scopes import Role
from codemods.source.splice import Edit
from codemods.source.strings import StringMention, mentions
from codemods.transforms.rename_computed import computed_names
from codemods.transforms.rename_imports import ModuleUses, NewName
from codemods.transforms.rename_report import Edits, hazard, refusal, shortened
from codemods.transforms.rename_strings import Rewritten, left_behind
from codemods.transforms.transform import Planned, refused

_PYTHON = (".py", ".pyi")
_OWN_LOGGER = re.compile(rb"getLogger\(\s*__name__\s*\)")


def plan_module(files: FileSet, definition: str, to: str, strings: Literal["rewrite", "keep"]) -> Planned:
    """The plan for one module; `to` is known to be a dotted name. Raises UnknownModule, Unparsable."""
    found = _new_name(files, definition, to)
    if isinstance(found, Refusal):
        return refused(found)
    problems = list(_taken(files, found))
    uses = ModuleUses(files, found)
    edits = Edits(files)
    for path in _candidates(files, found):
        needed = uses.of(path)
        edits.add(needed.source, needed.edits)
        problems.extend(needed.problems)
    if problems:
        return refused(*dict.fromkeys(problems))
    text = _strings(files, edits, uses, found, strings)
    hazards = [*text.hazards, *computed_names(files, found), *_loose_text(files, edits, found)]
    hazards.extend(_own_names(files, found))
    after = edits.applied()
    for path, new_path in found.paths.items():
        after = after.write(new_path, after.read(path)).delete(path)
    return Planned(files=after, hazards=tuple(shortened(hazards)), findings=text.findings)


def _new_name(files: FileSet, definition: str, to: str) -> NewName | Refusal:
    modules = modules_of(files)
    if modules.path_of(definition) is None and modules.is_package_directory(definition):
        inner = definition.replace(".", "/")
        roots = [
            root for root in modules.roots if any(_is_in(path, posixpath.join(root, inner)) for path in files.paths())
        ]
        old, base = definition, posixpath.join(roots[0], inner)
    else:
        path = module_path(files, definition)
        old = modules.module_of(path)
        if not definition.endswith(".py") and definition != old:
            message = (
                f"{path} is {definition} and {old} at once, because {path.partition('/')[0]} is an import root too"
            )
            return refusal("two-names", path, 0, message, "say which one with source-roots in [tool.unmoved]")
        base = posixpath.dirname(path) if posixpath.basename(path).startswith("__init__.") else path.rpartition(".")[0]
    if not old or old == to:
        return refusal("bad-name", base, 0, f"{definition} can't be renamed to {to}", "name a module below a root")
    if f"{to}.".startswith(f"{old}."):
        return refusal("bad-name", base, 0, f"{to} would be inside of {old}", "choose a place outside of it")
    if to.rpartition(".")[0] == old.rpartition(".")[0]:
        new_base = posixpath.join(posixpath.dirname(base), to.rpartition(".")[2])
    else:
        place = modules.new_path_of(to)
        if place is None:
            message = f"there is no package {to.rpartition('.')[0]} to put {to} into"
            return refusal("unknown-package", base, 0, message, "create the package first, or name another place")
        new_base = place.rpartition(".")[0]
    paths = {
        path: new_base + path[len(base) :]
        for path in files.paths()
        if _is_in(path, base) or path in (f"{base}.py", f"{base}.pyi")
    }
    return NewName(old, to, paths)


def _is_in(path: str, directory: str) -> bool:
    return path.startswith(f"{directory}/")


def _candidates(files: FileSet, moved: NewName) -> list[str]:
    """Files that may import the module, and those that move to another package with their relative imports."""
    found = {path for path in mentioning(files, moved.leaf) if _may_reach(files.read(path), moved.leaf)}
    if not moved.stays_in_package:
        found.update(path for path in moved.paths if path.endswith(_PYTHON))
    return sorted(found)


def _may_reach(raw: bytes, leaf: str) -> bool:
    """Whether the word stands in an import, or as an attribute of something that is imported."""
    word = re.escape(leaf.encode())
    if re.search(rb"\b(?:from|import)\b[^\n]*\b" + word + rb"\b|^[ \t]+" + word + rb"\b[^.(=\n]*$", raw, re.MULTILINE):
        return True
    before = set(re.findall(rb"\b(\w+)\s*\.\s*" + word + rb"\b", raw)) - {b"self", b"cls"}
    return any(
        re.search(rb"\bimport\b[^\n]*\b" + each + rb"\b|^[ \t]+" + each + rb"\b[^.(=\n]*$", raw, re.MULTILINE)
        for each in before
    )


# -- what is in the way


def _taken(files: FileSet, moved: NewName) -> Iterator[Refusal]:
    modules = modules_of(files)
    for path, new_path in moved.paths.items():
        if new_path in files:
            yield refusal("module-exists", path, 0, f"{new_path} exists already", "choose another name")
    if modules.path_of(moved.new) is not None or modules.is_package_directory(moved.new):
        yield refusal("module-exists", "", 0, f"there is a module {moved.new} already", "choose another name")
    parent, _, leaf = moved.new.rpartition(".")
    if not parent:
        yield from _captures(files, moved, leaf)
        return
    package = modules.path_of(parent)
    if package is not None and package not in moved.paths:
        bound = table(load(files, package)).module.bound.get(leaf, [])
        if any(each.role is not Role.IMPORT for each in bound):
            message = f"{parent} has something else called {leaf}"
            yield refusal("U107", package, 0, message, "choose another name")


def _captures(files: FileSet, moved: NewName, leaf: str) -> Iterator[Refusal]:
    """A top-level name that somebody imports from outside of the tree would be found in the tree."""
    first = next(iter(moved.paths), "")
    if leaf in sys.stdlib_module_names:
        message = f"{leaf} is a module of the standard library"
        yield refusal("U107", first, 0, message, "choose another name")
        return
    modules = modules_of(files)
    for path in mentioning(files, leaf):
        for each in imports_of(files, load(files, path)):
            is_outside = modules.path_of(leaf, near=path) is None
            if each.module.partition(".")[0] == leaf and is_outside:
                message = f"this imports another {leaf}, which the renamed module would hide"
                yield refusal("U107", path, each.statement.lineno, message, "choose another name")
                return


# -- strings


def _strings(
    files: FileSet, edits: Edits, uses: ModuleUses, moved: NewName, mode: Literal["rewrite", "keep"]
) -> Rewritten:
    hazards: list[Hazard] = []
    is_logging = any(_OWN_LOGGER.search(files.read(path)) for path in moved.paths if path.endswith(_PYTHON))
    for each in mentions(files, moved.old, ""):
        holder = modules_of(files).module_of(each.path) if each.kind == "dunder-all" else each.holder
        is_direct = holder in ("", moved.parent)
        if not is_direct and not uses.carries(holder):
            continue
        edit = _rewritten(each, moved, is_direct=is_direct)
        follows = each.kind != "logger" or is_logging
        is_wanted = mode == "rewrite" or each.kind == "dunder-all"
        if each.is_sure and edit is not None and is_wanted and follows:
            edits.add_to(each.path, [edit])
        elif not edits.touches(each.path, each.start, each.end):
            hazards.append(left_behind(each, f"{moved.old}, which is now {moved.new}", mode=mode))
    return Rewritten(tuple(hazards), ())


def _rewritten(each: StringMention, moved: NewName, *, is_direct: bool) -> Edit | None:
    if moved.stays_in_package or not is_direct:
        return Edit(*each.name_span, moved.new_leaf.encode()) if each.name_span and each.name == moved.leaf else None
    return Edit(each.start, each.end, moved.new.encode()) if each.is_verbatim and each.text == moved.old else None


def _loose_text(files: FileSet, edits: Edits, moved: NewName) -> Iterator[Hazard]:
    """Paths of the files, and the bare name in packaging files: whether these follow is for a person to say."""
    inner = moved.old.replace(".", "/")
    as_path = re.compile(rb"(?<![\w./-])(?:[\w.-]+/)*" + re.escape(inner.encode()) + rb"(?:/|\.pyi?\b)")
    word = re.escape(moved.old.encode())
    bare = re.compile(rb"['\"]" + word + rb"['\"]|^packages\s*=.*\b" + word + rb"\b", re.MULTILINE)
    for path in mentioning(files, moved.leaf, suffixes=(*DOCUMENT_SUFFIXES, *_PYTHON)):
        raw = files.read(path)
        patterns = [as_path]
        if not moved.parent and (path.endswith((".toml", ".cfg")) or posixpath.basename(path) == "setup.py"):
            patterns.append(bare)
        for pattern in patterns:
            for match in pattern.finditer(raw):
                if edits.touches(path, match.start(), match.end()):
                    continue
                line = raw.count(b"\n", 0, match.start()) + 1
                text = match.group().decode("utf-8", "replace")
                message = f"{text} may mean {moved.old}, which has another name now"
                settle = "change it by hand where it does, or accept U111"
                yield hazard("U111", Severity.NOTE, path, line, message, settle)


def _own_names(files: FileSet, moved: NewName) -> Iterator[Hazard]:
    """What a module makes of its own name."""
    for path in sorted(moved.paths):
        if path.endswith(_PYTHON) and re.search(rb"\b__name__\b(?!\s*==\s*['\"]__main__)", files.read(path)):
            module = modules_of(files).module_of(path)
            message = f"__name__ of {module} is {moved.of(module)} now: loggers and whatever else is named after it"
            yield hazard("U110", Severity.NOTE, path, 0, message, "check what is configured or stored by the old name")
        if path.endswith(".py") and re.search(rb"^class\s", files.read(path), re.MULTILINE):
            message = "objects of its classes that were pickled before can't be loaded under the new name"
            yield hazard("U110", Severity.NOTE, path, 0, message, "keep a module of the old name where that matters")
