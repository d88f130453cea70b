"""The form of a page of `unmoved explain`. The pages are in pages_*.py; of hazards, pages.py has the table."""

from __future__ import annotations

from msgspec import Struct

from codemods.schema.hazards import Severity


class Example(Struct, frozen=True, kw_only=True):
    """Two versions of a program whose `run()` comes to something else: a test runs both.

    Where one file is not enough, lines `# file: NAME.py` part them; `run` is in the last.
    was, now: what `run()` comes to, as `repr` prints it, or `SomeError: its message`."""

    before: str
    after: str
    was: str
    now: str


class Settling(Struct, frozen=True, kw_only=True):
    """One way to settle a hazard. `key` is a key of the plan's step, or "" where the way is another."""

    key: str
    how: str


class Page(Struct, frozen=True, kw_only=True):
    """`severity` is the usual one; a single place may be judged lighter or graver. None: a difference that `prove`
    finds, which is no hazard."""

    code: str
    title: str
    severity: Severity | None
    text: str
    example: Example
    settle: tuple[Settling, ...]


def accept(why: str) -> Settling:
    """The way that is always there: a person says why it is harmless."""
    return Settling(key="accept", how=why)


def declare(why: str) -> Settling:
    """The way for a difference that is meant: it goes into the spec of the pair."""
    return Settling(key="[[pair.delta]]", how=why)
