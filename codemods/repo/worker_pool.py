"""Long-lived worker processes that may do anything: die, hang, fill their output, close their pipes. Each has a private
socket for messages and a sink for what it prints, of which the end is kept and the rest is counted.

They are forked by one warden (warden.py), which is the only program started here, and started when the first worker is
wanted. What messages mean, how long they may take and what a worker may do is decided by the callers."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import codemods
from codemods.repo import warden
from codemods.repo.scratch import NoTemporaryFiles, scratch_file
from codemods.schema.errors import ConfigError, InternalError

LENGTH = struct.Struct("!Q")  # before each message on a private socket

_KEPT_OUTPUT_BYTES = 4096
_DRAINED_AT_ONCE = 64 << 20
_SEND_SECONDS = 30.0
_END_SECONDS = 10.0
# Where a Python that was built with its libraries elsewhere, or moved, finds them. All else stays out.
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH", "PYTHONHOME", "__PYVENV_LAUNCHER__")
_BOOT = "import sys; sys.path[:] = sys.argv[4:]; from codemods.repo.warden import main; main(sys.argv[1:4])"


class NoWorkers(ConfigError):
    """This system can't run workers."""

    code = "no-workers"


class Event(NamedTuple):
    """What a worker said (`message`), or that it has ended (`status`, as wait(2) has it)."""

    worker: Worker
    message: bytes | None = None
    status: int = 0


class Worker:
    """One process, as its pool sees it."""

    def __init__(self, number: int, private: socket.socket, sink: int) -> None:
        self.number, self.private, self.sink = number, private, sink
        self.is_closed = False
        self._unread = bytearray()
        self._printed, self._tail = 0, b""

    def messages(self, max_bytes: int) -> Iterator[bytes]:
        """The whole messages among what has been received. Raises OverflowError for one longer than `max_bytes`."""
        while len(self._unread) >= LENGTH.size:
            (num_bytes,) = LENGTH.unpack_from(self._unread)
            if num_bytes > max_bytes:
                raise OverflowError
            end = LENGTH.size + num_bytes
            if len(self._unread) < end:
                return
            message = bytes(self._unread[LENGTH.size : end])
            del self._unread[:end]
            yield message

    def receive(self) -> bool:
        """Takes in what has arrived; False when nothing has, or nothing will any more (then it is closed)."""
        try:
            part = self.private.recv(1 << 20)
        except BlockingIOError:
            return False
        except OSError:
            part = b""
        self.is_closed = self.is_closed or not part
        self._unread += part
        return bool(part)

    def drain(self) -> bool:
        """Takes in what has been printed; False when nobody can print there any more."""
        taken = 0
        while taken < _DRAINED_AT_ONCE:
            try:
                part = os.read(self.sink, 1 << 20)
            except BlockingIOError:
                return True
            if not part:
                return False
            taken += len(part)
            self._printed += len(part)
            self._tail = (self._tail + part[-_KEPT_OUTPUT_BYTES:])[-_KEPT_OUTPUT_BYTES:]
        return True

    def take_printed(self) -> tuple[int, str]:
        """How many bytes were printed since this was last asked, and the last of them as text."""
        if self.sink >= 0:
            self.drain()
        printed, tail = self._printed, self._tail.decode("utf-8", "backslashreplace")
        self._printed, self._tail = 0, b""
        return printed, tail

    def close(self) -> None:
        self.private.close()
        os.close(self.sink)
        self.sink = -1


