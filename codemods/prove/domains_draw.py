"""Draws one case at random, by a seed: small numbers, values met before in the same case, and related inputs are
common, because that is where code takes its rare turns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random
from typing import Any

from codemods.prove.domains import (
    Bool,
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
    Record,
    Text,
    Tied,
    TupleOf,
)
from codemods.prove.domains_home import MISSING
from codemods.prove.domains_levels import PATHS, Relation, levels, made, record_of, resolve
from codemods.prove.domains_regex import samples
from codemods.prove.domains_text import TextDrawer

_RELATED = 0.6
_AGAIN = 0.3
_MANY = 64


class Drawer:
    """Draws cases of a set of domains. `order`: untied inputs first."""

    def __init__(self, domains: Mapping[str, Domain], seed: int) -> None:
        self.domains = dict(domains)
        self.rng = Random(seed)
        self.order = sorted(self.domains, key=lambda name: isinstance(self.domains[name], Tied))
        self._texts: dict[Text, TextDrawer] = {}
        self._levels: dict[str, list[Any]] = {}
        self._met: dict[str, list[Any]] = {}
        self._small: list[int] = []

    def case(self) -> dict[str, Any]:
        """One case, its inputs in the order of the domains."""
        rng = self.rng
        self._met = {}
        self._small = [rng.randint(0, 3), rng.randint(0, 12), rng.choice((1, 2, 9, 10, 11, 20, 100, -1, -2))]
        drawn: dict[str, Any] = {}
        for name in self.order:
            drawn[name] = self.value(self.domains[name], name, drawn)
        return self.related(drawn)

    def related(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The case with some tied inputs drawn anew, now that all inputs are there."""
        drawn = {name: case[name] for name in self.domains}
        for name in self.order:
            domain = self.domains[name]
            if isinstance(domain, Tied) and self.rng.random() < 0.3:
                rest = {other: value for other, value in drawn.items() if other != name}
                drawn[name] = self._related(domain, rest, drawn[name])
        return drawn

    def _related(self, domain: Tied, drawn: Mapping[str, Any], otherwise: Any) -> Any:
        tie = self.rng.choice(domain.ties)
        picks = (0, 0, 0, 1, -1) if tie.kind == "near" else (0, 0, 1, 2, 3, -1, -1, 1 << 20)
        found = resolve(Relation(tie, self.rng.choice(picks), domain.inner), drawn)
        return otherwise if found is MISSING else found

    def value(self, domain: Domain, place: str, drawn: Mapping[str, Any]) -> Any:
        rng = self.rng
        if isinstance(domain, Tied):
            plain = self.value(domain.inner, place, drawn)
            return self._related(domain, drawn, plain) if rng.random() < _RELATED else plain
        if isinstance(domain, Maybe):
            return None if rng.random() < 0.2 else self.value(domain.inner, place, drawn)
        if isinstance(domain, Either):
            return self.value(rng.choice(domain.choices), place, drawn)
        if isinstance(domain, Bool):
            return rng.random() < 0.5
        if isinstance(domain, OneOf):
            return rng.choice(domain.values)
        if isinstance(domain, (Int, Float, Text, Bytes, Matching)):
            return self._scalar(domain)
        return self._container(domain, place, drawn)

    def _scalar(self, domain: Int | Float | Text | Bytes | Matching) -> Any:
        met = self._met.setdefault(type(domain).__name__, [])
        if met and self.rng.random() < _AGAIN:
            again = self.rng.choice(met)
            if not isinstance(domain, (Int, Float)) or _is_within(domain, again):
                return again
        if isinstance(domain, Int):
            value: Any = self._int(domain)
        elif isinstance(domain, Float):
            value = self._float(domain)
        elif isinstance(domain, Text):
            value = self._text(domain)
        elif isinstance(domain, Bytes):
            is_known = domain.exact and self.rng.random() < 0.3
            value = self.rng.choice(domain.exact) if is_known else self._text(domain.text).encode("utf-8", "replace")
        else:
            known = self._known(domain)
            value = self.rng.choice(known) if known else ""
        met.append(value)
        return value

    def _text(self, text: Text) -> str:
        drawer = self._texts.get(text)
        if drawer is None:
            drawer = self._texts[text] = TextDrawer(text)
        return drawer.draw(self.rng)

    def _known(self, domain: Domain) -> list[Any]:
        key = repr(domain)
        if key not in self._levels:
            if isinstance(domain, Matching):
                self._levels[key] = list(samples(domain.pattern, _MANY))
            else:
                self._levels[key] = levels(domain, _MANY)
        return self._levels[key]

    def _int(self, domain: Int) -> int:
        rng, chance = self.rng, self.rng.random()
        if chance < 0.3:
            value = rng.choice(self._known(domain) or [0])
        elif chance < 0.7:
            value = rng.choice(self._small)
        elif chance < 0.9:
            value = rng.randint(-3, 20)
        else:
            value = rng.randint(-(1 << rng.randint(1, 70)), 1 << rng.randint(1, 70))
        if _is_within(domain, value):
            return int(value)
        low = domain.low if domain.low is not None else (domain.high or 0) - 1000
        return rng.randint(low, domain.high if domain.high is not None else low + 1000)

    def _float(self, domain: Float) -> float:
        rng, chance = self.rng, self.rng.random()
        if chance < 0.3:
            value: float = rng.choice(self._known(domain) or [0.0])
        elif chance < 0.6:
            value = float(rng.choice(self._small))
        elif chance < 0.9:
            value = round(rng.uniform(-10, 100), rng.randint(0, 6))
        else:
            value = rng.uniform(-1, 1) * 10 ** rng.randint(-20, 20)
        if _is_within(domain, value):
            return value
        low = domain.low if domain.low is not None else (domain.high or 0.0) - 1000.0
        return rng.uniform(low, domain.high if domain.high is not None else low + 1000.0)

    def _container(self, domain: Domain, place: str, drawn: Mapping[str, Any]) -> Any:
        if isinstance(domain, ListOf):
            size = self._size(domain)
            values = [self.value(domain.item, f"{place}[{at}]", drawn) for at in range(size)]
            if size > 1 and self.rng.random() < 0.1:
                values[-1] = values[0]
            return made(domain.kind, values)
        if isinstance(domain, TupleOf):
            return tuple(self.value(each, f"{place}[{at}]", drawn) for at, each in enumerate(domain.items))
        if isinstance(domain, DictOf):
            keys = [key for key in domain.known if self.rng.random() < 0.6]
            keys.extend(self.value(domain.key, f"{place}.key", drawn) for _ in range(self.rng.choice((0, 0, 1, 2, 3))))
            self.rng.shuffle(keys)
            return {key: self.value(domain.value, f"{place}[{key!r}]", drawn) for key in keys}
        if isinstance(domain, Record):
            return self._record(domain, place, drawn)
        return Hole(place)

    def _record(self, domain: Record, place: str, drawn: Mapping[str, Any]) -> Any:
        if domain.ref == "pathlib:Path":
            return self.rng.choice(levels(domain, len(PATHS)))
        found = record_of(
            domain, tuple(self.value(each.domain, f"{place}.{each.name}", drawn) for each in domain.fields)
        )
        if isinstance(found, dict):
            for each in domain.fields:
                if each.can_miss and self.rng.random() < 0.3:
                    del found[each.name]
        return found

    def _size(self, domain: ListOf) -> int:
        chance = self.rng.random()
        if domain.sizes and chance < 0.3:
            size = self.rng.choice(domain.sizes) + self.rng.choice((0, 0, 1, -1))
        elif chance < 0.95:
            size = self.rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5))
        else:
            size = self.rng.randint(6, 20)
        high = domain.high if domain.high is not None else max(size, domain.low)
        return max(domain.low, min(size, high), 0)


def _is_within(domain: Int | Float, value: Any) -> bool:
    if isinstance(value, float) and math.isnan(value):
        return domain.low is None and domain.high is None
    return (domain.low is None or value >= domain.low) and (domain.high is None or value <= domain.high)
