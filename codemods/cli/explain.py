"""`unmoved explain`: what a hazard or a difference is, an example, what settles it."""

from __future__ import annotations

from typing import Annotated

import typer

from codemods.cli.options import FormatOption, format_text
from codemods.cli.session import Session, UsageProblem, run


def _codes() -> tuple[str, ...]:
    from codemods.schema.pages import CODES
    from codemods.schema.pages_deltas import DELTA_CODES

    return (*CODES, *DELTA_CODES)


def explain(
    code: Annotated[
        str | None,
        typer.Argument(metavar="CODE", help="For example U104 or D3. Default: list them.", autocompletion=_codes),
    ] = None,
    format_: FormatOption = None,
) -> None:
    """Explain a hazard of a plan, or a difference that `unmoved prove` reports: an example, and what settles it.

    \b
    Examples:
      unmoved explain          all of them, one line each
      unmoved explain U104     the page on a hazard
      unmoved explain D3       the page on a difference
    """

    def body(session: Session) -> int:
        from codemods.report.explain import index_lines, page_lines
        from codemods.report.model import ExplainReport, page_row
        from codemods.schema.pages import PAGES
        from codemods.schema.pages_deltas import DELTA_PAGES
        from codemods.schema.toml_check import did_you_mean

        pages = {**PAGES, **DELTA_PAGES}
        if code is None:
            every = [page_row(page) for page in pages.values()]
            session.report(ExplainReport(pages=every), index_lines(every))
            return 0
        page = pages.get(code.upper())
        if page is None:
            raise UsageProblem(f"{code} is no hazard and no difference", fix=did_you_mean(code.upper(), pages))
        row = page_row(page)
        session.report(ExplainReport(pages=[row]), page_lines(row))
        return 0

    raise typer.Exit(run(body, format_=format_text(format_)))
