"""Which files a directory is made of, under git and elsewhere, and that no read leaves it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from codemods.repo import worktree
from codemods.repo.worktree import WorkTree
from codemods.schema.errors import ConfigError, SourceError
from tests.support.repository import make_repository, run_git, write_files

ODD_NAMES = ("a b.py", "größe.py", "two\nlines.py", 'quo"te.py', "back\\slash.py", os.fsdecode(b"latin-\xe9.py"))


def test_under_git_tracked_and_new_files_are_listed_and_ignored_ones_are_not(tmp_path: Path) -> None:
    make_repository(tmp_path, {"pkg/a.py": b"1\n", "gone.py": b"", ".gitignore": b"build/\n", ".github/x.yml": b""})
    write_files(tmp_path, {"pkg/new.py": b"2\n", "build/b.py": b"3\n"})
    (tmp_path / "gone.py").unlink()
    tree = WorkTree(tmp_path)
    assert tree.paths() == (".github/x.yml", ".gitignore", "pkg/a.py", "pkg/new.py")
    assert tree.read("pkg/new.py") == b"2\n"


def test_a_root_below_the_top_lists_its_own_files_relative_to_itself(tmp_path: Path) -> None:
    make_repository(tmp_path, {"python/pkg/a.py": b"", "docs/x.md": b"", "python/b.py": b""})
    write_files(tmp_path, {".gitignore": b"b.py\n", "python/pkg/b.py": b""})
    # What is tracked belongs to the tree, whatever a rule that came later says.
    assert WorkTree(tmp_path / "python").paths() == ("b.py", "pkg/a.py")


@pytest.mark.parametrize("under_git", [True, False])
def test_odd_names_are_listed_and_read(tmp_path: Path, under_git: bool) -> None:
    write_files(tmp_path, {name: os.fsencode(name) for name in ODD_NAMES})
    if under_git:
        run_git(tmp_path, "init", "-q")
        run_git(tmp_path, "add", "a b.py")
    tree = WorkTree(tmp_path)
    assert tree.paths() == tuple(sorted(ODD_NAMES))
    assert dict(tree.read_many(tree.paths())) == {name: os.fsencode(name) for name in ODD_NAMES}


@pytest.mark.parametrize("under_git", [True, False])
def test_of_links_only_python_files_outside_are_followed(tmp_path: Path, under_git: bool) -> None:
    root = tmp_path / "root"
    write_files(tmp_path, {"secret/s.py": b"secret\n", "root/pkg/a.py": b"1\n", "root/sub/c.py": b"3\n"})
    (root / "inside.py").symlink_to("pkg/a.py")
    (root / "outside.py").symlink_to(tmp_path / "secret/s.py")
    (root / "folder").symlink_to(tmp_path / "secret")
    (root / "dangling.py").symlink_to("nowhere")
    os.mkfifo(root / "pipe.py")
    if under_git:
        run_git(root, "init", "-q")
        run_git(root, "add", "-A")
        (root / "sub/c.py").unlink()
        (root / "sub").rmdir()
        (root / "sub").symlink_to(tmp_path / "secret")  # git still lists sub/c.py
        write_files(tmp_path, {"secret/c.py": b"secret\n"})
    tree = WorkTree(root)
    assert tree.paths() == (("outside.py", "pkg/a.py") if under_git else ("outside.py", "pkg/a.py", "sub/c.py"))
    assert tree.unread() == (("folder", "sub") if under_git else ("folder",))
    assert WorkTree(root, ["folder/"]).unread() == (("sub",) if under_git else ())
    assert tree.read("outside.py") == b"secret\n"  # it may call what a plan changes; writing it is refused elsewhere
    unreadable = [
        "inside.py",
        "folder/s.py",
        "dangling.py",
        "pipe.py",
        "../secret/s.py",
        "pkg/../pkg/a.py",
    ]
    for path in [*unreadable, str(tmp_path / "secret/s.py"), "pkg", "", "nothing.py", "no/such.py", "a\0b"]:
        with pytest.raises(SourceError) as caught:
            tree.read(path)
        assert caught.value.path == path
        with pytest.raises(SourceError):
            list(tree.read_many([path]))


def test_a_link_to_the_root_itself_is_resolved(tmp_path: Path) -> None:
    write_files(tmp_path, {"real/a.py": b"1\n"})
    (tmp_path / "link").symlink_to("real")
    tree = WorkTree(tmp_path / "link")
    assert tree.root == tmp_path / "real"
    assert tree.read("a.py") == b"1\n"


def test_submodules_and_nested_repositories_are_somebody_elses(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": b""})
    outer = make_repository(tmp_path / "outer", {"a.py": b""})
    run_git(outer, "submodule", "--quiet", "add", str(inner), "sub")
    make_repository(outer / "nested", {"n.py": b""})
    assert WorkTree(outer).paths() == (".gitmodules", "a.py")


@pytest.mark.parametrize("under_git", [True, False])
def test_virtual_environments_are_left_out(tmp_path: Path, under_git: bool) -> None:
    write_files(tmp_path, {"a.py": b"", "env/pyvenv.cfg": b"", "env/lib/x.py": b"", "environment.py": b""})
    if under_git:
        make_repository(tmp_path)
    assert WorkTree(tmp_path).paths() == ("a.py", "environment.py")


def test_outside_of_git_common_sense_and_gitignore_decide(tmp_path: Path) -> None:
    kept = {"a.py": b"", "pkg/b.py": b"", "pkg/gen/keep.py": b"", ".flake8": b"", "logs/x.py": b""}
    left_out = {"node_modules/m.py": b"", "pkg/__pycache__/b.pyc": b"", ".tox/t.py": b"", "out/o.py": b"", "x.log": b""}
    rules = {".gitignore": b"/out/\r\n*.log\n!\nlogs\n!logs/\n", "pkg/.gitignore": b"gen/*\n!keep.py\n"}
    write_files(tmp_path, {**kept, **left_out, **rules, "pkg/gen/x.py": b""})
    assert WorkTree(tmp_path).paths() == tuple(sorted([*kept, *rules]))


def test_an_ignored_root_is_walked(tmp_path: Path) -> None:
    make_repository(tmp_path, {".gitignore": b"vendor/\n", "a.py": b""})
    write_files(tmp_path, {"vendor/pkg/x.py": b"", "vendor/.gitignore": b"y.py\n", "vendor/y.py": b""})
    assert WorkTree(tmp_path / "vendor/pkg").paths() == ("x.py",)
    assert WorkTree(tmp_path / "vendor").paths() == (".gitignore", "pkg/x.py")


def test_an_empty_repository_has_no_files(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert WorkTree(tmp_path).paths() == ()


def test_what_the_user_ignores_everywhere_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repository(tmp_path / "r", {"a.py": b""})
    write_files(tmp_path, {"ignore": b"scratch/\n", "config": f"[core]\nexcludesFile = {tmp_path}/ignore\n".encode()})
    write_files(root, {"scratch/s.py": b""})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert WorkTree(root).paths() == ("a.py",)


def test_a_file_in_conflict_is_listed_once(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"0\n"})
    run_git(tmp_path, "switch", "-q", "-c", "other")
    for branch, raw in (("other", b"1\n"), ("main", b"2\n")):
        run_git(tmp_path, "switch", "-q", branch)
        write_files(tmp_path, {"a.py": raw})
        run_git(tmp_path, "commit", "-q", "-a", "-m", branch)
    run_git(tmp_path, "merge", "other", check=False)
    assert WorkTree(tmp_path).paths() == ("a.py",)


@pytest.mark.parametrize("under_git", [True, False])
def test_excluded_patterns_are_left_out(tmp_path: Path, under_git: bool) -> None:
    write_files(tmp_path, {"a.py": b"", "third_party/b.py": b"", "pkg/a_pb2.py": b"", "pkg/third_party.py": b""})
    if under_git:
        make_repository(tmp_path)
    assert WorkTree(tmp_path, ["third_party/", "*_pb2.py"]).paths() == ("a.py", "pkg/third_party.py")


def test_a_root_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": b""})
    for root in (tmp_path / "a.py", tmp_path / "gone"):
        with pytest.raises(ConfigError, match="--root"):
            WorkTree(root)


def test_searches_pass_over_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree, "MAX_SEARCH_BYTES", 3)
    write_files(tmp_path, {"a.py": b"123", "b.py": b"1234", "empty.py": b""})
    tree = WorkTree(tmp_path)
    assert list(tree.read_many(["empty.py", "b.py", "a.py"])) == [("empty.py", b""), ("a.py", b"123")]
    assert tree.read("b.py") == b"1234"


def test_a_large_tree_is_read_quickly(tmp_path: Path) -> None:
    raw = b"x = 1\n" * 2_400
    write_files(tmp_path, {f"pkg{number % 60}/m{number}.py": raw for number in range(2_573)})
    make_repository(tmp_path)
    WorkTree(tmp_path).paths()
    started = time.perf_counter()
    tree = WorkTree(tmp_path)
    total = sum(len(text) for _, text in tree.read_many(tree.paths()))
    seconds = time.perf_counter() - started
    assert total == 2_573 * len(raw)
    assert seconds < 1.5  # 0.1 s alone on the machine; the rest is for neighbours
