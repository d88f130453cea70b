"""Proved pairs as Markdown for a pull request: what it came to, a table of pairs, then what has not passed.

Stays below MAX_CHARACTERS of markdown.py; what is left out is counted."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.report.markdown import as_code, as_text, within
from codemods.report.prove_effects import NOTHING, EffectRow, apart, shown_effects
from codemods.report.prove_model import DeltaRow, PairRow, ProveReport, ProveTotals, amounts, shown_number
from codemods.schema.prove import Effects, PairKind, ProofVerdict

_MOST_ROWS, _MOST_DELTAS, _MOST_DECISIONS, _MOST_SURVIVORS, _MOST_PLACES = 100, 10, 20, 10, 20
_LONGEST_CELL = 160
_ORDER = (ProofVerdict.DIFFERS, ProofVerdict.INCONCLUSIVE, ProofVerdict.AGREES)


def markdown_text(report: ProveReport) -> str:
    rows = sorted(report.pairs, key=lambda row: _ORDER.index(row.verdict))
    parts = (*_table(rows), *(part for row in rows for part in pair_details(row)))
    return within(_head(report), parts, report.next)


def _head(report: ProveReport) -> str:
    trees = f" ({as_code(report.old)} to {as_code(report.new)})" if report.old and report.new else ""
    text = f"**{_sentence(report.totals)}**{trees}.\n"
    totals = report.totals
    work = [shown_number(totals.paths, "path"), shown_number(totals.faults, "single fault")]
    work += [shown_number(totals.cases, "concrete case")] if totals.cases else []
    work += [f"{totals.killed:,} of {totals.mutants:,} mutants told apart"] if totals.mutants else []
    work += [shown_number(totals.declared, "declared difference")] if totals.declared else []
    if totals.pairs:
        text += f"Both sides ran in one controlled world each time: {', '.join(work)}.\n"
    if report.unproved:
        places = ", ".join(as_code(each.place) for each in report.unproved[:_MOST_PLACES])
        more = f" and {len(report.unproved) - _MOST_PLACES} more" if len(report.unproved) > _MOST_PLACES else ""
        lines = shown_number(sum(each.lines for each in report.unproved), "changed line")
        text += f"Left to read: {lines} that no pair runs, in {places}{more}.\n"
    return text


def _sentence(totals: ProveTotals) -> str:
    if not totals.pairs:
        return "Nothing was proved"
    if totals.agrees == totals.pairs:
        return f"{shown_number(totals.pairs, 'pair')}: old and new agree"
    parts = [f"{totals.differs} differ"] if totals.differs else []
    parts += [f"{totals.inconclusive} inconclusive"] if totals.inconclusive else []
    return f"{totals.agrees} of {shown_number(totals.pairs, 'pair')} agree, {', '.join(parts)}"


def _table(rows: list[PairRow]) -> Iterator[str]:
    if rows:
        yield "\n| verdict | pair | how far |\n|---|---|---|\n"
    for row in rows[:_MOST_ROWS]:
        name = as_code(row.new) if row.old == row.new else f"{as_code(row.old)} → {as_code(row.new)}"
        kind = "" if row.kind.value == "callable" else f" ({row.kind.value})"
        verdict = row.verdict.value if row.verdict is ProofVerdict.AGREES else f"**{row.verdict.value}**"
        yield f"| {verdict} | {name}{kind} | {', '.join(amounts(row))} |\n"
    if len(rows) > _MOST_ROWS:
        yield f"| … | {len(rows) - _MOST_ROWS} more | |\n"


def pair_details(row: PairRow) -> Iterator[str]:
    """Of a pair that agrees, only what somebody may want to look at."""
    declared = [delta for delta in row.deltas if delta.declared]
    survivors = [each for each in row.mutants.survivors if not each.why]
    is_plain = row.verdict is ProofVerdict.AGREES
    if is_plain and not (declared or survivors):
        return
    yield f"\n### {row.verdict.value}: {as_code(row.new)}\n\n"
    if row.change:
        yield f"In {as_code(row.change)}.\n\n"
    if row.reason:
        yield f"{as_text(row.reason)}\n"
    for delta in row.open[:_MOST_DELTAS]:
        yield _delta(delta)
    yield from _more(len(row.open) - _MOST_DELTAS, "differences")
    for delta in declared[:_MOST_DELTAS]:
        yield f"- {delta.code} {_place(delta.path, delta.line)} declared: {as_text(delta.message)}\n"
    yield from _more(len(declared) - _MOST_DELTAS, "declared differences")
    if row.verdict is ProofVerdict.DIFFERS:
        yield from _world(row)
    for each in survivors[:_MOST_SURVIVORS]:
        yield f"- survived: {_place(each.path, each.line)} {as_code(each.before)} to {as_code(each.after)}\n"
    yield from _more(len(survivors) - _MOST_SURVIVORS, "surviving mutants")
    if row.next:
        yield f"\nNext: {row.next}.\n"


def _delta(delta: DeltaRow) -> str:
    fault = " (where a call raises)" if delta.is_fault else ""
    text = f"- **{delta.code}** {_place(delta.path, delta.line)} {as_text(delta.message)}{fault}\n"
    sides = (("old", delta.old_path, delta.old_line, delta.old_text), ("new", delta.path, delta.line, delta.text))
    for name, path, line, source in sides:
        if source.strip():
            text += f"  - {name} {_place(path, line)} {as_code(source.strip()[:_LONGEST_CELL])}\n"
    return text


def _world(row: PairRow) -> Iterator[str]:
    first = next((delta for delta in row.deltas if not delta.declared), None)
    if first is None or row.kind is PairKind.READER:
        return
    shown = [as_text(words) for words in first.world[:_MOST_DECISIONS]] or ["in every world"]
    more = f", and {len(first.world) - _MOST_DECISIONS} more" if len(first.world) > _MOST_DECISIONS else ""
    yield f"\nThe smallest world that shows {first.code}: {'; '.join(shown)}{more}.\n"
    if row.effects is not None:
        yield from _effects(row.effects)


def _effects(effects: Effects) -> Iterator[str]:
    """Folded, since it is long; the first difference in bold."""
    shown = shown_effects(effects)
    yield "\n<details><summary>effects side by side</summary>\n\n| | old | new |\n|---|---|---|\n"
    if shown.above:
        yield f"| | {shown_number(shown.above, 'effect')} before, alike | |\n"
    for effect in shown.rows:
        cells = _cells(effect)
        if effect.is_first:
            cells = [f"**{cell}**" for cell in cells]
        yield f"| {'➤' if effect.is_first else ''} | {cells[0]} | {cells[1]} |\n"
    if shown.below:
        yield f"| | {shown_number(shown.below, 'effect')} more | |\n"
    yield "\n</details>\n"


def _cells(effect: EffectRow) -> list[str]:
    if effect.old is None or effect.new is None or effect.is_equal:
        return [NOTHING if cell is None else _cell(*cell) for cell in (effect.old, effect.new)]
    texts = apart(effect.old[0], effect.new[0], _LONGEST_CELL)
    return [_cell(texts[0], effect.old[1]), _cell(texts[1], effect.new[1])]


def _cell(text: str, line: int) -> str:
    short = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
    return f"{as_code(short)}{f' :{line}' if line else ''}"


def _place(path: str, line: int) -> str:
    return as_code(f"{path}:{line}" if line else path) if path else ""


def _more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield f"- and {number} more {noun}\n"
