"""What a plan makes of the tree that is worked on, step by step: as `apply` would, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from codemods.cli.session import UsageProblem, without_collector
from codemods.plan.check import run_plan
from codemods.plan.load import load_plan
from codemods.repo.history import History
from codemods.schema.config import Settings
from codemods.schema.progress import Progress
from codemods.schema.result import StepResult
from codemods.source.files import FileSet, Without


class PlannedStep(NamedTuple):
    """One step on what the steps before it left."""

    result: StepResult
    before: FileSet
    after: FileSet


def planned(path: Path, root: Path, files: FileSet, settings: Settings, progress: Progress) -> list[PlannedStep]:
    """files: those at the root. Raises UsageProblem where a step is refused, PlanError where there is no such plan."""
    plan = load_plan(path)
    where, top = path.resolve(), root.resolve()
    if where.is_relative_to(top):
        base = Without(files.base, where.relative_to(top).as_posix())
        files = FileSet(base, source_roots=files.source_roots, line_length=files.line_length)
    with without_collector():
        result = run_plan(files, plan, settings, progress, History(root, None))
    if result.refusals:
        first = result.refusals[0]
        message = f"the plan is refused: {first.code}: {first.message}"
        raise UsageProblem(message, fix=f"see `unmoved apply {path}`", path=first.path, line=first.line)
    found = []
    for step in result.steps:
        before = files
        for each in (change for commit in step.commits for change in commit.changes):
            files = files.delete(each.path) if each.after is None else files.write(each.path, each.after)
        found.append(PlannedStep(step, before, files))
    return found
