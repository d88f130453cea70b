"""The prompts of one HTTP request on their way through the engine: their deltas as one stream, choice by choice, until
every choice has ended. Whatever ends it earlier (the client, a time limit, the server's own end) aborts what still
runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from types import TracebackType

from engine.core.frames import error_of
from engine.schema.messages import Add, Delta
from engine.schema.output import PositionLogprobs
from engine.server.choice import Choice, Piece
from engine.server.errors import ApiError
from engine.server.link import Engine
from engine.server.metrics import Timer


class Answer:
    """One prompt with its choices. prompt_logprobs and num_cached: known with the first token of the first choice."""

    def __init__(self, add: Add, choices: Sequence[Choice]) -> None:
        self.add, self.choices = add, tuple(choices)
        self.num_cached = 0
        self.prompt_logprobs: tuple[PositionLogprobs, ...] = ()

    @property
    def num_tokens(self) -> int:
        return sum(each.num_tokens for each in self.choices)


class News:
    """What one delta added to a choice. is_first: nothing of this choice came before."""

    __slots__ = ("answer", "index", "is_first", "piece")

    def __init__(self, answer: Answer, index: int, piece: Piece, *, is_first: bool) -> None:
        self.answer, self.index, self.piece, self.is_first = answer, index, piece, is_first


class Generation:
    """An async context: leaving it leaves nothing behind in the engine."""

    def __init__(self, engine: Engine, answers: Sequence[Answer], timer: Timer, *, timeout_s: float) -> None:
        self._engine, self.answers, self._timer, self._timeout_s = engine, tuple(answers), timer, timeout_s
        self._queue: asyncio.Queue[tuple[Answer, Delta] | Exception] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._clock: asyncio.TimerHandle | None = None
        self._begun: set[tuple[str, int]] = set()
        self._num_open = sum(len(each.choices) for each in answers)

    async def __aenter__(self) -> Generation:
        loop = asyncio.get_running_loop()
        self._clock = loop.call_later(self._timeout_s, self.fail, _too_slow(self._timeout_s))
        self._tasks = [loop.create_task(self._pump(each)) for each in self.answers]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._clock is not None:
            self._clock.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def fail(self, error: Exception) -> None:
        """End it with an error, from outside."""
        self._queue.put_nowait(error)

    async def news(self) -> AsyncIterator[list[News]]:
        """What has come since the last time, until everything has ended. Raises what went wrong."""
        while self._num_open:
            found = [self._take(await self._queue.get())]
            while not self._queue.empty():
                found.append(self._take(self._queue.get_nowait()))
            yield [each for each in found if each is not None]

    async def _pump(self, answer: Answer) -> None:
        try:
            async with contextlib.aclosing(self._engine.generate(answer.add)) as deltas:
                async for delta in deltas:
                    self._queue.put_nowait((answer, delta))
        except Exception as error:  # noqa: BLE001 - of any kind: it is raised where the request is answered
            self._queue.put_nowait(error)

    def _take(self, item: tuple[Answer, Delta] | Exception) -> News | None:
        if isinstance(item, Exception):
            raise item
        answer, delta = item
        choice = answer.choices[delta.index]
        if choice.is_ended:
            return None  # what the engine computed before it heard that the choice had ended
        answer.num_cached = max(answer.num_cached, delta.num_cached if delta.index == 0 else 0)
        answer.prompt_logprobs = answer.prompt_logprobs or delta.prompt_logprobs
        self._timer.tokens(delta.request_id, delta.index, len(delta.token_ids))
        piece = choice.push(delta)
        if choice.is_aborted and delta.fault is not None:
            raise error_of(delta.fault)
        if choice.is_aborted:
            raise ApiError(503, "the engine gave up this request; send it again", code="aborted", retry_after=1)
        if choice.is_cut:
            self._engine.abort(delta.request_id, delta.index)
        if piece.reason is not None:
            self._num_open -= 1
        key = (delta.request_id, delta.index)
        is_first = key not in self._begun
        self._begun.add(key)
        return News(answer, delta.index, piece, is_first=is_first)


def _too_slow(timeout_s: float) -> ApiError:
    return ApiError(504, f"the answer was not whole after {timeout_s:g} s", code="request_timeout")
