"""Two trees and what differs between them: the input of everything in this package."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from codemods.schema.result import FileChange
from codemods.schema.verdict import Problem
from codemods.source.files import FileSet
from codemods.verify.line_diff import Hunk, changed_lines, split_lines


class Opaque(Struct, frozen=True, kw_only=True):
    """A changed path that is not compared line by line: a link, a submodule, a binary or a huge file.

    what: in words, for the residue. old_lines, new_lines: how many changed lines it counts for, as git counts a link
    (one a side); 0 on a side where it is not."""

    path: str
    what: str
    old_lines: int
    new_lines: int


class TreeChange(Struct, frozen=True, kw_only=True):
    """`changes`: every text file whose bytes differ, was added or was removed, sorted by path; renames are not paired.
    `opaque`: every other path that differs. `problems`: what is not in any line, such as a mode that changed."""

    old: FileSet
    new: FileSet
    changes: tuple[FileChange, ...]
    opaque: tuple[Opaque, ...] = ()
    problems: tuple[Problem, ...] = ()


def hunks_of(change: TreeChange, file: FileChange) -> list[Hunk]:
    """Where the lines of a changed file differ; found once and kept."""
    kept = change.new.notes.setdefault("hunks", {})
    assert isinstance(kept, dict)
    known: tuple[FileChange, list[Hunk]] | None = kept.get(file.path)
    if known is None or known[0] is not file:
        found = changed_lines(split_lines(file.before or b""), split_lines(file.after or b""))
        known = kept[file.path] = (file, found)
    return known[1]


def between(old: FileSet, new: FileSet) -> TreeChange:
    """The change from one tree to another by reading both. Trees of a repository know better: see repo/."""
    found = []
    for path in sorted({*old.paths(), *new.paths()}):
        before = old.read(path) if path in old else None
        after = new.read(path) if path in new else None
        if before != after:
            found.append(FileChange(path=path, before=before, after=after))
    problems = tuple(empty_files(found, old))
    return TreeChange(old=old, new=new, changes=tuple(found), problems=problems)


def empty_files(changes: Iterable[FileChange], old: FileSet) -> list[Problem]:
    """An empty file has no line and can still be imported, or hide a module of its name. The first file of a package is
    expected; any other that comes or goes is said."""
    found = []
    for change in changes:
        if not change.path.endswith((".py", ".pyi")) or (change.before or change.after):
            continue
        directory, _, name = change.path.rpartition("/")
        is_new_package = name == "__init__.py" and not any(
            (path.startswith(f"{directory}/") and path.endswith(".py")) or path == f"{directory}.py"
            for path in old.paths()
        )
        if change.before is None and is_new_package:
            continue
        what = "came" if change.before is None else "went"
        found.append(Problem(change.path, 1, "empty-file", f"an empty module {what}, which no line shows"))
    return found
