"""A run, a survey and an error as lines for people: what happened, where, and what to do next.

One layout for terminal and pipe; nothing is cut off, a terminal wraps what is long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemods.report.lines import Line, Span, Style, columns, line, paragraphs
from codemods.report.model import ErrorRow, RunReport, StepRow, SuggestReport
from codemods.schema.config import Setting
from codemods.schema.hazards import Hazard, Refusal, Severity

_SEVERITY_STYLES = {Severity.STOP: Style.BAD, Severity.PROVE: Style.WARN, Severity.NOTE: Style.QUIET}


def run_lines(report: RunReport) -> Iterator[Line]:
    """Every step, then the summary."""
    for step in report.steps:
        yield from step_lines(step)
        yield ()
    yield from summary_lines(report)


def step_lines(step: StepRow) -> Iterator[Line]:
    to = (Span(" → ", Style.QUIET), Span(step.to, Style.TITLE)) if step.to else ()
    yield line(Span(f"{step.number}  ", Style.QUIET), f"{step.do}  ", Span(step.target, Style.TITLE), *to)
    rows = [
        (Span(commit.phase, Style.GOOD), Span((commit.commit or "")[:10], Style.CODE), Span(commit.subject))
        for commit in step.commits
    ]
    yield from columns(rows if any(row[1].text for row in rows) else [(row[0], row[2]) for row in rows], indent=3)
    if not rows and not step.refusals:
        done = [finding.text for finding in step.findings if finding.topic == "done"]
        yield line("   ", Span(done[0] if done else "nothing to change", Style.QUIET))
    yield from hazard_lines(step.hazards, indent=3)
    yield from refusal_lines(step.refusals, indent=3)


def hazard_lines(hazards: Sequence[Hazard], *, indent: int) -> Iterator[Line]:
    if hazards:
        yield line(" " * indent, Span("hazards", Style.TITLE))
    for hazard in hazards:
        severity = Span(f"{hazard.severity.value}  ", _SEVERITY_STYLES[hazard.severity])
        place = Span(f"{_place(hazard.path, hazard.line)}  ", Style.PLACE)
        yield line(" " * (indent + 2), Span(f"{hazard.code}  ", Style.CODE), severity, place, hazard.message)
        yield line(" " * (indent + 4), Span("settle  ", Style.QUIET), hazard.settle)


def refusal_lines(refusals: Sequence[Refusal], *, indent: int) -> Iterator[Line]:
    if refusals:
        yield line(" " * indent, Span("refused", Style.BAD))
    for refusal in refusals:
        place = Span(f"{_place(refusal.path, refusal.line)}  " if refusal.path else "", Style.PLACE)
        yield line(" " * (indent + 2), Span(f"{refusal.code}  ", Style.CODE), place, refusal.message)
        yield line(" " * (indent + 4), Span("next    ", Style.QUIET), refusal.settle)


def summary_lines(report: RunReport) -> Iterator[Line]:
    """What it came to, and the next move."""
    steps, commits = report.steps, [commit for step in report.steps for commit in step.commits]
    refused = sum(bool(step.refusals) for step in steps)
    num_refusals = sum(len(step.refusals) for step in steps)
    files = {path for commit in commits for path in commit.files}
    if refused:
        yield line(
            Span("refused: ", Style.BAD),
            f"{_count(num_refusals, 'reason')} in {refused} of {_count(len(steps), 'step')}; nothing was written",
        )
    else:
        done = _outcome(report)
        yield line(
            Span(f"{_count(len(steps), 'step')}, {_count(len(commits), 'commit')}, {_count(len(files), 'file')}: "),
            Span(done, Style.GOOD if report.written else Style.PLAIN),
        )
    to_prove = sum(hazard.severity is Severity.PROVE for step in steps for hazard in step.hazards)
    if to_prove and not refused:
        what = f"{_count(to_prove, 'hazard')} of severity prove: a test or a person has to say that it is harmless"
        yield line(Span("left: ", Style.WARN), what)
    if report.next:
        yield line(Span("next: ", Style.QUIET), report.next)


def _outcome(report: RunReport) -> str:
    if not report.changed:
        return "nothing to change"
    if report.written:
        base = f", from {report.base[:10]}" if report.base else ""
        return f"written to the branch {report.branch}{base}" if report.branch else "written to the files"
    return "nothing was written"


def suggestion_lines(report: SuggestReport) -> Iterator[Line]:
    """A ranked table of what can leave; below it what can't, with the reasons."""
    leaving = [candidate for candidate in report.candidates if candidate.can_leave]
    staying = [candidate for candidate in report.candidates if not candidate.can_leave]
    yield line(
        Span(report.target, Style.TITLE), f": {len(leaving)} of {_count(len(report.candidates), 'method')} can leave"
    )
    if leaving:
        yield ()
        heads = [Span(head, Style.QUIET) for head in ("rank", "method", "line", "lines", "cost", "hazards", "why")]
        rows = [
            [
                Span(str(rank), Style.QUIET),
                Span(candidate.method, Style.TITLE),
                Span(str(candidate.line), Style.PLACE),
                Span(str(candidate.lines)),
                Span(str(candidate.cost)),
                Span(_codes(candidate.hazards) or "-", Style.CODE),
                Span("; ".join(candidate.reasons)),
            ]
            for rank, candidate in enumerate(leaving, 1)
        ]
        yield from columns([heads, *rows], indent=2)
    if staying:
        yield ()
        yield line(Span("can't leave as they are", Style.TITLE))
        for candidate in staying:
            yield line(
                "  ", Span(candidate.method, Style.TITLE), Span(f"  line {candidate.line}", Style.PLACE),
                Span(f"  {_codes(candidate.hazards)}", Style.CODE),
            )  # fmt: skip
            for reason in candidate.reasons:
                yield line("    ", reason)
    if report.next:
        yield ()
        yield line(Span("next: ", Style.QUIET), report.next)


def _codes(hazards: Sequence[Hazard]) -> str:
    return " ".join(sorted({hazard.code for hazard in hazards}))


def error_lines(error: ErrorRow) -> Iterator[Line]:
    """One block: code and place, what is wrong, what to do."""
    place = _place(error.path, error.line)
    yield line(
        Span("error: ", Style.BAD), Span(error.code, Style.CODE), Span(f"  {place}" if place else "", Style.PLACE)
    )
    yield from paragraphs(error.message, indent=2)
    for problem in error.problems:
        where = Span(f"{_place(problem.path, problem.line)}  ", Style.PLACE)
        yield line("  ", where, Span(f"{problem.code}  ", Style.CODE), problem.message)
        yield line("    ", Span("fix  ", Style.QUIET), problem.fix)
    yield line("  ", Span("fix: ", Style.GOOD), error.fix)


def config_lines(settings: Sequence[Setting]) -> Iterator[Line]:
    """One line a setting: key, value, who decided."""
    rows = [
        (Span(one.key, Style.TITLE), Span(_shown(one.value)), Span(f"# {one.origin}", Style.QUIET)) for one in settings
    ]
    yield from columns(rows)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'{key} = "{reason}"' for key, reason in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return str(value)


def _place(path: str, number: int) -> str:
    return f"{path}:{number}" if number else path


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
