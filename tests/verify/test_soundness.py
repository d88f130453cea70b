"""The soundness cases are what they say: run, trees of a `differs` print different text, of a `mechanical` the same."""

from __future__ import annotations

import ast

import pytest

from tests.support.field_cases import contents
from tests.support.soundness import ROOT, Case, load_cases, printed

GIVEN = "S01 S02 S03 S05 S07 S08 S10 S12 S14 S15 S18 S19 S21 S23 S25 S26"

pytestmark = pytest.mark.cases


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_running_shows_it(case: Case) -> None:
    before, after = printed()[case.id]
    assert before.strip()
    assert not before.startswith("exit"), before
    # An error is a difference, too; S15 ends in one.
    assert case.verdict == "differs" or not after.startswith("exit"), after
    assert (before == after) == (case.verdict == "mechanical"), f"{before!r} {after!r}"


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_the_trees_differ_and_can_be_parsed(case: Case) -> None:
    before, after = contents(case.folder / "before"), contents(case.folder / "after")
    assert before != after
    for tree in (before, after):
        for path, raw in tree.items():
            if path.endswith(".py"):
                ast.parse(raw)


def test_only_a_mechanical_case_can_be_a_gap() -> None:
    assert not [case.id for case in load_cases() if case.verdict == "differs" and case.known_gap]


def test_each_mechanical_case_of_ours_names_its_operation() -> None:
    ours = [case for case in load_cases() if case.id.startswith("N")]
    assert [case.id for case in ours if bool(case.rule) != (case.verdict == "mechanical")] == []


def test_every_folder_is_a_case_and_the_given_ones_are_here() -> None:
    assert {path.name for path in ROOT.iterdir()} == {case.id for case in load_cases()}
    assert {case.id for case in load_cases()} >= set(GIVEN.split())
