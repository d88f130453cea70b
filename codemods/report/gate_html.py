"""A gate as one page of HTML that needs nothing else and runs no script: obligations, the ledger over the diff, the
paths that show a difference as a tree, effects side by side, branches not reached, slips that were not told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from codemods.report.gate_model import GatedCommit, GateReport, Obligation, Status, ranked
from codemods.report.prove_html import STYLE, has_details, pair_details
from codemods.report.prove_model import PairRow, amounts
from codemods.report.verify_model import counted, share, short_name

_MORE_STYLE = """
.fail, .error { color: var(--bad); } .pass { color: var(--good); } .warn, .unchecked { color: var(--warn); }
.exempt { opacity: .6; } .diff td { padding: 0 .4rem; border: 0; } .diff .old { background: #c331; }
.diff .new { background: #2921; } .diff .why { width: 24rem; opacity: .8; } .residue { outline: 1px solid var(--warn); }
details { margin: .5rem 0; } ul.tree { list-style: none; border-left: 1px solid var(--line); padding-left: 1rem; }
"""
_ORDER = (Status.FAIL, Status.ERROR, Status.INCONCLUSIVE, Status.WARN, Status.PASS, Status.EXEMPT)
_MOST_OBLIGATIONS, _MOST_WORLDS = 500, 40
_SIGNS = {"old": "-", "new": "+", "same": " "}


class DiffRow(NamedTuple):
    """side: old, new, same, or gap. kind: of the operation that certifies it; why: what stands in the way of that."""

    side: str
    line: int
    text: str
    kind: str
    why: str
    function: str


class DiffFile(NamedTuple):
    path: str
    rows: Sequence[DiffRow]
    is_cut: bool = False


Diff = Callable[[GatedCommit], Sequence[DiffFile]]


def html_text(report: GateReport, diff: Diff) -> str:
    return "".join(_page(report, diff))


def _page(report: GateReport, diff: Diff) -> Iterator[str]:
    totals = report.totals
    title = f"{report.target}: {report.verdict.value}"
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>unmoved gate: {escape(title)}</title>\n'
    yield f"<style>{STYLE}{_MORE_STYLE}</style></head><body>\n"
    yield f'<h1 class="{report.verdict.value}">{escape(title)}</h1>\n'
    yield f"<p>{totals.passed} of {counted(totals.commits, 'commit')} pass; {counted(totals.lines, 'line')}, "
    yield f"{share(totals.certified, totals.lines)} certified; "
    yield f"{totals.agrees} of {counted(totals.pairs, 'pair')} agree; "
    yield f"slips told apart {totals.killed:,}/{totals.mutants:,}.</p>\n"
    yield '<table><tr><th class="verdict">verdict</th><th>commit</th><th>lines</th><th>pairs</th></tr>\n'
    for at, commit in enumerate(report.commits):
        agree = sum(row.verdict.value == "agrees" for row in commit.pairs)
        held = "" if commit.is_held else ", not held to proof"
        yield f'<tr><td class="{commit.verdict.value}">{commit.verdict.value}{held}</td>'
        yield f'<td><a href="#commit{at}"><code>{escape(short_name(commit.commit))}</code></a>'
        yield f" {escape(commit.subject)}</td><td>{commit.certified:,} of {commit.lines:,} certified</td>"
        yield f"<td>{agree} of {len(commit.pairs)} agree</td></tr>\n"
    yield "</table>\n"
    first = 0
    for at, commit in enumerate(report.commits):
        yield from _commit(at, commit, first, diff(commit))
        first += len(commit.pairs)
    yield f"<p>Next: {escape(report.next)}.</p>\n" if report.next else ""
    yield "</body></html>\n"


def _commit(at: int, commit: GatedCommit, first: int, files: Sequence[DiffFile]) -> Iterator[str]:
    yield f'<section id="commit{at}"><h2><span class="{commit.verdict.value}">{commit.verdict.value}</span> '
    yield f"<code>{escape(commit.commit)}</code> {escape(commit.subject)}</h2>\n"
    yield f"<p>It says: <q>{escape(commit.claim)}</q></p>\n" if commit.claim else ""
    found = [each for status in _ORDER for each in ranked(commit.of(status))]
    yield '<table><tr><th class="verdict">status</th><th class="verdict">rule</th><th>what</th></tr>\n'
    for each in found[:_MOST_OBLIGATIONS]:
        yield _obligation(each, first)
    yield "</table>\n"
    if len(found) > _MOST_OBLIGATIONS:
        yield f"<p>and {len(found) - _MOST_OBLIGATIONS} more</p>\n"
    if files:
        yield from _diff(commit, files)
    if commit.pairs:
        yield from _pairs(commit, first)
    yield "</section>\n"


def _obligation(each: Obligation, first: int) -> str:
    place = f"<code>{escape(f'{each.path}:{each.line}' if each.line else each.path)}</code> " if each.path else ""
    symbol = f"<code>{escape(each.symbol)}</code> " if each.symbol and each.symbol != each.path else ""
    link = f' <a href="#pair{first + each.pair}">pair</a>' if each.pair >= 0 else ""
    why = f"<br><i>{escape(each.why)}</i>" if each.why else ""
    following = f"<br>Next: {escape(each.next)}" if each.next and each.status is not Status.PASS else ""
    return (
        f'<tr><td class="{each.status.value}">{each.status.value}</td><td>{escape(each.rule or each.kind)}</td>'
        f"<td>{place}{symbol}{escape(each.message)}{link}{why}{following}</td></tr>\n"
    )


def _diff(commit: GatedCommit, files: Sequence[DiffFile]) -> Iterator[str]:
    yield f"<h3>The ledger: {share(commit.certified, commit.lines)} of {counted(commit.lines, 'line')} certified</h3>\n"
    for file in files:
        left = sum(bool(row.why) for row in file.rows)
        is_open = " open" if left else ""
        yield f"<details{is_open}><summary><code>{escape(file.path)}</code> {counted(left, 'line')} left</summary>\n"
        yield '<table class="diff effects">\n'
        for row in file.rows:
            yield _diff_row(row)
        yield "</table></details>\n"
        yield "<p>The rest of the diff is left out.</p>\n" if file.is_cut else ""


def _diff_row(row: DiffRow) -> str:
    if row.side == "gap":
        return '<tr><td class="line">⋯</td><td></td><td class="why"></td></tr>\n'
    said = row.why or row.kind
    about = f" in {row.function}" if row.why and row.function else ""
    residue = " residue" if row.why else ""
    text = f"{_SIGNS[row.side]} {row.text}"
    return (
        f'<tr class="{row.side}{residue}"><td class="line">{row.line}</td><td>{escape(text)}</td>'
        f'<td class="why">{escape(f"{said}{about}")}</td></tr>\n'
    )


def _pairs(commit: GatedCommit, first: int) -> Iterator[str]:
    yield "<h3>Old and new, run as twins</h3>\n"
    yield '<table><tr><th class="verdict">verdict</th><th>pair</th><th>how far</th></tr>\n'
    for at, row in enumerate(commit.pairs, first):
        name = f'<a href="#pair{at}">{escape(row.name)}</a>' if has_details(row) else escape(row.name)
        yield f'<tr><td class="{row.verdict.value}">{row.verdict.value}</td><td><code>{name}</code></td>'
        yield f"<td>{escape(', '.join(amounts(row)))}</td></tr>\n"
    yield "</table>\n"
    for at, row in enumerate(commit.pairs, first):
        if has_details(row):
            yield from pair_details(at, row)
            yield from _path_tree(row)


Node = dict[str, "Node"]


def _path_tree(row: PairRow) -> Iterator[str]:
    """The worlds that show differences, what they decide alike said once."""
    worlds = [(*delta.world, f"{delta.code}: {delta.message}") for delta in row.open if delta.world][:_MOST_WORLDS]
    if len(worlds) < 2:
        return
    tree: Node = {}
    for world in worlds:
        node = tree
        for words in world:
            node = node.setdefault(words, {})
    yield "<h3>The paths that differ</h3>\n"
    yield from _branches(tree)


def _branches(tree: Node) -> Iterator[str]:
    yield '<ul class="tree">\n'
    for words, below in tree.items():
        yield f"<li><code>{escape(words)}</code>"
        if below:
            yield from _branches(below)
        yield "</li>\n"
    yield "</ul>\n"
