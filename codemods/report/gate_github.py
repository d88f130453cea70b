"""A gate as annotations of GitHub Actions, which shows 10 errors and 10 warnings of a step: each commit's gravest
failure before anybody's second; the rest is counted in a notice, and stands in the step summary."""

from __future__ import annotations

from collections.abc import Sequence

from codemods.report.gate_model import GatedCommit, GateReport, Obligation, Status, ranked
from codemods.report.github import MAX_OF_A_LEVEL, annotation
from codemods.report.verify_model import share, short_name

_MOST_DECISIONS = 8


def github_text(report: GateReport) -> str:
    # That a pair is unknown, the ledger's obligation says with what it comes to.
    errors = _by_turns(report.commits, Status.FAIL, Status.ERROR)
    warnings = _by_turns(report.commits, Status.WARN)
    parts = [_annotation("error", *each) for each in errors[:MAX_OF_A_LEVEL]]
    parts += [_annotation("warning", *each) for each in warnings[:MAX_OF_A_LEVEL]]
    left = max(len(errors) - MAX_OF_A_LEVEL, 0) + max(len(warnings) - MAX_OF_A_LEVEL, 0)
    more = f"; {left} more annotations are in the step summary" if left else ""
    totals = report.totals
    words = (
        f"{totals.passed} of {totals.commits} commits pass; {share(totals.certified, totals.lines)} certified; "
        f"{totals.agrees} of {totals.pairs} pairs agree{more}"
    )
    return "".join([*parts, annotation("notice", "", 0, f"unmoved gate: {report.verdict.value}", [words])])


def _by_turns(commits: Sequence[GatedCommit], *statuses: Status) -> list[tuple[GatedCommit, Obligation]]:
    found = [
        (turn, number, commit, each)
        for number, commit in enumerate(commits)
        for turn, each in enumerate(ranked(commit.of(*statuses)))
    ]
    return [(commit, each) for _, _, commit, each in sorted(found, key=lambda one: one[:2])]


def _annotation(level: str, commit: GatedCommit, each: Obligation) -> str:
    words = [each.message]
    if each.world:
        more = f" (and {len(each.world) - _MOST_DECISIONS} more)" if len(each.world) > _MOST_DECISIONS else ""
        words.append(f"when {'; '.join(each.world[:_MOST_DECISIONS])}{more}")
    words.append(f"in {short_name(commit.commit)} {commit.subject}"[:120].rstrip())
    words += [f"reason: {each.why}"] if each.why else []
    words += [f"next: {each.next}"] if each.next else []
    return annotation(level, each.path, each.line, f"{each.rule} {each.symbol}".strip(), words)
