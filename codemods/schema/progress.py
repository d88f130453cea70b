"""How a long run tells where it is. Who listens (a terminal, a CI log, nobody) is decided in cli/."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told before each piece of work. Must be cheap and must never raise."""

    def step(self, number: int, total: int, text: str) -> None:
        """`number` counts from 1 to `total`; `text` names the piece of work in a few words."""


class Silent:
    """Tells nobody."""

    def step(self, number: int, total: int, text: str) -> None:
        del number, total, text
