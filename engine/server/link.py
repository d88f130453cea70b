"""The engine as the server sees it: a process that is asked and answers. Who keeps that process is core/client.py;
tests put an engine of their own in its place."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol

from engine.schema.errors import EngineError
from engine.schema.messages import Add, Delta, Ready, Stats


class Engine(Protocol):
    """See core/client.py: CoreClient. generate: a stream that is closed before its end aborts the request. wait_ended:
    None where stop() asked for the end."""

    @property
    def ready(self) -> Ready: ...

    @property
    def is_alive(self) -> bool: ...

    def generate(self, add: Add) -> AsyncGenerator[Delta, None]: ...

    def abort(self, request_id: str, index: int | None = None) -> None: ...

    async def call(self, method: str, **arguments: Any) -> Any: ...

    async def stats(self) -> Stats: ...

    async def stop(self, *, is_drained: bool = True, timeout_s: float = 30.0) -> None: ...

    async def wait_ended(self) -> EngineError | None: ...
