"""Work spread over processes: results in the order of the items, made a few ahead of the reader. What is held does not
grow with the number of items. What the work is, and what its results mean, is the caller's."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from codemods.schema.errors import InternalError

if TYPE_CHECKING:
    from concurrent.futures import Future

_AHEAD = 8  # items a process may be ahead of the reader: one that takes long keeps the others from nothing

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Given = TypeVar("_Given")


def default_jobs() -> int:
    """As many as there are cores for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[_Item], _Result],
    items: Iterable[_Item],
    *,
    jobs: int,
    start: Callable[[_Given], None],
    given: _Given,
) -> Generator[_Result, None, None]:
    """start(given) runs once in each process. Everything must be importable or picklable. Raises InternalError when a
    process is gone; closing the generator ends the processes."""
    # Not at the top: one commit needs no other process, and loading this takes as long as reading the commit.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # Not by fork: the command has a thread that shows progress, and a fork of threads may hang.
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(start, given))
    waiting: deque[Future[_Result]] = deque()
    try:
        for item in items:
            with _interrupts_held():  # this may start a process
                waiting.append(pool.submit(work, item))
            if len(waiting) >= jobs * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise InternalError(
            "a process that did part of the work was killed, or crashed",
            fix="run again with -j 1 to see where; it may need more memory than there is",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """A process that is started here is not interrupted before it has begun: it would show where it was."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(start: Callable[[_Given], None], given: _Given) -> None:
    # A terminal interrupts all processes at once. One of these has nothing to say then, and nobody to say it to.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    start(given)
