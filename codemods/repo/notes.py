"""Certificates as git notes under refs/notes/unmoved: written and read through plumbing. Neither the work tree nor the
index is touched, no hook and no editor runs, and no other notes are changed."""

from __future__ import annotations

from pathlib import Path

from codemods.repo.git import git, git_or_none
from codemods.repo.objects import user_identity
from codemods.repo.store import HARDENED

NOTES_REF = "refs/notes/unmoved"


class NoteWriter:
    """Writes notes to commits of the repository at `root`, as its user. Raises NoIdentity when there is none."""

    def __init__(self, root: Path, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._identity = dict(user_identity(root).variables)

    def write(self, commit: str, raw: bytes) -> None:
        """The note of `commit` is `raw` from now on, byte for byte."""
        at = f"--git-dir={self._git_dir}"
        blob = git(at, "hash-object", "-w", "--no-filters", "--stdin", cwd=self._git_dir, stdin=raw).decode().strip()
        argv = (at, "notes", f"--ref={NOTES_REF}", "add", "--force", "-C", blob, commit)
        git(*argv, cwd=self._git_dir, extra={**HARDENED, **self._identity})


def read_note(git_dir: Path, commit: str) -> bytes | None:
    """The note of a commit, given by its full hash; None when it has none."""
    found = git_or_none(f"--git-dir={git_dir}", "notes", f"--ref={NOTES_REF}", "list", commit, cwd=git_dir)
    if found is None:
        return None
    return git(f"--git-dir={git_dir}", "cat-file", "blob", found.decode("ascii").strip(), cwd=git_dir, extra=HARDENED)
