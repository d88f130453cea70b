"""Which calls are made on an instance of a class: as the old class takes them, since that is what callers do. Each
public method alone, then each pair of them, a method after itself too; bounded."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

from msgspec import Struct

_MOST_ALONE = 40
_MOST_IN_PAIRS = 7
_PROTOCOLS = (
    "__call__",
    "__enter__",
    "__exit__",
    "__aenter__",
    "__aexit__",
    "__iter__",
    "__next__",
    "__len__",
    "__str__",
)
_ERROR_NAMES = ("kind", "error", "traceback")


class Call(Struct, frozen=True):
    """names: of the arguments, in order; keywords: those given by name; defaults: those that may be left out.
    is_called: False for a property, which is read."""

    names: tuple[str, ...] = ()
    keywords: frozenset[str] = frozenset()
    defaults: frozenset[str] = frozenset()
    is_called: bool = True


class Plan(Struct, frozen=True):
    """name: of the class. making: how an instance is made. sequences: of names of `calls`."""

    name: str = ""
    making: Call = Call()
    calls: dict[str, Call] = {}
    sequences: tuple[tuple[str, ...], ...] = ((),)


def plan_of(old: type, new: type) -> Plan:
    """For a class and what it became: what differs comes first where there is too much."""
    calls = {name: _call(old, name) for name in _names(old)}
    order = sorted(calls, key=lambda name: (_is_inherited_alike(old, new, name), name[:2] == "__", name))
    alone = order[:_MOST_ALONE]
    pairs = list(product(order[:_MOST_IN_PAIRS], repeat=2))
    return Plan(
        name=old.__name__,
        making=_call_of(old),
        calls=calls,
        sequences=((), *((name,) for name in alone), *pairs),
    )


def _names(kind: type) -> list[str]:
    """Public methods and properties of the class and of its bases in the tree."""
    found: dict[str, None] = {}
    for each in kind.__mro__:
        if "_u_tree" not in each.__dict__:
            continue
        for name, value in each.__dict__.items():
            if (name[:1] != "_" or name in _PROTOCOLS) and _is_method(value):
                found.setdefault(name)
    return list(found)


def _is_method(value: Any) -> bool:
    if isinstance(value, type):
        return False
    return callable(value) or isinstance(value, property | staticmethod | classmethod) or _is_cached(value)


def _is_cached(value: Any) -> bool:
    return type(value).__name__ == "cached_property"


def _is_inherited_alike(old: type, new: type, name: str) -> bool:
    """Whether both have the method with the same code; then it waits for its turn."""
    a, b = inspect.getattr_static(old, name, None), inspect.getattr_static(new, name, None)
    a, b = getattr(a, "__func__", a), getattr(b, "__func__", b)
    x, y = getattr(a, "__code__", None), getattr(b, "__code__", None)
    return x is not None and y is not None and x.co_code == y.co_code and x.co_names == y.co_names


def _call(kind: type, name: str) -> Call:
    value = inspect.getattr_static(kind, name)
    if isinstance(value, property) or _is_cached(value):
        return Call(is_called=False)
    is_bound = not isinstance(value, staticmethod)
    return _call_of(getattr(value, "__func__", value), drops_first=is_bound)


def _call_of(function: Any, *, drops_first: bool = False) -> Call:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return Call()
    if drops_first:
        parameters = parameters[1:]
    names: list[str] = []
    keywords: set[str] = set()
    defaults: set[str] = set()
    for each in parameters:
        if each.kind is each.VAR_KEYWORD:
            continue
        if each.kind is each.VAR_POSITIONAL:
            names.extend(_ERROR_NAMES if getattr(function, "__name__", "").endswith("exit__") else (each.name,))
            defaults.update((each.name,) if each.name in names else ())
            continue
        names.append(each.name)
        if each.kind is each.KEYWORD_ONLY:
            keywords.add(each.name)
        if each.default is not each.empty:
            defaults.add(each.name)
    return Call(tuple(names), frozenset(keywords), frozenset(defaults))
