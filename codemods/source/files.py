"""A tree of files as immutable data: a base that is read on demand and an overlay of what a plan has changed so far.

Where the base comes from (a directory, a commit) is repo/'s; what the bytes mean is text.py's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from codemods.schema.result import FileChange


class Tree(Protocol):
    """What a base must offer. Paths are relative to the root, with `/`; they never leave it."""

    def paths(self) -> tuple[str, ...]:
        """Every file that belongs to the tree (ignored files, virtual environments and .git left out), sorted."""

    def read(self, path: str) -> bytes:
        """Raw bytes of one of `paths()`. Raises SourceError naming the path when they can't be read."""


class MemoryTree:
    """A base held in memory; used by tests and for trees that come from an object store."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = dict(files)

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def read(self, path: str) -> bytes:
        return self._files[path]


class Without:
    """A base with one file left out: the plan that is applied names what moves and must not follow it."""

    def __init__(self, base: Tree, path: str) -> None:
        self._base, self._path = base, path

    def paths(self) -> tuple[str, ...]:
        return tuple(path for path in self._base.paths() if path != self._path)

    def read(self, path: str) -> bytes:
        return self._base.read(path)


class FileSet:
    """An immutable view of a tree. `write` and `delete` return a new view; the base is never touched."""

    def __init__(
        self,
        base: Tree,
        overlay: Mapping[str, bytes | None] | None = None,
        *,
        source_roots: tuple[str, ...] = (),
        line_length: int = 88,
    ) -> None:
        self.base = base
        self.source_roots, self.line_length = source_roots, line_length
        self.notes: dict[str, object] = {}  # facts computed from this very set of files; dropped with it
        self._overlay: dict[str, bytes | None] = dict(overlay or {})
        self._paths: dict[str, None] | None = None
        self._kept: dict[str, bytes] = {}  # what was read of the base; shared by all successors, who read it again

    def _known(self) -> dict[str, None]:
        if self._paths is None:
            names = dict.fromkeys(self.base.paths())
            for path in [path for path, raw in self._overlay.items() if raw is None]:
                names.pop(path, None)
            more = [path for path, raw in self._overlay.items() if raw is not None and path not in names]
            self._paths = dict.fromkeys(sorted([*names, *more])) if more else names
        return self._paths

    def paths(self) -> Iterator[str]:
        return iter(self._known())

    def __contains__(self, path: str) -> bool:
        return path in self._known()

    def read(self, path: str) -> bytes:
        """Raw bytes. Raises KeyError for a path that is not in the set."""
        if path in self._overlay:
            raw = self._overlay[path]
            if raw is None:
                raise KeyError(path)
            return raw
        kept = self._kept.get(path)
        if kept is None:
            kept = self._kept[path] = self.base.read(path)
        return kept

    def write(self, path: str, raw: bytes) -> FileSet:
        return self._with(path, raw)

    def delete(self, path: str) -> FileSet:
        return self._with(path, None)

    def _with(self, path: str, raw: bytes | None) -> FileSet:
        successor = FileSet(
            self.base, {**self._overlay, path: raw}, source_roots=self.source_roots, line_length=self.line_length
        )
        successor._kept = self._kept
        if (raw is not None) == (path in self):
            successor._paths = self._known()  # same names: what was computed from names alone stays true
            successor.notes.update({key: note for key, note in self.notes.items() if key == "modules"})
        return successor

    def overlay(self) -> Mapping[str, bytes | None]:
        """What differs from the base; None marks a removed file."""
        return dict(self._overlay)

    def changes_since(self, before: FileSet) -> tuple[FileChange, ...]:
        """The files that differ between two views of one base, sorted by path."""
        touched = sorted({*self._overlay, *before._overlay})
        found = []
        for path in touched:
            old = before.read(path) if path in before else None
            new = self.read(path) if path in self else None
            if old != new:
                found.append(FileChange(path=path, before=old, after=new))
        return tuple(found)
