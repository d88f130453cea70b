"""Proved pairs as annotations of GitHub Actions, which shows 10 errors and 10 warnings of a step: each pair's gravest
difference before anybody's second, what is inconclusive as warnings, and the rest counted in a notice."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.report.github import MAX_OF_A_LEVEL, annotation
from codemods.report.prove_model import DeltaRow, PairRow, ProveReport
from codemods.schema.prove import ProofVerdict

_MOST_DECISIONS = 8


def github_lines(report: ProveReport) -> Iterator[str]:
    errors, warnings = _errors(report), [row for row in report.pairs if row.verdict is ProofVerdict.INCONCLUSIVE]
    for row, delta in errors[:MAX_OF_A_LEVEL]:
        yield _error(row, delta)
    for row in warnings[:MAX_OF_A_LEVEL]:
        words = [row.reason or "inconclusive", f"next: {row.next}"]
        yield annotation("warning", "", 0, f"{row.name} is inconclusive", words)
    left = max(len(errors) - MAX_OF_A_LEVEL, 0) + max(len(warnings) - MAX_OF_A_LEVEL, 0)
    more = f"; {left} more annotations are left out" if left else ""
    totals = report.totals
    yield (
        f"::notice title=unmoved prove::{totals.agrees} of {totals.pairs} pairs agree, {totals.differs} differ, "
        f"{totals.inconclusive} inconclusive; {totals.paths:,} paths, {totals.faults:,} faults, "
        f"mutants {totals.killed:,}/{totals.mutants:,}{more}\n"
    )


def _errors(report: ProveReport) -> list[tuple[PairRow, DeltaRow | None]]:
    """None: a pair that differs from what its spec declares, at no place."""
    found: list[tuple[int, int, PairRow, DeltaRow | None]] = []
    for number, row in enumerate(report.pairs):
        if row.verdict is not ProofVerdict.DIFFERS:
            continue
        found += [(rank, number, row, delta) for rank, delta in enumerate(row.open)] or [(0, number, row, None)]
    return [(row, delta) for _, _, row, delta in sorted(found, key=lambda each: each[:2])]


def _error(row: PairRow, delta: DeltaRow | None) -> str:
    if delta is None:
        return annotation("error", "", 0, f"{row.name}: stale", [row.reason, f"next: {row.next}"])
    words = [delta.message]
    if delta.world:
        more = f" (and {len(delta.world) - _MOST_DECISIONS} more)" if len(delta.world) > _MOST_DECISIONS else ""
        words.append(f"when {'; '.join(delta.world[:_MOST_DECISIONS])}{more}")
    if delta.old_path:
        words.append(f"old: {delta.old_path}:{delta.old_line} {delta.old_text.strip()}")
    words.append(f"next: {row.next}")
    return annotation("error", delta.path, delta.line, f"{delta.code} {row.name}", words)
