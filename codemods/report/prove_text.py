"""Proved pairs as lines for people: one line a pair, and below it what a pair that has not passed needs. Long lists are
cut and counted; the JSON has all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.report.lines import Line, Span, Style, columns, line, paragraphs
from codemods.report.prove_effects import apart, effect_lines
from codemods.report.prove_model import (
    DeltaRow,
    PairRow,
    ProveReport,
    ProveTotals,
    Unproved,
    amounts,
    next_move,
    shown_number,
)
from codemods.schema.prove import PairKind, ProofVerdict, Survivor

_STYLES = {ProofVerdict.AGREES: Style.GOOD, ProofVerdict.DIFFERS: Style.BAD, ProofVerdict.INCONCLUSIVE: Style.WARN}
_MOST_DELTAS, _MOST_DECISIONS, _MOST_PLACES, _MOST_SURVIVORS = 10, 16, 8, 8
_LONGEST = 200
_ARROW = "  ->  "
_LABEL = len(ProofVerdict.INCONCLUSIVE.value) + 2


def pair_lines(row: PairRow, *, width: int = 120) -> Iterator[Line]:
    """width: what the effects side by side must fit."""
    yield line(
        Span(row.verdict.value.ljust(_LABEL), _STYLES[row.verdict]), Span(row.name, Style.TITLE),
        Span("" if row.kind.value == "callable" else f"  {row.kind.value}", Style.CODE),
        Span(f"  {', '.join(amounts(row))}", Style.QUIET),
        Span(f"  ({row.change[:40]})" if row.change else "", Style.QUIET),
    )  # fmt: skip
    if row.reason:
        yield from paragraphs(row.reason, indent=2)
    yield from _deltas(row)
    if row.verdict is ProofVerdict.DIFFERS:
        yield from _world(row)
        if row.effects is not None:
            yield line("  ", Span("effects", Style.TITLE))
            yield from effect_lines(row.effects, indent=4, width=width)
    yield from _unreached(row.unreached)
    yield from _survivors(row.mutants.survivors)
    if row.test_file:
        yield line("  ", Span("test  ", Style.TITLE), Span(row.test_file, Style.PLACE), "  fails until it is mended")
    if row.next:
        yield line("  ", Span("next  ", Style.QUIET), row.next)


def _deltas(row: PairRow) -> Iterator[Line]:
    """The open ones with their source, then the declared ones, a line each."""
    shown = row.open
    room = max((len(delta.code) for delta in row.deltas), default=0) + 2
    for delta in shown[:_MOST_DELTAS]:
        yield from _delta(delta, room)
    yield from _more(len(shown) - _MOST_DELTAS, "difference")
    declared = [delta for delta in row.deltas if delta.declared]
    for delta in declared[:_MOST_DELTAS]:
        yield line(
            "  ", Span(delta.code.ljust(room), Style.CODE), Span(f"{_place(delta.path, delta.line)}  ", Style.PLACE),
            Span(f"declared: {_told(delta.message)}", Style.QUIET),
        )  # fmt: skip
    yield from _more(len(declared) - _MOST_DELTAS, "declared difference")


def _delta(delta: DeltaRow, room: int) -> Iterator[Line]:
    fault = "  (where a call raises)" if delta.is_fault else ""
    yield line(
        "  ", Span(delta.code.ljust(room), Style.CODE), Span(f"{_place(delta.path, delta.line)}  ", Style.PLACE),
        _told(delta.message), Span(fault, Style.QUIET),
    )  # fmt: skip
    sides = (("old", delta.old_path, delta.old_line, delta.old_text), ("new", delta.path, delta.line, delta.text))
    rows = [
        (Span(name, Style.QUIET), Span(_place(path, number), Style.PLACE), Span(_cut(text.strip())))
        for name, path, number, text in sides
        if text.strip()
    ]
    yield from columns(rows, indent=6)


def _world(row: PairRow) -> Iterator[Line]:
    """Of the gravest difference that has one: it is the one whose effects follow."""
    first = next((delta for delta in row.deltas if not delta.declared), None)
    if first is None or row.kind is PairKind.READER:
        return
    yield line("  ", Span(f"the smallest world that shows {first.code}", Style.TITLE))
    for words in first.world[:_MOST_DECISIONS] or ("every world",):
        yield line("    ", _cut(words))
    yield from _more(len(first.world) - _MOST_DECISIONS, "decision", indent=4)


def _unreached(places: Sequence[str]) -> Iterator[Line]:
    if places:
        more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
        named = ", ".join(places[:_MOST_PLACES])
        yield line("  ", Span("not reached  ", Style.WARN), Span(named, Style.PLACE), more)


def _survivors(survivors: Sequence[Survivor]) -> Iterator[Line]:
    """Those without a reason; the others have been looked at."""
    found = [each for each in survivors if not each.why]
    for each in found[:_MOST_SURVIVORS]:
        change = f"{_cut(each.before.strip(), 60)} to {_cut(each.after.strip(), 60) or 'nothing'}"
        yield line(
            "  ", Span("survived  ", Style.WARN), Span(f"{_place(each.path, each.line)}  ", Style.PLACE), change,
            Span(f"  {each.id}", Style.QUIET),
        )  # fmt: skip
    yield from _more(len(found) - _MOST_SURVIVORS, "mutant")


def _more(number: int, noun: str, *, indent: int = 2) -> Iterator[Line]:
    if number > 0:
        noun = f"more {noun}{'' if number == 1 else 's'}"
        yield line(" " * indent, Span(f"and {number:,} {noun}; --format json has all", Style.QUIET))


def _place(path: str, number: int) -> str:
    return (f"{path}:{number}" if number else path) or "-"


def _told(message: str) -> str:
    """`old  ->  new`, cut so that what differs is seen."""
    old, arrow, new = message.partition(_ARROW)
    if not arrow:
        return _cut(message)
    old, new = apart(old, new, _LONGEST // 2)
    return f"{_cut(old, _LONGEST)}{arrow}{_cut(new, _LONGEST)}"


def _cut(text: str, width: int = _LONGEST) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def totals_lines(
    totals: ProveTotals, unproved: Sequence[Unproved] = (), rows: Sequence[PairRow] = ()
) -> Iterator[Line]:
    """What it came to, and the next move. rows: the pairs, for what is said of all of them at once."""
    is_passed = totals.pairs > 0 and totals.agrees == totals.pairs
    parts = [f"{totals.agrees} agree" + (f" ({totals.exhaustive} exhaustively)" if totals.exhaustive else "")]
    parts += [f"{totals.differs} differ"] if totals.differs else []
    parts += [f"{totals.inconclusive} inconclusive"] if totals.inconclusive else []
    counted = ((totals.paths, "path"), (totals.faults, "fault"), (totals.cases, "case"))
    work = [shown_number(number, noun) for number, noun in counted if number]
    work += [f"mutants {totals.killed:,}/{totals.mutants:,}"] if totals.mutants else []
    work += [shown_number(totals.declared, "declared difference")] if totals.declared else []
    yield line(
        Span(shown_number(totals.pairs, "pair"), Style.GOOD if is_passed else Style.WARN),
        f": {', '.join(parts)}" if totals.pairs else "", f"; {', '.join(work)}" if work else "",
    )  # fmt: skip
    if unproved:
        lines = sum(each.lines for each in unproved)
        paths = ", ".join(dict.fromkeys(each.place for each in unproved[:_MOST_PLACES]))
        yield line(
            Span("left to read: ", Style.WARN), f"{shown_number(lines, 'changed line')} that no pair runs, in ",
            Span(paths + (", ..." if len(unproved) > _MOST_PLACES else ""), Style.PLACE),
        )  # fmt: skip
    lacks = dict.fromkeys(each for row in rows for each in row.lacks)
    if lacks:
        yield line(
            Span("note: ", Style.WARN), f"this system lacks {' and '.join(lacks)}: the code was confined by the rest"
        )
    if move := next_move(totals, unproved):
        yield line(Span("next: ", Style.QUIET), move)


def report_lines(report: ProveReport, *, width: int = 120) -> Iterator[Line]:
    """All pairs, then what it came to."""
    for row in report.pairs:
        yield from pair_lines(row, width=width)
    yield from totals_lines(report.totals, report.unproved, report.pairs)
