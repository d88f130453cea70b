"""What a worker is: a process that confines itself (confine.py) and then does one task after the other, each a function
of ours that is given bytes and gives bytes, and may run any code in between.

It says what came of a task; what that means for the worker, and when it is to be killed, the parent decides
(sandbox.py). Everything that is needed after the confinement is loaded before it."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from enum import Enum
from typing import NoReturn

import msgspec
from msgspec import Struct

from codemods.prove import sandbox_kernel
from codemods.prove.confine import Refused, confine, limit_resources
from codemods.repo.warden import empty_folder

_LENGTH = struct.Struct("!Q")  # before each message, as the pool has it
_AGAIN_SECONDS = 0.2  # a subject that swallows the interruption is interrupted again
_MOST_DETAIL = 8000
_MOST_FRAMES = 20


class Limits(Struct, frozen=True, kw_only=True):
    """For each task; memory and files for each worker. recursion: as sys.setrecursionlimit has it. result_mb: of one
    task's. readable: directories and files that tasks may read besides Python's own."""

    memory_mb: int = 2048
    wall_seconds: float = 60.0
    cpu_seconds: float = 60.0
    recursion: int = 2000
    file_mb: int = 64
    open_files: int = 256
    result_mb: int = 64
    readable: tuple[str, ...] = ()


class Status(Enum):
    """done: the function has returned. error: it raised. timeout, memory: a limit. crash: the process ended, or would
    have. escaped: something was asked for that is refused, whatever came of it."""

    DONE = "done"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    ESCAPED = "escaped"


class Job(Struct, frozen=True):
    """To a worker. nonce: comes back with all that belongs to this job; who writes to the private pipe blindly does not
    have it."""

    nonce: bytes
    function: str
    payload: bytes


class Ready(Struct, frozen=True, tag="ready"):
    """From a worker: it is confined. lacks: what this system could not add to that."""

    lacks: tuple[str, ...]


class Tried(Struct, frozen=True, tag="tried"):
    """From a worker: what was refused, at the moment it was."""

    nonce: bytes
    what: str


class Done(Struct, frozen=True, tag="done"):
    """From a worker: what came of the job."""

    nonce: bytes
    status: Status
    payload: bytes = b""
    detail: str = ""


Said = Ready | Tried | Done


class OutOfTime(BaseException):
    """Raised in the subject by a clock of this process."""


def prepare() -> tuple[str, ...]:
    """Once, for all workers, in the process that they are forked from: what they can be given together."""
    return sandbox_kernel.leave_network()


def begin(fd: int, folder: str, lacks: tuple[str, ...]) -> NoReturn:
    """A new process; the first message has its limits. Ends with the other side of the pipe."""
    sandbox_kernel.die_with_parent(os.getppid())
    limits = msgspec.msgpack.decode(_read(fd), type=Limits)
    _settle(folder)
    clock = _Clock(limits)
    worker = _Worker(fd, folder, clock)
    sandbox_kernel.go_first_when_memory_ends()
    sys.setrecursionlimit(limits.recursion)
    bounds = limit_resources(memory_mb=limits.memory_mb, file_mb=limits.file_mb, open_files=limits.open_files)
    lacks += bounds + confine(folder, limits.readable, worker.tried)
    worker.say(Ready(lacks))
    while True:
        worker.perform(msgspec.msgpack.decode(_read(fd), type=Job))


def _settle(folder: str) -> None:
    os.chdir(folder)
    os.umask(0o077)
    sys.argv[:] = [""]
    os.environ.clear()
    os.environ.update(HOME=folder, TMPDIR=folder, LC_ALL="C.UTF-8", TZ="UTC")
    # No site module has run: these two are what programs expect of it.
    import builtins
    from _sitebuiltins import Quitter

    for name in ("exit", "quit"):
        setattr(builtins, name, Quitter(name, "Ctrl-D"))


class _Clock:
    """Interrupts what runs too long. A subject that can't be interrupted, or will not, is left to the parent and, for
    the time of the processor, to the system."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._is_running = limits, False
        self._timer = signal.setitimer  # confined code finds another one there
        self._bound = resource.setrlimit
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, self._ring)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def _ring(self, number: int, _: object) -> None:
        if self._is_running:
            if number == signal.SIGALRM:
                raise OutOfTime(f"more than {self._limits.wall_seconds:g} s")
            raise OutOfTime(f"more than {self._limits.cpu_seconds:g} s of the processor")

    def start(self) -> None:
        self._is_running = True
        spent = int(time.process_time() + self._limits.cpu_seconds) + 2
        with contextlib.suppress(OSError, ValueError):
            self._bound(resource.RLIMIT_CPU, (spent, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        self._timer(signal.ITIMER_REAL, self._limits.wall_seconds, _AGAIN_SECONDS)
        self._timer(signal.ITIMER_PROF, self._limits.cpu_seconds, _AGAIN_SECONDS)

    def stop(self) -> None:
        self._is_running = False
        self._timer(signal.ITIMER_REAL, 0)
        self._timer(signal.ITIMER_PROF, 0)


class _Worker:
    def __init__(self, fd: int, folder: str, clock: _Clock) -> None:
        self._fd, self._folder, self._clock = fd, folder, clock
        self._nonce = b""
        self._functions: dict[str, Callable[[bytes], bytes]] = {}
        # Kept from what the subject may put in their places.
        self._encode, self._write, self._chdir = msgspec.msgpack.Encoder().encode, os.write, os.chdir

    def tried(self, what: str) -> None:
        self.say(Tried(self._nonce, what))

    def say(self, message: Said) -> None:
        rest = memoryview(self._encode(message))
        rest = memoryview(_LENGTH.pack(len(rest)) + rest)
        while rest:
            rest = rest[self._write(self._fd, rest) :]

    def perform(self, job: Job) -> None:
        self._nonce = job.nonce
        try:
            try:
                self._clock.start()
                status, payload, detail = self._outcome(job)
            finally:
                self._clock.stop()
        except OutOfTime as error:  # on the way out of it
            self._clock.stop()
            status, payload, detail = Status.TIMEOUT, b"", str(error)
        self.say(Done(job.nonce, status, payload, detail))
        self._chdir(self._folder)
        empty_folder(self._folder)

    def _outcome(self, job: Job) -> tuple[Status, bytes, str]:
        try:
            result = self._function(job.function)(job.payload)
            if type(result) is not bytes:
                return Status.ERROR, b"", f"{job.function} returned a {type(result).__name__}, not bytes"
            return Status.DONE, result, ""
        except OutOfTime as error:
            return Status.TIMEOUT, b"", f"{error}; it was here:\n{_traced(error)}"
        except MemoryError as error:
            return Status.MEMORY, b"", _traced(error)
        except SystemExit as error:
            return Status.CRASH, b"", f"SystemExit({_code(error)})\n{_traced(error)}"
        except Refused as error:
            return Status.ESCAPED, b"", _traced(error)
        except BaseException as error:  # noqa: BLE001 - whatever the subject raises is the outcome
            return Status.ERROR, b"", _traced(error)

    def _function(self, name: str) -> Callable[[bytes], bytes]:
        if name not in self._functions:
            module, _, function = name.partition(":")
            self._functions[name] = getattr(importlib.import_module(module), function)
        return self._functions[name]


def _read(fd: int) -> bytes:
    (num_bytes,) = _LENGTH.unpack(_exactly(fd, _LENGTH.size))
    return _exactly(fd, num_bytes)


def _exactly(fd: int, num_bytes: int) -> bytes:
    parts: list[bytes] = []
    while num_bytes:
        part = os.read(fd, min(num_bytes, 1 << 20))
        if not part:
            os._exit(0)  # the parent wants nothing more
        parts.append(part)
        num_bytes -= len(part)
    return b"".join(parts)


def _code(error: SystemExit) -> str:
    return repr(error.code) if type(error.code) in (int, str, type(None)) else "..."


def _traced(error: BaseException) -> str:
    """The end of the traceback: a recursion's may be as long as memory allows."""
    return "".join(_lines(error))[-_MOST_DETAIL:]


def _lines(error: BaseException) -> Iterator[str]:
    try:
        frame = ahead = error.__traceback__
        for _ in range(_MOST_FRAMES):
            ahead = ahead and ahead.tb_next
        while ahead and frame:
            frame, ahead = frame.tb_next, ahead.tb_next
        yield from traceback.format_exception(type(error), error, frame, limit=-_MOST_FRAMES)
    except Exception:  # noqa: BLE001 - a subject may make exceptions that can't be shown
        yield f"{type(error).__name__}, which can't be shown"
