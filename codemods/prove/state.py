"""What a run leaves in the modules of its side: globals, tables, attributes of classes, caches. It is recorded as an
effect at the end of the run and put back, so that no world sees another."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemods.prove.run import Run
    from codemods.prove.slices import Space

_TABLES = (list, dict, set)
_CACHE: Any = type(functools.lru_cache(lambda: None))
_OWN = ("__builtins__", "_u_side")
_MISSING: Any = object()


class _Kept:
    """The state of one module before any run."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.size = len(names)
        self.values = {name: value for name, value in names.items() if name not in _OWN}
        self.tables = {name: (value, _copied(value)) for name, value in self.values.items() if type(value) in _TABLES}
        self.classes = {
            name: (value, dict(vars(value)), {key: _copied(each) for key, each in vars(value).items() if type(each) in _TABLES})
            for name, value in self.values.items()
            if isinstance(value, type) and "_u_tree" in value.__dict__
        }
        self.caches = [value for value in self.values.values() if isinstance(value, _CACHE)]


class State:
    """Looks at the modules again only where they may have changed."""

    def __init__(self, spaces: Mapping[str, Space]) -> None:
        self._spaces = spaces
        self._kept: dict[str, _Kept] = {}

    def remember(self) -> None:
        """Before a run: what there is."""
        for module, space in self._spaces.items():
            kept = self._kept.get(module)
            if kept is None or kept.size != len(space.names):
                self._kept[module] = _Kept(space.names)

    def settle(self, run: Run, canonical: Callable[[str], str]) -> None:
        for module, space in self._spaces.items():
            kept = self._kept.get(module)
            if kept is None:
                continue
            self._globals(run, canonical, module, space.names, kept)
            for name, (table, before) in kept.tables.items():
                if not _is_alike(table, before):
                    run.record("table", canonical(f"{module}:{name}"), run.freezer.freeze(table))
                    _restore(table, before)
            for name, (owner, before, tables) in kept.classes.items():
                self._class(run, canonical(f"{module}:{name}"), owner, before)
                for key, was in tables.items():
                    if not _is_alike(before[key], was):
                        run.record("class attribute", f"{canonical(f'{module}:{name}')}.{key}", run.freezer.freeze(before[key]))
                        _restore(before[key], was)
            for cache in kept.caches:
                cache.cache_clear()

    @staticmethod
    def _globals(
        run: Run, canonical: Callable[[str], str], module: str, names: dict[str, Any], kept: _Kept
    ) -> None:
        for name, value in kept.values.items():
            now = names.get(name, _MISSING)
            if now is not value:
                run.record("global", canonical(f"{module}:{name}"), run.freezer.freeze(now))
                names[name] = value

    @staticmethod
    def _class(run: Run, name: str, owner: type, before: dict[str, Any]) -> None:
        now = vars(owner)
        if len(now) == len(before) and all(now.get(key) is value for key, value in before.items()):
            return
        for key, value in list(now.items()):
            if key.startswith("__") or before.get(key, _MISSING) is value:
                continue
            run.record("class attribute", f"{name}.{key}", run.freezer.freeze(value))
            if key in before:
                setattr(owner, key, before[key])
            else:
                delattr(owner, key)


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
