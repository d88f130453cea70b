"""A gate as Markdown for a pull request: what it came to in a sentence, the steps, key files and symbols, what was
proved and how, declared differences, risks that remain, what is left for a person. From evidence alone.

Stays below MAX_CHARACTERS of markdown.py; what is left out is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from codemods.report.gate_model import GateReport, GateVerdict, Obligation, Status, ranked
from codemods.report.markdown import as_code, as_text, within
from codemods.report.prove_markdown import pair_details
from codemods.report.prove_model import PairRow, Unproved, shown_number
from codemods.report.verify_model import counted, share, short_name
from codemods.schema.prove import ProofVerdict

_MOST_STEPS, _MOST_FAILURES, _MOST_FILES, _MOST_PAIRS, _MOST_SYMBOLS = 60, 30, 15, 60, 5
_WORDS = {GateVerdict.PASS: "passes", GateVerdict.FAIL: "does not pass", GateVerdict.UNCHECKED: "could not be checked"}


def markdown_text(report: GateReport) -> str:
    return within("", _parts(report), as_text(report.next))


def _parts(report: GateReport) -> Iterator[str]:
    yield f"## unmoved: {as_code(report.target)} {_WORDS[report.verdict]}\n\n{_sentence(report)}\n"
    yield from _failures(report)
    yield from _steps(report)
    yield from _files(report)
    yield from _proved(report)
    yield from _declared(report)
    yield from _risks(report)
    yield from _left(report)
    for commit in report.commits:
        for row in commit.pairs:
            if row.verdict is ProofVerdict.DIFFERS:
                yield from pair_details(row)


def _sentence(report: GateReport) -> str:
    totals = report.totals
    text = f"{counted(totals.commits, 'step')}, {counted(totals.lines, 'changed line')}: "
    text += f"{share(totals.certified, totals.lines)} certified by replaying the operations that made them"
    if totals.pairs:
        text += f"; {totals.agrees} of {shown_number(totals.pairs, 'pair')} of old and new code agree"
    held = totals.commits - totals.held
    return text + (f"; {counted(held, 'step')} not held to proof" if held else "") + "."


def _failures(report: GateReport) -> Iterator[str]:
    rows = [(commit, each) for commit in report.commits for each in ranked(commit.of(Status.FAIL, Status.ERROR))]
    if rows:
        yield "\n### What fails\n\n"
    for commit, each in rows[:_MOST_FAILURES]:
        world = f"; when {as_text('; '.join(each.world[:4]))}" if each.world else ""
        about = f"{as_code(each.symbol)} " if each.symbol and each.symbol != each.path else ""
        yield f"- **{as_text(each.rule)}** {_place(each)} {about}{as_text(each.message)}{world}"
        yield f" ({as_code(short_name(commit.commit, 10))})\n"
    yield from _more(len(rows) - _MOST_FAILURES, "failures")


def _steps(report: GateReport) -> Iterator[str]:
    yield "\n### Steps\n\n| step | verdict | lines | certified | pairs | subject |\n|---|---|---:|---:|---:|---|\n"
    for commit in report.commits[:_MOST_STEPS]:
        agree = sum(row.verdict is ProofVerdict.AGREES for row in commit.pairs)
        lines = (f"{commit.lines:,}", share(commit.certified, commit.lines)) if commit.checked else ("", "")
        held = "" if commit.is_held else " (not held)"
        yield (
            f"| {as_code(short_name(commit.commit, 10))} | {commit.verdict.value}{held} | {lines[0]} | {lines[1]} "
            f"| {f'{agree}/{len(commit.pairs)}' if commit.pairs else ''} | {as_text(commit.subject)} |\n"
        )
    yield from _more(len(report.commits) - _MOST_STEPS, "steps")


def _files(report: GateReport) -> Iterator[str]:
    """By the lines that nothing certifies, with the functions that they are in."""
    weights: Counter[str] = Counter()
    symbols: dict[str, Counter[str]] = {}
    for row in (row for commit in report.commits if commit.checked for row in commit.checked.residue):
        weights[row.path] += row.lines
        if row.function:
            symbols.setdefault(row.path, Counter())[row.function] += row.lines
    if weights:
        yield "\n### Key files and symbols\n\n"
    for path, lines in weights.most_common(_MOST_FILES):
        names = [as_code(name) for name, _ in symbols.get(path, Counter()).most_common(_MOST_SYMBOLS)]
        about = f": {', '.join(names)}" if names else ""
        yield f"- {as_code(path)}: {counted(lines, 'line')} that nothing certifies{about}\n"
    yield from _more(len(weights) - _MOST_FILES, "files")


def _proved(report: GateReport) -> Iterator[str]:
    operations: Counter[str] = Counter()
    for commit in report.commits:
        for each in commit.checked.operations if commit.checked else ():
            operations[each.kind] += each.lines
    rows = [row for commit in report.commits for row in commit.pairs if row.verdict is ProofVerdict.AGREES]
    if operations or rows:
        yield "\n### What was proved, and how\n\n"
    if operations:
        done = ", ".join(f"{as_text(kind)} ({counted(lines, 'line')})" for kind, lines in operations.most_common())
        yield f"Replayed and compared byte for byte: {done}.\n"
    if rows:
        yield "\n| old and new agree | how far | slips told apart |\n|---|---|---:|\n"
    for row in rows[:_MOST_PAIRS]:
        yield f"| {as_code(row.name)} | {_how_far(row)} | {row.mutants.killed}/{row.mutants.total} |\n"
    yield from _more(len(rows) - _MOST_PAIRS, "pairs")


def _how_far(row: PairRow) -> str:
    counts = ((row.paths, "path"), (row.faults, "single fault"), (row.cases, "concrete case"))
    return ", ".join([row.level.value, *(shown_number(number, noun) for number, noun in counts if number)])


def _declared(report: GateReport) -> Iterator[str]:
    rows = {
        (delta.code, row.name, delta.message)
        for commit in report.commits
        for row in commit.pairs
        for delta in row.deltas
        if delta.declared
    }
    trailers = [
        each for commit in report.commits for each in commit.obligations if each.kind == "recording" and each.why
    ]
    if rows or trailers:
        yield "\n### Declared differences\n\n"
    for code, name, message in sorted(rows):
        yield f"- **{code}** {as_code(name)} {as_text(message)}\n"
    for each in trailers:
        yield f"- {as_code(each.symbol)} changed: {as_text(each.why)}\n"


def _risks(report: GateReport) -> Iterator[str]:
    """What passed and is not all that one could ask."""
    found = [
        f"- **{as_text(each.rule)}** {_place(each)} {as_text(each.message)}{_because(each)}\n"
        for commit in report.commits
        for each in [*ranked(commit.of(Status.WARN)), *(one for one in commit.of(Status.EXEMPT) if one.rule)]
    ]
    sampled = [row for commit in report.commits for row in commit.pairs if _is_sampled(row)]
    if sampled:
        names = ", ".join(as_code(row.name) for row in sampled[:_MOST_SYMBOLS])
        more = f" and {len(sampled) - _MOST_SYMBOLS} more" if len(sampled) > _MOST_SYMBOLS else ""
        found.append(f"- {counted(len(sampled), 'pair')} by a sample and not on every path: {names}{more}\n")
    if found:
        yield "\n### Risks that remain\n\n"
    yield from found[:_MOST_FAILURES]
    yield from _more(len(found) - _MOST_FAILURES, "risks")


def _because(each: Obligation) -> str:
    return f" ({as_text(each.why)})" if each.why else ""


def _is_sampled(row: PairRow) -> bool:
    return row.verdict is ProofVerdict.AGREES and row.level.value == "sampled"


def _left(report: GateReport) -> Iterator[str]:
    found = [
        f"- {as_code(each.place)}: {counted(each.lines, 'line')} that no pair runs\n" for each in _unproved(report)
    ]
    found += [
        f"- {as_code(row.name)}: {as_text(row.reason or 'could not be compared')}\n"
        for commit in report.commits
        for row in commit.pairs
        if row.verdict is ProofVerdict.INCONCLUSIVE
    ]
    found += [
        f"- {as_code(short_name(commit.commit, 10))}: {counted(commit.lines - commit.certified, 'line')} of behaviour, "
        "which nobody says to be the same\n"
        for commit in report.commits
        if not commit.is_held and commit.lines > commit.certified
    ]
    yield "\n### Left for a person\n\n"
    yield from found[:_MOST_FAILURES] or ["Nothing: every line is certified or proved.\n"]
    yield from _more(len(found) - _MOST_FAILURES, "places")


def _unproved(report: GateReport) -> Iterator[Unproved]:
    return (each for commit in report.commits for each in commit.unproved)


def _place(each: Obligation) -> str:
    return as_code(f"{each.path}:{each.line}" if each.line else each.path) if each.path else ""


def _more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield f"\nand {number} more {noun}\n"
