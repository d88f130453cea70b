"""What of the things that a run has read may be another by now, since a call that it made may set it anew
(altering.py), and the world in which one of them is. A run notes which it reads again after such a call: only there it
matters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.prove.altering import Alterations, is_self
from codemods.prove.contents import state_term
from codemods.prove.opaque import ATTR, GLOBAL, OP, Opaque, term

if TYPE_CHECKING:
    from codemods.prove.run import Run

Rebind = Callable[["Run", Opaque], None]


class Anew:
    """Of one run. places: the names of modules and classes that functions bind anew and that this side has read, with
    what gives one of them another value."""

    def __init__(self, run: Run, altered: Alterations, places: dict[str, Rebind]) -> None:
        self._run, self._altered, self._places = run, altered, places
        self.again: dict[tuple[Opaque, Opaque], None] = {}  # what was read again after a call that may set it
        self._known: set[Opaque] = set()  # the attributes that were read, set, or asked for
        self._by_name: dict[Any, list[Opaque]] = {}
        self._by_base: dict[Any, list[Opaque]] = {}
        self._variables: dict[Opaque, Any] = {}
        self._methods: set[Opaque] = set()  # what was called
        self._stale: dict[Opaque, Opaque] = {}
        self._holders: dict[Opaque, dict[str, Any]] = {}
        change = run.world.change
        self.watched = change.what if change is not None and change.after is not None else None
        self.reads = 0  # of what is watched
        self.version: Opaque | None = None

    def held(self, attribute: Opaque, fields: dict[str, Any], name: str) -> None:
        """An instance keeps what it was asked for, or given, among its own fields."""
        self.note(attribute)
        if attribute is self.watched:
            fields.pop(name, None)
        else:
            self._holders[attribute] = fields

    def note(self, attribute: Opaque) -> None:
        """An attribute of which code knows what it is."""
        if attribute in self._known:
            return
        self._known.add(attribute)
        base, name = attribute._u_parts[:2]
        for table, key in ((self._by_name, name), (self._by_base, base)):
            found = table.get(key)
            if found is None:
                table[key] = [attribute]
            else:
                found.append(attribute)

    def environ(self, name: Any, value: Opaque) -> None:
        """A variable of the environment was asked for."""
        self._variables.setdefault(value, name)

    def called(self, call: Opaque, touched: tuple[Opaque, ...]) -> None:
        """A call is under way; touched: what it is made on and given."""
        callee = call._u_parts[0]
        self._methods.add(callee)
        altered = self._altered[callee]
        for each in touched:
            if self._altered.is_method(each):
                altered |= self._altered[each]  # what it is given, it may call
        if not altered.every.isdisjoint(self._by_name):
            for name in sorted(altered.every & self._by_name.keys()):
                for attribute in self._by_name[name]:
                    if altered.sets(attribute):
                        self._forget(attribute, call)
        if altered.is_outside and not self._by_base.keys().isdisjoint(touched):
            for base in touched:
                for attribute in self._by_base.get(base, ()) if not is_self(base) else ():
                    if attribute not in self._methods:  # it is not said to have other methods all of a sudden
                        self._forget(attribute, call)
        if not altered.places and "environ" not in altered.names:
            return
        for key in sorted(altered.places & self._places.keys()):
            what = state_term(key) if "." in key.partition(":")[2] else term(GLOBAL, key)
            self._place(what, call, self._places[key])
        for what, name in self._variables.items() if "environ" in altered.names else ():
            self._place(what, call, partial(_set_variable, name))

    def _forget(self, attribute: Opaque, call: Opaque) -> None:
        run, name = self._run, attribute._u_parts[1]
        run.fresh.discard(attribute)
        self._stale[attribute] = call
        fields = self._holders.pop(attribute, None)
        if fields is not None and name in fields:
            value = fields.pop(name)
            if value is not attribute:
                run.heap[attribute] = value
        change = run.world.change
        if change is not None and change.after is None and change.call is call and change.what is attribute:
            run.heap[attribute] = version(attribute, call)

    def _place(self, what: Opaque, call: Opaque, set_anew: Rebind) -> None:
        self.again[call, what] = None
        change = self._run.world.change
        if change is not None and change.call is call and change.what is what:
            set_anew(self._run, version(what, call))

    def read(self, attribute: Opaque) -> bool:
        """An attribute is asked for. True where it is another than it was: `version`."""
        self.note(attribute)
        call = self._stale.pop(attribute, None)
        if call is not None:
            self.again[call, attribute] = None
        if attribute is not self.watched:
            return False
        change = self._run.world.change
        assert change is not None and change.after is not None
        self.reads += 1
        self.version = version(attribute, change.call)
        return self.reads > change.after


def _set_variable(name: Any, run: Run, value: Opaque) -> None:
    run.env[name] = value


def version(what: Opaque, call: Opaque) -> Opaque:
    if what._u_kind is ATTR:
        return term(ATTR, *what._u_parts[:2], call)
    return term(OP, "after", what, call)
