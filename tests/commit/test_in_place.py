"""Edits in place: what they leave behind, and every reason for which they leave nothing at all."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from codemods.commit.in_place import recover, write_in_place
from codemods.commit.journal import Busy
from codemods.commit.preflight import ChangedOnDisk, DirtyTree, LeavesRoot, ReadOnly
from codemods.repo import git as git_module
from codemods.schema.errors import InternalError, SourceError, UnmovedError
from codemods.schema.result import FileChange, PlanResult
from tests.support.repository import change, draft, make_repository, plan_result, run_git, snapshot, write_files

EDIT = plan_result(draft(change("pkg/a.py", b"1\n", b"2\n")))
FILES = {"pkg/a.py": b"1\n", "pkg/b.py": b"b\n"}


def mode(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


def refused(root: Path, error: type[UnmovedError], fix: str, result: PlanResult = EDIT) -> None:
    """Raises unless the edit is refused with `error`, exit code 2 and a next move that has `fix` in it."""
    before = snapshot(root, leave_out=())
    with pytest.raises(error) as caught:
        write_in_place(root, result)
    assert caught.value.exit_code == 2
    assert fix in caught.value.fix
    assert snapshot(root, leave_out=()) == before


@pytest.mark.parametrize("under_git", [True, False])
def test_the_net_effect_is_written_and_nothing_else_is_left(tmp_path: Path, under_git: bool) -> None:
    write_files(tmp_path, {**FILES, "old/only.py": b"x", "same.py": b"s"})
    if under_git:
        make_repository(tmp_path, {})
    result = plan_result(
        draft(change("pkg/a.py", b"1\n", b"2\n"), change("same.py", b"s", b"t")),
        draft(
            change("pkg/a.py", b"2\n", b"3\r\n\xff"), change("same.py", b"t", b"s"), change("pkg/b.py", b"b\n", None)
        ),
        draft(change("new dir/sub/ö\n.py", None, b"n"), change("old/only.py", b"x", None)),
    )
    same = (tmp_path / "same.py").stat()
    changed = write_in_place(tmp_path, result)
    assert changed == ("new dir/sub/ö\n.py", "old/only.py", "pkg/a.py", "pkg/b.py")
    assert sorted(snapshot(tmp_path)) == ["new dir", "new dir/sub", "new dir/sub/ö\n.py", "pkg", "pkg/a.py", "same.py"]
    assert (tmp_path / "pkg/a.py").read_bytes() == b"3\r\n\xff"
    assert (tmp_path / "new dir/sub/ö\n.py").read_bytes() == b"n"
    found = (tmp_path / "same.py").stat()
    assert (found.st_ino, found.st_mtime_ns) == (same.st_ino, same.st_mtime_ns)
    assert not recover(tmp_path)


def test_modes_are_kept(tmp_path: Path) -> None:
    write_files(tmp_path, {"run.py": b"1", "private.py": b"1", "tool.py": b"t"})
    for name, bits in (("run.py", 0o755), ("private.py", 0o640), ("tool.py", 0o750)):
        (tmp_path / name).chmod(bits)
    result = plan_result(
        draft(change("run.py", b"1", b"2"), change("private.py", b"1", b"2"), change("new.py", None, b"")),
        draft(change("tool.py", b"t", None), change("renamed.py", None, b"t")),
    )
    mask = os.umask(0o027)
    try:
        write_in_place(tmp_path, result)
    finally:
        os.umask(mask)
    modes = {name: mode(tmp_path / name) for name in ("run.py", "private.py", "new.py", "renamed.py")}
    assert modes == {"run.py": 0o755, "private.py": 0o640, "new.py": 0o640, "renamed.py": 0o750}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    os.chown(tmp_path / "pkg/a.py", 12345, 12346)
    write_in_place(tmp_path, EDIT)
    status = (tmp_path / "pkg/a.py").stat()
    assert (status.st_uid, status.st_gid) == (12345, 12346)


def test_a_cache_that_was_there_stays(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, ".unmoved_cache/index": b"cached"})
    write_in_place(tmp_path, EDIT)
    assert (tmp_path / ".unmoved_cache/index").read_bytes() == b"cached"
    assert sorted(os.listdir(tmp_path / ".unmoved_cache")) == [".gitignore", "CACHEDIR.TAG", "index"]


def test_a_plan_that_comes_to_nothing_touches_nothing(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    before = snapshot(tmp_path)
    there_and_back = plan_result(draft(change("pkg/a.py", b"1\n", b"2\n")), draft(change("pkg/a.py", b"2\n", b"1\n")))
    assert write_in_place(tmp_path, there_and_back) == ()
    assert write_in_place(tmp_path, plan_result()) == ()
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "fix"),
    [
        ([change("pkg/a.py", b"other\n", b"2\n")], "again"),
        ([change("pkg/gone.py", b"1\n", b"2\n")], "again"),
        ([change("gone/a.py", b"1\n", b"2\n")], "again"),
        ([change("pkg/b.py", b"b\n", b"c\n"), change("pkg/a.py", None, b"2\n")], "remove the file"),
        ([change("pkg/b.py", b"b\n", b"c\n"), change("pkg/a.py/x.py", None, b"2\n")], "another place"),
        ([change("pkg", b"", b"2\n")], "another place"),
    ],
)
def test_a_tree_that_is_not_what_the_plan_read_is_refused(tmp_path: Path, changes: list[FileChange], fix: str) -> None:
    write_files(tmp_path, FILES)
    refused(tmp_path, ChangedOnDisk, fix, plan_result(draft(*changes)))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(ChangedOnDisk, match="not a plain file"):
        write_in_place(tmp_path, plan_result(draft(change("pipe.py", b"", b"2\n"))))


@pytest.mark.parametrize(
    ("place", "bits"), [("pkg/a.py", 0o444), ("pkg/a.py", 0o577), ("pkg", 0o555)], ids=["file", "owner", "directory"]
)
def test_what_is_read_only_is_refused(tmp_path: Path, place: str, bits: int) -> None:
    write_files(tmp_path, FILES)
    (tmp_path / place).chmod(bits)
    two = plan_result(draft(change("pkg/b.py", b"b\n", b"c\n"), change("pkg/a.py", b"1\n", b"2\n")))
    try:
        refused(tmp_path, ReadOnly, "chmod u+w", two)
        refused(tmp_path, ReadOnly, "chmod u+w", plan_result(draft(change("pkg/a.py", b"1\n", None))))
        if place == "pkg":
            refused(tmp_path, ReadOnly, "chmod u+w", plan_result(draft(change("pkg/new/c.py", None, b"1\n"))))
    finally:
        (tmp_path / place).chmod(0o755)


@pytest.mark.parametrize("goal", ["outside", "inside"])
def test_links_are_refused(tmp_path: Path, goal: str) -> None:
    root = tmp_path / "root"
    write_files(tmp_path, {"outside/a.py": b"1\n", "root/inside/a.py": b"1\n"})
    place = tmp_path / "outside" if goal == "outside" else root / "inside"
    where = "out of" if goal == "outside" else "inside"
    (root / "pkg").symlink_to(place)
    (root / "link.py").symlink_to(place / "a.py")
    (root / "dangling.py").symlink_to(place / "nothing.py")
    before = snapshot(tmp_path)
    for one in (
        change("pkg/a.py", b"1\n", b"2\n"),
        change("pkg/new.py", None, b"2\n"),
        change("link.py", b"1\n", b"2\n"),
        change("dangling.py", None, b"2\n"),
    ):
        with pytest.raises(LeavesRoot, match=f"points {where} the root") as caught:
            write_in_place(root, plan_result(draft(one)))
        assert "name the real file" in caught.value.fix
    assert snapshot(tmp_path) == before


def test_a_cache_directory_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {f"root/{path}": raw for path, raw in FILES.items()})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "root/.unmoved_cache").symlink_to(tmp_path / "elsewhere")
    refused(tmp_path / "root", SourceError, "remove")
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_file_in_the_place_of_the_cache_directory_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, ".unmoved_cache": b""})
    refused(tmp_path, SourceError, "if it is a file")


@pytest.mark.parametrize("kind", ["edited", "staged", "untracked", "unborn"])
def test_uncommitted_changes_of_the_same_files_are_refused_unless_allowed(tmp_path: Path, kind: str) -> None:
    if kind == "unborn":
        make_repository(tmp_path)
        write_files(tmp_path, FILES)
    elif kind == "untracked":
        make_repository(tmp_path, {"other.py": b""})
        write_files(tmp_path, FILES)
    else:
        make_repository(tmp_path, {**FILES, "pkg/a.py": b"0\n"})
        write_files(tmp_path, {"pkg/a.py": b"1\n"})
    if kind == "staged":
        run_git(tmp_path, "add", "-A")
    refused(tmp_path, DirtyTree, "--allow-dirty")
    assert write_in_place(tmp_path, EDIT, allow_dirty=True) == ("pkg/a.py",)
    assert (tmp_path / "pkg/a.py").read_bytes() == b"2\n"


def test_changes_of_other_files_are_nobodys_business(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    write_files(tmp_path, {"pkg/b.py": b"dirty\n", "new.py": b""})
    (tmp_path / "link").symlink_to("pkg")
    run_git(tmp_path, "checkout", "-q", "--detach")
    assert write_in_place(tmp_path, EDIT) == ("pkg/a.py",)
    assert run_git(tmp_path, "diff", "--name-only").split() == ["pkg/a.py", "pkg/b.py"]


def test_a_root_below_the_top_and_a_root_behind_a_link(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"python/pkg/a.py": b"1\n", "pkg/a.py": b"1\n"})
    write_files(tmp_path, {"r/pkg/a.py": b"dirty, but above the root\n"})
    (tmp_path / "link").symlink_to("r/python")
    assert write_in_place(tmp_path / "link", EDIT) == ("pkg/a.py",)
    assert (tmp_path / "r/python/pkg/a.py").read_bytes() == b"2\n"


def test_without_git_there_is_nothing_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path)
    write_files(tmp_path, FILES)
    monkeypatch.setenv("PATH", str(tmp_path))
    git_module._safe_directories.cache_clear()
    try:
        assert write_in_place(tmp_path, EDIT) == ("pkg/a.py",)
    finally:
        git_module._safe_directories.cache_clear()


def test_a_chain_that_does_not_hold_is_a_fault_of_ours(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    broken = plan_result(draft(change("pkg/a.py", b"1\n", b"2\n")), draft(change("pkg/a.py", b"1\n", b"3\n")))
    refused(tmp_path, InternalError, "report", broken)


def test_only_one_process_writes_at_a_time(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        refused(tmp_path, Busy, "wait")
    finally:
        os.close(handle)
    assert write_in_place(tmp_path, EDIT) == ("pkg/a.py",)
