"""Both trees in one file that a worker may read: it can't read the repository itself, and it will need files that
nobody can name beforehand. What is the same on both sides is there once."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from codemods.source.files import FileSet

_SUFFIXES = (".py", ".pyi", ".toml", ".cfg")
_LARGEST = 20 << 20  # a larger file is data

_Spans = dict[str, tuple[int, int]]


class Packed(Struct, frozen=True):
    """Where each file is in the pack, as offset and size; changed: the paths that differ."""

    old: _Spans
    new: _Spans
    changed: tuple[str, ...]
    source_roots: tuple[str, ...] = ()


class PackedTree:
    """One side of a pack. touched: the paths that were read so far."""

    def __init__(self, data: mmap.mmap | bytes, spans: _Spans) -> None:
        self._data, self._spans = data, spans
        self.touched: set[str] = set()

    def paths(self) -> tuple[str, ...]:
        return tuple(self._spans)

    def read(self, path: str) -> bytes:
        self.touched.add(path)
        start, size = self._spans[path]
        return self._data[start : start + size]


class Pack:
    """An opened pack."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = int.from_bytes(self._data[-8:], "big")
        self.index = msgspec.msgpack.decode(self._data[-8 - size : -8], type=Packed)
        self._trees = {"old": PackedTree(self._data, self.index.old), "new": PackedTree(self._data, self.index.new)}

    def file_set(self, label: str) -> FileSet:
        """Each side is one tree for all who ask: what was searched in it once is kept."""
        return FileSet(self._trees[label], source_roots=self.index.source_roots)


def write_pack(old: FileSet, new: FileSet, changed: Collection[str], path: Path) -> None:
    """Write the pack. changed: the paths that differ; what is not among them is on the old side only what is there."""
    differ = frozenset(changed)
    old_spans: _Spans = {}
    new_spans: _Spans = {}
    at = 0
    with path.open("wb") as file:
        for name, raw in _texts(new, list(names_of(new))):
            file.write(raw)
            new_spans[name] = (at, len(raw))
            if name not in differ and name in old:
                old_spans[name] = new_spans[name]
            at += len(raw)
        for name, raw in _texts(old, [name for name in names_of(old) if name not in old_spans]):
            file.write(raw)
            old_spans[name] = (at, len(raw))
            at += len(raw)
        packed = Packed(dict(sorted(old_spans.items())), new_spans, tuple(sorted(differ)), new.source_roots)
        index = msgspec.msgpack.encode(packed)
        file.write(index + len(index).to_bytes(8, "big"))


def _texts(files: FileSet, paths: list[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        raw = files.read(path)
        if len(raw) <= _LARGEST:
            yield path, raw


def names_of(files: FileSet) -> Iterable[str]:
    """The files that a pack holds, where they are not too large."""
    return (path for path in files.paths() if path.endswith(_SUFFIXES))
