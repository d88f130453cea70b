"""Running a whole plan: order, refusals of all steps at once, settled hazards, and steps that are done already."""

from __future__ import annotations

from codemods.plan.check import run_plan
from codemods.schema.config import Settings
from codemods.schema.plan import ExtractMethod, InlineMethod, Move, Plan, Rename, Step
from codemods.schema.progress import Silent
from codemods.schema.result import PlanResult
from codemods.source.files import FileSet
from tests.support.keyword_trees import text, tree

RUNNER = """
    import os


    class Runner:
        def __init__(self, size: int):
            self.size = size

        def start(self):
            self.bind()
            return self.cpus

        def bind(self):
            text = os.environ.get("CPUS", "all")
            self.cpus = text.split("|")[self.size]

        def warm(self):
            return 1
"""


def run(files: FileSet, *steps: Step, accept: dict[str, str] | None = None) -> PlanResult:
    return run_plan(files, Plan(id="p", step=steps), Settings(accept=accept or {}), Silent())


def applied(files: FileSet, result: PlanResult) -> FileSet:
    for step in result.steps:
        for draft in step.commits:
            for change in draft.changes:
                is_gone = change.after is None
                files = files.delete(change.path) if is_gone else files.write(change.path, change.after or b"")
    return files


def phases(result: PlanResult) -> list[list[str]]:
    return [[draft.phase.value for draft in step.commits] for step in result.steps]


def codes(result: PlanResult) -> list[list[str]]:
    return [[refusal.code for refusal in step.refusals] for step in result.steps]


def sources() -> FileSet:
    return tree(pkg__runner=RUNNER, pkg__numa='"""Numbers."""\n')


BIND = ExtractMethod(method="pkg.runner:Runner.bind", to="pkg.numa", wrapper=True)
WARM = ExtractMethod(method="pkg.runner:Runner.warm", to="pkg.numa")


def test_a_wrapper_makes_three_commits_and_no_wrapper_two() -> None:
    result = run(sources(), BIND, WARM)
    assert phases(result) == [["prep", "move", "post"], ["prep", "move"]]
    files = applied(sources(), result)
    assert "self.cpus = numa.bind(size=self.size)" in text(files, "pkg/runner.py")
    assert "def warm" not in text(files, "pkg/runner.py")


def test_every_refusal_of_every_step_is_listed() -> None:
    wrong = ExtractMethod(method="pkg.runner:Runner.bond", to="pkg.numa")
    result = run(sources(), wrong, BIND, Rename(definition="pkg.runner:Nobody", to="x"))
    assert codes(result) == [["unknown-definition"], [], ["unknown-definition"]]
    assert "bind" in result.steps[0].refusals[0].settle


def test_a_stop_hazard_refuses_until_it_is_accepted() -> None:
    files = tree(
        pkg__runner="""
            class Runner:
                def go(self, fast):
                    return self.later if fast else 0
        """,
        pkg__numa="",
    )
    step = ExtractMethod(method="pkg.runner:Runner.go", to="pkg.numa")
    assert codes(run(files, step)) == [["U102"]]
    assert codes(run(files, step, accept={"U102": "set by the caller"})) == [[]]


def test_the_second_run_changes_nothing() -> None:
    steps = (
        BIND,
        WARM,
        Rename(definition="pkg.numa:warm", to="warm_up"),
        Move(definition="pkg.numa:warm_up", to="pkg.heat"),
    )
    first = run(sources(), *steps)
    assert codes(first) == [[], [], [], []]
    again = run(applied(sources(), first), *steps)
    assert codes(again) == [[], [], [], []]
    assert phases(again) == [[], [], [], []]


def test_an_inlined_method_is_done_but_a_typo_is_not() -> None:
    files = tree(
        pkg__m="""
            class A:
                def f(self):
                    return self._g(1)

                def _g(self, x):
                    return abs(x)
        """
    )
    step = InlineMethod(method="pkg.m:A._g")
    first = run(files, step)
    assert codes(first) == [[]]
    assert phases(run(applied(files, first), step)) == [[]]
    assert codes(run(files, InlineMethod(method="pkg.m:A._gg"))) == [["unknown-definition"]]


def test_a_step_on_what_a_refused_step_would_make_says_so() -> None:
    wrong = ExtractMethod(method="pkg.runner:Runner.bond", to="pkg.numa")
    result = run(sources(), wrong, Rename(definition="pkg.numa:bond", to="bind"))
    assert "refused step above" in result.steps[1].refusals[0].settle
