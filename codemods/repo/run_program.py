"""Programs of the user's that run as they would by themselves, in their own environment: one that is watched to its
end, and one that answers through a file within a time. What they are and what their answers mean is the callers'."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from codemods.schema.errors import ConfigError

_POLL_S = 0.02
_KEPT_STDERR = 2000
_TAKEN_AT_ONCE = 256


class CannotStart(ConfigError):
    """The command is not there, or is no program."""

    code = "cannot-start"

    def __init__(self, argv: Sequence[str], error: OSError) -> None:
        super().__init__(
            f"{argv[0]} can't be started: {error.strerror}",
            fix="give a command that runs by itself from this directory",
        )


def run_program(argv: Sequence[str], environ: Mapping[str, str], *, output_to_stderr: bool = False) -> int:
    """Runs with the streams that this process has; the exit status, negative for a signal. An interrupt is the
    program's: it gets it from the terminal as we do, and we wait for its end. A request to end (SIGTERM) is handed on.

    output_to_stderr: its output goes to stderr, as stdout is ours. Raises CannotStart."""
    with _interrupts_left_to_others():
        try:
            process = subprocess.Popen(argv, env=dict(environ), stdout=2 if output_to_stderr else None)
        except OSError as error:
            raise CannotStart(argv, error) from error
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _interrupts_left_to_others() -> Iterator[None]:
    def nothing(number: int, frame: FrameType | None) -> None:
        del number, frame

    # A handler, not SIG_IGN: that would be inherited. A program starts with the usual meaning in place of a handler.
    before = signal.signal(signal.SIGINT, nothing)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Answering:
    """How a program that answers through a file has ended: `status` None when it was ended for taking too long."""

    def __init__(self, status: int | None, stderr: str) -> None:
        self.status, self.stderr = status, stderr


def run_answering(
    argv: Sequence[str], environ: Mapping[str, str], cwd: Path, *, answers: Path, timeout_s: float
) -> Answering:
    """Runs until the program ends or `answers` has not grown for `timeout_s`. All processes that it started and that
    stayed in its group end with it. Raises CannotStart."""
    told, theirs = os.pipe()
    os.set_blocking(told, False)
    try:
        with os.fdopen(theirs, "wb") as stderr:
            try:
                process = subprocess.Popen(
                    argv, env=dict(environ), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=stderr, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                raise CannotStart(argv, error) from error
        tail = _Tail(told)
        try:
            status = _waited(process, answers, timeout_s, tail)
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        tail.take()
        return Answering(status, tail.text.decode("utf-8", "replace"))
    finally:
        os.close(told)


class _Tail:
    """The end of what a program writes, however much that is."""

    def __init__(self, fd: int) -> None:
        self._fd, self._is_open, self.text = fd, True, b""

    def wait(self, seconds: float) -> None:
        """Until something was written, or a time has passed."""
        if self._is_open and select.select([self._fd], [], [], seconds)[0]:
            self.take()
        elif not self._is_open:
            time.sleep(seconds)

    def take(self) -> None:
        with contextlib.suppress(BlockingIOError):
            for _ in range(_TAKEN_AT_ONCE):
                part = os.read(self._fd, 1 << 16)
                if not part:
                    self._is_open = False
                    return
                self.text = (self.text + part)[-_KEPT_STDERR:]


def _waited(process: subprocess.Popen[bytes], answers: Path, timeout_s: float, tail: _Tail) -> int | None:
    size, since = -1, time.monotonic()
    while True:
        status = process.poll()
        now = answers.stat().st_size if answers.exists() else 0
        if status is not None:
            return status
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > timeout_s:
            return None
        tail.wait(_POLL_S)
