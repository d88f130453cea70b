"""`unmoved replay`: give a function the recorded inputs and compare what comes of it. Writes only with --update."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from codemods.cli.options import ConfigOption, FormatOption, Root, ShowConfig, format_text
from codemods.cli.record import diff_lines, refuse_update_in_ci, target_name
from codemods.cli.session import COULD_NOT, Session, UsageProblem, run
from codemods.report.lines import Line, Span, Style, line

if TYPE_CHECKING:
    from codemods.prove.replay import Ran
    from codemods.schema.recording import Replayed, ReplayReport


def replay(
    recordings: Annotated[
        list[str],
        typer.Argument(metavar="RECORDINGS", help="Files or directories of `unmoved record`.", show_default=False),
    ],
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="MODULE:QUALNAME", help="The function that took the recorded one's place."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write what came of the calls into the recordings. Not in CI.")
    ] = False,
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="SECONDS", help="For one recording. Default: 60.")
    ] = None,
    python: Annotated[
        Path | None, typer.Option("--python", metavar="FILE", help="The Python that the program needs. Default: ours.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME", help="A variable that the program gets. Repeatable.", show_default=False),
    ] = None,
    unconfined: Annotated[
        bool, typer.Option("--unconfined", help="Let the program do what it likes, with your whole environment.")
    ] = False,
    root: Root = None,
    format_: FormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Run the function as it is now on recorded inputs, and compare result, exception, writes and logs.

    This imports and runs the program's own code, from --root, in processes that are confined: no network, no further
    programs, no files but for reading what is below --root and what Python is made of, of the environment what Python
    needs and the variables that were recorded. Where code reaches out, its recording is inconclusive. The receiver is
    made without its initialiser and gets the recorded attributes; what was not kept is a placeholder. Where
    code asks for more than was recorded, the recording is inconclusive.

    With --against, parameters get the recorded arguments by name, then attributes of the recorded `self`; the result
    of a function without `self` is compared with what the method wrote.

    \b
    Examples:
      unmoved replay golden/cart
      unmoved replay golden/pick --against srv.numa:pick

    \b
    Exit status: 0 all agree; 1 some differ, or nothing is there under their name; 2 some could not be run and none
    differs; 130 interrupted.
    """

    def body(session: Session) -> int:
        if unconfined and env:
            raise UsageProblem(
                "--unconfined gives the whole environment, --env a part of it", fix="leave one of them out"
            )
        own = Own(timeout, python, tuple(env or ()), not unconfined)
        return _replay(session, [Path(each) for each in recordings], against, own, update=update)

    raise typer.Exit(run(body, root=root, format_=format_text(format_), options=config or (), show_config=show_config))


class Own(NamedTuple):
    """How the processes are run."""

    timeout: str | None
    python: Path | None
    env: tuple[str, ...]
    is_confined: bool


def _replay(session: Session, places: Sequence[Path], against: str | None, own: Own, *, update: bool) -> int:
    from codemods.prove.golden import golden_files
    from codemods.prove.replay import ReplayRequest
    from codemods.prove.replay import replay as run_replay
    from codemods.schema.recording import ReplayReport, ReplayVerdict

    if update:
        refuse_update_in_ci()
        if against is not None:
            raise UsageProblem(
                "--update would write under the old name what another function does",
                fix="leave --against out, or record the new function with `unmoved record`",
            )
    settings = session.resolved.config
    request = ReplayRequest(
        root=session.root,
        paths=(*settings.source_roots, *(() if settings.source_roots else ("src",))),
        against=target_name(session, against) if against else "",
        redact=settings.redact,
        timeout_s=_seconds(own.timeout),
        python=os.fspath(own.python) if own.python is not None else "",
        environment=own.env,
        is_confined=own.is_confined,
    )
    ran, lacks = run_replay(golden_files(places), request, os.environ)
    rows = [each.replayed for each in ran]
    totals = {verdict.value: sum(row.verdict is verdict for row in rows) for verdict in ReplayVerdict}
    changed = [each for each in ran if each.updated is not None]
    report = ReplayReport(
        against=request.against,
        recordings=rows,
        totals=totals,
        written=update and bool(changed),
        notes=[f"this system lacks {each}: the program was confined by the rest" for each in lacks],
    )
    if not session.is_json:
        session.console.out(_lines(report, update=update))
    if update:
        _write(session, changed)
        rows = [row for row in rows if row.verdict is not ReplayVerdict.DIFFERS]
    if session.is_json:
        session.report(report, ())
    verdicts = {row.verdict for row in rows}
    if verdicts & {ReplayVerdict.DIFFERS, ReplayVerdict.UNMATCHED}:
        return 1
    return COULD_NOT if ReplayVerdict.INCONCLUSIVE in verdicts else 0


def _write(session: Session, changed: Sequence[Ran]) -> None:
    from codemods.prove.golden import replace_file

    for number, each in enumerate(changed, 1):
        assert each.updated is not None
        try:
            replace_file(each.file.path, each.updated)
        except OSError as error:
            raise UsageProblem(
                f"can't be written: {error.strerror}", fix="make it writable", path=os.fspath(each.file.path)
            ) from error
        session.written = f"{number} recordings were updated"


def _seconds(text: str | None) -> float:
    if text is None:
        return 60.0
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 86_400:
        raise UsageProblem(f"--timeout {text} is no number of seconds", fix="give one above 0 and up to 86400")
    return found


def _lines(report: ReplayReport, *, update: bool) -> Iterator[Line]:
    styles = {"agrees": Style.GOOD, "inconclusive": Style.WARN}
    for row in report.recordings:
        style = styles.get(row.verdict.value, Style.BAD)
        reason = f"  {row.reason}" if row.verdict.value in ("inconclusive", "unmatched") else ""
        yield line(Span(f"{row.verdict.value:13}", style), Span(row.file, Style.PLACE), reason)
        yield from _details(row, update=update)
    for note in report.notes:
        yield line(Span("note: ", Style.WARN), note)
    yield line(", ".join(f"{number} {verdict}" for verdict, number in report.totals.items() if number))


def _details(row: Replayed, *, update: bool) -> Iterator[Line]:
    for each in row.differences:
        yield line("    ", Span(each.place, Style.CODE))
        yield line("      recorded: ", Span(each.expected or "nothing", Style.GOOD))
        yield line("      now:      ", Span(each.found or "nothing", Style.BAD))
    for note in row.notes:
        yield line("    ", Span(f"note: {note}", Style.QUIET))
    if update:
        yield from diff_lines(row.diff)
