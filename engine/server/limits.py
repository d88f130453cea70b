"""How much a server takes on: sizes of bodies and prompts, requests at a time, times. What is over a limit is refused
before it costs anything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct
from starlette.requests import Request

from engine.schema.errors import BadConfig
from engine.server.errors import ApiError


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """max_queue: answers that wait beside those that run. max_streams: streams that are open, connections that write.
    max_prompt_tokens: None for what the context takes. read_s: for the whole of a body. request_s: from its arrival to
    its end. drain_s: for what runs when the server is told to end. health_s: in which the engine has to answer."""

    max_body_bytes: int = 4 << 20
    max_prompt_tokens: int | None = None
    max_prompts: int = 128
    max_queue: int = 512
    max_streams: int = 1024
    read_s: float = 30.0
    request_s: float = 600.0
    drain_s: float = 30.0
    health_s: float = 5.0


def check(limits: Limits) -> Limits:
    """Raises BadConfig for the first that leaves nothing to do."""
    for name in ("max_body_bytes", "max_prompts", "max_streams", "read_s", "request_s", "health_s"):
        if getattr(limits, name) <= 0:
            raise BadConfig(f"{name}={getattr(limits, name)}", fix="give more than 0")
    for name in ("max_queue", "drain_s"):
        if getattr(limits, name) < 0:
            raise BadConfig(f"{name}={getattr(limits, name)}", fix="give 0 or more")
    if limits.max_prompt_tokens is not None and limits.max_prompt_tokens < 1:
        raise BadConfig(f"max_prompt_tokens={limits.max_prompt_tokens}", fix="give at least 1, or leave it out")
    return limits


async def read_body(request: Request, limits: Limits) -> bytes:
    """Raises ApiError for a body that is too long (before all of it is read) or too slow."""
    most = limits.max_body_bytes
    said = request.headers.get("content-length", "")
    if said.isascii() and said.isdigit() and int(said[:20]) > most:
        raise _too_long(most)
    try:
        return await asyncio.wait_for(_read(request, most), limits.read_s)
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise ApiError(408, f"the body did not come within {limits.read_s:g} s", code="body_timeout") from error


async def _read(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_long(most)
        parts.append(part)
    return b"".join(parts)


def _too_long(most: int) -> ApiError:
    return ApiError(413, f"the body is longer than {most} bytes", code="body_too_long")


class Gate:
    """Counts what is open. An answer is one choice of one prompt, which is what the engine runs."""

    def __init__(self, limits: Limits, *, num_running: int) -> None:
        self._most_answers = num_running + limits.max_queue
        self._most_streams = limits.max_streams
        self.num_answers = self.num_streams = 0

    def check(self) -> None:
        """Raises ApiError where nobody would be let in."""
        if self.num_answers >= self._most_answers:
            raise ApiError(429, f"{self.num_answers} answers are open", code="queue_full", retry_after=1)

    @contextmanager
    def enter(self, num_answers: int, *, is_stream: bool) -> Iterator[None]:
        """Raises ApiError with status 429 where there is no room. Nothing is awaited in between, so that what was
        counted is what is there."""
        if num_answers > self._most_answers:
            raise ApiError(
                400, f"n: {num_answers} answers are more than this server takes on", param="n", code="too_many_answers"
            )
        if self.num_answers + num_answers > self._most_answers:
            raise ApiError(429, f"{self.num_answers} answers are open", code="queue_full", retry_after=1)
        if is_stream and self.num_streams >= self._most_streams:
            raise ApiError(429, f"{self.num_streams} streams are open", code="too_many_streams", retry_after=1)
        self.num_answers += num_answers
        self.num_streams += is_stream
        try:
            yield
        finally:
            self.num_answers -= num_answers
            self.num_streams -= is_stream
