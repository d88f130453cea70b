"""What stands in for the floors below: a plan replaces `old` by `new` in a.py, is refused or crashes, as its id says.

The commit floor and git are the real ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from codemods.cli.app import main
from codemods.schema.config import Settings
from codemods.schema.errors import PlanError
from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.plan import ExtractMethod, Plan, Step
from codemods.schema.progress import Progress
from codemods.schema.refs import DefRef
from codemods.schema.result import CommitDraft, FileChange, Finding, Phase, PlanResult, StepResult
from codemods.schema.survey import Candidate
from codemods.source.files import FileSet

HAZARD = Hazard(code="U104", severity=Severity.NOTE, path="a.py", line=2, message="overridden", settle="wrapper = true")
REFUSAL = Refusal(code="U106", path="a.py", line=3, message="self is passed on", settle='owner = "runner"')
PLAN = 'id = "{id}"\n[[step]]\ndo = "extract-method"\nmethod = "a:C.f"\nto = "b"\n'


class Ran(NamedTuple):
    status: int
    out: str
    err: str


class Fakes:
    """What was asked of the floors below, and what they answer."""

    def __init__(self) -> None:
        self.settings: list[Settings] = []

    def run_plan(
        self, files: FileSet, plan: Plan, settings: Settings, progress: Progress, past: object = None
    ) -> PlanResult:
        del past
        self.settings.append(settings)
        before = files.read("a.py") if "a.py" in files else b""
        after = before.replace(b"old", b"new")
        steps = []
        for number, step in enumerate(plan.step, 1):
            progress.step(number, len(plan.step), step.do)
            steps.append(StepResult(number=number, do=step.do, target=step.target, to=step.destination))
        if plan.id == "crash":
            raise ZeroDivisionError("in the middle")
        if plan.id == "interrupt":
            raise KeyboardInterrupt
        if plan.id == "error":
            raise PlanError("no such class", fix="write another", path="a.py", line=4)
        if plan.id == "refused":
            steps = [replace(step, refusals=(REFUSAL,), hazards=(HAZARD,)) for step in steps]
        elif before != after:
            changes = (FileChange(path="a.py", before=before, after=after),)
            draft = CommitDraft(phase=Phase.PREP, subject="Make C.f static", body="words", changes=changes)
            steps[0] = replace(steps[0], commits=(draft,), hazards=(HAZARD,))
        return PlanResult(plan_id=plan.id, steps=tuple(steps))

    def complete(self, files: FileSet, step: Step, settings: Settings) -> SimpleNamespace:
        del files, settings
        step = replace(step, returns=("cpus",)) if isinstance(step, ExtractMethod) else step
        return SimpleNamespace(step=step, findings=())

    def describe(self, files: FileSet, step: Step, settings: Settings, found: Sequence[Finding] = ()) -> StepResult:
        del files, found
        self.settings.append(settings)
        return StepResult(
            number=1,
            do=step.do,
            target=step.target,
            to=step.destination,
            hazards=(HAZARD,),
            refusals=(REFUSAL,) if "refused" in step.target else (),
            findings=(Finding(topic="parameters", text="rank from self.rank", path="a.py", line=2),),
        )

    def survey(self, files: FileSet, target: DefRef, settings: Settings) -> tuple[Candidate, ...]:
        del files, target, settings
        return (
            Candidate(method="bind", line=4, lines=12, cost=3, reasons=("reads 2 attributes",), can_leave=True),
            Candidate(method="start_everything", line=30, lines=9, cost=14, hazards=(HAZARD,), can_leave=True),
            Candidate(method="go", line=50, lines=2, cost=99, reasons=("passes self to helper()",), can_leave=False),
        )


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Fakes:
    made = Fakes()
    modules: dict[str, dict[str, object]] = {
        "codemods.plan.check": {"run_plan": made.run_plan},
        "codemods.plan.describe": {"complete": made.complete, "describe": made.describe},
        "codemods.plan.survey": {"survey": made.survey},
    }
    for name, functions in modules.items():
        module = ModuleType(name)
        vars(module).update(functions)
        monkeypatch.setitem(sys.modules, name, module)
    return made


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to work in: a.py in `root`, and a plan of each kind beside it."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_text("x = 'old'\n", encoding="utf-8")
    for plan_id in ("fine", "refused", "crash", "interrupt", "error"):
        (tmp_path / f"{plan_id}.toml").write_text(PLAN.format(id=plan_id), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return root


@pytest.fixture
def unmoved(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs the command in this process."""

    def run(*arguments: str) -> Ran:
        capfd.readouterr()
        status = main(arguments)
        captured = capfd.readouterr()
        return Ran(status, captured.out, captured.err)

    return run
