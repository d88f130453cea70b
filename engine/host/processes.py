"""Python processes of our own: how they are started, what they are told, and that none outlives who started it. What
they do is a module's that says `begin()` first."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping

_SIZE = struct.Struct(">Q")
_STDIN, _STDERR = 0, 2
# The child looks for modules where its parent does, whatever changed that: an editable install, pytest, PYTHONPATH.
_BOOT = (
    "import sys, json, runpy; module, path = sys.argv[1:3]; del sys.argv[1:3]; sys.path[:] = json.loads(path); "
    "runpy.run_module(module, run_name='__main__', alter_sys=True)"
)
ORPHANED = 70  # the exit status of one whose parent went away


class Child:
    """A process and its lifeline: a pipe that only this process holds. Where it closes, however that comes (stop(), or
    the end of this process), the child ends too. What it prints goes to the error output."""

    def __init__(self, module: str, spec: bytes, *, environ: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, module, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=_STDERR,
            env={**os.environ, **(environ or {})},
        )
        self._tell(_SIZE.pack(len(spec)) + spec)

    def _tell(self, raw: bytes) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once; its exit status says so
            self._process.stdin.write(raw)
            self._process.stdin.flush()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def status(self) -> int | None:
        """Its exit status, minus the number of the signal that killed it; None while it runs."""
        return self._process.poll()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Its exit status, or None when it still runs after so long."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def on_exit(self, tell: Callable[[int], None]) -> None:
        """Call with the exit status, from a thread of its own, as soon as there is one."""
        threading.Thread(target=lambda: tell(self._process.wait()), name=f"wait-{self.pid}", daemon=True).start()

    def stop(self, grace_s: float = 5.0) -> int:
        """End it: by its lifeline, and by force where it does not follow. Its exit status."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        if self.wait(grace_s) is None:
            self._process.kill()
        return self._process.wait()

    def kill(self) -> None:
        self._process.kill()


def begin() -> bytes:
    """For the child, first of all: what it was told. From then on it ends with its parent. Signals that ask for the end
    go to whole groups (a terminal's, a service's): the parent decides what is finished first."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    (size,) = _SIZE.unpack(_read(_SIZE.size))
    spec = _read(size)
    threading.Thread(target=_end_with_parent, name="lifeline", daemon=True).start()
    return spec


def _read(size: int) -> bytes:
    parts = []
    while size:
        part = os.read(_STDIN, size)
        if not part:
            os._exit(ORPHANED)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _end_with_parent() -> None:
    while os.read(_STDIN, 4096):
        pass
    os._exit(ORPHANED)  # at once: nobody is left who could want what it does
