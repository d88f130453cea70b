"""Which recorded value each parameter of the function at hand gets. By name: the recorded arguments first, then
attributes of the recorded receiver, which is how a method that left its class takes what it used to read from `self`.

A parameter that nothing is recorded for keeps its default; without one the recording can't be run. Runs beside the
program: standard library alone."""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from collections.abc import Mapping
from typing import Any, NamedTuple


class NoTarget(Exception):
    """There is nothing under the name any more."""


class CantBind(Exception):
    """The recording lacks something."""


class Candidate(NamedTuple):
    """A callable that is to do what was recorded. owner: its class, where it takes the receiver."""

    function: Any
    owner: type | None
    is_class: bool  # it takes the class


def find(reference: str, num_arguments: int) -> Candidate:
    """MODULE:QUALNAME. Raises NoTarget; what the module raises as it is imported goes through."""
    module_name, _, qualname = reference.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise NoTarget(f"there is no module {error.name}") from error
        raise
    owner: Any = module
    *path, last = qualname.split(".")
    for name in path:
        owner = inspect.getattr_static(owner, name, None)
        if owner is None:
            raise NoTarget(f"{module_name} has no {name}")
    # What a class inherits is looked for too: a method may have moved up.
    private = f"_{owner.__name__.lstrip('_')}{last}" if isinstance(owner, type) and last.startswith("__") else last
    found = inspect.getattr_static(owner, last, None) or inspect.getattr_static(owner, private, None)
    if found is None:
        raise NoTarget(f"{module_name} has no {qualname}")
    kind = owner if isinstance(owner, type) else None
    if isinstance(found, staticmethod):
        return Candidate(found.__func__, None, is_class=False)
    if isinstance(found, classmethod):
        return Candidate(found.__func__, kind, is_class=True)
    if isinstance(found, property):
        found = (found.fget, found.fset)[num_arguments > 1] or found.fdel
    elif isinstance(found, functools.cached_property):
        found = found.func
    if not callable(found):
        raise NoTarget(f"{qualname} of {module_name} is no function")
    return Candidate(found, kind, is_class=False)


class Bound(NamedTuple):
    """A call. takes_receiver: whether the receiver itself is among the arguments. notes: what is not plain about it."""

    args: list[Any]
    kwargs: dict[str, Any]
    takes_receiver: bool
    notes: list[str]


def bind(candidate: Candidate, receiver: str, values: Mapping[str, Any], attributes: Mapping[str, Any]) -> Bound:
    """values: of the recorded parameters. attributes: of the recorded receiver. Raises CantBind."""
    signature = inspect.signature(candidate.function)
    left = {name: value for name, value in values.items() if name != receiver}
    chosen: dict[str, Any] = {}
    parameters = list(signature.parameters.values())
    if candidate.owner is not None:
        if not receiver:
            raise CantBind("it is a method now, and no receiver is recorded for it")
        if not parameters:
            raise CantBind("it takes no receiver")
        chosen[parameters[0].name] = values[receiver]
        parameters = parameters[1:]
    missing: list[inspect.Parameter] = []
    for each in parameters:
        if each.kind is each.VAR_POSITIONAL:
            chosen[each.name] = tuple(_variable(left, "*", each.name) or ())
        elif each.kind is each.VAR_KEYWORD:
            named = {name: left.pop(name) for name in list(left) if not name.startswith("*")}
            chosen[each.name] = {**(_variable(left, "**", each.name) or {}), **named}
        else:
            found, value = _value_for(each.name, left, receiver, values, attributes)
            if found:
                chosen[each.name] = value
            elif each.default is each.empty:
                missing.append(each)
    is_taken = any(value is values.get(receiver) for value in chosen.values()) if receiver else False
    if len(missing) == 1 and receiver and not is_taken:
        # One parameter without a value is the object that the method was called on, under a new name.
        chosen[missing.pop().name] = values[receiver]
        is_taken = True
    if missing:
        raise CantBind(f"nothing is recorded for {', '.join(each.name for each in missing)}")
    bound = inspect.BoundArguments(signature, {name: chosen[name] for name in signature.parameters if name in chosen})
    bound.apply_defaults()
    notes = [f"{name.lstrip('*')} is recorded and no longer taken" for name, value in left.items() if _is_given(value)]
    return Bound(list(bound.args), dict(bound.kwargs), is_taken, notes)


def _is_given(value: Any) -> bool:
    return not (type(value) in (list, tuple, dict) and not value)


def _variable(left: dict[str, Any], stars: str, name: str) -> Any:
    """What was recorded for `*rest` or `**more`, whatever it is called now."""
    own = [stars + name, *(each for each in left if each.startswith(stars) and each.count("*") == len(stars))]
    return next((left.pop(each) for each in own if each in left), None)


def _value_for(
    name: str, left: dict[str, Any], receiver: str, values: Mapping[str, Any], attributes: Mapping[str, Any]
) -> tuple[bool, Any]:
    if name in left:
        return True, left.pop(name)
    for candidate in (name, f"_{name}", name.lstrip("_")):
        if candidate in attributes:
            return True, attributes[candidate]
    if not receiver:
        return False, None
    if name == receiver:
        return True, values[receiver]
    # A method of the receiver that was called by it, and is handed over now.
    member = inspect.getattr_static(values[receiver].__class__, name, None)
    return (True, types.MethodType(member, values[receiver])) if inspect.isfunction(member) else (False, None)
