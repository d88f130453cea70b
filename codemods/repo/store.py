"""Objects of a repository by their ids: commits, trees and blobs, from one long-lived `git cat-file --batch`.

Nothing but the object itself is believed. Every object is hashed again and must have the id that was asked for; replace
refs and grafts change nothing, because parents and trees are read from the commit's own bytes; a lazy fetch, which
could run a program that the repository names, is off. What is missing, malformed or larger than a limit is an error or
an answer of its own, never a guess. Which objects matter is decided by the callers."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from codemods.repo.git import Conversation
from codemods.schema.errors import GitError

# Larger blobs are not read: nobody wrote them by hand, and a diff of them helps nobody.
MAX_BLOB_BYTES = 20_000_000
# Larger trees and commits are refused: git itself makes none of this size from files that people keep.
MAX_META_BYTES = 64_000_000
MAX_TREE_DEPTH = 256
HARDENED = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_GRAFT_FILE": os.devnull}

_KEEP_BLOB_BYTES = 32_000_000
_KEEP_ENTRIES = 120_000
_ASK_AT_ONCE = 512
_ASK_AHEAD = 64
_HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_BAD_NAMES = frozenset({b"", b".", b"..", b".git"})

DIRECTORY, LINK, SUBMODULE = "40000", "120000", "160000"
_MODES = {each.encode(): each for each in ("100644", "100755", DIRECTORY, LINK, SUBMODULE)}
# By the length of the ids in hexadecimal digits: mode, name, id.
_TREE_ENTRY = {digits: re.compile(rb"([^ ]{0,7}) ([^\0/]*)\0(.{%d})" % (digits // 2), re.DOTALL) for digits in (40, 64)}


class BadObject(GitError):
    """An object is missing, is not what its id says, or can't be read as what it should be."""

    code = "bad-object"


class Entry(Struct, frozen=True):
    """One line of a tree object; `mode` as git writes it there: 100644, 100755, 120000, 160000, 40000."""

    mode: str
    oid: str

    @property
    def is_directory(self) -> bool:
        return self.mode == DIRECTORY

    @property
    def is_file(self) -> bool:
        return self.mode.startswith("100")


class Commit(Struct, frozen=True, kw_only=True):
    """A commit as its own bytes have it. message: as text, undecodable bytes escaped."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    message: str

    @property
    def subject(self) -> str:
        return self.message.lstrip("\n").partition("\n")[0]


class ObjectStore:
    """Close it, or use it as a context manager. git_dir: of the repository, as git names it."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._process: Conversation | None = None
        self._trees: dict[str, dict[str, Entry]] = {}
        self._num_entries = 0
        self._blobs: OrderedDict[str, bytes] = OrderedDict()
        self._blob_bytes = 0
        self.notes: dict[str, object] = {}  # facts about objects of this repository, by whoever finds them

    def commit(self, oid: str) -> Commit:
        raw = self._object(oid, b"commit", MAX_META_BYTES)
        assert raw is not None
        return _parse_commit(oid, raw)

    def tree(self, oid: str) -> dict[str, Entry]:
        """Name -> entry. The mapping is shared: leave it as it is."""
        found = self._trees.get(oid)
        if found is None:
            raw = self._object(oid, b"tree", MAX_META_BYTES)
            assert raw is not None
            found = self._keep_tree(oid, raw)
        return found

    def load_trees(self, oids: Iterable[str]) -> None:
        """Reads many trees at once, for callers that will ask for each of them."""
        missing = [oid for oid in dict.fromkeys(oids) if oid not in self._trees]
        for start in range(0, len(missing), _ASK_AT_ONCE):
            asked = missing[start : start + _ASK_AT_ONCE]
            with self._conversation() as talk:
                talk.ask("".join(f"{oid}\n" for oid in asked).encode("ascii"))
                for oid in asked:
                    raw = _answer(talk, oid, b"tree", MAX_META_BYTES)
                    assert raw is not None
                    self._keep_tree(oid, raw)

    def blob(self, oid: str) -> bytes | None:
        """Its bytes; None when there are more than MAX_BLOB_BYTES."""
        found = self._blobs.get(oid)
        if found is not None:
            self._blobs.move_to_end(oid)
            return found
        raw = self._object(oid, b"blob", MAX_BLOB_BYTES)
        if raw is not None:
            self._blobs[oid] = raw
            self._blob_bytes += len(raw)
            while self._blob_bytes > _KEEP_BLOB_BYTES and len(self._blobs) > 1:
                self._blob_bytes -= len(self._blobs.popitem(last=False)[1])
        return raw

    def blobs(self, oids: Iterable[str]) -> Iterator[bytes | None]:
        """As `blob`, for many in a row; asks ahead, which takes a third less time. Keeps none of them."""
        waiting = list(oids)
        for start in range(0, len(waiting), _ASK_AHEAD):
            asked = waiting[start : start + _ASK_AHEAD]
            with self._conversation() as talk:
                talk.ask("".join(f"{oid}\n" for oid in asked).encode("ascii"))
                # All answers before the first is handed on: whoever gets it may ask for something else.
                answers = [_answer(talk, oid, b"blob", MAX_BLOB_BYTES) for oid in asked]
            yield from answers

    def _keep_tree(self, oid: str, raw: bytes) -> dict[str, Entry]:
        found = _parse_tree(oid, raw)
        self._num_entries += len(found)
        if self._num_entries > _KEEP_ENTRIES:
            self._trees.clear()
            self._num_entries = len(found)
        self._trees[oid] = found
        return found

    def _object(self, oid: str, kind: bytes, limit: int) -> bytes | None:
        if _HEX.match(oid) is None:
            raise BadObject(f"{oid!r} is not a full object id", fix="give the whole hash")
        with self._conversation() as talk:
            talk.ask(f"{oid}\n".encode("ascii"))
            return _answer(talk, oid, kind, limit)

    @contextlib.contextmanager
    def _conversation(self) -> Iterator[Conversation]:
        """With the process, which is ended when anything comes between a question and its answer (time is up, the user
        interrupts): the next question would get the answer to this one."""
        if self._process is None:
            argv = (f"--git-dir={self.git_dir}", "cat-file", "--batch")
            self._process = Conversation(*argv, cwd=self.git_dir, extra=HARDENED)
        try:
            yield self._process
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the git process; the next question starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __enter__(self) -> ObjectStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


