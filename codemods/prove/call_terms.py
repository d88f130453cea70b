"""The terms of calls: one for the same callee and arguments, however the call is written, and what such a call was
given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codemods.prove import bindings
from codemods.prove.opaque import ATTR, CALL, GLOBAL, Opaque, term

BARE = ((), None)  # a call without arguments, as it is written
_ITSELF = frozenset([Opaque, str, int, type(None)])  # values that freezing leaves as they are (a text with marks aside)
_CALLED = "()"  # no name of an attribute


class Results:
    """The results of calls with the same arguments: of the first, second, ... in a run. `touched`: what such a call was
    given, which may be another thing afterwards."""

    __slots__ = ("terms", "touched")

    def __init__(self, first: Opaque) -> None:
        self.terms = [first]
        callee, given, named, _ = first._u_parts
        values = [*given, *(value for _, value in named or ())]
        touched = [each for each in values if type(each) is Opaque and each._u_kind is not GLOBAL]
        if callee._u_kind is ATTR and type(callee._u_parts[0]) is Opaque:
            touched.append(callee._u_parts[0])
        self.touched = tuple(dict.fromkeys(touched))


def are_themselves(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments are their own frozen forms."""
    return _ITSELF.issuperset(map(type, args)) and (not kwargs or _ITSELF.issuperset(map(type, kwargs.values())))


def results_of(callee: Opaque, args: tuple[Any, ...], kwargs: dict[str, Any], freeze: Callable[[Any], Any]) -> Results:
    """What there is of calls with these arguments. Found at once where they are their own frozen forms."""
    known: Any = callee._u_attrs
    if are_themselves(args, kwargs):
        written = (args, tuple(kwargs.items()) if kwargs else None)
        found: Results | None = known.get(written)
        if found is None:
            named = frozenset(kwargs.items()) if kwargs else None
            found = known[written] = _frozen(callee, tuple(map(freeze, args)), named, freeze)
        return found
    named = frozenset([(name, freeze(value)) for name, value in kwargs.items()]) if kwargs else None
    return _frozen(callee, tuple(map(freeze, args)), named, freeze)


def _frozen(
    callee: Opaque, given: tuple[Any, ...], named: frozenset[Any] | None, freeze: Callable[[Any], Any]
) -> Results:
    """The same for frozen arguments: one for all ways to write a call."""
    if callee in bindings.known:
        args, kwargs = bindings.bound(callee, given, dict(named or ()), freeze)
        given, named = args, frozenset(kwargs.items()) or None
    known: Any = callee._u_attrs
    found: Results | None = known.get((_CALLED, given, named))
    if found is None:
        found = known[_CALLED, given, named] = Results(term(CALL, callee, given, named, 0))
    return found
