"""The lines of a tree that start a class or make a property, as an index knows them: found without reading a file.

What such a line says is for others to find out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from codemods.repo.word_index import WordIndex

FoundLine = tuple[str, int, bytes]  # path, number, text


class KeptLines:
    """paths: blob -> the files of the tree that it is. Only those with one of the suffixes count."""

    def __init__(self, index: WordIndex, paths: Mapping[str, tuple[str, ...]], suffixes: tuple[str, ...]) -> None:
        self._index = index
        self._paths = {oid: [each for each in found if each.endswith(suffixes)] for oid, found in paths.items()}
        self._oids = {path: oid for oid, found in self._paths.items() for path in found}
        self._open: list[FoundLine] | None = None

    def saying(self, wanted: bytes) -> Iterator[FoundLine]:
        """Those with these bytes, in no order."""
        return self._placed(self._index.lines_with(wanted))

    def unclosed(self) -> list[FoundLine]:
        """Those that start a class and have a parenthesis that none closes, in no order."""
        if self._open is None:
            self._open = list(self._placed(self._index.open_lines()))
        return self._open

    def of(self, path: str) -> list[tuple[int, bytes]]:
        """Number and text of those of one file, in order."""
        oid = self._oids.get(path)
        return self._index.lines(oid) if oid is not None else []

    def text(self) -> bytes:
        """All of them as one text: number, colon, line."""
        return b"".join(self._index.lines_text(oid) for oid, paths in self._paths.items() if paths)

    def _placed(self, lines: Iterable[tuple[str, int, bytes]]) -> Iterator[FoundLine]:
        for oid, number, text in lines:
            for path in self._paths.get(oid, ()):
                yield path, number, text
