"""What code in this process may do once it is confined: compute, write below one folder, read what Python is made of.

All else that Python reports (sys.addaudithook) is refused with `Refused` and told to `report` at once, so that code
which swallows the exception, or ends the process, is still found out. Limits of the system bound memory, files and
processes, and the kernel holds what it can (sandbox_kernel.py): an audit hook alone does not stop somebody who knows
Python well. How long anything may take is decided by the callers. Nothing here can be undone; what the system lacks is
returned."""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from . import sandbox_kernel  # noqa: TID252 -- it is loaded into programs that don't have this package, too

# No part of a path that is read may be one of these, wherever it lies.
_SECRET = frozenset({
    ".ssh", ".aws", ".azure", ".docker", ".gnupg", ".kube", ".netrc", ".pgpass", ".git-credentials", ".pypirc",
    ".npmrc", ".password-store", ".config", ".env",
})  # fmt: skip
# Of the system, the files that the standard library reads for what is the same on every machine, or nearly so.
_SYSTEM = (
    "/usr/share/zoneinfo", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64", "/etc/localtime",
    "/etc/mime.types", "/etc/ld.so.cache", "/System/Library", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
)  # fmt: skip
_WRITABLE = ("/dev/null",)
# Of the machine, what programs look at as they are loaded; nothing in it is anybody's secret.
_MACHINE = (
    "/proc/self/maps", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/loadavg",
    "/proc/filesystems", "/sys/devices/system", "/etc/os-release", "/usr/share",
)  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST_REPORTS = 20

_NEVER = (
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "os.kill",
    "os.killpg", "pty.spawn", "subprocess.Popen", "signal.pthread_kill", "_thread.start_new_thread",
    "_thread.start_joinable_thread", "sys.addaudithook", "sys.remote_exec", "resource.prlimit",
    "gc.get_objects", "gc.get_referents",
)  # fmt: skip
# What a whole program may do: all of it ends with its process.
_OF_PROGRAMS = ("_thread.start_new_thread", "_thread.start_joinable_thread", "gc.get_objects", "gc.get_referents")
_NEVER_BELOW = frozenset({
    "socket", "ctypes", "ftplib", "http", "imaplib", "nntplib", "poplib", "smtplib", "telnetlib", "urllib", "syslog",
    "webbrowser", "winreg", "_winapi", "msvcrt",
})  # fmt: skip
# Which arguments are paths that are changed, and which are the directories that those are relative to.
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.chflags": ((0, None),), "os.chmod": ((0, 2),), "os.chown": ((0, 3),), "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),), "os.remove": ((0, 1),), "os.removexattr": ((0, None),), "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),), "os.setxattr": ((0, None),), "os.symlink": ((1, 2),), "os.truncate": ((0, None),),
    "os.utime": ((0, 3),), "os.chdir": ((0, None),), "sqlite3.connect": ((0, None),),
}  # fmt: skip
# These act on a link itself; the others on what it leads to.
_ON_LINKS = frozenset({"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"})
_LISTS = ("os.listdir", "os.scandir", "os.getxattr", "os.listxattr")
_NO_MODULES = frozenset({"ctypes", "_ctypes"})
# What Python does without reporting it.
_UNREPORTED = (
    "mkfifo", "mknod", "chroot", "setsid", "setpgid", "setpgrp", "nice", "setuid", "setgid", "setgroups", "setpriority",
)  # fmt: skip
# Reported by some versions only.
_THREADS = ("start_new_thread", "start_new", "start_joinable_thread", "_start_new_thread", "_start_joinable_thread")
_SIGNALS = ("signal", "setitimer", "alarm", "pthread_sigmask", "siginterrupt", "set_wakeup_fd", "raise_signal")


class Refused(BaseException):
    """The subject asked for what nothing in a worker may do. Not an Exception: what follows from it means nothing."""


