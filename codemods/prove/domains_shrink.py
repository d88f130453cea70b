"""A smaller case that still fails: one input at a time is made simpler as long as the predicate holds.

Greedy and deterministic, with a bound on how often the predicate is asked; the domains are kept to, where they are
given."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from codemods.prove.domains import (
    Bool,
    Build,
    Domain,
    Either,
    Float,
    Int,
    ListOf,
    Matching,
    Maybe,
    OneOf,
    Record,
    Text,
    Tied,
)
from codemods.prove.domains_show import key_of

Fails = Callable[[dict[str, Any]], bool]


def shrink(
    case: Mapping[str, Any], fails: Fails, *, domains: Mapping[str, Domain] | None = None, tries: int = 2000
) -> dict[str, Any]:
    """The simplest case found that `fails` still holds for; the case itself when it does not hold for it."""
    smallest = dict(case)
    seen = {key_of(smallest)}
    left = tries
    if not fails(smallest):
        return smallest
    is_better = True
    while is_better:
        is_better = False
        for candidate in _candidates(smallest):
            if not all(
                allows(domain, candidate[name]) for name, domain in (domains or {}).items() if name in candidate
            ):
                continue
            key = key_of(candidate)
            if key in seen:
                continue
            if left <= 0:
                return smallest
            seen.add(key)
            left -= 1
            if fails(candidate):
                smallest, is_better = candidate, True
                break
    return smallest


def _candidates(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cases with one input simpler, then cases in which one value is simpler wherever it occurs."""
    for name, value in case.items():
        for simpler in _simpler(value):
            yield {**case, name: simpler}
    scalars = [each for value in case.values() for each in _scalars(value)]
    repeated = {repr(each): each for each in scalars if sum(_same(each, other) for other in scalars) > 1}
    for each in repeated.values():
        for simpler in _simpler(each):
            yield {name: _replaced(value, each, simpler) for name, value in case.items()}


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, deque)):
        for each in value:
            yield from _scalars(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _scalars(each)
    elif isinstance(value, (int, float, str)):
        yield value


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _replaced(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, (list, tuple, deque)):
        return type(value)(_replaced(each, old, new) for each in value)
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    return new if _same(value, old) else value


def _simpler(value: Any) -> Iterator[Any]:
    """Values that are simpler, the simplest first. Every chain of them ends."""
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int):
        yield from _simpler_int(value)
    elif isinstance(value, float):
        yield from _simpler_float(value)
    elif isinstance(value, (str, bytes)):
        yield from _simpler_text(value)
    elif isinstance(value, (list, tuple, deque, set, frozenset)):
        kind = type(value)
        items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)
        for each in _simpler_items(items):
            yield kind(each)
    elif isinstance(value, dict):
        yield from _simpler_dict(value)
    elif isinstance(value, Build):
        yield from _simpler_build(value)


def _simpler_dict(value: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
    if value:
        yield {}
    for key in value:
        yield {other: each for other, each in value.items() if other != key}
    for key, each in value.items():
        for simpler in _simpler(each):
            yield {**value, key: simpler}


def _simpler_build(value: Build) -> Iterator[Build]:
    for at, (name, each) in enumerate(value.kwargs):
        for simpler in _simpler(each):
            yield Build(value.ref, (*value.kwargs[:at], (name, simpler), *value.kwargs[at + 1 :]), value.args)
    for at, each in enumerate(value.args):
        for simpler in _simpler(each):
            yield Build(value.ref, value.kwargs, (*value.args[:at], simpler, *value.args[at + 1 :]))


def _simpler_int(value: int) -> Iterator[int]:
    if value < 0:
        yield -value
    size = abs(value)
    for smaller in dict.fromkeys((0, 1, 2, size // 2, size - 1)):
        if 0 <= smaller < size:
            yield smaller
    if value < 0 and value + 1 < 0:
        yield value + 1


def _simpler_float(value: float) -> Iterator[float]:
    if not math.isfinite(value):
        yield from (0.0, 1.0)
        if value < 0:
            yield math.inf
        return
    if value < 0 or repr(value) == "-0.0":
        yield abs(value)
    for smaller in (0.0, 1.0, float(int(value)), float(round(value, 1)), value / 2):
        if abs(smaller) < abs(value) and len(repr(smaller)) <= len(repr(value)):
            yield smaller


def _simpler_text(value: Any) -> Iterator[Any]:
    size = len(value)
    if size == 0:
        return
    yield value[:0]
    step = size // 2
    while step:
        for at in range(0, size, step):
            if at or step < size:
                yield value[:at] + value[at + step :]
        step //= 2
    if isinstance(value, str):
        for at, letter in enumerate(value[:40]):
            for plain in ("a", "0"):
                if _weight(plain) < _weight(letter):
                    yield value[:at] + plain + value[at + 1 :]


def _weight(letter: str) -> tuple[int, int]:
    """Plain letters before digits before anything else."""
    order = 0 if letter == "a" else 1 if letter == "0" else 2 if letter.isascii() and letter.isalnum() else 3
    return order, ord(letter)


def _simpler_items(items: list[Any]) -> Iterator[list[Any]]:
    if not items:
        return
    yield []
    if len(items) > 3:
        half = len(items) // 2
        yield from (items[:half], items[half:])
    for at in range(len(items)):
        yield items[:at] + items[at + 1 :]
    for at, each in enumerate(items):
        for simpler in _simpler(each):
            yield [*items[:at], simpler, *items[at + 1 :]]


def allows(domain: Domain, value: Any) -> bool:
    """Whether a simpler value may stand for one of the domain. Only what a spec bounds is refused. A value that was
    observed may be of any kind."""
    if isinstance(domain, Tied):
        return allows(domain.inner, value)
    if isinstance(domain, Maybe):
        return value is None or allows(domain.inner, value)
    if isinstance(domain, Either):
        return any(allows(each, value) for each in domain.choices)
    if isinstance(domain, (Int, Float)):
        if not isinstance(value, (int, float)):
            return False
        return (domain.low is None or value >= domain.low) and (domain.high is None or value <= domain.high)
    if isinstance(domain, OneOf):
        return any(type(each) is type(value) and each == value for each in domain.values)
    if isinstance(domain, Matching):
        return isinstance(value, str) and re.fullmatch(domain.pattern, value) is not None
    if isinstance(domain, ListOf):
        if not isinstance(value, Collection) or isinstance(value, str | bytes):
            return False
        is_sized = len(value) >= domain.low and (domain.high is None or len(value) <= domain.high)
        return is_sized and all(allows(domain.item, each) for each in value)
    if isinstance(domain, Record):
        return _allows_record(domain, value)
    return not isinstance(domain, (Bool, Text)) or isinstance(value, (bool, str))


def _allows_record(domain: Record, value: Any) -> bool:
    given = dict(value.kwargs) if isinstance(value, Build) else value
    if not isinstance(given, dict):
        return False
    needed = all(each.name in given or each.can_miss for each in domain.fields)
    return needed and all(allows(each.domain, given[each.name]) for each in domain.fields if each.name in given)
