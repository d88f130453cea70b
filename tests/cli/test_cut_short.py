"""The command as a process that is cut short or not listened to: Ctrl-C, kill -9, a reader that leaves, a full disk.

All or nothing is left, and what is said about it is true. Signals come at audit events, that is at the same step of the
work in every run; SIGINT goes to git too, as from a terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.command import Ended, Forked, python_m, signal_at
from tests.support.repository import make_repository, run_git, snapshot
from tests.support.small_tree import APPLY, BIND, BRANCH, CALLER, CHANGED, FILES, IN_PLACE, PLAN

# Objects that nothing points to are no change; git clears them away.
OBJECTS = (".git/objects",)
FULL = Path("/dev/full")
NOBODY_READS = "reader, writer = os.pipe(); os.close(reader); os.dup2(writer, 1); os.close(writer)"


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    with Forked(tmp_path_factory.mktemp("streams")) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory to be in: a plan, and the repository `root`."""
    make_repository(tmp_path / "root", FILES)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Ended]:
    """python_m with compiled code kept, so that only the first run compiles."""
    bytecode = str(tmp_path_factory.mktemp("bytecode"))

    def run(*arguments: str, **more: object) -> Ended:
        return python_m(*arguments, PYTHONPYCACHEPREFIX=bytecode, PYTHONDONTWRITEBYTECODE="", **more)  # type: ignore[arg-type]

    return run


def whole(root: Path) -> dict[str, tuple[str, int]]:
    """Everything that must not change: files, modes, index, refs, HEAD; not unreachable objects."""
    return snapshot(root, leave_out=OBJECTS)


def changed(root: Path, before: dict[str, tuple[str, int]]) -> list[str]:
    after = whole(root)
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def test_ctrl_c(place: Path, real: Callable[..., Ended]) -> None:
    before = whole(place / "root")
    for arguments, at in (
        (IN_PLACE, signal_at("compile", "pkg/caller.py", 1, "SIGINT")),
        (IN_PLACE, signal_at("os.rename", "root/pkg/", 2, "SIGINT")),
        (BRANCH, signal_at("subprocess.Popen", "commit-tree", 2, "SIGINT")),
    ):
        assert real(*arguments, cwd=place, first=at) == Ended(130, "", "interrupted: nothing was changed\n")
        assert changed(place / "root", before) == []


@pytest.mark.parametrize(
    ("arguments", "event", "word", "number"),
    [
        (BIND, "compile", "pkg/caller.py", 1),
        ((*APPLY, "--diff"), "compile", "pkg/runner.py", 1),
        (IN_PLACE, "subprocess.Popen", "ls-files", 1),
        (IN_PLACE, "subprocess.Popen", "status", 1),
        (IN_PLACE, "os.rename", "root/.unmoved_cache/", 1),
        (IN_PLACE, "os.rename", "root/pkg/", 3),
        (IN_PLACE, "os.remove", "journal'", 1),
        (BRANCH, "subprocess.Popen", "ls-tree", 1),
        (BRANCH, "compile", "pkg/caller.py", 1),
        (BRANCH, "subprocess.Popen", "mktree", 1),
        (BRANCH, "subprocess.Popen", "update-ref", 1),
    ],
)
def test_ctrl_c_at_any_time_changes_nothing(
    forked: Forked, place: Path, arguments: tuple[str, ...], event: str, word: str, number: int
) -> None:
    before = whole(place / "root")
    said = forked(*arguments, cwd=place, first=signal_at(event, word, number, "SIGINT"))
    assert said == Ended(130, "", "interrupted: nothing was changed\n")
    assert changed(place / "root", before) == []


