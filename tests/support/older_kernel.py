"""`python -m tests.support.older_kernel PLACE WAY...`: the sandbox as on a kernel, or in a container, that gives it
nothing: no name spaces, no Landlock, no filters of its own. Prints one line of JSON for each way out: status, detail,
lacks."""

from __future__ import annotations

import ctypes
import json
import struct
import sys

from codemods.prove import sandbox_kernel
from codemods.prove.sandbox import Limits, Task, run_tasks

_UNSHARE = {"x86_64": 272, "aarch64": 97}
_PRCTL = {"x86_64": 157, "aarch64": 167}
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_SET_SECCOMP = 22


def take_away(machine: str) -> None:
    """For this process and those that it starts."""
    fails = [(_UNSHARE[machine], 1), (444, 38), (445, 38), (446, 38)]
    steps = [(_LOAD, 0, 0, 0)]
    for number, errno in fails:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, 0x00050000 | errno)]
    steps += [(_EQUAL, 0, 3, _PRCTL[machine]), (_LOAD, 0, 0, 16), (_EQUAL, 0, 1, _SET_SECCOMP)]
    steps += [(_RETURN, 0, 0, 0x00050000 | 22), (_RETURN, 0, 0, 0x7FFF0000)]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(_SET_SECCOMP, 2, program, 0, 0) != 0:
        raise SystemExit("this kernel has no filters at all")


def main(place: str, ways: list[str]) -> None:
    import os

    assert sandbox_kernel.is_there()
    take_away(os.uname().machine)
    tasks = [Task(way, "tests.support.hostile:reach", f"{way}\n{place}".encode()) for way in ways]
    for outcome in run_tasks([*tasks, Task("", "tests.support.hostile:ordinary")], jobs=1, limits=Limits()):
        sys.stdout.write(json.dumps([outcome.status.value, outcome.detail, outcome.lacks]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
