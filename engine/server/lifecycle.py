"""From the first accepted connection to the last: signals, draining, and an engine that ends before it was asked to.
The exit code is decided here."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Awaitable, Iterator
from typing import TypeVar

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from engine.server.errors import ApiError
from engine.server.service import Service

log = logging.getLogger(__name__)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
T = TypeVar("T")
_LAST_WORDS_S = 2.0  # in which errors reach those who wait


async def unless_told(work: Awaitable[T]) -> T | None:
    """Its result; None where a signal came first, and then it is cancelled and has cleaned up."""
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    for each in _SIGNALS:
        loop.add_signal_handler(each, task.cancel)
    try:
        await asyncio.wait({task})
    finally:
        task.cancel()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
    return None if task.cancelled() else task.result()


class _Uvicorn(uvicorn.Server):
    """Leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _within(seconds: float) -> type[asyncio.Protocol]:
    """HTTP, for connections that ask within so many seconds: one that says nothing, or only half of a head, is closed.
    Of one that asked, the body has a limit of its own."""

    class Protocol(H11Protocol):
        _cycle_seen: object = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._look = self.loop.call_later(seconds, self._look_again)

        def connection_lost(self, exc: Exception | None) -> None:
            self._look.cancel()
            super().connection_lost(exc)

        def _look_again(self) -> None:
            cycle: RequestResponseCycle | None = self.cycle  # none before the first request
            if cycle is self._cycle_seen and (cycle is None or cycle.response_complete):
                self.transport.close()
                return
            self._cycle_seen = cycle
            self._look = self.loop.call_later(seconds, self._look_again)

    return Protocol


class Lifecycle:
    """One run of a server. Exit codes: 0 after a drain, 1 where something was cut off or the engine ended by itself."""

    def __init__(self, service: Service, app: ASGIApp) -> None:
        self._service = service
        config = uvicorn.Config(
            app,
            http=_within(service.limits.read_s),
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_keep_alive=30,
        )
        self._server = _Uvicorn(config)
        self._exit_code = 0
        self._num_signals = 0
        self._drain: asyncio.Task[None] | None = None

    async def run(self, listener: socket.socket) -> int:
        """Serve until told to stop; the engine has ended when this returns."""
        loop = asyncio.get_running_loop()
        for each in _SIGNALS:
            loop.add_signal_handler(each, self.stop)
        watch = loop.create_task(self._watch())
        try:
            await self._server.serve(sockets=[listener])
        finally:
            self._service.is_leaving = True
            watch.cancel()
            if self._drain is not None:
                self._drain.cancel()
            await asyncio.gather(watch, *([self._drain] if self._drain is not None else []), return_exceptions=True)
            await self._service.engine.stop(is_drained=False, timeout_s=1.0 if self._is_forced else 10.0)
            for each in _SIGNALS:
                loop.remove_signal_handler(each)
        log.info("server ended: exit_code=%d", self._exit_code)
        return self._exit_code

    @property
    def _is_forced(self) -> bool:
        return self._num_signals > 1

    def stop(self) -> None:
        """Once: take nothing new, finish what runs. Twice: end now."""
        self._num_signals += 1
        self._service.is_leaving = True
        if self._is_forced:
            log.warning("server ends at once: open=%d", self._service.num_open)
            self._exit_code = 1
            self._cut(ApiError(503, "the server was told to end at once", code="shutting_down"))
            return
        log.info("server drains: open=%d limit_s=%g", self._service.num_open, self._service.limits.drain_s)
        self._drain = asyncio.get_running_loop().create_task(self._bound())
        self._server.should_exit = True

    async def _bound(self) -> None:
        await asyncio.sleep(self._service.limits.drain_s)
        if self._service.num_open:
            log.warning("drain cut short: open=%d", self._service.num_open)
            self._exit_code = 1
        self._cut(ApiError(503, "the server ended before the answer was whole", code="shutting_down"))
        await self._force()

    def _cut(self, error: ApiError) -> None:
        self._service.end_all(error)
        self._server.should_exit = True
        if self._is_forced:
            self._server.force_exit = True

    async def _force(self) -> None:
        """Connections that do not even take an error are closed."""
        await asyncio.sleep(_LAST_WORDS_S)
        self._server.force_exit = True

    async def _watch(self) -> None:
        """An engine that ends by itself takes the server with it, after everybody was told: a server that can't answer
        is to be started anew by whoever keeps it."""
        error = await self._service.engine.wait_ended()
        if error is None:
            return
        log.error("engine ended: %s", error)
        self._exit_code = 1
        self._cut(ApiError(503, error.message, code=error.code))
        await self._force()
