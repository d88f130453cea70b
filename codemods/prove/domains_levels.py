"""The values of a domain that are worth trying first, in the order of their worth, and whether a value fits a domain.

A level of a tied input may be a `Relation`: it gets its value when the inputs that it depends on have theirs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from codemods.prove.domains import (
    Bool,
    Build,
    Bytes,
    DictOf,
    Domain,
    Either,
    Float,
    Hole,
    Int,
    ListOf,
    Matching,
    Maybe,
    OneOf,
    Opaque,
    Record,
    Text,
    Tie,
    Tied,
    TupleOf,
)
from codemods.prove.domains_home import MISSING
from codemods.prove.domains_regex import samples
from codemods.prove.domains_text import text_levels
from codemods.prove.domains_ties import near, worked_out

MAKERS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "deque": deque}
PATHS = ("a/b.txt", "", "/", "/a/b", "..", "a b/.c", "missing")


class Relation(Struct, frozen=True):
    """One way to satisfy a tie. pick: the offset of "near", the place of "index" and "member" (negative from the
    end)."""

    tie: Tie
    pick: int
    domain: Domain


def levels(domain: Domain, limit: int, place: str = "") -> list[Any]:
    """Up to `limit` values (or relations), the most telling first. place: the input's name, for its holes."""
    return _distinct(_levels(domain, limit, place))[:limit]


def _levels(domain: Domain, limit: int, place: str) -> list[Any]:  # noqa: C901 - one line for each kind of domain
    if isinstance(domain, Tied):
        return _mixed([_levels(domain.inner, limit, place), _relations(domain)])
    if isinstance(domain, Bool):
        return [True, False]
    if isinstance(domain, Int):
        return _ints(domain)
    if isinstance(domain, Float):
        return _floats(domain)
    if isinstance(domain, Text):
        return list(text_levels(domain, limit))
    if isinstance(domain, Matching):
        return list(samples(domain.pattern, limit))
    if isinstance(domain, Bytes):
        return [*domain.exact, *(text.encode() for text in text_levels(domain.text, limit)), b"\x00\xff"]
    if isinstance(domain, OneOf):
        return list(domain.values)
    if isinstance(domain, Maybe):
        inner = _levels(domain.inner, limit, place)
        return [*inner[:1], None, *inner[1:]]
    if isinstance(domain, Either):
        return _mixed([_levels(each, limit, place) for each in domain.choices])
    if isinstance(domain, ListOf):
        return _lists(domain, limit, place)
    if isinstance(domain, TupleOf):
        return _rows(domain.items, limit, place)
    if isinstance(domain, DictOf):
        return _dicts(domain, limit, place)
    if isinstance(domain, Record):
        return _records(domain, limit, place)
    return [Hole(place)]


def _relations(domain: Tied) -> list[Any]:
    found: list[list[Any]] = []
    for tie in domain.ties:
        picks = (0, 1, -1) if tie.kind == "near" else (0, -1, 1, _BEYOND)
        found.append([Relation(tie, pick, domain.inner) for pick in picks])
    return _mixed(found)


_BEYOND = 1 << 20


def resolve(relation: Relation, case: Mapping[str, Any]) -> Any:
    """The value of a relation among the inputs of a case, MISSING when it has none that fits."""
    value = worked_out(relation.tie.expression, case)
    if value is MISSING:
        return MISSING
    if relation.tie.kind == "near":
        return fitted(relation.domain, value, relation.pick)
    if relation.tie.kind == "index" and isinstance(value, (list, tuple, str, deque)):
        size = len(value)
        if relation.pick >= _BEYOND:
            return fitted(relation.domain, size, 0)
        return fitted(relation.domain, relation.pick % size if size else 0, 0)
    if isinstance(value, str):
        pieces: list[Any] = [value[:1], value[1:], value]
    elif isinstance(value, (set, frozenset)):
        pieces = sorted(value, key=repr)
    elif isinstance(value, (list, tuple, dict, deque)):
        pieces = list(value)
    else:
        return MISSING
    if not pieces or relation.pick >= _BEYOND:
        return MISSING
    return fitted(relation.domain, pieces[relation.pick % len(pieces)], 0)


def fitted(domain: Domain, value: Any, offset: int) -> Any:
    """The value (or its neighbour) as one of the domain, else MISSING."""
    if isinstance(domain, (Maybe, Tied)):
        return fitted(domain.inner, value, offset)
    if isinstance(domain, Either):
        found = (fitted(each, value, offset) for each in domain.choices)
        return next((each for each in found if each is not MISSING), MISSING)
    if isinstance(domain, Int):
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return MISSING
        whole = int(value) + offset
        return whole if _within(domain, whole) else MISSING
    if isinstance(domain, Float):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > 1e300:
            return MISSING
        number = near(float(value), offset)
        return number if _within(domain, number) else MISSING
    if isinstance(domain, Text):
        return value if isinstance(value, str) and offset == 0 else MISSING
    if isinstance(domain, ListOf):
        if not isinstance(value, (list, tuple, set, frozenset)) or offset:
            return MISSING
        return made(domain.kind, list(value))
    return MISSING


