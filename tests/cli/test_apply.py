"""`unmoved apply`: modes, exit status, what is printed where. Planning is faked; writing is real."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from codemods.cli.app import main
from codemods.report.model import ErrorReport, RunReport
from codemods.schema.config import Settings
from tests.cli.conftest import PLAN, Fakes, Ran
from tests.support.repository import run_git

Unmoved = Callable[..., Ran]
pytestmark = pytest.mark.usefixtures("fakes", "tree")


def report(ran: Ran) -> RunReport:
    return msgspec.json.decode(ran.out, type=RunReport)


@pytest.fixture
def repository(tree: Path) -> Path:
    run_git(tree, "init", "-q")
    run_git(tree, "add", "-A")
    run_git(tree, "commit", "-q", "-m", "base")
    return tree


def test_without_a_mode_it_says_what_it_would_do(tree: Path, unmoved: Unmoved) -> None:
    ran = unmoved("apply", "fine.toml", "--root", "root")
    assert ran.status == 0
    assert ran.out.splitlines() == [
        "1  extract-method  a:C.f → b",
        "   prep  Make C.f static",
        "   hazards",
        "     U104  note  a.py:2  overridden",
        "       settle  wrapper = true",
        "",
        "1 step, 1 commit, 1 file: nothing was written",
        "next: write it: unmoved apply fine.toml --branch NAME, or --in-place",
    ]
    assert ran.err == ""
    assert (tree / "a.py").read_text(encoding="utf-8") == "x = 'old'\n"


def test_json_has_the_keys_that_were_promised(unmoved: Unmoved) -> None:
    ran = unmoved("apply", "fine.toml", "--root", "root", "--format", "json")
    assert ran.status == 0
    assert json.loads(ran.out) == {
        "plan": "fine",
        "mode": "dry-run",
        "changed": True,
        "written": False,
        "branch": None,
        "base": None,
        "steps": [
            {
                "number": 1,
                "do": "extract-method",
                "target": "a:C.f",
                "to": "b",
                "commits": [{"phase": "prep", "commit": None, "subject": "Make C.f static", "files": ["a.py"]}],
                "hazards": [
                    {
                        "code": "U104",
                        "severity": "note",
                        "path": "a.py",
                        "line": 2,
                        "message": "overridden",
                        "settle": "wrapper = true",
                    }
                ],
                "refusals": [],
                "findings": [],
            }
        ],
        "diff": None,
        "toml": None,
        "next": "write it: unmoved apply fine.toml --branch NAME, or --in-place",
    }
    assert "1 step, 1 commit" in ran.err


def test_check_says_no_until_there_is_nothing_left_to_do(tree: Path, unmoved: Unmoved) -> None:
    assert unmoved("apply", "fine.toml", "--root", "root", "--check").status == 1
    assert unmoved("apply", "fine.toml", "--root", "root", "--in-place").status == 0
    assert (tree / "a.py").read_text(encoding="utf-8") == "x = 'new'\n"
    ran = unmoved("apply", "fine.toml", "--root", "root", "--check")
    assert ran.status == 0
    assert "nothing to change" in ran.out


def test_in_place_says_what_it_wrote(unmoved: Unmoved) -> None:
    made = report(unmoved("apply", "fine.toml", "--root", "root", "--in-place", "--format", "json"))
    assert (made.mode, made.changed, made.written, made.branch) == ("in-place", True, True, None)
    assert made.steps[0].commits[0].commit is None


def test_in_place_asks_before_it_mixes_with_other_changes(repository: Path, unmoved: Unmoved) -> None:
    (repository / "a.py").write_text("x = 'old'  # mine\n", encoding="utf-8")
    ran = unmoved("apply", "fine.toml", "--root", "root", "--in-place")
    assert ran.status == 2
    assert "--allow-dirty" in ran.err
    assert unmoved("apply", "fine.toml", "--root", "root", "--in-place", "--allow-dirty").status == 0
    assert (repository / "a.py").read_text(encoding="utf-8") == "x = 'new'  # mine\n"


def test_diff_on_stdout_is_for_git_apply(repository: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    (repository / "a.py").write_bytes(b"x = 'old'\r\ny = '\xff'\r\n")
    assert main(["apply", "fine.toml", "--root", "root", "--diff"]) == 0
    captured = capfdbinary.readouterr()
    assert b"nothing was written" in captured.err
    run_git(repository, "apply", "-", stdin=captured.out)
    assert (repository / "a.py").read_bytes() == b"x = 'new'\r\ny = '\xff'\r\n"


def test_diff_in_json_is_text(repository: Path, unmoved: Unmoved) -> None:
    (repository / "a.py").write_bytes(b"x = 'old'\r\ny = '\xff'\r\n")
    made = report(unmoved("apply", "fine.toml", "--root", "root", "--diff", "--format", "json"))
    assert made.diff is not None
    assert "+x = 'new'\r\n y = '\ufffd'\r\n" in made.diff


def test_branch_writes_commits_and_nothing_else(repository: Path, unmoved: Unmoved) -> None:
    base = run_git(repository, "rev-parse", "HEAD").strip()
    ran = unmoved("apply", "fine.toml", "--root", "root", "--branch", "split", "--format", "json")
    assert ran.status == 0
    made = report(ran)
    assert (made.mode, made.written, made.branch, made.base) == ("branch", True, "split", base)
    assert made.steps[0].commits[0].commit == run_git(repository, "rev-parse", "split").strip()
    assert run_git(repository, "show", "split:a.py") == "x = 'new'\n"
    assert run_git(repository, "status", "--porcelain") == ""
    assert (repository / "a.py").read_text(encoding="utf-8") == "x = 'old'\n"
    ran = unmoved("apply", "fine.toml", "--root", "root", "--branch", "split")
    assert ran.status == 2
    assert "split" in ran.err


def test_branch_reads_the_commit_it_starts_from(repository: Path, unmoved: Unmoved) -> None:
    (repository / "a.py").write_text("x = 'edited'\n", encoding="utf-8")
    ran = unmoved("apply", "fine.toml", "--root", "root", "--branch", "split", "--base", "HEAD")
    assert ran.status == 0
    assert run_git(repository, "show", "split:a.py") == "x = 'new'\n"
    assert (repository / "a.py").read_text(encoding="utf-8") == "x = 'edited'\n"


def test_the_repository_is_looked_at_before_the_plan_runs(unmoved: Unmoved, fakes: Fakes) -> None:
    ran = unmoved("apply", "fine.toml", "--root", "root", "--branch", "split")
    assert ran.status == 2
    assert "git" in ran.err
    assert fakes.settings == []


@pytest.mark.parametrize("mode", [(), ("--diff",), ("--check",), ("--in-place",), ("--branch", "split")])
def test_a_refusal_anywhere_writes_nothing(repository: Path, unmoved: Unmoved, mode: tuple[str, ...]) -> None:
    ran = unmoved("apply", "refused.toml", "--root", "root", *mode)
    assert ran.status == 2
    assert "U106  a.py:3  self is passed on" in ran.out
    assert 'next    owner = "runner"' in ran.out
    assert "refused: 1 reason in 1 of 1 step; nothing was written" in ran.out
    assert (repository / "a.py").read_text(encoding="utf-8") == "x = 'old'\n"
    assert run_git(repository, "branch", "--list", "split") == ""


def test_refusals_in_json(unmoved: Unmoved) -> None:
    ran = unmoved("apply", "refused.toml", "--root", "root", "--format", "json")
    assert ran.status == 2
    [step] = report(ran).steps
    assert [refusal.code for refusal in step.refusals] == ["U106"]
    assert "refused: 1 reason" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--diff", "--check"), ["--diff and --check"]),
        (("--branch", "x", "--in-place", "--diff"), ["--branch and --diff and --in-place"]),
        (("--base", "HEAD"), ["--base", "--branch"]),
        (("--allow-dirty",), ["--allow-dirty", "--in-place"]),
    ],
)
def test_options_that_do_not_go_together(unmoved: Unmoved, arguments: tuple[str, ...], words: list[str]) -> None:
    ran = unmoved("apply", "fine.toml", "--root", "root", *arguments)
    assert ran.status == 2
    assert [word for word in ("usage-error", "fix:", *words) if word not in ran.err] == []


def test_a_plan_with_typos_lists_them_all(unmoved: Unmoved) -> None:
    Path("bad.toml").write_text(PLAN.format(id="bad") + 'wraper = true\ncall = "x"\n', encoding="utf-8")
    ran = unmoved("apply", "bad.toml", "--root", "root")
    assert ran.status == 2
    assert ran.err.splitlines() == [
        "error: invalid-plan  bad.toml",
        "  2 things are wrong",
        "  bad.toml:6  unknown-key  `wraper` is not a key of extract-method",
        "    fix  did you mean `wrapper`?",
        '  bad.toml:7  bad-value  `call` of extract-method is "x", but must be one of "module", "name"',
        "    fix  write one of: module, name",
        "  fix: mend each, then run again",
    ]
    ran = unmoved("apply", "bad.toml", "--root", "root", "--format", "json")
    error = msgspec.json.decode(ran.out, type=ErrorReport).error
    assert [(problem.code, problem.line) for problem in error.problems] == [("unknown-key", 6), ("bad-value", 7)]


def test_an_error_is_one_block(unmoved: Unmoved) -> None:
    ran = unmoved("apply", "error.toml", "--root", "root")
    assert ran.status == 2
    assert ran.err == "error: plan-error  a.py:4\n  no such class\n  fix: write another\n"
    assert ran.out == ""
    ran = unmoved("apply", "error.toml", "--root", "root", "--format", "json")
    assert json.loads(ran.out) == {
        "error": {
            "code": "plan-error", "path": "a.py", "line": 4, "message": "no such class", "fix": "write another",
            "problems": [],
        }
    }  # fmt: skip


def test_a_crash_never_looks_like_a_result(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = unmoved("apply", "crash.toml", "--root", "root", "--in-place")
    assert ran.status == 2
    assert "internal error: ZeroDivisionError in conftest.py" in ran.err
    assert "nothing was changed" in ran.err
    assert "UNMOVED_DEBUG=1" in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setenv("UNMOVED_DEBUG", "1")
    assert "Traceback" in unmoved("apply", "crash.toml", "--root", "root").err


def test_an_interruption_says_that_nothing_was_changed(unmoved: Unmoved) -> None:
    ran = unmoved("apply", "interrupt.toml", "--root", "root", "--in-place")
    assert ran.status == 130
    assert ran.err == "interrupted: nothing was changed\n"


def test_what_a_killed_run_left_is_taken_back_first(unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemods.commit.in_place.recover", lambda root: root == Path("root"))
    assert "took back" in unmoved("apply", "fine.toml", "--root", "root").err


def test_the_configuration_reaches_the_plan(tree: Path, unmoved: Unmoved, fakes: Fakes) -> None:
    (tree / "unmoved.toml").write_text('exclude = ["a.py"]\nsource-roots = ["src"]\n', encoding="utf-8")
    ran = unmoved("apply", "fine.toml", "--root", "root", "--config", "line-length = 100")
    assert fakes.settings == [Settings(exclude=("a.py",), source_roots=("src",), line_length=100)]
    assert "nothing to change" in ran.out


def test_options_before_the_command_are_meant_for_it(unmoved: Unmoved) -> None:
    ran = unmoved("--root", "nowhere", "--format", "json", "apply", "fine.toml", "--root", "root")
    assert ran.status == 0
    assert report(ran).plan == "fine"
