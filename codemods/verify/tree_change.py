"""From two trees, of a repository or of directories, to the change between them. What can't be compared line by line
(links, submodules, binary and huge files) becomes opaque, what is in no line (modes, empty files) a problem."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from codemods.repo.commit_files import CommitFiles
from codemods.repo.plain_tree import SPECIAL, PlainTree
from codemods.repo.store import LINK, MAX_BLOB_BYTES, SUBMODULE, Entry, ObjectStore
from codemods.repo.tree_diff import Difference, differences
from codemods.schema.config import Settings
from codemods.schema.errors import SourceError
from codemods.schema.result import FileChange
from codemods.schema.verdict import Problem
from codemods.source.files import FileSet
from codemods.source.modules import modules_of
from codemods.verify.change import Opaque, TreeChange, empty_files

# A commit with more text than this is an import of code, not an edit of it; the rest of its files is not read.
MAX_CHANGED_BYTES = 200_000_000
# git looks for a NUL byte in this much of a file to call it binary.
_BINARY_BYTES = 8000
_KINDS = {LINK: "a symbolic link", SUBMODULE: "a submodule", SPECIAL: "neither a file nor a directory"}

_Read = Callable[[str, Entry], bytes | None]


class _Sides(Struct, kw_only=True):
    """What has been found so far. left: bytes that may still be read."""

    changes: list[FileChange] = []
    opaque: list[Opaque] = []
    problems: list[Problem] = []
    before: dict[str, bytes | None] = {}
    left: int


def between_trees(store: ObjectStore, old_tree: str, new_tree: str, settings: Settings) -> TreeChange:
    """The change between two trees of the object store; reads what differs and nothing else."""
    base = CommitFiles(store, new_tree)
    found = _Sides(left=MAX_CHANGED_BYTES)
    for difference in differences(store, old_tree, new_tree):
        _compare(found, difference, lambda _, entry: store.blob(entry.oid), lambda _, entry: store.blob(entry.oid))
    new = FileSet(base, source_roots=settings.source_roots, line_length=settings.line_length)
    # The old tree is the new one with what differs put back, so that both are listed and searched once.
    old = FileSet(base, found.before, source_roots=settings.source_roots, line_length=settings.line_length)
    if all(each.before is not None and each.after is not None for each in found.changes) and not found.opaque:
        old.notes["modules"] = modules_of(new)  # the same names, so the same modules
    return _change(old, new, found)


def between_directories(old_tree: PlainTree, new_tree: PlainTree, settings: Settings) -> TreeChange:
    """The change between two directories; reads both."""
    found = _Sides(left=MAX_CHANGED_BYTES)
    for path in sorted(old_tree.modes().keys() | new_tree.modes().keys()):
        difference = Difference(path=path, old=old_tree.entry(path), new=new_tree.entry(path))
        if difference.old != difference.new:
            _compare(found, difference, _reader(old_tree), _reader(new_tree))
    old = FileSet(old_tree, source_roots=settings.source_roots, line_length=settings.line_length)
    new = FileSet(new_tree, source_roots=settings.source_roots, line_length=settings.line_length)
    return _change(old, new, found)


def _reader(tree: PlainTree) -> _Read:
    def read(path: str, _: Entry) -> bytes | None:
        return tree.read(path) if tree.size(path) <= MAX_BLOB_BYTES else None

    return read


def _change(old: FileSet, new: FileSet, found: _Sides) -> TreeChange:
    problems = [*found.problems, *empty_files(found.changes, old)]
    return TreeChange(
        old=old, new=new, changes=tuple(found.changes), opaque=tuple(found.opaque), problems=tuple(problems)
    )


def _compare(found: _Sides, difference: Difference, read_old: _Read, read_new: _Read) -> None:
    path, old, new = difference.path, difference.old, difference.new
    if old is not None and new is not None and old.is_file and new.is_file and old.mode != new.mode:
        found.problems.append(Problem(path, 0, "mode-change", f"the file's mode changed from {old.mode} to {new.mode}"))
        if old.oid == new.oid:
            return
    before, why_old = _content(found, path, old, read_old)
    after, why_new = _content(found, path, new, read_new)
    found.before[path] = before
    if (before is not None and _is_binary(before)) or (after is not None and _is_binary(after)):
        why_old, why_new = why_old or "a binary file", why_new or "a binary file"
        before = after = None
    if before is not None or after is not None:
        found.changes.append(FileChange(path=path, before=before, after=after))
    lines = (int(old is not None and before is None), int(new is not None and after is None))
    if lines != (0, 0):
        words = [why for why, count in zip((why_old, why_new), lines, strict=True) if count]
        what = " and then ".join(dict.fromkeys(words))
        found.opaque.append(Opaque(path=path, what=what, old_lines=lines[0], new_lines=lines[1]))


def _content(found: _Sides, path: str, entry: Entry | None, read: _Read) -> tuple[bytes | None, str]:
    """The bytes of a plain file; else None and what it is."""
    if entry is None:
        return None, ""
    if not entry.is_file:
        return None, _KINDS.get(entry.mode, f"an entry of the unknown mode {entry.mode}")
    if found.left <= 0:
        return None, f"part of a change of more than {MAX_CHANGED_BYTES:,} bytes, and was not read"
    try:
        raw = read(path, entry)
    except SourceError as error:
        return None, f"a file that {error.message}"
    if raw is None:
        return None, f"a file of more than {MAX_BLOB_BYTES:,} bytes, and was not read"
    found.left -= len(raw)
    return raw, ""


def _is_binary(raw: bytes) -> bool:
    return b"\0" in raw[:_BINARY_BYTES]
