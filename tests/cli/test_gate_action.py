"""What the composite action runs, as any CI would run it: with bash, on a clone, the reports as files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.gate_repository import edited, helper_repository
from tests.support.repository import run_git

TOP = Path(__file__).parents[2]
SCRIPT = TOP / ".github/actions/unmoved-gate/gate.sh"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Of a repository whose main branch is at the base, with one commit more."""
    origin = helper_repository(tmp_path / "origin")
    run_git(tmp_path, "clone", "-q", str(origin), "clone")
    edited(tmp_path / "clone", "Not final", ("final=True", "final=False"))
    return tmp_path / "clone"


def run(clone: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The tool is found on PATH, as it is installed there; here it is the one that is tested."""
    programs = clone.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "unmoved").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m codemods "$@"\n', encoding="utf-8")
    (programs / "unmoved").chmod(0o755)
    given = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(TOP),
        "UNMOVED_GATE_REPORTS": str(clone.parent),
        "GITHUB_OUTPUT": str(clone.parent / "output"),
        "GITHUB_STEP_SUMMARY": str(clone.parent / "summary.md"),
    }
    env = {**os.environ, **given, **environ}
    return subprocess.run(["bash", str(SCRIPT)], cwd=clone, env=env, capture_output=True, text=True, check=False)


def test_a_pull_request_is_annotated_and_reported(clone: Path) -> None:
    ran = run(clone, UNMOVED_GATE_BASE=run_git(clone, "rev-parse", "HEAD^").strip())
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.startswith("::error file=helpers.py,line=")
    folder = clone.parent
    outputs = dict(line.split("=", 1) for line in (folder / "output").read_text(encoding="utf-8").splitlines())
    assert json.loads(Path(outputs["sarif"]).read_bytes())["version"] == "2.1.0"
    assert ET.parse(outputs["junit"]).getroot().get("failures") == "1"
    assert Path(outputs["html"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert summary == Path(outputs["markdown"]).read_text(encoding="utf-8")
    assert "`helpers:spread`" in summary


def test_a_branch_that_is_pushed_first_begins_where_it_left_main(clone: Path) -> None:
    ran = run(clone, UNMOVED_GATE_BASE="0" * 40, UNMOVED_GATE_ARGUMENTS="--exit-zero --no-cache")
    assert (ran.returncode, "::error" in ran.stdout) == (0, True)


def test_nothing_new_is_said_and_no_base_is_an_error(clone: Path) -> None:
    ran = run(clone, UNMOVED_GATE_BASE="HEAD")
    assert (ran.returncode, "no commit to look at" in ran.stdout) == (0, True)
    ran = run(clone, DEFAULT_BRANCH="trunk")
    assert (ran.returncode, "no base is known" in ran.stderr) == (2, True)