def _within(domain: Int | Float, value: float) -> bool:
    return (domain.low is None or value >= domain.low) and (domain.high is None or value <= domain.high)


def _ints(domain: Int) -> list[Any]:
    ends = [each for each in (domain.low, domain.high) if each is not None]
    around = [hint + offset for hint in domain.hints for offset in (0, 1, -1)]
    inside = [end + offset for end in ends for offset in (0, 1, -1)]
    usual = [1, 0, 2, -1, 3, 10, 9, 7, 100]
    large = [1 << 31, (1 << 63) - 1, -(1 << 63), 1 << 64, 10**30, 255, 256]
    return [each for each in _mixed([[*around, *inside], usual]) + large if _within(domain, each)]


def _floats(domain: Float) -> list[Any]:
    around = [near(hint, offset) for hint in domain.hints for offset in (0, 1, -1)]
    ends = [each for each in (domain.low, domain.high) if each is not None]
    usual = [1.0, 0.0, 2.0, -1.0, 0.5, 10.0, 0.1, 1e-9, 1e9, 3]
    rare = [-0.0, math.inf, math.nan, -math.inf, 5e-324, 1.7976931348623157e308]
    found = _mixed([[*around, *ends], usual]) + rare
    if domain.low is None and domain.high is None:
        return found
    return [each for each in found if _within(domain, each)]  # NaN is within nothing


def _lists(domain: ListOf, limit: int, place: str) -> list[Any]:
    items = levels(domain.item, max(8, limit // 2), f"{place}[]")
    if isinstance(domain.item, Opaque):
        items = [Hole(f"{place}[{index}]") for index in range(6)]
    one, two, three = (*items, *items, *items)[:3] if items else (None, None, None)
    shapes: list[list[Any]] = [[one], [], [one, two], [one, one], [three, one, two], [two, three, one, two, one]]
    shapes.extend([each] for each in items[1:5])
    shapes.extend(items[:size] for size in domain.sizes if size)
    shapes.extend([(items * (size + 2))[: size + 1] for size in domain.sizes])
    shapes.extend([items[::-1][:4], items[:8]])
    bounded = [each for each in shapes if _has_size(domain, len(each))]
    if not bounded and items:
        bounded = [(items * (domain.low + 1))[: domain.low]]
    return [made(domain.kind, each) for each in bounded]


def made(kind: str, values: list[Any]) -> Any:
    """A collection of that kind; what has no hash is left out of a set."""
    if kind in {"set", "frozenset"}:
        values = [each for each in values if _is_hashable(each)]
    return MAKERS[kind](values)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _has_size(domain: ListOf, size: int) -> bool:
    return size >= domain.low and (domain.high is None or size <= domain.high)


def _rows(items: tuple[Domain, ...], limit: int, place: str) -> list[Any]:
    """Tuples in which one place at a time is unusual, then all of them."""
    columns = [levels(each, max(4, limit // 2), f"{place}[{at}]") for at, each in enumerate(items)]
    columns = [[each for each in column if not isinstance(each, Relation)] or [None] for column in columns]
    base = tuple(column[0] for column in columns)
    varied = [[(*base[:at], level, *base[at + 1 :]) for level in column[1:4]] for at, column in enumerate(columns)]
    together = [tuple(column[step % len(column)] for column in columns) for step in range(1, 5)]
    return [base, *_mixed([*varied, together])]


def _dicts(domain: DictOf, limit: int, place: str) -> list[Any]:
    values = levels(domain.value, max(6, limit // 2), f"{place}[]")
    keys = [*domain.known, *(each for each in levels(domain.key, 6) if each not in domain.known)]
    if not keys or not values:
        return [{}]
    every = {key: values[at % len(values)] for at, key in enumerate(keys[: len(domain.known) or 2])}
    single = [{keys[0]: each} for each in values[:6]]
    lacking = [{key: every[key] for key in every if key != missing} for missing in list(every)[:4]]
    other = {key: values[(at + 1) % len(values)] for at, key in enumerate(reversed(list(every)))}
    return [every, {}, other, *single, *lacking, dict.fromkeys(keys, values[0])]


def _records(domain: Record, limit: int, place: str) -> list[Any]:
    if domain.ref == "pathlib:Path":
        return [Build(domain.ref, (), (path,)) for path in PATHS]
    rows = _rows(tuple(each.domain for each in domain.fields), limit, place) if domain.fields else [()]
    found = [record_of(domain, row) for row in rows]
    if not domain.ref:
        full = found[0]
        found.extend({key: full[key] for key in full if key != each.name} for each in domain.fields if each.can_miss)
    return found


def record_of(domain: Record, values: tuple[Any, ...]) -> Any:
    """An instance, or a dictionary, with these values of its fields."""
    names = [each.name for each in domain.fields]
    pairs = tuple(zip(names, values, strict=True))
    return Build(domain.ref, pairs) if domain.ref else dict(pairs)


def _mixed(groups: list[list[Any]]) -> list[Any]:
    return [each for row in zip_longest(*groups, fillvalue=MISSING) for each in row if each is not MISSING]


def _distinct(values: list[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())
