"""What `unmoved prove` is asked and what it answers, as data: pairs, deltas, verdicts. Field names are those of the
JSON."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct, field


class ProofVerdict(Enum):
    """Only `agrees` passes."""

    AGREES = "agrees"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"


class Level(Enum):
    """How far an `agrees` reaches: every path with collaborators uninterpreted, or a sample."""

    EXHAUSTIVE = "exhaustive"
    SAMPLED = "sampled"


class PairKind(Enum):
    """What the two sides of a pair are."""

    CALLABLE = "callable"  # a function, a method of any kind, a property
    CLASS = "class"  # sequences of calls on one instance
    IMPORT = "import"  # importing a module: what it does, in order
    READER = "reader"  # something left behind that names what is gone; found by reading, not by running


class DeclaredDelta(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A difference that is meant. `where`: a part of its message or its `path:line`. `until`: a date (YYYY-MM-DD)
    after which it no longer counts."""

    code: str
    where: str
    why: str
    until: str = ""


class AcceptedMutant(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A surviving mutant that behaves the same, with the reason."""

    id: str
    why: str


class Pair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One pair to prove. `old` and `new`: `module:Qual.name` (a module alone for an import).

    domains: a named domain for an input (`bind`, `self.server_args.host`, `os.environ['X']`, `srv.numa:nodes()`: what a
    function of the trees gives). same: terms of the new side that stand for one of the old side. real: modules of the
    standard library that run for real. focus: functions of the new side (`module:Qual.name`) whose mutants are to be
    told apart; all that run, where there is none. observed: inputs of recorded calls of the old side, as recorded
    (input -> data). origin: who asked for the pair (`ledger`, `plan`, `spec`, `hand`, `all`)."""

    old: str
    new: str
    kind: PairKind = PairKind.CALLABLE
    domains: dict[str, str] = {}
    same: dict[str, str] = {}
    real: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    observed: tuple[dict[str, Any], ...] = ()
    deltas: tuple[DeclaredDelta, ...] = ()
    accepted: tuple[AcceptedMutant, ...] = ()
    origin: str = "hand"


class Delta(Struct, frozen=True, kw_only=True):
    """One difference. path, line: where on the new side (on the old one where the new has nothing). world: the
    decisions that show it, in words, one a line."""

    code: str
    path: str
    line: int
    message: str
    declared: bool = False
    old_path: str = ""
    old_line: int = 0
    world: tuple[str, ...] = ()
    is_fault: bool = False


# What changes results comes before what changes texts.
_GRAVEST = ("D9", "D6", "D8", "D7", "D11", "D3", "D10", "D4", "D2", "D5", "D1")


def gravity(delta: Delta) -> tuple[bool, int]:
    """The gravest first: what a normal path shows before faults; what is left behind, which has codes of its own,
    before all, since it fails whenever it is reached."""
    return (delta.is_fault, _GRAVEST.index(delta.code) if delta.code in _GRAVEST else -1)


class Survivor(Struct, frozen=True, kw_only=True):
    """A mutant of the new side that was not told apart from it."""

    id: str
    path: str
    line: int
    before: str
    after: str
    why: str = ""  # the reason of the spec, where it was accepted


class Mutants(Struct, frozen=True, kw_only=True):
    """Power: how many mutants of the new side were told apart."""

    killed: int = 0
    total: int = 0
    survivors: tuple[Survivor, ...] = ()


class Effects(Struct, frozen=True, kw_only=True):
    """Both effect lists of the world of the first delta, as text with its line, and the index of the first
    difference."""

    old: tuple[tuple[str, int], ...] = ()
    new: tuple[tuple[str, int], ...] = ()
    first: int = 0


class PairResult(Struct, frozen=True, kw_only=True):
    """What was found of one pair. bounded: paths that were cut at a bound of the check (rounds of a loop, recursion).
    unreached: branches of either side, as `path:line`, that no run took. test: a pytest file that fails as long as the
    two differ; filled in by who knows where the trees are. lacks: what of
    the confinement this system did not have as the pair ran."""

    old: str
    new: str
    kind: PairKind
    verdict: ProofVerdict
    level: Level = Level.SAMPLED
    paths: int = 0
    faults: int = 0
    cases: int = 0
    bounded: int = 0
    unreached: tuple[str, ...] = ()
    deltas: tuple[Delta, ...] = ()
    mutants: Mutants = field(default_factory=Mutants)
    reason: str = ""
    effects: Effects | None = None
    test: str = ""
    origin: str = "hand"
    seconds: float = 0.0
    is_cached: bool = False
    lacks: tuple[str, ...] = ()


def inconclusive(pair: Pair, reason: str) -> PairResult:
    return PairResult(
        old=pair.old, new=pair.new, kind=pair.kind, verdict=ProofVerdict.INCONCLUSIVE, reason=reason, origin=pair.origin
    )


class ProveResult(Struct, frozen=True, kw_only=True):
    """A whole run. `schema_version` changes when a field changes its meaning."""

    pairs: tuple[PairResult, ...]
    old: str = ""
    new: str = ""
    schema_version: int = 1

    @property
    def exit_code(self) -> int:
        """0: all agree. 1: some differ. 2: some are inconclusive and none differs, or there was nothing to prove."""
        verdicts = {pair.verdict for pair in self.pairs}
        if ProofVerdict.DIFFERS in verdicts:
            return 1
        return 0 if verdicts == {ProofVerdict.AGREES} else 2
