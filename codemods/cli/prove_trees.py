"""Two trees by their names: a directory, a revision (`git:REV`), what a plan makes of the root in so many steps
(`plan:FILE@N`), or "" for the root that is worked on; and what differs between them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.cli.session import UsageProblem
from codemods.schema.config import Settings
from codemods.schema.errors import UnmovedError
from codemods.schema.progress import Progress, Silent
from codemods.source.files import FileSet, Tree

if TYPE_CHECKING:
    from codemods.cli.prove_plan import PlannedStep
    from codemods.repo.store import ObjectStore
    from codemods.schema.prove import Pair
    from codemods.verify.change import TreeChange

GIT, PLAN = "git:", "plan:"


class Trees:
    """Opens trees, each once. A context manager: the git processes that it starts end with it."""

    def __init__(self, root: Path, settings: Settings, work_tree: Callable[[], Tree] | None = None) -> None:
        """work_tree: who reads the root, where that is not a plain reading."""
        self.root, self._settings, self._work_tree = root, settings, work_tree
        self._stack = contextlib.ExitStack()
        self._stores: dict[Path, ObjectStore] = {}
        self._changes: dict[tuple[str, str], TreeChange] = {}
        self._plans: dict[Path, list[PlannedStep]] = {}

    def __enter__(self) -> Trees:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def store(self, git_dir: Path) -> ObjectStore:
        from codemods.repo.store import ObjectStore

        if git_dir not in self._stores:
            self._stores[git_dir] = self._stack.enter_context(ObjectStore(git_dir))
        return self._stores[git_dir]

    def work_tree(self) -> FileSet:
        """The files at the root as they are, but for what the configuration excludes."""
        from codemods.repo.worktree import WorkTree

        base = self._work_tree() if self._work_tree else WorkTree(self.root, self._settings.exclude)
        return self._file_set(base)

    def change(self, old: str, new: str) -> TreeChange:
        """Kept, so that pairs of one change share it."""
        if (old, new) not in self._changes:
            self._changes[old, new] = self._compared(old, new)
        return self._changes[old, new]

    def planned(self, path: Path, progress: Progress | None = None) -> list[PlannedStep]:
        """What a plan makes of the root. Raises UsageProblem where it is refused."""
        if path not in self._plans:
            from codemods.cli.prove_plan import planned

            files = self.files("")
            self._plans[path] = planned(path, self.root, files, self._settings, progress or Silent())
        return self._plans[path]

    def pinned(self, name: str) -> str:
        """The name of the same tree from wherever it is said, and whatever happens to branches."""
        from codemods.repo.ranges import resolve_range

        if name.startswith(GIT):
            return f"{GIT}{resolve_range(self.root, name.removeprefix(GIT)).commits[-1]}"
        if name.startswith(PLAN):
            path, _, number = name.removeprefix(PLAN).rpartition("@")
            return f"{PLAN}{os.path.abspath(path)}@{number}"
        return os.path.abspath(name) if name else ""

    def holds(self, paths: Iterable[str], files: FileSet) -> bool:
        """Whether the root has these files just as they are here."""
        for path in paths:
            there = self.root / path
            wanted = files.read(path) if path in files else None
            try:
                if (there.read_bytes() if there.is_file() else None) != wanted:
                    return False
            except OSError:
                return False
        return True

    def commits(self, git_dir: Path, old_tree: str, new_tree: str) -> TreeChange:
        """The change between two trees of a repository, by their ids."""
        from codemods.verify.tree_change import between_trees

        return between_trees(self.store(git_dir), old_tree, new_tree, self._settings)

    def _compared(self, old: str, new: str) -> TreeChange:
        from codemods.repo.plain_tree import PlainTree
        from codemods.repo.ranges import resolve_range
        from codemods.verify.change import TreeChange, between
        from codemods.verify.tree_change import between_directories

        if old == new:
            files = self.files(old)
            return TreeChange(old=files, new=files, changes=())
        if old.startswith(GIT) and new.startswith(GIT):
            found = [resolve_range(self.root, text.removeprefix(GIT)) for text in (old, new)]
            store = self.store(found[0].git_dir)
            trees = [store.commit(each.commits[-1]).tree for each in found]
            return self.commits(found[0].git_dir, *trees)
        if old and new and not {old[:4], new[:4]} & {GIT, PLAN[:4]}:
            return between_directories(PlainTree(Path(old)), PlainTree(Path(new)), self._settings)
        return between(self.files(old), self.files(new))

    def files(self, name: str) -> FileSet:
        """One tree, by its name."""
        from codemods.repo.commit_files import CommitFiles
        from codemods.repo.plain_tree import PlainTree
        from codemods.repo.ranges import resolve_range

        if not name:
            return self.work_tree()
        if name.startswith(PLAN):
            return self._of_plan(name.removeprefix(PLAN))
        if not name.startswith(GIT):
            return self._file_set(PlainTree(Path(name)))
        found = resolve_range(self.root, name.removeprefix(GIT))
        store = self.store(found.git_dir)
        return self._file_set(CommitFiles(store, store.commit(found.commits[-1]).tree))

    def _of_plan(self, name: str) -> FileSet:
        path, _, number = name.rpartition("@")
        steps = self.planned(Path(path))
        if not number.isdecimal() or int(number) > len(steps):
            raise UsageProblem(f"{path} has {len(steps)} steps, not {number}", fix="name a step that it has")
        return steps[int(number) - 1].after if int(number) else steps[0].before

    def _file_set(self, base: Tree) -> FileSet:
        settings = self._settings
        return FileSet(base, source_roots=settings.source_roots, line_length=settings.line_length)


class SourceLines:
    """Lines of both sides of a change, for reports. Whatever can't be read is empty: the verdict stands without."""

    def __init__(self, old: FileSet, new: FileSet) -> None:
        self._sides = {"old": old, "new": new}
        self._kept: dict[tuple[str, str], list[str]] = {}

    def __call__(self, side: str, path: str, line: int) -> str:
        lines = self._lines(side, path) if path else []
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def _lines(self, side: str, path: str) -> list[str]:
        found = self._kept.get((side, path))
        if found is None:
            files = self._sides[side]
            try:
                raw = files.read(path) if path in files else b""
            except (UnmovedError, OSError):
                raw = b""
            found = self._kept[side, path] = raw.decode("utf-8", "replace").split("\n")
        return found


def with_dotted_names(pair: Pair, old: FileSet, new: FileSet) -> Pair:
    """The pair with modules that are named as files (`srv/numa.py:bind`) named as modules."""
    from msgspec.structs import replace

    return replace(pair, old=_dotted(pair.old, old), new=_dotted(pair.new, new))


def _dotted(reference: str, files: FileSet) -> str:
    from codemods.source.modules import modules_of

    module, colon, name = reference.partition(":")
    if not module.endswith(".py"):
        return reference
    return f"{modules_of(files).module_of(module.removeprefix('./'))}{colon}{name}"
