"""Who may derive from a class, as far as the text of a file tells without being parsed.

Finds too much rather than too little: a class statement in a comment counts, and so does any other name for the class.
What a base really is, homes.py says."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from codemods.source.index import has_word
from codemods.source.mentions import occurrences

_LONGEST = 2000  # bytes of a class statement from `class` to its colon
_HEADER = re.compile(rb"class\s+([\w\x80-\xff]+)\s*[\[(]")
_HEADER_END = re.compile(rb"\)\s*:")
_COMMENT = re.compile(rb"#[^\n]*")
_RENAMED = re.compile(rb"\s+as\s+\w")
_CALLED = re.compile(rb"\s*\(")
_ALIAS = re.compile(rb"^[ \t]*(?:[\w\x80-\xff]+[ \t]*(?::[^=\n]*)?=[ \t]*)+\(?\s*[\w.]*\Z", re.MULTILINE)


class Heirs(Struct, frozen=True):
    """names: classes that may derive from the class. is_renamed: the file may give it another name, by which others
    derive from it."""

    names: tuple[str, ...]
    is_renamed: bool

    @property
    def may_derive(self) -> bool:
        return bool(self.names) or self.is_renamed


@lru_cache(maxsize=4096)
def heirs_by_text(text: bytes, word: bytes) -> Heirs:
    """What the text of a file says about the class of that name."""
    names: list[str] = []
    for match in _HEADER.finditer(text):
        header = text[match.end() : match.end() + _LONGEST]
        end = _HEADER_END.search(header)
        if end is None or b"#" in header[: end.start()]:
            header = _COMMENT.sub(b"", header)
            end = _HEADER_END.search(header)
        if has_word(header if end is None else header[: end.start()], word):
            names.append(match[1].decode("utf-8", "replace"))
    return Heirs(tuple(names), any(_may_rename(text, at, at + len(word)) for at in occurrences(text, word)))


def _may_rename(text: bytes, start: int, end: int) -> bool:
    """Whether `word as other` or `other = word` stands there."""
    if _RENAMED.match(text, end):
        return True
    before = text[max(0, start - 300) : start]
    return b"=" in before and not _CALLED.match(text, end) and _ALIAS.search(_COMMENT.sub(b"", before)) is not None
