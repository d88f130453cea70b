"""Whether a step is done already or names what never was: by the tree, and where that has no trace by its history."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.cli.app import main
from codemods.plan.check import run_plan
from codemods.schema.config import Settings
from codemods.schema.plan import InlineMethod, Plan, Rename, Step
from codemods.schema.progress import Silent
from codemods.schema.result import PlanResult
from codemods.source.files import FileSet
from tests.support.repository import make_repository, run_git
from tests.support.trees import tree

TEXT = "# file: m.py\nclass A:\n    def f(self): return self._g(1)\n    def _g(self, x): return abs(x)\n"
GONE = "# file: m.py\nclass A:\n    def f(self): return abs(1)\n    def size(self): ...\n"


class Once:
    """A past in which some names were there."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def held(self, path: str, name: str) -> bool | None:
        return path == "m.py" and name in self.names


def run(files: FileSet, *steps: Step, past: Once) -> PlanResult:
    return run_plan(files, Plan(id="p", step=steps), Settings(), Silent(), past)


def codes(result: PlanResult) -> list[list[str]]:
    return [[refusal.code for refusal in step.refusals] for step in result.steps]


@pytest.mark.parametrize("name", ["_g", "siz", "sizes"])
def test_an_inlined_method_whose_file_had_it(name: str) -> None:
    result = run(tree(GONE), InlineMethod(method=f"m:A.{name}"), past=Once(name))
    assert codes(result) == [[]]
    assert [each.topic for each in result.steps[0].findings] == ["done"]


@pytest.mark.parametrize("name", ["_g", "siz", "resembles_nothing"])
def test_a_method_that_never_was(name: str) -> None:
    result = run(tree(GONE), InlineMethod(method=f"m:A.{name}"), past=Once())
    assert codes(result) == [["unknown-definition"]]
    assert "history" in result.steps[0].refusals[0].settle


def test_a_method_that_an_earlier_step_made() -> None:
    steps = (Rename(definition="m:A._g", to="absolute"), InlineMethod(method="m:A.absolute"))
    assert codes(run(tree(GONE), *steps, past=Once("_g"))) == [[], []]
    assert codes(run(tree(GONE), steps[1], past=Once("_g"))) == [["unknown-definition"]]


RENAMED = [
    ("m:A.count", "size", "class A:\n    def size(self): ...\n", []),
    ("m:A.count", "size", "class A:\n    def __init__(self): self.size = 1\n", []),
    ("m:A.f.n", "size", "class A:\n    def f(self, size): return size\n", []),
    ("m:count", "size", "size = 1\n", []),
    ("m:A.count", "size", "class A:\n    def counts(self): ...\n    def size(self): ...\n", ["unknown-definition"]),
    ("m:A.count", "size", "class A:\n    def __init__(self, size): self.other = size\n", ["unknown-definition"]),
    ("m:A.f.n", "size", "class A:\n    def f(self): return lambda size: size\n", ["unknown-definition"]),
]


@pytest.mark.parametrize(("definition", "to", "text", "expected"), RENAMED)
def test_a_rename(definition: str, to: str, text: str, expected: list[str]) -> None:
    files = tree(f"# file: m.py\n{text}")
    assert codes(run(files, Rename(definition=definition, to=to), past=Once())) == [expected]


def test_a_rename_whose_old_name_was_there() -> None:
    files = tree("# file: m.py\nclass A:\n    def counts(self): ...\n    def size(self): ...\n")
    assert codes(run(files, Rename(definition="m:A.count", to="size"), past=Once("count"))) == [[]]


PLAN = 'id = "p"\n[[step]]\ndo = "inline-method"\nmethod = "m:A.{name}"\n'


@pytest.mark.parametrize("is_committed", [False, True])
def test_in_a_repository(tmp_path: Path, is_committed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    files = tree(TEXT)
    root = make_repository(tmp_path / "root", {path: files.read(path) for path in files.paths()})
    right, wrong = tmp_path / "right.toml", tmp_path / "wrong.toml"
    right.write_text(PLAN.format(name="_g"))
    wrong.write_text(PLAN.format(name="resembles_nothing"))
    assert main(["apply", str(right), "--root", str(root), "--in-place"]) == 0
    if is_committed:
        run_git(root, "commit", "-q", "-a", "-m", "inlined")
    assert main(["apply", str(right), "--root", str(root), "--check"]) == 0
    capsys.readouterr()
    assert main(["apply", str(wrong), "--root", str(root), "--check"]) == 2
    assert "resembles_nothing" in capsys.readouterr().out