def test_ctrl_c_after_the_last_write_is_not_called_nothing(forked: Forked, place: Path) -> None:
    before = whole(place / "root")
    # The first time that the directory is opened is for the journal, the second when the journal is gone.
    said = forked(*IN_PLACE, cwd=place, first=signal_at("open", "root/.unmoved_cache'", 2, "SIGINT"))
    assert said == Ended(130, "", "interrupted: 3 files were written\n")
    assert [path for path in changed(place / "root", before) if not path.startswith(".unmoved_cache")] == CHANGED


def test_ctrl_c_after_the_branch_was_made_is_not_called_nothing(forked: Forked, place: Path) -> None:
    before = whole(place / "root")
    (place / "bin").mkdir()
    wrapper = place / "bin/git"
    interrupts = 'case " $* " in *" update-ref "*) kill -INT $PPID; sleep 1;; esac'
    wrapper.write_text(f'#!/bin/sh\n{shutil.which("git")} "$@"\nstatus=$?\n{interrupts}\nexit $status\n')
    wrapper.chmod(0o755)
    said = forked(*BRANCH, cwd=place, first=f"os.environ['PATH'] = '{place}/bin:' + os.environ['PATH']")
    assert said == Ended(130, "", "interrupted: the branch split was written\n")
    refs = [".git/logs/refs/heads/split", ".git/refs/heads/split"]
    assert changed(place / "root", before) == refs


def test_kill_while_editing(forked: Forked, place: Path, real: Callable[..., Ended]) -> None:
    before = whole(place / "root")
    killed = real(*IN_PLACE, cwd=place, first=signal_at("os.rename", "root/pkg/", 2, "SIGKILL"))
    assert killed == Ended(-9, "", "")
    assert "pkg/caller.py" in changed(place / "root", before)
    half = whole(place / "root")

    said = forked(*BIND, "--format", "json", cwd=place)
    assert said.status == 2
    assert json.loads(said.out)["error"]["code"] == "half-written"
    assert "takes back what it left" in said.err
    assert whole(place / "root") == half

    said = forked(*APPLY, "--check", cwd=place)
    assert said.status == 1
    assert said.err.startswith("note: took back")
    assert changed(place / "root", before) == []


def test_after_a_kill_the_next_edit_starts_from_the_state_before(forked: Forked, place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "root", tmp_path / "other/root")
    shutil.copy(place / "plan.toml", tmp_path / "other")
    assert forked(*IN_PLACE, cwd=place, first=signal_at("os.rename", "root/pkg/", 3, "SIGKILL")).status == -9
    said = forked(*IN_PLACE, cwd=place)
    assert said.status == 0
    assert said.err.startswith("note: took back")
    assert forked(*IN_PLACE, cwd=tmp_path / "other").status == 0
    assert snapshot(place / "root") == snapshot(tmp_path / "other/root")


@pytest.mark.parametrize("word", ["hash-object", "commit-tree", "update-ref"])
def test_kill_while_writing_a_branch(forked: Forked, place: Path, word: str) -> None:
    before = whole(place / "root")
    killed = forked(*BRANCH, cwd=place, first=signal_at("subprocess.Popen", word, 1, "SIGKILL"))
    assert killed.status == -9
    assert changed(place / "root", before) == []
    run_git(place / "root", "fsck", "--strict")
    if word == "update-ref":
        assert forked(*BRANCH, cwd=place).status == 0
        assert run_git(place / "root", "rev-list", "--count", "HEAD..split").strip() == "2"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((*APPLY, "--diff"), 0),
        ((*APPLY, "--check"), 1),
        ((*IN_PLACE, "--format", "json"), 0),
        (("apply", "no.toml", "--format", "json"), 2),
    ],
)
def test_a_reader_that_leaves_changes_neither_work_nor_status(
    forked: Forked, place: Path, arguments: tuple[str, ...], status: int
) -> None:
    before = whole(place / "root")
    said = forked(*arguments, cwd=place, first=NOBODY_READS)
    assert said.status == status
    assert "Traceback" not in said.err
    assert "internal" not in said.err
    assert changed(place / "root", before) == (CHANGED if "--in-place" in arguments else [])


