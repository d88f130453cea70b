"""What a tree reaches through symlinks out of the root. Python files are read, because they may call what a plan
changes, and never written: who would edit one is refused (commit/preflight.py). Directories are only named."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from codemods.schema.errors import SourceError

_SUFFIXES = (".py", ".pyi")


def outside_file(root: Path, path: str) -> Path | None:
    """The regular file outside of `root` that the link at `path` leads to; None for anything else."""
    if not path.endswith(_SUFFIXES):
        return None
    link = root / path
    try:
        if not stat.S_ISLNK(os.lstat(link).st_mode):
            return None
        target = Path(os.path.realpath(link, strict=True))
        is_file = stat.S_ISREG(os.stat(target).st_mode)
    except (OSError, ValueError):
        return None  # a dangling link, a loop, or a place that can't be looked at
    return target if is_file and not target.is_relative_to(os.path.realpath(root)) else None


def is_outside_folder(root: Path, path: str) -> bool:
    """Whether the link at `path` leads to a directory outside of `root`."""
    link = root / path
    try:
        if not stat.S_ISLNK(os.lstat(link).st_mode):
            return False
        target = Path(os.path.realpath(link, strict=True))
        return stat.S_ISDIR(os.stat(target).st_mode) and not target.is_relative_to(os.path.realpath(root))
    except (OSError, ValueError):
        return False


def read_outside(target: Path, path: str) -> bytes:
    """Its bytes. Raises SourceError naming the link."""
    try:
        return target.read_bytes()
    except OSError as error:
        message = f"leads to {target}, which can't be read: {error.strerror}"
        raise SourceError(message, fix="make it readable, or exclude it", path=path) from error
