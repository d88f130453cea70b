"""A bound on how long a piece of work may take, where the system can interrupt it: in the main thread, on Unix.

Counted in time of the processor, so that what a verdict says does not depend on what else the machine has to do. What
waits for somebody else instead has MAX_WAIT times as long, by the clock."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

MAX_WAIT = 8


class TookTooLong(Exception):
    """The time is up."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TookTooLong in the body when it runs longer. No bound where there is no way to set one, or where somebody
    else's timer is running."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    timers = ((signal.ITIMER_PROF, signal.SIGPROF, seconds), (signal.ITIMER_REAL, signal.SIGALRM, seconds * MAX_WAIT))
    if any(signal.getitimer(timer) != (0.0, 0.0) for timer, _, _ in timers):
        yield
        return
    before = [signal.signal(each, _stop) for _, each, _ in timers]
    for timer, _, most in timers:
        # Again and again: a first one that comes while an object is finalised is swallowed there.
        signal.setitimer(timer, most, 1.0)
    try:
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)
        for (_, each, _), handler in zip(timers, before, strict=True):
            signal.signal(each, handler)


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise TookTooLong
