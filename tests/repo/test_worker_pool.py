"""Workers end with their parent, however that ends, and leave nothing behind; what they print is bounded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codemods.prove.sandbox import Limits, Task, run_tasks
from codemods.repo import warden, worker_pool
from codemods.repo.worker_pool import Event, NoWorkers, WorkerPool
from codemods.schema.errors import InternalError
from tests.support.house import ROOT

SERVICE = "tests.support.echo_service"


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(SERVICE, max_message_bytes=1000) as started:
        yield started


def next_events(pool: WorkerPool, wanted: Callable[[Event], bool]) -> list[Event]:
    """Until one is wanted; that is the last."""
    events: list[Event] = []
    due = time.monotonic() + 30
    while time.monotonic() < due:
        for event in pool.wait(1):
            events.append(event)
            if wanted(event):
                return events
    raise AssertionError(events)


def answer(pool: WorkerPool) -> bytes:
    message = next_events(pool, lambda event: event.message is not None)[-1].message
    assert message is not None
    return message


def status(pool: WorkerPool) -> int:
    return next_events(pool, lambda event: event.message is None)[-1].status


def is_running(pid: int) -> bool:
    """Not the ones that have ended and wait to be asked how."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return not Path("/proc/self").exists()


def wait_until(fact: Callable[[], bool]) -> None:
    due = time.monotonic() + 20
    while not fact():
        assert time.monotonic() < due
        time.sleep(0.02)


def test_messages_of_any_size_come_whole(pool: WorkerPool) -> None:
    worker = pool.start("json")
    for given in (b"", b"x", bytes(999)):
        pool.send(worker, b"say " + given)
        assert answer(pool) == given
    pool.send(worker, b"say " + bytes(1001))
    assert os.WTERMSIG(status(pool)) == signal.SIGKILL


def test_what_is_needed_is_loaded_before_the_fork(pool: WorkerPool) -> None:
    pool.send(pool.start("colorsys"), b"loaded colorsys")
    assert answer(pool) == b"True"
    pool.send(pool.start("no.such.module"), b"loaded wave")
    assert answer(pool) == b"False"


def test_an_end_is_told_and_others_go_on(pool: WorkerPool) -> None:
    first, second = pool.start("json"), pool.start("json")
    pool.send(first, b"end 7")
    assert os.WEXITSTATUS(status(pool)) == 7
    pool.send(first, b"say late")  # it is gone; nothing comes of that
    pool.send(second, b"say x")
    assert answer(pool) == b"x"
    assert [name for name in os.listdir(pool.folder) if name != str(second.number)] == []


def test_printing_is_counted_and_its_end_kept(pool: WorkerPool) -> None:
    worker = pool.start("json")
    pool.send(worker, b"print " + b"ab" * 400 + b"\xff")
    assert answer(pool) == b"printed"
    assert worker.take_printed() == (801, "ab" * 400 + "\\xff")
    assert worker.take_printed() == (0, "")
    for _ in range(10):
        pool.send(worker, b"print " + b"c" * 900)
        answer(pool)
    printed, tail = worker.take_printed()
    assert (printed, len(tail)) == (9000, 4096)


def test_a_worker_that_fails_at_once_says_why(pool: WorkerPool) -> None:
    worker = pool.start("json")
    pool.send(worker, b"what?")
    assert os.WEXITSTATUS(status(pool)) == 70
    assert "ValueError: what?" in worker.take_printed()[1]


def test_a_warden_that_is_killed(pool: WorkerPool) -> None:
    worker = pool.start("json")
    pool.send(worker, b"pid")
    pid = int(answer(pool))
    os.kill(pool.warden_pid, signal.SIGKILL)
    with pytest.raises(InternalError, match="the process that starts the workers is gone"):
        next_events(pool, lambda _: False)
    pool.close()
    assert not os.path.exists(pool.folder)
    wait_until(lambda: not is_running(pid))


