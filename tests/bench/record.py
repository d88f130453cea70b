"""`python -m tests.bench.record`: what being recorded costs a program that calls a method 1,000 times a second.

The program measures the time that its calls take of the CPU, with the recorder and without, in turn; the smallest of
each counts. The cost is that of 1,000 calls in one second of one core. Exits 1 when the bound is missed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_COST = 0.05
CALLS = 10_000
TARGET = "measured_program:Scheduler.pick"
PROGRAM = """
import sys, time


class Limits:
    def __init__(self):
        self.most, self.least, self.names = 64, 1, ["a", "b", "c"]

    def clamp(self, value):
        return max(self.least, min(self.most, value))


class Scheduler:
    def __init__(self):
        self.limits = Limits()
        self.rank, self.size, self.backend, self.done = 1, 8, "nccl", 0
        for at in range(60):
            setattr(self, f"field_{at}", object())

    def pick(self, request, *, priority=0):
        size = self.limits.clamp(request["tokens"] * self.size)
        if self.backend != "nccl":
            raise ValueError(self.backend)
        self.done += 1
        return {"rank": (self.rank + priority) % self.size, "size": size}


def main(calls):
    scheduler = Scheduler()
    spent, started = 0.0, time.perf_counter()
    for at in range(calls):
        until = time.perf_counter() + 0.001
        request = {"tokens": at % 100, "id": f"r-{at}"}
        before = time.thread_time()
        scheduler.pick(request, priority=at % 3)
        spent += time.thread_time() - before
        time.sleep(max(0.0, until - time.perf_counter()))
    print(spent, time.perf_counter() - started)


main(int(sys.argv[1]))
"""


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. See the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.record", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help=f"calls in one run (default {CALLS})")
    parser.add_argument("--runs", type=int, default=2, help="runs of each kind (default 2)")
    parser.add_argument("--exit-zero", action="store_true", help="print only; don't fail on a missed bound")
    options = parser.parse_args(arguments)
    plain, recorded = [], []
    with tempfile.TemporaryDirectory(prefix="unmoved-bench-") as folder:
        script = Path(folder) / "measured_program.py"
        script.write_text(PROGRAM, encoding="utf-8")
        command = [sys.executable, str(script), str(options.calls)]
        for _ in range(options.runs):
            plain.append(_times(command))
            recorded.append(_times(_recorded(Path(folder), command)))
    usual, with_it = min(spent for spent, _ in plain), min(spent for spent, _ in recorded)
    seconds = statistics.median(wall for _, wall in plain)
    cost = (with_it - usual) / options.calls * 1000
    sys.stdout.write(
        "| calls a second | µs a call | µs a call recorded | cost of one core |\n|---|---|---|---|\n"
        f"| {options.calls / seconds:.0f} | {usual / options.calls * 1e6:.1f} | {with_it / options.calls * 1e6:.1f} |"
        f" {cost:.1%} |\n\n{platform.python_version()}, {os.cpu_count()} cores\n"
    )
    if cost > MAX_COST:
        sys.stderr.write(f"missed: being recorded costs {cost:.1%} (bound {MAX_COST:.0%})\n")
    return 1 if cost > MAX_COST and not options.exit_zero else 0


def _recorded(folder: Path, command: list[str]) -> list[str]:
    started = f"import sys; sys.path.insert(0, {os.getcwd()!r}); from codemods.cli.app import main; sys.exit(main())"
    options = ["--to", str(folder / "to"), "--format", "json"]
    return [sys.executable, "-c", started, "record", TARGET, *options, "--", *command]


def _times(command: list[str]) -> tuple[float, float]:
    """Seconds spent in the calls, and in all. The program's line is on stderr where stdout is a report's."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    text = done.stdout if not done.stdout.startswith("{") else done.stderr
    if done.stdout.startswith("{"):
        assert json.loads(done.stdout)["calls"], "nothing was recorded"
    spent, wall = text.split()[:2]
    return float(spent), float(wall)


if __name__ == "__main__":
    sys.exit(main())
