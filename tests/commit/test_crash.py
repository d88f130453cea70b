"""An edit that is cut short, at any line of the code that makes it, is an edit that did not happen.

`allow_dirty` only spares hundreds of runs the question whether git knows the files."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

from codemods.commit import in_place, journal
from codemods.commit.in_place import recover, write_in_place
from codemods.commit.journal import Edit, InterruptedWrite, Journal, WriteFailed, has_journal
from codemods.repo import cache_dir
from codemods.schema.errors import SourceError
from tests.support.repository import change, draft, plan_result, snapshot, write_files

# Python 3.12 warns about a fork beside threads, which pytest-xdist has; the children here end before they need any.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

FILES = {"a.py": b"a\n", "pkg/b.py": b"b\n", "old/c.py": b"c\n"}
RESULT = plan_result(
    draft(
        change("a.py", b"a\n", b"A\n"),
        change("new/deep/d.py", None, b"D\n"),
        change("old/c.py", b"c\n", None),
        change("pkg/b.py", b"b\n", b"B\n"),
    )
)
TRACED = {str(module.__file__) for module in (in_place, journal, cache_dir)}
# Between two of their lines nothing happens to the disk, and they have most of them.
PURE = {"_edit", "_parents", "<genexpr>", "<setcomp>", "<listcomp>"}
CACHE = (".unmoved_cache",)


def at_line(number: int, act: Callable[[], None]) -> Callable[[FrameType, str, Any], Any]:
    """A trace function that acts before the number-th line that runs in the code under test."""
    seen = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename not in TRACED or frame.f_code.co_name in PURE:
            return None
        if event == "line":
            seen += 1
            if seen == number:
                act()
        return trace

    return trace


def in_a_child(run: Callable[[], object]) -> int:
    """Exit status of a process of its own that does `run`: as of waitpid, 130 << 8 when it was interrupted."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run()
            status = 0
        except KeyboardInterrupt:
            status = 130
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def killed_at(number: int, run: Callable[[], object]) -> bool:
    """Whether `run` got as far as the number-th line, where kill -9 hits it; else it must have ended well."""

    def traced() -> None:
        sys.settrace(at_line(number, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        run()

    status = in_a_child(traced)
    assert status in (0, signal.SIGKILL)
    return status != 0


def interrupted_at(number: int, run: Callable[[], object]) -> bool:
    """The same with Ctrl-C. In a child too: an exception out of a trace function may stay behind in the interpreter."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    def traced() -> None:
        sys.settrace(at_line(number, interrupt))
        run()

    status = in_a_child(traced)
    assert status in (0, 130 << 8)
    return status != 0


def fresh(root: Path) -> Path:
    shutil.rmtree(root, ignore_errors=True)
    write_files(root, FILES)
    (root / "pkg/b.py").chmod(0o755)
    return root


def states(root: Path) -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    """The tree before and after the whole edit."""
    before = snapshot(fresh(root), leave_out=CACHE)
    write_in_place(root, RESULT)
    return before, snapshot(root, leave_out=CACHE)


@pytest.fixture
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """kill -9 loses nothing that was written, only a power cut does; without waiting for the disk hundreds of runs are
    quick."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def half_done(root: Path) -> Path:
    """Leaves `root` as kill -9 does right after the last file was replaced."""
    fresh(root)
    original = os.replace

    def replace(source: str | Path, target: str | Path) -> None:
        original(source, target)
        if Path(target).name == "b.py":
            os.kill(os.getpid(), signal.SIGKILL)

    def killed() -> None:
        os.replace = replace  # type: ignore[assignment]
        write_in_place(root, RESULT)

    assert in_a_child(killed) == signal.SIGKILL
    assert has_journal(root)
    assert (root / "pkg/b.py").read_bytes() == b"B\n"
    assert not (root / "old").exists()
    return root


@pytest.mark.slow
@pytest.mark.usefixtures("_unsynced")
def test_kill_at_every_line_leaves_all_or_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    before, after = states(root)
    num_rolled_back = num_done = number = 0
    while killed_at(number := number + 1, lambda: write_in_place(fresh(root), RESULT, allow_dirty=True)):
        was_begun = has_journal(root)
        assert recover(root) == was_begun
        assert not recover(root)
        found = snapshot(root, leave_out=CACHE)
        assert found == (before if was_begun or found != after else after), f"killed at line event {number}"
        num_rolled_back += was_begun
        num_done += found == after
    assert num_rolled_back > 50
    assert num_done > 0
    assert snapshot(root, leave_out=CACHE) == after


@pytest.mark.slow
@pytest.mark.usefixtures("_unsynced")
def test_kill_while_taking_back_is_taken_back_too(tmp_path: Path) -> None:
    before, _ = states(tmp_path / "whole")
    root, half = tmp_path / "root", half_done(tmp_path / "half")
    number = 0
    while killed_at(number := number + 1, lambda: recover(shutil.copytree(half, root, symlinks=True))):
        recover(root)
        assert snapshot(root, leave_out=CACHE) == before, f"killed at line event {number}"
        assert not recover(root)
        shutil.rmtree(root)
    assert number > 50
    assert snapshot(root) == before


@pytest.mark.slow
@pytest.mark.usefixtures("_unsynced")
def test_ctrl_c_at_every_line_leaves_all_or_nothing(tmp_path: Path) -> None:
    root = tmp_path / "root"
    before, after = states(root)

    number = num_before = 0
    while interrupted_at(number := number + 1, lambda: write_in_place(fresh(root), RESULT, allow_dirty=True)):
        found = snapshot(root, leave_out=CACHE)
        assert found in (before, after), f"interrupted at line event {number}"
        assert not has_journal(root)
        num_before += found == before
    assert num_before > 50
    assert snapshot(root) == after


@pytest.mark.parametrize("name", ["write", "fsync", "replace", "fchmod", "open"])
def test_a_call_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    root = fresh(tmp_path / "root")
    before = snapshot(root)
    original: Callable[..., object] = getattr(os, name)
    left = 0

    def fails(*args: Any, **named: Any) -> object:
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return original(*args, **named)

    num_failures = 0
    while True:
        left = num_failures + 1
        with monkeypatch.context() as patched:
            patched.setattr(os, name, fails)
            try:
                write_in_place(root, RESULT)
            except WriteFailed as error:
                said = error.message
            else:
                break
        num_failures += 1
        assert "No space left on device; nothing was changed" in said
        assert snapshot(root) == before
    assert num_failures > 2
    assert snapshot(root, leave_out=CACHE) != before


def test_a_disk_that_stays_full_is_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = fresh(tmp_path / "root")
    before = snapshot(root)
    original = os.replace
    replaced: list[object] = []

    def replace(source: object, target: object) -> None:
        original(source, target)  # type: ignore[arg-type]
        replaced.append(target)
        if len(replaced) == 2:  # the journal, the first file; from now on nothing can be written
            monkeypatch.setattr(os, "write", full)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", replace)
        patched.setattr(journal, "_remove_empty", lambda *_: full())
        with pytest.raises(WriteFailed, match="could not be taken back yet") as caught:
            write_in_place(root, RESULT)
        assert "the originals are safe" in caught.value.fix
        assert snapshot(root, leave_out=CACHE) != before
    monkeypatch.undo()
    assert recover(root)
    assert snapshot(root) == before


def test_the_next_write_starts_from_the_state_before(tmp_path: Path) -> None:
    root = tmp_path / "root"
    half_done(root)
    assert write_in_place(root, plan_result(draft(change("a.py", b"a\n", b"other\n")))) == ("a.py",)
    assert (root / "pkg/b.py").read_bytes() == b"b\n"
    assert (root / "a.py").read_bytes() == b"other\n"
    assert not (root / "new").exists()


def test_an_edit_made_since_is_not_thrown_away(tmp_path: Path) -> None:
    root = tmp_path / "root"
    half_done(root)
    write_files(root, {"a.py": b"somebody's work\n"})
    found = snapshot(root, leave_out=())
    with pytest.raises(InterruptedWrite, match=r"a\.py: was edited") as caught:
        recover(root)
    assert str(root / ".unmoved_cache/journal") in caught.value.fix
    assert snapshot(root, leave_out=()) == found
    write_files(root, {"a.py": b"A\n"})
    assert recover(root)
    assert (root / "a.py").read_bytes() == b"a\n"


def test_a_journal_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {".unmoved_cache/journal": b"\xc1garbage", "a.py": b"a\n"})
    with pytest.raises(InterruptedWrite, match="can't be read") as caught:
        recover(tmp_path)
    assert "delete" in caught.value.fix
    assert (tmp_path / ".unmoved_cache/journal").exists()


@pytest.mark.parametrize("name", ["../victim", "/tmp/victim", ".git/hooks/victim", "a/../../victim", "link/victim", ""])
@pytest.mark.parametrize("field", ["path", "temporary", "made"])
def test_a_journal_that_came_with_the_tree_can_reach_nothing_outside(tmp_path: Path, name: str, field: str) -> None:
    root = fresh(tmp_path / "root")
    (root / "link").symlink_to(tmp_path)
    names = {"path": b"a.py", "temporary": b"a.tmp", field: name.encode()}
    edit = Edit(
        path=names["path"], temporary=names["temporary"], before=b"evil\n", after=None, mode=0o755, owner=(0, 0)
    )
    made = (names["made"],) if field == "made" else ()
    forged = msgspec.msgpack.encode(Journal(edits=(edit,), made=made, made_cache=True))
    write_files(root, {".unmoved_cache/journal": forged})
    before = snapshot(tmp_path, leave_out=())
    with pytest.raises(InterruptedWrite, match="not ours to write"):
        recover(root)
    assert snapshot(tmp_path, leave_out=()) == before


def test_a_cache_directory_that_leads_elsewhere_is_not_believed(tmp_path: Path) -> None:
    write_files(tmp_path, {"elsewhere/journal": b"x", "elsewhere/journal.new": b"x"})
    fresh(tmp_path / "root")
    (tmp_path / "root/.unmoved_cache").symlink_to(tmp_path / "elsewhere")
    assert not recover(tmp_path / "root")
    with pytest.raises(SourceError, match="is a symlink"):
        write_in_place(tmp_path / "root", RESULT)
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["journal", "journal.new"]


def test_nothing_to_recover(tmp_path: Path) -> None:
    assert not recover(tmp_path)
    assert os.listdir(tmp_path) == []
