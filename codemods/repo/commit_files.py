"""A tree of the object store as the base of a FileSet: paths, bytes, and which files mention a word.

Plain files only, all of them: no setting leaves one out, because what is left out is not checked. Files above
MAX_BLOB_BYTES are listed and can't be read. Where there is an index of the words of the repository (`use_index`), it
is asked. Else one `git grep` answers for any number of words, so whoever has many should say so before (`expect`); it
runs while others work, and the answers are kept."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from msgspec import Struct

from codemods.repo.git import Background, GitFailed
from codemods.repo.kept_lines import FoundLine, KeptLines
from codemods.repo.store import HARDENED, MAX_BLOB_BYTES, ObjectStore
from codemods.repo.tree_diff import entries_of, entry_at
from codemods.repo.word_index import WordIndex
from codemods.schema.errors import SourceError
from codemods.source.index import DOCUMENT_SUFFIXES, PYTHON_SUFFIXES
from codemods.source.line_matches import line_starts

# Attributes are not asked (`--text`): a .gitattributes file could call Python files binary and hide them. One pattern
# for everything, as Perl has them: with `-F -w` git takes ten times as long for twenty words, and each further search
# has to unpack the whole tree again.
_GREP = (
    "grep", "--perl-regexp", "--text", "--no-textconv", "--no-color", "--null", "--line-number", "--no-column",
    "--full-name", "--no-recurse-submodules", "--no-ext-grep",
)  # fmt: skip
_GREP_SETTINGS = ("-c", "core.commitGraph=false", "-c", "grep.fallbackToNoIndex=false")
_PLAIN = re.compile(r"[A-Za-z0-9_]+\Z")
_WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
# TREE:path, NUL, number, NUL, text, line feed; a path may hold line feeds, the rest can't.
_FOUND_LINE = re.compile(rb"([^\0]*)\0([0-9]+)\0([^\n]*)\n")
# A search takes half the time that reading the whole tree does, after which each further word is found at once.
MAX_SEARCHES = 2
# Words that stand everywhere are not worth a search.
MAX_SEARCH_OUTPUT = 60_000_000
# Files: a smaller tree is searched by git in no time.
MIN_INDEXED = 300

_INDEX = "words"  # a note of the store


def use_index(store: ObjectStore, index: WordIndex) -> None:
    """Has the trees of a store that are large enough searched by an index, which grows with them."""
    store.notes[_INDEX] = index


def cover(store: ObjectStore, tree: str) -> None:
    """Takes a tree into the index of its store, if it has one."""
    CommitFiles(store, tree)._index()


class CommitFiles:
    """The files of the tree with the id `tree`. The store is the caller's to close."""

    def __init__(self, store: ObjectStore, tree: str) -> None:
        self.store, self.tree = store, tree
        self._paths: tuple[str, ...] | None = None
        self._oids: dict[str, str] | None = None
        self._mentions: dict[str, tuple[str, ...]] = {}
        self._num_searches = 0
        self._search: Background | None = None
        self._searched: list[str] = []
        self._wanted: _Lines | None = None  # what waits for the next search
        self._sought: _Lines | None = None  # what the search that goes on is looking for, apart from words
        self._indexed: dict[str, tuple[str, ...]] | None = None  # id -> paths of what the index covers

    def paths(self) -> tuple[str, ...]:
        """Every plain file, sorted."""
        if self._paths is None:
            self._oids = {path: entry.oid for path, entry in entries_of(self.store, self.tree) if entry.is_file}
            self._paths = tuple(sorted(self._oids))
        return self._paths

    def oid(self, path: str) -> str | None:
        """The id of the plain file at `path`, without listing the tree; None when there is none."""
        if self._oids is not None:
            return self._oids.get(path)
        entry = entry_at(self.store, self.tree, path)
        return entry.oid if entry is not None and entry.is_file else None

    def read(self, path: str) -> bytes:
        """Raises SourceError for a path that is not a plain file of the tree, or is too large."""
        oid = self.oid(path)
        if oid is None:
            raise SourceError(f"is not a file of the tree {self.tree[:12]}", fix="name a file of it", path=path)
        raw = self.store.blob(oid)
        if raw is None:
            raise SourceError(f"has more than {MAX_BLOB_BYTES:,} bytes", fix="look at it by hand", path=path)
        return raw

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for; leaves out files above MAX_BLOB_BYTES."""
        self.paths()
        assert self._oids is not None
        asked = [path for path in paths if path in self._oids]
        for path, raw in zip(asked, self.store.blobs(self._oids[path] for path in asked), strict=True):
            if raw is not None:
                yield path, raw

    def expect(self, words: Iterable[str]) -> None:
        """Begins to search for words that `mentions` will be asked for, and for the lines that wait for a search; it
        goes on while others work."""
        if self._index() is not None:
            return
        missing = [word for word in dict.fromkeys(words) if word not in self._mentions and _PLAIN.match(word)]
        if missing and self._search is None and self._num_searches < MAX_SEARCHES:
            self._num_searches += 1
            self._begin(missing)
        elif self._wanted is not None and self._search is None:
            self._begin([])

    def _begin(self, words: list[str]) -> None:
        wanted, self._wanted = self._wanted, None
        parts = [rf"(?:{'|'.join(words)})\b"] if words else []
        suffixes: tuple[str, ...] = (*PYTHON_SUFFIXES, *DOCUMENT_SUFFIXES) if words else ()
        if wanted is not None:
            parts.insert(0, wanted.pattern)
            wanted.is_sought = True
            suffixes = tuple(dict.fromkeys(suffixes + wanted.suffixes))
        argv = [f"--git-dir={self.store.git_dir}", *_GREP_SETTINGS, *_GREP, "-f", "-", self.tree, "--"]
        argv += [f"*{suffix}" for suffix in suffixes]
        stdin = os.fsencode(rf"\b(?:{'|'.join(parts)})" + "\n")
        self._searched, self._sought = words, wanted
        self._search = Background(*argv, cwd=self.store.git_dir, stdin=stdin, extra=HARDENED)
        weakref.finalize(self, self._search.close)

    def mentions(self, words: Iterable[str]) -> dict[str, tuple[str, ...]] | None:
        """Word -> sorted paths of the Python files and documents in which it stands as a whole word of ASCII letters,
        digits and underscores. None where that is not known after MAX_SEARCHES: reading all is faster then."""
        asked = list(dict.fromkeys(words))
        index = self._index()
        if index is not None:
            self._look_up(index, asked)
            return {word: self._mentions[word] for word in asked} if self._mentions.keys() >= set(asked) else None
        for _ in range(2):
            self._finish()
            if all(word in self._mentions for word in asked):
                return {word: self._mentions[word] for word in asked}
            self.expect(asked)
        return None

    def _finish(self) -> None:
        """Takes in what a search has found."""
        if self._search is None:
            return
        search, self._search = self._search, None
        wanted, self._sought = self._sought, None
        try:
            said = search.result(MAX_SEARCH_OUTPUT)
        except GitFailed as error:
            if error.returncode != 1 or error.stderr != "nothing":
                return  # a git without this kind of pattern: the files will be read instead
            said = b""
        found = _lines_of(said, len(self.tree) + 1) if said is not None else None
        if found is None:
            return
        if wanted is not None:
            wanted.found = found
        if self._searched:
            self._mentions.update(_paths_of(self._searched, found))

    def _index(self) -> WordIndex | None:
        """The index of the repository, when it covers this tree."""
        index = self.store.notes.get(_INDEX)
        if not isinstance(index, WordIndex):
            return None
        if self._indexed is None:
            self.paths()
            assert self._oids is not None
            by_oid: dict[str, tuple[str, ...]] = {}
            for path, oid in self._oids.items():
                if path.endswith(PYTHON_SUFFIXES + DOCUMENT_SUFFIXES):
                    by_oid[oid] = (*by_oid.get(oid, ()), path)
            is_covered = len(by_oid) >= MIN_INDEXED and index.cover(self.store, by_oid)
            self._indexed = by_oid if is_covered else {}
        return index if self._indexed else None

    def _look_up(self, index: WordIndex, words: Iterable[str]) -> None:
        assert self._indexed is not None
        for word in words:
            if word not in self._mentions and _PLAIN.match(word):
                found = [self._indexed[oid] for oid in index.holding(word) if oid in self._indexed]
                self._mentions[word] = tuple(sorted(chain.from_iterable(found)))

    def search_lines(
        self,
        pattern: str,
        suffixes: Iterable[str],
        words: Iterable[str],
        defined: Iterable[str],
        stored: Iterable[str],
        needles: Callable[[str, str], tuple[bytes, ...]],
    ) -> Callable[[], list[FoundLine] | None]:
        """Will search for the lines that match a Perl pattern, each alternative of which begins with a word: along with
        the words of the next `expect`. What comes back waits for the end and gives path, number and text of each, and
        perhaps of other lines; None when this git can't search so, or there are too many.

        Such a line has one of the words, or one of the defined ones behind `def`, or one of the stored ones where it
        may be an attribute that is stored, or starts a class, or makes a property. needles: of a path and one of the
        words, what each line has that matters; nothing for a file that does not."""
        asked = list(words), list(defined), list(stored)
        index = self._index_for(chain.from_iterable(asked))
        if index is not None:
            known = index
            return lambda: list(self._indexed_lines(known, pattern, tuple(suffixes), *asked, needles))
        wanted = self._wanted = _Lines(pattern=pattern, suffixes=tuple(suffixes))

        def found() -> list[FoundLine] | None:
            if not wanted.is_sought:
                self._finish()
                self._wanted = wanted
                self._begin([])
            if self._sought is wanted:
                self._finish()
            return wanted.found

        return found

    def _indexed_lines(
        self,
        index: WordIndex,
        pattern: str,
        suffixes: tuple[str, ...],
        words: list[str],
        defined: list[str],
        stored: list[str],
        needles: Callable[[str, str], tuple[bytes, ...]],
    ) -> Iterator[FoundLine]:
        """As `git grep` would find them, in the same order, without the lines that the index has."""
        assert self._oids is not None and self._indexed is not None
        self._look_up(index, words)
        held = [(path, needles(path, word)) for word in words for path in self._mentions[word]]
        for word in defined:
            paths = [path for oid in index.defining(word) for path in self._indexed.get(oid, ())]
            held += [(path, (word.encode("ascii"),)) for path in paths]
        for word in stored:
            paths = [path for oid in index.storing(word) for path in self._indexed.get(oid, ())]
            held += [(path, needles(path, word)) for path in paths]
        wanted: dict[str, list[bytes]] = {}
        for path, sought in held:
            if sought and path.endswith(suffixes):
                wanted.setdefault(path, []).extend(sought)
        compiled = re.compile(rf"\b(?:{pattern})".encode())
        for path, raw in self.read_many(sorted(wanted)):
            kept = {number for number, _ in index.lines(self._oids[path])}
            yield from (
                (path, number, text) for number, text in lines_with(raw, wanted[path], compiled) if number not in kept
            )

    def kept_lines(self, suffixes: tuple[str, ...], words: Iterable[str]) -> KeptLines | None:
        """The lines that start a class or make a property, where an index knows them; `search_lines` for such words
        leaves them out then."""
        index = self._index_for(words)
        return KeptLines(index, self._indexed or {}, suffixes) if index is not None else None

    def _index_for(self, words: Iterable[str]) -> WordIndex | None:
        index = self._index()
        return index if index is not None and all(_PLAIN.match(word) for word in words) else None


class _Lines(Struct, kw_only=True):
    """Lines that somebody wants; found: None until they are, or when they can't be."""

    pattern: str
    suffixes: tuple[str, ...]
    is_sought: bool = False
    found: list[FoundLine] | None = None


