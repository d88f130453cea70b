"""The command as a whole: help, version, explain, usage errors, colours, closed pipes, what it loads, completion."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from codemods.cli import progress
from codemods.cli.console import Console, wants_colour
from codemods.cli.progress import StderrProgress
from codemods.report.lines import Span, Style, line
from codemods.report.model import ConfigReport, ExplainReport
from codemods.schema.pages import CODES
from codemods.schema.pages_deltas import DELTA_CODES
from tests.cli.conftest import Ran

Unmoved = Callable[..., Ran]
REPOSITORY = Path(__file__).resolve().parents[2]


def python(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_help_shows_examples(unmoved: Unmoved) -> None:
    for command in ("plan", "apply", "explain"):
        ran = unmoved(command, "--help")
        assert ran.status == 0
        assert f"\n    unmoved {command} " in ran.out
    assert unmoved("--help").status == 0


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("apply", "PLAN"), ("plan", "TARGET"), ("check", "CERT [DIR_A] [DIR_B]"), ("explain", "[CODE]")],
)
def test_usage_names_the_arguments_plainly(unmoved: Unmoved, command: str, arguments: str) -> None:
    usage = unmoved(command, "--help").out.strip().splitlines()[0]
    assert usage == f"Usage: unmoved {command} [OPTIONS] {arguments}"


def test_every_option_of_every_command_has_help(unmoved: Unmoved) -> None:
    for command in ("plan", "apply", "explain"):
        ran = unmoved(command, "--help")
        options = re.findall(r"^  (--[\w-]+)(?: \S+)?(?:  +(\S.*)|\n {8,}(\S.*))?$", ran.out, flags=re.MULTILINE)
        assert options
        assert [name for name, same, below in options if not same and not below] == []


def test_without_a_command_it_shows_help_and_did_nothing(unmoved: Unmoved) -> None:
    ran = unmoved()
    assert ran.status == 2
    assert "Commands:" in ran.out


def test_version(unmoved: Unmoved) -> None:
    ran = unmoved("--version")
    assert ran.status == 0
    assert re.fullmatch(r"unmoved \S.*\n", ran.out)


def test_show_config(unmoved: Unmoved, tmp_path: Path) -> None:
    (tmp_path / "unmoved.toml").write_text("line-length = 70\n", encoding="utf-8")
    for arguments in (
        ("--root", str(tmp_path), "--show-config"),
        ("apply", "x", "--show-config", "--root", str(tmp_path)),
    ):
        ran = unmoved(*arguments)
        assert ran.status == 0
        assert re.search(rf"^line-length +70 +# {re.escape(str(tmp_path / 'unmoved.toml'))}$", ran.out, re.MULTILINE)
    ran = unmoved("--root", str(tmp_path), "--show-config", "--format", "json")
    settings = {one.key: one.value for one in msgspec.json.decode(ran.out, type=ConfigReport).settings}
    assert settings["line-length"] == 70


def test_explain_lists_and_shows(unmoved: Unmoved) -> None:
    ran = unmoved("explain")
    assert [row.split()[0] for row in ran.out.splitlines()] == [*CODES, *DELTA_CODES]
    ran = unmoved("explain", "u104")
    assert ran.status == 0
    for word in ("U104", "before", "after", "run() -> 'cuda'", "wrapper: "):
        assert word in ran.out
    ran = unmoved("explain", "U104", "--format", "json")
    [page] = msgspec.json.decode(ran.out, type=ExplainReport).pages
    assert (page.code, page.was, page.now) == ("U104", "'cpu'", "'cuda'")
    ran = unmoved("explain", "U1O4")
    assert ran.status == 2
    assert "U1O4 is no hazard" in ran.err
    ran = unmoved("explain", "d3")
    assert ran.status == 0
    for word in ("D3", "difference: ", "run() -> None", "[[pair.delta]]: "):
        assert word in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("aply",), ["'aply'", "unmoved --help"]),
        (("apply",), ["PLAN", "unmoved apply --help"]),
        (("apply", "x", "--in-plac"), ["--in-plac", "unmoved apply --help"]),
        (("explain", "--format", "yaml"), ["yaml", "json"]),
    ],
)
def test_a_wrong_command_line(unmoved: Unmoved, arguments: tuple[str, ...], words: list[str]) -> None:
    ran = unmoved(*arguments)
    assert ran.status == 2
    assert [word for word in ("error: usage-error", *words) if word not in ran.err] == []


def test_a_wrong_command_line_in_json(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (("apply", "--format", "json"), ("apply", "--format=json")):
        ran = unmoved(*arguments)
        assert ran.status == 2
        assert json.loads(ran.out)["error"]["code"] == "usage-error"
    monkeypatch.setenv("UNMOVED_FORMAT", "json")
    assert json.loads(unmoved("apply").out)["error"]["fix"] == "see `unmoved apply --help`"


def test_an_accident_outside_of_any_command_is_no_traceback(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> str:
        raise RuntimeError(name)

    monkeypatch.setattr("importlib.metadata.version", broken)
    ran = unmoved("--version")
    assert ran.status == 2
    assert "internal error: RuntimeError" in ran.err
    monkeypatch.setattr("importlib.metadata.version", interrupted)
    assert unmoved("--version").status == 130


def interrupted(name: str) -> str:
    raise KeyboardInterrupt(name)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("is_terminal", "environ", "wanted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
    ],
)
def test_who_gets_colour(is_terminal: bool, environ: dict[str, str], wanted: bool) -> None:
    assert wants_colour(Terminal() if is_terminal else io.StringIO(), environ) is wanted


def test_colour_is_added_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line(Span("U104", Style.CODE), "  [not markup] :smile: " + "wide " * 60), ()]
    Console({}).out(lines)
    plain = capsys.readouterr().out
    Console({"FORCE_COLOR": "1"}).out(lines)
    coloured = capsys.readouterr().out
    assert "\x1b[" in coloured
    assert [row.rstrip() for row in re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()] == plain.splitlines()


def test_what_an_encoding_lacks_is_escaped() -> None:
    done = python("-m", "codemods", "apply", "no→plan", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert "no\\u2192plan" in done.stderr


@pytest.mark.parametrize("arguments", ["explain", "explain --format json"])
def test_a_reader_that_leaves_is_no_error(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "codemods", *arguments.split()],
        cwd=REPOSITORY,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_loads_little() -> None:
    code = (
        "import sys\nimport typer\nbefore = set(sys.modules)\nfrom codemods.cli.app import main\nmain(['--help'])\n"
        "print([name for name in ('rich', 'msgspec', 'codemods.schema.pages', 'codemods.repo') "
        "if name in set(sys.modules) - before])"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "[]"


def test_completion_knows_the_hazards() -> None:
    done = python("-m", "codemods", _UNMOVED_COMPLETE="complete_bash", COMP_WORDS="unmoved explain U12", COMP_CWORD="2")
    assert done.stdout.split() == ["U120", "U121"]


def test_completion_can_be_shown() -> None:
    assert "_UNMOVED_COMPLETE" in python("-m", "codemods", "--show-completion", "bash").stdout


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_QUIET_S", 0.05)
    monkeypatch.setattr(progress, "_REDRAW_S", 0.01)
    monkeypatch.setattr(progress, "_HEARTBEAT_S", 0.05)


def drawn(stream: io.StringIO, environ: dict[str, str], seconds: float) -> str:
    with StderrProgress(stream, environ) as showing:
        showing.step(2, 7, "extract-method a:C.f")
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not stream.getvalue():
            time.sleep(0.005)
    return stream.getvalue()


@pytest.mark.usefixtures("quick")
def test_progress_moves_on_a_terminal_and_cleans_up() -> None:
    text = drawn(Terminal(), {}, 5)
    assert "[2/7] extract-method a:C.f  0 s" in text
    assert text.endswith("\r\x1b[2K")
    assert "\n" not in text


@pytest.mark.usefixtures("quick")
def test_progress_is_lines_in_ci() -> None:
    assert drawn(io.StringIO(), {"CI": "true"}, 5).startswith("unmoved: [2/7] extract-method a:C.f, 0 s so far\n")


@pytest.mark.usefixtures("quick")
def test_progress_is_silent_elsewhere() -> None:
    assert drawn(io.StringIO(), {}, 0.2) == ""
    assert drawn(Terminal(), {"TERM": "dumb"}, 0.2) == ""


def test_short_work_shows_no_progress() -> None:
    assert drawn(Terminal(), {}, 0.1) == ""


def test_a_run_does_not_load_what_only_typer_would_need() -> None:
    """Loading pydantic takes as long as searching a tree of thousands of files."""
    program = (
        "import sys; from codemods.cli.app import main; "
        "main(['--root', '.', 'apply', 'nothing.toml', '--format', 'JSON', '--config', 'line-length=99']); "
        "sys.stderr.write(f\"loaded: {'pydantic' in sys.modules}\")"
    )
    done = python("-c", program)
    assert done.stderr.endswith("loaded: False")
    assert '"error"' in done.stdout
