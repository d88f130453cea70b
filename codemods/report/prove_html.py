"""Proved pairs as one page of HTML that needs nothing else: totals, a table of pairs, and for each that has not passed
its differences with their source, the smallest world, and both lists of effects in full. Runs no script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from codemods.report.prove_effects import NOTHING, all_effects
from codemods.report.prove_model import DeltaRow, PairRow, ProveReport, amounts, shown_number
from codemods.schema.prove import Effects, ProofVerdict

STYLE = """
:root { color-scheme: light dark; --bad: #c33; --good: #292; --warn: #a70; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td, th { border-bottom: 1px solid var(--line); padding: .2rem .5rem; text-align: left; vertical-align: top; }
code, .effects td { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.verdict { width: 8rem; } .line { width: 4rem; opacity: .6; text-align: right; }
.differs { color: var(--bad); } .agrees { color: var(--good); } .inconclusive { color: var(--warn); }
.equal { opacity: .6; } .first { background: #c332; } .other { background: #a702; }
section { border-top: 2px solid var(--line); margin-top: 2rem; }
"""
_ORDER = (ProofVerdict.DIFFERS, ProofVerdict.INCONCLUSIVE, ProofVerdict.AGREES)


def html_text(report: ProveReport) -> str:
    return "".join(_page(report))


def _page(report: ProveReport) -> Iterator[str]:
    totals = report.totals
    title = f"{totals.agrees} of {shown_number(totals.pairs, 'pair')} agree"
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>unmoved: {title}</title>\n'
    yield f"<style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n"
    if report.old or report.new:
        yield f"<p><code>{escape(report.old)}</code> to <code>{escape(report.new)}</code></p>\n"
    counted = ((totals.paths, "path"), (totals.faults, "single fault"), (totals.cases, "concrete case"))
    words = [f"{totals.differs} differ", f"{totals.inconclusive} inconclusive"]
    words += [shown_number(number, noun) for number, noun in counted]
    yield f"<p>{'; '.join([*words, f'mutants {totals.killed:,}/{totals.mutants:,}'])}.</p>\n"
    for each in report.unproved:
        lines = shown_number(each.lines, "changed line")
        yield f"<p>Left to read: {lines} that no pair runs, in <code>{escape(each.place)}</code>.</p>\n"
    rows = sorted(enumerate(report.pairs), key=lambda each: _ORDER.index(each[1].verdict))
    yield '<table><tr><th class="verdict">verdict</th><th>pair</th><th>how far</th></tr>\n'
    for number, row in rows:
        name = f'<a href="#pair{number}">{escape(row.name)}</a>' if has_details(row) else escape(row.name)
        kind = "" if row.kind.value == "callable" else f" ({row.kind.value})"
        yield f'<tr><td class="{row.verdict.value}">{row.verdict.value}</td><td><code>{name}</code>{kind}</td>'
        yield f"<td>{escape(', '.join(amounts(row)))}</td></tr>\n"
    yield "</table>\n"
    for number, row in rows:
        if has_details(row):
            yield from pair_details(number, row)
    yield f"<p>Next: {escape(report.next)}.</p>\n" if report.next else ""
    yield "</body></html>\n"


def has_details(row: PairRow) -> bool:
    return bool(row.reason or row.deltas or row.unreached or row.mutants.survivors)


def pair_details(number: int, row: PairRow) -> Iterator[str]:
    yield f'<section id="pair{number}"><h2><span class="{row.verdict.value}">{row.verdict.value}</span> '
    yield f"<code>{escape(row.name)}</code></h2>\n"
    yield f"<p>In <code>{escape(row.change)}</code>.</p>\n" if row.change else ""
    yield f"<p>{escape(row.reason)}</p>\n" if row.reason else ""
    yield from listed("", [_delta(delta) for delta in [*row.open, *(each for each in row.deltas if each.declared)]])
    if row.open and row.effects is not None:
        world = [f"<code>{escape(words)}</code>" for words in row.open[0].world] or ["every world"]
        yield from listed(f"The smallest world that shows {escape(row.open[0].code)}", world)
        yield from _effects(row.effects)
    yield from listed("Not reached", [f"<code>{escape(each)}</code>" for each in row.unreached])
    survivors = [
        f"<code>{escape(f'{each.path}:{each.line}  {each.before} to {each.after}')}</code> {escape(each.why)}"
        for each in row.mutants.survivors
    ]
    yield from listed("Slips that were put in and not told apart", survivors)
    yield f"<p>Next: {escape(row.next)}.</p>\n" if row.next else ""
    yield "</section>\n"


def listed(title: str, items: list[str]) -> Iterator[str]:
    if items:
        yield f"<h3>{title}</h3>\n" if title else ""
        yield "<ul>\n" + "".join(f"<li>{each}</li>\n" for each in items) + "</ul>\n"


def _delta(delta: DeltaRow) -> str:
    more = (" (where a call raises)" if delta.is_fault else "") + (" (declared)" if delta.declared else "")
    text = f"<b>{escape(delta.code)}</b> <code>{escape(delta.message)}</code>{more}"
    sides = (("old", delta.old_path, delta.old_line, delta.old_text), ("new", delta.path, delta.line, delta.text))
    for name, path, line, source in sides:
        if path:
            text += f"<br>{name} <code>{escape(f'{path}:{line}  {source.strip()}')}</code>"
    return text


def _effects(effects: Effects) -> Iterator[str]:
    yield "<h3>Effects</h3>\n"
    yield '<table class="effects"><tr><th class="line"></th><th>old</th><th class="line"></th><th>new</th></tr>\n'
    for row in all_effects(effects):
        kind = "equal" if row.is_equal else "first" if row.is_first else "other"
        yield f'<tr class="{kind}">'
        for cell in (row.old, row.new):
            text, line = cell or (NOTHING, 0)
            yield f'<td class="line">{line or ""}</td><td>{escape(text)}</td>'
        yield "</tr>\n"
    yield "</table>\n"
