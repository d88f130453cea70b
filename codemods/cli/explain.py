"""`unmoved explain`: what a hazard is, an example, what settles it."""

from __future__ import annotations

from typing import Annotated

import typer

from codemods.cli.options import FormatOption, format_text
from codemods.cli.session import Session, UsageProblem, run


def _codes() -> tuple[str, ...]:
    from codemods.schema.pages import CODES

    return CODES


def explain(
    code: Annotated[
        str | None,
        typer.Argument(metavar="CODE", help="A hazard, for example U104. Default: list them.", autocompletion=_codes),
    ] = None,
    format_: FormatOption = None,
) -> None:
    """Explain a hazard: what could change, an example, what settles it.

    \b
    Examples:
      unmoved explain          all hazards, one line each
      unmoved explain U104     the page on one
    """

    def body(session: Session) -> int:
        from codemods.report.explain import index_lines, page_lines
        from codemods.report.model import ExplainReport, page_row
        from codemods.schema.pages import CODES, PAGES
        from codemods.schema.toml_check import did_you_mean

        if code is None:
            every = [page_row(page) for page in PAGES.values()]
            session.report(ExplainReport(pages=every), index_lines(every))
            return 0
        page = PAGES.get(code.upper())
        if page is None:
            raise UsageProblem(f"{code} is no hazard", fix=did_you_mean(code.upper(), CODES))
        row = page_row(page)
        session.report(ExplainReport(pages=[row]), page_lines(row))
        return 0

    raise typer.Exit(run(body, format_=format_text(format_)))
