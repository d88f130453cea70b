"""Python values as data: which are kept, how deep, under which label, and what stands for the rest.

Runs inside the program that is recorded, with the standard library alone, and never runs the program's own code: no
repr, no property, no comparison of foreign objects. What a value's tags mean stands in schema/recording.py."""

from __future__ import annotations

import collections
import enum
import json
import math
import re
import types
from collections.abc import Mapping
from typing import Any

from .record_names import PROGRAM_NAMES  # noqa: TID252 -- this package has another name inside the recorded program
from .redact import Rules  # noqa: TID252

MAX_DEPTH, MAX_NODES, MAX_ITEMS, MAX_ATTRIBUTES, MAX_TEXT = 6, 400, 32, 40, 600
GONE = {"$gone": True}
_PLACEHOLDER = "__unmoved_data__"  # what replay_build.py puts in place of what was not kept
_HEAP_TYPE = 1 << 9
_MISSING = object()
_slots: dict[type, tuple[tuple[str, Any], ...]] = {}
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_BY_TEXT = {"decimal:Decimal", "fractions:Fraction"}
_DATES = {
    "datetime:datetime": ("year", "month", "day", "hour", "minute", "second", "microsecond"),
    "datetime:date": ("year", "month", "day"),
    "datetime:time": ("hour", "minute", "second", "microsecond"),
    "datetime:timedelta": ("days", "seconds", "microseconds"),
}


class Reads:
    """What a callable may read of a value: some attributes, or all of it (`whole`). written: attributes it sets."""

    __slots__ = ("attributes", "whole", "written")

    def __init__(self, whole: bool = False) -> None:
        self.attributes: dict[str, Reads] = {}
        self.whole = whole
        self.written: set[str] = set()

    def at(self, name: str) -> Reads:
        found = self.attributes.get(name)
        if found is None:
            found = self.attributes[name] = Reads()
        return found

    def add(self, other: Reads) -> None:
        self.whole = self.whole or other.whole
        self.written |= other.written
        for name, reads in other.attributes.items():
            if reads is not self.attributes.get(name):
                self.at(name).add(reads)


WHOLE = Reads(whole=True)
_NOTHING = Reads()


def home(kind: Any, main: str = "") -> str:
    """MODULE:QUALNAME of a class or function; `main` in place of `__main__`."""
    module = getattr(kind, "__module__", None)
    name = getattr(kind, "__qualname__", None) or getattr(kind, "__name__", "?")
    shown = module if isinstance(module, str) else "builtins"
    return f"{main if shown in PROGRAM_NAMES and main else shown}:{name}"


