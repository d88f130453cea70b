"""Runs a whole plan in memory: every step on the tree the steps before left, every refusal of every step collected.

Writes nothing; with any refusal anywhere the result has no commits."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from codemods.plan.done import NO_PAST, Past, PastOfPlan, consumed_steps, is_done
from codemods.plan.expand import Stage, stages_of
from codemods.plan.places import StepPlaces
from codemods.plan.stubs import stub_hazards
from codemods.schema.config import Settings
from codemods.schema.errors import PlanError, UnmovedError
from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.plan import InlineMethod, Plan, Step
from codemods.schema.progress import Progress
from codemods.schema.result import CommitDraft, Finding, PlanResult, StepResult
from codemods.source.files import FileSet
from codemods.source.line_map import LineMap
from codemods.transforms.run import run_stage


def run_plan(files: FileSet, plan: Plan, settings: Settings, progress: Progress, past: Past = NO_PAST) -> PlanResult:
    """Every step in order. After a step that is refused the next ones are checked on the tree before it. past: tells
    a step that was done from one that names what never was.

    Raises UnmovedError for what is wrong with the tree rather than with a step (unreadable files)."""
    files = configured(files, settings)
    results: list[StepResult] = []
    total = len(plan.step)
    any_refused = False
    past = PastOfPlan(past, files, plan.step)
    lines = LineMap(files)
    consumed = consumed_steps(files, plan.step, past)
    for number, step in enumerate(plan.step, 1):
        progress.step(number, total, f"{step.do} {step.target}")
        if number - 1 in consumed:
            result, after = _nothing_to_do(step, number), files
        else:
            result, after = run_step(files, step, number, settings.accept, past, lines, depends_on_refused=any_refused)
        results.append(result)
        any_refused = any_refused or bool(result.refusals)
        files = after
    return PlanResult(plan_id=plan.id, steps=tuple(results))


def _nothing_to_do(step: Step, number: int) -> StepResult:
    text = "nothing to do: the tree has this step already"
    if isinstance(step, InlineMethod):
        text = f"nothing to do: {step.method} is not there and nothing names it any more"
    done = Finding(topic="done", text=text)
    return StepResult(number=number, do=step.do, target=step.target, to=step.destination, findings=(done,))


def configured(files: FileSet, settings: Settings) -> FileSet:
    """The same files with the run's settings."""
    return FileSet(
        files.base,
        files.overlay(),
        source_roots=settings.source_roots,
        line_length=settings.line_length,
    )


def run_step(
    files: FileSet,
    step: Step,
    number: int,
    accept: Mapping[str, str],
    past: Past = NO_PAST,
    lines: LineMap | None = None,
    *,
    depends_on_refused: bool = False,
) -> tuple[StepResult, FileSet]:
    """One step: its result, and the tree after it (the tree before it when it is refused). lines: from the tree of a
    step back to the user's; without, `files` are the user's."""
    settled = {**accept, **step.accept}
    commits: list[CommitDraft] = []
    hazards: list[Hazard] = []
    findings: list[Finding] = []
    refusals: list[Refusal] = []
    at = files
    places = StepPlaces(lines or LineMap(files), number, step.target)
    try:
        if is_done(files, step, past):
            return _nothing_to_do(step, number), files
        for stage in stages_of(files, step):
            done = run_stage(at, list(stage.parts), settled, places)
            hazards.extend(done.hazards)
            findings.extend(done.findings)
            refusals.extend(done.refusals)
            if done.files is None:
                break
            draft = _draft(stage, step, done.findings, at, done.files, is_first=not commits)
            if draft is not None:
                commits.append(draft)
            at = done.files
        hazards.extend(places.told(at, each) for each in stub_hazards(files, at, step))
    except PlanError as error:
        refusals.append(places.told(at, _never_there(_refusal(error), step)))
    if depends_on_refused:
        refusals = [_may_come_from_above(refusal) for refusal in refusals]
    result = StepResult(
        number=number,
        do=step.do,
        target=step.target,
        to=step.destination,
        commits=() if refusals else tuple(commits),
        hazards=tuple(dict.fromkeys(hazards)),
        refusals=tuple(dict.fromkeys(refusals)),
        findings=tuple(dict.fromkeys(findings)),
    )
    return result, files if refusals else at


def _refusal(error: UnmovedError) -> Refusal:
    """A step that names what is not there."""
    return Refusal(code=error.code, path=error.path, line=error.line, message=error.message, settle=error.fix)


def _never_there(refusal: Refusal, step: Step) -> Refusal:
    """What is to be inlined may have been, without a trace."""
    if not isinstance(step, InlineMethod) or refusal.code != "unknown-definition":
        return refusal
    settle = f"{refusal.settle}; the history of {refusal.path} does not have it either: take the step out if it is done"
    return replace(refusal, settle=settle)


def _may_come_from_above(refusal: Refusal) -> Refusal:
    """What is missing may be what a refused step would have made."""
    if not refusal.code.startswith("unknown-"):
        return refusal
    settle = f"{refusal.settle.rstrip(': ')} (or settle the refused step above, if that would make it)"
    return replace(refusal, settle=settle)


def _draft(
    stage: Stage, step: Step, findings: tuple[Finding, ...], before: FileSet, after: FileSet, *, is_first: bool
) -> CommitDraft | None:
    changes = after.changes_since(before)
    if not changes:
        return None
    subject = step.subject if step.subject and is_first else stage.words.subject
    body = stage.words.body
    for topic in ("parameters", "results"):
        texts = [finding.text for finding in findings if finding.topic == topic]
        if texts:
            body += f"\n\n{topic.capitalize()}:\n" + "\n".join(f"- {text}" for text in texts)
    return CommitDraft(phase=stage.phase, subject=subject, body=body, changes=changes)
