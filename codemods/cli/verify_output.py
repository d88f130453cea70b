"""Where the report of `verify` and `check` goes: stdout or a file, in the format that was asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.cli.session import Session, UsageProblem

if TYPE_CHECKING:
    from codemods.cli.verify import ReportFormat
    from codemods.report.lines import Line
    from codemods.report.spool import Spool


def write_report(
    session: Session, spool: Spool, format_: ReportFormat, output: Path | None, *, is_live: bool,
    aside: Iterable[Line] = (),
) -> None:  # fmt: skip
    """The report to stdout, or to `output` and text to stdout. aside: further lines for people.

    is_live: the commits have been printed as text already."""
    from codemods.report.verify_text import totals_lines

    is_text = format_.value == "text"
    if output is not None:
        _write(output, _plain(spool) if is_text else _machine(spool, format_))
    if is_text or output is not None:
        if not is_live:
            session.console.out(_text(spool))
        session.console.out([*totals_lines(spool.totals), *aside])
        return
    for part in _machine(spool, format_):
        session.console.text(part.decode("utf-8"))
    session.console.err([*totals_lines(spool.totals), *aside])
    _write_step_summary(spool, format_)


def _text(spool: Spool) -> Iterator[Line]:
    from codemods.report.verify_text import commit_lines

    return (line for commit in spool for line in commit_lines(commit))


def _plain(spool: Spool) -> Iterator[bytes]:
    from codemods.report.lines import plain
    from codemods.report.verify_text import commit_lines, totals_lines

    for commit in spool:
        yield plain(commit_lines(commit)).encode("utf-8")
    yield plain(totals_lines(spool.totals)).encode("utf-8")


def _machine(spool: Spool, format_: ReportFormat) -> Iterator[bytes]:
    if format_.value == "json":
        from codemods.report.verify_json import json_parts

        return json_parts(spool)
    if format_.value == "jsonl":
        from codemods.report.verify_json import jsonl_parts

        return jsonl_parts(spool)
    if format_.value == "markdown":
        from codemods.report.markdown import markdown_text

        return iter([markdown_text(spool).encode("utf-8")])
    if format_.value == "sarif":
        from codemods import __version__
        from codemods.report.sarif import sarif_bytes

        return iter([sarif_bytes(spool, __version__)])
    from codemods.report.github import github_lines

    return (text.encode("utf-8") for text in github_lines(spool))


def _write_step_summary(spool: Spool, format_: ReportFormat) -> None:
    """What annotations have no room for goes where GitHub shows it beside them."""
    place = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if format_.value == "github" and place:
        from codemods.report.markdown import markdown_text

        with Path(place).open("a", encoding="utf-8") as file:
            file.write(markdown_text(spool))


def _write(output: Path, parts: Iterable[bytes]) -> None:
    try:
        with output.open("wb") as file:
            for part in parts:
                file.write(part)
    except OSError as error:
        raise UsageProblem(
            f"the report can't be written: {error.strerror}", fix="name another --output", path=os.fspath(output)
        ) from error
