"""`unmoved record`: run a program and keep real calls of a function as recordings. Writes only below --to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemods.cli.options import ConfigOption, FormatOption, Root, ShowConfig, format_text
from codemods.cli.plain_options import PlainCommand
from codemods.cli.session import COULD_NOT, INTERRUPTED, Session, UsageProblem, run
from codemods.report.lines import Line, Span, Style, line

if TYPE_CHECKING:
    from codemods.prove.golden import Planned
    from codemods.schema.recording import RecordReport

_COMMAND = "unmoved.record.command"


class RecordCommand(PlainCommand):
    """Everything behind `--` is the program's, options too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_COMMAND] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


def record(
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET", help="MODULE:FUNCTION, MODULE:Class.method or MODULE:Class.", show_default=False
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where recordings are kept.", show_default=False)],
    update: Annotated[
        bool, typer.Option("--update", help="Change recordings whose call came to something else. Not in CI.")
    ] = False,
    root: Root = None,
    format_: FormatOption = None,
    config: ConfigOption = None,
    show_config: ShowConfig = False,
) -> None:
    """Run a program and keep what real calls of TARGET were given and came to, one behaviour a file.

    COMMAND runs where you are, as it would by itself: `python x.py`, `python -m x`, a console script, a launcher of
    many processes. Every Python from 3.10 on that it starts is recorded. Kept are arguments, the attributes of them
    that TARGET may read, environment variables it names, the result or the exception, attributes and variables it
    changed and its log records; not the calls it makes. Secrets are redacted by name and by look (`redact` in the
    configuration names more), what is no plain data becomes a placeholder, what is long is cut. After an interrupt,
    what the program has shown so far is kept.

    Recordings that are there stay as they are while their behaviour is seen. One whose call came to something else
    is shown, and changed only with --update.

    \b
    Examples:
      unmoved record shop.cart:Cart.total --to golden/cart -- python -m shop demo.json
      unmoved record srv.runner:Runner.pick srv.runner:Runner.bind --to golden -- torchrun --nproc-per-node 2 run.py

    \b
    Exit status: 0 recorded, 1 recordings would change, 2 nothing was recorded or the program failed, 130 interrupted.
    """
    command = list(context.meta.get(_COMMAND, ()))

    def body(session: Session) -> int:
        return _record(session, targets, command, to, update=update)

    raise typer.Exit(run(body, root=root, format_=format_text(format_), options=config or (), show_config=show_config))


def in_ci() -> bool:
    """Whether this runs where nobody looks."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def refuse_update_in_ci() -> None:
    """Raises UsageProblem."""
    if in_ci():
        raise UsageProblem(
            "--update changes recordings, and CI is set: nobody would look at the difference",
            fix="update where a person can read the difference, and commit that",
        )


def _record(session: Session, targets: Sequence[str], command: Sequence[str], to: Path, *, update: bool) -> int:
    from codemods.prove.golden import plan_files, write_planned
    from codemods.prove.record import record as run_recorded
    from codemods.schema.recording import Change, RecordReport

    if not command:
        raise UsageProblem(
            "no command to run", fix="write it behind `--`: unmoved record TARGET --to DIR -- python x.py"
        )
    if update:
        refuse_update_in_ci()
    if to.exists() and not to.is_dir():
        raise UsageProblem("--to is no directory", fix="name a directory", path=os.fspath(to))
    names = [target_name(session, target) for target in targets]
    redact = session.resolved.config.redact
    recorded = run_recorded(names, command, os.environ, redact, output_to_stderr=session.is_json)
    planned, notes = plan_files(to, recorded.examples, names)
    interrupted = recorded.status in (-2, 130)
    failed = recorded.status != 0 and not interrupted
    changes = [Change.NEW, *([Change.CHANGED] if update and not failed else [])]
    rows = _rows(planned)
    report = RecordReport(
        files=rows,
        calls=dict(sorted(recorded.calls.items())),
        status=recorded.status,
        written=any(each.change in changes for each in planned),
        notes=[*notes, *recorded.notes],
    )
    if not session.is_json:
        session.console.out(_lines(report, update=update))  # what changes is shown before it is changed
    try:
        written = write_planned(planned, changes)
    except OSError as error:
        raise UsageProblem(
            f"can't be written: {error.strerror}", fix="name another --to", path=os.fspath(to)
        ) from error
    session.written = f"{written} recordings were written to {to}"
    if session.is_json:
        session.report(report, ())
    if interrupted:
        return INTERRUPTED
    if failed:
        return COULD_NOT
    return 1 if any(each.change is Change.CHANGED for each in planned) and not update else 0


def target_name(session: Session, text: str) -> str:
    """MODULE:QUALNAME, where the module may be given as a file of the tree."""
    from codemods.schema.refs import DefRef

    ref = DefRef.parse(text)
    if not ref.module.endswith(".py"):
        return str(ref)
    path = ref.module.removesuffix(".py").removesuffix("/__init__").removeprefix("./")
    for place in sorted(session.resolved.config.source_roots, key=len, reverse=True):
        if place and path.startswith(f"{place}/"):
            path = path.removeprefix(f"{place}/")
            break
    return f"{path.replace('/', '.')}:{ref.qualname}"


def _rows(planned: Sequence[Planned]) -> list[Any]:
    from codemods.prove.golden import difference, file_name
    from codemods.schema.recording import Change, RecordedFile

    rows = []
    for each in planned:
        diff = ""
        if each.change is Change.CHANGED and each.old is not None:
            diff = difference(each.old, each.recording, file_name(each.recording))
        row = RecordedFile(file=os.fspath(each.path), target=each.recording.target, change=each.change, diff=diff)
        rows.append(row)
    return rows


def _lines(report: RecordReport, *, update: bool) -> Iterator[Line]:
    from codemods.schema.recording import Change

    styles = {Change.NEW: Style.GOOD, Change.CHANGED: Style.WARN, Change.UNSEEN: Style.WARN}
    for row in report.files:
        yield line(Span(f"{row.change.value:8}", styles.get(row.change, Style.QUIET)), Span(row.file, Style.PLACE))
        yield from diff_lines(row.diff)
    for note in report.notes:
        yield line(Span("note: ", Style.WARN), note)
    for target, number in report.calls.items():
        yield line(f"{target}: at least {number} calls")
    count = {change: sum(row.change is change for row in report.files) for change in Change}
    yield line(", ".join(f"{number} {change.value}" for change, number in count.items() if number))
    if report.status:
        yield line(Span(f"the program ended with status {report.status}", Style.BAD))
    if count[Change.CHANGED] and not update:
        yield line("nothing that was there has been changed; `--update` does it")


def diff_lines(diff: str) -> Iterator[Line]:
    """A unified diff, indented and in colour."""
    for text in diff.splitlines():
        style = Style.GOOD if text.startswith("+") else Style.BAD if text.startswith("-") else Style.QUIET
        yield line("    ", Span(text, style))
