"""Proved pairs as obligations of a gate: what agrees and with which power, what differs and in which world, what could
not be compared. How grave each is, the policy says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.report.gate_model import Obligation, Status, digest_of
from codemods.report.prove_model import DeltaRow, PairRow, amounts
from codemods.schema.gate import GatePolicy
from codemods.schema.prove import PairKind, ProofVerdict, Survivor

OUT_OF_TIME = "the time of the gate was over before it was looked at"
MORE_TIME = "give it more `seconds`, or keep its cache between runs"
_MUTANT = "the accepted mutant "


def pair_obligations(rows: Sequence[PairRow], policy: GatePolicy) -> Iterator[Obligation]:
    """Readers are left out: they are findings already."""
    for at, row in enumerate(rows):
        if row.kind is PairKind.READER:
            continue
        if row.verdict is ProofVerdict.AGREES:
            yield from _agreeing(at, row, policy)
        elif row.verdict is ProofVerdict.DIFFERS:
            yield from _differing(at, row)
        else:
            yield _inconclusive(at, row)


def _inconclusive(at: int, row: PairRow) -> Obligation:
    is_late = row.reason == OUT_OF_TIME
    # A declaration that has lapsed is a fault of the spec: nothing about the code is unknown.
    is_stale = row.reason.startswith(_MUTANT)
    status = Status.ERROR if is_late else Status.FAIL if is_stale else Status.INCONCLUSIVE
    rule = "out-of-time" if is_late else "stale-declaration" if is_stale else "inconclusive"
    fix = MORE_TIME if is_late else row.next
    return Obligation(
        kind="pair", rule=rule, status=status, symbol=row.name, message=row.reason or "it could not be compared",
        next=fix, digest=digest_of(rule, row.old, row.new, row.reason if is_stale else ""), pair=at,
    )  # fmt: skip


def _agreeing(at: int, row: PairRow, policy: GatePolicy) -> Iterator[Obligation]:
    weak = [each for each in row.mutants.survivors if not each.why]
    killed, total = row.mutants.killed, row.mutants.total
    is_weak = total > 0 and killed * 100 < policy.power * total
    if is_weak:
        yield Obligation(
            kind="pair", rule="power", status=Status.FAIL, symbol=row.name, pair=at,
            message=f"{killed} of {total} slips were told apart, and {policy.power} of a hundred are asked for",
            next="name domains in a spec that make a slip show", digest=digest_of("power", row.old, row.new),
        )  # fmt: skip
    for each in weak:
        yield _survivor(at, row, each, policy)
    if not is_weak and not weak:
        declared = [delta for delta in row.deltas if delta.declared]
        words = f"old and new agree: {', '.join(amounts(row))}"
        words += f"; declared: {', '.join(sorted({delta.code for delta in declared}))}" if declared else ""
        yield Obligation(kind="pair", rule="", status=Status.PASS, symbol=row.name, message=words, pair=at)


def _survivor(at: int, row: PairRow, each: Survivor, policy: GatePolicy) -> Obligation:
    change = f"{each.before.strip()[:80]} to {each.after.strip()[:80] or 'nothing'}"
    return Obligation(
        kind="pair", rule="survivor", status=Status.FAIL if policy.survivors == "fail" else Status.WARN,
        symbol=row.name, path=each.path, line=each.line, pair=at,
        message=f"no run of it would have noticed a slip: {change}",
        next=f'name a domain that makes it show, or accept it in a spec: accepted = [{{ id = "{each.id}", why = … }}]',
        digest=digest_of("survivor", row.old, row.new, each.id),
    )  # fmt: skip


def _differing(at: int, row: PairRow) -> Iterator[Obligation]:
    """One for each code, with the gravest of its differences."""
    by_code: dict[str, list[DeltaRow]] = {}
    for delta in row.open:
        by_code.setdefault(delta.code, []).append(delta)
    for code, deltas in by_code.items():
        first = deltas[0]
        more = f" (and {len(deltas) - 1} more {code})" if len(deltas) > 1 else ""
        yield Obligation(
            kind="pair", rule=code, status=Status.FAIL, symbol=row.name, message=f"{first.message}{more}",
            path=first.path, line=first.line, world=first.world, next=row.next, pair=at,
            digest=digest_of(code, row.old, row.new, *sorted(delta.message for delta in deltas)),
        )  # fmt: skip
    if not by_code or row.reason:
        yield Obligation(
            kind="pair", rule="stale-declaration", status=Status.FAIL, symbol=row.name, pair=at,
            message=row.reason or "a declaration of the spec is out of date",
            next="bring the declarations of the spec up to date",
            digest=digest_of("stale-declaration", row.old, row.new, row.reason),
        )  # fmt: skip
