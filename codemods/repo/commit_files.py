"""A tree of the object store as the base of a FileSet: paths, bytes, and which files mention a word.

Plain files only, all of them: no setting leaves one out, because what is left out is not checked. Files above
MAX_BLOB_BYTES are listed and can't be read. One `git grep` answers for any number of words, so whoever has many should
ask for all of them at once; the answers are kept."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from codemods.repo.git import GitFailed, git
from codemods.repo.store import HARDENED, MAX_BLOB_BYTES, ObjectStore
from codemods.repo.tree_diff import entries_of, entry_at
from codemods.schema.errors import SourceError
from codemods.source.index import DOCUMENT_SUFFIXES, PYTHON_SUFFIXES

# Attributes are not asked (`--text`): a .gitattributes file could call Python files binary and so hide them.
_GREP = (
    "grep", "--fixed-strings", "--word-regexp", "--only-matching", "--text", "--no-textconv", "--no-color", "--null",
    "--no-line-number", "--no-column", "--full-name", "--no-recurse-submodules", "--no-ext-grep",
)  # fmt: skip
_GREP_LINES = (
    "grep", "--perl-regexp", "--text", "--no-textconv", "--no-color", "--null", "--line-number", "--no-column",
    "--full-name", "--no-recurse-submodules", "--no-ext-grep",
)  # fmt: skip
# A search takes nearly the time that reading the whole tree does, after which each further word is found at once.
MAX_GREPS = 1
_GREP_SETTINGS = ("-c", "core.commitGraph=false", "-c", "grep.fallbackToNoIndex=false")


class CommitFiles:
    """The files of the tree with the id `tree`. The store is the caller's to close."""

    def __init__(self, store: ObjectStore, tree: str) -> None:
        self.store, self.tree = store, tree
        self._paths: tuple[str, ...] | None = None
        self._oids: dict[str, str] | None = None
        self._mentions: dict[str, tuple[str, ...]] = {}
        self._num_greps = 0

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

    def mentions(self, words: Iterable[str]) -> dict[str, tuple[str, ...]] | None:
        """Word -> sorted paths of the Python files and documents in which it stands as a whole word of ASCII letters,
        digits and underscores. None when that would take more than MAX_GREPS searches: reading is faster then."""
        asked = list(dict.fromkeys(words))
        missing = [word for word in asked if word not in self._mentions]
        if missing:
            if self._num_greps == MAX_GREPS:
                return None
            self._num_greps += 1
            for word, found in self._grep(missing).items():
                self._mentions[word] = tuple(sorted(found))
        return {word: self._mentions[word] for word in asked}

    def _grep(self, words: Sequence[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {word: set() for word in words}
        # Not a word that git could match as one line: nothing mentions it.
        searched = [word for word in words if word and "\n" not in word and "\0" not in word]
        if not searched:
            return found
        # Patterns come from stdin: there may be more of them than a command line holds.
        argv = [f"--git-dir={self.store.git_dir}", *_GREP_SETTINGS, *_GREP, "-f", "-", self.tree, "--"]
        argv += [f"*{suffix}" for suffix in PYTHON_SUFFIXES + DOCUMENT_SUFFIXES]
        stdin = os.fsencode("".join(f"{word}\n" for word in searched))
        try:
            said = git(*argv, cwd=self.store.git_dir, stdin=stdin, extra=HARDENED)
        except GitFailed as error:
            if error.returncode == 1 and error.stderr == "nothing":
                return found
            raise
        # TREE:path, NUL, word, line feed, again and again; a path may hold line feeds, a word can't.
        head = len(self.tree) + 1
        name, *parts = os.fsdecode(said).split("\0")
        for part in parts:
            word, _, following = part.partition("\n")
            found[word].add(name[head:])
            name = following
        return found

    def lines(self, pattern: str, suffixes: Sequence[str]) -> list[tuple[str, int, bytes]] | None:
        """Path, number and text of the lines that match a Perl pattern. None when this git can't search for one, or a
        path has a line feed: what it says can't be told apart then."""
        argv = [f"--git-dir={self.store.git_dir}", *_GREP_SETTINGS, *_GREP_LINES, "-f", "-", self.tree, "--"]
        argv += [f"*{suffix}" for suffix in suffixes]
        try:
            said = git(*argv, cwd=self.store.git_dir, stdin=os.fsencode(f"{pattern}\n"), extra=HARDENED)
        except GitFailed as error:
            return [] if error.returncode == 1 and error.stderr == "nothing" else None
        found = []
        head = len(self.tree) + 1
        for line in said.split(b"\n")[:-1]:
            path, _, rest = line.partition(b"\0")
            number, _, text = rest.partition(b"\0")
            if not number.isdigit():
                return None
            found.append((os.fsdecode(path[head:]), int(number), text))
        return found
