"""The tool's check of its own output: it parses, every name resolves as before, every import finds its name, nobody is
left reading what is gone. Looks only at files that differ; knows nothing of which transform made the difference."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from codemods.schema.errors import InternalError
from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import imports_of
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
    for change in after.changes_since(before):
        if not change.path.endswith(PYTHON_SUFFIXES):
            continue
        if change.after is None:
            continue
        new = _parsed(after, change.path)
        old = load(before, change.path) if change.before is not None else None
        _check_names(old, new)
        _check_imports(after, old, new)
        if old is not None:
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
    for occurrence in scopes.occurrences:
        is_read = occurrence.role is Role.LOAD and occurrence.name not in BUILTINS
        if not is_read or _is_text(occurrence.node):
            continue
        is_early = occurrence.scope.kind is ScopeKind.CLASS and scopes.resolve(occurrence) is None
        if is_unresolved(occurrence.scope, occurrence.name) or (is_early and not scopes.module.has_star_import):
            yield occurrence


def _is_text(node: ast.AST) -> bool:
    """Inside a quoted annotation: text until somebody evaluates it."""
    return isinstance(node, ast.Constant)


def _check_names(old: Source | None, new: Source) -> None:
    known = unresolved(old) if old is not None else Counter[str]()
    for name, count in unresolved(new).items():
        if count > known[name]:
            place = next(each for each in _unbound(new) if each.name == name)
            raise _broken(new.path, new.text.line_of(place.start), f"nothing binds {name} any more")


def _check_imports(after: FileSet, old: Source | None, new: Source) -> None:
    """Every import of a name from a module of the tree that is new in the file finds that name there."""
    modules = modules_of(after)
    known = {(each.module, each.attribute) for each in imports_of(after, old)} if old is not None else set()
    for found in imports_of(after, new):
        if not found.attribute or found.attribute == "*" or (found.module, found.attribute) in known:
            continue
        path = modules.path_of(found.module, near=new.path)
        if path is None:
            continue
        facts = module_facts(after, path)
        is_there = found.attribute in facts.bound or bool(facts.stars) or "__getattr__" in facts.bound
        if not is_there and modules.path_of(f"{found.module}.{found.attribute}", near=new.path) is None:
            raise _broken(new.path, found.statement.lineno, f"{found.module} has no {found.attribute} to import")


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
