"""TOML text as plain values, and on which line each key stands. What the keys mean is decided by who reads them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

import msgspec

KeyPath = tuple["str | int", ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)\Z")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


class BadToml(Exception):
    """The text is not TOML. `line` is 0 when only the end of the text tells."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class TomlText:
    """A parsed text. `value` holds plain dicts, lists and scalars."""

    def __init__(self, text: str) -> None:
        """Raises BadToml."""
        try:
            self.value: Mapping[str, object] = msgspec.toml.decode(text)
        except msgspec.DecodeError as error:
            place = _PLACE.search(str(error))
            at = int(place[1]) if place and place[1] else text.count("\n") + 1 if place else 0
            message = _PLACE.sub("", str(error))
            raise BadToml(message[:1].lower() + message[1:], at) from error
        self._text = text
        self._lines: dict[KeyPath, int] | None = None

    def line_of(self, path: KeyPath) -> int:
        """The line of the key (or list element) at `path`, or of the nearest thing around it that has one; else 1."""
        if self._lines is None:
            self._lines = _KeyScanner(self._text).scan()
        for end in range(len(path), 0, -1):
            if path[:end] in self._lines:
                return self._lines[path[:end]]
        return 1


class _KeyScanner:
    """Walks a text that is known to be valid TOML, so it looks only for where keys and elements start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.last_index: dict[KeyPath, int] = {}
        self._newlines = [found.start() for found in re.finditer("\n", text)]

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self._skip_blank():
            start = self.at
            if self.text.startswith("[[", start):
                self.at += 2
                table = self._header(self._key(), is_array=True)
                self.at = self.text.index("]]", self.at) + 2
            elif self.text[start] == "[":
                self.at += 1
                table = self._header(self._key(), is_array=False)
                self.at = self.text.index("]", self.at) + 1
            else:
                self._pair(table)
                continue
            self._note(table, start)
        return self.lines

    def _note(self, path: KeyPath, start: int) -> None:
        self.lines.setdefault(path, bisect_right(self._newlines, start - 1) + 1)

    def _skip_blank(self) -> bool:
        """Past blanks, newlines and comments; whether anything is left."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\r\n":
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def _header(self, parts: tuple[str, ...], *, is_array: bool) -> KeyPath:
        """A header names the latest element of each array of tables on its way."""
        path: KeyPath = ()
        for position, part in enumerate(parts):
            path = (*path, part)
            if is_array and position == len(parts) - 1:
                self.last_index[path] = self.last_index.get(path, -1) + 1
            if path in self.last_index:
                path = (*path, self.last_index[path])
        return path

    def _key(self) -> tuple[str, ...]:
        """A key, dotted or not, quoted or bare; stops at what follows it."""
        parts: list[str] = []
        while True:
            self._skip_blank()
            if self.text[self.at] in "\"'":
                parts.append(self._string())
            else:
                bare = _BARE_KEY.match(self.text, self.at)
                parts.append(bare[0] if bare else "")
                self.at = bare.end() if bare else self.at + 1
            self._skip_blank()
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def _pair(self, table: KeyPath) -> None:
        start = self.at
        key = self._key()
        for end in range(1, len(key) + 1):
            self._note((*table, *key[:end]), start)
        self.at = self.text.index("=", self.at) + 1
        self._value((*table, *key))

    def _value(self, path: KeyPath) -> None:
        self._skip_blank()
        opening = self.text[self.at]
        if opening in "\"'":
            self._string()
        elif opening in "[{":
            self.at += 1
            self._items(path, "]" if opening == "[" else "}")
        else:
            found = _SCALAR.match(self.text, self.at)
            self.at = found.end() if found else self.at + 1

    def _items(self, path: KeyPath, closing: str) -> None:
        index = 0
        while self._skip_blank() and self.text[self.at] != closing:
            if closing == "]":
                self._note((*path, index), self.at)
                self._value((*path, index))
                index += 1
            else:
                self._pair(path)
            self._skip_blank()
            if self.text.startswith(",", self.at):
                self.at += 1
        self.at += 1

    def _string(self) -> str:
        """Past a string of any of the four kinds; its text, exact enough to compare keys with."""
        mark = self.text[self.at]
        quote = mark * 3 if self.text.startswith(mark * 3, self.at) else mark
        self.at += len(quote)
        found: list[str] = []
        while not self.text.startswith(quote, self.at):
            char = self.text[self.at]
            self.at += 1
            if char == "\\" and mark == '"':
                char = self._escape()
            found.append(char)
        self.at += len(quote)
        # A multi-line string may end in up to two quotes of its own before the closing three.
        while len(quote) == 3 and self.text.startswith(mark, self.at):
            found.append(mark)
            self.at += 1
        return "".join(found)

    def _escape(self) -> str:
        kind = self.text[self.at]
        self.at += 1
        digits = {"u": 4, "U": 8, "x": 2}.get(kind, 0)
        if digits:
            self.at += digits
            return chr(int(self.text[self.at - digits : self.at], 16))
        return _ESCAPES.get(kind, kind)
