"""What live classes and modules of the subject get from us: builtins of their own, and instances whose attributes are
opaque until they are written."""

from __future__ import annotations

import builtins
import contextlib
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemods.prove.opaque import GLOBAL, OP, Opaque, attribute, current, term

if TYPE_CHECKING:
    from codemods.prove.slices import Loader

# Nothing of these may run: they reach past the instrumented code, or out of the process.
_REFUSED = ("exec", "eval", "compile", "input", "breakpoint", "exit", "quit", "help")


def make_builtins(loader: Loader, helpers: Mapping[str, Any]) -> dict[str, Any]:
    """The `__builtins__` of the modules of one side."""
    names = {name: value for name, value in vars(builtins).items() if name not in _REFUSED}
    names.update({name: term(GLOBAL, f"builtins.{name}") for name in _REFUSED})
    names["__import__"] = loader.import_
    names["__build_class__"] = builtins.__build_class__
    names.update(helpers)
    return names


def hook(kind: type) -> None:
    """Let instances that stand for a term answer for what they do not have, and record what is written to them."""
    own = kind.__dict__
    try:
        kind._u_tree = True  # type: ignore[attr-defined]
        if "__del__" in own:
            del kind.__del__  # type: ignore[attr-defined]  # it would run between two worlds, and ask neither
        if not any("__getattr__" in each.__dict__ for each in kind.__mro__):
            kind.__getattr__ = _read  # type: ignore[attr-defined]
        if "__setattr__" not in own and _is_plain(kind, "__setattr__"):
            kind.__setattr__ = _write  # type: ignore[method-assign,assignment]
        if "__delattr__" not in own and _is_plain(kind, "__delattr__"):
            kind.__delattr__ = _delete  # type: ignore[method-assign,assignment]
    except (TypeError, AttributeError):
        return


class LeftOut:
    """A method that a class has and that is not executed, as both sides share it."""

    def __init__(self, key: str, name: str) -> None:
        self._key, self._name = key, name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return term(GLOBAL, self._key)
        if label_of(instance) is not None:
            return _read(instance, self._name)
        return term(OP, "method", current.run.freezer.freeze(instance), self._name)


def fill(kind: type, names: set[str], key: str) -> None:
    """A class of which methods were left out: these names it defines. It is as abstract as it was with them."""
    own = {name for name in names if name not in kind.__dict__}
    left: frozenset[str] = getattr(kind, "__abstractmethods__", frozenset())
    if left:
        kind.__abstractmethods__ = frozenset(left - own)  # type: ignore[attr-defined]
    for name in sorted(each for each in own if each[:2] != "__"):
        with contextlib.suppress(TypeError, AttributeError):
            type.__setattr__(kind, name, LeftOut(f"{key}.{name}", name))


_plain_get, _plain_set = object.__getattribute__, object.__setattr__


def label_of(instance: Any) -> Opaque | None:
    try:
        found = _plain_get(instance, "__dict__").get("_u_term")
    except AttributeError:
        return None
    return found if type(found) is Opaque else None


def _read(instance: Any, name: str) -> Any:
    label = label_of(instance)
    if label is None or (name[:2] == "__" and name[-2:] == "__"):
        raise AttributeError(f"{type(instance).__name__!r} object has no attribute {name!r}")
    run = current.run
    found = run.read(label, name)
    if type(found) is Opaque and found in run.fresh:
        instance.__dict__[name] = found  # the next read of it asks nobody
        if run.anew is not None:
            run.anew.held(found, instance.__dict__, name)
    return found


def _write(instance: Any, name: str, value: Any) -> None:
    label = label_of(instance)
    _plain_set(instance, name, value)
    run = current.run
    if label is None:
        run.note_write(instance, name)
    else:
        found = attribute(label, name)
        if found in run.heap:
            del run.heap[found]
        if run.anew is not None:
            run.anew.held(found, instance.__dict__, name)
        run.record("set", found, run.freezer.freeze(value))
        run.keep(value)


def _delete(instance: Any, name: str) -> None:
    label = label_of(instance)
    if label is None:
        object.__delattr__(instance, name)
        return
    instance.__dict__.pop(name, None)
    current.run.delete(label, name)


def _new(kind: Any) -> Any:
    """Nothing of the class runs. Also of an abstract class: a method of one runs on instances of the classes that
    complete it."""
    make = next(each.__dict__["__new__"] for each in kind.__mro__ if _is_built_in(each.__dict__.get("__new__")))
    left: frozenset[str] = getattr(kind, "__abstractmethods__", frozenset())
    if not left:
        return make(kind)
    kind.__abstractmethods__ = frozenset()
    try:
        return make(kind)
    finally:
        kind.__abstractmethods__ = left


def _is_built_in(maker: Any) -> bool:
    return isinstance(maker, types.BuiltinFunctionType)


def _is_plain(kind: type, name: str) -> bool:
    """Whether a class has of its bases in `object` alone what writes or deletes an attribute."""
    return getattr(kind, name) is getattr(object, name)


def stand_for(kind: type, label: Opaque) -> Any:
    """An instance made without its initialiser, that stands for a term. Raises TypeError where a class allows none."""
    made = _new(kind)
    made.__dict__["_u_term"] = label
    return made
