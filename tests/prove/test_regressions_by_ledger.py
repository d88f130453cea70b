"""Every regression pair as `unmoved prove A..B` takes it: only what the ledger leaves is proved, and that is enough to
see the slip. Where the ledger certifies a slip, no proof is asked for: those cases are listed, and each entry has to go
once `verify` sees it."""

from __future__ import annotations

import pytest

from codemods.cli.prove_derived import derived
from codemods.schema.prove import PairKind, ProofVerdict
from codemods.verify.change import between
from tests.prove.regression_pairs import Case, load_cases
from tests.prove.test_regressions import proved

pytestmark = pytest.mark.cases

# `verify` has a finding for each (who is outside, a data file), and nothing to prove.
CERTIFIED = frozenset({"B49", "B56", "X16"})


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_what_the_ledger_leaves_shows_the_slip(case: Case) -> None:
    change = derived("", between(case.files("before"), case.files("after")), ("", ""), takes_all=False)
    is_seen = bool(change.found) or any(
        proved(case, "after", pair).verdict is ProofVerdict.DIFFERS
        for pair in sorted(change.pairs, key=lambda pair: list(PairKind).index(pair.kind))
    )
    assert is_seen is (case.id not in CERTIFIED)
