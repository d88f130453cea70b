"""Whether the prover is still what it was: subject code runs in the same process, and what it put in the place of parts
of the prover, of builtins or of a module that both use would decide what the prover finds.

A seal is taken before a subject is loaded and looked at when its pair is done. It keeps no data, only what runs:
functions with their code, classes with their methods, and tables of them. Whoever reaches this far by frames or by
memory is not held by it; confine.py and instrument.py refuse the ways there."""

from __future__ import annotations

import sys
import types
from typing import Any, NamedTuple

from codemods.prove.stand_ins import PURE

# What a subject might put in the place of a builtin must not be what finds that out.
_vars, _type, _len, _staticmethod, _classmethod, _dict = vars, type, len, staticmethod, classmethod, dict
_OWN = "codemods"
_ROOTS = frozenset({each.partition(".")[0] for each in PURE} | {
    _OWN, "builtins", "sys", "gc", "os", "posix", "posixpath", "time", "traceback", "random", "warnings", "logging",
    "_thread", "signal",
})  # fmt: skip
_FUNCTION = types.FunctionType
_RUNS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.ClassMethodDescriptorType, types.ModuleType,
    staticmethod, classmethod, property, type,
)  # fmt: skip
_Code = tuple[Any, Any, Any]


class _Kept(NamedTuple):
    """A place that holds something that runs. size: of what holds it, where nothing may be added."""

    label: str
    holder: Any
    things: tuple[tuple[str, Any, _Code | None], ...]
    size: int


class Seal:
    """Of what was loaded when it was last renewed."""

    def __init__(self) -> None:
        self._modules: dict[str, Any] = {}
        self._kept: list[_Kept] = []
        self.renew()

    def renew(self) -> None:
        """Take in what has been loaded since."""
        for name, module in sorted(sys.modules.items()):
            root = name.partition(".")[0]
            if root not in _ROOTS or name in self._modules or type(module) is not types.ModuleType:
                continue
            self._modules[name] = module
            self._keep(name, vars(module), is_closed=root == _OWN and not hasattr(module, "__path__"))
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == name and value.__flags__ & _HEAP_TYPE:
                    self._keep(f"{name}.{value.__qualname__}", value)
            if root == _OWN:
                self._keep_tables(name, module)

    def _keep(self, label: str, holder: Any, *, is_closed: bool = False) -> None:
        names = holder if type(holder) is dict else vars(holder)
        things = tuple(
            (name, value, _code(value))
            for name, value in list(names.items())
            if isinstance(value, _RUNS) and not (label == "sys" and name.startswith("last_"))
        )  # of instances of other classes only data is known
        self._kept.append(_Kept(label, holder, things, len(names) if is_closed else -1))

    def _keep_tables(self, name: str, module: Any) -> None:
        for key, value in list(vars(module).items()):
            if type(value) is dict and key.isupper():
                things = tuple((each, item, None) for each, item in value.items())
                self._kept.append(_Kept(f"{name}.{key}", value, things, len(value)))

    def broken(self) -> str:
        """The first thing that is not what it was; "" when all is."""
        for name, module in self._modules.items():
            if sys.modules.get(name) is not module:
                return f"sys.modules[{name!r}]"
        for label, holder, things, size in self._kept:
            names = holder if _type(holder) is _dict else _vars(holder)
            for name, value, code in things:
                if names.get(name, None) is not value or (code is not None and not _is_same(_code(value), code)):
                    return f"{label}.{name}"
            if size >= 0 and _len(names) != size:
                return f"a name that was added to {label}"
        return ""


_HEAP_TYPE = 1 << 9


def _code(value: Any) -> _Code | None:
    if _type(value) is _staticmethod or _type(value) is _classmethod:
        value = value.__func__
    if _type(value) is not _FUNCTION:
        return None
    return value.__code__, value.__defaults__, value.__kwdefaults__


def _is_same(one: _Code | None, other: _Code) -> bool:
    return one is not None and one[0] is other[0] and one[1] is other[1] and one[2] is other[2]
