"""A server in a process of its own, with a real core in another one: the token oracle, or a model where a
folder of one is given. Run as a module it is that process."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec

from engine.config.server_args import ServerArgs
from engine.core.client import CoreClient
from engine.core.frames import EXECUTOR
from engine.schema.errors import EngineError
from engine.server.limits import Limits
from engine.server.run import serve

ROOT = Path(__file__).resolve().parents[4]
ORACLE = "tests.support.oracle_executor:small"
WITHIN_S = 60.0


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    args: ServerArgs
    bounds: Limits = Limits()
    host: str = "127.0.0.1"
    port: int = 0
    api_key: str | None = None
    executor: str = EXECUTOR


def command(spec: Spec) -> list[str]:
    return ["tests.engine.server.http.process", msgspec.json.encode(spec, enc_hook=str).decode()]


class Server:
    """One process of a Python module. log: what it said so far."""

    def __init__(self, module: list[str]) -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "ENGINE_LOG_LEVEL": "info"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", *module],
            cwd=ROOT,
            env=environ,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[str] = []
        self.url = ""
        self._is_ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if (found := re.search(r"listening: url=(\S+)", line)) is not None:
                self.url = found[1]
                self._is_ready.set()
        self._is_ready.set()

    def wait_ready(self) -> None:
        """A model's kernels may be compiled first."""
        assert self._is_ready.wait(5 * WITHIN_S) and self.url, "".join(self.log)

    def signal(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)

    def ended(self, within_s: float = WITHIN_S) -> int:
        """Its exit status."""
        status = self.process.wait(within_s)
        self._reader.join(WITHIN_S)
        return status

    @property
    def children(self) -> list[int]:
        """Processes that it started."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(each) for each in path.read_text().split()]


@contextmanager
def server(spec: Spec | list[str]) -> Iterator[Server]:
    """list: a module of one's own, with its arguments."""
    made = Server(command(spec) if isinstance(spec, Spec) else spec)
    try:
        yield made
    finally:
        made.process.kill()
        made.ended()
        assert made.process.stderr is not None
        made.process.stderr.close()


def client(made: Server, **options: Any) -> httpx.Client:
    return httpx.Client(base_url=made.url, timeout=WITHIN_S, **options)


def never(args: ServerArgs) -> None:
    """An executor that does not come up."""
    del args
    time.sleep(3600)


def main() -> int:
    logging.basicConfig(level="INFO", format="%(levelname)s %(name)s: %(message)s")
    spec = msgspec.json.decode(sys.argv[1], type=Spec, dec_hook=lambda kind, value: kind(value))
    try:
        return serve(
            spec.args,
            host=spec.host,
            port=spec.port,
            api_key=spec.api_key,
            bounds=spec.bounds,
            start=partial(CoreClient.start, executor=spec.executor),
        )
    except EngineError as error:
        logging.getLogger("server").error("%s", error)
        return 2


if __name__ == "__main__":
    sys.exit(main())
