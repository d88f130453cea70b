"""A directory as it lies there, for a comparison of two of them. No .gitignore, no setting and no git has a say: a file
that one of them hides would not be checked. Only `.git` and compiled files in __pycache__ are passed over."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from codemods.repo.store import LINK, MAX_BLOB_BYTES, Entry, check_depth
from codemods.repo.tree_diff import MAX_FILES, TooMuch
from codemods.schema.errors import ConfigError, SourceError

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# What is neither a file nor a link nor a directory: a pipe, a socket, a device. git has no mode for it.
SPECIAL = "special"


class PlainTree:
    """The files under `root`. The list is made once, links are never followed."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise ConfigError(f"{root} is not a directory", fix="name two directories, or a commit, or a range A..B")
        self.root = Path(os.path.realpath(root))
        self._modes: dict[str, str] | None = None

    def modes(self) -> dict[str, str]:
        """Every path that is not a directory -> its mode as git would write it, or SPECIAL."""
        if self._modes is None:
            self._modes = dict(self._walk())
        return self._modes

    def paths(self) -> tuple[str, ...]:
        """The plain files, sorted."""
        return tuple(sorted(path for path, mode in self.modes().items() if mode.startswith("100")))

    def read(self, path: str) -> bytes:
        """Raises SourceError for what is no plain file, can't be read, or has more than MAX_BLOB_BYTES."""
        try:
            file = os.open(self.root / path, _FLAGS)
            try:
                status = os.fstat(file)
                if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BLOB_BYTES:
                    raise SourceError("is no plain file, or too large to read", fix="look at it by hand", path=path)
                parts = []
                while part := os.read(file, 1 << 20):
                    parts.append(part)
            finally:
                os.close(file)
        except (OSError, ValueError) as error:
            raise SourceError(f"can't be read: {error}", fix="make it readable", path=path) from error
        return b"".join(parts)

    def size(self, path: str) -> int:
        return os.lstat(self.root / path).st_size

    def entry(self, path: str) -> Entry | None:
        """Mode and a digest of the content; equal for equal files. None where nothing is."""
        mode = self.modes().get(path)
        if mode is None:
            return None
        if mode == LINK:
            content = os.fsencode(os.readlink(self.root / path))
        elif mode == SPECIAL:
            content = b""
        elif self.size(path) > MAX_BLOB_BYTES:
            return Entry(mode, self._digest(path))
        else:
            content = self.read(path)
        return Entry(mode, hashlib.sha256(content).hexdigest())

    def _digest(self, path: str) -> str:
        digest = hashlib.sha256()
        with (self.root / path).open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()

    def _walk(self) -> Iterator[tuple[str, str]]:
        waiting, number = [""], 0
        while waiting:
            directory = waiting.pop()
            check_depth(directory)
            try:
                listed = list(os.scandir(self.root / directory))
            except OSError as error:
                raise SourceError(f"can't be read: {error.strerror}", fix="make it readable", path=directory) from error
            for entry in listed:
                path = f"{directory}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        waiting.append(f"{path}/")
                    continue
                if directory.endswith("__pycache__/") and entry.name.endswith(".pyc"):
                    continue
                number += 1
                if number > MAX_FILES:
                    raise TooMuch(f"{self.root} has more than {MAX_FILES:,} files", fix="name a smaller directory")
                yield path, _mode(entry.stat(follow_symlinks=False).st_mode)


def _mode(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return LINK
    if not stat.S_ISREG(mode):
        return SPECIAL
    return "100755" if mode & 0o100 else "100644"
