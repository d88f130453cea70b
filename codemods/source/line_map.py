"""Where a line of a tree that a plan has changed stands in the files that the user has.

Goes by the text of the lines: kept lines are found, changed ones where as many stand in their place, moved ones where
their text is the only one of its kind. A line that is none of these is new, and no place of the user's is made up."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from codemods.source.files import FileSet

_LINE = re.compile(rb"\r\n|\r|\n")
_TELLING = 12  # bytes: a shorter line may be anybody's


class LineMap:
    """From trees that come after `origin` back to it."""

    def __init__(self, origin: FileSet) -> None:
        self.origin = origin
        self._kept: dict[tuple[str, bytes], dict[int, int]] = {}

    def back(self, files: FileSet, path: str, line: int, *, moved_from: str = "") -> tuple[str, int] | None:
        """The place in the origin, lines counted from 1; None for a line that was not there. moved_from: the file that
        lines of this one may come from."""
        if line <= 0 or path not in files:
            return path, line
        now = files.read(path)
        then = self.origin.read(path) if path in self.origin else None
        if now == then:
            return path, line
        if then is not None:
            found = self._between(path, then, now).get(line)
            if found is not None:
                return path, found
        return self._moved(now, line, moved_from or path)

    def _between(self, path: str, then: bytes, now: bytes) -> dict[int, int]:
        key = (path, now)
        if key not in self._kept:
            self._kept[key] = _matched(_LINE.split(then), _LINE.split(now))
        return self._kept[key]

    def _moved(self, now: bytes, line: int, path: str) -> tuple[str, int] | None:
        lines = _LINE.split(now)
        text = lines[line - 1].strip() if line <= len(lines) else b""
        if len(text) < _TELLING or path not in self.origin:
            return None
        found = [number for number, old in enumerate(_LINE.split(self.origin.read(path)), 1) if old.strip() == text]
        return (path, found[0]) if len(found) == 1 else None


def _matched(then: list[bytes], now: list[bytes]) -> dict[int, int]:
    """New line numbers to old ones."""
    first = 0
    while first < min(len(then), len(now)) and then[first] == now[first]:
        first += 1
    last = 0
    while last < min(len(then), len(now)) - first and then[-1 - last] == now[-1 - last]:
        last += 1
    found = {number: number for number in range(1, first + 1)}
    found.update({len(now) - back: len(then) - back for back in range(last)})
    old, new = then[first : len(then) - last], now[first : len(now) - last]
    for tag, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal" or (tag == "replace" and b - a == d - c):
            found.update({first + c + step + 1: first + a + step + 1 for step in range(b - a)})
    return found
