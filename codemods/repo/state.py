"""What state a repository is in: where it is, what HEAD is, what is shallow, bare, unfinished or uncommitted.

Facts only: which of them are in the way of what, and what to do then, is decided by the callers."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from codemods.repo.git import GitFailed, GitMissing, git, git_or_none

# What git leaves in its directory while an operation waits for its user.
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply/applying": "am",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "cherry-pick",
}


class Repository(Struct, frozen=True, kw_only=True):
    """`root` is the directory that was asked about, `top` the work tree it lies in; both without symlinks.

    prefix: root relative to top, with a final `/`; "" at the top. head: the commit, None while nothing is committed.
    branch: short name, None when HEAD is detached. unfinished: "merge", "rebase", ... or ""."""

    root: Path
    top: Path
    git_dir: Path
    prefix: str
    head: str | None
    branch: str | None
    is_bare: bool
    is_shallow: bool
    unfinished: str


def find_repository(root: Path) -> Repository | None:
    """The repository `root` lies in, None when it lies in none.

    Raises GitError when there is one and git refuses to work in it, GitMissing when there is no git to ask."""
    root = Path(os.path.realpath(root))
    try:
        said = git("rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository",
                   "--absolute-git-dir", cwd=root)  # fmt: skip
    except GitFailed as error:
        if "not a git repository" in error.stderr:
            return None
        raise
    # The directory comes last because a name may hold line breaks.
    bare, inside, shallow, place = said.split(b"\n", 3)
    git_dir = Path(os.fsdecode(place[:-1]))
    top = Path(os.fsdecode(git("rev-parse", "--show-toplevel", cwd=root)[:-1])) if inside == b"true" else root
    below = os.path.relpath(root, top).replace(os.sep, "/")
    branch = git_or_none("symbolic-ref", "--quiet", "--short", "HEAD", cwd=root)
    head = git_or_none("rev-parse", "--quiet", "--verify", "HEAD^{commit}", cwd=root)
    return Repository(
        root=root,
        top=top,
        git_dir=git_dir,
        prefix="" if below == "." else f"{below}/",
        head=None if head is None else head.decode("ascii").strip(),
        branch=None if branch is None else os.fsdecode(branch).strip(),
        # Inside `.git` itself there is no work tree either.
        is_bare=bare == b"true" or inside != b"true",
        is_shallow=shallow == b"true",
        unfinished=next((name for mark, name in _UNFINISHED.items() if (git_dir / mark).exists()), ""),
    )


def uncommitted(repository: Repository, *, untracked: bool = False) -> tuple[str, ...]:
    """Paths under the root, relative to it, whose work tree or index differs from HEAD; sorted.

    With `untracked` also the files git does not know and does not ignore. A renamed file counts under both names; of a
    submodule only another commit counts, what is changed inside is its own."""
    said = git(
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all" if untracked else "--untracked-files=no",
        "--ignore-submodules=dirty",
        "--",
        ".",
        cwd=repository.root,
        as_user=True,
    )
    paths = (os.fsdecode(line[3:]) for line in said.split(b"\0") if line)
    return tuple(sorted(path.removeprefix(repository.prefix) for path in paths))


def resolve_commit(repository: Repository, rev: str) -> str | None:
    """The commit `rev` names, in full; None when it names none."""
    if rev.startswith("-") or "\0" in rev:
        return None
    try:
        found = git("rev-parse", "--quiet", "--verify", f"{rev}^{{commit}}", cwd=repository.root).decode("ascii")
    except GitFailed:
        return None
    # `^rev` is an answer too, but not to this question.
    return None if found.startswith("^") else found.strip()


def files_known_to_git(root: Path) -> tuple[str, ...] | None:
    """What git lists under `root`, relative to it: tracked files, also those that are gone, and untracked ones that are
    not ignored; submodules and nested repositories as directories. None where git has no say: outside of a work tree,
    in a directory that is ignored as a whole, or without git. Raises GitError when git refuses to work there."""
    try:
        said = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=root, as_user=True)
    except GitMissing:
        return None
    except GitFailed as error:
        if "not a git repository" in error.stderr or "must be run in a work tree" in error.stderr:
            return None
        raise
    if not said and git_or_none("check-ignore", "--quiet", ".", cwd=root, as_user=True) is not None:
        return None
    # A file in the middle of a merge is there once for each side.
    return tuple(dict.fromkeys(os.fsdecode(said).split("\0")[:-1]))
