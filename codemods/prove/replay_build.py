"""Values from a recording's data: plain ones as they were, objects of their classes without their initialiser and with
the recorded attributes, and placeholders for what was not kept.

A placeholder can be handed on and compared by identity; whoever asks it for more gets `Unknown`, which is also
remembered, as code may swallow it: what came of such a run says nothing. Runs beside the program: standard library
alone."""

from __future__ import annotations

import ast
import collections
import contextlib
import datetime as dt
import decimal
import enum
import fractions
import functools
import importlib
import logging
import os
import pathlib
import re
import time
from _thread import get_ident
from typing import Any, NoReturn

from .record_values import GONE, state_of  # noqa: TID252 -- see record_values.py

unknown: list[str] = []  # everything that was asked for and is not known, in order
_MADE: dict[str, Any] = {
    "builtins:complex": lambda text: complex(text.strip("()")),
    "builtins:range": range,
    "builtins:slice": slice,
    "builtins:Ellipsis": lambda: Ellipsis,
    "builtins:NotImplemented": lambda: NotImplemented,
    "re:compile": re.compile,
    "logging:getLogger": logging.getLogger,
    "decimal:Decimal": decimal.Decimal,
    "fractions:Fraction": fractions.Fraction,
    "datetime:datetime": dt.datetime,
    "datetime:date": dt.date,
    "datetime:time": dt.time,
    "datetime:timedelta": dt.timedelta,
    "collections:OrderedDict": collections.OrderedDict,
    "collections:deque": collections.deque,
}
_LIVE: dict[str, Any] = {
    "time-s": time.time,
    "time-int": lambda: int(time.time()),
    "time-ms": lambda: int(time.time() * 1e3),
    "time-us": lambda: int(time.time() * 1e6),
    "time-ns": time.time_ns,
    "clock": time.monotonic,
    "duration": lambda: 1.0,
    "pid": os.getpid,
    "ppid": os.getppid,
    "thread": get_ident,
    "datetime": dt.datetime.now,
}


class Unknown(BaseException):
    """The recording does not say. No subclass of Exception, so that few handlers catch it."""


def give_up(what: str) -> NoReturn:
    """Remember that something was asked for that is not known, and stop."""
    unknown.append(what)
    raise Unknown(what)


class Placeholder:
    """Stands for a value that was not kept."""

    __slots__ = ("__unmoved_attributes__", "__unmoved_data__", "__weakref__")

    def __init__(self, data: Any, attributes: dict[str, Any] | None = None) -> None:
        object.__setattr__(self, "__unmoved_data__", data)
        object.__setattr__(self, "__unmoved_attributes__", attributes or {})

    def _label(self) -> str:
        data = object.__getattribute__(self, "__unmoved_data__")
        return f"{data.get('label', 'something long')} ({data.get('$opaque') or data.get('$object') or 'cut'})"

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        data = object.__getattribute__(self, "__unmoved_data__")
        try:
            return named(data.get("$opaque") or data.get("$object") or "")
        except LookupError:
            return Placeholder

    def __getattr__(self, name: str) -> Any:
        attributes = object.__getattribute__(self, "__unmoved_attributes__")
        if name in attributes:
            return attributes[name]
        return give_up(f"attribute {name} of {Placeholder._label(self)}")

    def __setattr__(self, name: str, value: object) -> None:
        give_up(f"setting {name} of {Placeholder._label(self)}")

    def __bool__(self) -> bool:
        data = object.__getattribute__(self, "__unmoved_data__")
        try:
            kind = named(data.get("$opaque") or data.get("$object") or "")
        except LookupError:
            kind = None
        if kind is None or hasattr(kind, "__bool__") or hasattr(kind, "__len__"):
            give_up(f"the truth of {Placeholder._label(self)}")
        return True


def _asked(name: str) -> Any:
    def method(self: Any, *args: object, **kwargs: object) -> Any:
        del args, kwargs
        return give_up(f"{name} of {Placeholder._label(self)}")

    return method


_UNARY = "call str repr format len iter next contains getitem setitem delitem enter exit aenter aexit await aiter anext"
_NUMERIC = "int float index complex bytes fspath round reversed neg pos abs invert lt le gt ge delattr iadd isub imul"
_BINARY = "add sub mul truediv floordiv mod pow matmul lshift rshift and or xor"
_METHODS = f"{_UNARY} {_NUMERIC} {_BINARY} r{_BINARY.replace(' ', ' r')}"
for _name in _METHODS.split():
    setattr(Placeholder, f"__{_name}__", _asked(f"__{_name}__"))


@functools.cache
def named(reference: str) -> Any:
    """What MODULE:QUALNAME names. Raises LookupError."""
    module, colon, path = reference.partition(":")
    if not colon or "<" in path:
        raise LookupError(reference)
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise LookupError(reference) from error
    return found


