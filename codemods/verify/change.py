"""Two trees and what differs between them: the input of everything in this package."""

from __future__ import annotations

from msgspec import Struct

from codemods.schema.result import FileChange
from codemods.source.files import FileSet


class TreeChange(Struct, frozen=True, kw_only=True):
    """`changes`: every file whose bytes differ, was added or was removed, sorted by path; renames are not paired."""

    old: FileSet
    new: FileSet
    changes: tuple[FileChange, ...]


def between(old: FileSet, new: FileSet) -> TreeChange:
    """The change from one tree to another by reading both. Trees of a repository know better: see repo/."""
    found = []
    for path in sorted({*old.paths(), *new.paths()}):
        before = old.read(path) if path in old else None
        after = new.read(path) if path in new else None
        if before != after:
            found.append(FileChange(path=path, before=before, after=after))
    return TreeChange(old=old, new=new, changes=tuple(found))
