"""Where the report of `prove` goes: text as pairs are proved, everything else at the end, to stdout or a file."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.cli.session import Session, UsageProblem
from codemods.report.lines import plain
from codemods.report.prove_model import PairRow, ProveReport, Unproved, encoded, next_move, totals_of
from codemods.report.prove_text import pair_lines, report_lines, totals_lines
from codemods.schema.prove import ProveResult

if TYPE_CHECKING:
    from codemods.cli.prove_options import ProveFormat

_PIPE_WIDTH = 120
_LEAST_WIDTH, _MOST_WIDTH = 80, 200


class Reporter:
    """Takes pairs one by one; text for people is printed at once, to stdout unless another format goes there."""

    def __init__(self, session: Session, format_: ProveFormat, output: Path | None, names: tuple[str, str]) -> None:
        self._session, self._format, self._output, self._names = session, format_, output, names
        self._rows: list[PairRow] = []
        self.unproved: list[Unproved] = []
        self._is_text = format_.value == "text" or output is not None

    def add(self, row: PairRow) -> None:
        self._rows.append(row)
        if self._is_text:
            self._session.console.out(pair_lines(row, width=_width()))

    def finish(self) -> int:
        """Writes what is left to write. The exit status."""
        totals = totals_of(self._rows)
        result = ProveResult(pairs=tuple(self._rows), old=self._names[0], new=self._names[1])
        report = ProveReport(
            schema_version=result.schema_version,
            old=result.old,
            new=result.new,
            pairs=self._rows,
            totals=totals,
            unproved=self.unproved,
            next=next_move(totals, self.unproved),
        )
        console = self._session.console
        if self._output is not None:
            self._write(self._output, report)
        if self._is_text:
            console.out(totals_lines(totals, self.unproved, self._rows))
        else:
            for part in _machine(report, self._format.value):
                console.text(part.decode("utf-8", "surrogateescape"))
            console.err(totals_lines(totals, self.unproved, self._rows))
        _write_step_summary(report, self._format.value)
        return result.exit_code

    def _write(self, output: Path, report: ProveReport) -> None:
        try:
            with output.open("wb") as file:
                for part in _machine(report, self._format.value):
                    file.write(part)
        except OSError as error:
            raise UsageProblem(
                f"the report can't be written: {error.strerror}", fix="name another --output", path=os.fspath(output)
            ) from error


def _width() -> int:
    """Of the terminal; of a pipe, what most can show."""
    if not sys.stdout.isatty():
        return _PIPE_WIDTH
    return max(_LEAST_WIDTH, min(shutil.get_terminal_size().columns - 1, _MOST_WIDTH))


def _machine(report: ProveReport, format_: str) -> Iterator[bytes]:
    """The report in a format, in pieces. Each format is loaded when it is asked for."""
    if format_ == "text":
        yield plain(report_lines(report, width=_PIPE_WIDTH)).encode("utf-8", "backslashreplace")
    elif format_ == "json":
        yield encoded(report)
    elif format_ == "jsonl":
        import msgspec

        yield from (msgspec.json.encode(row) + b"\n" for row in report.pairs)
    elif format_ == "markdown":
        from codemods.report.prove_markdown import markdown_text

        yield markdown_text(report).encode("utf-8", "backslashreplace")
    elif format_ == "html":
        from codemods.report.prove_html import html_text

        yield html_text(report).encode("utf-8", "backslashreplace")
    elif format_ == "junit":
        from codemods.report.prove_junit import junit_text

        yield junit_text(report).encode("utf-8", "backslashreplace")
    elif format_ == "sarif":
        from codemods import __version__
        from codemods.report.prove_sarif import sarif_bytes

        yield sarif_bytes(report, __version__)
    else:
        from codemods.report.prove_github import github_lines

        yield from (text.encode("utf-8", "backslashreplace") for text in github_lines(report))


def _write_step_summary(report: ProveReport, format_: str) -> None:
    """What annotations have no room for goes where GitHub shows it beside them."""
    place = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if format_ == "github" and place:
        from codemods.report.prove_markdown import markdown_text

        with Path(place).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(markdown_text(report))
