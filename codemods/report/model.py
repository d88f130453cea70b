"""The one model of a run: what `--format json` prints. Published as schema/*.schema.json; keys are only ever added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from codemods.schema.config import Setting
from codemods.schema.errors import UnmovedError
from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.page import Page, Settling
from codemods.schema.result import Finding, PlanResult, StepResult
from codemods.schema.survey import Candidate


class CommitRow(Struct, frozen=True, kw_only=True):
    """`commit` is the full hash, null when nothing was written."""

    phase: str
    commit: str | None
    subject: str
    files: list[str]


class StepRow(Struct, frozen=True, kw_only=True):
    """One step of the plan. With refusals there are no commits."""

    number: int
    do: str
    target: str
    to: str
    commits: list[CommitRow]
    hazards: list[Hazard]
    refusals: list[Refusal]
    findings: list[Finding]


class RunReport(Struct, frozen=True, kw_only=True):
    """`unmoved apply` and `unmoved plan TARGET --to MODULE`.

    plan: the plan's id. mode: plan, dry-run, diff, check, in-place or branch.
    changed: whether the steps change anything. written: whether that was written.
    branch, base: the branch that was written and the commit it starts from.
    diff: the whole change, in mode diff. toml: the step, in mode plan. next: what to do now."""

    plan: str
    mode: str
    changed: bool
    written: bool
    branch: str | None
    base: str | None
    steps: list[StepRow]
    diff: str | None
    toml: str | None
    next: str


class SuggestReport(Struct, frozen=True, kw_only=True):
    """`unmoved plan MODULE:Class --suggest`: what can leave, cheapest first, then what can't."""

    target: str
    candidates: list[Candidate]
    next: str


class PageRow(Struct, frozen=True, kw_only=True):
    """One page of `unmoved explain`: a hazard with its severity, or a difference that `unmoved prove` reports.

    before and after: programs whose `run()` comes to `was` and to `now`."""

    code: str
    title: str
    severity: Literal["stop", "prove", "note", "difference"]
    text: str
    before: str
    after: str
    was: str
    now: str
    settle: list[Settling]


class ExplainReport(Struct, frozen=True, kw_only=True):
    """`unmoved explain`."""

    pages: list[PageRow]


class ConfigReport(Struct, frozen=True, kw_only=True):
    """`--show-config`."""

    settings: list[Setting]


class ErrorRow(Struct, frozen=True, kw_only=True):
    """`code` is stable; `fix` is the next move; `problems` are the parts when several things are wrong at once."""

    code: str
    path: str
    line: int
    message: str
    fix: str
    problems: list[ErrorRow] = []


class ErrorReport(Struct, frozen=True, kw_only=True):
    """What every command prints instead when it could not do its work."""

    error: ErrorRow


def step_rows(result: PlanResult, written: Sequence[tuple[int, str]] = ()) -> list[StepRow]:
    """written: (step number, commit hash) of each commit, in the order they were made."""
    hashes: dict[int, list[str]] = {}
    for number, commit in written:
        hashes.setdefault(number, []).append(commit)
    return [step_row(step, hashes.get(step.number, ())) for step in result.steps]


def step_row(step: StepResult, hashes: Sequence[str] = ()) -> StepRow:
    """hashes: of the step's commits, in order; () when nothing was written."""
    return StepRow(
        number=step.number,
        do=step.do,
        target=step.target,
        to=step.to,
        commits=[
            CommitRow(
                phase=draft.phase.value,
                commit=hashes[index] if hashes else None,
                subject=draft.subject,
                files=[change.path for change in draft.changes],
            )
            for index, draft in enumerate(step.commits)
        ],
        hazards=list(step.hazards),
        refusals=list(step.refusals),
        findings=list(step.findings),
    )


def page_row(page: Page) -> PageRow:
    return PageRow(
        code=page.code,
        title=page.title,
        severity=_severity(page),
        text=page.text,
        before=page.example.before,
        after=page.example.after,
        was=page.example.was,
        now=page.example.now,
        settle=list(page.settle),
    )


def _severity(page: Page) -> Literal["stop", "prove", "note", "difference"]:
    return page.severity.value if page.severity is not None else "difference"


def error_report(error: UnmovedError) -> ErrorReport:
    """`problems` of an error that has them become rows of their own."""
    problems = [
        ErrorRow(code=one.code, path=error.path, line=one.line, message=one.message, fix=one.fix)
        for one in getattr(error, "problems", ())
    ]
    return ErrorReport(
        error=ErrorRow(
            code=error.code,
            path=error.path,
            line=error.line,
            message=error.message.partition("\n")[0] if len(problems) > 1 else error.message,
            fix=error.fix,
            problems=problems if len(problems) > 1 else [],
        )
    )


class FreezeReport(Struct, frozen=True, kw_only=True):
    """What `freeze --format json` prints. Paths are relative to `golden`."""

    golden: str
    commit: str
    added: tuple[str, ...]
    updated: tuple[str, ...]
    gone: tuple[str, ...]
    kept: int