def lines_with(text: bytes, words: Iterable[bytes], pattern: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """Number and text of the lines that have one of the words and match."""
    starts = {start for word in words for start in line_starts(text, word)}
    number, counted = 1, 0
    for start in sorted(starts):
        end = text.find(b"\n", start)
        line = text[start : end if end >= 0 else len(text)]
        if pattern.search(line) is not None:
            number += text.count(b"\n", counted, start)
            counted = start
            yield number, line


def _lines_of(said: bytes, head: int) -> list[FoundLine] | None:
    """What `git grep` says of lines; head: the length of what stands before each path."""
    parts = _FOUND_LINE.findall(said)
    if sum(map(len, chain.from_iterable(parts))) + 3 * len(parts) != len(said):
        return None
    names = {name: os.fsdecode(name[head:]) for name in {part[0] for part in parts}}
    return [(names[name], int(number), text) for name, number, text in parts]


def _paths_of(words: Iterable[str], found: Iterable[FoundLine]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each word with the sorted paths of the lines that have it."""
    lines: dict[str, list[bytes]] = {}
    for path, _, text in found:
        lines.setdefault(path, []).append(text)
    texts = [(path, b"\n".join(each)) for path, each in lines.items()]
    for word in words:
        raw = word.encode("ascii")
        yield word, tuple(sorted(path for path, text in texts if raw in text and _has_word(text, raw)))


def _has_word(text: bytes, word: bytes) -> bool:
    """Whether a word of ASCII letters, digits and underscores stands in a text as a whole, as Perl patterns see it."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if (at == 0 or text[at - 1] not in _WORD_BYTES) and (end == len(text) or text[end] not in _WORD_BYTES):
            return True
        at = text.find(word, at + 1)
    return False
