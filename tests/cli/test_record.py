"""`unmoved record` and `unmoved replay`: exit status, what is written when, CI, JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from codemods.schema.recording import RecordReport, ReplayReport
from tests.cli.conftest import Ran

Unmoved = Callable[..., Ran]
PROGRAM = """
import sys
import time
class A:
    def __init__(self, n): self.n = n
    def f(self, x): return self.n + x
if __name__ == '__main__':
    A(3).f(4)
    if sys.argv[1:] == ['more']: A(3).f(-4)
    print('said')
    sys.exit(int((sys.argv[1:] or ['0'])[0].replace('more', '0')))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    return path


def record(unmoved: Unmoved, *arguments: str, command: tuple[str, ...] = ("prog.py",)) -> Ran:
    return unmoved("record", "prog:A.f", "--to", "golden", *arguments, "--", sys.executable, *command)


def files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((root / "golden").rglob("*"))}


def test_recording_and_replaying(unmoved: Unmoved, program: Path) -> None:
    ran = record(unmoved)
    assert (ran.status, ran.err) == (0, "")
    assert "said" in ran.out
    assert "prog:A.f: at least 1 calls" in ran.out
    before = files(program.parent)
    assert len(before) == 1
    assert record(unmoved).status == 0
    assert files(program.parent) == before
    assert record(unmoved, command=("prog.py", "more")).status == 0
    assert len(files(program.parent)) == 2
    assert record(unmoved).status == 0  # a run that shows less takes nothing away
    assert len(files(program.parent)) == 2
    replayed = unmoved("replay", "golden")
    assert (replayed.status, replayed.err) == (0, "")
    assert replayed.out.splitlines()[-1] == "2 agrees"