class WorkerPool:
    """service: the module that says what a worker is; see warden.py. Close it, or use it as a context manager.

    max_message_bytes: a worker that announces more than this is killed."""

    def __init__(self, service: str, *, max_message_bytes: int) -> None:
        if not hasattr(os, "fork"):
            raise NoWorkers("processes can't be forked on this system", fix="run it on Linux or macOS")
        self._max_bytes = max_message_bytes
        self._workers: dict[int, Worker] = {}
        self._next = 0
        self._unread = b""
        self._selector = selectors.DefaultSelector()
        self._stderr = scratch_file()
        self.folder = os.path.join(os.path.realpath(_temporary()), f"unmoved-{os.getpid()}-{secrets.token_hex(6)}")
        self._control, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    _command(theirs.fileno(), self.folder, service),
                    cwd=os.sep,
                    env=_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._stderr,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                self._control.close()
                self._stderr.close()
                raise NoWorkers(
                    f"{sys.executable} can't be started: {error.strerror}", fix="mend that, then run again"
                ) from error
        self._selector.register(self._control, selectors.EVENT_READ)

    @property
    def warden_pid(self) -> int:
        return self._process.pid

    def start(self, module: str) -> Worker:
        """A new worker. module: what it will need, loaded before it is forked."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        sink, their_sink = os.pipe()
        os.set_blocking(sink, False)
        body = module.encode()
        worker = Worker(self._next, ours, sink)
        self._next += 1
        try:
            head = warden.HEADER.pack(warden.SPAWN, worker.number, len(body))
            socket.send_fds(self._control, [head + body], [theirs.fileno(), their_sink])
        except OSError as error:
            worker.close()
            raise self._lost() from error
        finally:
            theirs.close()
            os.close(their_sink)
        self._workers[worker.number] = worker
        self._selector.register(ours, selectors.EVENT_READ, worker)
        self._selector.register(sink, selectors.EVENT_READ, worker)
        return worker

    def send(self, worker: Worker, message: bytes) -> None:
        """One that can't be reached is killed; its end comes as an event."""
        try:
            worker.private.settimeout(_SEND_SECONDS)
            worker.private.sendall(LENGTH.pack(len(message)) + message)
            worker.private.setblocking(False)
        except OSError:
            self.kill(worker)

    def kill(self, worker: Worker) -> None:
        """SIGKILL for all of its process group. Its end comes as an event."""
        if worker.number in self._workers:
            try:
                self._control.sendall(warden.HEADER.pack(warden.KILL, worker.number, 0))
            except OSError as error:
                raise self._lost() from error

    def wait(self, timeout: float | None) -> list[Event]:
        """What has happened; at most `timeout` seconds are spent waiting for it. The end of a worker is its last event.
        Raises InternalError when the warden is gone."""
        events: list[Event] = []
        for key, _ in self._selector.select(timeout):
            worker: Worker | None = key.data
            if worker is None:
                events += self._hear()
            elif worker.number not in self._workers:
                continue  # its end has just been heard
            elif key.fd == worker.sink:
                if not worker.drain():
                    self._selector.unregister(worker.sink)
            else:
                worker.receive()
                events += self._said(worker)
        return events

    def _said(self, worker: Worker) -> Iterator[Event]:
        try:
            yield from (Event(worker, message) for message in worker.messages(self._max_bytes))
        except OverflowError:
            worker.is_closed = True
        if worker.is_closed:
            # It is ending, or has closed what it is spoken to through; neither is of use any more.
            self._forget(worker.private)
            self.kill(worker)

    def _hear(self) -> Iterator[Event]:
        try:
            part = self._control.recv(1 << 16)
        except OSError:
            part = b""
        if not part:
            raise self._lost()
        self._unread += part
        while len(self._unread) >= warden.HEADER.size:
            kind, number, num_bytes = warden.HEADER.unpack_from(self._unread)
            end = warden.HEADER.size + num_bytes
            if len(self._unread) < end:
                return
            body, self._unread = self._unread[warden.HEADER.size : end], self._unread[end:]
            if kind == warden.GONE and number in self._workers:
                yield from self._gone(self._workers[number], int(body))

    def _gone(self, worker: Worker, status: int) -> Iterator[Event]:
        while worker.receive():
            pass
        with contextlib.suppress(OverflowError):
            yield from (Event(worker, message) for message in worker.messages(self._max_bytes))
        del self._workers[worker.number]
        worker.drain()
        self._forget(worker.private)
        self._forget(worker.sink)
        yield Event(worker, status=status)
        worker.close()

    def _forget(self, registered: socket.socket | int) -> None:
        with contextlib.suppress(KeyError):
            self._selector.unregister(registered)

    def _lost(self) -> InternalError:
        self._stderr.seek(0)
        said = self._stderr.read()[-2000:].decode("utf-8", "backslashreplace").strip()
        return InternalError(
            f"the process that starts the workers is gone; it said: {said or 'nothing'}",
            fix="run again with -j 1; there may be too little memory",
        )

    def close(self) -> None:
        """Ends all processes and removes their folder before it returns."""
        if self._stderr.closed:
            return
        with _interrupts_held():
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_WR)
                self._control.settimeout(_END_SECONDS)
                while self._control.recv(1 << 16):
                    pass
            self._control.close()
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            warden.remove_folder(self.folder)  # it is there only when the warden was killed
            self._selector.close()
            for worker in self._workers.values():
                worker.close()
            self._workers.clear()
            self._stderr.close()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _temporary() -> str:
    try:
        return tempfile.gettempdir()
    except OSError as error:
        raise NoTemporaryFiles(error) from error


def _command(fd: int, folder: str, service: str) -> list[str]:
    # Not -I, which would take the seed of hashes away, too: order in sets must be the same each time. What else it
    # keeps out is out: there is no user site (-s), no .pth file is run (-S), and the environment is ours.
    flags = ["-s", "-S", "-u", "-X", "utf8"]
    return [sys.executable, *flags, "-c", _BOOT, str(fd), folder, service, *_search_path()]


def _search_path() -> list[str]:
    """Where this process finds modules, but for the current directory: what lies there may be the subject's. Another
    copy of this package, as where one is installed and another is worked on, comes behind this one."""
    here = os.path.realpath(os.curdir)
    home = str(Path(codemods.__file__).resolve().parent.parent)
    entries = [entry for entry in sys.path if entry and os.path.isabs(entry) and os.path.exists(entry)]
    kept = [entry for entry in entries if os.path.realpath(entry) not in (here, home)]
    first = next((at for at, entry in enumerate(kept) if Path(entry, codemods.__name__).is_dir()), len(kept))
    return [*kept[:first], home, *kept[first:]]


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ending what was started is not left half done because somebody presses Ctrl-C twice."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
