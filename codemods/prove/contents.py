"""What a table of a module or class holds at the moment of a call, as far as a run has asked for it, and what became of
it. Looking is no effect; what it holds in the end is one (state.py). A key is asked for as it is looked up, and
everything at once only where code goes through the whole.

A call that is given the table, or of a function that changes it, leaves it with contents that are unknown again."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from codemods.prove.opaque import ATTR, CALL, GLOBAL, ITEM, OP, Opaque, current, term

STATE, CHANGED = "state", "changed"
GONE: Any = object()
_NOTHING = ("nothing",)
_PLAIN = frozenset(name for kind in (str, bytes, list, dict, set, tuple) for name in dir(kind))


def state_term(key: str) -> Opaque:
    """What a name of a module or class holds when a call begins."""
    return term(OP, STATE, key)


class Contents:
    """The contents that a table had at a moment, `base`, and what became of them. changers: the names of functions
    that may change it."""

    def __init__(self, key: str, changers: Collection[str]) -> None:
        self._origin, self._changers = state_term(key), changers
        self._run: Any = None
        self._begin(self._origin)

    def _begin(self, base: Opaque) -> None:
        self.base = self._shown = base
        self.changed: dict[Any, tuple[Any, Any]] = {}
        self._there: dict[Any, tuple[Any, Any]] = {}
        self._absent: set[Any] = set()
        self._rest: list[tuple[Any, Any]] | None = None
        self.tail: list[Any] = []
        self.whole: list[Any] | None = None

    def now(self) -> Any:
        """The run that is on, after what its calls may have done to the table."""
        run = current.run
        if run is not self._run:
            self._run, self._at = run, 0
            self._begin(self._origin)
        touch = run.touched.get(self._shown)
        for event in run.events[self._at :]:
            if event._u_kind is CALL and (event is touch or self._is_changer(event._u_parts[0])):
                self._begin(term(OP, "after", self.frozen(), event))
        self._at = len(run.events)
        return run

    def is_of(self, run: Any) -> bool:
        return self._run is run

    def _is_changer(self, callee: Opaque) -> bool:
        if callee._u_kind is GLOBAL:
            _, colon, name = callee._u_parts[0].partition(":")
            return bool(colon) and name.rpartition(".")[2] in self._changers
        return callee._u_kind is ATTR and callee._u_parts[1] in self._changers and callee._u_parts[1] not in _PLAIN

    # -- one key

    def find(self, key: Any) -> Any:
        """What is there under a key, or nothing: the world is asked, once."""
        run = self.now()
        frozen = run.freezer.freeze(key)
        found = self.changed.get(frozen)
        if found is not None:
            return found[1]
        own = self._own()
        for known, (other, value) in self.changed.items():
            if not (frozen in own and known in own) and bool(key == other):
                return value
        if frozen in own:
            return own[frozen][1]
        if frozen in self._absent:
            return GONE
        if self._rest is not None:
            return next((value for other, value in own.values() if bool(other == key)), GONE)
        if not run.contains(self.base, key):
            self._absent.add(frozen)
            return GONE
        self._there[frozen] = key, run.item(self.base, key)
        return self._there[frozen][1]

    def put(self, key: Any, value: Any) -> None:
        frozen = self.now().freezer.freeze(key)
        if frozen not in self.changed:
            own = self._own()
            for known, (other, _) in self.changed.items():
                if not (frozen in own and known in own) and bool(other == key):
                    frozen = known
                    break
        self.changed[frozen] = key, value

    def remove(self, key: Any) -> Any:
        found = self.find(key)
        if found is GONE:
            raise KeyError(key)
        self.put(key, GONE)
        return found

    # -- everything

    def _own(self) -> dict[Any, tuple[Any, Any]]:
        """What is known of the contents that the table had, by frozen key; no two of its keys are equal."""
        return {**self._there, **{key: (key, value) for key, value in self._rest or ()}}

    def items(self) -> list[tuple[Any, Any]]:
        run = self.now()
        if self._rest is None:
            size = run.sizes(self.base)
            keys = [term(OP, "key", self.base, index) for index in range(size - len(self._there))]
            self._rest = [(key, run.item(self.base, key)) for key in keys]
        own = self._own()
        new = [key for frozen, (key, _) in self.changed.items() if frozen not in own and frozen not in self._absent]
        kept = [pair for frozen, pair in own.items() if frozen not in self.changed]
        found = [pair for pair in kept if not any(bool(pair[0] == key) for key in new)]
        return [*found, *(each for each in self.changed.values() if each[1] is not GONE)]

    # -- a list

    def all(self) -> list[Any]:
        """The items of a list, which from now on are known."""
        run = self.now()
        if self.whole is None:
            size = run.sizes(self.base)
            self.whole = [term(ITEM, self.base, index, None) for index in range(size)] + self.tail
        return self.whole

    # -- as data

    def changes(self) -> Any:
        """What became of the contents; empty where they are what they were."""
        freeze = self._run.freezer.freeze
        if self.whole is not None:
            size = 0
            for size, each in enumerate([*self.whole, None]):
                if each is not term(ITEM, self.base, size, None):
                    break
            asked = self._run.world.told(("size", self.base))
            kept = tuple(freeze(each) for each in self.whole[size:])
            return kept if size == asked else ("list", *(freeze(each) for each in self.whole))
        if self.tail:
            return tuple(freeze(each) for each in self.tail)
        made = []
        for frozen, (_, value) in self.changed.items():
            if not self._is_as_before(frozen, value):
                made.append((frozen, _NOTHING if value is GONE else freeze(value)))
        return frozenset(made)

    def _is_as_before(self, frozen: Any, value: Any) -> bool:
        told = self._run.world.told
        is_there = told(("true", term(OP, "contains", self.base, frozen)))
        if value is GONE:
            return frozen in self._absent or is_there is False
        was = term(ITEM, self.base, frozen, None)
        if is_there is not True or value is was:
            return is_there is True
        if value is True:
            return isinstance(self, ContentsOfSet)
        if type(value) is Opaque:
            return told(("same", was, value)) is True or told(("same", value, was)) is True
        return isinstance(value, str | int | float) and told(("eq", was, value)) is True

    def frozen(self) -> Any:
        """The table as an argument or a result."""
        changes = self.changes() if self._run is not None else ()
        self._shown = term(OP, CHANGED, self.base, changes) if changes else self.base
        return self._shown


class ContentsOfSet(Contents):
    """A set is a table of what is in it."""
