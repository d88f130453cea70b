"""A value as it is now, as hashable data that can be compared across twins: equal only where type and content are
equal.

Things of the trees stand for the name they have on the old side (`names`, by id), so a moved function is one thing."""

from __future__ import annotations

import enum
import functools
import re
import types
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import Any

from codemods.prove.errors import Fault, OpaqueError
from codemods.prove.opaque import ATTR, OP, TEXT, Opaque, forgetting, term

_TRUE, _FALSE = ("bool", True), ("bool", False)
_DEEPEST = 12
_MARK = re.compile("\ue000(\\d+):([^\ue001]*)\ue001")
marks: list[Opaque] = []
forgetting.append(marks.clear)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def mark(value: Opaque, spec: str = "") -> str:
    """A text that stands for a value inside a text that Python itself puts together."""
    marks.append(value)
    return f"\ue000{len(marks) - 1}:{spec}\ue001"


def text_parts(text: str) -> list[Any]:
    """A text with marks, as plain pieces and (value, conversion) pairs."""
    if "\ue000" not in text:
        return [text] if text else []
    parts: list[Any] = []
    at = 0
    for found in _MARK.finditer(text):
        if found.start() > at:
            parts.append(text[at : found.start()])
        parts.append((marks[int(found[1])], found[2]))
        at = found.end()
    if at < len(text):
        parts.append(text[at:])
    return parts