class Builder:
    """Builds the values of one recording. receiver: the class that the receiver gets, in place of the recorded one."""

    def __init__(self, receiver_name: str, receiver: type | None) -> None:
        self.receiver_name, self.receiver = receiver_name, receiver
        self.by_label: dict[str, Any] = {}

    def value(self, data: Any, label: str) -> Any:
        """label: the place, under which `$same` may name it."""
        if isinstance(data, list):
            made: list[Any] = []
            self.by_label[label] = made
            made.extend(self.value(item, f"{label}[{at}]") for at, item in enumerate(data))
            return made
        if not isinstance(data, dict):
            return data
        tag = next((name for name in data if name.startswith("$")), "")
        if not tag:
            table: dict[Any, Any] = {}
            self.by_label[label] = table
            table.update((key, self.value(item, f"{label}.{key}")) for key, item in data.items())
            return table
        return self._tagged(tag, data, label)

    def _tagged(self, tag: str, data: dict[str, Any], label: str) -> Any:
        given = data[tag]
        if tag == "$object":
            return self._object(data, label)
        if tag == "$same":
            if given not in self.by_label:
                return Placeholder({"$opaque": "builtins:object", "label": given})
            return self.by_label[given]
        if tag in ("$tuple", "$set", "$frozenset"):
            items = [
                self.value(item, f"{label}[]" if tag != "$tuple" else f"{label}[{at}]") for at, item in enumerate(given)
            ]
            kinds: dict[str, Any] = {"$tuple": tuple, "$set": set, "$frozenset": frozenset}
            made = self.by_label[label] = kinds[tag](items)
            return made
        if tag == "$items":
            table: dict[Any, Any] = {}
            self.by_label[label] = table
            for at, (key, item) in enumerate(given):
                table[self.value(key, f"{label}{{{at}}}")] = self.value(item, f"{label}[{at}]")
            return table
        return self._plain(tag, given, data, label)

    def _plain(self, tag: str, given: Any, data: dict[str, Any], label: str) -> Any:
        try:
            if tag == "$bytes":
                return ast.literal_eval(given)
            if tag in ("$int", "$float"):
                return int(given) if tag == "$int" else float(given)
            if tag == "$live":
                return _LIVE[given]()
            if tag in ("$enum", "$type", "$function", "$global"):
                return named(given)
            if tag == "$module":
                return importlib.import_module(given)
            if tag == "$value":
                args = [self.value(arg, f"{label}[]") for arg in data["args"]]
                make: Any = getattr(pathlib, given.partition(":")[2]) if given.startswith("pathlib:") else _MADE[given]
                self.by_label[label] = made = make(*args)
                return made
        except (LookupError, ImportError, ValueError, TypeError, AttributeError):
            pass
        self.by_label[label] = made = Placeholder(data)
        return made

    def _object(self, data: dict[str, Any], label: str) -> Any:
        shown = data["attributes"]
        try:
            kind = self.receiver if label == self.receiver_name and self.receiver else named(data["$object"])
            instance = self._instance(kind, shown, label)
        except (LookupError, TypeError, AttributeError):
            instance = None
        if instance is None:
            inner = {name: self.value(item, f"{label}.{name}") for name, item in shown.items()}
            instance = self.by_label[label] = Placeholder(data, inner)
        return instance

    def _instance(self, kind: type, shown: dict[str, Any], label: str) -> Any:
        """Raises TypeError where the class gives none."""
        if issubclass(kind, tuple):
            fields = kind._fields  # type: ignore[attr-defined]
            made = tuple.__new__(kind, [self.value(shown[name], f"{label}.{name}") for name in fields])
            self.by_label[label] = made
            return made
        if issubclass(kind, enum.Enum):
            raise TypeError(kind)
        try:
            instance: Any = object.__new__(kind)
        except TypeError:
            instance = kind.__new__(kind)
        self.by_label[label] = instance
        for name, item in shown.items():
            if item != GONE:
                _set(instance, name, self.value(item, f"{label}.{name}"))
        _watch(kind, id(instance), label)
        _kept.append(instance)
        return instance


_kept: list[object] = []
_watched: dict[int, str] = {}


def _set(instance: Any, name: str, value: Any) -> None:
    """As if it had always been there: no property and no __setattr__ of the class has a say."""
    try:
        own = object.__getattribute__(instance, "__dict__")
        own[name] = value
    except (AttributeError, TypeError):
        object.__setattr__(instance, name, value)


def forget() -> None:
    """Before the next recording."""
    unknown.clear()
    _watched.clear()
    _kept.clear()


def allow(instance: object, names: set[str]) -> None:
    """Attributes that were known not to be there."""
    _absent.setdefault(id(instance), set()).update(names)


_absent: dict[int, set[str]] = {}


def _watch(kind: type, identity: int, label: str) -> None:
    """Have the class say so when an attribute is asked for that was not recorded."""
    _watched[identity] = label
    own = vars(kind).get("__getattr__")
    if getattr(own, "__unmoved__", False):
        return
    inherited = getattr(kind, "__getattr__", None)

    def __getattr__(self: Any, name: str) -> Any:  # noqa: N807 -- it becomes one
        place = _watched.get(id(self))
        is_dunder = name.startswith("__") and name.endswith("__")
        if place is not None and not is_dunder and name not in _absent.get(id(self), ()) and name not in state_of(self):
            unknown.append(f"attribute {name} of {place}, which is not recorded")
        if inherited is not None:
            return inherited(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    __getattr__.__unmoved__ = True  # type: ignore[attr-defined]
    with contextlib.suppress(TypeError, AttributeError):
        kind.__getattr__ = __getattr__  # type: ignore[attr-defined]
