"""What `unmoved prove` says of each pair, made of its result: source lines, the next move, totals. Published as
schema/prove.schema.json; keys are only ever added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from codemods.schema.prove import Delta, PairKind, PairResult, ProofVerdict, gravity

# (side, path, line) -> the text of that line; "" where there is none.
SourceLine = Callable[[str, str, int], str]


class DeltaRow(Delta, frozen=True, kw_only=True):
    """A difference with the lines of source that it is about. text: at path:line. old_text: at old_path:old_line."""

    text: str = ""
    old_text: str = ""


class PairRow(PairResult, frozen=True, kw_only=True):
    """A pair as it is reported. change: the commit or the step of the plan that it belongs to; "" for two trees.

    test_file: where `test` was written; "" where it was not. next: what to do now; "" for a pair that agrees."""

    deltas: tuple[DeltaRow, ...] = ()
    change: str = ""
    test_file: str = ""
    next: str = ""

    @property
    def open(self) -> list[DeltaRow]:
        """The differences that nobody has declared, the gravest first."""
        return sorted((delta for delta in self.deltas if not delta.declared), key=gravity)

    @property
    def name(self) -> str:
        """`old → new`, or the one name that both have."""
        return self.new if self.old == self.new else f"{self.old} → {self.new}"


class Unproved(Struct, frozen=True, kw_only=True):
    """Changed lines that nothing certifies and no pair runs: new functions that nothing calls, what is no Python. at:
    which lines; "" for all that changed in a file that is no Python."""

    path: str
    lines: int
    change: str = ""
    at: str = ""

    @property
    def place(self) -> str:
        return f"{self.path}:{self.at}" if self.at else self.path


class ProveTotals(Struct, frozen=True, kw_only=True):
    """Sums over all pairs. declared: differences that a spec declares."""

    pairs: int = 0
    agrees: int = 0
    differs: int = 0
    inconclusive: int = 0
    exhaustive: int = 0
    paths: int = 0
    faults: int = 0
    cases: int = 0
    declared: int = 0
    killed: int = 0
    mutants: int = 0
    seconds: float = 0.0


class ProveReport(Struct, frozen=True, kw_only=True):
    """`unmoved prove`. old, new: the trees, as they were named. unproved: what is left to read. next: what to do now;
    "" when everything agrees."""

    schema_version: int
    old: str
    new: str
    pairs: list[PairRow]
    totals: ProveTotals
    unproved: list[Unproved]
    next: str


def pair_row(result: PairResult, source: SourceLine, *, change: str = "") -> PairRow:
    """source: of the trees that the pair was proved on. What code says (texts, names, constants) is made printable: a
    terminal obeys control characters, and JSON has no place for half of a pair."""
    fields = printable(msgspec.to_builtins(msgspec.structs.replace(result, test="")))
    assert isinstance(fields, dict)
    for fresh, delta in zip(fields["deltas"], result.deltas, strict=True):
        fresh["text"] = printable(source("new", delta.path, delta.line).expandtabs())
        fresh["old_text"] = printable(source("old", delta.old_path, delta.old_line).expandtabs())
    more = {"test": result.test, "change": change, "next": next_of_pair(result)}
    return msgspec.convert({**fields, **more}, PairRow)


def printable(value: object) -> Any:
    """The same data, with every character that is none to print as its escape."""
    if isinstance(value, str):
        if value.isprintable():
            return value
        return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in value)
    if isinstance(value, dict):
        return {key: printable(each) for key, each in value.items()}
    return [printable(each) for each in value] if isinstance(value, (list, tuple)) else value


def next_of_pair(result: PairResult, test_file: str = "") -> str:
    """test_file: a test that fails as long as the two differ."""
    if result.verdict is ProofVerdict.AGREES:
        return ""
    if result.verdict is ProofVerdict.INCONCLUSIVE:
        return _next_of_inconclusive(result)
    codes = [delta.code for delta in sorted(result.deltas, key=gravity) if not delta.declared]
    if not codes:
        return "bring the declarations of the spec up to date"
    explain = f"`unmoved explain {codes[0]}` says what settles it"
    if result.kind is PairKind.READER:
        return f"mend the reader; {explain}"
    mend = f"mend the new side until `pytest {test_file}` passes" if test_file else "mend the new side"
    return f"{mend}, or declare the difference in a spec with the reason; {explain}"


def _next_of_inconclusive(result: PairResult) -> str:
    """The reasons are the prover's own words; what helps against the usual ones is known."""
    reason = result.reason.lower()
    return next((move for words, move in _MOVES if words in reason), _READ)


