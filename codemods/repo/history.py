"""What files had before now, by the history of their repository. Asked only where a tree alone does not tell."""

from __future__ import annotations

from pathlib import Path

from codemods.repo.git import GitFailed, GitMissing, git
from codemods.repo.state import Repository, find_repository
from codemods.schema.errors import GitError

_BEFORE, _AFTER = "(^|[^[:alnum:]_])", "([^[:alnum:]_]|$)"


class History:
    """The commits that lead to HEAD, or to `rev`."""

    def __init__(self, root: Path, rev: str | None = None) -> None:
        self._root, self._rev = root, rev or "HEAD"
        self._asked: dict[tuple[str, str], bool | None] = {}

    def held(self, path: str, name: str) -> bool | None:
        """Whether some version of the file, or of what it was renamed from, had the name as a whole word. None where no
        history tells: outside of a repository, without commits, beyond the end of a shallow clone."""
        key = (path, name)
        if key not in self._asked:
            try:
                self._asked[key] = self._ask(path, name)
            except GitError:  # evidence that can't be had is no evidence; what is wrong is said where git is needed
                self._asked[key] = None
        return self._asked[key]

    def _ask(self, path: str, name: str) -> bool | None:
        repository = self._repository()
        if repository is None or not name.isidentifier():
            return None
        said = git(
            "--literal-pathspecs", "log", "-1", "--format=%H", "--follow", "--pickaxe-regex",
            f"-S{_BEFORE}{name}{_AFTER}", self._rev, "--", path,
            cwd=self._root, extra={"GIT_NO_LAZY_FETCH": "1"},
        )  # fmt: skip
        if said.strip():
            return True
        return None if repository.is_shallow else False

    def _repository(self) -> Repository | None:
        try:
            found = find_repository(self._root)
        except (GitFailed, GitMissing):
            return None
        return found if found is not None and found.head is not None else None
