"""The tool's check of its own output: it parses, every name resolves as before, every import finds its name, nobody is
left reading what is gone. Looks only at files that differ; knows nothing of which transform made the difference."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from posixpath import commonprefix

from codemods.schema.errors import InternalError
from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import Import, imports_of
from codemods.source.index import PYTHON_SUFFIXES
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import Source, Unparsable, load
from codemods.source.readers import lost_reader
from codemods.source.scopes import BUILTINS, Occurrence, Role, ScopeKind, is_unresolved


class BrokenOutput(InternalError):
    """An operation made something that its own check refuses. Nothing was written."""

    code = "broken-output"


def check_output(before: FileSet, after: FileSet) -> list[Hazard]:
    """Hazards (U119) for readers left behind. Raises BrokenOutput where the output itself is wrong."""
    hazards: list[Hazard] = []
    changes = [each for each in after.changes_since(before) if each.path.endswith(PYTHON_SUFFIXES)]
    gone = [each.path for each in changes if each.after is None]
    for change in changes:
        if change.after is None:
            continue
        new = _parsed(after, change.path)
        earlier = change.path if change.before is not None else _earlier(change.path, gone)
        old = load(before, earlier) if earlier else None
        _check_names(old, new)
        _check_imports(before, after, old, new)
        if change.before is not None:
            hazards.extend(_left_behind(before, after, change.path))
    return hazards


def _broken(path: str, line: int, message: str) -> BrokenOutput:
    return BrokenOutput(message, path=path, line=line, fix="report this plan as a bug of unmoved; nothing was written")


def _parsed(after: FileSet, path: str) -> Source:
    try:
        return load(after, path)
    except Unparsable as error:
        raise _broken(path, error.line, f"the result does not parse: {error.message}") from error


def unresolved(source: Source) -> Counter[str]:
    """Names that are read and that nothing binds."""
    kept = source.notes.get("unresolved")
    if not isinstance(kept, Counter):
        kept = source.notes["unresolved"] = Counter(occurrence.name for occurrence in _unbound(source))
    return kept


def _unbound(source: Source) -> Iterator[Occurrence]:
    scopes = table(source)
    lost: dict[tuple[int, str], bool] = {}  # what a name means depends on its scope only, except in a class body
    for occurrence in scopes.occurrences:
        name, scope = occurrence.name, occurrence.scope
        if occurrence.role is not Role.LOAD or name in BUILTINS or _is_text(occurrence.node):
            continue
        key = (id(scope), name)
        if key not in lost:
            lost[key] = is_unresolved(scope, name)
        is_early = scope.kind is ScopeKind.CLASS and scopes.resolve(occurrence) is None
        if lost[key] or (is_early and not scopes.module.has_star_import):
            yield occurrence


def _is_text(node: ast.AST) -> bool:
    """Inside a quoted annotation: text until somebody evaluates it."""
    return isinstance(node, ast.Constant)


def _earlier(path: str, gone: list[str]) -> str:
    """The file that a new one was before: of those that are gone, the one with the most similar path."""

    def likeness(other: str) -> tuple[int, int]:
        return len(commonprefix([path[::-1], other[::-1]])), len(commonprefix([path, other]))

    return max(gone, key=likeness, default="")


def _check_names(old: Source | None, new: Source) -> None:
    known = unresolved(old) if old is not None else Counter[str]()
    for name, count in unresolved(new).items():
        if count > known[name]:
            place = next(each for each in _unbound(new) if each.name == name)
            raise _broken(new.path, new.text.line_of(place.start), f"nothing binds {name} any more")


def _check_imports(before: FileSet, after: FileSet, old: Source | None, new: Source) -> None:
    """Every import of a name from a module of the tree that is new in the file finds that name there.

    A name that no module had before need not be there now: an import that was broken may be pointed elsewhere."""
    earlier = imports_of(before, old) if old is not None else []
    known = {(each.module, each.attribute) for each in earlier}
    for found in imports_of(after, new):
        if (found.module, found.attribute) in known or _is_there(after, new.path, found):
            continue
        same = [each for each in earlier if each.attribute == found.attribute]
        if old is None or all(_is_there(before, old.path, each) for each in same):
            raise _broken(new.path, found.statement.lineno, f"{found.module} has no {found.attribute} to import")


def _is_there(files: FileSet, near: str, found: Import) -> bool:
    """Whether the module that an import names has what it asks for. One that is not in the tree is taken to have it."""
    modules = modules_of(files)
    path = modules.path_of(found.module, near=near) if found.attribute not in ("", "*") else None
    if path is None:
        return True
    facts = module_facts(files, path)
    if found.attribute in facts.bound or facts.stars or "__getattr__" in facts.bound:
        return True
    return modules.path_of(f"{found.module}.{found.attribute}", near=near) is not None


def _left_behind(before: FileSet, after: FileSet, path: str) -> list[Hazard]:
    """Module-level names that are gone from a file and still read through it."""
    old, new = module_facts(before, path), module_facts(after, path)
    gone = sorted(old.bound - new.bound)
    if not gone or new.stars:
        return []
    found: list[Hazard] = []
    module = modules_of(after).module_of(path)
    for name in gone:
        reader = lost_reader(after, path, name)
        if reader:
            other, _, line = reader.rpartition(":")
            found.append(
                Hazard(
                    code="U119",
                    severity=Severity.STOP,
                    path=other,
                    line=int(line),
                    message=f"{name} is read here through {module}, which no longer has it",
                    settle=f"point this reader at the new home of {name}, or keep the name importable: reexport = true",
                )
            )
    return found