def test_a_warden_that_is_asked_to_end(pool: WorkerPool) -> None:
    pool.send(pool.start("json"), b"pid")
    pid = int(answer(pool))
    os.kill(pool.warden_pid, signal.SIGTERM)
    wait_until(lambda: not is_running(pid) and not os.path.exists(pool.folder))


def test_a_service_that_is_not_there() -> None:
    with WorkerPool("no.such.service", max_message_bytes=1) as pool:
        with pytest.raises(InternalError, match="ModuleNotFoundError: No module named 'no'"):
            pool.wait(30)
        with pytest.raises(InternalError, match="gone"):
            pool.start("json")


def test_a_python_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(NoWorkers, match="can't be started: No such file"):
        WorkerPool(SERVICE, max_message_bytes=1)


def test_a_system_that_can_not_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(NoWorkers, match="can't be forked"):
        WorkerPool(SERVICE, max_message_bytes=1)


def test_the_current_directory_is_not_searched_before_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "path", ["", str(tmp_path), *(each for each in sys.path if not Path(each, "codemods").is_dir())]
    )
    searched = worker_pool._search_path()
    assert str(tmp_path) not in searched and "" not in searched
    assert searched[-1] == str(ROOT)


def test_another_copy_of_the_tool_does_not_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "site" / "codemods").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    searched = worker_pool._search_path()
    assert searched.index(str(ROOT)) < searched.index(str(tmp_path / "site"))


def test_a_tree_deeper_than_a_path_can_be_is_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    here = os.open(top, os.O_RDONLY)
    for depth in range(120):
        os.mkdir("d" * 100, dir_fd=here)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.symlink(outside, "link", dir_fd=below)
        if depth % 10 == 0:
            os.chmod(here, 0o500)
        os.close(here)
        here = below
    os.close(here)
    warden.remove_folder(str(top))
    assert not top.exists()
    assert (outside / "kept").exists()


PARENT = """
import sys
from codemods.prove.sandbox import Limits, Task, run_tasks
tasks = [Task("where", "tests.support.hostile:whereabouts"), *(Task(k, "tests.support.hostile:loop", k.encode())
         for k in ("deaf", "in C"))]
for outcome in run_tasks(tasks, jobs=3, limits=Limits(wall_seconds=60)):
    sys.stdout.write(outcome.payload.decode() + "\\n")
    sys.stdout.flush()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(number: signal.Signals, tmp_path: Path) -> None:
    """The workers are in loops that can't be interrupted."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT)],
        env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert parent.stdout is not None
    with parent, parent.stdout as said:
        folder, warden_pid = said.readline().decode().split()
        assert folder.startswith(str(tmp_path))
        pids = [int(warden_pid), *descendants(int(warden_pid))]
        wait_until(lambda: len(descendants(int(warden_pid))) >= 3)
        pids += descendants(int(warden_pid))
        os.killpg(parent.pid, number)
        parent.wait(20)
    wait_until(lambda: not any(map(is_running, pids)) and not os.listdir(tmp_path))


def descendants(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    return [child for parent, child in pairs if parent == pid]


def test_leaving_the_loop_ends_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tasks = [Task(kind, "tests.support.hostile:loop", kind.encode()) for kind in ("deaf", "in C")]
    found = run_tasks([Task("where", "tests.support.hostile:whereabouts"), *tasks], jobs=3, limits=Limits())
    folder, warden_pid = next(found).payload.decode().split()
    assert os.path.exists(os.path.dirname(folder))
    found.close()
    assert not is_running(int(warden_pid))
    assert os.listdir(tmp_path) == []


def test_workers_load_this_copy_though_another_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "codemods").mkdir()
    (tmp_path / "codemods/__init__.py").write_text("raise ImportError('the other copy')")
    monkeypatch.syspath_prepend(str(tmp_path))
    (outcome,) = run_tasks([Task("x", "tests.support.hostile:echo", b"x")], jobs=1, limits=Limits(wall_seconds=10))
    assert outcome.payload == b"x"
