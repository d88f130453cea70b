"""A program to record: run as a script, as a module, with threads, with children. The tests copy it somewhere else."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time

log = logging.getLogger(__name__)


class Config:
    def __init__(self, backend, limit, api_key):
        self.backend, self.limit, self.api_key = backend, limit, api_key
        self.unused = object()

    def is_fast(self):
        return self.backend in ("nccl", "gloo")


class Runner:
    STEP = 2

    def __init__(self, config):
        self.config = config
        self.rank = 1
        self.items = []
        self.last = None
        self.lock = threading.Lock()
        self.noise = time.time()

    def pick(self, size, *rest, scale=1, **options):
        """Reads attributes, writes one, mutates one, logs, raises."""
        config = self.config
        if size < 0:
            log.warning("no size for %s", config.backend)
            raise ValueError(f"size {size} of {config.backend}")
        if config.is_fast():
            size *= self.STEP
        self.items.append(size)
        self.last = (size + self.rank) * scale
        if options.get("remember"):
            os.environ["LAST_SIZE"] = str(size)
        return {"size": size, "rest": list(rest), "locked": self.lock}

    def header(self, user):
        return f"Bearer {self.config.api_key} for {user}"

    def numbers(self, end):
        for at in range(end):
            yield at + self.rank

    async def later(self, end):
        return end + self.rank

    @property
    def name(self):
        return f"{self.config.backend}-{self.rank}"

    @staticmethod
    def twice(value):
        return value * 2

    @classmethod
    def made(cls, backend):
        return cls(Config(backend, 1, "none")).rank

    def where(self):
        return {"cwd": os.getcwd(), "pid": os.getpid(), "at": repr(self), "now": time.time()}


def plain(values, mode="sum"):
    if mode == "sum":
        return sum(values)
    if mode == "env":
        return os.environ.get("RECORDED_MODE", "unset")
    raise KeyError(mode)


def main(argv):
    runner = Runner(Config("nccl", 3, "sk-live-0123456789abcdefXYZ"))
    runner.pick(3)
    runner.pick(4)
    runner.pick(1, "a", "b", scale=2, remember=True)
    Runner(Config("mpi", 3, "other-secret-1")).pick(2)
    try:
        runner.pick(-5)
    except ValueError:
        pass
    runner.header("ann")
    list(runner.numbers(3))
    asyncio.run(runner.later(2))
    runner.name
    Runner.twice(4)
    Runner.made("gloo")
    runner.where()
    plain([1, 2, 3])
    plain((), mode="env")
    try:
        plain([], mode="other")
    except KeyError:
        pass
    if "threads" in argv:
        threads = [threading.Thread(target=lambda at=at: Runner(Config("gloo", at, "x")).pick(at + 5)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if "children" in argv:
        code = "from recorded_program import Config, Runner; Runner(Config('child', 1, 'x')).pick(7)"
        subprocess.run([sys.executable, "-c", code], check=True)
    if "fork" in argv:
        pid = os.fork()
        if not pid:
            Runner(Config("forked", 1, "x")).pick(7)
            os._exit(0)
        os.waitpid(pid, 0)
    if "fail" in argv:
        raise SystemExit(3)


if __name__ == "__main__":
    main(sys.argv[1:])
