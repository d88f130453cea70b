"""Which imports of a file can go once a definition has left it, and the edits that take them out.

An import stays when anything still reads it: the file, another file through this module, a string, a star import; when
it is a probe, one arm of several, a fixture or marked as a re-export; when only it makes a module with effects run."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
from collections.abc import Iterable

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import Import, imports_of
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import FUNCTIONS, Source, load
from codemods.source.readers import reader_through
from codemods.source.scopes import Role
from codemods.source.splice import Edit, apply_edits

_MARKED = re.compile(rb"#.*(noqa|pylint|re-?export|isort: *skip)", re.IGNORECASE)


class Dropped(Struct, frozen=True):
    """The files without the imports that could go, and why others stayed."""

    files: FileSet
    hazards: tuple[Hazard, ...] = ()
    dropped: tuple[str, ...] = ()


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
    if not going:
        return Dropped(files, tuple(hazards))
    edits, lost = removal(source, going)
    hazards.extend(lost)
    body = apply_edits(source.body, edits)
    return Dropped(files.write(path, source.text.encode(body)), tuple(hazards), tuple(each.name for each in going))


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
    """The one plain import of a name that nothing in its own file reads; None when it has to stay."""
    module = table(source).module
    bound = module.bound.get(name, [])
    found = [each for each in imports_of(files, source) if each.name == name and each.at_module_level]
    if len(found) != 1 or len(bound) != 1 or not found[0].is_plain:
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
    return name in _named_by_text(source)


def _named_by_text(source: Source) -> frozenset[str]:
    """Names that strings spell (__all__, globals()["name"]) and, in tests, that a parameter asks a fixture for."""
    kept = source.notes.get("named by text")
    if not isinstance(kept, frozenset):
        found: set[str] = set()
        is_test = _is_test(source.path)
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif is_test and isinstance(node, FUNCTIONS):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                found.update(argument.arg for argument in arguments)
        kept = source.notes["named by text"] = frozenset(found)
    return kept


def _is_test(path: str) -> bool:
    base = posixpath.basename(path)
    return base.startswith("test_") or base.endswith("_test.py") or "tests/" in path or "test/" in path


def _runs_only_here(files: FileSet, source: Source, found: Import, going: list[Import]) -> bool:
    """Whether dropping the import could leave its module unimported although importing it may do something."""
    if found.module.partition(".")[0] in sys.stdlib_module_names:
        return False
    modules = modules_of(files)
    gone = {each.alias for each in (*going, found)}
    wanted = _loaded_by(modules, source.path, found)
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


def removal(source: Source, going: list[Import]) -> tuple[list[Edit], list[Hazard]]:
    """Edits that take the names out of their statements, and a note for each comment that goes with them."""
    by_statement: dict[ast.Import | ast.ImportFrom, set[ast.alias]] = {}
    for found in going:
        by_statement.setdefault(found.statement, set()).add(found.alias)
    edits: list[Edit] = []
    hazards: list[Hazard] = []
    for statement, aliases in by_statement.items():
        is_whole = len(aliases) == len(statement.names)
        edit = _whole(source, statement) if is_whole else _some(source, statement, aliases)
        removed = source.body[edit.start : edit.end]
        comments = [
            line for line in removed.splitlines() if b"#" in line and line.split(b"#")[1].strip() not in edit.text
        ]
        for line in comments:
            comment = line[line.index(b"#") :].decode("utf-8", "replace")
            hazards.append(
                Hazard(
                    code="U109",
                    severity=Severity.NOTE,
                    path=source.path,
                    line=statement.lineno,
                    message=f"the comment {comment!r} goes with the import it stood on",
                    settle="move the comment by hand if it still says something",
                )
            )
        edits.append(edit)
    return edits, hazards


def _whole(source: Source, statement: ast.stmt) -> Edit:
    text = source.text
    start, end = text.line_start(source.start(statement)), text.line_end(source.end(statement) - 1)
    before = source.body[start : source.start(statement)]
    after = source.body[source.end(statement) : end]
    if before.strip() or after.lstrip().startswith(b";"):  # shares its line with another statement
        tail = source.end(statement)
        while source.body[tail : tail + 1] in (b" ", b"\t", b";"):
            tail += 1
        is_last = source.body[tail : tail + 1] in (b"", b"\n", b"\r", b"#")
        head = source.start(statement)
        if is_last and before.strip():
            head -= len(before) - len(before.rstrip(b" \t;"))
        return Edit(head, source.end(statement) if is_last else tail, b"")
    first_blank = start
    while first_blank > 0 and not source.body[text.line_start(first_blank - 1) : first_blank].strip():
        first_blank = text.line_start(first_blank - 1)
    next_is_blank = not source.body[end : text.line_end(end)].strip() if end < len(source.body) else True
    if next_is_blank and first_blank == 0:
        while end < len(source.body) and not source.body[end : text.line_end(end)].strip():
            end = text.line_end(end)
    return Edit(first_blank if next_is_blank else start, end, b"")


def _some(source: Source, statement: ast.Import | ast.ImportFrom, aliases: set[ast.alias]) -> Edit:
    """Names out of a list: whole lines where each name has its own, else the list up to the neighbour."""
    text = source.text
    kept = [alias for alias in statement.names if alias not in aliases]
    lines = [alias.lineno for alias in statement.names]
    if statement.lineno != statement.end_lineno and len(set(lines)) == len(lines) and statement.lineno not in lines:
        start, end = text.line_start(source.start(statement.names[0])), text.line_end(source.end(statement.names[-1]))
        out = bytearray()
        at = start
        for alias in statement.names:
            after = text.line_end(source.end(alias) - 1)
            if alias in aliases:
                own = text.line_start(source.start(alias))
                out += source.body[at:own]  # comment lines above the name stay
            else:
                out += source.body[at:after]
            at = after
        return Edit(start, end, bytes(out) + source.body[at:end])
    first, last = source.start(statement.names[0]), source.end(statement.names[-1])
    return Edit(first, last, b", ".join(source.segment(alias) for alias in kept))
