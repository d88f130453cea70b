"""What a recording holds: one call of one callable that a real program made, and what came of it. Also what `unmoved
record` and `unmoved replay` report.

Values are JSON. What JSON has no word for is an object with one key that starts with `$`, which says what it is:
`$tuple`, `$set`, `$frozenset`, `$items` (a dict by pairs), `$bytes`, `$float`, `$int`, `$enum`, `$type`, `$function`,
`$module`, `$global` (what a module keeps under a name, known by identity), `$value` (made anew from `args`), `$object`
(a class; `attributes` are those that the callable may read), `$opaque` (not kept: a class and a label), `$same` (the
object at that label), `$live` (a time, a process), `$cut` (the beginning of something long), `$gone` (deleted)."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import msgspec
from msgspec import Struct

SCHEMA = 1


class Raised(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The exception that ended a call. cause: the class of what it was raised from, "" without."""

    type: str
    text: str
    cause: str = ""


class LogLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A log record that was made during the call, by whatever the call ran."""

    level: str
    logger: str
    text: str


class Recording(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One behaviour of `target`, written MODULE:QUALNAME.

    receiver: the parameter that is `self` or `cls`, "" for a function.
    arguments: parameter -> value as the call began; `*name` and `**name` hold what is variable.
    absent: attributes that the callable may read and that were not there.
    environment: variables that it may read; null where not set.
    returned or raised: exactly one of them.
    writes: place -> what stands there afterwards, for attributes and arguments that the call changed.
    env_writes: variables that it changed; null where deleted.
    logs: in order, from log_level on. notes: what was cut, redacted or could not be known."""

    schema: Literal[1]
    target: str
    receiver: str = ""
    arguments: dict[str, Any]
    absent: tuple[str, ...] = ()
    environment: dict[str, str | None] = {}
    returned: Any = msgspec.UNSET
    raised: Raised | None = None
    writes: dict[str, Any] = {}
    env_writes: dict[str, str | None] = {}
    log_level: str = "WARNING"
    logs: tuple[LogLine, ...] = ()
    notes: tuple[str, ...] = ()


class Change(Enum):
    """What a run means for one file of recordings."""

    NEW = "new"
    SAME = "same"  # the same call came to the same
    KEPT = "kept"  # the same behaviour, seen on other values; the file stays as it is
    CHANGED = "changed"  # the same call came to something else
    UNSEEN = "unseen"  # this run did not show it; the file stays


class RecordedFile(Struct, frozen=True, kw_only=True):
    """diff: of a changed one, as text."""

    file: str
    target: str
    change: Change
    diff: str = ""


class RecordReport(Struct, frozen=True, kw_only=True):
    """`unmoved record`. calls: of each target, how many were seen, in processes that ended in order.

    status: of the program. written: whether files were changed. notes: what was left out, and why."""

    files: list[RecordedFile]
    calls: dict[str, int]
    status: int
    written: bool
    notes: list[str]


class ReplayVerdict(Enum):
    """Only the first passes. `unmatched`: there is nothing under the target's name any more."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNMATCHED = "unmatched"
    INCONCLUSIVE = "inconclusive"


class Difference(Struct, frozen=True, kw_only=True):
    """place: `result`, `exception`, `write self.x`, `log 2`, `env NAME`, or a place inside of one. Values as JSON text,
    "" where there is nothing."""

    place: str
    expected: str
    found: str


class Replayed(Struct, frozen=True, kw_only=True):
    """One recording, run. reason: why not agrees. notes: how it was compared where that is not plain."""

    file: str
    target: str
    verdict: ReplayVerdict
    reason: str = ""
    differences: list[Difference] = []
    notes: list[str] = []
    diff: str = ""


class ReplayReport(Struct, frozen=True, kw_only=True):
    """`unmoved replay`. totals: verdict -> number. written: whether recordings were updated. notes: what of the
    confinement this system does not have."""

    against: str
    recordings: list[Replayed]
    totals: dict[str, int]
    written: bool
    notes: list[str] = []
