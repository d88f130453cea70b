"""A checked commit as lines for people: at most SCREEN of them, the most important first and the rest counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.report.lines import Line, Span, Style, columns, line
from codemods.report.verify_model import (
    CheckedCommit,
    FindingRow,
    Group,
    VerifyTotals,
    by_function,
    counted,
    next_move,
    share,
    short_name,
)
from codemods.schema.verdict import Verdict

SCREEN = 40
_MAX_OPERATIONS, _MAX_GROUPS, _MAX_FINDINGS = 9, 12, 10
_WIDEST = 100
_STYLES = {Verdict.MECHANICAL: Style.GOOD, Verdict.MIXED: Style.WARN, Verdict.OTHER: Style.BAD}


def commit_lines(commit: CheckedCommit) -> Iterator[Line]:
    """Verdict, operations, residue by function, findings."""
    name = short_name(commit.commit, 10)
    left = commit.lines - commit.certified
    amount = f"{counted(commit.lines, 'line')}: {share(commit.certified, commit.lines)} certified"
    yield line(
        Span(name, Style.CODE), "  ", Span(commit.verdict.value, _STYLES[commit.verdict]), "  ",
        amount if commit.lines else "no changed lines", f", {left} left" if left else "",
        Span(f"  {_cut(commit.subject, 70)}" if commit.subject else "", Style.TITLE),
    )  # fmt: skip
    if len(commit.parents) > 1:
        yield line("  ", Span(f"a merge, checked against each of its {len(commit.parents)} parents", Style.QUIET))
    yield from _operations(commit)
    groups = by_function(commit.residue)
    if groups:
        yield line("  ", Span("residue", Style.TITLE))
        yield from columns([_group(group) for group in groups[:_MAX_GROUPS]], indent=4)
        yield from _more(len(groups) - _MAX_GROUPS, sum(group.lines for group in groups[_MAX_GROUPS:]), "place")
    if commit.findings:
        yield line("  ", Span("findings", Style.BAD))
        yield from columns([_finding(finding) for finding in commit.findings[:_MAX_FINDINGS]], indent=4)
        yield from _more(len(commit.findings) - _MAX_FINDINGS, 0, "finding")


def _operations(commit: CheckedCommit) -> Iterator[Line]:
    rows = commit.operations
    if rows:
        yield line("  ", Span("operations", Style.TITLE))
    shown = [(Span(row.kind), Span(f"{row.count}×", Style.QUIET), Span(counted(row.lines, "line"))) for row in rows]
    yield from columns(shown[:_MAX_OPERATIONS], indent=4)
    yield from _more(len(rows) - _MAX_OPERATIONS, sum(row.lines for row in rows[_MAX_OPERATIONS:]), "kind")


def _more(number: int, lines: int, noun: str) -> Iterator[Line]:
    if number > 0:
        of_lines = f", {counted(lines, 'line')}" if lines else ""
        yield line("    ", Span(f"and {counted(number, f'more {noun}')}{of_lines}; --format json has all", Style.QUIET))


def _group(group: Group) -> Sequence[Span]:
    side = "" if group.side == "new" else " (old)"
    why = _cut(group.why[0], _WIDEST) + (f" and {len(group.why) - 1} more" if len(group.why) > 1 else "")
    place = Span(f"{group.path}:{group.line}{side}", Style.PLACE)
    return (Span(counted(group.lines, "line")), place, Span(group.function or "-"), Span(why, Style.QUIET))


def _finding(finding: FindingRow) -> Sequence[Span]:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return (Span(finding.code, Style.CODE), Span(place or "-", Style.PLACE), Span(_cut(finding.message, 2 * _WIDEST)))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def totals_lines(totals: VerifyTotals) -> Iterator[Line]:
    """What it came to, and the next move."""
    style = Style.GOOD if totals.passed == totals.commits else Style.WARN
    parts = [f"{totals.mechanical} mechanical", f"{totals.mixed} mixed", f"{totals.other} other"]
    yield line(
        Span(counted(totals.commits, "commit"), style), f": {', '.join(parts)}; ",
        f"{counted(totals.lines, 'line')}, {share(totals.certified, totals.lines)} certified; "
        if totals.lines else "no changed lines; ", counted(totals.findings, "finding"),
    )  # fmt: skip
    if move := next_move(totals):
        yield line(Span("next: ", Style.QUIET), move)
