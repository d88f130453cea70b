"""A directory as a tree of files: which files belong to it, and their bytes, read when asked for and never kept.

Under git, git says what belongs (tracked, or untracked and not ignored); elsewhere walk.py does. In both, virtual
environments, symlinks, submodules and what is not a plain file are left out: a link's target is listed under its own
name when it lies inside. A Python file that a link reaches outside is read (outside.py). Writing is commit/'s."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codemods.repo.outside import is_outside_folder, outside_file, read_outside
from codemods.repo.state import files_known_to_git
from codemods.repo.walk import walk, without
from codemods.schema.errors import ConfigError, SourceError

# Larger files are left out of `read_many`, that is of every search over the tree; nobody wrote them by hand.
MAX_SEARCH_BYTES = 20_000_000
# Without waiting: a named pipe would hang the open before anyone can see that it is one.
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class WorkTree:
    """The files under `root`; `exclude` holds further patterns, as in a .gitignore at the root.

    The list is made once, at the first question."""

    def __init__(self, root: Path, exclude: Sequence[str] = ()) -> None:
        if not root.is_dir():
            raise ConfigError(f"{root} is not a directory", fix="name the directory of the tree with --root")
        self.root = Path(os.path.realpath(root))
        self._exclude = tuple(exclude)
        self._prefix = f"{self.root}{os.sep}" if self.root.name else str(self.root)
        self._paths: tuple[str, ...] | None = None
        self._plain_dirs = {"": True}
        self._outside: dict[str, Path] = {}
        self._folders: list[str] = []

    def paths(self) -> tuple[str, ...]:
        """Every file that belongs to the tree, sorted, relative to the root, with `/`."""
        if self._paths is None:
            self._paths = tuple(sorted(self._list()))
        return self._paths

    def unread(self) -> tuple[str, ...]:
        """Links to directories outside of the root, sorted. What lies in there may use the tree, and is not read."""
        self.paths()
        inside = [f"{path}/_" for path in self._folders]  # patterns for directories are meant as well
        kept = without(inside, self._exclude) if inside and self._exclude else inside
        return tuple(sorted(path.removesuffix("/_") for path in kept))

    def read(self, path: str) -> bytes:
        """Raw bytes. Raises SourceError when there is no such plain file inside the root."""
        if path in self._outside:
            return read_outside(self._outside[path], path)
        self._check_inside(path)
        raw = self._bytes(path, None)
        assert raw is not None
        return raw

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for, one at a time. Leaves out files above MAX_SEARCH_BYTES."""
        for path in paths:
            if path in self._outside:
                yield path, read_outside(self._outside[path], path)
                continue
            self._check_inside(path)
            raw = self._bytes(path, MAX_SEARCH_BYTES)
            if raw is not None:
                yield path, raw

    def _bytes(self, path: str, limit: int | None) -> bytes | None:
        try:
            # Opening and reading by descriptor takes half the time that open() does, which counts over a whole tree.
            file = os.open(self._prefix + path, _FLAGS)
            try:
                status = os.fstat(file)
                if not stat.S_ISREG(status.st_mode):
                    raise SourceError("is not a plain file", fix="name a file", path=path)
                if limit is not None and status.st_size > limit:
                    return None
                parts = []
                while part := os.read(file, status.st_size + 1):
                    parts.append(part)
            finally:
                os.close(file)
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _check_inside(self, path: str) -> None:
        directory, _, name = path.rpartition("/")
        if not self._is_plain_dir(directory) or path.startswith("/") or name in ("", ".", ".."):
            raise SourceError(
                "does not lie in the root, or leads through a symlink",
                fix=f"name the real file, relative to {self.root}",
                path=path,
            )

    def _is_plain_dir(self, directory: str) -> bool:
        """Whether no part of `directory` is a symlink, `.`, `..` or something else than a directory."""
        known = self._plain_dirs.get(directory)
        if known is None:
            parent, _, name = directory.rpartition("/")
            known = name not in ("", ".", "..") and self._is_plain_dir(parent) and self._is_dir(directory)
            self._plain_dirs[directory] = known
        return known

    def _is_dir(self, directory: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(self._prefix + directory).st_mode)
        except (OSError, ValueError):
            return False

    def _list(self) -> list[str]:
        listed = files_known_to_git(self.root)
        found = self._plain_files(walk(self.root) if listed is None else listed)
        return without(found, self._exclude) if self._exclude else found

    def _plain_files(self, listed: Sequence[str]) -> list[str]:
        environments = tuple(path.removesuffix("pyvenv.cfg") for path in listed if path.endswith("/pyvenv.cfg"))
        return [path for path in listed if self._is_plain_file(path) and not path.startswith(environments)]

    def _is_plain_file(self, path: str) -> bool:
        """False for a symlink, a submodule, a nested repository, and a file that is tracked and gone."""
        try:
            is_file = stat.S_ISREG(os.lstat(self._prefix + path).st_mode)
        except PermissionError as error:  # it may be there, and who calls what in it can't be known
            raise _unreadable(path, error) from error
        except OSError:
            return False
        outside = None if is_file else outside_file(self.root, path)
        if outside is not None and self._is_plain_dir(path.rpartition("/")[0]):
            self._outside[path] = outside
            return True
        if not is_file and is_outside_folder(self.root, path):
            self._folders.append(path)
        return is_file and self._is_plain_dir(path.rpartition("/")[0])


def _unreadable(path: str, error: OSError | ValueError) -> SourceError:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return SourceError("is a symlink, which is never followed", fix="name the real file", path=path)
    found = error.strerror if isinstance(error, OSError) else str(error)
    return SourceError(f"can't be read: {found}", fix="make it readable, or exclude it", path=path)
