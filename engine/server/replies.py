"""How an answer goes out: whole, or as server-sent events. A client that goes away at any moment cancels the work at
once; an error before the first token is a status, one after it an event."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from engine.schema.errors import BadRequest
from engine.server.errors import ApiError, of
from engine.server.generation import Answer, Generation, News
from engine.server.metrics import Timer
from engine.server.service import Service

log = logging.getLogger(__name__)
_GRACE_S = 5.0  # after a request's time: a client that takes nothing can't be told that it is over
_DONE = b"data: [DONE]\n\n"
_EVENTS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
_JSON = [(b"content-type", b"application/json")]


class Shape(Protocol):
    """One endpoint's forms. events: JSON objects, one an event. last: those after everything."""

    def whole(self, answers: Sequence[Answer], news: Sequence[News]) -> Any: ...

    def events(self, news: Sequence[News]) -> list[Any]: ...

    def last(self, answers: Sequence[Answer]) -> list[Any]: ...


class Job(msgspec.Struct, frozen=True, eq=False):
    """What a request asks for, ready to run. renamed: what this client calls the engine's fields."""

    id: str
    endpoint: str
    answers: tuple[Answer, ...]
    shape: Shape
    is_stream: bool
    renamed: dict[str, str]


def new_id(prefix: str) -> str:
    """Unique over workers, restarts and calls."""
    return f"{prefix}-{uuid.uuid4().hex}"


class Reply(Response):
    """Does the work of a job when it is called, so that what is counted as open is what is being answered."""

    def __init__(self, service: Service, job: Job, timer: Timer) -> None:
        super().__init__()
        self._service, self._job, self._timer = service, job, timer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        self._sender = _Sender(send, self._job.id)
        try:
            is_done = await unless_gone(
                receive,
                self._run(),
                is_answered=lambda: self._sender.is_whole,
                timeout_s=self._service.limits.request_s + _GRACE_S,
            )
        except BaseException:
            self._timer.ended("cancelled")
            raise
        if not is_done:
            self._timer.ended("disconnected")
        log.info("request ended: id=%s endpoint=%s is_gone=%s", self._job.id, self._job.endpoint, not is_done)

    async def _run(self) -> None:
        try:
            last = await self._generate()
            if self._job.is_stream:
                await self._sender.events(last, is_last=True)
            else:
                await self._sender.json(200, last)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client is told
            await self._sorry(error)
        else:
            self._timer.ended("ok")

    async def _generate(self) -> Any:
        """What is left to send when nothing of the request is left in the engine."""
        service, shape = self._service, self._job.shape
        with ExitStack() as stack:
            stack.enter_context(self._enter())
            generation = Generation(service.engine, self._job.answers, self._timer, timeout_s=service.limits.request_s)
            stack.enter_context(service.counted(generation))
            kept: list[News] = []
            async with generation:
                async for news in generation.news():
                    if self._job.is_stream:
                        await self._sender.events(shape.events(news))
                    else:
                        kept.extend(news)
        answers = self._job.answers
        return shape.last(answers) if self._job.is_stream else msgspec.json.encode(shape.whole(answers, kept))

    def _enter(self) -> Any:
        self._service.check_open()
        num_answers = sum(len(each.choices) for each in self._job.answers)
        return self._service.gate.enter(num_answers, is_stream=self._job.is_stream)

    async def _sorry(self, error: Exception) -> None:
        told = of(error, renamed=self._job.renamed)
        if told.status == 500 and not self._service.engine.is_alive:
            told = ApiError(503, told.message, code="engine-dead")  # whatever it said with its last breath
        self._timer.ended("refused" if told.status < 500 else "failed")
        if told.status == 500 and not isinstance(error, (ApiError, BadRequest)):
            log.error("request failed: id=%s", self._job.id, exc_info=error)
        await self._sender.error(told)


class _Sender:
    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._is_begun = send, False
        self.is_whole = False  # nothing is left to send
        self._id = [(b"x-request-id", request_id.encode())]

    async def json(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        more = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        length = [(b"content-length", str(len(body)).encode())]
        await self._begin(status, [*_JSON, *length, *more])
        self.is_whole = True
        await self._send({"type": "http.response.body", "body": body})

    async def events(self, events: Sequence[Any], *, is_last: bool = False) -> None:
        """Several at once are one write."""
        if not self._is_begun:
            await self._begin(200, _EVENTS)
        body = b"".join(b"data: " + msgspec.json.encode(each) + b"\n\n" for each in events)
        if is_last:
            body += _DONE
            self.is_whole = True
        if body:
            await self._send({"type": "http.response.body", "body": body, "more_body": not is_last})

    async def error(self, error: ApiError) -> None:
        if self._is_begun:
            await self.events([error.body()], is_last=True)
        else:
            await self.json(error.status, error.encode(), error.headers)

    async def _begin(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._is_begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": [*headers, *self._id]})


async def unless_gone(
    receive: Receive, work: Coroutine[Any, Any, None], *, is_answered: Callable[[], bool], timeout_s: float
) -> bool:
    """Run the work, and cancel it when the client goes, or does not take its answer for so long. False where that came
    before the work was done. Nothing of the work is left when this returns. is_answered: then a client may go, and
    what is left of the work is finished."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({task, watch}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if task.done() or is_answered():
            await asyncio.shield(task)
            return True
        return False
    finally:
        for each in (task, watch):
            each.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
