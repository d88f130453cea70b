"""A server on a port of this machine, with the scripted engine behind it, in a thread; clients talk to it over HTTP."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import openai
import uvicorn

from engine.config.server_args import ServerArgs
from engine.server import app
from engine.server.limits import Limits
from engine.server.run import bind
from engine.server.service import Service
from tests.engine.server import tiny
from tests.engine.server.scripted import ScriptedEngine

KEY = "sk-of-the-tests"


class Running:
    """url: where it listens. engine: what happened there."""

    def __init__(
        self, folder: Path, *, template: str | None = tiny.HERMES, key: str | None = KEY, **options: Any
    ) -> None:
        self._folder, self._template, self.key = folder, template, key
        self._limits = Limits(**options.pop("limits", {}))
        self._args = ServerArgs(model="tiny", **options.pop("args", {}))
        self._options = options
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        texts = tiny.write(self._folder, template=self._template)
        self.engine = ScriptedEngine(texts, **self._options)
        self.service = Service(self.engine, texts, self._args, self._limits, created=1)
        config = uvicorn.Config(
            app.build(self.service, api_key=self.key), http="h11", lifespan="off", ws="none", log_config=None
        )
        self.server = uvicorn.Server(config)
        with bind("127.0.0.1", 0) as listener:
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            self._begun.set()
            await self.server.serve(sockets=[listener])

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._begun.wait(30)
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        self.http = httpx.Client(base_url=self.url, headers=headers, timeout=30)
        self.client = openai.OpenAI(base_url=f"{self.url}/v1", api_key=self.key or "none", max_retries=0, timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self.client.close()
        self.server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    @property
    def num_tasks(self) -> int:
        """Of the server's event loop."""
        return len(asyncio.all_tasks(self.loop))
