"""`unmoved verify` and `unmoved check`: exit status, formats, certificates, notes, and what can not be checked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from codemods import schema
from codemods.report.verify_model import VerifyReport
from tests.cli.conftest import Ran
from tests.support import fake_explain
from tests.support.repository import make_repository, run_git, snapshot, status_and_index, write_files

Unmoved = Callable[..., Ran]


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks for explanations and readers is replaced; it has tests of its own."""
    parts: dict[str, dict[str, object]] = {
        "explain": {"explain": fake_explain.explain},
        "kernel_check": {"recheck": fake_explain.recheck},
        "readers": {"left_behind": fake_explain.readers},
    }
    for name, functions in parts.items():
        module = ModuleType(f"codemods.verify.{name}")
        vars(module).update(functions)
        monkeypatch.setitem(sys.modules, module.__name__, module)


def commit(root: Path, message: str, **files: bytes) -> str:
    write_files(root, {f"{name}.py": raw for name, raw in files.items()})
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three commits over `base`: one that moves, one that leaves a reader, one that changes a function."""
    root = make_repository(tmp_path / "r", {"a.py": b"def f():\n    return 1\n"})
    run_git(root, "tag", "base")
    commit(root, "Move it", b=b"moved = 1\n")
    commit(root, "Leave a reader", c=b"moved = 1  # left\n")
    commit(root, "Change f", a=b"def f():\n    return 2\n")
    monkeypatch.chdir(tmp_path)
    return root


def test_a_mechanical_commit_passes(root: Path, unmoved: Unmoved) -> None:
    ran = unmoved("verify", "HEAD~2", "--root", str(root))
    assert (ran.status, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].split("  ")[1:3] == ["mechanical", "1 line: 100 % certified"]
    assert lines[-1] == "1 commit: 1 mechanical, 0 mixed, 0 other; 1 line, 100 % certified; 0 findings"


def test_a_residue_and_a_finding_do_not(root: Path, unmoved: Unmoved) -> None:
    ran = unmoved("verify", "HEAD~1", "--root", str(root))
    assert ran.status == 1
    assert "U119  c.py:1  still read" in ran.out
    ran = unmoved("verify", "HEAD", "--root", str(root))
    assert ran.status == 1
    assert "2 lines  a.py:2  f  nothing explains it" in ran.out
    assert ran.out.splitlines()[-1].startswith("next: ")


def test_exit_zero_hides_a_no_and_no_error(root: Path, unmoved: Unmoved) -> None:
    assert unmoved("verify", "base..HEAD", "--exit-zero", "-j", "1", "--root", str(root)).status == 0
    assert unmoved("verify", "nope", "--exit-zero", "--root", str(root)).status == 2


def test_json_is_what_the_schema_says(root: Path, unmoved: Unmoved) -> None:
    ran = unmoved("verify", "base..HEAD", "-j", "1", "--format", "json", "--root", str(root))
    assert ran.status == 1
    report = msgspec.json.decode(ran.out.encode(), type=VerifyReport)
    found = json.loads(ran.out)
    assert [one["verdict"] for one in found["commits"]] == ["mechanical", "mechanical", "other"]
    assert found["commits"][0]["operations"] == [{"kind": "move", "count": 1, "lines": 1}]
    assert found["commits"][1]["findings"] == [{"code": "U119", "path": "c.py", "line": 1, "message": "still read"}]
    parent = run_git(root, "rev-parse", "HEAD~1").strip()
    assert found["commits"][2]["residue"] == [
        {"path": "a.py", "line": 2, "lines": 1, "function": "f", "reason": "nothing explains it", "code": "",
         "side": side, "parent": parent}
        for side in ("old", "new")
    ]  # fmt: skip
    assert report.totals.commits == 3
    assert "3 commits" in ran.err
    published = json.loads((Path(schema.__file__).parent / "verify.schema.json").read_text())
    assert set(found["commits"][0]) == set(published["$defs"]["CheckedCommit"]["properties"])


def test_the_other_formats(root: Path, unmoved: Unmoved) -> None:
    at = ("verify", "base..HEAD", "-j", "1", "--root", str(root), "--format")
    rows = [json.loads(line) for line in unmoved(*at, "jsonl").out.splitlines()]
    assert [row["subject"] for row in rows] == ["Move it", "Leave a reader", "Change f"]
    sarif = json.loads(unmoved(*at, "sarif").out)
    assert sarif["version"] == "2.1.0"
    assert [(one["ruleId"], one["level"]) for one in sarif["runs"][0]["results"]] == [
        ("U119", "error"), ("residue", "warning"), ("residue", "warning"),
    ]  # fmt: skip
    markdown = unmoved(*at, "markdown").out
    assert "| mechanical | 1 | 100 % | 1 | Leave a reader |" in markdown
    github = unmoved(*at, "github").out.splitlines()
    assert [line.split(" ")[0] for line in github] == ["::error", "::warning", "::notice"]
    assert github[0].startswith("::error file=c.py,line=1,title=1 findings in ")


def test_a_report_goes_to_a_file_and_text_to_stdout(root: Path, tmp_path: Path, unmoved: Unmoved) -> None:
    ran = unmoved("verify", "HEAD", "--root", str(root), "--format", "sarif", "--output", "out.sarif")
    assert json.loads((tmp_path / "out.sarif").read_text())["runs"]
    assert "nothing explains it" in ran.out
    ran = unmoved("verify", "HEAD", "--root", str(root), "--output", "none/out")
    assert ran.status == 2


def test_the_step_summary_of_github(
    root: Path, tmp_path: Path, unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    unmoved("verify", "HEAD", "--root", str(root), "--format", "github")
    assert "0 of 1 commits mechanical" in (tmp_path / "summary.md").read_text()


def test_two_directories(tmp_path: Path, unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"old/a.py": b"x = 1\n", "new/a.py": b"x = 1\nmoved = 1\n"})
    monkeypatch.chdir(tmp_path)
    ran = unmoved("verify", "old", "new", "--format", "json", "--cert", "certs")
    found = json.loads(ran.out)["commits"]
    assert (ran.status, len(found), found[0]["commit"], found[0]["lines"]) == (0, 1, "old..new", 1)
    assert unmoved("check", "certs/directories.json", "old", "new").status == 0
    write_files(tmp_path, {"new/b.py": b"x = 1\n"})
    ran = unmoved("check", "certs/directories.json", "old", "new")
    assert ran.status == 1
    assert "the certificate does not hold" in ran.out


def test_certificates_and_notes_can_be_checked(root: Path, tmp_path: Path, unmoved: Unmoved) -> None:
    before = status_and_index(root), snapshot(root)
    ran = unmoved("verify", "base..HEAD", "-j", "1", "--root", str(root), "--cert", "certs", "--notes")
    assert ran.status == 1
    assert (status_and_index(root), snapshot(root)) == before
    commits = run_git(root, "rev-list", "base..HEAD").split()
    assert sorted(place.stem for place in (tmp_path / "certs").iterdir()) == sorted(commits)
    notes = run_git(root, "notes", "--ref=unmoved", "list").splitlines()
    assert sorted(line.split()[1] for line in notes) == sorted(commits)
    file = tmp_path / "certs" / f"{commits[-1]}.json"
    assert run_git(root, "notes", "--ref=unmoved", "show", commits[-1]) == file.read_text()
    for given in (str(file), "HEAD~2"):
        ran = unmoved("check", given, "--root", str(root))
        assert (ran.status, ran.out.splitlines()[-1]) == (0, "the certificate holds")
    ran = unmoved("check", "HEAD", "--root", str(root))
    assert (ran.status, "the certificate holds" in ran.out) == (1, True)
    file.write_text(file.read_text().replace('"subject": "Move it"', '"subject": "Fine"'))
    ran = unmoved("check", str(file), "--root", str(root), "--format", "json")
    assert ran.status == 1
    assert [one["code"] for one in json.loads(ran.out)["commits"][0]["findings"]] == ["certificate-refuted"]


def test_notes_are_renewed_and_need_an_identity(root: Path, unmoved: Unmoved, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        assert unmoved("verify", "HEAD~2", "--root", str(root), "--notes").status == 0
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("EMAIL", "")
    run_git(root, "config", "user.useConfigOnly", "true")
    ran = unmoved("verify", "HEAD~2", "--root", str(root), "--notes")
    assert (ran.status, "no-identity" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["base..base"], "empty-range"),
        (["HEAD..base"], "empty-range"),
        (["base...HEAD"], "bad-range"),
        (["nope"], "no-such-revision"),
        (["r"], "usage-error"),
        (["r", "gone"], "config-error"),
        (["r", "r", "--notes"], "usage-error"),
        (["HEAD", "-j", "0"], "usage-error"),
        (["HEAD", "-j", "many"], "usage-error"),
        ([], "usage-error"),
        (["HEAD", "--format", "html"], "usage-error"),
    ],
)
def test_what_can_not_be_checked_exits_2(root: Path, unmoved: Unmoved, arguments: list[str], code: str) -> None:
    ran = unmoved("verify", *arguments, "--root", str(root))
    assert (ran.status, ran.out) == (2, "")
    assert code in ran.err


def test_an_error_as_json(root: Path, unmoved: Unmoved) -> None:
    ran = unmoved("verify", "HEAD..base", "--root", str(root), "--format", "json")
    assert ran.status == 2
    assert json.loads(ran.out)["error"]["code"] == "empty-range"


@pytest.mark.parametrize(
    ("given", "code"), [("gone.json", "usage-error"), ("HEAD", "usage-error"), ("a.json", "bad-certificate")]
)
def test_what_is_no_certificate(root: Path, tmp_path: Path, unmoved: Unmoved, given: str, code: str) -> None:
    (tmp_path / "a.json").write_text("{}")
    ran = unmoved("check", given, "--root", str(root))
    assert (ran.status, ran.out) == (2, "")
    assert code in ran.err


def test_a_commit_fits_a_screen(root: Path, unmoved: Unmoved) -> None:
    many = {f"m{number}": b"x = 1  # left\n" for number in range(60)}
    commit(root, "Far too much " * 20, **many)
    ran = unmoved("verify", "HEAD", "--root", str(root))
    assert len(ran.out.splitlines()) <= 40
    assert "and 48 more places, 48 lines; --format json has all" in ran.out
    assert "and 50 more findings; --format json has all" in ran.out