_FSCK = "run `git fsck`, and mend the repository or clone it anew"


def _answer(talk: Conversation, oid: str, kind: bytes, limit: int) -> bytes | None:
    """The next answer, checked. None for a blob above the limit."""
    head = talk.line().split(b" ")
    if len(head) != 3 or not head[2].isdigit():
        raise BadObject(
            f"the repository lacks the object {oid}",
            fix="run `git fsck`; in a shallow or partial clone, fetch what is missing (`git fetch --unshallow`)",
        )
    num_bytes = int(head[2])
    if num_bytes > limit:
        talk.skip(num_bytes + 1)
        if kind == b"blob":
            return None
        raise BadObject(f"the object {oid} has {num_bytes:,} bytes, which no real tree or commit has", fix=_FSCK)
    raw = talk.exactly(num_bytes + 1)[:-1]
    if head[1] != kind:
        raise BadObject(f"the object {oid} is a {head[1].decode()}, not a {kind.decode()}", fix=_FSCK)
    if _hash(head[1], raw, len(oid)) != oid:
        raise BadObject(f"the bytes stored for the object {oid} have another hash", fix=_FSCK)
    return raw


def _hash(kind: bytes, raw: bytes, length: int) -> str:
    """The id git gives these bytes; SHA-256 in repositories of that format."""
    head = b"%s %d\0" % (kind, len(raw))
    if length == 40:
        return hashlib.sha1(head + raw, usedforsecurity=False).hexdigest()
    return hashlib.sha256(head + raw).hexdigest()


def empty_tree(oid: str) -> str:
    """The id of the tree without entries, in the format of `oid`."""
    return _hash(b"tree", b"", len(oid))


def _parse_tree(oid: str, raw: bytes) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    start = 0
    entry = _TREE_ENTRY[len(oid)]
    for found in entry.finditer(raw):
        mode, name, number = found.groups()
        if found.start() != start or name in _BAD_NAMES:
            break
        text = os.fsdecode(name)
        if text in entries:
            raise BadObject(f"the tree {oid} has {text!r} twice", fix=_FSCK)
        entries[text] = Entry(_MODES.get(mode) or mode.decode("ascii", "replace"), number.hex())
        start = found.end()
    if start != len(raw):
        raise BadObject(f"the tree {oid} has an entry that git would not write", fix=_FSCK)
    return entries


def _parse_commit(oid: str, raw: bytes) -> Commit:
    head, _, message = raw.partition(b"\n\n")
    lines = head.split(b"\n")
    tree = _id_after(oid, b"tree ", lines[0])
    parents = []
    for line in lines[1:]:
        if not line.startswith(b"parent "):
            break
        parents.append(_id_after(oid, b"parent ", line))
    return Commit(oid=oid, tree=tree, parents=tuple(parents), message=message.decode("utf-8", "backslashreplace"))


def _id_after(oid: str, word: bytes, line: bytes) -> str:
    found = line.removeprefix(word).decode("ascii", "replace")
    if not line.startswith(word) or _HEX.match(found) is None or len(found) != len(oid):
        raise BadObject(f"the commit {oid} can't be read", fix=_FSCK)
    return found


def check_depth(path: str, names: Sequence[str] = ()) -> None:
    """Raises BadObject for a directory deeper than MAX_TREE_DEPTH."""
    if path.count("/") + len(names) > MAX_TREE_DEPTH:
        raise BadObject(
            f"the tree has directories more than {MAX_TREE_DEPTH} deep", fix="nobody keeps code so deep: look at it"
        )
