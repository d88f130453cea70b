"""Which concrete inputs a pair is run with: first the telling values in combination, then drawn ones, each once.

The same domains, budget and seed give the same cases, whatever else the process has loaded. A case is plain data; see
`materialise` in domains.py for what each side does with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from math import comb, prod
from typing import Any

from codemods.prove.domains import Domain
from codemods.prove.domains_cover import covering
from codemods.prove.domains_draw import Drawer
from codemods.prove.domains_home import MISSING
from codemods.prove.domains_levels import Relation, levels, resolve
from codemods.prove.domains_show import key_of
from codemods.prove.domains_strategies import drawn_by_hypothesis

_MOST_LEVELS = 160  # of one input
_MOST_COMBINATIONS = 24_000  # that a covering array keeps in mind
_BY_HYPOTHESIS = 20  # one case in so many, and no more than
_MOST_BY_HYPOTHESIS = 100
_FRUITLESS = 300  # draws in a row that brought nothing new


def cases(domains: Mapping[str, Domain], *, budget: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Up to `budget` different cases, input name -> value, in the order of `domains`.

    All combinations of the telling values while they are few, else every three of the best and every two of the good
    ones; then cases drawn by the seed, in which related inputs are common; last some of hypothesis'."""
    return islice(_candidates(domains, budget, seed, set()), max(0, budget))


def _candidates(domains: Mapping[str, Domain], budget: int, seed: int, seen: set[str]) -> Iterator[dict[str, Any]]:
    if not domains:
        yield {}
        return
    by_hypothesis = min(budget // _BY_HYPOTHESIS, _MOST_BY_HYPOTHESIS)
    for case in islice(_telling(domains, budget), max(1, budget // 2)):
        if _is_new(case, seen):
            yield case
    drawer, fruitless = Drawer(domains, seed), 0
    while len(seen) < budget - by_hypothesis and fruitless < _FRUITLESS:
        case = drawer.case()
        fruitless = 0 if _is_new(case, seen) else fruitless + 1
        if not fruitless:
            yield case
    for case in drawn_by_hypothesis(domains, by_hypothesis, seed):
        case = drawer.related(case)
        if _is_new(case, seen):
            yield case
    while len(seen) < budget and fruitless < _FRUITLESS:
        case = drawer.case()
        fruitless = 0 if _is_new(case, seen) else fruitless + 1
        if not fruitless:
            yield case


def _is_new(case: dict[str, Any], seen: set[str]) -> bool:
    key = key_of(case)
    if key in seen:
        return False
    seen.add(key)
    return True


def _telling(domains: Mapping[str, Domain], budget: int) -> Iterator[dict[str, Any]]:
    """The deterministic part."""
    names = list(domains)
    columns = [levels(domain, _MOST_LEVELS, name) or [None] for name, domain in domains.items()]
    sizes = [len(column) for column in columns]
    if prod(sizes) <= budget // 2 or len(names) == 1:
        for row in product(*columns):
            yield _completed(names, columns, row)
        return
    for strength, share in ((3, budget // 4), (2, budget // 2)):
        if len(names) < strength:
            continue
        most = _most_levels(len(names), strength, share)
        if comb(len(names), strength) * 2**strength > _MOST_COMBINATIONS:
            continue
        for numbers in islice(covering([min(size, most) for size in sizes], strength), share):
            row = tuple(column[number] for column, number in zip(columns, numbers, strict=True))
            yield _completed(names, columns, row)


def _most_levels(count: int, strength: int, share: int) -> int:
    """How many levels of each input can be combined in about `share` rows."""
    most = 2
    while most < 40:
        larger = most + 1
        rows = larger**strength * (1.8 if count > strength else 1.0)
        if rows > share or comb(count, strength) * larger**strength > _MOST_COMBINATIONS:
            break
        most = larger
    return most


def _completed(names: list[str], columns: list[list[Any]], row: tuple[Any, ...]) -> dict[str, Any]:
    """A case in which relations have their values; one that can't be had gets the input's first plain level."""
    case = {name: value for name, value in zip(names, row, strict=True) if not isinstance(value, Relation)}
    waiting = {name: value for name, value in zip(names, row, strict=True) if isinstance(value, Relation)}
    while waiting:
        ready = {name: found for name, one in waiting.items() if (found := resolve(one, case)) is not MISSING}
        if not ready:
            name = next(iter(waiting))
            column = columns[names.index(name)]
            plain = [each for each in column if not isinstance(each, Relation)]
            ready = {name: plain[0] if plain else None}
        name, value = next(iter(ready.items()))
        case[name] = value
        del waiting[name]
    return {name: case[name] for name in names}
