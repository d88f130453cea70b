"""Containers that the subject made and gave away: to a call, into an attribute or an item. Whoever has them may change
them, and sees what the subject changes of them afterwards; functions that are given away may be called at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from codemods.prove.opaque import EVENT, Opaque, term

if TYPE_CHECKING:
    from codemods.prove.run import Run

_CONTAINERS = frozenset([list, dict, set])
_DEEPEST = 2  # of calls of what a call was given


class Handing:
    """Of one run."""

    def __init__(self, run: Run, call_back: Callable[[list[Any]], None]) -> None:
        self._run, self._call_back = run, call_back
        self._given: list[tuple[Any, Any, Opaque]] = []
        self._depth = self._seen = 0

    def kept(self, value: Any, event: Opaque) -> None:
        """A container that was stored somewhere: what becomes of it later is seen there."""
        if type(value) in _CONTAINERS:
            self._given.append((value, self._plain(value), event))

    def given(self, values: list[Any], event: Opaque) -> None:
        """What a call was given."""
        freezer = self._run.freezer
        for value in values:
            if type(value) in _CONTAINERS:
                self._given.append((value, self._plain(value), event))
                freezer.handed[id(value)] = event
        self._called(event)

    def _called(self, event: Opaque) -> None:
        """Functions among it: called within the call, or by nobody before the end."""
        functions = self._run.freezer.callbacks[self._seen :]
        self._seen += len(functions)
        if functions and self._depth < _DEEPEST and self._run.world.ask(("calls", event), (False, True)):
            self._depth += 1
            self._call_back(functions)
            self._depth -= 1

    def _plain(self, value: Any) -> Any:
        freezer = self._run.freezer
        held, freezer.handed = freezer.handed, {}
        callbacks = len(freezer.callbacks)
        try:
            return term(EVENT, "is", freezer.freeze(value))
        finally:
            freezer.handed = held
            del freezer.callbacks[callbacks:]

    def end(self) -> None:
        """What was changed after it was given away."""
        for value, then, event in self._given:
            now = self._plain(value)
            if now is not then:
                self._run.record("later", event, *now._u_parts[1:])
