"""Whatever reaches out of a worker is refused, and reported though the subject swallows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.prove import proving
from codemods.prove.options import ProveOptions
from codemods.prove.sandbox import Limits, Outcome, Status, Task, run_tasks
from codemods.report.lines import plain
from codemods.report.prove_model import PairRow, totals_of
from codemods.report.prove_text import totals_lines
from codemods.schema.prove import Pair
from codemods.source.files import FileSet, MemoryTree
from tests.support.hostile import WAYS
from tests.support.house import ROOT

HOSTILE = "tests.support.hostile"
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's own rules are Linux's")


def outcome_of(name: str, payload: bytes = b"", limits: Limits | None = None) -> Outcome:
    tasks = [Task("subject", f"{HOSTILE}:{name}", payload), Task("next", f"{HOSTILE}:echo", b"ok")]
    first, second = run_tasks(tasks, jobs=1, limits=limits or Limits(wall_seconds=10))
    assert (second.status, second.payload) == (Status.DONE, b"ok")
    return first


def needs_kernel(outcome: Outcome) -> None:
    if outcome.lacks:
        pytest.skip(f"not on this system: {', '.join(outcome.lacks)}")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "given").mkdir()
    place = tmp_path / "given/file"
    place.write_text("secret")
    return place


def traces(place: Path) -> tuple[object, ...]:
    """What is left of what somebody did to a file, or beside it."""
    status = place.stat()
    listed = os.listdir(place.parent)
    return listed, place.read_text(), status.st_mode, status.st_mtime_ns, status.st_nlink, status.st_ino


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Outcome, bool]]:
    """For each way out: its outcome, and whether nothing outside has changed. Tried in one run, because starting takes
    longer than all of it."""
    places, before, tasks = {}, {}, []
    for way in WAYS:
        places[way] = tmp_path_factory.mktemp("outside") / "file"
        places[way].write_text("secret")
        before[way] = traces(places[way])
        tasks.append(Task(way, f"{HOSTILE}:reach", f"{way}\n{places[way]}".encode()))
    outcomes = {outcome.id: outcome for outcome in run_tasks(tasks, jobs=2, limits=Limits(wall_seconds=10))}
    return {way: (outcomes[way], traces(places[way]) == before[way]) for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out(way: str, reached: dict[str, tuple[Outcome, bool]]) -> None:
    outcome, is_unchanged = reached[way]
    assert outcome.status is Status.ESCAPED, outcome
    assert outcome.payload == b"went on"
    assert outcome.detail.startswith("refused: ")
    assert is_unchanged


def test_what_was_tried_is_named(outside: Path) -> None:
    assert outcome_of("reach", f"remove\n{outside}".encode()).detail == f"refused: os.remove('{outside}', -1)"
    assert outcome_of("reach", b"signal.signal\nx").detail == "refused: signal.signal()"


def test_what_subjects_do_and_may() -> None:
    outcome = outcome_of("ordinary")
    assert (outcome.status, outcome.detail) == (Status.DONE, "")


def test_what_the_checks_do_themselves() -> None:
    outcome = outcome_of("drawn", limits=Limits(wall_seconds=30))
    assert (outcome.status, outcome.payload, outcome.detail) == (Status.DONE, b"20", "")


def test_files_that_the_caller_gives_can_be_read_and_not_written(outside: Path) -> None:
    limits = Limits(wall_seconds=10, readable=(str(outside.parent),))
    assert outcome_of("reach", f"read\n{outside}".encode(), limits).status is Status.DONE
    assert outcome_of("reach", f"write\n{outside}".encode(), limits).status is Status.ESCAPED
    hidden = outside.with_name(".ssh")
    hidden.mkdir()
    (hidden / "key").write_text("secret")
    assert outcome_of("reach", f"read\n{hidden / 'key'}".encode(), limits).status is Status.ESCAPED


def test_nothing_of_the_environment_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONSTARTUP", "hunter2")
    outcome = outcome_of("environment")
    assert b"hunter2" not in outcome.payload
    assert set(eval(outcome.payload)) == {"HOME", "TMPDIR", "LC_ALL", "TZ"}


def test_a_message_that_is_not_the_workers() -> None:
    outcome = outcome_of("forge")
    assert outcome.status in (Status.ESCAPED, Status.CRASH)
    assert outcome.payload == b""


@LINUX
def test_a_process_that_python_does_not_see_started() -> None:
    needs_kernel(outcome_of("echo"))
    outcome = outcome_of("fork_unreported")
    assert (outcome.status, outcome.payload) == (Status.ESCAPED, b""), outcome
    assert "system call" in outcome.detail


@LINUX
def test_a_file_that_python_does_not_see_written(outside: Path) -> None:
    needs_kernel(outcome_of("echo"))
    outcome = outcome_of("attach", str(outside.with_name("new.db")).encode())
    assert outcome.status is Status.ERROR
    assert os.listdir(outside.parent) == ["file"]


def test_what_the_system_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = ("file rules of the kernel", "a filter of system calls")
    outcome = Outcome(id="0", status=Status.CRASH, detail="gone", lacks=lacks)
    monkeypatch.setattr(proving, "run_tasks", lambda *_, **__: iter([outcome]))
    trees = FileSet(MemoryTree({"m.py": b"def f(x):\n    return x\n"}))
    (result,) = proving.prove_pairs(trees, trees, [], [Pair(old="m:f", new="m:f")], ProveOptions(jobs=1))
    assert result.lacks == lacks
    row = PairRow(**{name: getattr(result, name) for name in result.__struct_fields__})
    said = "".join(plain(totals_lines(totals_of([row]), (), [row])))
    assert "note: this system lacks file rules of the kernel and a filter of system calls" in said


@LINUX
def test_where_the_kernel_gives_nothing_the_rest_holds_and_it_is_said(outside: Path) -> None:
    """As on an old kernel, or in a container that forbids it."""
    before = traces(outside)
    command = [sys.executable, "-m", "tests.support.older_kernel", str(outside), *WAYS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(WAYS) + 1, done.stderr
    assert [status for status, _, _ in found] == ["escaped"] * len(WAYS) + ["done"]
    lacks = ["a network of its own", "file rules of the kernel", "a filter of system calls"]
    assert all(each == lacks for _, _, each in found)
    assert traces(outside) == before
