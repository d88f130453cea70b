"""What a run leaves in the modules of its side: globals, tables, attributes of classes, caches. It is recorded as an
effect at the end of the run and put back, so that no world sees another."""

from __future__ import annotations

import contextlib
import copy
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import is_
from typing import TYPE_CHECKING, Any

from codemods.prove.errors import Stopped, Unsupported
from codemods.prove.held import HeldField
from codemods.prove.live import label_of
from codemods.prove.opaque import Opaque
from codemods.prove.tables import OPEN

if TYPE_CHECKING:
    from codemods.prove.run import Run
    from codemods.prove.space import Space
    from codemods.prove.traces import Traces

_TABLES = (list, dict, set)
_CACHE: Any = type(functools.lru_cache(lambda: None))
_OWN = ("__builtins__", "_u_side", "__name__", "__file__")
_MISSING: Any = object()


class _Kept:
    """The state of one module before any run."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.values = {name: value for name, value in names.items() if name not in _OWN}
        self.order = tuple(names.values())
        self.tables = {name: (value, _copied(value)) for name, value in self.values.items() if _is_table(name, value)}
        self.objects = {name: (value, dict(vars(value))) for name, value in self.values.items() if _is_object(value)}
        self.classes = [
            _KeptClass(name, value)
            for name, value in self.values.items()
            if isinstance(value, type) and "_u_tree" in value.__dict__
        ]
        self.standing = [(value, dict(vars(value))) for value in self.values.values() if label_of(value) is not None]
        self.open = [(name, value) for name, value in self.values.items() if isinstance(value, OPEN)]
        self.open += [(f"{each.name}.{name}", value) for each in self.classes for name, value in each.open]
        self.defaults = [(name, each, _copied(each)) for name, each in _defaults(self.values)]
        self.caches = [value for value in self.values.values() if isinstance(value, _CACHE)]
        self.caches += [each for kept in self.classes for each in kept.before.values() if isinstance(each, _CACHE)]

    def extend(self, new: dict[str, Any], names: dict[str, Any]) -> None:
        """The same for names that were made while a run was on; `names` is all there is now."""
        more = _Kept(new)
        for mine, theirs in ((self.values, more.values), (self.tables, more.tables), (self.objects, more.objects)):
            mine.update(theirs)
        self.standing += more.standing
        self.open += more.open
        self.classes += more.classes
        self.caches += more.caches
        self.defaults += more.defaults
        self.order = tuple(self.values.get(name, value) for name, value in names.items())


class _KeptClass:
    def __init__(self, name: str, owner: type) -> None:
        self.name, self.owner = name, owner
        self.before = dict(vars(owner))
        self.order = tuple(self.before.values())
        self.tables = {key: _copied(value) for key, value in self.before.items() if _is_table(key, value)}
        values = ((key, each.default if type(each) is HeldField else each) for key, each in self.before.items())
        self.open = [(key, value) for key, value in values if isinstance(value, OPEN)]

    def is_as_before(self) -> bool:
        now = vars(self.owner)
        return len(now) == len(self.order) and all(map(is_, now.values(), self.order))


def _is_table(name: str, value: Any) -> bool:
    return type(value) in _TABLES and name[:2] != "__"


def _is_object(value: Any) -> bool:
    """An instance of a class of the tree, of which nothing else keeps count."""
    return hasattr(type(value), "_u_tree") and "_u_term" not in getattr(value, "__dict__", {"_u_term": None})


class State:
    """Looks at the modules again only where they may have changed."""

    def __init__(self, spaces: Mapping[str, Space]) -> None:
        self._spaces = spaces
        self._kept: dict[str, _Kept] = {}
        self._reach: tuple[int, int, bool] | None = None

    def remember(self) -> None:
        """Before a run: what there is."""
        for module, space in self._spaces.items():
            kept = self._kept.get(module)
            if kept is None or len(kept.order) != len(space.names):
                self._kept[module] = _Kept(space.names)
                self._reach = None

    def add(self, module: str, space: Space, names: Iterable[str]) -> None:
        """What was made of a module just now, maybe in the middle of a run: what code does to it from here on is
        seen."""
        new = {name: space.names[name] for name in names if name in space.names}
        kept = self._kept.get(module)
        if kept is None:
            self._kept[module] = _Kept(space.names)
        elif new and len(kept.order) == len(space.names) - len(new.keys() - kept.values.keys()):
            kept.extend(new, space.names)
        self._reach = None

    def is_out_of_reach(self, traces: Traces) -> bool:
        """Whether code that leaves these traces can't have changed anything here."""
        if traces.is_left:
            return False
        size = len(traces.handed)
        if self._reach is None or self._reach[:2] != (len(self._kept), size):
            self._reach = len(self._kept), size, self._holds_still(traces)
        return self._reach[2]

    def _holds_still(self, traces: Traces) -> bool:
        for kept in self._kept.values():
            if kept.caches or kept.objects or kept.standing or kept.defaults:
                return False
            tables = [(name, value) for name, (value, _) in kept.tables.items()]
            tables += [(name, each.before[name]) for each in kept.classes for name in each.tables]
            if any(name.rpartition(".")[2] in traces.handed for name, _ in kept.open):
                return False
            for name, table in tables:
                if name in traces.handed or any(type(each) in _TABLES for each in _inner(table)):
                    return False
        return True

    def settle(self, run: Run, canonical: Callable[[str], str]) -> None:
        for module, space in self._spaces.items():
            kept = self._kept.get(module)
            if kept is None:
                continue
            if len(space.names) != len(kept.order) or not all(map(is_, space.names.values(), kept.order)):
                self._globals(run, canonical, module, space, kept)
            tables = [(name, *each) for name, each in kept.tables.items()]
            for name, table, before in [*tables, *kept.defaults] if kept.defaults else tables:
                if not _is_alike(table, before):
                    run.record("table", canonical(f"{module}:{name}"), run.freezer.freeze(table))
                    _restore(table, before)
            for name, value in kept.open:
                changes = value._u_held.changes() if value._u_held.is_of(run) else ()
                if changes:
                    run.record("table", canonical(f"{module}:{name}"), value._u_held.frozen())
            for name, (value, fields) in kept.objects.items():
                if not _is_alike(vars(value), fields):
                    run.record("table", canonical(f"{module}:{name}"), run.freezer.freeze(value))
                    vars(value).clear()
                    vars(value).update(fields)
            for value, fields in kept.standing:  # what was written to it is an effect already
                vars(value).clear()
                vars(value).update(fields)
            for each in kept.classes:
                if each.tables or not each.is_as_before():
                    self._class(run, canonical(f"{module}:{each.name}"), each)
            for cache in kept.caches:
                cache.cache_clear()

    def put_back(self, run: Run, canonical: Callable[[str], str]) -> None:
        """What a run that was cut has left, without a word of it: the next world must not see it."""
        at = len(run.events)
        with contextlib.suppress(Exception, Stopped, Unsupported):
            self.settle(run, canonical)
        del run.events[at:], run.reaches[at:]
        if run.places is not None:
            del run.places[at:], run.stacks[at:]

    @staticmethod
    def _globals(run: Run, canonical: Callable[[str], str], module: str, space: Space, kept: _Kept) -> None:
        names = space.names
        for name, value in kept.values.items():
            now = names.get(name, _MISSING)
            if now is not value:
                names[name] = value
                if not _is_set_by_others(now, value):
                    frozen = None if now is _MISSING else run.freezer.freeze(now)
                    run.record("global", canonical(f"{module}:{name}"), frozen)
        for name in names.keys() - kept.values.keys() - space.made:
            if name not in _OWN:
                run.record("global", canonical(f"{module}:{name}"), run.freezer.freeze(names.pop(name)))

    @staticmethod
    def _class(run: Run, name: str, kept: _KeptClass) -> None:
        owner, before = kept.owner, kept.before
        if not kept.is_as_before():
            for key, value in list(vars(owner).items()):
                if key.startswith("__") or before.get(key, _MISSING) is value:
                    continue
                run.record("class attribute", f"{name}.{key}", run.freezer.freeze(value))
                if key in before:
                    setattr(owner, key, before[key])
                else:
                    delattr(owner, key)
        for key, was in kept.tables.items():
            if not _is_alike(before[key], was):
                run.record("class attribute", f"{name}.{key}", run.freezer.freeze(before[key]))
                _restore(before[key], was)


