"""A judged commit as lines for people: a screen at most, what fails first, the smallest world of the gravest difference
with both lists of effects; the rest is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.report.gate_model import GatedCommit, GateReport, GateVerdict, Obligation, Status, ranked
from codemods.report.lines import Line, Span, Style, columns, line
from codemods.report.prove_effects import effect_lines
from codemods.report.verify_model import counted, share, short_name

_STYLES = {GateVerdict.PASS: Style.GOOD, GateVerdict.FAIL: Style.BAD, GateVerdict.UNCHECKED: Style.WARN}
_MARKS = {Status.FAIL: "fails", Status.ERROR: "not checked", Status.INCONCLUSIVE: "unknown", Status.WARN: "warns"}
_MOST_ROWS, _MOST_WARNINGS, _MOST_DECISIONS, _WIDEST = 12, 4, 6, 160
_EFFECT_LINES = 12


def commit_lines(commit: GatedCommit, *, width: int = 120) -> Iterator[Line]:
    name = short_name(commit.commit, 10)
    amount = f"{counted(commit.lines, 'line')}, {share(commit.certified, commit.lines)} certified"
    agree = [row for row in commit.pairs if row.verdict.value == "agrees"]
    yield line(
        Span(name, Style.CODE), "  ", Span(commit.verdict.value.ljust(9), _STYLES[commit.verdict]),
        amount if commit.checked else counted(len(commit.pairs), "pair"),
        f", {len(agree)} of {counted(len(commit.pairs), 'pair')} agree" if commit.pairs else "",
        Span("" if commit.is_held else ", not held to proof", Style.QUIET),
        Span(f"  {_cut(commit.subject, 70)}" if commit.subject else "", Style.TITLE),
    )  # fmt: skip
    loud = ranked(commit.of(Status.FAIL, Status.ERROR))
    # That a pair is unknown, its own line says; the ledger's line says that it counts.
    yield from _rows(loud, _MOST_ROWS)
    yield from _rows(ranked(commit.of(Status.WARN)), _MOST_WARNINGS)
    first = next((each for each in loud if each.world or each.pair >= 0), None)
    if first is not None:
        yield from _world(commit, first, width)
    if commit.verdict is not GateVerdict.PASS and loud and loud[0].next:
        yield line("  ", Span("next  ", Style.QUIET), loud[0].next)


def _rows(found: Sequence[Obligation], most: int) -> Iterator[Line]:
    style = {Status.FAIL: Style.BAD, Status.ERROR: Style.BAD}
    yield from columns(
        [
            (
                Span(_MARKS[each.status], style.get(each.status, Style.WARN)), Span(each.rule, Style.CODE),
                Span(_place(each), Style.PLACE), Span(_said(each)),
            )
            for each in found[:most]
        ],
        indent=2,
    )  # fmt: skip
    if len(found) > most:
        yield line("  ", Span(f"and {len(found) - most} more; --format json has all", Style.QUIET))


def _said(each: Obligation) -> str:
    about = "" if each.symbol in ("", each.path) or each.symbol in each.message else f"{each.symbol}: "
    why = f"  ({each.why})" if each.why else ""
    return f"{_cut(about + each.message, _WIDEST)}{why}"


def _place(each: Obligation) -> str:
    return (f"{each.path}:{each.line}" if each.line else each.path) or "-"


def _world(commit: GatedCommit, first: Obligation, width: int) -> Iterator[Line]:
    row = commit.pairs[first.pair] if 0 <= first.pair < len(commit.pairs) else None
    if not first.rule.startswith("D"):
        return
    yield line("  ", Span(f"the smallest world that shows {first.rule} in {first.symbol}", Style.TITLE))
    for words in first.world[:_MOST_DECISIONS] or ("every world",):
        yield line("    ", _cut(words, _WIDEST))
    if len(first.world) > _MOST_DECISIONS:
        yield line("    ", Span(f"and {len(first.world) - _MOST_DECISIONS} more", Style.QUIET))
    if row is not None and row.effects is not None:
        shown = list(effect_lines(row.effects, indent=4, width=width))
        yield from shown[:_EFFECT_LINES]
        if len(shown) > _EFFECT_LINES:
            yield line("    ", Span("...", Style.QUIET))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def totals_lines(report: GateReport) -> Iterator[Line]:
    """What it came to, and the next move."""
    totals = report.totals
    parts = [f"{totals.passed} pass"]
    parts += [f"{totals.failed} fail"] if totals.failed else []
    parts += [f"{totals.unchecked} not checked"] if totals.unchecked else []
    work = (
        [f"{counted(totals.lines, 'line')}, {share(totals.certified, totals.lines)} certified"] if totals.lines else []
    )
    if totals.pairs:
        work.append(f"{totals.agrees} of {counted(totals.pairs, 'pair')} agree")
    work += [f"slips told apart {totals.killed:,}/{totals.mutants:,}"] if totals.mutants else []
    work += [counted(totals.declared, "declared difference")] if totals.declared else []
    work += [counted(totals.warnings, "warning")] if totals.warnings else []
    yield line(
        Span(report.verdict.value, _STYLES[report.verdict]), f"  {report.target}: {', '.join(parts)}; ",
        f"{'; '.join(work)}; " if work else "", f"{totals.seconds:.1f} s",
    )  # fmt: skip
    if report.next:
        yield line(Span("next: ", Style.QUIET), report.next)


def report_lines(report: GateReport, *, width: int = 120) -> Iterator[Line]:
    for commit in report.commits:
        yield from commit_lines(commit, width=width)
    yield from totals_lines(report)
