"""Which files belong to a directory that is not under git.

Left out: symlinks, directories whose name starts with a dot, `__pycache__`, `node_modules`, virtual environments, and
what .gitignore files say, by gitignore's rules, a deeper file overriding the ones above it. What the user's own git
would ignore everywhere is not known here."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from codemods.repo.gitignore import Ignored
from codemods.schema.errors import SourceError

_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
VENV_MARK = "pyvenv.cfg"


def walk(root: Path) -> list[str]:
    """Paths of the files, relative to `root`, in no order. Raises SourceError for a directory that can't be listed."""
    found: list[str] = []
    waiting = [("", Ignored())]
    while waiting:
        directory, ignored = waiting.pop()
        entries = _entries(root, directory)
        names = {entry.name for entry in entries}
        if VENV_MARK in names and directory:
            continue
        if ".gitignore" in names:
            ignored = ignored.below(directory, _lines(root, f"{directory}.gitignore"))
        for entry in entries:
            path = directory + entry.name
            if entry.is_dir(follow_symlinks=False):
                if not (
                    entry.name.startswith(".") or entry.name in _LEFT_OUT or ignored.hides(path, is_directory=True)
                ):
                    waiting.append((f"{path}/", ignored))
            elif entry.is_file(follow_symlinks=False) and not ignored.hides(path, is_directory=False):
                found.append(path)
    return found


def _entries(root: Path, directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(root / directory) as entries:
            return list(entries)
    except OSError as error:
        raise SourceError(
            f"can't be listed: {error.strerror}", fix="make it readable, or exclude it", path=directory or str(root)
        ) from error


def _lines(root: Path, path: str) -> list[str]:
    try:
        text = (root / path).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise SourceError(f"can't be read: {error.strerror}", fix="make it readable", path=path) from error
    return text.split("\n")


def without(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The paths that `patterns`, written as in a .gitignore at the root, leave over; for the `exclude` setting."""
    ignored = Ignored().below("", patterns)
    hidden: dict[str, bool] = {"": False}

    def is_hidden(directory: str) -> bool:
        if directory not in hidden:
            above = directory.rpartition("/")[0]
            hidden[directory] = is_hidden(above) or ignored.hides(directory, is_directory=True)
        return hidden[directory]

    return [
        path for path in paths if not is_hidden(path.rpartition("/")[0]) and not ignored.hides(path, is_directory=False)
    ]
