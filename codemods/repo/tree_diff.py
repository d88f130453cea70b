"""Which entries differ between two trees of a repository, and what a whole tree holds. Descends only into directories
whose ids differ, so that a commit costs what it changes, not what the repository is. Contents are not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from codemods.repo.store import Entry, ObjectStore, check_depth
from codemods.schema.errors import GitError

MAX_CHANGED_FILES = 50_000
MAX_FILES = 1_000_000


class TooMuch(GitError):
    """A tree or a change is larger than any that people make."""

    code = "too-much"


class Difference(Struct, frozen=True, kw_only=True):
    """One path whose entry differs. None: nothing there on that side. Directories are never named themselves."""

    path: str
    old: Entry | None
    new: Entry | None


def differences(store: ObjectStore, old_tree: str, new_tree: str) -> list[Difference]:
    """Sorted by path. A file that became a directory is one that went and others that came."""
    found: list[Difference] = []
    waiting: list[tuple[str, str | None, str | None]] = [("", old_tree, new_tree)]
    while waiting:
        store.load_trees(oid for _, *pair in waiting for oid in pair if oid is not None)
        below: list[tuple[str, str | None, str | None]] = []
        for directory, old_oid, new_oid in waiting:
            check_depth(directory)
            old = store.tree(old_oid) if old_oid is not None else {}
            new = store.tree(new_oid) if new_oid is not None else {}
            for name in old.keys() | new.keys():
                one, other = old.get(name), new.get(name)
                if one == other:
                    continue
                path = f"{directory}{name}"
                descend = [entry.oid if entry is not None and entry.is_directory else None for entry in (one, other)]
                if descend != [None, None]:
                    below.append((f"{path}/", descend[0], descend[1]))
                one = None if one is not None and one.is_directory else one
                other = None if other is not None and other.is_directory else other
                if one is not None or other is not None:
                    found.append(Difference(path=path, old=one, new=other))
            if len(found) + len(below) > MAX_CHANGED_FILES:
                raise TooMuch(
                    f"more than {MAX_CHANGED_FILES:,} files differ", fix="check smaller commits; this is an import"
                )
        waiting = below
    found.sort(key=lambda difference: difference.path)
    return found


def entry_at(store: ObjectStore, tree: str, path: str) -> Entry | None:
    """The entry at `path`, which may be a directory; reads only the directories on the way."""
    entry: Entry | None = Entry("40000", tree)
    for name in path.split("/"):
        if entry is None or not entry.is_directory:
            return None
        entry = store.tree(entry.oid).get(name)
    return entry


def entries_of(store: ObjectStore, tree: str) -> Iterator[tuple[str, Entry]]:
    """Every entry below `tree` that is not a directory, in no order."""
    waiting, number = [("", tree)], 0
    while waiting:
        store.load_trees(oid for _, oid in waiting)
        below: list[tuple[str, str]] = []
        for directory, oid in waiting:
            check_depth(directory)
            for name, entry in store.tree(oid).items():
                if entry.is_directory:
                    below.append((f"{directory}{name}/", entry.oid))
                else:
                    number += 1
                    yield f"{directory}{name}", entry
            if number + len(below) > MAX_FILES:
                raise TooMuch(f"the tree {tree} has more than {MAX_FILES:,} files", fix="check a smaller repository")
        waiting = below
