"""Where the reports of a gate go: text as commits are judged, everything else at the end, to stdout or to files."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codemods.cli.gate_diff import Diffs, Entries
from codemods.cli.prove_trees import Trees
from codemods.cli.session import Session, UsageProblem
from codemods.report.gate_model import GatedCommit, GateReport
from codemods.report.gate_text import commit_lines, report_lines, totals_lines
from codemods.report.lines import plain

_PIPE_WIDTH = 120
_LEAST_WIDTH, _MOST_WIDTH = 80, 200


class GateReporter:
    """formats: each with its file; None for stdout, which has one of them, or text for people."""

    def __init__(self, session: Session, trees: Trees, formats: Sequence[tuple[str, Path | None]]) -> None:
        self._session, self._trees, self._formats = session, trees, formats
        self._on_stdout = next((name for name, place in formats if place is None), "text")
        is_moving = sys.stdout.isatty() and sys.stderr.isatty()
        self._is_live = self._on_stdout == "text" and not is_moving

    def add(self, commit: GatedCommit) -> None:
        if self._is_live:
            self._session.console.out(commit_lines(commit, width=_width()))

    def added(self, commit: GatedCommit) -> GatedCommit:
        self.add(commit)
        return commit

    def finish(self, report: GateReport, entries: Mapping[str, Entries]) -> None:
        """Writes what is left to write. entries: the ledgers, for a page that shows them."""
        self._diffs = Diffs(self._session, self._trees, entries)
        console = self._session.console
        for name, place in self._formats:
            if place is not None:
                self._write(place, name, report)
        if self._on_stdout == "text":
            if not self._is_live:
                for commit in report.commits:
                    console.out(commit_lines(commit, width=_width()))
            console.out(totals_lines(report))
        else:
            for part in self._machine(report, self._on_stdout):
                console.text(part.decode("utf-8", "surrogateescape"))
            console.err(totals_lines(report))
        if any(name == "github" for name, _ in self._formats):
            self._write_step_summary(report)

    def _write(self, place: Path, name: str, report: GateReport) -> None:
        try:
            with place.open("wb") as file:
                for part in self._machine(report, name):
                    file.write(part)
        except OSError as error:
            raise UsageProblem(
                f"the report can't be written: {error.strerror}", fix="name another --output", path=os.fspath(place)
            ) from error

    def _machine(self, report: GateReport, name: str) -> Iterator[bytes]:
        """The report in a format, in pieces. Each format is loaded when it is asked for."""
        if name == "text":
            yield plain(report_lines(report, width=_PIPE_WIDTH)).encode("utf-8", "backslashreplace")
        elif name in ("json", "jsonl"):
            from codemods.report import gate_json

            yield from (gate_json.json_parts if name == "json" else gate_json.jsonl_parts)(report)
        else:
            yield self._text(report, name).encode("utf-8", "backslashreplace")

    def _text(self, report: GateReport, name: str) -> str:
        if name == "github":
            from codemods.report.gate_github import github_text

            return github_text(report)
        if name == "sarif":
            from codemods import __version__
            from codemods.report.gate_sarif import sarif_text

            return sarif_text(report, __version__)
        if name == "junit":
            from codemods.report.gate_junit import junit_text

            return junit_text(report)
        if name == "markdown":
            from codemods.report.gate_markdown import markdown_text

            return markdown_text(report)
        from codemods.report.gate_html import html_text

        return html_text(report, self._diffs.of)

    def _write_step_summary(self, report: GateReport) -> None:
        """What annotations have no room for goes where GitHub shows it beside them."""
        place = os.environ.get("GITHUB_STEP_SUMMARY", "")
        if place:
            with Path(place).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(self._text(report, "markdown"))


def _width() -> int:
    if not sys.stdout.isatty():
        return _PIPE_WIDTH
    return min(max(shutil.get_terminal_size().columns, _LEAST_WIDTH), _MOST_WIDTH)
