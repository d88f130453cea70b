"""What stands in for the search for explanations, importable by other processes: every line that says `moved` is."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence

from codemods.schema.errors import GitError, SourceError
from codemods.schema.verdict import Explained, Mark, Problem
from codemods.verify.change import TreeChange


def explain(change: TreeChange) -> Explained:
    made = Explained(claims=["moved"])
    for file in change.changes:
        for marks, raw in ((made.old, file.before), (made.new, file.after)):
            lines = (raw or b"").split(b"\n")
            marks[file.path] = {at: Mark("move") for at, line in enumerate(lines, 1) if b"moved" in line}
    return made


def recheck(change: TreeChange, claims: Sequence[str]) -> Explained:
    return explain(change) if list(claims) == ["moved"] else Explained(claims=list(claims))


def no_readers(change: TreeChange) -> list[Problem]:
    del change
    return []


def readers(change: TreeChange) -> list[Problem]:
    return [Problem(one.path, 1, "U119", "still read") for one in change.changes if b"left" in (one.after or b"")]


def refuse(change: TreeChange) -> Explained:
    raise SourceError("is odd", fix="look at it", path=change.changes[0].path, line=3)


def fail(change: TreeChange) -> Explained:
    del change
    raise GitError("the repository is gone", fix="clone it anew")


def crash(change: TreeChange) -> Explained:
    del change
    raise ZeroDivisionError("in the middle")


def recurse(change: TreeChange) -> Explained:
    return recurse(change)


def die(change: TreeChange) -> Explained:
    del change
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def sleep(change: TreeChange) -> Explained:
    del change
    while True:
        time.sleep(0.01)


def spin(change: TreeChange) -> Explained:
    del change
    while True:
        pass


def say_and_sleep(change: TreeChange) -> Explained:
    os.write(1, b"asleep\n")
    return sleep(change)
