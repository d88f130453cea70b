"""Which files may belong to a directory that is not under git, and which paths the `exclude` setting leaves over.

git is asked both: it lists the directory as it would list a new repository there, so .gitignore files and the user's
own patterns count, and it says what patterns match. For that it gets a repository that is empty and gone afterwards.
Without git .gitignore files are not understood. Which of the listed paths are plain files, and which lie in a virtual
environment, is worktree.py's to see."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codemods.repo.git import GitMissing, git, git_or_none
from codemods.repo.scratch import scratch_directory
from codemods.schema.errors import ConfigError

# Of interest to nobody whose tree this is, under git or not; and thousands of files each.
_LEFT_OUT = ("node_modules", "__pycache__")


class ExcludeNeedsGit(ConfigError):
    """There are patterns to match and no git to match them."""

    code = "exclude-needs-git"


def walk(root: Path) -> list[str]:
    """What lies under `root`, relative to it, in no order: files, symlinks, and nested repositories as `directory/`.

    Left out: what is ignored, directories whose name starts with a dot, node_modules and __pycache__. A directory that
    can't be read is passed over, as git does."""
    exclude = [f"--exclude={pattern}/" for pattern in (".*", *_LEFT_OUT)]
    try:
        with _empty_repository() as place:
            # The user's own git answers, as it does in a repository: what they ignore everywhere is ignored here too.
            said = git(f"--git-dir={place / '.git'}", f"--work-tree={root}", "ls-files", "-z", "--others",
                       "--exclude-standard", *exclude, cwd=root, as_user=True)  # fmt: skip
    except GitMissing:
        return list(_plain_walk(root))
    return os.fsdecode(said).split("\0")[:-1]


def without(paths: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The paths that `patterns`, written as in a .gitignore at the root, leave over; for the `exclude` setting.

    Raises ExcludeNeedsGit without git."""
    asked = list(paths)
    try:
        with _empty_repository() as place:
            lines = place / ".git/patterns"
            lines.write_bytes(os.fsencode("".join(f"{pattern}\n" for pattern in patterns)))
            # `./` keeps git from taking a name such as `:(top)` for more than a name.
            names = os.fsencode("".join(f"./{path}\0" for path in asked))
            said = git_or_none("-c", f"core.excludesFile={lines}", "check-ignore", "--no-index", "--stdin", "-z",
                               cwd=place, stdin=names)  # fmt: skip
    except GitMissing as error:
        raise ExcludeNeedsGit(
            "`exclude` holds patterns as git reads them, and git was not found on PATH",
            fix="install git 2.31 or newer, or leave `exclude` out of the configuration",
        ) from error
    hidden = {name.removeprefix("./") for name in os.fsdecode(said or b"").split("\0")}
    return [path for path in asked if path not in hidden]


class Patterns:
    """Paths against patterns as in a .gitignore at the root, each asked once. Raises ExcludeNeedsGit without git."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._known: dict[str, bool] = {}

    def hold(self, path: str) -> bool:
        if not self._patterns:
            return False
        if path not in self._known:
            self.look([path])
        return self._known[path]

    def look(self, paths: Iterable[str]) -> None:
        """Ask for many at once: each question starts git."""
        fresh = [path for path in dict.fromkeys(paths) if path not in self._known] if self._patterns else []
        if fresh:
            left = set(without(fresh, self._patterns))
            self._known.update((path, path not in left) for path in fresh)


@contextlib.contextmanager
def _empty_repository() -> Iterator[Path]:
    """A repository that nobody has touched, for questions about files elsewhere. Raises GitMissing without git."""
    with scratch_directory() as place:
        git("init", "--quiet", "--template=", cwd=place)
        yield place


def _plain_walk(root: Path) -> Iterator[str]:
    for folder, directories, names in os.walk(root):
        below = os.path.relpath(folder, root).replace(os.sep, "/")
        if below != "." and ".git" in (*directories, *names):
            directories.clear()
            continue
        directories[:] = [name for name in directories if not name.startswith(".") and name not in _LEFT_OUT]
        yield from (name if below == "." else f"{below}/{name}" for name in names)