def test_a_change_is_shown_and_written_only_when_asked_for(
    unmoved: Unmoved, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(unmoved)
    before = files(program.parent)
    program.write_text(PROGRAM.replace("self.n + x", "self.n * x"))
    ran = record(unmoved)
    assert ran.status == 1
    assert '-  "returned": 7,' in ran.out
    assert '+  "returned": 12,' in ran.out
    assert files(program.parent) == before
    monkeypatch.setenv("CI", "true")
    refused = record(unmoved, "--update")
    assert (refused.status, files(program.parent)) == (2, before)
    assert "CI is set" in refused.err
    assert "said" not in refused.out
    monkeypatch.delenv("CI")
    assert record(unmoved, "--update").status == 0
    assert record(unmoved).status == 0
    assert files(program.parent) != before


def test_replay_says_what_differs_and_updates_when_asked_for(
    unmoved: Unmoved, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(unmoved)
    before = files(program.parent)
    program.write_text(PROGRAM.replace("self.n + x", "self.n - x"))
    ran = unmoved("replay", "golden")
    assert ran.status == 1
    assert ran.out.splitlines()[1:] == ["    result", "      recorded: 7", "      now:      -1", "1 differs"]
    monkeypatch.setenv("CI", "1")
    assert unmoved("replay", "golden", "--update").status == 2
    monkeypatch.setenv("CI", "")
    assert unmoved("replay", "golden", "--update", "--against", "prog:A.f").status == 2
    assert files(program.parent) == before
    updated = unmoved("replay", "golden", "--update")
    assert (updated.status, '+  "returned": -1,' in updated.out) == (0, True)
    assert unmoved("replay", "golden").status == 0


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
    [("x = 1", 1, "unmatched"), ("raise OSError", 2, "inconclusive"), ("class A:\n    pass", 1, "unmatched")],
)
def test_what_can_not_be_run_is_no_pass(unmoved: Unmoved, program: Path, text: str, status: int, verdict: str) -> None:
    record(unmoved)
    program.write_text(text)
    ran = unmoved("replay", "golden", "--format", "json")
    assert ran.status == status
    report = msgspec.json.decode(ran.out.encode(), type=ReplayReport)
    assert [each.verdict.value for each in report.recordings] == [verdict]
    assert report.totals[verdict] == 1


def test_another_function_in_its_place(unmoved: Unmoved, program: Path) -> None:
    record(unmoved)
    (program.parent / "new.py").write_text("def g(x, n): return n + x\ndef h(x, n): return n\n")
    assert unmoved("replay", "golden", "--against", "new:g").status == 0
    assert unmoved("replay", "golden", "--against", "new.py:h").status == 1


def test_json_is_alone_on_stdout(unmoved: Unmoved, program: Path) -> None:
    ran = record(unmoved, "--format", "json")
    report = msgspec.json.decode(ran.out.encode(), type=RecordReport)
    assert ran.err == "said\n"
    assert (report.calls, report.status, report.written) == ({"prog:A.f": 1}, 0, True)
    assert [each.change.value for each in report.files] == ["new"]
    assert json.loads((program.parent / report.files[0].file).read_text())["target"] == "prog:A.f"


def test_a_failing_program_changes_no_recording(unmoved: Unmoved, program: Path) -> None:
    record(unmoved)
    before = files(program.parent)
    program.write_text(PROGRAM.replace("self.n + x", "self.n * x"))
    ran = record(unmoved, "--update", command=("prog.py", "3"))
    assert (ran.status, files(program.parent)) == (2, before)
    assert "the program ended with status 3" in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("record", "prog:A.f", "--to", "golden"), "no command to run"),
        (("record", "prog", "--to", "golden", "--", "true"), "does not name a definition"),
        (("record", "prog:A.f", "--", "true"), "--to"),
        (("record", "prog:A.f", "--to", "prog.py", "--", "true"), "no directory"),
        (("record", "prog:A.f", "--to", "golden", "--", "./absent"), "can't be started"),
        (("record", "prog:A.g", "--to", "golden", "--", sys.executable, "prog.py"), "no call of it was seen"),
        (("replay", "golden"), "can't be read"),
        (("replay", "."), "holds no recording"),
        (("replay", "prog.py", "--timeout", "soon"), "no number of seconds"),
        (("replay", "prog.py"), "no recording"),
    ],
)
def test_what_can_not_be_done(unmoved: Unmoved, program: Path, arguments: tuple[str, ...], told: str) -> None:
    assert program.exists()
    ran = unmoved(*arguments)
    assert ran.status == 2
    assert told in ran.err
    assert not (program.parent / "golden").exists()


def test_names_to_redact_come_from_the_configuration(unmoved: Unmoved, program: Path) -> None:
    program.write_text(PROGRAM.replace("A(3).f(4)", "A('plain').f('text')"))
    record(unmoved, "--config", 'redact = ["n"]')
    (raw,) = files(program.parent).values()
    assert json.loads(raw)["arguments"]["self"]["attributes"] == {"n": "<redacted:n>"}


def test_help_and_usage(unmoved: Unmoved) -> None:
    usage = unmoved("record", "--help").out.strip().splitlines()[0]
    assert usage == "Usage: unmoved record [OPTIONS] TARGET... -- COMMAND..."
    assert unmoved("replay", "--help").out.strip().splitlines()[0] == "Usage: unmoved replay [OPTIONS] RECORDINGS..."


def test_an_interrupt_ends_the_program_and_what_it_showed_is_kept(program: Path) -> None:
    program.write_text(
        PROGRAM.split("    if sys.argv", maxsplit=1)[0]
        + "    open('up', 'w').close()\n    import time\n    time.sleep(60)\n"
    )
    started = "import sys; from codemods.cli.app import main; sys.exit(main())"
    command = [sys.executable, "-c", started, "record", "prog:A.f", "--to", "golden", "--", sys.executable, "prog.py"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    process = subprocess.Popen(command, env=environ, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        wait_for = time.monotonic() + 30
        while not (program.parent / "up").exists() and time.monotonic() < wait_for:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the group
        assert process.wait(30) == 130
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert len(files(program.parent)) == 1
