"""Terms under what a world has decided: a value that is None or equal to a constant is that constant, a comparison is
True or False. So two twins that reach one value by different words compare as equal."""

from __future__ import annotations

from typing import Any

from codemods.prove.facts import MISSING, is_truth
from codemods.prove.freeze import joined, thaw
from codemods.prove.opaque import ATTR, ITEM, OP, ROOT, TEXT, Opaque, forgetting, term
from codemods.prove.world import World


class Settler:
    """Settles the terms of one world. `aliases`: terms that stand for another term (declared by a spec)."""

    def __init__(self, world: World, aliases: dict[Opaque, Any] | None = None) -> None:
        self._world = world
        self._aliases = aliases or {}
        self._done: dict[Opaque, Any] = {}
        self._decided_terms = {each for question in world.answers for each in question[1:] if type(each) is Opaque}
        self._decided_terms.update(self._aliases)

    def settle(self, value: Any) -> Any:
        if type(value) is Opaque:
            if self._decided_terms.isdisjoint(subterms(value)):
                return value
            found = self._done.get(value, MISSING)
            if found is MISSING:
                self._done[value] = value
                found = self._done[value] = self._term(value)
            return found
        if type(value) is tuple:
            return tuple([self.settle(each) for each in value])
        if type(value) is frozenset:
            return frozenset(self.settle(each) for each in value)
        return value

    def _term(self, value: Opaque) -> Any:
        if value in self._aliases:
            return self.settle(self._aliases[value])
        if value._u_kind is ROOT:
            return self._decided(value)
        parts = tuple([self.settle(part) for part in value._u_parts])
        if value._u_kind is TEXT:
            return joined([part if isinstance(part, str) else _piece(part) for part in parts])
        again = term(value._u_kind, *parts)
        for each in (value, again):
            decided = self._decided(each)
            if decided is not each:
                return decided
        return again

    def _decided(self, value: Opaque) -> Any:
        about = self._world.facts.known(value)
        if about is not None:
            if about.none:
                return None
            if about.equal is not MISSING and isinstance(about.equal, str | int | bool):
                return ("bool", about.equal) if isinstance(about.equal, bool) else about.equal
        if value._u_kind is OP and is_truth(value):
            answer = self._answer(value)
            if answer is not MISSING:
                return ("bool", bool(answer))
        return value

    def _answer(self, value: Opaque) -> Any:
        name, *parts = value._u_parts
        told = self._world.told
        if name in ("eq", "ne") and len(parts) == 2:
            a, b = parts if type(parts[0]) is Opaque else parts[::-1]
            if b is None:
                answer = told(("none", a))
            elif type(b) is Opaque:
                answer = told(("same", a, b))
                answer = told(("same", b, a)) if answer is MISSING else answer
            else:
                constant = b[1] if type(b) is tuple and b and b[0] == "bool" else b
                answer = told(("eq", a, constant)) if isinstance(constant, str | int) else MISSING
            return answer if name == "eq" or answer is MISSING else not answer
        if name in ("lt", "le") and len(parts) == 2:
            return self._is_less(*parts) if name == "lt" else _opposite(self._is_less(*reversed(parts)))
        if name == "not":
            answer = (
                self._answer(parts[0]) if type(parts[0]) is Opaque and is_truth(parts[0]) else told(("true", parts[0]))
            )
            return answer if answer is MISSING else not answer
        return told(("true", value))

    def _is_less(self, a: Any, b: Any) -> Any:
        """As a run asks for it (questions.py)."""
        low, high = thaw(a), thaw(b)
        if type(a) is Opaque and isinstance(high, int | float):
            return self._world.told(("lt", a, high))
        if type(b) is Opaque and isinstance(low, int | float):
            return _opposite(self._world.told(("le", b, low)))
        return self._world.told(("less", a, b))


def _opposite(answer: Any) -> Any:
    return answer if answer is MISSING else not answer


def _piece(part: Any) -> Any:
    value, conversion = part
    if conversion == "" and (value is None or type(value) in (str, int)):
        return str(value)
    if conversion == "" and type(value) is tuple and value[:1] in (("bool",), ("float",)):
        return str(value[1])
    return (value, conversion)


_subterms: dict[Opaque, frozenset[Opaque]] = {}
_plain: dict[Opaque, Opaque] = {}
forgetting.extend([_subterms.clear, _plain.clear])


def subterms(value: Opaque) -> frozenset[Opaque]:
    """The term and all terms in it."""
    found = _subterms.get(value)
    if found is None:
        inner: set[Opaque] = {value}
        _gather(value._u_parts, inner)
        found = _subterms[value] = frozenset(inner)
    return found


def _gather(part: Any, found: set[Opaque]) -> None:
    if type(part) is Opaque:
        found |= subterms(part)
    elif type(part) is tuple or type(part) is frozenset:
        for each in part:
            _gather(each, found)


def unversioned(value: Any) -> Any:
    """A term without the moments at which it was read."""
    if type(value) is tuple:
        return tuple([unversioned(each) for each in value])
    if type(value) is frozenset:
        return frozenset(unversioned(each) for each in value)
    if type(value) is not Opaque:
        return value
    found = _plain.get(value)
    if found is None:
        found = _plain[value] = _unversioned(value)
    return found


def _unversioned(value: Opaque) -> Any:
    if value._u_kind is OP and value._u_parts[0] == "after":
        return unversioned(value._u_parts[1])
    parts = tuple([unversioned(part) for part in value._u_parts])
    if value._u_kind in (ATTR, ITEM):
        parts = (*parts[:2], None)
    return term(value._u_kind, *parts)
