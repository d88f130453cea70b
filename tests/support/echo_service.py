"""A worker that does what it is told, for the tests of the pool; it is not confined."""

from __future__ import annotations

import os
import sys

from codemods.repo.worker_pool import LENGTH


def prepare() -> tuple[str, ...]:
    return ()


def begin(fd: int, folder: str, lacks: tuple[str, ...]) -> None:
    assert os.path.isdir(folder) and lacks == ()
    parent = os.getppid()
    while os.getppid() == parent and (head := os.read(fd, LENGTH.size)):
        answer = _answer(_exactly(fd, LENGTH.unpack(head)[0]))
        os.write(fd, LENGTH.pack(len(answer)) + answer)


def _exactly(fd: int, num_bytes: int) -> bytes:
    parts = b""
    while len(parts) < num_bytes:
        parts += os.read(fd, num_bytes - len(parts))
    return parts


def _answer(message: bytes) -> bytes:
    order, _, given = message.partition(b" ")
    if order == b"say":
        return given
    if order == b"print":
        os.write(1, given)
        return b"printed"
    if order == b"pid":
        return str(os.getpid()).encode()
    if order == b"loaded":
        return str(given.decode() in sys.modules).encode()
    if order == b"end":
        os._exit(int(given))
    raise ValueError(message.decode())