def _defaults(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The tables that calls of functions, which do not give them, share."""
    for name, value in values.items():
        if isinstance(value, type) and "_u_tree" in value.__dict__:
            yield from _defaults({f"{name}.{key}": each for key, each in vars(value).items()})
        function = getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType) and "_u_side" in function.__globals__:
            given = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
            yield from ((name, each) for each in given if type(each) in _TABLES)


def _is_set_by_others(now: Any, before: Any) -> bool:
    """Whether a call has set a name anew, and not the subject (anew.py)."""
    return type(now) is Opaque and now._u_parts[0] == "after" and now._u_parts[1] is before


def _inner(table: Any) -> list[Any]:
    return list(table.values()) if type(table) is dict else list(table)


def _copied(value: Any) -> Any:
    """A copy of a table and of the tables in it; what else is in it stays itself."""
    if type(value) is list:
        return [_copied(each) for each in value]
    if type(value) is dict:
        return {key: _copied(each) for key, each in value.items()}
    return copy.copy(value) if type(value) is set else value


def _is_alike(a: Any, b: Any) -> bool:
    """Whether two tables hold the same things. Never asks them whether they are equal: they may be opaque."""
    if type(a) is not type(b):
        return False
    if type(a) is list:
        return len(a) == len(b) and all(map(_is_alike, a, b))
    if type(a) is dict:
        return len(a) == len(b) and all(map(_is_alike, a, b)) and all(map(_is_alike, a.values(), b.values()))
    if type(a) is set:
        return len(a) == len(b) and {id(each) for each in a} == {id(each) for each in b}
    return a is b or (isinstance(a, str | int | float | bool | bytes) and bool(a == b))


def _restore(table: Any, before: Any) -> None:
    table.clear()
    if type(table) is list:
        table.extend(_copied(before))
    else:
        table.update(_copied(before))