_READ = "name a domain for the input that the reason is about in a spec, or read both sides by hand"
_SMALLER = "name domains in a spec, or prove its callees as pairs of their own"
_MOVES = (
    ("differs from itself", "name a domain in a spec for what changes from run to run"),
    (
        "mutant",
        "name domains in a spec that make a slip show; accept there, with the reason, what no run can tell apart",
    ),
    ("was stopped after", f"give it more with --seconds; {_SMALLER}"),
    ("unknown-input", "mend the name in the spec"),
    ("took longer", f"give it more with --seconds and --paths; {_SMALLER}"),
    ("mb and was stopped", _SMALLER),
    ("could not be followed", f"name a domain for that value in a spec; {_SMALLER}"),
    ("can't be loaded", "mend the module, or list what it needs at import under `real`, if that may run"),
    ("confinement", "leave what it reaches for outside the two trees, where it is opaque, or read both sides by hand"),
    ("process that ran it ended", "look at what it does to its own process; read both sides by hand"),
    ("no-such-callable", "name what there is on both sides"),
    ("can't be parsed", "mend the syntax there; nothing of that file can be compared until then"),
    ("bug of unmoved", "report it with both sides of the pair; nothing is known about it either way"),
)


def totals_of(rows: Iterable[PairResult]) -> ProveTotals:
    found = list(rows)
    count = {verdict: sum(row.verdict is verdict for row in found) for verdict in ProofVerdict}
    return ProveTotals(
        pairs=len(found),
        agrees=count[ProofVerdict.AGREES],
        differs=count[ProofVerdict.DIFFERS],
        inconclusive=count[ProofVerdict.INCONCLUSIVE],
        exhaustive=sum(row.verdict is ProofVerdict.AGREES and row.level.value == "exhaustive" for row in found),
        paths=sum(row.paths for row in found),
        faults=sum(row.faults for row in found),
        cases=sum(row.cases for row in found),
        declared=sum(delta.declared for row in found for delta in row.deltas),
        killed=sum(row.mutants.killed for row in found),
        mutants=sum(row.mutants.total for row in found),
        seconds=round(sum(row.seconds for row in found), 3),
    )


def next_move(totals: ProveTotals, unproved: Sequence[Unproved] = ()) -> str:
    if not totals.pairs:
        if unproved:
            return "nothing was proved: no pair runs what is left; read it, or name what to compare with --pair OLD NEW"
        return "nothing was proved: `unmoved verify` certifies every changed line; --all proves them nevertheless"
    if totals.differs:
        return "look at what differs first; what is meant goes into a spec, with its reason"
    if totals.inconclusive:
        return "look at the reasons: what is inconclusive has not passed"
    return "read what is left" if unproved else ""


def shown_number(number: int, noun: str) -> str:
    """`1 path`, `2,112 paths`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def amounts(row: PairResult) -> list[str]:
    """What was done for the verdict, in words; what was not done is left out."""
    found = [row.level.value] if row.verdict is ProofVerdict.AGREES else []
    counted = ((row.paths, "path"), (row.faults, "fault"), (row.cases, "case"))
    found += [shown_number(number, noun) for number, noun in counted if number]
    if row.bounded:
        found.append(f"{row.bounded:,} cut at a bound")
    if row.mutants.total:
        found.append(f"mutants {row.mutants.killed}/{row.mutants.total}")
    elif row.verdict is ProofVerdict.AGREES:
        found.append("power: none")  # no mutant was tried: nothing says that this could have come out otherwise
    return [*found, "from the cache" if row.is_cached else f"{row.seconds:.1f} s"]


def encoded(report: ProveReport) -> bytes:
    """The JSON document, a pair a line: short enough to look at, and quick to write."""
    raw = msgspec.json.encode
    parts = b",\n".join(raw(row) for row in report.pairs)
    head = b'{"schema_version": %d,\n"old": %s,\n"new": %s,\n"pairs": [\n' % (
        report.schema_version, raw(report.old), raw(report.new),
    )  # fmt: skip
    tail = b'\n],\n"totals": %s,\n"unproved": %s,\n"next": %s}\n' % (
        raw(report.totals), raw(report.unproved), raw(report.next),
    )  # fmt: skip
    return head + parts + tail
