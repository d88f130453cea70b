"""Runs a command as a whole process and takes its wall time, CPU time and peak memory. Measures; compares nothing."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct


class Measured(Struct, frozen=True, kw_only=True):
    """Of the best of several runs by wall time: seconds of wall and CPU time, peak resident set in MB."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    exit_code: int
    output: str


def measure(command: Sequence[str], cwd: Path, *, runs: int = 1, timeout_s: float = 600) -> Measured:
    """The fastest of `runs` runs. Raises TimeoutError when one takes longer than `timeout_s`."""
    return min((_once(command, cwd, timeout_s) for _ in range(runs)), key=lambda found: found.wall_s)


def _environment() -> dict[str, str]:
    """An installed program has its bytecode beside it; where writing it is forbidden the compiler would be measured."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _once(command: Sequence[str], cwd: Path, timeout_s: float) -> Measured:
    start = time.perf_counter()
    log = cwd / f".bench-{os.getpid()}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=cwd, env=_environment(), stdout=out, stderr=subprocess.STDOUT)
        while True:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if time.perf_counter() - start > timeout_s:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                log.unlink()
                raise TimeoutError(f"{command[0]} took more than {timeout_s} s")
            time.sleep(0.002)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(errors="replace")
    log.unlink()
    return Measured(
        wall_s=wall,
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / 1024,
        exit_code=process.returncode,
        output=text,
    )
