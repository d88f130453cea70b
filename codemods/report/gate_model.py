"""What `unmoved gate` says: each commit with what was asked of it (its obligations) and what became of each. Published
as schema/gate.schema.json; keys are only ever added. Every format is made of this model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from codemods.report.prove_model import PairRow, Unproved, totals_of
from codemods.report.verify_model import CheckedCommit
from codemods.schema.gate import GatePolicy

SCHEMA_VERSION = 1
_NUMBERS = re.compile(r"(?<=:)\d+")


class Status(Enum):
    """pass. fail: the check says no. inconclusive: nothing is known; that the lines are unproved is said of the ledger.
    error: it could not be looked at. warn: reported, and does not fail. exempt: the policy does not ask for it."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    WARN = "warn"
    EXEMPT = "exempt"


class GateVerdict(Enum):
    """unchecked: nothing says no, and something could not be looked at."""

    PASS = "pass"
    FAIL = "fail"
    UNCHECKED = "unchecked"


class Obligation(Struct, frozen=True, kw_only=True):
    """One thing that is asked of a commit. kind: `ledger`, `finding`, `pair`, `recording`, `specs`, `baseline`.

    rule: a hazard (U119), a difference (D1), or a rule of the gate; "" where it passed without any. symbol: the
    function, class, module or file it is about. world: of a difference, the smallest one. why: the reason of the
    policy, or of whoever declared it. digest: of what was found, without line numbers. pair: which of the commit's
    pairs; -1 for none."""

    kind: str
    rule: str
    status: Status
    symbol: str
    message: str
    path: str = ""
    line: int = 0
    world: tuple[str, ...] = ()
    why: str = ""
    next: str = ""
    digest: str = ""
    pair: int = -1


class GatedCommit(Struct, frozen=True, kw_only=True):
    """One commit; or two directories, or a file of specs, or what is asked of the whole run.

    claim: the words by which the message says that this is a refactoring. is_held: whether every line has to be
    certified or proved. checked: what `unmoved verify` says. pairs: what `unmoved prove` says. unproved: lines that no
    pair runs."""

    commit: str
    subject: str = ""
    claim: str = ""
    is_held: bool = True
    verdict: GateVerdict
    checked: CheckedCommit | None = None
    pairs: list[PairRow] = []
    unproved: list[Unproved] = []
    obligations: list[Obligation] = []

    def of(self, *statuses: Status) -> list[Obligation]:
        return [each for each in self.obligations if each.status in statuses]

    @property
    def lines(self) -> int:
        return self.checked.lines if self.checked else 0

    @property
    def certified(self) -> int:
        return self.checked.certified if self.checked else 0


class GateTotals(Struct, frozen=True, kw_only=True):
    """Sums over all commits. killed, mutants: slips that were told apart, and that were put in. failures: obligations
    that fail."""

    commits: int = 0
    passed: int = 0
    failed: int = 0
    unchecked: int = 0
    held: int = 0
    lines: int = 0
    certified: int = 0
    pairs: int = 0
    agrees: int = 0
    differs: int = 0
    inconclusive: int = 0
    declared: int = 0
    killed: int = 0
    mutants: int = 0
    obligations: int = 0
    failures: int = 0
    warnings: int = 0
    exempt: int = 0
    seconds: float = 0.0


class GateReport(Struct, frozen=True, kw_only=True):
    """`unmoved gate`. target: what was named. policy: what was demanded. next: what to do now; "" when it passes."""

    schema_version: int
    target: str
    verdict: GateVerdict
    policy: GatePolicy
    commits: list[GatedCommit]
    totals: GateTotals
    next: str


def digest_of(*parts: str) -> str:
    """The same wherever in its file the thing stands."""
    return hashlib.sha256("\0".join(_NUMBERS.sub("", part) for part in parts).encode()).hexdigest()[:16]


def verdict_of(obligations: Iterable[Obligation]) -> GateVerdict:
    seen = {each.status for each in obligations}
    if Status.FAIL in seen:
        return GateVerdict.FAIL
    return GateVerdict.UNCHECKED if Status.ERROR in seen or not seen else GateVerdict.PASS


def report_of(target: str, policy: GatePolicy, commits: Sequence[GatedCommit], seconds: float) -> GateReport:
    """Nothing looked at is not a pass."""
    verdicts = [each.verdict for each in commits]
    verdict = GateVerdict.UNCHECKED if GateVerdict.UNCHECKED in verdicts or not verdicts else GateVerdict.PASS
    if GateVerdict.FAIL in verdicts:
        verdict = GateVerdict.FAIL
    return GateReport(
        schema_version=SCHEMA_VERSION,
        target=target,
        verdict=verdict,
        policy=policy,
        commits=list(commits),
        totals=_totals(commits, seconds),
        next=_next(verdict, commits),
    )


def _totals(commits: Sequence[GatedCommit], seconds: float) -> GateTotals:
    pairs = totals_of(row for each in commits for row in each.pairs)
    found = [one for each in commits for one in each.obligations]
    count = {status: sum(one.status is status for one in found) for status in Status}
    return GateTotals(
        commits=len(commits),
        passed=sum(each.verdict is GateVerdict.PASS for each in commits),
        failed=sum(each.verdict is GateVerdict.FAIL for each in commits),
        unchecked=sum(each.verdict is GateVerdict.UNCHECKED for each in commits),
        held=sum(each.is_held for each in commits),
        lines=sum(each.lines for each in commits),
        certified=sum(each.certified for each in commits),
        pairs=pairs.pairs,
        agrees=pairs.agrees,
        differs=pairs.differs,
        inconclusive=pairs.inconclusive,
        declared=pairs.declared,
        killed=pairs.killed,
        mutants=pairs.mutants,
        obligations=len(found),
        failures=count[Status.FAIL],
        warnings=count[Status.WARN],
        exempt=count[Status.EXEMPT],
        seconds=round(seconds, 1),
    )


def _next(verdict: GateVerdict, commits: Sequence[GatedCommit]) -> str:
    if verdict is GateVerdict.PASS:
        return ""
    wanted = Status.FAIL if verdict is GateVerdict.FAIL else Status.ERROR
    first = ranked([one for each in commits for one in each.of(wanted)])
    if first:
        return first[0].next or "look at what fails first"
    return "nothing was looked at: name a range with a commit in it"


_RANK = (
    "U119", "U120", "U121", "D9", "D6", "D8", "D7", "D11", "D3", "D10", "D4", "D2", "D5", "D1",
    "recording-changed", "stale-declaration", "inconclusive", "residue", "survivor", "power",
)  # fmt: skip


def ranked(obligations: Iterable[Obligation]) -> list[Obligation]:
    """What breaks a caller first, then what changes results, then what is merely unproved: Python before the rest."""
    order = {rule: at for at, rule in enumerate(_RANK)}

    def rank(each: Obligation) -> tuple[int, bool]:
        return order.get(each.rule, _RANK.index("D9")), bool(each.path) and not each.path.endswith(".py")

    return sorted(obligations, key=rank)
