"""The pages on hazards and differences as lines for people. The words are in schema/pages_*.py."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from codemods.report.lines import Line, Span, Style, columns, line, paragraphs
from codemods.report.model import PageRow

_WIDTH = 88
_MEANINGS = {
    "stop": "refuses the step until it is settled",
    "prove": "demands a twin run: both versions on the same inputs",
    "note": "goes into the report",
    "difference": "what `unmoved prove` reports; passes only where the spec of the pair declares it",
}


def page_lines(page: PageRow) -> Iterator[Line]:
    """What it is, an example, what settles it."""
    yield line(Span(page.code, Style.CODE), Span(f"  {page.title}", Style.TITLE))
    yield line(Span(f"{page.severity}: {_MEANINGS[page.severity]}", Style.QUIET))
    yield ()
    yield from paragraphs(textwrap.fill(page.text, _WIDTH))
    for name, text, outcome in (("before", page.before, page.was), ("after", page.after, page.now)):
        yield ()
        yield line(Span(name, Style.TITLE))
        yield ()
        yield from paragraphs(text, indent=4)
        yield ()
        yield line("    ", Span("run() -> ", Style.QUIET), Span(outcome, Style.PLACE))
    yield ()
    yield line(Span("what settles it", Style.TITLE))
    for way in page.settle:
        yield line("  ", Span(f"{way.key}: " if way.key else "", Style.CODE), way.how)


def index_lines(pages: Iterable[PageRow]) -> Iterator[Line]:
    """All pages, one line each."""
    rows = [(Span(page.code, Style.CODE), Span(page.severity, Style.QUIET), Span(page.title)) for page in pages]
    yield from columns(rows)
