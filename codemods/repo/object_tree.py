"""The files of one commit as a tree, read from the object store. The work tree is neither read nor touched.

Plain files only: symlinks and submodules of the commit are left out, as worktree.py leaves them out of a directory."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codemods.repo.git import Conversation, GitFailed, git
from codemods.repo.outside import outside_file, read_outside
from codemods.repo.state import Repository, find_repository, resolve_commit
from codemods.repo.walk import without
from codemods.repo.worktree import MAX_SEARCH_BYTES
from codemods.schema.errors import ConfigError, GitError, SourceError

_LINK = "120000"
_PLAIN = frozenset({"100644", "100755", "100664"})


class NoSuchRevision(GitError):
    """A text that should name a commit names none."""

    code = "no-such-revision"

    def __init__(self, rev: str) -> None:
        super().__init__(f"{rev!r} names no commit", fix="name a branch, a tag or a commit hash that git knows")


class CommitTree:
    """The files under `root` as they are in the commit `rev` names. Close it, or use it as a context manager.

    root: a directory in the work tree, or a bare repository. commit: the full hash."""

    def __init__(self, root: Path, rev: str, exclude: Sequence[str] = ()) -> None:
        if not root.is_dir():
            raise ConfigError(f"{root} is not a directory", fix="name the directory of the tree with --root")
        found = find_repository(root)
        if found is None:
            raise GitError(f"{root} is not in a git repository", fix="run `git init` there, or name another --root")
        commit = resolve_commit(found, rev)
        if commit is None:
            raise NoSuchRevision(rev)
        self.repository: Repository = found
        self.commit = commit
        self._exclude = tuple(exclude)
        self._oids: dict[str, str] | None = None
        self._outside: dict[str, Path] = {}
        self._objects: Conversation | None = None

    def paths(self) -> tuple[str, ...]:
        """Every plain file, sorted, relative to the root."""
        return tuple(self._listed())

    def read(self, path: str) -> bytes:
        """Raw bytes as stored. Raises SourceError for a path that is not in `paths()`."""
        raw = self._read(path, None)
        assert raw is not None
        return raw

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for, one at a time. Leaves out files above MAX_SEARCH_BYTES."""
        for path in paths:
            raw = self._read(path, MAX_SEARCH_BYTES)
            if raw is not None:
                yield path, raw

    def _listed(self) -> dict[str, str]:
        if self._oids is None:
            self._oids = self._list()
        return self._oids

    def _list(self) -> dict[str, str]:
        treeish = f"{self.commit}:{self.repository.prefix}"
        try:
            said = os.fsdecode(git("ls-tree", "-r", "-z", "--full-tree", treeish, cwd=self.repository.root))
        except GitFailed as error:
            raise GitError(
                f"{self.commit[:12]} has no directory {self.repository.prefix!r}",
                fix="name a commit that has it, or another --root",
            ) from error
        found: dict[str, str] = {}
        for line in said.split("\0")[:-1]:
            head, _, path = line.partition("\t")
            mode, _, oid = head.split(" ")
            if mode in _PLAIN:
                found[path] = oid
            elif mode == _LINK and (target := outside_file(self.repository.root, path)) is not None:
                self._outside[path] = target
                found[path] = oid
        environments = tuple(path.removesuffix("pyvenv.cfg") for path in found if path.endswith("/pyvenv.cfg"))
        if environments:
            found = {path: oid for path, oid in found.items() if not path.startswith(environments)}
        kept = without(found, self._exclude) if self._exclude else found
        return {path: found[path] for path in sorted(kept)}

    def _read(self, path: str, limit: int | None) -> bytes | None:
        oid = self._listed().get(path)
        if oid is None:
            raise SourceError(f"is not a file of {self.commit[:12]}", fix="name a file of that commit", path=path)
        if path in self._outside:
            return read_outside(self._outside[path], path)
        if self._objects is None:
            self._objects = Conversation("cat-file", "--batch", cwd=self.repository.root)
            weakref.finalize(self, self._objects.close)
        # One question at a time: asking ahead saves a tenth, and breaks when the caller reads another file meanwhile.
        self._objects.ask(f"{oid}\n".encode("ascii"))
        head = self._objects.line()
        size = head.rpartition(b" ")[2]
        if not size.isdigit():
            raise GitError(
                f"the repository lacks the object {oid}, which is {path}",
                fix="run `git fsck`; in a partial clone, `git fetch --refetch`",
            )
        num_bytes = int(size)
        if limit is not None and num_bytes > limit:
            self._objects.skip(num_bytes + 1)
            return None
        return self._objects.exactly(num_bytes + 1)[:-1]

    def close(self) -> None:
        """Ends the git process behind the tree; the next read starts another."""
        if self._objects is not None:
            self._objects.close()
            self._objects = None

    def __enter__(self) -> CommitTree:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
