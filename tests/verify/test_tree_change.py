"""Nothing that differs between two trees goes missing on the way to the ledger, whatever kind of thing it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from codemods.repo import plain_tree, store
from codemods.repo.plain_tree import PlainTree
from codemods.repo.store import ObjectStore, empty_tree
from codemods.schema.config import Settings
from codemods.schema.errors import ConfigError
from codemods.schema.verdict import Explained, Ledger
from codemods.verify import tree_change
from codemods.verify.change import TreeChange
from codemods.verify.ledger import account
from codemods.verify.tree_change import between_directories, between_trees
from tests.support.repository import make_repository, run_git, write_files


def committed(root: Path) -> str:
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "next")
    return run_git(root, "rev-parse", "HEAD^{tree}").strip()


class Pair:
    """An old and a new state, as commits and as directories."""

    def __init__(self, tmp_path: Path, old: Mapping[str, bytes]) -> None:
        self.root = make_repository(tmp_path / "new", old)
        self.before = tmp_path / "old"
        run_git(tmp_path, "clone", "-q", "new", "old")
        self.old_tree = run_git(self.root, "rev-parse", "HEAD^{tree}").strip()
        self.store = ObjectStore(self.root / ".git")

    def change(self, how: str) -> TreeChange:
        if how == "directories":
            return between_directories(PlainTree(self.before), PlainTree(self.root), Settings())
        return between_trees(self.store, self.old_tree, committed(self.root), Settings())


Make = Callable[[Mapping[str, bytes]], Pair]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Pair] = []

    def pair(old: Mapping[str, bytes]) -> Pair:
        made.append(Pair(tmp_path, old))
        return made[-1]

    yield pair
    for one in made:
        one.store.close()


HOWS = pytest.mark.parametrize("how", ["commits", "directories"])


def residue(made: Ledger) -> dict[str, str]:
    return {entry.path: entry.mark.reason for entry in made.residue}


@HOWS
def test_text_files(make: Make, how: str) -> None:
    pair = make({"a.py": b"1\n", "b/c.py": b"2\n", "same.py": b"3\n"})
    (pair.root / "a.py").unlink()
    write_files(pair.root, {"b/c.py": b"4\n", "d.md": b"5\n"})
    change = pair.change(how)
    assert [(one.path, one.before, one.after) for one in change.changes] == [
        ("a.py", b"1\n", None),
        ("b/c.py", b"2\n", b"4\n"),
        ("d.md", None, b"5\n"),
    ]
    assert (change.opaque, change.problems) == ((), ())
    assert list(change.old.paths()) == ["a.py", "b/c.py", "same.py"]
    assert list(change.new.paths()) == ["b/c.py", "d.md", "same.py"]
    assert (change.old.read("b/c.py"), change.new.read("b/c.py")) == (b"2\n", b"4\n")
    assert change.old.read("same.py") == change.new.read("same.py") == b"3\n"


@HOWS
def test_links_binaries_and_kinds_that_change(make: Make, how: str) -> None:
    pair = make({"a.py": b"1\n2\n", "b.bin": b"\0", "c.py": b"1\n"})
    (pair.root / "a.py").unlink()
    (pair.root / "a.py").symlink_to("c.py")
    (pair.root / "l").symlink_to("/etc/passwd")
    write_files(pair.root, {"b.bin": b"\0\1", "c.py": b"1\0\n"})
    made = account(pair.change(how), Explained())
    assert {(entry.path, entry.side.value, entry.mark.reason) for entry in made.residue} == {
        ("a.py", "old", "nothing explains it"),
        ("a.py", "new", "is a symbolic link"),
        ("b.bin", "old", "is a binary file"),
        ("b.bin", "new", "is a binary file"),
        ("c.py", "old", "is a binary file"),
        ("c.py", "new", "is a binary file"),
        ("l", "new", "is a symbolic link"),
    }
    assert made.lines == 2 + 1 + 1 + 2 + 2
    assert made.certified == 0


@HOWS
def test_modes_are_findings(make: Make, how: str) -> None:
    pair = make({"a.py": b"1\n"})
    (pair.root / "a.py").chmod(0o755)
    change = pair.change(how)
    assert change.changes == ()
    assert [(one.code, one.path) for one in change.problems] == [("mode-change", "a.py")]


@HOWS
def test_huge_files_are_residue(make: Make, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (store, plain_tree, tree_change):
        monkeypatch.setattr(module, "MAX_BLOB_BYTES", 20)
    pair = make({"a.py": b"1\n"})
    write_files(pair.root, {"a.py": b"x = 1\n" * 20})
    made = account(pair.change(how), Explained())
    assert [(entry.side.value, entry.mark.reason) for entry in made.residue] == [
        ("old", "nothing explains it"),
        ("new", "is a file of more than 20 bytes, and was not read"),
    ]


@HOWS
def test_a_change_of_too_much_text_is_not_read_to_its_end(
    make: Make, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_change, "MAX_CHANGED_BYTES", 0)
    pair = make({})
    write_files(pair.root, {"a.py": b"# 1\n", "b.py": b"# 2\n"})
    made = account(pair.change(how), Explained())
    assert (made.lines, made.certified) == (2, 0)
    assert all("was not read" in entry.mark.reason for entry in made.residue)


@HOWS
def test_an_empty_module_is_said_unless_it_begins_a_package(make: Make, how: str) -> None:
    pair = make({"space/a.py": b"1\n", "gone.py": b""})
    (pair.root / "gone.py").unlink()
    write_files(pair.root, {"space/__init__.py": b"", "json.py": b"", "fresh/__init__.py": b"", "fresh/b.py": b"#\n"})
    assert [(one.code, one.path) for one in pair.change(how).problems] == [
        ("empty-file", "gone.py"),
        ("empty-file", "json.py"),
        ("empty-file", "space/__init__.py"),
    ]


def test_a_submodule_is_residue(make: Make) -> None:
    pair = make({"a.py": b"1\n"})
    commit = run_git(pair.root, "rev-parse", "HEAD").strip()
    run_git(pair.root, "update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
    run_git(pair.root, "commit", "-q", "-m", "sub")
    tree = run_git(pair.root, "rev-parse", "HEAD^{tree}").strip()
    made = account(between_trees(pair.store, pair.old_tree, tree, Settings()), Explained())
    assert residue(made) == {"lib": "is a submodule"}
    assert made.lines == 1


def test_a_commit_without_parents_is_compared_with_nothing(make: Make) -> None:
    pair = make({"a.py": b"1\n", "b/c.py": b"2\n"})
    change = between_trees(pair.store, empty_tree(pair.old_tree), pair.old_tree, Settings())
    assert list(change.old.paths()) == []
    assert [one.path for one in change.changes] == ["a.py", "b/c.py"]


def test_no_ignore_file_hides_a_file_of_a_directory(make: Make) -> None:
    pair = make({"a.py": b"1\n"})
    hidden = {".gitignore": b"*\n", ".hidden/x.py": b"1\n", "__pycache__/a.pyc": b"", "__pycache__/b.py": b"1"}
    write_files(pair.root, {"evil.py": b"1\n", **hidden})
    os.mkfifo(pair.root / "pipe.py")
    made = account(pair.change("directories"), Explained())
    assert residue(made) == {
        ".gitignore": "not Python",
        ".hidden/x.py": "nothing explains it",
        "__pycache__/b.py": "nothing explains it",
        "evil.py": "nothing explains it",
        "pipe.py": "is neither a file nor a directory",
    }


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a directory"):
        PlainTree(tmp_path / "nothing")
