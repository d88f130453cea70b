"""Lines of text whose parts have a meaning, so that one layout serves a terminal in colour and a plain pipe.

A style is a word for what the part is; which colour that is, if any, is decided where it is printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple


class Style(Enum):
    """The values are styles of rich."""

    PLAIN = ""
    TITLE = "bold"
    QUIET = "dim"
    PLACE = "cyan"
    CODE = "bold magenta"
    GOOD = "green"
    WARN = "yellow"
    BAD = "bold red"


class Span(NamedTuple):
    text: str
    style: Style = Style.PLAIN


Line = tuple[Span, ...]


def line(*parts: str | Span) -> Line:
    """A line of parts; a bare text is plain. Line breaks inside become visible, so one line stays one."""
    spans = (part if isinstance(part, Span) else Span(part) for part in parts)
    return tuple(Span(span.text.replace("\r", "\\r").replace("\n", "\\n"), span.style) for span in spans)


def paragraphs(text: str, *, indent: int = 0, style: Style = Style.PLAIN) -> Iterator[Line]:
    """A text of several lines, each indented."""
    for part in text.splitlines():
        yield line(" " * indent if part else "", Span(part, style))


def plain(lines: Iterable[Line]) -> str:
    """The text alone, each line ended, without blanks at line ends."""
    return "".join("".join(span.text for span in one).rstrip() + "\n" for one in lines)


def columns(rows: Sequence[Sequence[Span]], *, indent: int = 0, gap: int = 2) -> Iterator[Line]:
    """Rows with each column as wide as its widest cell; the last column is as long as it likes."""
    widths = [max(len(row[at].text) for row in rows) for at in range(len(rows[0]))] if rows else []
    for row in rows:
        cells = [Span(cell.text.ljust(width + gap), cell.style) for cell, width in zip(row[:-1], widths, strict=False)]
        yield line(" " * indent, *cells, row[-1])