def state_of(value: object) -> dict[str, Any]:
    """The attributes that the instance itself holds, in its dict or its slots."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = None
    found: dict[str, Any] = dict(own) if type(own) is dict else {}
    for name, member in _slots_of(type(value)):
        if name not in found:
            try:
                found[name] = member.__get__(value)
            except AttributeError:
                continue
    return found


def _slots_of(kind: type) -> tuple[tuple[str, Any], ...]:
    found = _slots.get(kind)
    if found is None:
        members = [pair for base in kind.__mro__ for pair in vars(base).items()]
        found = tuple(pair for pair in members if type(pair[1]) is types.MemberDescriptorType)
        if len(_slots) < 1024:
            _slots[kind] = found
    return found


class Capture:
    """Values of one call. One object has one label throughout: the place where it was first met."""

    def __init__(self, rules: Rules, main: str = "", names: Mapping[str, Any] | None = None) -> None:
        """names: the globals of the callable, some of which code knows by identity."""
        self.rules, self.main, self.names = rules, main, names or {}
        self.labels: dict[int, str] = {}
        self.kept: list[object] = []  # alive as long as their ids are labels
        self.states: dict[int, dict[str, Any]] = {}
        self.absent: set[str] = set()
        self.notes: set[str] = set()
        self.nodes = 0
        self._shown: dict[int, list[str]] = {}
        self._is_after = False

    def again(self) -> None:
        """From now on objects that were met show what has changed in them too, read or not."""
        self._is_after = True
        self.nodes = 0

    def value(self, value: Any, label: str, reads: Reads = WHOLE, depth: int = 0) -> Any:
        """The value as data."""
        name = label.rpartition(".")[2]
        kind = type(value)
        if value is None or kind is bool:
            return value
        self.nodes += 1
        if kind is str:
            return self._text(value, label, name)
        if kind in (int, float):
            return self._number(value, label, name)
        if kind is bytes:
            if self.rules.secret(name):
                return {"$bytes": repr(self.rules.hidden(name, value.decode("latin-1")).encode("latin-1"))}
            shown = self.rules.text(value[:MAX_TEXT].decode("latin-1")).encode("latin-1")
            return {"$bytes": repr(shown)} if len(value) <= MAX_TEXT else self._cut(repr(shown), len(value), label)
        if kind.__name__ == "Placeholder" and kind.__module__.endswith("replay_build"):
            data = object.__getattribute__(value, _PLACEHOLDER)
            known = self.labels.setdefault(id(value), label)
            return data if known == label else {"$same": known}
        plain = self._named(value, kind)
        return plain if plain is not None else self._compound(value, kind, label, reads, depth)

    def _text(self, value: str, label: str, name: str) -> Any:
        shown = self.rules.text(value, name)
        if len(shown) <= MAX_TEXT:
            return shown
        self.notes.add(f"{label}: a text of {len(value)} characters is cut")
        return {"$cut": shown[:MAX_TEXT], "length": len(shown)}

    def _cut(self, shown: Any, length: int, label: str) -> Any:
        self.notes.add(f"{label}: {length} long, cut")
        return {"$cut": shown, "length": length}

    def _number(self, value: Any, label: str, name: str) -> Any:
        if type(value) is float and not math.isfinite(value):
            return {"$float": repr(value)}
        if self.rules.hides_numbers(name):
            self.rules.used = True
            return self._opaque(type(value), f"redacted:{name}")
        live = self.rules.number(value, name)
        if live:
            self.notes.add(f"{label}: a {live.partition('-')[0]}, not kept")
            return {"$live": live}
        return {"$int": str(value)} if type(value) is int and abs(value) >= 1 << 53 else value

    def _opaque(self, kind: type, label: str) -> Any:
        return {"$opaque": home(kind, self.main), "label": label}

    def _named(self, value: Any, kind: type) -> Any:
        """What can be named or made anew; None for all else."""
        where = home(kind, self.main)
        if issubclass(kind, enum.Enum):
            return {"$enum": f"{where}.{value._name_}"} if type(value._name_) is str else None
        if issubclass(kind, type):
            return {"$type": home(value, self.main)}
        if kind in _FUNCTIONS and isinstance(getattr(value, "__module__", None), str):
            return {"$function": home(value, self.main)}
        if kind is types.ModuleType:
            return {"$module": value.__name__}
        if kind is re.Pattern and type(value.pattern) is str:
            return {"$value": "re:compile", "args": [value.pattern, value.flags & ~re.UNICODE]}
        if where == "logging:Logger":
            return {"$value": "logging:getLogger", "args": [self.main if value.name in PROGRAM_NAMES else value.name]}
        if value is Ellipsis or value is NotImplemented:
            return {"$value": f"builtins:{value!r}", "args": []}
        if kind is complex:
            return {"$value": where, "args": [repr(value)]}
        if kind in (range, slice):
            parts = [value.start, value.stop, value.step]
            return {"$value": where, "args": parts} if all(p is None or type(p) is int for p in parts) else None
        if where in _BY_TEXT:
            return {"$value": where, "args": [str(value)]}
        if where in _DATES and getattr(value, "tzinfo", None) is None:
            is_recent = where == "datetime:datetime" and 2000 < value.year < 2100
            if is_recent and self.rules.number(value.timestamp()):
                return {"$live": "datetime"}
            return {"$value": where, "args": [getattr(value, part) for part in _DATES[where]]}
        if kind.__module__.startswith("pathlib") and hasattr(value, "__fspath__"):
            return {"$value": f"pathlib:{kind.__name__}", "args": [self.rules.text(str(value))]}
        return None

    def _compound(self, value: Any, kind: type, label: str, reads: Reads, depth: int) -> Any:
        known = self.labels.get(id(value))
        is_plain_tuple = kind in (tuple, frozenset)
        if known is None:
            if not is_plain_tuple:  # equal small tuples may be one object by chance
                self.labels[id(value)] = label
            self.kept.append(value)
        elif known != label:
            return {"$same": known}
        if depth >= MAX_DEPTH or self.nodes > MAX_NODES:
            self.notes.add(f"{label}: too deep or too much, not kept")
            return self._opaque(kind, label)
        if kind is dict:
            return self._dict(value, label, depth)
        if kind in (list, tuple):
            items = self._items(list(value[:MAX_ITEMS]), label, depth)
            shown = items if kind is list else {"$tuple": items}
            return shown if len(value) <= MAX_ITEMS else self._cut(shown, len(value), label)
        if kind in (set, frozenset):
            return self._set(value, kind, label, depth)
        if kind is collections.OrderedDict or kind is collections.deque:
            args = [
                self.value(
                    list(value.items() if kind is collections.OrderedDict else value), label + "[]", WHOLE, depth
                )
            ]
            return {"$value": home(kind), "args": [*args, value.maxlen] if kind is collections.deque else args}
        if self.rules.secret(label.rpartition(".")[2]) == "strong":
            self.rules.used = True
            return self._opaque(kind, label)
        return self._object(value, kind, label, reads, depth)

    def _items(self, items: list[Any], label: str, depth: int) -> list[Any]:
        own = label.rpartition(".")[2]
        # What is in a list of secrets stands under the list's name.
        if self.rules.secret(own):
            return [self.value(item, f"{label}[{at}].{own}", WHOLE, depth + 1) for at, item in enumerate(items)]
        return [self.value(item, f"{label}[{at}]", WHOLE, depth + 1) for at, item in enumerate(items)]

    def _dict(self, value: dict[Any, Any], label: str, depth: int) -> Any:
        pairs = list(value.items())[:MAX_ITEMS]
        if all(type(key) is str and not key.startswith("$") for key, _ in pairs):
            named = [(self.rules.text(key), item) for key, item in pairs]
            shown: Any = {key: self.value(item, f"{label}.{key}", WHOLE, depth + 1) for key, item in named}
        else:
            shown = {
                "$items": [
                    [
                        self.value(key, f"{label}{{{at}}}", WHOLE, depth + 1),
                        self.value(item, f"{label}[{at}]", WHOLE, depth + 1),
                    ]
                    for at, (key, item) in enumerate(pairs)
                ]
            }
        return shown if len(value) <= MAX_ITEMS else self._cut(shown, len(value), label)

    def _set(self, value: Any, kind: type, label: str, depth: int) -> Any:
        if any(type(item) not in (str, int, float, bool, bytes, type(None), tuple) for item in value):
            return self._opaque(kind, label)  # no order that two runs share
        shown = sorted((self.value(item, f"{label}[]", WHOLE, depth + 1) for item in value), key=repr)
        tagged = {"$set" if kind is set else "$frozenset": shown[:MAX_ITEMS]}
        return tagged if len(shown) <= MAX_ITEMS else self._cut(tagged, len(shown), label)

    def _object(self, value: Any, kind: type, label: str, reads: Reads, depth: int) -> Any:
        fields = getattr(kind, "_fields", None)
        if issubclass(kind, tuple) and type(fields) is tuple and len(fields) == len(value):
            state: dict[str, Any] = dict(zip(fields, value))  # noqa: B905 -- of one length
        elif kind is types.SimpleNamespace or (kind is not object and not _holds_more(kind)):
            state = state_of(value)
        else:
            return self._global(value) or self._opaque(kind, label)
        before = self.states.get(id(value)) if self._is_after else None
        names = self._wanted(value, kind, label, reads, state)
        shown = {}
        for name in names:
            inner = WHOLE if reads.whole else reads.attributes.get(name, WHOLE if self._is_after else _NOTHING)
            if before is not None and before.get(name, _MISSING) is not state.get(name, _MISSING):
                inner = WHOLE  # what was put there is an outcome, however little of it is read
            shown[name] = GONE if name not in state else self.value(state[name], f"{label}.{name}", inner, depth + 1)
        return {"$object": home(kind, self.main), "label": label, "attributes": shown}

    def _global(self, value: Any) -> Any:
        """A mark that the module keeps under a name, such as `_UNSET = object()`; None for all else."""
        for name, known in self.names.items():
            if known is value:
                module = self.names.get("__name__")
                return {"$global": f"{self.main if module in PROGRAM_NAMES else module}:{name}"}
        return None

    def _wanted(self, value: Any, kind: type, label: str, reads: Reads, state: dict[str, Any]) -> list[str]:
        # What is set is shown too: set to what it was already, it must not look new where it was not there.
        names = set(state) if reads.whole else {name for name in (*reads.attributes, *reads.written) if name in state}
        before = self.states.get(id(value))
        if self._is_after and before is not None:
            names = set(self._shown[id(value)])
            names |= {name for name, item in state.items() if before.get(name, _MISSING) is not item}
            return sorted(names | set(before) - set(state))
        self.states[id(value)] = state
        if not has_static(kind, "__getattr__"):
            missing = [name for name in reads.attributes if name not in state and not has_static(kind, name)]
            self.absent.update(f"{label}.{name}" for name in missing if not name.startswith("__"))
        self._shown[id(value)] = sorted(names)[:MAX_ATTRIBUTES]
        if len(names) > MAX_ATTRIBUTES:
            self.notes.add(f"{label}: {MAX_ATTRIBUTES} of {len(names)} attributes kept")
        return self._shown[id(value)]


def has_static(kind: type, name: str) -> bool:
    return any(name in vars(base) for base in kind.__mro__)


def _holds_more(kind: type) -> bool:
    """Whether an instance is more than its attributes: it extends a dict, an exception, a class written in C."""
    if not kind.__dictoffset__ and not has_static(kind, "__slots__") and not has_static(kind, "__struct_fields__"):
        return True  # no place for attributes: a class written in C, like that of locks
    return any(_is_of_c(base) for base in kind.__mro__ if base is not object and base.__module__ != "msgspec._core")


def _is_of_c(base: type) -> bool:
    return not base.__flags__ & _HEAP_TYPE or type(vars(base).get("__new__")) is types.BuiltinFunctionType


def same(one: Any, other: Any) -> bool:
    """Equal as data: 1, 1.0 and true are three things."""
    return json.dumps(one) == json.dumps(other)


def changes(before: Any, after: Any, place: str) -> dict[str, Any]:
    """place -> what stands there now, as deep as attributes of objects go."""
    if same(before, after):
        return {}
    if _is_object(before) and _is_object(after) and before["$object"] == after["$object"]:
        found: dict[str, Any] = {}
        old, new = before["attributes"], after["attributes"]
        for name in sorted(set(old) | set(new)):
            found.update(changes(old.get(name, GONE), new.get(name, GONE), f"{place}.{name}"))
        return found
    return {place: after}


def _is_object(data: Any) -> bool:
    return type(data) is dict and "$object" in data
