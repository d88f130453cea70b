"""What Linux itself can keep from a process, beneath the rules of Python, which code in the same process may get
around: no network, files only where they are given, no new programs or processes, no signals to others, no privileges.

Each part is asked for on its own. What the system can't do, or does not let us do, is returned as a name and left out;
elsewhere than on Linux that is all of it. Which places are given is decided by the caller (confine.py)."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

try:
    import ctypes
except ImportError:  # a Python that was built without it: none of this can be asked for
    ctypes = None  # type: ignore[assignment]

_NEW_NET, _NEW_USER = 0x40000000, 0x10000000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
# The same numbers on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446

# Rights of Landlock.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_RIGHTS_OF_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_CAN_READ_ALL = 1 << 2  # the one capability that is kept: without it root can't read the files of others

# Of seccomp filters: instructions, and what a filter may say.
_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _NOT_PERMITTED, _NO_SUCH_CALL = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
_NUMBER_AT, _MACHINE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_SECOND_ARGUMENT_AT, _FIFTH_ARGUMENT_AT = 24, 48
_CLONE_THREAD = 0x10000
_SET_OWNER, _SET_OWNER_EX = 8, 15


# What a program in Python never does by itself: starting, tracing and signalling others, leaving its process group,
# new roots and name spaces, memory and queues that outlive a process, ways around the other rules. The numbers are
# those of the kernel's own tables.
class _Machine(NamedTuple):
    """Numbers of system calls. own: calls whose first argument must be this process. mine: the same, or 0. local: what
    would reach others through a pair of sockets, or take time from them. sendto: fine without an address. fcntl: fine
    without a new owner, who would be sent signals."""

    audit: int
    clone: int
    clone3: int
    socket: int
    own: tuple[int, ...]
    mine: tuple[int, ...]
    local: tuple[int, ...]
    sendto: int
    fcntl: int
    never: tuple[int, ...]


_MACHINES = {
    "x86_64": _Machine(
        audit=0xC000003E, clone=56, clone3=435, socket=41, own=(62, 200, 234), mine=(142, 144, 203, 302, 314),
        local=(42, 46, 49, 50, 141, 251, 307), sendto=44, fcntl=72,
        never=(29, 30, 31, 57, 58, 59, 64, 65, 66, 68, 69, 70, 71, 101, 109, 112, 129, 155, 161, 165, 166, 175, 220,
               240, 246, 248, 249, 250, 272, 297, 298, 304, 308, 310, 311, 313, 321, 322, 323, 424, 425, 438, 440,
               448),
    ),
    "aarch64": _Machine(
        audit=0xC00000B7, clone=220, clone3=435, socket=198, own=(129, 130, 131), mine=(118, 119, 122, 261, 274),
        local=(30, 140, 200, 201, 203, 211, 269), sendto=206, fcntl=25,
        never=(39, 40, 41, 51, 97, 104, 105, 117, 138, 154, 157, 180, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195,
               196, 217, 218, 219, 221, 240, 241, 265, 268, 270, 271, 273, 280, 281, 282, 424, 425, 438, 440, 448),
    ),
}  # fmt: skip


def is_there() -> bool:
    return sys.platform.startswith("linux") and ctypes is not None


def leave_network() -> tuple[str, ...]:
    """For this process and those it forks: a network of their own, in which nothing is. What could not be done."""
    if not is_there():
        return ("a network of its own",)
    libc = _libc()
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_NET) == 0:
        return ()
    if libc.unshare(_NEW_NET | _NEW_USER) != 0:
        return ("a network of its own",)
    # The new name space knows no users until it is told; who this is must not change.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        _write(f"/proc/self/{name}", text)
    return ()


def die_with_parent(parent: int) -> None:
    if is_there():
        _libc().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)  # it was gone before the line above


def go_first_when_memory_ends() -> None:
    """Where the system runs out of memory, it ends this process and not the user's others."""
    _write("/proc/self/oom_score_adj", "1000")


