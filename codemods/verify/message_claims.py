"""What a commit message claims about its commit. A claim decides nothing; one that the ledger refutes is a finding."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codemods.schema.certificate import Against
from codemods.schema.verdict import Problem, Verdict

# Only words that say how the change was made. "No functional change" may be true of a residue; it is not refuted.
CLAIMS = (
    re.compile(r"^Unmoved-(?:Plan|Step|Phase): *\S.*$", re.MULTILINE),
    re.compile(r"\b(?:pure|purely|mechanical|mechanically|only) (?:code )?(?:move|moved|moves|motion|rename|renamed)\b",
               re.IGNORECASE),
    re.compile(r"\bmechanical (?:change|refactor|refactoring|extraction)\b", re.IGNORECASE),
)  # fmt: skip
_SHOWN = 60


def refuted(message: str, against: Sequence[Against]) -> list[Problem]:
    """One finding for the first claim, when some comparison is not mechanical."""
    claim = next((found.group() for pattern in CLAIMS if (found := pattern.search(message))), "")
    if not claim or all(one.verdict is Verdict.MECHANICAL for one in against):
        return []
    left = max(one.lines - one.certified for one in against)
    said = claim if len(claim) <= _SHOWN else f"{claim[:_SHOWN]}…"
    return [Problem("", 0, "claim-refuted", f"the message says {said!r}, and {left} changed lines are not certified")]