class Freezer:
    """Freezes for one side. `name_of` says what a function, class or module of the trees is called."""

    def __init__(self, name_of: Callable[[Any], str | None]) -> None:
        self._name_of = name_of
        self.callbacks: list[Any] = []
        self.handed: dict[int, Opaque] = {}  # containers that were given to a call, by id: to the last one
        self.opened: frozenset[str] = frozenset()  # names of methods that stand for what they do, as a closure does

    def freeze(self, value: Any) -> Any:
        kind = type(value)
        if kind is Opaque or kind is int or value is None:
            return value
        if kind is str:
            return value if "\ue000" not in value else joined(text_parts(value))
        if kind is bool:
            return _TRUE if value else _FALSE
        return self._compound(value, kind, 0)

    def _inner(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is Opaque or kind is int or value is None or kind is str or kind is bool:
            return self.freeze(value)
        if depth > _DEEPEST:
            return ("deep", kind.__name__)
        return self._compound(value, kind, depth)

    def _compound(self, value: Any, kind: type, depth: int) -> Any:
        if kind is float:
            return ("float", repr(value))
        if kind is tuple or kind is list or kind is dict or kind is set or kind is frozenset:
            made = self._container(value, kind, depth)
            return term(OP, "after", made, self.handed[id(value)]) if id(value) in self.handed else made
        if kind is slice:
            return ("slice", *(self._inner(each, depth + 1) for each in (value.start, value.stop, value.step)))
        if kind is bytes or kind is bytearray or kind is complex:
            return (kind.__name__, repr(value))
        return self._thing(value, kind, depth)

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        if kind is dict:
            return ("dict", frozenset((self._inner(k, depth + 1), self._inner(v, depth + 1)) for k, v in value.items()))
        if kind is set or kind is frozenset:
            return ("set", frozenset(self._inner(each, depth + 1) for each in value))
        return (kind.__name__, *(self._inner(each, depth + 1) for each in value))

    def _thing(self, value: Any, kind: type, depth: int) -> Any:
        if isinstance(value, types.FunctionType | type | types.ModuleType | types.BuiltinFunctionType):
            return self._named(value, depth)
        if isinstance(value, types.MethodType):
            return self._method(value, depth)
        if isinstance(value, Fault):
            return ("fault", value._u_fault)
        if isinstance(value, OpaqueError):
            return value._u_raised
        if isinstance(value, BaseException):
            return ("error", self._class_name(kind), *(self._inner(each, depth + 1) for each in value.args))
        if isinstance(value, enum.Enum):
            return ("enum", self._class_name(kind), value.name)
        if isinstance(value, functools.partial):
            keywords = self._inner(value.keywords, depth + 1)
            return ("partial", self._inner(value.func, depth + 1), self._inner(value.args, depth + 1), keywords)
        if isinstance(value, types.GeneratorType | map | filter | zip | enumerate | reversed):
            return self._generator(value, depth)
        if "_u_table" in kind.__dict__:
            return value._u_held.frozen()  # a table with contents that nobody knows (tables.py)
        label = getattr(value, "__dict__", {}).get("_u_term")
        return label if label is not None else self._object(value, kind, depth)

    def _generator(self, value: Any, depth: int) -> Any:
        """What it would yield: whoever is given it would take it now."""
        found: list[Any] = []
        try:
            for each in value:
                found.append(self._inner(each, depth + 1))
                if len(found) > 64:
                    break
        except Exception as error:  # noqa: BLE001 - whatever taking the next one raises belongs to what it is
            found.append(("raises", self._inner(error, depth + 1)))
        return ("iterator", *found)

    def _named(self, value: Any, depth: int) -> Any:
        name = self._name_of(value)
        if name is not None:
            return ("named", name)
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None:
            return self._inner(wrapped, depth + 1)
        if isinstance(value, types.FunctionType):
            self.callbacks.append(value)
            defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).items())
            frozen = tuple(self._inner(each, depth + 1) for each in defaults)
            return ("function", value.__code__.co_argcount, value.__code__.co_kwonlyargcount, *frozen)
        return ("named", f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}")

    def _method(self, value: types.MethodType, depth: int) -> Any:
        if self.opened and self._name_of(value.__func__) in self.opened:
            self.callbacks.append(value)
            return ("function", value.__func__.__code__.co_argcount - 1, value.__func__.__code__.co_kwonlyargcount)
        owner = self._inner(value.__self__, depth + 1)
        name = getattr(value, "__name__", "?")
        return term(ATTR, owner, name, None) if type(owner) is Opaque else ("method", owner, name)

    def _class_name(self, kind: type) -> str:
        return self._name_of(kind) or f"{kind.__module__}.{kind.__qualname__}"

    def _object(self, value: Any, kind: type, depth: int) -> Any:
        fields = getattr(value, "__dict__", None)
        names = getattr(kind, "__struct_fields__", None) or getattr(kind, "__slots__", ())
        if fields is None and names:
            names = (names,) if isinstance(names, str) else names
            fields = {name: getattr(value, name) for name in names if name[:2] != "__" and hasattr(value, name)}
        if isinstance(value, tuple) and "_u_new" in kind.__dict__ and hasattr(kind, "_fields"):
            return self._inner(tuple(value), depth)  # names for the items of what was a plain tuple
        if isinstance(value, list | tuple | dict | set):
            plain = next(each for each in (list, tuple, dict, set) if isinstance(value, each))
            inner = self._inner(plain(value), depth + 1)
            return (self._class_name(kind), inner, *self._fields(fields or {}, depth))
        if fields is not None:
            return ("object", self._class_name(kind), *self._fields(fields, depth))
        if isinstance(value, KeysView | ValuesView | ItemsView | range):
            return (kind.__name__, *(self._inner(each, depth + 1) for each in value))
        return ("other", self._class_name(kind), joined(text_parts(_ADDRESS.sub("", repr(value)))))

    def _fields(self, fields: dict[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple((name, self._inner(value, depth + 1)) for name, value in sorted(fields.items()))


def thaw(frozen: Any) -> Any:
    """The constant that a frozen one was; the frozen one itself where it is no plain constant."""
    if type(frozen) is tuple and frozen:
        if frozen[0] == "bool":
            return frozen[1]
        if frozen[0] == "float":
            return float(frozen[1])
    return frozen


def joined(parts: list[Any]) -> Any:
    """A text put together from plain pieces and (value, conversion) pairs: a str where no value is left in it."""
    flat: list[Any] = []
    for part in parts:
        if type(part) is tuple and part[1] in ("", "s") and type(part[0]) is Opaque and part[0]._u_kind is TEXT:
            flat.extend(part[0]._u_parts)
        else:
            flat.append((part[0], "") if type(part) is tuple and part[1] == "s" else part)
    merged: list[Any] = []
    for part in flat:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part != "":
            merged.append(part)
    if not merged:
        return ""
    return merged[0] if len(merged) == 1 and isinstance(merged[0], str) else term(TEXT, *merged)
