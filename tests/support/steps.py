"""One step of a plan on a small tree: the text it leaves, what it says, and that a second run changes nothing."""

from __future__ import annotations

import difflib

from codemods.plan.check import run_step
from codemods.schema.plan import Step
from codemods.schema.result import StepResult
from codemods.source.files import FileSet
from tests.support.trees import text_of, tree


def run(before: str, step: Step, *, line_length: int = 88) -> tuple[StepResult, FileSet]:
    """The step's result and the tree after it. A text without file names is the module m."""
    base = tree(whole(before))
    files = FileSet(base.base, line_length=line_length)
    return run_step(files, step, 1, {})


def whole(text: str) -> str:
    return text if text.startswith("# file: ") else f"# file: m.py\n{text}"


def check_step(before: str, after: str, step: Step, *, line_length: int = 88) -> StepResult:
    """The step leaves exactly this tree (files that are not named stay as they are); a second run changes nothing."""
    result, files = run(before, step, line_length=line_length)
    assert result.refusals == (), "\n".join(map(str, result.refusals))
    named = {path: tree(whole(after)).read(path) for path in tree(whole(after)).paths()}
    kept = {path: tree(whole(before)).read(path) for path in tree(whole(before)).paths()}
    got, want = text_of(files), text_of(tree({**kept, **named}))
    assert got == want, "\n" + "\n".join(difflib.unified_diff(want.split("\n"), got.split("\n"), "wanted", "got", n=2))
    again, _ = run_step(files, step, 1, {})
    assert again.refusals == (), again.refusals
    assert again.commits == ()
    return result


def codes(result: StepResult) -> list[str]:
    """What was found, as severities with codes; refusals that no hazard explains are marked so."""
    hazards = [f"{each.severity.value} {each.code}" for each in result.hazards]
    stopped = {each.code for each in result.hazards}
    return sorted({*hazards, *(f"refused {each.code}" for each in result.refusals if each.code not in stopped)})
