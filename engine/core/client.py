"""The core in a process of its own, as the server sees it: requests become streams, calls become answers, and the end
of the process becomes an error of everything that waits for it. One event loop, one client."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import shutil
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
import zmq
import zmq.asyncio

from engine.config.server_args import ServerArgs
from engine.core import frames
from engine.core.frames import EXECUTOR, CoreSpec
from engine.host.processes import Child
from engine.schema.errors import BadConfig, BadRequest, EngineDead, EngineError
from engine.schema.frames import encode
from engine.schema.messages import (
    Abort,
    Add,
    Call,
    Delta,
    Deltas,
    Failed,
    FromCore,
    Ready,
    Refused,
    Reply,
    Stats,
    Stop,
    ToCore,
)

log = logging.getLogger(__name__)
_LONGEST_PATH = 100  # of a socket's name; the kernel ends at 107
_LAST_WORDS_S = 0.2  # what a process said before it ended may still be on its way


class _Stream:
    """One request. left: choices that have not finished."""

    __slots__ = ("left", "queue")

    def __init__(self, num_choices: int) -> None:
        self.left = num_choices
        self.queue: asyncio.Queue[Delta | EngineError] = asyncio.Queue()


class CoreClient:
    """Made by start(). Everything raises EngineDead once the process has ended."""

    def __init__(self, args: ServerArgs, executor: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="engine-"))
        self._context = zmq.asyncio.Context()
        self._socket: zmq.asyncio.Socket = self._context.socket(zmq.DEALER)
        self._streams: dict[str, _Stream] = {}
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._numbers = itertools.count(1)
        self._failure: EngineError | None = None
        self._is_stopping = False
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[Ready] = loop.create_future()
        self._ended = asyncio.Event()
        address = self._bind()
        self._child = Child("engine.core.process", encode(CoreSpec(address=address, args=args, executor=executor)))
        self._child.on_exit(lambda status: _tell(loop, self._on_exit, status))
        self._reader = loop.create_task(self._read())

    def _bind(self) -> str:
        path = self._folder / "core"
        if len(str(path)) > _LONGEST_PATH:
            shutil.rmtree(self._folder)
            raise BadConfig(f"{path} is too long for a socket", fix="set TMPDIR to a shorter path")
        self._socket.setsockopt(zmq.SNDHWM, 0)
        self._socket.setsockopt(zmq.RCVHWM, 0)
        self._socket.bind(f"ipc://{path}")
        return f"ipc://{path}"

    @classmethod
    async def start(cls, args: ServerArgs, *, executor: str = EXECUTOR, timeout_s: float = 600.0) -> CoreClient:
        """Start the process and wait until it serves. Raises what kept it from that; then no process is left."""
        client = cls(args, executor)
        try:
            await asyncio.wait_for(asyncio.shield(client._ready), timeout_s)
        except asyncio.TimeoutError:
            await client._end()
            raise EngineDead(f"not ready after {timeout_s:.0f} s", fix="see its log, or give it more time") from None
        except BaseException:
            await client._end()
            raise
        # Both ends are connected: the name is not needed any more, and so it can't be left behind.
        shutil.rmtree(client._folder, ignore_errors=True)
        return client

    # -- what can be asked

    @property
    def ready(self) -> Ready:
        """What the engine said of itself: model, sizes, context."""
        return self._ready.result()

    @property
    def is_alive(self) -> bool:
        return self._failure is None and self._child.is_alive

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def num_streams(self) -> int:
        """Requests that somebody waits for."""
        return len(self._streams)

    async def wait_ended(self) -> EngineError | None:
        """Wait until the process has ended. None where stop() asked for it."""
        await self._ended.wait()
        return None if self._is_stopping else self._failure

    async def generate(self, add: Add) -> AsyncGenerator[Delta, None]:
        """What the request gets, as it comes, until each of its n choices has finished. A stream that is closed or
        cancelled earlier aborts the request. Raises BadRequest where the engine refuses it."""
        self._check()
        if add.request_id in self._streams:
            raise BadRequest("request_id", f"{add.request_id!r} is being answered", fix="use another one")
        stream = self._streams[add.request_id] = _Stream(add.params.n)
        try:
            self._send(add)
            while stream.left:
                item = await stream.queue.get()
                if isinstance(item, EngineError):
                    stream.left = 0
                    raise item
                stream.left -= item.finish_reason is not None
                yield item
        finally:
            del self._streams[add.request_id]
            if stream.left and self.is_alive:
                self._send(Abort(request_id=add.request_id))

    def abort(self, request_id: str, index: int | None = None) -> None:
        """End a request, or one of its choices. Its stream goes on to the last delta, which says so. One that has
        finished is no error."""
        if self.is_alive:
            self._send(Abort(request_id=request_id, index=index))

    async def call(self, method: str, **arguments: Any) -> Any:
        """Ask for something else than tokens, between two steps. Raises the error that the engine answers."""
        self._check()
        number = next(self._numbers)
        answer = self._calls[number] = asyncio.get_running_loop().create_future()
        try:
            self._send(Call(number=number, method=method, arguments=arguments))
            return await answer
        finally:
            del self._calls[number]

    async def stats(self) -> Stats:
        return msgspec.convert(await self.call("stats"), Stats)

    async def stop(self, *, is_drained: bool = True, timeout_s: float = 30.0) -> None:
        """End the process; is_drained: what runs is finished first, for at most so long. Again and again is fine."""
        self._is_stopping = True
        if self.is_alive:
            self._send(Stop(is_drained))
            try:
                await asyncio.wait_for(self._ended.wait(), timeout_s)
            except asyncio.TimeoutError:
                log.warning("core killed: it did not stop: timeout_s=%g", timeout_s)
        await self._end()

    # -- what comes

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._is_stopping:
            raise EngineDead("the engine is stopping", fix="ask another one")

    def _send(self, message: ToCore) -> None:
        """Never waits: queues have no limit (how much is asked is the server's to limit)."""
        sent = self._socket.send(encode(message), zmq.DONTWAIT)
        assert isinstance(sent, asyncio.Future) and sent.done()
        sent.result()

    async def _read(self) -> None:
        while True:
            self._take(frames.from_core(await self._socket.recv()))

    def _take(self, message: FromCore) -> None:
        if isinstance(message, Deltas):
            for delta in message.deltas:
                if (stream := self._streams.get(delta.request_id)) is not None:
                    stream.queue.put_nowait(delta)
        elif isinstance(message, Refused):
            if (stream := self._streams.get(message.request_id)) is not None:
                stream.queue.put_nowait(frames.error_of(message.fault))
        elif isinstance(message, Reply):
            if (answer := self._calls.get(message.number)) is not None and not answer.done():
                if message.fault is None:
                    answer.set_result(message.value)
                else:
                    answer.set_exception(frames.error_of(message.fault))
        elif isinstance(message, Failed):
            self._fail(frames.error_of(message.fault))
        elif not self._ready.done():
            self._ready.set_result(message)

    async def _on_exit(self, status: int) -> None:
        await asyncio.sleep(_LAST_WORDS_S)
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        self._fail(EngineDead(f"the engine's process {how}", fix="see its log, and start it again"))
        self._ended.set()

    def _fail(self, error: EngineError) -> None:
        if self._failure is not None:
            return
        self._failure = error
        for stream in self._streams.values():
            stream.queue.put_nowait(error)
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(error)
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # start() may have given up on it

    async def _end(self) -> None:
        await asyncio.to_thread(self._child.stop)
        await self._ended.wait()
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        self._context.destroy(linger=0)
        shutil.rmtree(self._folder, ignore_errors=True)


def _tell(loop: asyncio.AbstractEventLoop, tell: Any, status: int) -> None:
    """From another thread; the loop may be gone by now, and nobody waits then."""
    with contextlib.suppress(RuntimeError):
        asyncio.run_coroutine_threadsafe(tell(status), loop)
