"""Which commits a range names, resolved once to full hashes.

git lists the range with its commit-graph file, grafts and replace refs off: only the commits' own bytes say who their
parents are. A shallow boundary, which cuts history short, is an error and not a shorter range."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from codemods.repo.git import GitFailed, git
from codemods.repo.object_tree import NoSuchRevision
from codemods.repo.store import HARDENED
from codemods.schema.errors import ConfigError, GitError

MAX_COMMITS = 20_000


class EmptyRange(GitError):
    """There is nothing to check."""

    code = "empty-range"


class BadRange(ConfigError):
    """The text is no range that can be checked commit by commit."""

    code = "bad-range"


class CutHistory(GitError):
    """The history that the range needs is not all there."""

    code = "cut-history"


class Range(Struct, frozen=True, kw_only=True):
    """commits: full hashes, each after its parents. git_dir: where the objects are."""

    git_dir: Path
    commits: tuple[str, ...]


def resolve_range(root: Path, text: str) -> Range:
    """`A..B`: what B has and A has not. `COMMIT`: that one. Raises GitError or ConfigError."""
    found = _find(root)
    if found is None:
        raise GitError(f"{root} is not in a git repository", fix="name a repository with --root, or two directories")
    if "..." in text:
        one, _, other = text.partition("...")
        raise BadRange(
            f"{text!r} names the commits of both sides of a fork, which follow no order",
            fix=f"write {one}..{other} for what {other or 'HEAD'} has and {one or 'HEAD'} has not",
        )
    if ".." not in text:
        return Range(git_dir=found.git_dir, commits=(_commit(found, text),))
    start, _, tip = text.partition("..")
    base, head = _commit(found, start or "HEAD"), _commit(found, tip or "HEAD")
    listed = _list(found, base, head)
    if not listed:
        raise EmptyRange(
            f"{text} holds no commit: all that {tip or 'HEAD'} has, {start or 'HEAD'} has too",
            fix=f"write the older one first, or name one commit ({tip or 'HEAD'}) alone",
        )
    return Range(git_dir=found.git_dir, commits=listed)


class _Found(Struct, frozen=True):
    """What is asked of a repository here; state.py asks more, and takes longer."""

    git_dir: Path
    is_shallow: bool


def _find(root: Path) -> _Found | None:
    try:
        # The directory comes last because a name may hold line breaks.
        shallow, place = git("rev-parse", "--is-shallow-repository", "--absolute-git-dir", cwd=root).split(b"\n", 1)
    except GitFailed as error:
        if "not a git repository" in error.stderr:
            return None
        raise
    return _Found(Path(os.fsdecode(place[:-1])), shallow == b"true")


def _commit(repository: _Found, rev: str) -> str:
    if rev.startswith(("-", "^")) or "\0" in rev:
        raise NoSuchRevision(rev)
    argv = (f"--git-dir={repository.git_dir}", "rev-parse", "--quiet", "--verify", f"{rev}^{{commit}}")
    try:
        return git(*argv, cwd=repository.git_dir, extra=HARDENED).decode("ascii").strip()
    except GitFailed as error:
        raise NoSuchRevision(rev) from error


def _list(repository: _Found, base: str, head: str) -> tuple[str, ...]:
    """The commits of base..head, parents first."""
    argv = [
        f"--git-dir={repository.git_dir}", "-c", "core.commitGraph=false", "rev-list", "--topo-order", "--reverse",
        f"--max-count={MAX_COMMITS + 1}", head, f"^{base}", "--",
    ]  # fmt: skip
    try:
        said = git(*argv, cwd=repository.git_dir, extra=HARDENED)
    except GitFailed as error:
        raise CutHistory(
            f"the history between {base[:12]} and {head[:12]} can't be read: {error.stderr}",
            fix="fetch what is missing (`git fetch --unshallow`), then run again",
        ) from error
    listed = said.decode("ascii").split()
    if len(listed) > MAX_COMMITS:
        raise BadRange(
            f"the range has more than {MAX_COMMITS:,} commits", fix="check it in parts, each from where the last ended"
        )
    boundary = _shallow(repository)
    for commit in listed:
        if commit in boundary:
            raise CutHistory(
                f"the clone is shallow and ends at {commit[:12]}, inside the range",
                fix="run `git fetch --unshallow`, or start the range above that commit",
            )
    return tuple(listed)


def _shallow(repository: _Found) -> frozenset[str]:
    """The commits whose parents git pretends not to know."""
    if not repository.is_shallow:
        return frozenset()
    place = git("rev-parse", "--git-path", "shallow", cwd=repository.git_dir)
    path = repository.git_dir / os.fsdecode(place.rstrip(b"\n"))
    try:
        return frozenset(path.read_text(encoding="ascii").split())
    except (OSError, UnicodeDecodeError) as error:
        raise CutHistory(f"{path} can't be read: {error}", fix="mend it, or clone anew") from error
