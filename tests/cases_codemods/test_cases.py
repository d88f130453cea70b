"""The given cases from the field: each plan applies as expected, commit by commit, or is refused for the right reason.

After every commit the probe prints what it printed before; a second run changes nothing; a refusal writes nothing."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.field_cases import Case, apply_case, contents, load_cases, probe, write

pytestmark = pytest.mark.cases

GIVEN = """
A02 A04 A05 A07 A08 A10 A12 A14 A16 A18 A19 A21 A22 A23 A25 A26 A28 A33 A34 A35 A37 A38 A39 A41 A42 A45 A46 A47 A51
A52 A53 A56 A58 A59 A61 A62 A65 A66 A67 A68 A69 A70 A72 A74 A75 A76 A78 A80 A81 A83 A84 A86 A88 A89 A91 A93 A95
"""

CASES = load_cases()
APPLIES = [pair for pair in CASES if not pair[1].refuses]
REFUSES = [pair for pair in CASES if pair[1].refuses]


def identify(value: object) -> str:
    return value.id if isinstance(value, Case) else ""


def tree_of(folder: Path, tmp_path: Path, case: Case) -> Path:
    if sys.version_info < (3, case.python):
        pytest.skip(f"needs Python 3.{case.python}")
    tree = tmp_path / "tree"
    shutil.copytree(folder / "before", tree)
    return tree


@pytest.mark.parametrize(("folder", "case"), APPLIES, ids=identify)
def test_applies(folder: Path, case: Case, tmp_path: Path) -> None:
    tree = tree_of(folder, tmp_path, case)
    printed = probe(folder, tree, after=False)
    assert printed is None or not printed.startswith("exit"), printed
    result = apply_case(folder, tree)
    assert not result.refusals
    assert set(case.hazards) <= {hazard.code for step in result.steps for hazard in step.hazards}
    drafts = [draft for step in result.steps for draft in step.commits]
    has_new_calls = (folder / "probe_after.py").exists()
    for number, draft in enumerate(drafts, 1):
        write(tree, draft.changes)
        for change in draft.changes:
            if change.after is not None and change.path.endswith(".py"):
                ast.parse(change.after)
        if not has_new_calls or number == len(drafts):
            assert probe(folder, tree, after=True) == printed, f"after commit {number}: {draft.subject}"
    assert contents(tree) == contents(folder / "after")
    again = apply_case(folder, tree)
    assert not again.refusals
    assert not [draft for step in again.steps for draft in step.commits]


@pytest.mark.parametrize(("folder", "case"), REFUSES, ids=identify)
def test_refuses(folder: Path, case: Case, tmp_path: Path) -> None:
    tree = tree_of(folder, tmp_path, case)
    before = contents(tree)
    result = apply_case(folder, tree)
    assert set(case.refuses) <= {refusal.code for refusal in result.refusals}
    assert all(refusal.settle for refusal in result.refusals)
    assert not [draft for step in result.steps for draft in step.commits]
    assert contents(tree) == before


def test_every_given_case_is_here() -> None:
    assert {case.id for _, case in CASES} >= set(GIVEN.split())
