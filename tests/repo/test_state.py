"""What is found out about a repository, for each state that stands in somebody's way."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.repo.state import Repository, find_repository, uncommitted
from tests.support.repository import make_repository, run_git, write_files


def found(root: Path) -> Repository:
    repository = find_repository(root)
    assert repository is not None
    return repository


def test_a_plain_repository(tmp_path: Path) -> None:
    make_repository(tmp_path, {"python/a.py": b""})
    assert found(tmp_path / "python") == Repository(
        root=tmp_path / "python",
        top=tmp_path,
        git_dir=tmp_path / ".git",
        prefix="python/",
        head=run_git(tmp_path, "rev-parse", "HEAD").strip(),
        branch="main",
        is_bare=False,
        is_shallow=False,
        unfinished="",
    )
    assert found(tmp_path).prefix == ""


def test_a_directory_outside_of_git(tmp_path: Path) -> None:
    assert find_repository(tmp_path) is None


def test_names_with_line_breaks_and_links(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "two\nlines", {"deep\nroot/a.py": b""})
    (tmp_path / "link").symlink_to(top / "deep\nroot")
    repository = found(tmp_path / "link")
    assert (repository.top, repository.prefix, repository.git_dir) == (top, "deep\nroot/", top / ".git")


def test_an_unborn_a_detached_and_a_branch_with_slashes(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert (found(tmp_path).head, found(tmp_path).branch) == (None, "main")
    run_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
    run_git(tmp_path, "switch", "-q", "-c", "a/b")
    assert found(tmp_path).branch == "a/b"
    run_git(tmp_path, "checkout", "-q", "--detach")
    assert found(tmp_path).branch is None
    assert found(tmp_path).head is not None


def test_bare_and_shallow(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", {"a.py": b""})
    run_git(origin, "commit", "-q", "--allow-empty", "-m", "second")
    run_git(tmp_path, "clone", "-q", "--bare", str(origin), "bare.git")
    run_git(tmp_path, "clone", "-q", "--depth=1", origin.as_uri(), "shallow")
    assert found(tmp_path / "bare.git").is_bare
    assert found(origin / ".git").is_bare
    assert not found(origin).is_bare
    assert found(tmp_path / "shallow").is_shallow
    assert not found(origin).is_shallow


def test_a_linked_work_tree_has_its_own_head(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", {"a.py": b""})
    run_git(origin, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repository = found(tmp_path / "side")
    assert (repository.branch, repository.top) == ("side", tmp_path / "side")


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("merge", "other"), "merge"),
        (("rebase", "other"), "rebase"),
        (("rebase", "--apply", "other"), "rebase"),
        (("cherry-pick", "other"), "cherry-pick"),
    ],
)
def test_an_unfinished_operation_is_named(tmp_path: Path, command: tuple[str, ...], name: str) -> None:
    make_repository(tmp_path, {"a.py": b"0\n"})
    run_git(tmp_path, "branch", "other")
    for branch, raw in (("other", b"1\n"), ("main", b"2\n")):
        run_git(tmp_path, "switch", "-q", branch)
        write_files(tmp_path, {"a.py": raw})
        run_git(tmp_path, "commit", "-q", "-a", "-m", branch)
    assert found(tmp_path).unfinished == ""
    run_git(tmp_path, *command, check=False)
    assert found(tmp_path).unfinished == name
    run_git(tmp_path, name, "--abort")
    assert found(tmp_path).unfinished == ""


def test_uncommitted_files_under_the_root(tmp_path: Path) -> None:
    names = ("clean.py", "edited.py", "staged.py", "gone.py", "old name\n.py")
    make_repository(
        tmp_path, {f"python/{name}": name.encode() for name in names} | {"above.py": b"", ".gitignore": b"*.o\n"}
    )
    root = tmp_path / "python"
    write_files(tmp_path, {"above.py": b"1\n", "python/edited.py": b"1\n", "python/new.py": b"", "python/x.o": b""})
    write_files(tmp_path, {"python/staged.py": b"2\n"})
    run_git(tmp_path, "add", "python/staged.py")
    (root / "gone.py").unlink()
    run_git(tmp_path, "mv", "python/old name\n.py", "python/renamed.py")
    tracked = ("edited.py", "gone.py", "old name\n.py", "renamed.py", "staged.py")
    assert uncommitted(found(root)) == tracked
    assert uncommitted(found(root), untracked=True) == tuple(sorted([*tracked, "new.py"]))
    assert "above.py" in uncommitted(found(tmp_path))


def test_a_file_that_was_only_touched_is_clean(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    write_files(tmp_path, {"a.py": b"1\n"})
    index = (tmp_path / ".git/index").read_bytes()
    assert uncommitted(found(tmp_path)) == ()
    assert (tmp_path / ".git/index").read_bytes() == index


def test_line_ends_that_the_users_git_converts_are_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "origin", {"a.py": b"1\n"})
    write_files(tmp_path, {"config": b"[core]\n\tautocrlf = true\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    run_git(tmp_path, "clone", "-q", "origin", "r")
    assert (tmp_path / "r/a.py").read_bytes() == b"1\r\n"
    write_files(tmp_path, {"r/a.py": b"1\r\n"})  # newer than the index: only its content tells that it is the same
    assert uncommitted(found(tmp_path / "r")) == ()
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    assert uncommitted(found(tmp_path / "r")) == ("a.py",)


def test_work_inside_a_submodule_is_not_ours_but_another_commit_of_it_is(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": b""})
    outer = make_repository(tmp_path / "outer", {"a.py": b""})
    run_git(outer, "submodule", "--quiet", "add", str(inner), "sub")
    run_git(outer, "commit", "-q", "-m", "sub")
    write_files(outer, {"sub/i.py": b"edited\n"})
    assert uncommitted(found(outer)) == ()
    run_git(outer / "sub", "commit", "-q", "-a", "-m", "on")
    assert uncommitted(found(outer)) == ("sub",)
