"""Whether a repository is fit to get commits and a tree is fit to be edited. Looks, and touches nothing.

What is written, and how, is branch.py's and in_place.py's."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from codemods.repo.git import GitMissing
from codemods.repo.object_tree import NoSuchRevision
from codemods.repo.state import Repository, find_repository, resolve_commit, uncommitted
from codemods.schema.errors import GitError, SourceError
from codemods.schema.result import FileChange


class NotARepository(GitError):
    """Commits were asked for where there is no repository with a work tree."""

    code = "not-a-repository"


class UnbornHead(GitError):
    """Nothing has been committed yet."""

    code = "unborn-head"


class DetachedHead(GitError):
    """HEAD is a commit and no branch, and nobody said where to start."""

    code = "detached-head"


class ShallowClone(GitError):
    """The history is cut off, and nobody said where to start."""

    code = "shallow-clone"


class UnfinishedOperation(GitError):
    """A merge, a rebase or the like waits for its user."""

    code = "unfinished-operation"


class DirtyTree(GitError):
    """Changes that are not committed would be mixed up with ours, or lost."""

    code = "dirty-tree"


class LeavesRoot(SourceError):
    """A path leads through a symlink, so an edit could land outside of the root."""

    code = "leaves-root"


class ReadOnly(SourceError):
    """A file or directory says that it is not to be written."""

    code = "read-only"


class ChangedOnDisk(SourceError):
    """The tree is no longer what the plan was made for."""

    code = "changed-on-disk"


def check_repository(root: Path, base: str | None) -> tuple[Repository, str]:
    """The repository and the commit to start from: HEAD, or what `base` names. Raises a GitError with the next move."""
    repository = find_repository(root)
    if repository is None:
        raise NotARepository(
            f"{root} is not in a git repository",
            fix="run `git init` and commit the tree, or edit it in place with --in-place",
        )
    if repository.is_bare:
        raise NotARepository(f"{root} has no work tree (a bare repository)", fix="work in a clone of it")
    if base is not None:
        commit = resolve_commit(repository, base)
        if commit is None:
            raise NoSuchRevision(base)
        return repository, commit
    if repository.head is None:
        raise UnbornHead("nothing has been committed yet", fix="commit the tree first: `git add -A && git commit`")
    if repository.unfinished:
        raise UnfinishedOperation(
            f"a {repository.unfinished} is not finished",
            fix=f"finish it, or leave it with `git {repository.unfinished} --abort`",
        )
    if repository.branch is None:
        raise DetachedHead(
            f"HEAD is detached at {repository.head[:12]}",
            fix="run `git switch NAME`, or start from a commit: --base REV",
        )
    if repository.is_shallow:
        raise ShallowClone(
            "the clone is shallow", fix="run `git fetch --unshallow`, or start from a commit you have: --base REV"
        )
    dirty = uncommitted(repository)
    if dirty:
        raise DirtyTree(
            f"{_some(dirty)} {'has' if len(dirty) == 1 else 'have'} uncommitted changes",
            fix="commit or stash them, or start from a commit: --base REV",
        )
    return repository, repository.head


def check_files(root: Path, changes: Sequence[FileChange]) -> None:
    """Whether each file can be changed and is still what it was. `root` has no symlink in it. Raises a SourceError."""
    for change in changes:
        directory = _nearest_directory(root, change)
        target = root / change.path
        try:
            status = os.lstat(target)
        except FileNotFoundError:
            if change.before is not None:
                raise ChangedOnDisk("is gone", fix="run the plan again", path=change.path) from None
        else:
            _check_target(root, status, change)
        # The owner's bit counts, not whether we could: root may write anything, and should not.
        if not os.lstat(directory).st_mode & stat.S_IWUSR or not os.access(directory, os.W_OK | os.X_OK):
            raise ReadOnly(
                f"can't be changed: the directory {directory} is read-only",
                fix=f"run `chmod u+w {directory}`, or leave this file out of the plan",
                path=change.path,
            )


def check_committed(root: Path, changes: Sequence[FileChange]) -> None:
    """Under git, whether git could give back each file that is about to change. Raises DirtyTree."""
    try:
        repository = find_repository(root)
    except GitMissing:
        return
    if repository is None or repository.is_bare:
        return
    touched = {change.path for change in changes}
    dirty = [path for path in uncommitted(repository, untracked=True) if path in touched]
    if dirty:
        raise DirtyTree(
            f"{_some(dirty)} {'has' if len(dirty) == 1 else 'have'} changes that are in no commit",
            fix="commit or stash them, or say that they may be mixed with the plan's: --allow-dirty",
        )


def _nearest_directory(root: Path, change: FileChange) -> Path:
    """The directory the file is in, or for a new file the one that the missing ones will be made in."""
    directory = root
    for part in change.path.split("/")[:-1]:
        place = directory / part
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return directory
        if stat.S_ISLNK(mode):
            raise _leaves_root(root, place, change.path)
        if not stat.S_ISDIR(mode):
            raise ChangedOnDisk(f"can't be made: {place} is a file", fix="name another place", path=change.path)
        directory = place
    return directory


def _leaves_root(root: Path, link: Path, path: str) -> LeavesRoot:
    goal = Path(os.path.realpath(link))
    where = "inside" if goal.is_relative_to(root) else "out of"
    return LeavesRoot(
        f"is or leads through the symlink {link}, which points {where} the root, to {goal}",
        fix="name the real file, with a --root that holds it",
        path=path,
    )


def _check_target(root: Path, status: os.stat_result, change: FileChange) -> None:
    target = root / change.path
    if stat.S_ISLNK(status.st_mode):
        raise _leaves_root(root, target, change.path)
    if not stat.S_ISREG(status.st_mode):
        raise ChangedOnDisk("is not a plain file", fix="name another place", path=change.path)
    if change.before is None:
        raise ChangedOnDisk("is there already", fix="name another place, or remove the file", path=change.path)
    try:
        found = target.read_bytes()
    except OSError as error:
        raise SourceError(f"can't be read: {error.strerror}", fix="make it readable", path=change.path) from error
    if found != change.before:
        raise ChangedOnDisk("has changed since the plan read it", fix="run the plan again", path=change.path)
    if not status.st_mode & stat.S_IWUSR or not os.access(target, os.W_OK):
        raise ReadOnly("is read-only", fix=f"run `chmod u+w {target}`, or leave it out of the plan", path=change.path)


def _some(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:3])
    return shown if len(paths) <= 3 else f"{shown} and {len(paths) - 3} more"