def limit_resources(*, memory_mb: int, file_mb: int, open_files: int, threads: bool = False) -> tuple[str, ...]:
    """Bounds that the system keeps for this process. threads: whether it may have some. What it has no bound for."""
    wanted = [
        ("RLIMIT_AS", memory_mb << 20, "a limit of memory"),
        ("RLIMIT_DATA", memory_mb << 20, ""),
        ("RLIMIT_FSIZE", file_mb << 20, "a limit of the size of files"),
        ("RLIMIT_NOFILE", open_files, "a limit of open files"),
        ("RLIMIT_CORE", 0, ""),
    ]
    if not threads:  # nothing is refused by it where the user is root, or where others may start some
        wanted.append(("RLIMIT_NPROC", 0, ""))
    lacks = []
    for name, value, what in wanted:
        if not _is_bounded(name, value):
            lacks.append(what)
    return tuple(filter(None, lacks))


def _is_bounded(name: str, value: int) -> bool:
    try:
        number = getattr(resource, name)
        hard = resource.getrlimit(number)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (value, value))
    except (AttributeError, OSError, ValueError):
        return False
    return True


def confine(
    folder: str, readable: Sequence[str], report: Callable[[str], None], *, is_program: bool = False
) -> tuple[str, ...]:
    """From here on. report(text) is called for each of the first refusals. What the system could not add.

    is_program: a whole program is loaded, which may start threads and have its handlers of signals, as its process ends
    with it; it may also load libraries where the kernel keeps all of its rules, as Python does not see what they do."""
    folder = os.path.realpath(folder)
    readable = _readable((*readable, *(_MACHINE if is_program else ())))
    lacks = sandbox_kernel.close_in(folder, readable, _WRITABLE, threads=is_program)
    has_libraries = is_program and not lacks
    refuse = _refuser(report)
    _close_side_doors(refuse, is_program)
    if not has_libraries:
        for name in _NO_MODULES:
            sys.modules.pop(name, None)
    sys.dont_write_bytecode = True
    sys.addaudithook(_hook(_Places(folder, readable), refuse, is_program, has_libraries))
    return lacks


def _readable(given: Sequence[str]) -> tuple[str, ...]:
    python = [os.path.dirname(os.__file__), *sys.path]
    return tuple(dict.fromkeys(os.path.realpath(place) for place in (*python, *_SYSTEM, *given) if place))


def _refuser(report: Callable[[str], None]) -> Callable[[str], None]:
    left = [_MOST_REPORTS]

    def refuse(what: str) -> None:
        if left[0]:
            left[0] -= 1
            report(what)
        raise Refused(what)

    return refuse


def _close_side_doors(refuse: Callable[[str], None], is_program: bool) -> None:
    import posix
    import threading

    def closed(name: str) -> Callable[..., None]:
        return lambda *_, **__: refuse(name)

    doors: list[tuple[Any, str]] = [
        *((module, name) for module in (os, posix) for name in _UNREPORTED),
        (resource, "setrlimit"),
        (importlib.import_module("_posixsubprocess"), "fork_exec"),
    ]
    if not is_program:
        doors += ((module, name) for module in (signal, importlib.import_module("_signal")) for name in _SIGNALS)
        doors += ((module, name) for module in (threading, importlib.import_module("_thread")) for name in _THREADS)
    for module, name in doors:
        if hasattr(module, name):
            setattr(module, name, closed(f"{module.__name__.lstrip('_')}.{name}()"))


def _hook(
    places: _Places, refuse: Callable[[str], None], is_program: bool, has_libraries: bool
) -> Callable[[str, tuple[Any, ...]], None]:
    rules: dict[str, Callable[[tuple[Any, ...]], bool] | None] = dict.fromkeys(_NEVER, _never)
    rules |= {event: places.may_change(where, event not in _ON_LINKS) for event, where in _CHANGES.items()}
    rules |= dict.fromkeys(_LISTS, places.may_list)
    rules |= {"open": places.may_open, "import": _may_import, "socket.gethostname": None, "socket.__new__": _is_local}
    rules["object.__setattr__"] = _is_no_code
    rules["resource.setrlimit"] = _never if is_program else _is_clock
    if is_program:
        rules |= dict.fromkeys(_OF_PROGRAMS)
        rules["object.__setattr__"] = None
        rules["import"] = None if has_libraries else _import_of_none
    never_below = _NEVER_BELOW - {"ctypes"} if has_libraries else _NEVER_BELOW

    def hook(event: str, args: tuple[Any, ...]) -> None:
        try:
            rule = rules[event]
        except KeyError:
            rule = _never if event.partition(".")[0] in never_below else None
        if rule is not None and not rule(args):
            refuse(f"{event}({', '.join(map(_shown, args[:3]))})")

    return hook


