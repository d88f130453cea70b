"""Both lists of effects of one world side by side: which rows are shown, and how they fit a width. Equal rows far from
the first difference are counted, not shown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from codemods.report.lines import Line, Span, Style, line
from codemods.schema.prove import Effects

_BEFORE, _AFTER = 3, 12  # rows around the first difference
_MOST_WRAPPED = 4  # lines of one effect
_NARROWEST = 20
_GAP = 2
_HEAD, _LEAST_CUT = 24, 12  # characters that stay when the middle of a text is left out, and how many are worth it
NOTHING = "(nothing)"

_Cell = tuple[str, int]  # the effect, its line; 0 where that is not known


class EffectRow(NamedTuple):
    """One effect of either side. None: that side does nothing here."""

    old: _Cell | None
    new: _Cell | None
    is_first: bool

    @property
    def is_equal(self) -> bool:
        return self.old is not None and self.new is not None and self.old[0] == self.new[0]


class ShownEffects(NamedTuple):
    """above, below: rows that are left out."""

    rows: list[EffectRow]
    above: int
    below: int


def shown_effects(effects: Effects) -> ShownEffects:
    """The rows around the first difference."""
    rows = all_effects(effects)
    first = next((at for at, row in enumerate(rows) if row.is_first), 0)
    start, end = max(first - _BEFORE, 0), first + _AFTER
    return ShownEffects(rows[start:end], start, max(len(rows) - end, 0))


def all_effects(effects: Effects) -> list[EffectRow]:
    """Alike up to the first difference; behind it, what is alike stands beside its like where that can be."""
    old, new = list(effects.old), list(effects.new)
    first = min(effects.first, len(old), len(new))
    rows = [EffectRow(a, b, False) for a, b in zip(old[:first], new[:first], strict=True)]
    left, right = old[first:], new[first:]
    matcher = SequenceMatcher(None, [text for text, _ in left], [text for text, _ in right], autojunk=False)
    pairs: list[tuple[_Cell | None, _Cell | None]] = []
    for _, a, a_end, b, b_end in matcher.get_opcodes():
        for step in range(max(a_end - a, b_end - b)):
            pairs.append((left[a + step] if a + step < a_end else None, right[b + step] if b + step < b_end else None))
    marked = next((at for at, (a, b) in enumerate(pairs) if a is None or b is None or a[0] != b[0]), -1)
    return [*rows, *(EffectRow(a, b, at == marked) for at, (a, b) in enumerate(pairs))]


def effect_lines(effects: Effects, *, indent: int, width: int) -> Iterator[Line]:
    """A table of two columns that fits `width`; the first difference is marked with `>`."""
    shown = shown_effects(effects)
    if not shown.rows:
        return
    margin = " " * indent
    lines_width = max((len(str(cell[1])) for row in shown.rows for cell in (row.old, row.new) if cell), default=1)
    room = max(_NARROWEST, (width - indent - 2 - 2 * (lines_width + _GAP) - _GAP) // 2)
    longest = max(len(_text(cell)) for row in shown.rows for cell in (row.old, row.new))
    room = min(room, max(longest, len(NOTHING)))
    blank, gap, number = " " * 2, " " * _GAP, " " * lines_width
    heads = (Span("old".ljust(room), Style.TITLE), Span("new", Style.TITLE))
    yield line(margin, blank, number, gap, heads[0], gap, number, gap, heads[1])
    if shown.above:
        yield line(margin, blank, Span(f"... {_effects(shown.above)} before, alike", Style.QUIET))
    for row in shown.rows:
        yield from _row_lines(row, margin, room, lines_width)
    if shown.below:
        yield line(margin, blank, Span(f"... {_effects(shown.below)} more; --format json has all", Style.QUIET))


def apart(one: str, other: str, room: int) -> tuple[str, str]:
    """Two texts with what they share at the front left out, where what tells them apart would not be seen else: the
    first words stay, and some before the difference."""
    pairs = enumerate(zip(one, other, strict=False))
    shared = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    cut = shared - room // 3
    if max(len(one), len(other)) <= room or cut < _HEAD + _LEAST_CUT:
        return one, other
    return one[:_HEAD] + " ... " + one[cut:], other[:_HEAD] + " ... " + other[cut:]


def _row_lines(row: EffectRow, margin: str, room: int, lines_width: int) -> Iterator[Line]:
    texts = (_text(row.old), _text(row.new))
    if row.old is not None and row.new is not None and not row.is_equal:
        texts = apart(*texts, room * _MOST_WRAPPED * 3 // 4)
    cells = [_wrapped(text, room) for text in texts]
    style = Style.QUIET if row.is_equal else Style.BAD if row.is_first else Style.WARN
    for at in range(max(len(cells[0]), len(cells[1]))):
        mark = "> " if row.is_first and at == 0 else "  "
        parts: list[str | Span] = [margin, Span(mark, Style.BAD)]
        for side, (cell, wrapped) in enumerate(zip((row.old, row.new), cells, strict=True)):
            number = str(cell[1]) if cell and cell[1] and at == 0 else ""
            text = wrapped[at] if at < len(wrapped) else ""
            parts += [Span(number.rjust(lines_width), Style.PLACE), " " * _GAP]
            parts.append(Span(text.ljust(room) if side == 0 else text, style))
            if side == 0:
                parts.append(" " * _GAP)
        yield line(*parts)


def _wrapped(text: str, room: int) -> Sequence[str]:
    return textwrap.wrap(
        text, room, max_lines=_MOST_WRAPPED, placeholder=" ...", subsequent_indent="  ", break_on_hyphens=False
    ) or [""]


def _text(cell: _Cell | None) -> str:
    """On one line: what is in an effect can't make a line of its own."""
    return NOTHING if cell is None else cell[0].replace("\r", "\\r").replace("\n", "\\n")


def _effects(number: int) -> str:
    return f"{number:,} effect{'' if number == 1 else 's'}"
