"""A bound on how long a piece of work may take, where the system can interrupt it: in the main thread, on Unix."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


class TookTooLong(Exception):
    """The time is up."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TookTooLong in the body when it runs longer. No bound where there is no way to set one, or where somebody
    else's timer is running."""
    is_possible = (
        hasattr(signal, "SIGALRM")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )
    if not is_possible:
        yield
        return
    before = signal.signal(signal.SIGALRM, _stop)
    # Again and again: a first one that comes while an object is finalised is swallowed there.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stop(number: int, frame: object) -> None:
    del number, frame
    raise TookTooLong