def _never(_: tuple[Any, ...]) -> bool:
    return False


def _may_import(args: tuple[Any, ...]) -> bool:
    return args[0] not in _NO_MODULES


def _import_of_none(args: tuple[Any, ...]) -> bool:
    """A program that can do without a module asks for it all the same."""
    if args[0] in _NO_MODULES:
        raise ImportError(f"{args[0]} is not to be had in a replay: this kernel would not see what libraries do")
    return True


def _is_no_code(args: tuple[Any, ...]) -> bool:
    """Another function's code is how one would pass for it. Libraries do that with what they make themselves."""
    names = getattr(args[0], "__globals__", {})
    return args[1] != "__code__" or names.get("__package__") != __package__


def _is_local(args: tuple[Any, ...]) -> bool:
    """An event loop of asyncio wakes itself through a pair of sockets; they can't be connected to anything."""
    return bool(args[1] == 1)  # AF_UNIX


def _is_clock(args: tuple[Any, ...]) -> bool:
    """The worker's own clock needs it for each task (worker.py). Whoever else gets at it still has the parent's clock
    against them."""
    return bool(args[0] == resource.RLIMIT_CPU)


def _shown(value: Any) -> str:
    """Only of what has no code of its own."""
    return repr(value)[:200] if type(value) in (str, bytes, int, bool, type(None)) else f"<{type(value).__name__}>"


class _Places:
    """Which places may be read and changed. Paths are judged by where they lead, links followed."""

    def __init__(self, folder: str, readable: Sequence[str]) -> None:
        self._folder, self._below = folder, folder + os.sep
        self._readable = frozenset(readable)
        self._below_readable = tuple(place.rstrip(os.sep) + os.sep for place in readable)

    def may_open(self, args: tuple[Any, ...]) -> bool:
        path, mode, flags = args
        if type(path) is int:
            return True  # it is open already
        place = _place(path, None)
        writes = flags & _WRITING or (isinstance(mode, str) and not {"w", "a", "x", "+"}.isdisjoint(mode))
        return (place in _WRITABLE or self._is_inside(place)) if writes else self._may_read(place)

    def may_list(self, args: tuple[Any, ...]) -> bool:
        return self._may_read(_place("." if args[0] is None else args[0], None))

    def may_change(self, where: tuple[tuple[int, int | None], ...], follow: bool) -> Callable[[tuple[Any, ...]], bool]:
        def allowed(args: tuple[Any, ...]) -> bool:
            for path, base in where:
                if args[path] == ":memory:":  # a database without a file; a file of that name is inside, or refused
                    continue
                if not self._is_inside(_place(args[path], None if base is None else args[base], follow=follow)):
                    return False
            return True

        return allowed

    def _is_inside(self, place: str) -> bool:
        return place == self._folder or place.startswith(self._below)

    def _may_read(self, place: str) -> bool:
        if self._is_inside(place):
            return True
        is_given = place in self._readable or place.startswith(self._below_readable)
        return is_given and _SECRET.isdisjoint(place.split(os.sep))


def _place(path: Any, base: Any, *, follow: bool = True) -> str:
    """Where `path` leads; "" when that can't be told, which is no place."""
    try:
        if type(path) is int:
            return _opened(path)
        text = os.fsdecode(bytes(path)) if isinstance(path, bytes) else str.__str__(path)
        if type(base) is int and base >= 0:
            text = os.path.join(_opened(base), text)
        if follow:
            return os.path.realpath(text)
        head, tail = os.path.split(text.rstrip(os.sep))
        return os.path.realpath(text) if tail in ("", ".", "..") else os.path.join(os.path.realpath(head), tail)
    except (OSError, TypeError, ValueError):
        return ""


def _opened(fd: int) -> str:
    """Which place it is open on. Raises OSError."""
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(fd, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{fd}")
