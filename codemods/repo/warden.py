"""The process that the workers of a pool are forked from: it runs nothing of anybody's, so it answers at once, can fork
in a few milliseconds, and outlives a worker whatever that one does. When its own starter is gone, however that ended,
it kills what it has started, removes the folder that they wrote to, and ends.

It starts, kills, reaps and removes. What a worker is, and what is said to it, is the service's: a module with
`prepare()`, called once here, and `begin(fd, folder, lacks)`, called in each new process. It imports little: a short
run waits for it."""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import signal
import socket
import struct
import sys
from typing import Any

HEADER = struct.Struct("!BII")  # kind, worker, bytes that follow
# From the starter: a new worker (with two descriptors: its private socket and its sink), or one to be killed.
SPAWN, KILL = 1, 2
# To the starter: the folder is there; a worker has ended, with the status that wait(2) gives.
READY, GONE = 3, 4


def main(argv: list[str]) -> None:
    """argv: descriptor of the starter's socket, folder to make, the service's module."""
    place = argv[1]
    control = socket.socket(fileno=int(argv[0]))
    watch, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, _noted)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    warden = _Warden(control, watch, wake, place)
    try:
        os.mkdir(place, 0o700)
        os.chdir(place)  # what is loaded here may leave something where it is
        warden.serve(importlib.import_module(argv[2]))
    finally:
        warden.end()


def _noted(*_: object) -> None:
    """The number of the signal is read from the wake-up pipe."""


class _Warden:
    def __init__(self, control: socket.socket, watch: int, wake: int, place: str) -> None:
        self._control, self._watch, self._wake, self._place = control, watch, wake, place
        self._pids: dict[int, int] = {}  # worker -> process

    def serve(self, service: Any) -> None:
        lacks = service.prepare()
        self._say(READY, 0, b"")
        while True:
            watched: list[Any] = [self._control, self._watch]
            ready, _, _ = select.select(watched, [], [])
            if self._watch in ready:
                if signal.SIGTERM in os.read(self._watch, 4096):
                    return
                self._reap()
            if self._control in ready and not self._obey(service, lacks):
                return

    def _obey(self, service: Any, lacks: tuple[str, ...]) -> bool:
        """One message of the starter; False when it is gone."""
        try:
            head, fds, _, _ = socket.recv_fds(self._control, HEADER.size, 2)
            if head:
                head += _exactly(self._control, HEADER.size - len(head))
                kind, worker, num_bytes = HEADER.unpack(head)
                body = _exactly(self._control, num_bytes)
        except OSError:
            return False
        if not head:
            return False
        if kind == SPAWN:
            # What the worker will need is loaded once, here. What is wrong with it is for the worker to say.
            with contextlib.suppress(Exception):
                importlib.import_module(body.decode())
            self._fork(service, lacks, worker, fds)
        elif kind == KILL and worker in self._pids:
            _kill(self._pids[worker])
        return True

    def _fork(self, service: Any, lacks: tuple[str, ...], worker: int, fds: list[int]) -> None:
        folder = os.path.join(self._place, str(worker))
        os.mkdir(folder, 0o700)
        process = os.fork()
        if process:
            self._pids[worker] = process
            for fd in fds:
                os.close(fd)
            return
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            self._control.close()
            os.close(self._watch)
            os.close(self._wake)
            private, sink = fds
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            os.close(sink)
            service.begin(private, folder, lacks)
        except BaseException:  # noqa: BLE001 - shown in the sink, never handed up: above this is the warden's own loop
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(70)

    def _reap(self) -> None:
        for worker, process in list(self._pids.items()):
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                del self._pids[worker]
                _kill(process)  # whatever it may have left in its group
                remove_folder(os.path.join(self._place, str(worker)))
                self._say(GONE, worker, str(status).encode())

    def _say(self, kind: int, worker: int, body: bytes) -> None:
        with contextlib.suppress(OSError):  # a starter that is gone is noticed where it is read from
            self._control.sendall(HEADER.pack(kind, worker, len(body)) + body)

    def end(self) -> None:
        for process in self._pids.values():
            _kill(process)
        for process in self._pids.values():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)
        remove_folder(self._place)


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)  # it may not have come to be the head of its group yet


def _exactly(control: socket.socket, num_bytes: int) -> bytes:
    parts = b""
    while len(parts) < num_bytes:
        part = control.recv(num_bytes - len(parts))
        if not part:
            raise ConnectionResetError
        parts += part
    return parts


def remove_folder(folder: str) -> None:
    """Removes it with all that is in it, however deep and however protected; nothing that a link in it leads to."""
    empty_folder(folder)
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def empty_folder(folder: str) -> None:
    """Removes what is in it. Directories are moved up and then emptied: hostile ones are deeper than a path is long."""
    mark, moved = os.urandom(6).hex(), 0
    while True:
        found = _listed(folder)
        left = len(found)
        for entry in found:
            with contextlib.suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    left -= 1
                    continue
                os.chmod(entry.path, 0o700)
                for inner in _listed(entry.path):
                    if inner.is_dir(follow_symlinks=False):
                        os.chmod(inner.path, 0o700)
                        moved += 1
                        os.rename(inner.path, os.path.join(folder, f"{mark}-{moved}"))
                    else:
                        os.unlink(inner.path)
                os.rmdir(entry.path)
                left -= 1
        if left == len(found):
            return


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
