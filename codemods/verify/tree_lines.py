"""One search of the tree for every line that duties ask about: who writes an attribute, defines a name, derives from a
class, or still says a name.

The base may search by itself (`lines`); otherwise every Python file is read once. Changed files are searched on both
sides. Looks at text: what a line means is for others to say. A statement that goes over several lines is found by the
line that names what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from codemods.verify.change import TreeChange

NEW = 1
_ASSIGNS = r"(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)"


class Hit(Struct, frozen=True):
    """A line that matched. side: 0 for a line of an old version of a changed file."""

    side: int
    path: str
    number: int
    text: bytes


class Asked(Struct):
    """The names to look for, by what is asked of them."""

    written: set[str] = set()
    defined: set[str] = set()
    said: set[str] = set()


class TreeLines:
    """The lines of both trees of a change that say something of the names asked about."""

    def __init__(self, change: TreeChange, asked: Asked) -> None:
        self.change, self.asked = change, asked
        self.changed = frozenset(each.path for each in change.changes if each.path.endswith(".py"))
        self.notes: dict[str, frozenset[str]] = {}  # what others found in all lines, kept for the next who ask
        self._texts: dict[tuple[int, str], bytes] = {}

    def raw(self, side: int, path: str) -> bytes:
        """The file a hit stands in."""
        if (side, path) not in self._texts:
            files = (self.change.old, self.change.new)[side]
            self._texts[side, path] = files.read(path) if path in files else b""
        return self._texts[side, path]

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """Every line that matched, whatever for."""
        return tuple(self._found())

    def writes(self, name: str) -> list[tuple[Hit, str]]:
        """Lines that may store or delete an attribute of this name, with the receiver as it is written there."""
        return [
            (hit, receiver)
            for hit, match in self._by_word("written", name)
            if (receiver := self._receiver(hit, match, name)) is not None
        ]

    def defines(self, name: str) -> list[Hit]:
        """Lines inside classes or functions that start a definition or an assignment of this name."""
        word = re.compile(_DEFINES.replace("NAME", re.escape(name)).encode())
        return [hit for hit in self.hits if name.encode() in hit.text and word.search(hit.text) is not None]

    def says(self, name: str) -> list[Hit]:
        """Lines with this name as a whole word."""
        word = re.compile(rb"(?<!\w)%b(?!\w)" % re.escape(name).encode())
        return [hit for hit in self.hits if name.encode() in hit.text and word.search(hit.text) is not None]

    @cached_property
    def headers(self) -> dict[str, list[tuple[Hit, tuple[str, ...]]]]:
        """Simple name of a class -> where it stands and the simple names of its bases."""
        found: dict[str, list[tuple[Hit, tuple[str, ...]]]] = {}
        for hit in self.hits:
            match = _HEADER.match(hit.text)
            if match is not None:
                bases = self._bases(hit, match.end()) if match[3] == b"(" else ()
                found.setdefault(match[2].decode("utf-8", "replace"), []).append((hit, bases))
        return found

    @cached_property
    def _levels(self) -> dict[tuple[int, str], list[tuple[int, int, str]]]:
        """Side and path -> line, indentation and name of every class header in it, in order."""
        found: dict[tuple[int, str], list[tuple[int, int, str]]] = {}
        for hit in self.hits:
            match = _HEADER.match(hit.text)
            if match is not None:
                at = (hit.number, len(match[1]), match[2].decode("utf-8", "replace"))
                found.setdefault((hit.side, hit.path), []).append(at)
        return found

    def class_around(self, hit: Hit) -> str:
        """The simple name of the innermost class around a line, by indentation; "" outside of classes."""
        width = len(hit.text) - len(hit.text.lstrip(b" \t"))
        for number, indent, name in reversed(self._levels.get((hit.side, hit.path), [])):
            if number < hit.number and indent < width:
                return name
        return ""

    def _bases(self, hit: Hit, at: int) -> tuple[str, ...]:
        text = hit.text[at:]
        if b")" not in text:
            text = b" ".join(self.raw(hit.side, hit.path).splitlines()[hit.number - 1 : hit.number + 20])
            text = text[at : text.find(b"):", at) if b"):" in text else at + 400]
        words = re.findall(rb"(?:\w+\.)*(\w+)(?=\s*[,)\[]|\s*$)", text.partition(b"):")[0] + b")")
        return tuple(word.decode("utf-8", "replace") for word in words)

    def _receiver(self, hit: Hit, match: re.Match[bytes], name: str) -> str | None:
        """The receiver of a store as the line has it; None when it is no store after all."""
        text = match[0]
        if text.startswith((b"setattr", b"delattr", b"__dict__")):
            by_text = _BY_TEXT.search(hit.text)
            return (by_text[1] or by_text[2]).decode("utf-8", "replace") if by_text is not None else ""
        dot = re.search(rb"\.%b\b" % re.escape(name).encode(), text)
        assert dot is not None
        before = hit.text[: match.start() + dot.start()]
        chain = _CHAIN.search(before)
        receiver = chain[0] if chain is not None else b""
        rest = before[: len(before) - len(receiver)]
        if b"#" in before or (text.startswith(b".") and _BEFORE.fullmatch(rest) is None):
            return None
        if text.startswith(b".") and text[1:].lstrip().startswith(b":") and rest.strip():
            return None
        if match.start() == 0 and not text.startswith(b".") and b"=" not in text and not self._is_tuple(hit):
            return None
        return receiver.decode("utf-8", "replace")

    def _is_tuple(self, hit: Hit) -> bool:
        """Whether a line is part of a target that goes over several lines."""
        lines = self.raw(hit.side, hit.path).split(b"\n")[hit.number - 1 : hit.number + 40]
        ends = rb"[\w.,\s\[\]]*\)[ \t]*=(?!=)" if hit.text.rstrip().endswith(b",") else rb"\s*\)[ \t]*=(?!=)"
        return re.match(ends, b"\n".join(lines)[len(hit.text) :]) is not None

    def _by_word(self, kind: str, name: str) -> Iterator[tuple[Hit, re.Match[bytes]]]:
        assert name in getattr(self.asked, kind)
        pattern = re.compile(_WRITES.replace("NAME", re.escape(name)).encode())
        for hit in self.hits:
            if name.encode() in hit.text:
                yield from ((hit, match) for match in pattern.finditer(hit.text))

    def _found(self) -> Iterator[Hit]:
        pattern = self._pattern()
        lines = getattr(self.change.new.base, "lines", None)
        found = lines(pattern, (".py",)) if lines is not None else None
        compiled = re.compile(pattern.encode(), re.MULTILINE)
        if found is None:
            for path in self.change.new.paths():
                if path.endswith(".py") and path not in self.changed:
                    yield from _search(NEW, path, self.raw(NEW, path), compiled)
        else:
            yield from (Hit(NEW, path, number, text) for path, number, text in found if path not in self.changed)
        for path in sorted(self.changed):
            for side in (0, 1):
                yield from _search(side, path, self.raw(side, path), compiled)

    def _pattern(self) -> str:
        parts = [r"^[ \t]*class[ \t]+\w+[ \t]*[(:]"]
        if self.asked.written:
            parts.append(_WRITES.replace("NAME", _any(self.asked.written)))
        if self.asked.defined:
            parts.append(_DEFINES.replace("NAME", _any(self.asked.defined)))
        if self.asked.said:
            parts.append(rf"\b{_any(self.asked.said)}\b")
        return "|".join(parts)


_HEADER = re.compile(rb"([ \t]*)class[ \t]+(\w+)[ \t]*([(:])")
_DEFINES = r"^[ \t]+(?:async[ \t]+)?(?:def[ \t]+|class[ \t]+)?NAME[ \t]*[(:=]"
_WRITES = (
    rf"\.NAME\b[ \t]*(?::[^=,()]*)?{_ASSIGNS}"
    r"|^[ \t]*\(?[ \t]*(?:[\w.\[\]]+[ \t]*,[ \t]*)*[\w.]+\.NAME\b[ \t]*(?:,[^=()]*\)?[ \t]*=(?!=)|,?[ \t]*$)"
    r"|\bfor[ \t]+[^#]*\.NAME\b[^#]*\bin\b|\bas[ \t]+\(?[\w.]+\.NAME\b|\bdel[ \t]+[^#]*\.NAME\b"
    r"|(?:setattr|delattr|__dict__).*[\"']NAME[\"']"
)
# What may stand before a target: nothing, another statement, another target, the head of a block.
_BEFORE = re.compile(
    rb"\s*(?:.*[;=]\s*|(?:if|elif|while|for|with|else|try|finally|except)\b.*:\s*|\(?\s*(?:[\w.]+\s*,\s*)+)?"
)
_BY_TEXT = re.compile(rb"(?:setattr\w*|delattr\w*)\(\s*([\w.]+)\s*,|([\w.]+)\.__dict__")
_CHAIN = re.compile(rb"[\w.]*(?:\(\)|\[[^\[\]]*\])*\Z")


def _any(names: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted(re.escape(name) for name in names)) + ")"


def _search(side: int, path: str, raw: bytes, pattern: re.Pattern[bytes]) -> Iterator[Hit]:
    last = -1
    for match in pattern.finditer(raw):
        start = raw.rfind(b"\n", 0, match.start() + (raw[match.start() : match.start() + 1] == b"\n")) + 1
        if start != last:
            last = start
            end = raw.find(b"\n", start)
            yield Hit(side, path, raw.count(b"\n", 0, start) + 1, raw[start : end if end >= 0 else len(raw)])
