"""Both trees as one message to a worker: the names of all files, the text of those that a pair will likely need. A worker
that needs another says so and is asked again with it; it can't read the repository itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from msgspec import Struct

from codemods.source.files import FileSet
from codemods.source.modules import Modules, modules_of

_DEPTH = 2  # imports of imports of changed files
_MOST_FILES = 400


class NeedFile(BaseException):
    """A file that was not packed. No `except Exception` of the subject may catch it."""

    def __init__(self, label: str, path: str) -> None:
        super().__init__(path)
        self.label, self.path = label, path


class Packed(Struct, frozen=True):
    """texts: of files that are the same on both sides. old_texts, new_texts: of those that differ."""

    old_paths: tuple[str, ...]
    new_paths: tuple[str, ...]
    texts: dict[str, bytes]
    old_texts: dict[str, bytes]
    new_texts: dict[str, bytes]
    changed: tuple[str, ...]
    source_roots: tuple[str, ...] = ()

    def file_set(self, label: str) -> FileSet:
        paths = self.old_paths if label == "old" else self.new_paths
        own = self.old_texts if label == "old" else self.new_texts
        return FileSet(_PackedTree(label, paths, self.texts, own), source_roots=self.source_roots)


class _PackedTree:
    def __init__(self, label: str, paths: tuple[str, ...], texts: dict[str, bytes], own: dict[str, bytes]) -> None:
        self._label, self._paths, self._texts, self._own = label, paths, texts, own

    def paths(self) -> tuple[str, ...]:
        return self._paths

    def read(self, path: str) -> bytes:
        found = self._own.get(path)
        if found is None:
            found = self._texts.get(path)
        if found is None:
            raise NeedFile(self._label, path)
        return found


class Packer:
    """Packs two trees once, and adds files as they are asked for."""

    def __init__(self, old: FileSet, new: FileSet, changed: Collection[str]) -> None:
        self._old, self._new = old, new
        self._changed = frozenset(changed)
        self._wanted = self._near()

    def packed(self) -> Packed:
        texts: dict[str, bytes] = {}
        sides: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
        for path in sorted(self._wanted):
            if path not in self._changed and path in self._new:
                texts[path] = self._new.read(path)
                continue
            for files, found in zip((self._old, self._new), sides, strict=True):
                if path in files:
                    found[path] = files.read(path)
        return Packed(
            old_paths=tuple(_python(self._old)),
            new_paths=tuple(_python(self._new)),
            texts=texts,
            old_texts=sides[0],
            new_texts=sides[1],
            changed=tuple(sorted(self._changed)),
            source_roots=self._new.source_roots,
        )

    def add(self, paths: Iterable[str]) -> bool:
        """Whether anything was added."""
        new = {path for path in paths if path in self._old or path in self._new} - self._wanted
        self._wanted |= new
        return bool(new)

    def _near(self) -> set[str]:
        """The changed files and what they import, and that imports."""
        wanted = {path for path in self._changed if path.endswith(".py")}
        edge = set(wanted)
        for _ in range(_DEPTH):
            found: set[str] = set()
            for files in (self._old, self._new):
                for path in sorted(edge):
                    if path in files:
                        found |= imported_files(files, path)
            edge = found - wanted
            if len(wanted) + len(edge) > _MOST_FILES:
                break
            wanted |= edge
        return wanted


def imported_files(files: FileSet, path: str) -> set[str]:
    """The files of the tree that a file imports, anywhere in it."""
    modules = modules_of(files)
    try:
        tree = ast.parse(files.read(path))
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _files_of(modules, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = modules.absolute(path, node.level, node.module)
            found |= _files_of(modules, base)
            for alias in node.names:
                found |= _files_of(modules, f"{base}.{alias.name}")
    return found


def _files_of(modules: Modules, dotted: str) -> set[str]:
    found = modules.path_of(dotted) if dotted else None
    return {found} if found is not None and found.endswith(".py") else set()


def _python(files: FileSet) -> Iterable[str]:
    return (path for path in files.paths() if path.endswith((".py", ".pyi", ".toml", ".cfg")))