def _write(place: str, text: str) -> None:
    """Plainly: what Python would load to write text may not be had at this moment."""
    with contextlib.suppress(OSError):
        file = os.open(place, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


def close_in(
    folder: str, readable: Sequence[str], writable: Sequence[str], *, threads: bool = False
) -> tuple[str, ...]:
    """For ever: all of `folder`, reading what is below `readable`, writing to the files `writable`, and nothing else.
    threads: whether this process may start some. What could not be done."""
    if not is_there():
        return ("file rules of the kernel", "a filter of system calls")
    libc = _libc()
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _drop_privileges(libc)
    lacks = () if _only_files(libc, folder, readable, writable) else ("file rules of the kernel",)
    return lacks if _filter_calls(libc, threads) else (*lacks, "a filter of system calls")


def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _drop_privileges(libc: Any) -> None:
    with contextlib.suppress(AttributeError):  # a C library without it; then the other rules have to do
        head = struct.pack("=Ii", 0x20080522, 0)
        libc.capset(head, struct.pack("=6I", _CAN_READ_ALL, _CAN_READ_ALL, 0, 0, 0, 0))


def _only_files(libc: Any, folder: str, readable: Sequence[str], writable: Sequence[str]) -> bool:
    abi = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if abi < 1:
        return False
    rights = _RIGHTS_OF_ABI[min(abi, 3)]
    network = 3 if abi >= 4 else 0  # binding and connecting
    scopes = 3 if abi >= 6 else 0  # abstract sockets of others, signals to others
    wanted = struct.pack("=QQQ", rights, network, scopes)[: 24 if abi >= 6 else 16 if abi >= 4 else 8]
    rules = libc.syscall(_CREATE_RULESET, wanted, ctypes.c_size_t(len(wanted)), 0)
    if rules < 0:
        return False
    try:
        given = [(folder, rights), *((place, _READING) for place in readable)]
        for place, allowed in [*given, *((place, _READ_FILE | _WRITE_FILE) for place in writable)]:
            _give(libc, rules, place, allowed & rights)
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _give(libc: Any, rules: int, place: str, allowed: int) -> None:
    try:
        fd = os.open(place, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be given
    try:
        if not os.path.isdir(place):
            allowed &= _FILE_RIGHTS
        libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", allowed, fd), 0)
    finally:
        os.close(fd)


def _filter_calls(libc: Any, threads: bool) -> bool:
    machine = _MACHINES.get(os.uname().machine)
    if machine is None or sys.maxsize < 1 << 32:
        return False
    code = b"".join(struct.pack("=HBBI", *step) for step in _filter(machine, os.getpid(), threads))
    steps = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(steps))
    return bool(libc.prctl(_PR_SET_SECCOMP, 2, program, 0, 0) == 0)


def _filter(machine: _Machine, process: int, threads: bool) -> list[tuple[int, int, int, int]]:
    """(instruction, steps to skip when true, when false, operand). A jump goes over the answer that does not hold."""
    steps = [
        (_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 1, 0, machine.audit), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT), (_ABOVE, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL),
    ]  # fmt: skip
    # A C library that looks up a user asks a service for it and does without: that must not be its end.
    answers = [(machine.socket, _NOT_PERMITTED), (machine.clone3, _NO_SUCH_CALL)]
    answers += [(number, _NOT_PERMITTED) for number in machine.local]
    answers += [(number, _KILL) for number in machine.never]
    for number, answer in answers:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    # A thread is a clone, too: C libraries that want some can do without. A signal to itself is how a process aborts.
    checked = [
        (machine.clone, _ANY_BIT, _CLONE_THREAD, _ALLOW if threads else _NOT_PERMITTED),
        *((number, _EQUAL, process, _ALLOW) for number in machine.own),
    ]
    for number, test, operand, answer in checked:
        steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT), (test, 0, 1, operand)]
        steps += [(_RETURN, 0, 0, answer), (_RETURN, 0, 0, _KILL)]
    for number in machine.mine:
        steps += [(_EQUAL, 0, 5, number), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT), (_EQUAL, 2, 0, 0), (_EQUAL, 1, 0, process)]
        steps += [(_RETURN, 0, 0, _NOT_PERMITTED), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_EQUAL, 0, 6, machine.sendto), (_LOAD, 0, 0, _FIFTH_ARGUMENT_AT), (_EQUAL, 0, 3, 0)]
    steps += [(_LOAD, 0, 0, _FIFTH_ARGUMENT_AT + 4), (_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_RETURN, 0, 0, _NOT_PERMITTED)]
    steps += [(_EQUAL, 0, 5, machine.fcntl), (_LOAD, 0, 0, _SECOND_ARGUMENT_AT)]
    steps += [(_EQUAL, 2, 0, _SET_OWNER), (_EQUAL, 1, 0, _SET_OWNER_EX)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _NOT_PERMITTED)]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]
