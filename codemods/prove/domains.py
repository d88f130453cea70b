"""What values an input of a twin run may have, and the plain data that stands for such values.

A domain is data: it imports nothing that draws. What is inferred from code is domains_infer.py's, what a spec writes is
domains_spec.py's, and which values are tried is domains_cases.py's. A value of a class of the tree is described here
(`Build`, `Member`), because each side has its own class; `materialise` lets the caller make it."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct


class Domain(Struct, frozen=True, tag=True):
    """The base of all kinds."""


class Opaque(Domain, frozen=True, tag=True):
    """Nothing is known. A case holds a `Hole`, which the caller fills with an opaque value."""


class Bool(Domain, frozen=True, tag=True):
    pass


class Int(Domain, frozen=True, tag=True):
    """hints: numbers that the code compares with; their neighbours are tried too. low, high: bounds of a spec."""

    hints: tuple[int, ...] = ()
    low: int | None = None
    high: int | None = None


class Float(Domain, frozen=True, tag=True):
    """Not bounded: NaN and the infinities come too, but late."""

    hints: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None


class Text(Domain, frozen=True, tag=True):
    """exact: texts that the code compares with. separators: what it splits at or looks for. starts, ends: what it
    tests a beginning or an end for. pieces: what it compares parts of the text with. numbers: what it compares a
    number in the text with. styles: what kind of text a parser of the standard library is asked for (STYLES).
    patterns: regular expressions that it is matched with."""

    exact: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()
    styles: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()


STYLES = ("address", "path", "json", "lines", "number", "url", "date", "words")


class Matching(Domain, frozen=True, tag=True):
    """Only texts that match a regular expression as a whole."""

    pattern: str


class Bytes(Domain, frozen=True, tag=True):
    exact: tuple[bytes, ...] = ()
    text: Text = Text()


class OneOf(Domain, frozen=True, tag=True):
    """A closed set of plain values (None among them) or of `Member`s of an enum."""

    values: tuple[Any, ...]


class Maybe(Domain, frozen=True, tag=True):
    """None, or a value of `inner`."""

    inner: Domain


class Either(Domain, frozen=True, tag=True):
    choices: tuple[Domain, ...]


class ListOf(Domain, frozen=True, tag=True):
    """kind: list, tuple, set, frozenset or deque. sizes: lengths that the code compares with."""

    item: Domain
    kind: str = "list"
    sizes: tuple[int, ...] = ()
    low: int = 0
    high: int | None = None


class TupleOf(Domain, frozen=True, tag=True):
    """A tuple with one domain for each place."""

    items: tuple[Domain, ...]


class DictOf(Domain, frozen=True, tag=True):
    """known: keys that the code asks for."""

    key: Domain
    value: Domain
    known: tuple[Any, ...] = ()


class Field(Struct, frozen=True):
    """can_miss: a dictionary may lack the key."""

    name: str
    domain: Domain
    can_miss: bool = False


class Record(Domain, frozen=True, tag=True):
    """An instance of the class `ref` ("module:Qual.name"), built by keywords. With ref "" a dictionary."""

    fields: tuple[Field, ...]
    ref: str = ""


class Tie(Struct, frozen=True):
    """What one input is compared with, in terms of the other inputs: `expression` is Python over their names.

    kind: "near" (equal, and both neighbours), "index" (of a sequence, or a key of a dictionary) or "member" (of a
    collection)."""

    expression: str
    kind: str = "near"


class Tied(Domain, frozen=True, tag=True):
    """Values of `inner` that often stand in a relation to other inputs."""

    inner: Domain
    ties: tuple[Tie, ...]


class Build(Struct, frozen=True):
    """An instance to be made by the caller: the class `ref`, called with these arguments."""

    ref: str
    kwargs: tuple[tuple[str, Any], ...] = ()
    args: tuple[Any, ...] = ()


class Member(Struct, frozen=True):
    """A member of an enum of the tree."""

    ref: str
    name: str


class Hole(Struct, frozen=True):
    """A value that nobody needs to know, at this place of the input: `x`, `x[0]`, `x.host`."""

    place: str


Described = Build | Member | Hole


class Definition(Struct, frozen=True, eq=False):
    """A definition found elsewhere. module: the tree around it, where its own names are looked up by `lookup`.

    ref: "module:Qual.name"; without it the name as it was asked for."""

    node: ast.AST
    module: ast.Module | None = None
    lookup: Lookup | None = None
    ref: str = ""
    name: str = ""


Lookup = Callable[[str], "ast.AST | Definition | None"]


def materialise(value: Any, make: Callable[[Described], Any]) -> Any:
    """A value of its own for one side: containers are copied, what is described is made by `make` (arguments first)."""
    if isinstance(value, Build):
        kwargs = tuple((name, materialise(each, make)) for name, each in value.kwargs)
        return make(Build(value.ref, kwargs, tuple(materialise(each, make) for each in value.args)))
    if isinstance(value, (Member, Hole)):
        return make(value)
    kind = type(value)
    if kind is dict:
        return {materialise(key, make): materialise(each, make) for key, each in value.items()}
    if kind in CONTAINERS:
        return kind(materialise(each, make) for each in value)
    return value


def materialised(case: Mapping[str, Any], make: Callable[[Described], Any]) -> dict[str, Any]:
    """A whole case for one side."""
    return {name: materialise(value, make) for name, value in case.items()}


def is_described(value: Any) -> bool:
    """Whether a value needs the caller to make something."""
    if isinstance(value, (Build, Member, Hole)):
        return True
    if isinstance(value, dict):
        return any(is_described(each) for pair in value.items() for each in pair)
    return type(value) in CONTAINERS and any(is_described(each) for each in value)


CONTAINERS: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", deque: "deque"}


def inner_of(domain: Domain) -> Domain:
    """Without ties."""
    return domain.inner if isinstance(domain, Tied) else domain


def unite(domains: list[Domain]) -> Domain:
    """One domain for several: None becomes `Maybe`, equal ones are one, an opaque one makes all opaque."""
    flat: list[Domain] = []
    has_none = False
    for domain in domains:
        parts = list(domain.choices) if isinstance(domain, Either) else [domain]
        for part in parts:
            if isinstance(part, Maybe):
                has_none, part = True, part.inner
            if part == OneOf((None,)):
                has_none = True
            elif part not in flat:
                flat.append(part)
    if not flat:
        return OneOf((None,))
    closed = [each for each in flat if isinstance(each, OneOf)]
    if len(closed) > 1:
        values = list({repr(value): value for each in closed for value in each.values}.values())
        flat = [OneOf(tuple(values)), *(each for each in flat if not isinstance(each, OneOf))]
    one: Domain = Opaque() if any(isinstance(each, Opaque) for each in flat) else flat[0]
    if len(flat) > 1 and not isinstance(one, Opaque):
        one = Either(tuple(flat))
    return Maybe(one) if has_none else one
