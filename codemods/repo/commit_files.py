"""A tree of the object store as the base of a FileSet: paths, bytes, and which files mention a word.

Plain files only, all of them: no setting leaves one out, because what is left out is not checked. Files above
MAX_BLOB_BYTES are listed and can't be read. One `git grep` answers for any number of words, so whoever has many should
say so before (`expect`); it runs while others work, and the answers are kept."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Iterable, Iterator

from codemods.repo.git import Background, GitFailed
from codemods.repo.store import HARDENED, MAX_BLOB_BYTES, ObjectStore
from codemods.repo.tree_diff import entries_of, entry_at
from codemods.schema.errors import SourceError
from codemods.source.index import DOCUMENT_SUFFIXES, PYTHON_SUFFIXES

# Attributes are not asked (`--text`): a .gitattributes file could call Python files binary and hide them. One pattern
# for all words, as Perl has them: with `-F -w` git takes ten times as long for twenty words.
_GREP = (
    "grep", "--perl-regexp", "--only-matching", "--text", "--no-textconv", "--no-color", "--null", "--no-line-number",
    "--no-column", "--full-name", "--no-recurse-submodules", "--no-ext-grep",
)  # fmt: skip
_GREP_LINES = tuple(each.replace("--no-line", "--line") for each in _GREP if each != "--only-matching")
_GREP_SETTINGS = ("-c", "core.commitGraph=false", "-c", "grep.fallbackToNoIndex=false")
_PLAIN = re.compile(r"[A-Za-z0-9_]+\Z")
# A search takes nearly the time that reading the whole tree does, after which each further word is found at once.
MAX_SEARCHES = 1
# Words that stand everywhere are not worth a search.
MAX_SEARCH_OUTPUT = 40_000_000


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
        """Begins to search for words that `mentions` will be asked for; the search goes on while others work."""
        missing = [word for word in dict.fromkeys(words) if word not in self._mentions and _PLAIN.match(word)]
        if missing and self._search is None and self._num_searches < MAX_SEARCHES:
            self._num_searches += 1
            argv = [f"--git-dir={self.store.git_dir}", *_GREP_SETTINGS, *_GREP, "-f", "-", self.tree, "--"]
            argv += [f"*{suffix}" for suffix in PYTHON_SUFFIXES + DOCUMENT_SUFFIXES]
            stdin = f"\\b(?:{'|'.join(missing)})\\b\n".encode("ascii")
            self._searched = missing
            self._search = Background(*argv, cwd=self.store.git_dir, stdin=stdin, extra=HARDENED)
            weakref.finalize(self, self._search.close)

    def mentions(self, words: Iterable[str]) -> dict[str, tuple[str, ...]] | None:
        """Word -> sorted paths of the Python files and documents in which it stands as a whole word of ASCII letters,
        digits and underscores. None where that is not known after MAX_SEARCHES: reading all is faster then."""
        asked = list(dict.fromkeys(words))
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
        try:
            said = search.result(MAX_SEARCH_OUTPUT)
        except GitFailed as error:
            if error.returncode != 1 or error.stderr != "nothing":
                return  # a git without this kind of pattern: the files will be read instead
            said = b""
        if said is None:
            return
        found: dict[str, set[str]] = {word: set() for word in self._searched}
        # TREE:path, NUL, word, line feed, again and again; a path may hold line feeds, a word can't.
        head = len(self.tree) + 1
        name, *parts = os.fsdecode(said).split("\0")
        for part in parts:
            word, _, following = part.partition("\n")
            found[word].add(name[head:])
            name = following
        self._mentions.update((word, tuple(sorted(paths))) for word, paths in found.items())

    def search_lines(self, pattern: str, suffixes: Iterable[str]) -> Callable[[], list[tuple[str, int, bytes]] | None]:
        """Begins to search for the lines that match a Perl pattern. What comes back waits for the end and gives path,
        number and text of each; None when this git can't search so, or a path has a line feed: what it says can't be
        told apart then."""
        argv = [f"--git-dir={self.store.git_dir}", *_GREP_SETTINGS, *_GREP_LINES, "-f", "-", self.tree, "--"]
        argv += [f"*{suffix}" for suffix in suffixes]
        search = Background(*argv, cwd=self.store.git_dir, stdin=os.fsencode(f"{pattern}\n"), extra=HARDENED)
        weakref.finalize(self, search.close)

        def found() -> list[tuple[str, int, bytes]] | None:
            try:
                said = search.result(MAX_SEARCH_OUTPUT)
            except GitFailed as error:
                return [] if error.returncode == 1 and error.stderr == "nothing" else None
            return _lines_of(said, len(self.tree) + 1) if said is not None else None

        return found


def _lines_of(said: bytes, head: int) -> list[tuple[str, int, bytes]] | None:
    """What `git grep` says of lines; head: the length of what stands before each path."""
    found = []
    raw, path = b"", ""
    for line in said.split(b"\n")[:-1]:
        name, _, rest = line.partition(b"\0")
        number, _, text = rest.partition(b"\0")
        if not number.isdigit():
            return None
        if name != raw:
            raw, path = name, os.fsdecode(name[head:])
        found.append((path, int(number), text))
    return found
