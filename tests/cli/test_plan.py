"""`unmoved plan`: the step that is written, the table of suggestions, and wrong uses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from codemods.plan.load import load_plan, parse_plan
from codemods.report.model import RunReport, SuggestReport
from codemods.schema.plan import ExtractMethod, InlineMethod, Move, Rename
from tests.cli.conftest import Ran

Unmoved = Callable[..., Ran]
pytestmark = pytest.mark.usefixtures("fakes", "tree")
ROOT = ("--root", "root")


def test_the_step_is_a_plan_that_can_be_applied(unmoved: Unmoved) -> None:
    ran = unmoved("plan", "a:C.bind_threads", "--to", "numa", *ROOT)
    assert (ran.status, ran.err) == (0, "")
    assert (
        ran.out
        == """\
id = "c"  # goes into the trailers of every commit: say what the whole plan is for

# parameters:
#   rank from self.rank  (a.py:2)
# hazards:
#   U104 note a.py:2: overridden
#     settle: wrapper = true
[[step]]
do = "extract-method"
method = "a:C.bind_threads"
to = "numa"
returns = ["cpus"]
"""
    )
    assert parse_plan(ran.out, "").step == (ExtractMethod(method="a:C.bind_threads", to="numa", returns=("cpus",)),)


@pytest.mark.parametrize(
    ("arguments", "step"),
    [
        (("a:f", "--to", "b"), Move(definition="a:f", to="b")),
        (("a:C.f", "--do", "inline-method"), InlineMethod(method="a:C.f")),
        (
            ("a:C.f", "--do", "rename", "--to", "g", "--set", 'strings="keep"'),
            Rename(definition="a:C.f", to="g", strings="keep"),
        ),
    ],
)
def test_every_operation_can_be_asked_for(unmoved: Unmoved, arguments: tuple[str, ...], step: Move) -> None:
    ran = unmoved("plan", *arguments, *ROOT)
    assert ran.status == 0
    assert parse_plan(ran.out, "").step == (step,)


def test_a_refused_step_is_written_with_what_would_settle_it(unmoved: Unmoved) -> None:
    ran = unmoved("plan", "a:C.refused", "--to", "b", *ROOT)
    assert ran.status == 2
    assert '#     next: owner = "runner"' in ran.out
    assert "refused as it stands: a:C.refused" in ran.err
    assert parse_plan(ran.out, "").step[0].target == "a:C.refused"


def test_output_makes_a_plan_and_then_adds_to_it(unmoved: Unmoved) -> None:
    for target in ("a:C.f", "a:C.g"):
        ran = unmoved("plan", target, "--to", "b", "--output", "new.toml", *ROOT)
        assert (ran.status, ran.out, ran.err) == (0, "", "written to new.toml\n")
    assert [step.target for step in load_plan("new.toml").step] == ["a:C.f", "a:C.g"]
    before = Path("new.toml").read_bytes()
    ran = unmoved("plan", "a:C.g", "--to", "c", "--output", "new.toml", *ROOT)
    assert ran.status == 2
    assert "step 2 is already extract-method of a:C.g" in ran.err
    assert Path("new.toml").read_bytes() == before


def test_output_never_overwrites_what_is_no_plan(unmoved: Unmoved) -> None:
    Path("notes.toml").write_text("mine = 1\n", encoding="utf-8")
    assert unmoved("plan", "a:C.f", "--to", "b", "--output", "notes.toml", *ROOT).status == 2
    assert Path("notes.toml").read_text(encoding="utf-8") == "mine = 1\n"
    ran = unmoved("plan", "a:C.f", "--to", "b", "--output", "no/such/place.toml", *ROOT)
    assert ran.status == 2
    assert "can't be written" in ran.err


def test_json_of_a_step(unmoved: Unmoved) -> None:
    ran = unmoved("plan", "a:C.f", "--to", "b", "--format", "json", *ROOT)
    made = msgspec.json.decode(ran.out, type=RunReport)
    assert (ran.status, made.mode, made.written, made.plan) == (0, "plan", False, "c")
    [step] = made.steps
    assert (step.do, step.target, step.to, step.commits) == ("extract-method", "a:C.f", "b", [])
    assert [hazard.code for hazard in step.hazards] == ["U104"]
    assert [finding.topic for finding in step.findings] == ["parameters"]
    assert made.toml is not None
    assert parse_plan(made.toml, "").step[0].target == "a:C.f"


def test_suggestions_are_ranked(unmoved: Unmoved) -> None:
    ran = unmoved("plan", "a:C", "--suggest", *ROOT)
    assert ran.status == 0
    assert ran.out.splitlines() == [
        "a:C: 2 of 3 methods can leave",
        "",
        "  rank  method            line  lines  cost  hazards  why",
        "  1     bind              4     12     3     -        reads 2 attributes",
        "  2     start_everything  30    9      14    U104",
        "",
        "can't leave as they are",
        "  go  line 50",
        "    passes self to helper()",
        "",
        "next: unmoved plan a:C.bind --to MODULE",
    ]


def test_json_of_suggestions(unmoved: Unmoved) -> None:
    ran = unmoved("plan", "a:C", "--suggest", "--format", "json", *ROOT)
    made = msgspec.json.decode(ran.out, type=SuggestReport)
    assert [candidate.method for candidate in made.candidates] == ["bind", "start_everything", "go"]
    assert json.loads(ran.out)["candidates"][2]["can_leave"] is False


@pytest.mark.parametrize("arguments", [("a:C", "--suggest"), ("a:C.f", "--to", "b")])
def test_a_tree_in_the_middle_of_an_edit_is_not_read(unmoved: Unmoved, arguments: tuple[str, ...]) -> None:
    Path("root/.unmoved_cache").mkdir()
    Path("root/.unmoved_cache/journal").write_bytes(b"")
    ran = unmoved("plan", *arguments, *ROOT)
    assert ran.status == 2
    assert "half-written" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a:C.f",), ["where a:C.f goes", "--suggest"]),
        (("a.C.f", "--to", "b"), ["bad-reference", "package.module:Class.method"]),
        (("a:C", "--suggest", "--to", "b"), ["leave out --to"]),
        (("a:C.f", "--do", "extract", "--to", "b"), ["unknown-operation", "extract-"]),
        (("a:C.f", "--to", "b", "--set", "wraper=true"), ["unknown-key", "`wrapper`"]),
        (("a:C.f", "--to", "b", "--set", "wrapper"), ["not KEY=VALUE"]),
        (("a:C.f", "--to", "b:c"), ["no module name"]),
    ],
)
def test_wrong_uses(unmoved: Unmoved, arguments: tuple[str, ...], words: list[str]) -> None:
    ran = unmoved("plan", *arguments, *ROOT)
    assert ran.status == 2
    assert [word for word in (*words, "fix:") if word not in ran.err] == []
    assert ran.out == ""


@pytest.mark.parametrize(
    ("target", "output", "plan_id"),
    [
        ("a:ModelRunner.f", None, "model-runner"),
        ("a:Outer.HTTPServer.f", "plan.toml", "http-server"),
        ("a:ModelRunner.f", "leaf_helpers.toml", "leaf-helpers"),
        ("pkg.io_utils:f", None, "io-utils"),
        ("pkg/io_utils.py:f", None, "io-utils"),
        ("a:_", "__.toml", "plan"),
    ],
)
def test_a_plan_is_named_after_what_all_of_it_is_about(
    unmoved: Unmoved, target: str, output: str | None, plan_id: str
) -> None:
    more = ("--output", output) if output is not None else ()
    ran = unmoved("plan", target, "--to", "b", *more, *ROOT)
    text = Path(output).read_text(encoding="utf-8") if output is not None else ran.out
    assert parse_plan(text, "").id == plan_id


def test_the_help_says_what_severities_mean(unmoved: Unmoved) -> None:
    for command in ("plan", "apply"):
        said = unmoved(command, "--help").out
        assert all(word in said for word in ("stop", "prove", "note", "explain"))
