"""What is staged, as the commit that it would become. git writes its tree into the object store, as it is about to do
anyway; no file, no index and no reference is touched."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from codemods.repo.git import GitFailed, git
from codemods.repo.store import Commit
from codemods.schema.errors import GitError

NAME = "staged"


class Staged(Struct, frozen=True, kw_only=True):
    """commit: has no hash yet; it is called `staged`. old_tree: of HEAD, or the empty tree."""

    git_dir: Path
    commit: Commit
    old_tree: str


def staged(root: Path) -> Staged:
    """With nothing staged, a commit that changes nothing. Raises GitError: no repository, a merge with conflicts."""
    # A `git commit FILE` makes an index of its own for its hooks, and names it here.
    index = os.environ.get("GIT_INDEX_FILE", "")
    extra = {"GIT_INDEX_FILE": os.path.abspath(index)} if index else {}
    try:
        git_dir = Path(os.fsdecode(git("rev-parse", "--absolute-git-dir", cwd=root)[:-1]))
    except GitFailed as error:
        raise GitError(f"{root} is not in a git repository", fix="name a repository with --root") from error
    try:
        tree = git("write-tree", cwd=root, extra=extra).decode("ascii").strip()
    except GitFailed as error:
        raise GitError(f"the index makes no tree: {error.stderr}", fix="end the merge first") from error
    try:
        said = git("rev-parse", "HEAD^{tree}", "HEAD", cwd=root).decode("ascii").split()
    except GitFailed:  # there is no commit yet
        said = []
    old_tree, parents = (said[0], (said[1],)) if len(said) == 2 else (_empty(tree), ())
    commit = Commit(oid=NAME, tree=tree, parents=parents, message="what is staged\n")
    return Staged(git_dir=git_dir, commit=commit, old_tree=old_tree)


def _empty(tree: str) -> str:
    from codemods.repo.store import empty_tree

    return empty_tree(tree)
