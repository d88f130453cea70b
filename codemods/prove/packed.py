"""Both trees in one file that a worker may read: it can't read the repository itself, and it will need files that
nobody can name beforehand. What is the same on both sides is there once."""

from __future__ import annotations

import hashlib
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
    """One side of a pack."""

    def __init__(self, data: mmap.mmap | bytes, spans: _Spans) -> None:
        self._data, self._spans = data, spans

    def paths(self) -> tuple[str, ...]:
        return tuple(self._spans)

    def read(self, path: str) -> bytes:
        start, size = self._spans[path]
        return self._data[start : start + size]


class Pack:
    """An opened pack."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = int.from_bytes(self._data[-8:], "big")
        self.index = msgspec.msgpack.decode(self._data[-8 - size : -8], type=Packed)

    def file_set(self, label: str) -> FileSet:
        spans = self.index.old if label == "old" else self.index.new
        return FileSet(PackedTree(self._data, spans), source_roots=self.index.source_roots)


def write_pack(old: FileSet, new: FileSet, changed: Collection[str], path: Path) -> str:
    """Write the pack; the digest of all that is in it."""
    differ = frozenset(changed)
    digest = hashlib.blake2b(digest_size=16)
    old_spans: _Spans = {}
    new_spans: _Spans = {}
    at = 0
    with path.open("wb") as file:
        for name, raw in _texts(new, list(_python(new))):
            file.write(raw)
            digest.update(raw)
            new_spans[name] = (at, len(raw))
            if name not in differ:
                old_spans[name] = new_spans[name]
            at += len(raw)
        for name, raw in _texts(old, [name for name in _python(old) if name not in old_spans]):
            file.write(raw)
            digest.update(raw)
            old_spans[name] = (at, len(raw))
            at += len(raw)
        packed = Packed(dict(sorted(old_spans.items())), new_spans, tuple(sorted(differ)), new.source_roots)
        index = msgspec.msgpack.encode(packed)
        file.write(index + len(index).to_bytes(8, "big"))
    digest.update(index)
    return digest.hexdigest()


def _texts(files: FileSet, paths: list[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        raw = files.read(path)
        if len(raw) <= _LARGEST:
            yield path, raw


def _python(files: FileSet) -> Iterable[str]:
    return (path for path in files.paths() if path.endswith(_SUFFIXES))
