"""Which lines differ between two texts: the fewest there can be, so the counts are those of `git diff --minimal`.

Lines end at a line feed and nowhere else, as git has it. What lies between the common beginning and the common end is
aligned by a longest common subsequence, computed on whole rows at once as bits of large integers: exact, and fast
whatever the number of differences. Only where the bits of all rows would take more than MAX_BITS is the text first cut
at lines that occur once on each side, and what is still too long after that counts as all different."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

# 64 MB of rows, that is for example 22,000 lines against 22,000 others with nothing in common at either end.
MAX_BITS = 512_000_000


class Hunk(Struct, frozen=True):
    """Lines old_start:old_end were replaced by new_start:new_end; 0-based, half-open; one of them may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split_lines(raw: bytes) -> list[bytes]:
    """The lines with their ends; the last may lack one."""
    lines = raw.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def changed_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[Hunk]:
    """The hunks in order. Their lines are all that is not common to both."""
    numbers: dict[bytes, int] = {}
    left = [numbers.setdefault(line, len(numbers)) for line in old]
    right = [numbers.setdefault(line, len(numbers)) for line in new]
    kept_left, kept_right = [False] * len(left), [False] * len(right)
    for one, other in _common(left, right):
        kept_left[one] = kept_right[other] = True
    hunks = list(_hunks(kept_left, kept_right))
    return [_slid(hunk, old, new, hunks[at + 1] if at + 1 < len(hunks) else None) for at, hunk in enumerate(hunks)]


def _common(left: list[int], right: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of places of one longest common subsequence, or of a shorter one where MAX_BITS forbids."""
    low = 0
    while low < len(left) and low < len(right) and left[low] == right[low]:
        yield low, low
        low += 1
    high = 0
    shortest = min(len(left), len(right)) - low
    while high < shortest and left[-1 - high] == right[-1 - high]:
        yield len(left) - 1 - high, len(right) - 1 - high
        high += 1
    # A line that the other side has nowhere can't be common; without those the middle is often short.
    in_left, in_right = set(left[low : len(left) - high]), set(right[low : len(right) - high])
    ones = [at for at in range(low, len(left) - high) if left[at] in in_right]
    others = [at for at in range(low, len(right) - high) if right[at] in in_left]
    for one, other in _aligned([left[at] for at in ones], [right[at] for at in others], is_cut=False):
        yield ones[one], others[other]


def _aligned(left: list[int], right: list[int], *, is_cut: bool) -> Iterator[tuple[int, int]]:
    if not left or not right:
        return
    if len(left) * len(right) <= MAX_BITS:
        yield from _longest(left, right)
        return
    if is_cut:
        return
    start, other_start = 0, 0
    for one, other in [*_anchors(left, right), (len(left), len(right))]:
        for first, second in _aligned(left[start:one], right[other_start:other], is_cut=True):
            yield start + first, other_start + second
        if one < len(left):
            yield one, other
        start, other_start = one + 1, other + 1


def _longest(left: list[int], right: list[int]) -> Iterator[tuple[int, int]]:
    """Row j of the table, as bits: bit i is 0 where left[i] makes the common subsequence with right[:j] longer."""
    places: dict[int, int] = {}
    for at, number in enumerate(left):
        places[number] = places.get(number, 0) | (1 << at)
    every = (1 << len(left)) - 1
    row = every
    rows = [row]
    for number in right:
        match = places.get(number, 0)
        hit = row & match
        row = ((row + hit) | (row - hit)) & every
        rows.append(row)
    one, other = len(left), len(right)
    while one and other:
        if left[one - 1] == right[other - 1]:
            one, other = one - 1, other - 1
            yield one, other
        elif rows[other] >> (one - 1) & 1:
            one -= 1
        else:
            other -= 1


def _anchors(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    """Places of lines that occur once on each side: the longest run of them that keeps its order."""
    in_left, in_right = Counter(left), Counter(right)
    place = {number: at for at, number in enumerate(right) if in_right[number] == 1}
    pairs = [(at, place[number]) for at, number in enumerate(left) if in_left[number] == 1 and number in place]
    tops: list[int] = []
    top_pairs: list[int] = []
    below: list[int] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect.bisect_left(tops, other)
        below.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [other]
        top_pairs[pile : pile + 1] = [number]
    chosen: list[tuple[int, int]] = []
    at = top_pairs[-1] if top_pairs else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = below[at]
    return chosen[::-1]


def _hunks(kept_left: list[bool], kept_right: list[bool]) -> Iterator[Hunk]:
    one, other = 0, 0
    while one < len(kept_left) or other < len(kept_right):
        start, other_start = one, other
        while one < len(kept_left) and not kept_left[one]:
            one += 1
        while other < len(kept_right) and not kept_right[other]:
            other += 1
        if one > start or other > other_start:
            yield Hunk(start, one, other_start, other)
        one, other = one + 1, other + 1


def _slid(hunk: Hunk, old: Sequence[bytes], new: Sequence[bytes], following: Hunk | None) -> Hunk:
    """A hunk of one side only, at the best of the places where it says the same: it should begin at a line that is
    indented least, and among those as late as it can, so that a new function comes whole and not from `return` on."""
    is_new = hunk.old_start == hunk.old_end
    if not is_new and hunk.new_start != hunk.new_end:
        return hunk
    lines, start, end = (new, hunk.new_start, hunk.new_end) if is_new else (old, hunk.old_start, hunk.old_end)
    limit = len(lines)
    if following is not None:  # stay clear of it: hunks that touch would be one
        limit = (following.new_start if is_new else following.old_start) - 1
    best, best_indent, shift = 0, _indent(lines, start), 0
    while end + shift < limit and lines[start + shift] == lines[end + shift]:
        shift += 1
        indent = _indent(lines, start + shift)
        if indent <= best_indent:
            best, best_indent = shift, indent
    return Hunk(hunk.old_start + best, hunk.old_end + best, hunk.new_start + best, hunk.new_end + best)


def _indent(lines: Sequence[bytes], at: int) -> int:
    """Of the first line from `at` on that has text."""
    for line in lines[at : at + 20]:
        text = line.lstrip(b" \t")
        if text.strip():
            return len(line) - len(text)
    return 0
