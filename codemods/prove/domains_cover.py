"""Covering arrays: few rows in which every combination of any `strength` columns' levels occurs. Greedy,
deterministic; the rows with low levels come first, so a cut-off array has covered what matters most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

_Combination = tuple[int, ...]


def covering(sizes: Sequence[int], strength: int) -> Iterator[tuple[int, ...]]:
    """Rows of level numbers, one column for each size. With fewer columns than `strength`: all rows there are."""
    count = len(sizes)
    if min(sizes, default=1) < 1:
        return
    if count <= strength:
        yield from sorted(product(*(range(size) for size in sizes)), key=lambda row: (max(row, default=0), row))
        return
    groups = list(combinations(range(count), strength))
    left: dict[tuple[int, ...], dict[_Combination, None]] = {}
    for group in groups:
        every = sorted(product(*(range(sizes[column]) for column in group)), key=lambda each: (max(each), sum(each)))
        left[group] = dict.fromkeys(every)
    of_column = [[group for group in groups if column in group] for column in range(count)]
    while True:
        open_groups = [each for each in groups if left[each]]
        if not open_groups:
            return
        group = min(open_groups, key=lambda each: _weight(left[each]))
        row = _filled(sizes, of_column, left, group)
        for each in groups:
            left[each].pop(tuple(row[column] for column in each), None)
        yield tuple(row)


def _weight(combinations_left: dict[_Combination, None]) -> tuple[int, int]:
    first = next(iter(combinations_left))
    return max(first), -len(combinations_left)


def _filled(
    sizes: Sequence[int],
    of_column: list[list[tuple[int, ...]]],
    left: dict[tuple[int, ...], dict[_Combination, None]],
    group: tuple[int, ...],
) -> list[int]:
    """A row that holds the first combination left of a group, filled up with the levels that cover most."""
    row = [-1] * len(sizes)
    for column, level in zip(group, next(iter(left[group])), strict=True):
        row[column] = level
    for column in range(len(sizes)):
        if row[column] >= 0:
            continue
        ready = [each for each in of_column[column] if all(row[other] >= 0 or other == column for other in each)]
        row[column] = _best(sizes[column], column, row, ready, left)
    return row


def _best(
    size: int,
    column: int,
    row: list[int],
    ready: list[tuple[int, ...]],
    left: dict[tuple[int, ...], dict[_Combination, None]],
) -> int:
    gains = [0] * size
    for group in ready:
        remaining = left[group]
        if not remaining:
            continue
        at = group.index(column)
        key = [row[other] for other in group]
        for level in range(size):
            key[at] = level
            if tuple(key) in remaining:
                gains[level] += 1
    return max(range(size), key=lambda level: (gains[level], -level))
