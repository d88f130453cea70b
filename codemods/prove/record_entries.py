"""What the recorder knows of a function, of one kind of its inputs, and of a call under way. How often a function is
looked at is decided here, by counting. Standard library alone: it runs in the recorded program."""

from __future__ import annotations

import os
import types
from _thread import get_ident
from collections.abc import Mapping
from typing import Any

from .record_reads import Found, num_parameters  # noqa: TID252 -- see record_values.py
from .record_values import Capture  # noqa: TID252

_ALWAYS = 512  # so many calls are looked at; of those up to the next steps, one in so many
_STEPS = ((2048, 8), (16384, 16), (65536, 32))
_RARELY = 128
_AFTER_ERROR, _MAX_ERRORS = 64, 32  # calls looked at behind an exception that left one which was not
_FIRST, _EVERY = 5, 64  # of calls with one kind of inputs: captured at first, and later one in so many
_LATER = 0x20 | 0x80 | 0x200  # generators, coroutines: the call runs nothing yet
# Where things lie on one machine: a replay has its own. Kept only where the function's own text names them.
_OF_THE_MACHINE = frozenset("PATH HOME PYTHONPATH TMPDIR TEMP TMP USER LOGNAME PWD SHELL LD_LIBRARY_PATH".split())
ALL_VARIABLES = "goes through all environment variables; kept are those that it looks up by name"
_KINDS = {0x20: "generator", 0x80: "coroutine", 0x200: "async_generator"}


class Target:
    """One function, as it was met. name: MODULE:QUALNAME."""

    def __init__(self, name: str, code: types.CodeType, names: dict[str, Any]) -> None:
        """names: the function's globals."""
        self.name, self.code, self.names = name, code, names
        self.parameters = code.co_varnames[: num_parameters(code)]
        first = self.parameters[0] if code.co_argcount else ""
        self.receiver = first if "." in name.partition(":")[2] and first in ("self", "cls", "mcs", "this") else ""
        plain = code.co_argcount + code.co_kwonlyargcount
        self.shown = {name: name for name in self.parameters[:plain]}
        for flag, stars in ((4, "*"), (8, "**")):
            if code.co_flags & flag:
                self.shown[self.parameters[len(self.shown)]] = stars + self.parameters[len(self.shown)]
        self.later = _KINDS.get(code.co_flags & _LATER, "")
        self.reads: dict[type | None, Found] = {}
        self.reset()

    def reset(self) -> None:
        """Nothing of it has been seen."""
        self.calls = self.errors = self.until = 0
        self.keys: dict[Any, Key] = {}
        self.done: dict[str, int] = {}  # behaviour -> examples of it

    def is_due(self) -> bool:
        """Counts a call; whether it is to be looked at."""
        self.calls = calls = self.calls + 1
        return calls <= _ALWAYS or calls <= self.until or not calls % _interval(calls)

    def surprise(self) -> None:
        """An exception left a call that was not looked at: the next ones are."""
        if self.errors < _MAX_ERRORS:
            self.errors += 1
            self.until = self.calls + _AFTER_ERROR


class Key:
    """Calls with one kind of inputs. outcomes: kind of outcome -> examples written."""

    __slots__ = ("calls", "every", "is_wanted", "outcomes")

    def __init__(self) -> None:
        self.calls, self.every, self.is_wanted = 0, _EVERY, False
        self.outcomes: dict[Any, int] = {}

    def is_due(self) -> bool:
        """Counts a call; whether its inputs are to be kept."""
        self.calls += 1
        is_due = self.is_wanted or self.calls <= _FIRST or self.calls % self.every == 0
        if is_due:
            self.is_wanted = False
        return is_due

    def kept(self, nodes: int) -> None:
        """The more there is to keep, the more rarely it is kept."""
        self.every = max(_EVERY, nodes)


class Entry:
    """A call under way. capture is None where the inputs were not kept."""

    __slots__ = (
        "arguments",
        "capture",
        "environ",
        "found",
        "is_gone_through",
        "key",
        "log_level",
        "logs",
        "looked_up",
        "states",
        "target",
        "thread",
        "values",
    )

    def __init__(self, target: Target, values: dict[str, Any], found: Found, key: Key) -> None:
        self.target, self.values, self.found, self.key = target, values, found, key
        self.thread = get_ident()
        self.capture: Capture | None = None
        self.arguments: dict[str, Any] = {}
        self.environ = dict(environ_now())
        self.states: list[tuple[Any, dict[str, Any]]] = []
        self.logs: list[tuple[str, str, str]] = []
        self.log_level = 30
        self.looked_up: set[str] = set()  # variables, by code of the target's package
        self.is_gone_through = False  # all of them

    def variables(self) -> tuple[set[str], str]:
        """Names of the environment that are inputs of the call, and what is to be said of the rest."""
        known = {os.fsdecode(name) for name in self.environ}
        if self.is_gone_through and known <= self.looked_up:
            return set(self.found.environment), ALL_VARIABLES
        note = ALL_VARIABLES if self.is_gone_through else ""
        return {*self.found.environment, *(self.looked_up - _OF_THE_MACHINE)}, note


def _interval(calls: int) -> int:
    return next((interval for most, interval in _STEPS if calls <= most), _RARELY)


def rebound(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Names that have another object now. In one go where, as nearly always, the names are the same ones."""
    if list(before) == list(now):
        return [name for name, old, new in zip(now, before.values(), now.values()) if old is not new]  # noqa: B905
    return [name for name in {**before, **now} if before.get(name, before) is not now.get(name, now)]


def environ_now() -> Mapping[Any, Any]:
    # As it is kept: names and values in bytes, which need no decoding.
    return getattr(os.environ, "_data", os.environ)
