"""A class that goes between modules of which only one postpones annotations: what reads them sees another value."""

from __future__ import annotations

import pytest

from codemods.plan.check import run_plan
from codemods.schema.config import Settings
from codemods.schema.plan import Move, Plan
from codemods.schema.progress import Silent
from tests.support.keyword_trees import tree

FUTURE = "from __future__ import annotations\n"


def codes(source: str, target: str) -> list[str]:
    files = tree(p__a=source, p__b=target, p__main="from p.a import F\n\nprint(F.__annotations__)\n")
    step = Move(definition="p.a:F", to="p.b")
    result = run_plan(files, Plan(id="x", step=(step,)), Settings(), Silent())
    assert not result.refusals
    return [hazard.code for hazard in result.steps[0].hazards]


@pytest.mark.parametrize(("here", "there"), [(FUTURE, ""), ("", FUTURE)])
def test_is_reported(here: str, there: str) -> None:
    assert "U114" in codes(f"{here}\n\nclass F:\n    x: int = 1\n", f"{there}\n\nclass Q:\n    y: int = 1\n")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (f"{FUTURE}\n\nclass F:\n    x: int = 1\n", f"{FUTURE}\n\nclass Q:\n    y: int = 1\n"),
        (f"{FUTURE}\n\nclass F:\n    x = 1\n", "class Q:\n    y = 1\n"),
    ],
)
def test_is_no_alarm(source: str, target: str) -> None:
    assert "U114" not in codes(source.replace("x = 1", "__annotations__ = {}"), target)