def test_a_reader_that_leaves_in_the_middle(forked: Forked, place: Path) -> None:
    calls = b"".join(b"\n\ndef call_%d(runner: Runner):\n    return runner.bind(2)\n" % number for number in range(60))
    (place / "root/pkg/caller.py").write_bytes(CALLER + calls)
    head = f"""
import fcntl, threading
reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
def leave():
    open({str(place / "read")!r}, "wb").write(os.read(reader, 100))
    os.close(reader)
threading.Thread(target=leave).start()
os.dup2(writer, 1)
os.close(writer)
"""
    said = forked(*APPLY, "--diff", cwd=place, first=head)
    assert (place / "read").read_bytes().startswith(b"diff --git a/pkg/caller.py b/pkg/caller.py\n")
    assert said.status == 0
    assert said.err.splitlines()[0] == "1 step, 2 commits, 3 files: nothing was written"
    assert len(said.err.splitlines()) == 2


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    ("arguments", "done"),
    [
        (APPLY, "nothing was changed"),
        ((*APPLY, "--diff"), "nothing was changed"),
        ((*APPLY, "--check", "--format", "json"), "nothing was changed"),
        (IN_PLACE, "3 files were written"),
        ((*BRANCH, "--format", "json"), "the branch split was written"),
        (BIND, "nothing was changed"),
        (("explain", "U101"), "nothing was changed"),
    ],
)
def test_an_output_that_is_full(forked: Forked, place: Path, arguments: tuple[str, ...], done: str) -> None:
    said = forked(*arguments, cwd=place, out=str(FULL))
    assert said.status == 2
    assert said.err == (
        "error: output-failed\n"
        f"  the output can't be written: No space left on device; {done}\n"
        "  fix: make room there, or send it somewhere else\n"
    )


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_an_error_that_can_not_be_said_is_still_an_error(forked: Forked, place: Path) -> None:
    assert forked("apply", "no.toml", cwd=place, err=str(FULL)) == Ended(2, "", "")
    said = forked("apply", "no.toml", "--format", "json", cwd=place, out=str(FULL))
    assert (said.status, said.err.splitlines()[0]) == (2, "error: unreadable-plan  no.toml")


@pytest.mark.parametrize(("stream", "status"), [(1, 1), (2, 1)])
def test_streams_that_were_closed_before(place: Path, real: Callable[..., Ended], stream: int, status: int) -> None:
    closing = f"import os, sys\nos.close({stream})\nsys.std{'out' if stream == 1 else 'err'} = None\n"
    said = real(*APPLY, "--check", cwd=place, first=closing)
    assert (said.status, said.err) == (status, "")
    assert (said.out == "") == (stream == 1)


def limited(num_bytes: int) -> str:
    """A disk on which no file gets larger than this."""
    return f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({num_bytes}, {num_bytes}))\n"


@pytest.mark.parametrize(
    ("arguments", "num_bytes", "code", "words"),
    [
        (IN_PLACE, 0, "source-error", [".unmoved_cache", "can't be made: File too large"]),
        (IN_PLACE, 200, "write-failed", ["File too large; nothing was changed", "disk full?"]),
        (BRANCH, 0, "no-temporary-files", ["TMPDIR"]),
        (BRANCH, 50, "no-temporary-files", ["File too large", "TMPDIR"]),
    ],
)
def test_a_full_disk(
    place: Path, real: Callable[..., Ended], arguments: tuple[str, ...], num_bytes: int, code: str, words: list[str]
) -> None:
    before = whole(place / "root")
    said = real(*arguments, "--format", "json", cwd=place, first=limited(num_bytes))
    assert said.status == 2
    error = json.loads(said.out)["error"]
    assert error["code"] == code
    text = f"{error['path']}: {error['message']}; {error['fix']}"
    assert [word for word in words if word not in text] == []
    assert error["fix"] in said.err
    assert changed(place / "root", before) == []
