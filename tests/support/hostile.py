"""Tasks for the workers of the sandbox that do what subjects should not. They run in a worker, never in the tests."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path


def echo(given: bytes) -> bytes:
    return given


def process(_: bytes) -> bytes:
    return str(os.getpid()).encode()


def slowly(given: bytes) -> bytes:
    time.sleep(float(given))
    return given


def wrong(_: bytes) -> bytes:
    raise ValueError("not like this")


def not_bytes(_: bytes) -> object:
    return 1


def much(given: bytes) -> bytes:
    return bytes(int(given))


class Unshowable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def raise_unshowable(_: bytes) -> bytes:
    raise Unshowable


# --- ends -------------------------------------------------------------------------------------------------------------


def end(given: bytes) -> bytes:
    ways: dict[bytes, Callable[[], object]] = {
        b"os._exit": lambda: os._exit(3),
        b"sys.exit": lambda: sys.exit(4),
        b"exit": lambda: exit(5),
        b"SIGSEGV": faulthandler._sigsegv,  # type: ignore[attr-defined]
        b"SIGABRT": os.abort,
        b"close": lambda: os.closerange(0, 256),
    }
    ways[given]()
    return b""


# --- reaches out, and swallows what comes of it -----------------------------------------------------------------------


def reach(given: bytes) -> bytes:
    """given: the name of the way, a line break, and a place outside."""
    name, _, place = given.decode().partition("\n")
    with contextlib.suppress(BaseException):
        WAYS[name](Path(place))
    return b"went on"


def _by_link(place: Path) -> None:
    os.symlink(place, "link")
    os.chmod("link", 0)


def _through_link(place: Path) -> None:
    os.symlink(place, "way")
    Path("way").write_text("x")


def _by_directory(place: Path) -> None:
    fd = os.open(os.sep, os.O_PATH if hasattr(os, "O_PATH") else os.O_RDONLY)
    os.remove(str(place).lstrip(os.sep), dir_fd=fd)


def _of_parent(_: Path) -> None:
    Path(f"/proc/{os.getppid()}/environ").read_bytes()


def _connect(_: Path) -> None:
    socket.create_connection(("127.0.0.1", 9), timeout=1)


def _load(_: Path) -> None:
    import ctypes

    ctypes.CDLL(None)


class _Sly(str):
    """A path that says something else when it is asked."""

    __slots__ = ()

    def __fspath__(self) -> str:
        return "inside"

    def startswith(self, *_: object) -> bool:
        return True


def _sly(place: Path) -> None:
    os.remove(_Sly(place))


WAYS: dict[str, Callable[[Path], object]] = {
    "os.fork": lambda _: os.fork(),
    "os.system": lambda _: os.system("true"),  # noqa: S605
    "subprocess": lambda _: subprocess.run(["true"], check=False),
    "os.exec": lambda _: os.execv("/bin/true", ["true"]),
    "os.posix_spawn": lambda _: os.posix_spawn("/bin/true", ["true"], {}),
    "thread": lambda _: threading.Thread(target=print).start(),
    "os.kill": lambda _: os.kill(os.getppid(), signal.SIGKILL),
    "signal.signal": lambda _: signal.signal(signal.SIGALRM, signal.SIG_IGN),
    "signal.setitimer": lambda _: signal.setitimer(signal.ITIMER_REAL, 0),
    "socket": lambda _: socket.socket(),
    "connect": _connect,
    "look up": lambda _: socket.getaddrinfo("localhost", 80),
    "ctypes": _load,
    "hook": lambda _: sys.addaudithook(print),
    "remove": lambda place: place.unlink(),
    "remove, sly": _sly,
    "remove by directory": _by_directory,
    "rename": lambda place: place.rename("mine"),
    "link": lambda place: os.link(place, "mine"),
    "chmod through a link": _by_link,
    "write": lambda place: place.write_text("x"),
    "append": lambda place: place.open("ab"),
    "write through a link": _through_link,
    "write by number": lambda place: os.open(place, os.O_WRONLY | os.O_TRUNC),
    "truncate": lambda place: os.truncate(place, 0),
    "time": os.utime,
    "mkdir": lambda place: place.with_name("new").mkdir(),
    "mkfifo": lambda place: os.mkfifo(place.with_name("fifo")),
    "sqlite": lambda place: sqlite3.connect(place.with_name("new.db")),
    "rmdir": lambda place: place.parent.rmdir(),
    "chdir": lambda place: os.chdir(place.parent),
    "read": lambda place: place.read_text(),
    "list": lambda place: os.listdir(place.parent),
    "read the home": lambda _: Path("/root/.ssh/id_rsa").read_text(),
    "read the parent's environment": _of_parent,
}


def fork_unreported(_: bytes) -> bytes:
    """By the function that subprocess is made of, in a fresh copy, which nothing in Python watches."""
    del sys.modules["_posixsubprocess"]
    start: Callable[..., int] = importlib.import_module("_posixsubprocess").fork_exec
    read, write = os.pipe()
    descriptors, user = [-1] * 6 + [read, write], [None, None, None, -1, None]
    if sys.version_info < (3, 11):
        start(
            [b"/bin/true"], [b"/bin/true"], True, (), None, None, *descriptors, False, False, None, None, None, -1, None
        )
    start([b"/bin/true"], [b"/bin/true"], True, (), None, None, *descriptors, False, False, -1, *user, False)
    return b"forked"


def attach(given: bytes) -> bytes:
    """Writes a file where a library does it and Python does not see it."""
    with contextlib.closing(sqlite3.connect(":memory:")) as base:
        base.execute("attach database ? as other", (given.decode(),))
        base.execute("create table other.t(x)")
    return b"written"


def forge(_: bytes) -> bytes:
    """To everything that is open."""
    for fd in range(3, 30):
        with contextlib.suppress(OSError):
            os.write(fd, bytes(7) + b"\x03abc")
    time.sleep(5)
    return b""


# --- goes on and on ---------------------------------------------------------------------------------------------------


def loop(given: bytes) -> bytes:
    if given == b"plain":
        while True:
            pass
    if given == b"deaf":
        while True:
            with contextlib.suppress(BaseException):
                while True:
                    pass
    return str(sum(range(10**15))).encode()  # in C: no handler of a signal gets its turn


def recurse(given: bytes) -> bytes:
    if given:
        sys.setrecursionlimit(10**9)

    def deeper(depth: int) -> int:
        return deeper(depth + 1) + 1

    return bytes(deeper(0))


def allocate(given: bytes) -> bytes:
    if given:
        return str(len(bytearray(int(given)))).encode()
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def say(given: bytes) -> bytes:
    """By print, and past it; as often as given."""
    for _ in range(int(given)):
        print("a" * 9999)  # noqa: T201
        os.write(2, b"b" * 9999 + b"\n")
    return b""


def fill(_: bytes) -> bytes:
    with open("big", "wb") as file:
        file.write(bytes(4 << 20))
    return b""


# --- looks around -----------------------------------------------------------------------------------------------------


def environment(_: bytes) -> bytes:
    return repr(dict(os.environ)).encode()


def folder(_: bytes) -> bytes:
    assert tempfile.gettempdir() == os.getcwd()
    return "\n".join([os.getcwd(), *os.listdir(".")]).encode()


def whereabouts(_: bytes) -> bytes:
    return f"{os.getcwd()} {os.getppid()}".encode()


def litter(given: bytes) -> bytes:
    """Leaves a deep tree that nobody may enter, and is somewhere in it."""
    here = os.getcwd()
    Path("file").write_text("x")
    os.symlink("/", "root")
    for _ in range(int(given)):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    Path("last").write_text("x")
    os.chmod(".", 0)
    return here.encode()


def drawn(_: bytes) -> bytes:
    """As the domains of prove do."""
    from hypothesis import given, settings, strategies

    seen = []

    @settings(max_examples=20, database=None, deadline=None, derandomize=True)
    @given(strategies.integers())
    def draw(number: int) -> None:
        seen.append(number)

    draw()
    return str(len(seen)).encode()


def ordinary(_: bytes) -> bytes:
    """What subjects do, and may."""
    import asyncio
    import decimal
    import json
    import mimetypes
    import uuid
    import zoneinfo

    async def twice() -> int:
        await asyncio.sleep(0)
        return 2

    with tempfile.TemporaryDirectory() as place:
        Path(place, "a").write_text("x")
        Path(place, "a").replace(Path(place, "b"))
    with open(os.devnull, "w") as nowhere:
        print("x", file=nowhere)
    parts = [
        asyncio.run(twice()),
        decimal.Decimal(1),
        json.dumps({}),
        mimetypes.guess_type("a.txt"),
        uuid.uuid4().version,
    ]
    return repr(
        [*parts, str(zoneinfo.ZoneInfo("UTC")), os.path.expanduser("~root") != "", os.urandom(1) != b""]
    ).encode()
