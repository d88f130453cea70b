"""One search of the tree for every line that duties ask about: who writes an attribute, defines a name, derives from a
class, or still says a name.

The base may search by itself (`search_lines`); otherwise every Python file is read once. Changed files are searched on
both sides. Looks at text: what a line means is for others to say. A statement that goes over several lines is found by
the line that names what is asked for, a class header over several lines only where its base is asked for by name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from itertools import accumulate, chain

from msgspec import Struct

from codemods.repo.commit_files import CommitFiles, lines_with
from codemods.repo.kept_lines import KeptLines
from codemods.verify.asked_lines import ASSIGNS, Asked, any_of
from codemods.verify.change import TreeChange
from codemods.verify.class_text import ClassText, class_in
from codemods.verify.readers_family import is_test_path
from codemods.verify.store_text import BY_TEXT, by_text_in, receiver_of

NEW = 1


class Hit(Struct, frozen=True):
    """A line that matched. side: 0 for a line of an old version of a changed file."""

    side: int
    path: str
    number: int
    text: bytes


class TreeLines:
    """The lines of both trees of a change that say something of the names asked about."""

    def __init__(self, change: TreeChange, asked: Asked) -> None:
        self.change, self.asked = change, asked
        self.changed = frozenset(each.path for each in change.changes if each.path.endswith(".py"))
        self._search: Callable[[], list[tuple[str, int, bytes]] | None] | None = None
        self._kept: KeptLines | None = None  # class headers and the like of files that did not change
        self._by_name: dict[str, list[Hit]] = {}
        self._writes: dict[str, list[tuple[Hit, str]]] = {}
        self._texts: dict[tuple[int, str], bytes] = {}
        self._lines: dict[tuple[int, str], list[bytes]] = {}
        self._classes: dict[tuple[int, str, str], ClassText | None] = {}
        self._heirs: dict[frozenset[str], list[tuple[Hit, str]]] = {}

    def begin(self) -> None:
        """Lets a base that can search by itself do so while others work, along with the words it is told next."""
        base = self.change.new.base
        if isinstance(base, CommitFiles):
            asked = self.asked
            words, stored = sorted(asked.words - asked.only_written), sorted(asked.only_written)
            names = words, sorted(asked.defined), stored
            self._search = base.search_lines(asked.alternatives, (".py",), *names, self._needles)
            self._kept = base.kept_lines((".py",), chain.from_iterable(names))

    def raw(self, side: int, path: str) -> bytes:
        """The file a hit stands in."""
        if (side, path) not in self._texts:
            files = (self.change.old, self.change.new)[side]
            self._texts[side, path] = files.read(path) if path in files else b""
        return self._texts[side, path]

    @cached_property
    def _own(self) -> tuple[list[Hit], list[tuple[Hit, re.Match[bytes]]]]:
        """Every line that matched, whatever for, and among them those that start a class; but for what is kept."""
        hits, headers = [], []
        # A base may have looked for something else at once; that is none of ours.
        start, other = _HEADER.match, self._compiled.search
        for side, path, number, text in self._found():
            match = start(text)
            if match is not None or other(text) is not None:
                hit = Hit(side, path, number, text)
                hits.append(hit)
                if match is not None:
                    headers.append((hit, match))
        return hits, headers

    def _of_kept(self, lines: Iterable[tuple[str, int, bytes]]) -> list[tuple[Hit, re.Match[bytes] | None]]:
        """Those of the kept lines that are ours, in order."""
        found = []
        for path, number, text in sorted(set(lines)):
            match = _HEADER.match(text) if path not in self.changed else None
            if match is not None or (path not in self.changed and self._compiled.search(text) is not None):
                found.append((Hit(NEW, path, number, text), match))
        return found

    def klass(self, side: int, path: str, name: str) -> ClassText | None:
        """One class of a file; the same for both sides where the file is the same."""
        if side != NEW and path not in self.changed and self.raw(side, path) == self.raw(NEW, path):
            side = NEW
        key = (side, path, name)
        if key not in self._classes:
            self._classes[key] = class_in(path, self.raw(side, path), name)
        return self._classes[key]

    @cached_property
    def _text(self) -> tuple[bytes, list[int]]:
        """All lines as one text, and where each starts in it."""
        ends = list(accumulate(len(hit.text) + 1 for hit in self._own[0]))
        return b"\n".join(hit.text for hit in self._own[0]), [0, *ends]

    def saying(self, name: str) -> list[Hit]:
        """The lines that say a name, perhaps as a part of another: of files that did not change, then of others."""
        if name not in self._by_name:
            (text, starts), wanted = self._text, name.encode()
            found, at = [], text.find(wanted)
            while at >= 0:
                number = bisect_right(starts, at)
                found.append(self._own[0][number - 1])
                at = text.find(wanted, starts[number])
            if self._kept is not None:
                found += [hit for hit, _ in self._of_kept(self._kept.saying(wanted))]
                found.sort(key=lambda hit: (hit.path in self.changed, hit.path, hit.side, hit.number))
            self._by_name[name] = found
        return self._by_name[name]

    def _needles(self, path: str, name: str) -> tuple[bytes, ...]:
        """What to look for in a file that says a name. What is only asked for its stores stands behind a dot or in
        quotes, and not in tests."""
        word = name.encode()
        if name in self.asked.said or name in self.asked.classes:
            return (word,)
        if name in BY_TEXT and not is_test_path(path):
            return (word,)
        return () if is_test_path(path) else (b"." + word, b"'%b'" % word, b'"%b"' % word)

    def writes(self, name: str) -> list[tuple[Hit, str]]:
        """Lines that may store or delete an attribute of this name, with the receiver as it is written there; those of
        tests left out."""
        if name not in self._writes:
            found = [
                (hit, receiver)
                for hit, match in self._by_word("written", name)
                if not is_test_path(hit.path)
                and (receiver := receiver_of(hit.text, match, partial(self._from, hit))) is not None
            ]
            known = {hit for hit, _ in found}
            self._writes[name] = found + [each for each in self.by_text.get(name, ()) if each[0] not in known]
        return self._writes[name]

    @cached_property
    def by_text(self) -> dict[str, list[tuple[Hit, str]]]:
        """Lines that may store an attribute by the text of its name, with the receiver; under "" those whose text is
        put together. Those of tests are left out."""
        found: dict[str, list[tuple[Hit, str]]] = {}
        hits = dict.fromkeys(hit for word in sorted(BY_TEXT) for hit in self.says(word))  # in one order on every run
        for hit in (each for each in hits if not is_test_path(each.path)):
            for receiver, name in dict.fromkeys(by_text_in(self._from(hit))):
                found.setdefault(name, []).append((hit, receiver))
        return found

    def defines(self, name: str) -> list[Hit]:
        """Lines inside classes or functions that start a definition or an assignment of this name."""
        word = re.compile(_DEFINES.replace("NAME", re.escape(name)).encode())
        return [hit for hit in self.saying(name) if word.search(hit.text) is not None]

    def says(self, name: str) -> list[Hit]:
        """Lines with this name as a whole word."""
        word = re.compile(rb"(?<!\w)%b(?!\w)" % re.escape(name).encode())
        return [hit for hit in self.saying(name) if word.search(hit.text) is not None]

    def heirs(self, names: set[str]) -> list[tuple[Hit, str]]:
        """Where a class stands whose header names one of these as a base, and what it is called."""
        key = frozenset(names)
        if key not in self._heirs:
            self._heirs[key] = self._found_heirs(names)
        return self._heirs[key]

    def _found_heirs(self, names: set[str]) -> list[tuple[Hit, str]]:
        word = re.compile(rb"\b%b\b" % any_of(names).encode())
        found = []
        for hit, match in self._headers_with(names):
            text = hit.text[match.end() :]
            if b")" not in text:
                text = self._rest(hit) if self._may_go_on(hit, word) else b""
            if match[3] == b"(" and word.search(text) is not None:
                found.append((hit, match[2].decode("utf-8", "replace")))
        return found

    def _headers_with(self, names: set[str]) -> Iterator[tuple[Hit, re.Match[bytes]]]:
        """The headers that say one of the names, perhaps as a part of another, or go over several lines."""
        words = [name.encode() for name in names]
        if self._kept is not None:
            lines = [line for word in words for line in self._kept.saying(word)]
            for hit, match in self._of_kept([*lines, *self._kept.unclosed()]):
                if match is not None:
                    yield hit, match
        text, starts, split = self._header_text
        numbers = set(split)
        for word in words:
            at = text.find(word)
            while at >= 0:
                numbers.add(bisect_right(starts, at) - 1)
                at = text.find(word, at + 1)
        yield from (self._own[1][number] for number in sorted(numbers))

    @cached_property
    def _header_text(self) -> tuple[bytes, list[int], set[int]]:
        """The class headers that are not kept as one text, where each starts in it, and which go over several lines."""
        starts, at, headers = [], 0, self._own[1]
        for hit, _ in headers:
            starts.append(at)
            at += len(hit.text) + 1
        split = {number for number, (hit, match) in enumerate(headers) if match[3] == b"(" and b")" not in hit.text}
        return b"\n".join(hit.text for hit, _ in headers), starts, split

    def _may_go_on(self, hit: Hit, word: re.Pattern[bytes]) -> bool:
        """Whether one of the next lines is nothing but one of the names; a header over several lines has one a line."""
        after = self._bare.get((hit.side, hit.path), [])
        return any(0 < each.number - hit.number < 20 and word.search(each.text) is not None for each in after)

    @cached_property
    def _bare(self) -> dict[tuple[int, str], list[Hit]]:
        found: dict[tuple[int, str], list[Hit]] = {}
        for hit in self._own[0]:
            is_inner = hit.text[:1] in (b" ", b"\t")
            if is_inner and _BARE_CLASS.match(hit.text) is not None and self._compiled.search(hit.text) is not None:
                found.setdefault((hit.side, hit.path), []).append(hit)
        return found

    def _rest(self, hit: Hit) -> bytes:
        """A class header that goes over several lines."""
        lines = self.raw(hit.side, hit.path).split(b"\n")[hit.number - 1 : hit.number + 20]
        return b" ".join(lines).partition(b"):")[0].partition(b"(")[2]

    @cached_property
    def _names(self) -> tuple[str, str]:
        """The names of all classes, one a line, and the same in small letters."""
        found = {match[2] for _, match in self._own[1]}
        if self._kept is not None:
            found.update(_KEPT_NAME.findall(self._kept.text()))
        names = "\n".join(sorted(name.decode("ascii", "replace") for name in found))
        return f"\n{names}\n", f"\n{names.lower()}\n"

    def is_customary(self, name: str) -> bool:
        """Whether objects of some class are called so: `batch` for a ScheduleBatch."""
        spelled, small = self._names
        wanted = f"{name.replace('_', '').lower()}\n"
        at = small.find(wanted)
        while at >= 0:
            if spelled[at].isupper():
                return True
            at = small.find(wanted, at + 1)
        return False

    @cached_property
    def _levels(self) -> dict[tuple[int, str], list[tuple[int, int, str]]]:
        """Side and path -> line, indentation and name of every class header in it, in order; but for what is kept."""
        found: dict[tuple[int, str], list[tuple[int, int, str]]] = {}
        for hit, match in self._own[1]:
            found.setdefault((hit.side, hit.path), []).append(_level(hit.number, match))
        return found

    def _levels_of(self, side: int, path: str) -> list[tuple[int, int, str]]:
        if self._kept is not None and path not in self.changed and (side, path) not in self._levels:
            matches = [(number, _HEADER.match(text)) for number, text in self._kept.of(path)]
            self._levels[side, path] = [_level(number, match) for number, match in matches if match is not None]
        return self._levels.get((side, path), [])

    def class_around(self, hit: Hit) -> str:
        """The simple name of the innermost class around a line, by indentation; "" outside of classes."""
        width = len(hit.text) - len(hit.text.lstrip(b" \t"))
        for number, indent, name in reversed(self._levels_of(hit.side, hit.path)):
            if number < hit.number and indent < width:
                return name
        return ""

    def _from(self, hit: Hit) -> list[bytes]:
        """The line and some of those behind it."""
        if (hit.side, hit.path) not in self._lines:
            self._lines[hit.side, hit.path] = self.raw(hit.side, hit.path).split(b"\n")
        return self._lines[hit.side, hit.path][hit.number - 1 : hit.number + 40]

    def _by_word(self, kind: str, name: str) -> Iterator[tuple[Hit, re.Match[bytes]]]:
        assert name in getattr(self.asked, kind)
        pattern = re.compile(_WRITES.replace("NAME", re.escape(name)).encode())
        for hit in self.saying(name):
            yield from ((hit, match) for match in pattern.finditer(hit.text))

    def _found(self) -> Iterator[tuple[int, str, int, bytes]]:
        """Side, path, number and text."""
        found = self._search() if self._search is not None else None
        names = self.asked.words | self.asked.defined
        needles = [b"class", b"property(", *(name.encode() for name in names)]
        if found is None:
            for path in self.change.new.paths():
                if path.endswith(".py") and path not in self.changed:
                    for number, text in lines_with(self.raw(NEW, path), needles, self._compiled):
                        yield NEW, path, number, text
        else:
            ours = {path for path, _, _ in found if path.endswith(".py")} - self.changed
            for path, number, text in found:
                if path in ours:
                    yield NEW, path, number, text
        for path in sorted(self.changed):
            for side in (0, 1):
                for number, text in lines_with(self.raw(side, path), needles, self._compiled):
                    yield side, path, number, text

    @cached_property
    def _compiled(self) -> re.Pattern[bytes]:
        return re.compile(rf"\b(?:{self.asked.alternatives})".encode())


_BARE_CLASS = re.compile(rb"[ \t]+(?:\w+\.)*[A-Z]\w*(?:\[[^\[\]]*\])?,?[ \t]*\Z")
_HEADER = re.compile(rb"([ \t]*)class[ \t]+(\w+)[ \t]*([(:])")
_DEFINES = r"(?:\b(?:def|class)[ \t]+NAME\b|^[ \t]+NAME[ \t]*=[ \t]*[\w.]*property\()"
_WRITES = (
    rf"\.NAME\b[ \t]*(?:(?::[^=,()]*)?{ASSIGNS}|,[^=()]*\)?[ \t]*=(?!=)|,?[ \t]*$)"
    r"|\bfor[ \t]+[\w., \t()]*\.NAME\b|\bas[ \t]+\(?[\w.]+\.NAME\b|\bdel[ \t]+[\w., \t()\[\]]*\.NAME\b"
    r"|(?:setattr|delattr|__dict__).*[\"']NAME[\"']"
)
_KEPT_NAME = re.compile(rb"^[0-9]+:[ \t]*class[ \t]+(\w+)[ \t]*[(:]", re.MULTILINE)


def _level(number: int, match: re.Match[bytes]) -> tuple[int, int, str]:
    return number, len(match[1]), match[2].decode("utf-8", "replace")
