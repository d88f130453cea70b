"""Which files a directory outside of git has, with git's help and without it, and what `exclude` patterns mean."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codemods.repo import git as git_module
from codemods.repo.object_tree import CommitTree
from codemods.repo.scratch import NoTemporaryFiles
from codemods.repo.walk import ExcludeNeedsGit, without
from codemods.repo.worktree import WorkTree
from tests.support.repository import make_repository, write_files

TREE = {
    "a.py": b"",
    ".flake8": b"",
    "pkg/.gitignore": b"local.py\n",
    "pkg/b.py": b"",
    "pkg/local.py": b"",
    ".tox/t.py": b"",
    "pkg/.cache/c.py": b"",
    "web/node_modules/m.py": b"",
    "pkg/__pycache__/b.pyc": b"",
    "env/pyvenv.cfg": b"",
    "env/lib/x.py": b"",
}


@pytest.fixture
def _no_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path_factory.mktemp("bin")))
    git_module._safe_directories.cache_clear()
    yield
    git_module._safe_directories.cache_clear()


def write_tree(root: Path) -> Path:
    make_repository(root / "nested", {"n.py": b""})
    write_files(root, TREE)
    (root / "link.py").symlink_to("a.py")
    (root / "folder").symlink_to("pkg")
    return root


def test_with_git_its_rules_hold_outside_of_a_repository_too(tmp_path: Path) -> None:
    assert WorkTree(write_tree(tmp_path)).paths() == (".flake8", "a.py", "pkg/.gitignore", "pkg/b.py")


@pytest.mark.usefixtures("_no_git")
def test_without_git_only_gitignore_is_not_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("PATH", os.defpath)
        write_tree(tmp_path)
    listed = (".flake8", "a.py", "pkg/.gitignore", "pkg/b.py", "pkg/local.py")
    assert WorkTree(tmp_path).paths() == listed
    assert WorkTree(tmp_path / "nested").paths() == ("n.py",)


@pytest.mark.usefixtures("_no_git")
def test_without_git_patterns_are_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": b""})
    with pytest.raises(ExcludeNeedsGit, match="install git"):
        WorkTree(tmp_path, ["b.py"]).paths()
    assert WorkTree(tmp_path).paths() == ("a.py",)


def test_left_out_directories_can_not_be_asked_back(tmp_path: Path) -> None:
    write_files(tmp_path, {".gitignore": b"!.tox/\n!node_modules/\n", ".tox/t.py": b"", "node_modules/m.py": b""})
    assert WorkTree(tmp_path).paths() == (".gitignore",)


def test_what_the_user_ignores_everywhere_is_ignored_here_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"ignore": b"scratch.py\n", "config": f"[core]\nexcludesFile = {tmp_path}/ignore\n".encode()})
    write_files(tmp_path, {"root/a.py": b"", "root/scratch.py": b""})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert WorkTree(tmp_path / "root").paths() == ("a.py",)


def test_the_place_for_temporary_files_may_lie_in_the_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"a.py": b"", "b.py": b""})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert WorkTree(tmp_path, ["b.py"]).paths() == ("a.py",)
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]


def test_no_place_for_temporary_files_is_an_error_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(NoTemporaryFiles, match="TMPDIR"):
        WorkTree(tmp_path).paths()


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["*.py"], ["docs/a.md", "docs/build"]),
        (["build/"], ["a.py", "docs/a.md", "docs/build"]),
        (["/a.py", "docs/**"], ["build/a.py", "x/build/y.py"]),
        (["*", "!a.py", "!docs/", "!build"], ["a.py", "build/a.py", "docs/build"]),
        (["build", "!build/a.py"], ["a.py", "docs/a.md"]),
        (["# a.py", "", "no/such"], ["a.py", "build/a.py", "docs/a.md", "docs/build", "x/build/y.py"]),
    ],
)
def test_patterns_mean_what_they_mean_in_a_gitignore(patterns: list[str], left: list[str]) -> None:
    assert without(["a.py", "build/a.py", "docs/a.md", "docs/build", "x/build/y.py"], patterns) == left


def test_a_name_is_a_name_whatever_git_could_take_it_for() -> None:
    names = [":(top)a.py", ":!b.py", "-c.py", "[d].py", "two\nlines.py", "größe.py", os.fsdecode(b"latin-\xe9.py")]
    assert without([*names, "other.txt"], ["*.py"]) == ["other.txt"]
    assert without(names, ["/größe.py", os.fsdecode(b"latin-\xe9.py")]) == names[:-2]


@pytest.mark.parametrize("under_git", [True, False])
def test_no_gitignore_of_the_tree_decides_about_exclude(tmp_path: Path, under_git: bool) -> None:
    write_files(tmp_path, {"a.py": b"", "b.py": b"", "pkg/c.py": b""})
    if under_git:
        make_repository(tmp_path, {})
        write_files(tmp_path, {".gitignore": b"a.py\n!b.py\n", "pkg/.gitignore": b"!c.py\n"})  # too late for a.py
        assert CommitTree(tmp_path, "HEAD", ["b.py", "c.py"]).paths() == ("a.py",)
    else:
        write_files(tmp_path, {".gitignore": b"!b.py\n", "pkg/.gitignore": b"!c.py\n"})
    assert WorkTree(tmp_path, ["b.py", "c.py", ".gitignore"]).paths() == ("a.py",)


def test_a_large_directory_is_listed_quickly(tmp_path: Path) -> None:
    write_files(tmp_path, {f"pkg{number % 60}/m{number}.py": b"" for number in range(3_347)})
    started = time.perf_counter()
    assert len(WorkTree(tmp_path).paths()) == 3_347
    assert time.perf_counter() - started < 0.5  # 0.05 s alone on the machine; the rest is for neighbours
