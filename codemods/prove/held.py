"""The live form of names that hold what depends on the moment (moments.py): tables with unknown contents, objects that
stand for a term, attributes of classes that instances or the class itself may have bound anew."""

from __future__ import annotations

import ast
import collections
import enum
import io
import itertools
import random
import types
from collections.abc import Callable
from typing import Any

from codemods.prove.contents import state_term
from codemods.prove.live import label_of, stand_for
from codemods.prove.moments import Moments
from codemods.prove.opaque import GLOBAL, Opaque, attribute, current, fixed, term
from codemods.prove.sides import ModuleFacts
from codemods.prove.tables import OpenDict, OpenList, OpenSet

_TABLES = (dict, collections.defaultdict, list, set)
_OTHER_TABLES = (collections.OrderedDict, collections.Counter, collections.deque)
# Whoever uses one of these changes it.
_USED_UP = (itertools.count, itertools.cycle, random.Random, io.StringIO, io.BytesIO, types.GeneratorType)
_FIXED = (int, float, str, bytes)
_VALUES = (type(None), bool, int, float, str, bytes, tuple, frozenset, Opaque, OpenDict, OpenList, OpenSet)


def held_value(moments: Moments, key: str, value: Any) -> Any:
    """A value of a module, by the name's key on the old side; itself where nothing changes it."""
    kind = type(value)
    if kind in _USED_UP:
        return term(GLOBAL, key)
    is_object = hasattr(kind, "_u_tree") and not isinstance(value, enum.Enum)
    if kind not in _TABLES and kind not in _OTHER_TABLES and not is_object:
        return value
    changers = moments.changers(key, is_empty=not is_object and not value)
    if changers is None:
        return value
    if is_object:
        return _standing(kind, value, key)
    return term(GLOBAL, key) if kind in _OTHER_TABLES else _table(value, key, changers)


def rebound_value(facts: ModuleFacts, name: str, key: str) -> Opaque:
    """What stands for a name that functions bind anew."""
    made = term(GLOBAL, key)
    values = [getattr(facts.tree.body[index], "value", None) for index in facts.bindings[name]]
    if any(isinstance(each, ast.Constant) and isinstance(each.value, int | float | str) for each in values):
        fixed.add(made)
    return made


def _standing(kind: type, value: Any, key: str) -> Any:
    if label_of(value) is not None:
        return value
    try:
        return stand_for(kind, state_term(key))
    except (TypeError, AttributeError, KeyError):
        return term(GLOBAL, key)


def _table(value: Any, key: str, changers: frozenset[str]) -> Any:
    if isinstance(value, list):
        return OpenList(key, changers)
    if isinstance(value, set):
        return OpenSet(key, changers)
    return OpenDict(key, changers, getattr(value, "default_factory", None))


class HeldField:
    """A name of a class: of an instance that stands for a term, an attribute as any other; of one that was made, and of
    the class, what the class binds it to, or `state` where functions bind it anew."""

    def __init__(self, name: str, default: Any, state: Opaque | None, *, is_of_instances: bool) -> None:
        self._name, self.default, self._state, self._is_of_instances = name, default, state, is_of_instances

    def __get__(self, instance: Any, owner: type) -> Any:
        label = label_of(instance) if instance is not None and self._is_of_instances else None
        run = current.run
        if label is None:
            return self.default if self._state is None else run.heap.get(self._state, self._state)
        if isinstance(self.default, _FIXED):
            fixed.add(attribute(label, self._name))
        try:
            found = run.read(label, self._name)
        except AttributeError:
            if run.world.has_none(label):
                raise
            return self.default
        if type(found) is Opaque and found in run.fresh:
            instance.__dict__[self._name] = found
            if run.anew is not None:
                run.anew.held(found, instance.__dict__, self._name)
        return found


def hold_fields(
    moments: Moments, key: str, kind: type, node: ast.ClassDef, places: dict[str, Callable[[Any, Opaque], None]]
) -> None:
    """Put into a class that was just made what its values are at the moment of a call. places: takes down how one of
    them becomes another in a run."""
    if isinstance(kind, enum.EnumMeta) or issubclass(kind, tuple):
        return
    for name, value in list(vars(kind).items()):
        if name[:2] == "__" or name[:3] == "_u_" or not _is_bound(node, name):
            continue
        if type(value) in _TABLES:
            changers = moments.field_changers(key, name, is_empty=not value)
            value = value if changers is None else _table(value, f"{key}.{name}", changers)
        if type(value) not in _VALUES and type(value) not in _TABLES:
            continue
        how = moments.field(key, name)
        if how:
            state = state_term(f"{key}.{name}") if how != "instance" else None
            if state is not None:
                places[f"{key}.{name}"] = _setting(state)
            fixed.update([state] if state is not None and isinstance(value, _FIXED) else [])
            value = HeldField(name, value, state, is_of_instances=how != "class")
        if value is not vars(kind)[name]:
            type.__setattr__(kind, name, value)


def _setting(state: Opaque) -> Callable[[Any, Opaque], None]:
    def set_anew(run: Any, value: Opaque) -> None:
        run.heap[state] = value

    return set_anew


def _is_bound(node: ast.ClassDef, name: str) -> bool:
    """Whether a statement of the class itself gives the name a value."""
    for each in node.body:
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return True
    return False
