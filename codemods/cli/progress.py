"""Says on stderr where a long run is: one moving line on a terminal, a line now and then in CI, nothing elsewhere.

Nothing is shown in the first second. Which pieces of work there are is told by who does them."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TextIO

_QUIET_S = 1.0
_REDRAW_S = 0.1
_HEARTBEAT_S = 10.0


class StderrProgress:
    """A context manager; between entering and leaving a thread of its own draws, so slow steps show too."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        is_ci = environ.get("CI", "").lower() not in ("", "0", "false")
        is_terminal = stream.isatty() and environ.get("TERM") != "dumb"
        self._stream = stream
        self._moves = is_terminal and not is_ci
        self._beats = is_ci
        self._lock = Lock()
        self._now = ""
        self._drawn = False
        self._done = Event()
        self._thread: Thread | None = None

    def step(self, number: int, total: int, text: str) -> None:
        with self._lock:
            self._now = f"[{number}/{total}] {text}"

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """While somebody else prints: the moving line is not there."""
        with self._lock:
            if self._drawn and self._moves:
                self._write("\r\x1b[2K")
            yield

    def __enter__(self) -> StderrProgress:
        if self._moves or self._beats:
            self._thread = Thread(target=self._draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self._done.set()
        if self._thread is not None:
            self._thread.join()
        if self._drawn and self._moves:
            self._write("\r\x1b[2K")

    def _draw(self) -> None:
        start = time.monotonic()
        pause = _QUIET_S if self._moves else _HEARTBEAT_S
        while not self._done.wait(pause):
            with self._lock:
                seconds = int(time.monotonic() - start)
                self._drawn = True
                if self._moves:
                    width = shutil.get_terminal_size().columns
                    self._write(f"\r\x1b[2K{f'{self._now}  {seconds} s'[: max(width - 1, 10)]}")
                    pause = _REDRAW_S
                else:
                    self._write(f"unmoved: {self._now or 'working'}, {seconds} s so far\n")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Progress is a courtesy: a stream that is gone ends it, and nothing else.
            self._done.set()
