"""Lines, texts and published schemas. What the commands print as a whole is tested in tests/cli."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from codemods import schema
from codemods.plan.load import InvalidPlan, parse_plan
from codemods.report.explain import page_lines
from codemods.report.lines import Span, columns, line, plain
from codemods.report.model import ErrorReport, RunReport, StepRow, error_report, page_row, step_rows
from codemods.report.schemas import published
from codemods.report.text import run_lines, summary_lines
from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.pages import PAGES
from codemods.schema.result import CommitDraft, FileChange, Phase, PlanResult, StepResult


def draft(phase: Phase, *paths: str) -> CommitDraft:
    changes = tuple(FileChange(path=path, before=b"a", after=b"b") for path in paths)
    return CommitDraft(phase=phase, subject=f"{phase.value} it", body="", changes=changes)


def result(*steps: StepResult) -> PlanResult:
    return PlanResult(plan_id="p", steps=steps)


def run(steps: list[StepRow], *, changed: bool = True, written: bool = False, branch: str | None = None) -> RunReport:
    base = "b" * 40 if branch else None
    return RunReport(
        plan="p", mode="branch", changed=changed, written=written, branch=branch, base=base, steps=steps, diff=None,
        toml=None, next="",
    )  # fmt: skip


STEP = StepResult(
    number=1, do="move", target="a:f", to="b", commits=(draft(Phase.PREP, "a.py"), draft(Phase.MOVE, "a.py", "b.py"))
)
SECOND = StepResult(number=2, do="rename", target="a:g", to="h", commits=(draft(Phase.PREP, "a.py"),))
REFUSED = StepResult(
    number=3,
    do="move",
    target="a:x",
    to="b",
    refusals=(Refusal(code="no-such-def", path="", line=0, message="a has no x", settle="did you mean y?"),),
)


def test_each_commit_gets_the_hash_of_its_step() -> None:
    rows = step_rows(result(STEP, SECOND), [(1, "c1"), (1, "c2"), (2, "c3")])
    assert [[commit.commit for commit in row.commits] for row in rows] == [["c1", "c2"], ["c3"]]
    assert [[commit.files for commit in row.commits] for row in rows] == [[["a.py"], ["a.py", "b.py"]], [["a.py"]]]
    assert step_rows(result(STEP))[0].commits[0].commit is None


def test_a_written_branch_in_words() -> None:
    rows = step_rows(result(STEP, SECOND), [(1, "1" * 40), (1, "2" * 40), (2, "3" * 40)])
    assert plain(run_lines(run(rows, written=True, branch="split"))).splitlines() == [
        "1  move  a:f → b",
        "   prep  1111111111  prep it",
        "   move  2222222222  move it",
        "",
        "2  rename  a:g → h",
        "   prep  3333333333  prep it",
        "",
        "2 steps, 3 commits, 2 files: written to the branch split, from bbbbbbbbbb",
    ]


def test_a_step_without_commits_says_why() -> None:
    empty = StepResult(number=1, do="inline-method", target="a:C.f", to="")
    text = plain(run_lines(run(step_rows(result(empty, REFUSED)), changed=False)))
    assert text.splitlines() == [
        "1  inline-method  a:C.f",
        "   nothing to change",
        "",
        "3  move  a:x → b",
        "   refused",
        "     no-such-def  a has no x",
        "       next    did you mean y?",
        "",
        "refused: 1 reason in 1 of 2 steps; nothing was written",
    ]


def test_nothing_to_change_is_said_in_the_summary() -> None:
    assert plain(summary_lines(run([], changed=False))) == "0 steps, 0 commits, 0 files: nothing to change\n"


def test_a_message_with_line_breaks_stays_one_line() -> None:
    hazard = Hazard(code="U101", severity=Severity.PROVE, path="a.py", line=3, message="one\ntwo", settle="lazy")
    rows = step_rows(result(StepResult(number=1, do="move", target="a:f", to="b", hazards=(hazard,))))
    assert "     U101  prove  a.py:3  one\\ntwo" in plain(run_lines(run(rows))).splitlines()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    rows = [[Span("a"), Span("bbb"), Span("c")], [Span("aaaa"), Span("b"), Span("")]]
    assert plain(columns(rows, indent=1)) == " a     bbb  c\n aaaa  b\n"
    assert list(columns([])) == []
    assert plain([line("a", Span("b")), ()]) == "ab\n\n"


def invalid(text: str) -> InvalidPlan:
    with pytest.raises(InvalidPlan) as caught:
        parse_plan(text, "p.toml")
    return caught.value


def test_an_error_of_one_problem_is_that_problem() -> None:
    made = error_report(invalid('id = "p"\nstep = 3\n')).error
    assert (made.code, made.path, made.line, made.problems) == ("wrong-type", "p.toml", 2, [])


def test_an_error_of_several_problems_has_them_apart() -> None:
    made = error_report(invalid("id = 3\nstep = 3\n")).error
    assert (made.code, made.message) == ("invalid-plan", "2 things are wrong")
    assert [(problem.code, problem.line) for problem in made.problems] == [("wrong-type", 1), ("wrong-type", 2)]


def test_every_page_shows_its_example_and_what_settles_it() -> None:
    for page in PAGES.values():
        text = plain(page_lines(page_row(page)))
        assert f"run() -> {page.example.was}\n" in text
        assert f"run() -> {page.example.now}\n" in text
        assert all(way.how in text for way in page.settle)


def test_the_published_schemas_are_current() -> None:
    """When this fails: python -c "from codemods.report.schemas import write_schemas; write_schemas()"."""
    directory = Path(schema.__file__).parent
    made = published()
    assert {path.name for path in directory.glob("*.schema.json")} == set(made)
    assert [name for name, body in made.items() if (directory / name).read_bytes() != body] == []


def test_the_schema_of_apply_has_the_promised_keys() -> None:
    found = json.loads(published()["apply.schema.json"])
    definitions = found["$defs"]
    assert found["anyOf"] == [{"$ref": "#/$defs/RunReport"}, {"$ref": "#/$defs/ErrorReport"}]
    assert set(definitions["StepRow"]["required"]) >= {"do", "target", "to", "commits", "hazards", "refusals"}
    assert set(definitions["CommitRow"]["required"]) >= {"phase", "commit", "subject"}
    keys = {"code", "severity", "path", "line", "message", "settle"}
    assert set(definitions["Hazard"]["required"]) == keys
    assert set(definitions["ErrorRow"]["required"]) == {"code", "path", "line", "message", "fix"}


def test_the_schema_of_plans_knows_the_other_names_of_a_target() -> None:
    move = json.loads(published()["plan-file.schema.json"])["$defs"]["Move"]
    assert move["oneOf"] == [{"required": [key]} for key in ("definition", "target", "function", "class", "constant")]
    assert "definition" not in move["required"]
    assert move["additionalProperties"] is False
    assert {"target", "function", "class", "constant"} <= set(move["properties"])


def test_reports_read_back() -> None:
    made = run(step_rows(result(STEP, REFUSED)))
    assert msgspec.json.decode(msgspec.json.encode(made), type=RunReport) == made
    error = error_report(invalid("x = 1\ny = 2\n"))
    assert msgspec.json.decode(msgspec.json.encode(error), type=ErrorReport) == error
