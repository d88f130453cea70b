"""What verify says of the soundness cases: nothing that behaves differently is certified, and what is mechanical is."""

from __future__ import annotations

import pytest

from codemods.schema.verdict import Ledger, Verdict
from tests.support.soundness import Case, examined, load_cases

pytestmark = pytest.mark.cases


def cases(verdict: str) -> list[object]:
    """Parameters: a known gap must stay one, so that whoever closes it takes the mark away."""
    return [
        pytest.param(case, id=case.id, marks=[pytest.mark.xfail(reason=case.known_gap)] if case.known_gap else [])
        for case in load_cases()
        if case.verdict == verdict
    ]


def said(ledger: Ledger) -> str:
    residue = [f"{e.path}:{e.line}+{e.lines} {e.side.value} {e.mark.code} {e.mark.reason}" for e in ledger.residue]
    findings = [f"{p.path}:{p.line} {p.code} {p.message}" for p in ledger.problems]
    return "\n".join([ledger.verdict.value, *residue, *findings])


@pytest.mark.parametrize("case", cases("differs"))
def test_differs_is_never_certified(case: Case) -> None:
    ledger = examined(case)
    assert ledger.verdict is not Verdict.MECHANICAL or ledger.problems, f"certified: {case.fault}"


@pytest.mark.parametrize("case", cases("mechanical"))
def test_mechanical_is_certified_without_a_finding(case: Case) -> None:
    ledger = examined(case)
    assert ledger.verdict is Verdict.MECHANICAL and not ledger.problems, f"{case.fault}\n{said(ledger)}"
