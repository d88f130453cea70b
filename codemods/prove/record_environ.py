"""Which environment variables a program looks up while it runs, whatever their names are put together from, and whether
it goes through them all. Runs in the recorded program: standard library alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

_BETWEEN = ("os", "collections.abc", "_collections_abc", "collections", __name__)


def watch(looked_up: Callable[[str, str], None], gone_through: Callable[[str], None]) -> None:
    """From now on each look-up is told, with the module whose code asked."""
    kind: Any = type(os.environ)
    get, names = kind.__getitem__, kind.__iter__

    def getitem(self: Any, name: str) -> str:
        if self is os.environ and isinstance(name, str):
            looked_up(_asker(), name)
        value: str = get(self, name)
        return value

    def iterate(self: Any) -> Iterator[str]:
        if self is os.environ:
            gone_through(_asker())
        found: Iterator[str] = names(self)
        return found

    kind.__getitem__, kind.__iter__ = getitem, iterate


def _asker() -> str:
    """The module behind those that `os.environ.get` goes through."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") in _BETWEEN:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))
