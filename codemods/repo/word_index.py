"""Which words stand in a blob, and which of its lines start a class or make a property: found once for each blob, so
that a tree is searched without being read again, and the next commit costs what it changes.

A word is as long as it can be, of ASCII letters, digits and underscores; one behind `def` is known as that, too, and so
is one that may be an attribute that is stored. What it means, which blobs make a tree and what is done with a find is
decided by the callers; word_cache.py keeps an index from one run to the next."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, pairwise

from codemods.repo.store import ObjectStore
from codemods.source.line_matches import line_starts

# Above this, blobs that the tree at hand does not have are let go: some three trees of 5,000 files.
MAX_WORD_BYTES = 32_000_000
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_WORDS_ONLY = bytes(byte if byte in _WORD else 32 for byte in range(256))
_KEPT_LINE = re.compile(rb"\bclass[ \t]+\w+[ \t]*[(:]|\bproperty\(")
_OPEN_LINE = re.compile(rb"[ \t]*class[ \t]+\w+[ \t]*\([^)]*\Z")
# All words stand in so many texts, of which one is searched: those before `Cu`, those before `LI`, and so on. By what
# code consists of, each of them is as long as the next.
_STARTS = b"Cu LI Pr Te _f an bi co de en fo gu in li mo nv pi ra ru si ta te un".split()
DEFINED, STORED, LINES, OPEN_LINES, WORDS = range(5)
KINDS = WORDS + len(_STARTS) + 1
_NEEDLES = (b"class", b"property(")
_DEFINED = re.compile(rb"def[ \t]+\w+")
# What they let through is more than what stores: asked_lines.py and tree_lines.py say what does. Patterns that begin
# with a letter take a tenth of the time that others take.
_STORED = re.compile(
    rb"\.(\w+)\b(?=[ \t]*(?:(?::[^=,()\n]*)?(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)|,[^=()\n]*\)?[ \t]*=))"
)
_TUPLE_END = re.compile(rb"\n[ \t]*\)[ \t]*=(?!=)")
_PART_OF_TUPLE = re.compile(rb"\.(\w+),?[ \t]*$", re.MULTILINE)
_TARGETS = tuple(re.compile(rb"%b[ \t][^#=\n]*\.\w[^#=\n]*" % word) for word in (b"for", b"as", b"del"))
_BY_TEXT = tuple(re.compile(rb"%b[^\n]*" % word) for word in (b"setattr", b"delattr", b"__dict__"))
_BEHIND_DOT, _QUOTED = re.compile(rb"\.(\w+)"), re.compile(rb"[\"'](\w+)(?=[\"'])")
_AT_ONCE = 256

# Part of the key of what is kept: another way to find words or lines is another index.
_PATTERNS = (_KEPT_LINE, _OPEN_LINE, _DEFINED, _STORED, _TUPLE_END, _PART_OF_TUPLE, *_TARGETS, *_BY_TEXT)
RECIPE = b" ".join((_WORDS_ONLY, *_STARTS, *(each.pattern for each in (*_PATTERNS, _BEHIND_DOT, _QUOTED)))).hex()


class Part:
    """The facts about some blobs, each kind as one text, blob behind blob: words behind `def`, what may be stored, and
    all words, every one between line feeds; lines, and again those that start a class and have a parenthesis that none
    closes, as `number:text` with a line feed. ends: where the next blob starts in each text, with the start of the
    first in front."""

    def __init__(self) -> None:
        self.oids: list[str] = []
        self.texts: list[bytearray | memoryview] = [bytearray() for _ in range(KINDS)]
        self.ends = tuple(array("I", [0]) for _ in range(KINDS))

    def text(self, kind: int) -> bytearray:
        """The facts of one kind. What was read from a file is copied when it is asked for: most of it never is."""
        found = self.texts[kind]
        if not isinstance(found, bytearray):
            found = self.texts[kind] = bytearray(found)
        return found

    def add(self, oid: str, facts: Iterable[bytes | bytearray]) -> None:
        self.oids.append(oid)
        for kind, (ends, fact) in enumerate(zip(self.ends, facts, strict=True)):
            text = self.text(kind)
            text += fact
            ends.append(len(text))

    def take(self, other: Part) -> None:
        """Adds the blobs of another."""
        self.oids += other.oids
        for kind, (ends, more) in enumerate(zip(self.ends, other.ends, strict=True)):
            text = self.text(kind)
            ends.extend(len(text) + end for end in more[1:])
            text += other.text(kind)

    def with_word(self, word: str, kind: int) -> Iterator[str]:
        """The blobs with a word."""
        find, ends, between_feeds = self.text(kind).find, self.ends[kind], b"\n%b\n" % word.encode("ascii")
        at = find(between_feeds)
        while at >= 0:
            number = bisect_right(ends, at)
            yield self.oids[number - 1]
            at = find(between_feeds, ends[number])

    def lines_with(self, wanted: bytes, kind: int) -> Iterator[tuple[str, int, bytes]]:
        """Blob, number and text of the lines with these bytes, each once."""
        text, ends = self.text(kind), self.ends[kind]
        at = text.find(wanted)
        while at >= 0:
            start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
            number, _, line = bytes(text[start:end]).partition(b":")
            yield self.oids[bisect_right(ends, at) - 1], int(number), line
            at = text.find(wanted, end)

    def facts(self, number: int) -> Iterator[bytearray]:
        """What is known of one blob, kind by kind."""
        for kind, ends in enumerate(self.ends):
            yield self.text(kind)[ends[number] : ends[number + 1]]


class WordIndex:
    """Grows with the blobs that are asked about. num_new: blobs that came since it was made or kept; they are a part
    of their own, so that the other need not be copied for them."""

    def __init__(self, kept: Part | None = None) -> None:
        self.part, self._fresh = kept or Part(), Part()
        self._numbers = {oid: number for number, oid in enumerate(self.part.oids)}
        self.num_new = 0

    def cover(self, store: ObjectStore, oids: Collection[str]) -> bool:
        """Takes in the blobs that it does not know. False when one of them is too large to be read: then a search here
        would miss it."""
        missing = [oid for oid in dict.fromkeys(oids) if oid not in self._numbers]
        for start in range(0, len(missing), _AT_ONCE):
            asked = missing[start : start + _AT_ONCE]
            for oid, raw in zip(asked, store.blobs(asked), strict=True):
                if raw is None:
                    return False
                self._numbers[oid] = len(self.part.oids) + len(self._fresh.oids)
                self._fresh.add(oid, (*_names_of(raw), *_lines_of(raw), *_words_of(raw)))
                self.num_new += 1
        if missing and sum(len(text) for part in self._parts for text in part.texts[WORDS:]) > MAX_WORD_BYTES:
            self._let_go(frozenset(oids))
        return True

    @property
    def _parts(self) -> tuple[Part, Part]:
        return self.part, self._fresh

    def whole(self) -> Part:
        """All of it as one part."""
        self.part.take(self._fresh)
        self._fresh = Part()
        return self.part

    def holding(self, word: str) -> Iterator[str]:
        """The blobs with a word, and perhaps some that the tree at hand does not have."""
        kind = WORDS + bisect_right(_STARTS, word.encode("ascii"))
        return self._with_word(word, kind)

    def _with_word(self, word: str, kind: int) -> Iterator[str]:
        return chain.from_iterable(part.with_word(word, kind) for part in self._parts)

    def defining(self, word: str) -> Iterator[str]:
        """As `holding`, of the blobs that have it behind `def`."""
        return self._with_word(word, DEFINED)

    def storing(self, word: str) -> Iterator[str]:
        """As `holding`, of the blobs that may store an attribute of this name, and of some more."""
        return self._with_word(word, STORED)

    def lines(self, oid: str) -> list[tuple[int, bytes]]:
        """Number and text of the lines of a blob that start a class or make a property."""
        found = [line.partition(b":") for line in self.lines_text(oid).split(b"\n")[:-1]]
        return [(int(number), text) for number, _, text in found]

    def lines_text(self, oid: str) -> bytes:
        """The same as one text."""
        number, part = self._numbers[oid], self.part
        if number >= len(part.oids):
            number, part = number - len(part.oids), self._fresh
        ends = part.ends[LINES]
        return bytes(part.text(LINES)[ends[number] : ends[number + 1]])

    def lines_with(self, wanted: bytes) -> Iterator[tuple[str, int, bytes]]:
        """Blob, number and text of such lines that have these bytes, and perhaps of blobs that the tree at hand does
        not have."""
        return self._lines_with(wanted, LINES)

    def _lines_with(self, wanted: bytes, kind: int) -> Iterator[tuple[str, int, bytes]]:
        return chain.from_iterable(part.lines_with(wanted, kind) for part in self._parts)

    def open_lines(self) -> Iterator[tuple[str, int, bytes]]:
        """The same of those that start a class and have a parenthesis that none closes."""
        return self._lines_with(b":", OPEN_LINES)

    def _let_go(self, kept: Collection[str]) -> None:
        part, whole = Part(), self.whole()
        for number, oid in enumerate(whole.oids):
            if oid in kept:
                part.add(oid, whole.facts(number))
        self.part = part
        self._numbers = {oid: number for number, oid in enumerate(part.oids)}


def _words_of(raw: bytes) -> list[bytes]:
    words = sorted(set(raw.translate(_WORDS_ONLY).split()))
    ends = [*(bisect_left(words, start) for start in _STARTS), len(words)]
    return [_listed(words[start:end]) for start, end in pairwise([0, *ends])]


def _names_of(raw: bytes) -> tuple[bytes, bytes]:
    """What stands behind `def`, and what may be stored."""
    stored = set(_STORED.findall(raw))
    if _TUPLE_END.search(raw) is not None:
        stored.update(_PART_OF_TUPLE.findall(raw))
    for patterns, inner in ((_TARGETS, _BEHIND_DOT), (_BY_TEXT, _QUOTED)):
        for pattern in patterns:
            for text in pattern.findall(raw):
                stored.update(inner.findall(text))
    return _listed({each[4:].lstrip() for each in _DEFINED.findall(raw)}), _listed(stored)


def _listed(words: Collection[bytes]) -> bytes:
    return b"\n%b\n" % b"\n".join(words) if words else b""


def _lines_of(raw: bytes) -> tuple[bytes, bytes]:
    starts = sorted({start for needle in _NEEDLES for start in line_starts(raw, needle)})
    found, unclosed, number, counted = [], [], 1, 0
    for start in starts:
        end = raw.find(b"\n", start)
        text = raw[start:] if end < 0 else raw[start:end]
        if _KEPT_LINE.search(text) is not None:
            number += raw.count(b"\n", counted, start)
            counted = start
            found.append(b"%d:%b\n" % (number, text))
            if _OPEN_LINE.match(text) is not None:
                unclosed.append(found[-1])
    return b"".join(found), b"".join(unclosed)
