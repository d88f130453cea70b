"""An engine that says what the prompt asks it to say. It keeps the promises of core/client.py, counts what it holds,
and can be told to be slow, to give several tokens a step, to refuse and to die."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

from engine.schema.errors import BadRequest, EngineError
from engine.schema.messages import Add, Delta, Ready, Stats
from engine.schema.output import FinishReason, PositionLogprobs, TokenLogprob
from engine.text.tokenizer import Tokenizer

_SAY = re.compile(r"SAY\[(.*?)\]", re.DOTALL)
_HEX = re.compile(r"HEX\[([0-9a-f]*)\]")


class EngineDead(EngineError):
    code = "engine-dead"


class ScriptedEngine:
    """A prompt with `SAY[text]` is answered with that text, one with `HEX[c3a9]` with those bytes, every other one with
    `ok`; the last of them counts. `FOREVER` says it again and again. `REFUSE` is refused, `ODD` gives an error of no
    known kind, `GIVE UP` is aborted by the engine after its first token, `DIE` ends the engine."""

    def __init__(self, tokenizer: Tokenizer, *, context: int = 4096, per_step: int = 1, step_s: float = 0.0) -> None:
        self._tokenizer = tokenizer
        self.per_step, self.step_s = per_step, step_s
        self.ready = Ready(
            model="tiny", vocab_size=len(tokenizer.vocabulary), context=context, num_blocks=64, block_tokens=16
        )
        self.adds: list[Add] = []
        self.aborts: list[tuple[str, int | None]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.held: dict[str, set[int]] = {}  # choices that run, by request
        self.num_output = 0
        self.stopped_with: bool | None = None
        self.is_silent = self._is_lost = False
        self._failure: EngineError | None = None
        self._ended = asyncio.Event()
        self._beat = asyncio.Event()  # set again and again while requests run

    @property
    def is_alive(self) -> bool:
        return self._failure is None

    async def generate(self, add: Add) -> AsyncGenerator[Delta, None]:
        prompt = self._tokenizer.decode(list(add.prompt_ids), skip_special=False)
        self.adds.append(add)
        if "REFUSE" in prompt:
            raise BadRequest("json_schema", "has no such keyword", fix="leave it out")
        if "ODD" in prompt:
            raise ZeroDivisionError("odd")
        self.held[add.request_id] = set(range(add.params.n))
        try:
            tokens = self._answer(prompt)
            at = 0
            while self.held[add.request_id]:
                await asyncio.sleep(self.step_s)
                if "DIE" in prompt and at:
                    self.die()
                if self._failure is not None:
                    raise self._failure
                step = tokens[at : at + self.per_step]
                if "FOREVER" in prompt:
                    step = [tokens[(at + each) % (len(tokens) - 1)] for each in range(self.per_step)]
                for index in range(add.params.n):
                    yield self._delta(add, index, step, at, gives_up="GIVE UP" in prompt)
                at += len(step)
        finally:
            if self.held.pop(add.request_id):
                self.aborts.append((add.request_id, None))

    def _answer(self, prompt: str) -> list[int]:
        (end,) = self._tokenizer.eos_ids
        if found := _HEX.findall(prompt):
            return [*self._bytes(bytes.fromhex(found[-1])), end]
        said = _SAY.findall(prompt)
        return [*self._tokenizer.encode(said[-1] if said else "ok"), end]

    def _bytes(self, raw: bytes) -> list[int]:
        of = {self._tokenizer.vocabulary.bytes_of(token): token for token in range(256)}
        return [of[bytes([each])] for each in raw]

    def _delta(self, add: Add, index: int, step: list[int], at: int, *, gives_up: bool) -> Delta:
        held = self.held[add.request_id]
        if index not in held:
            return Delta(request_id=add.request_id, index=index)
        most = add.params.max_tokens if add.params.max_tokens is not None else self.ready.context - len(add.prompt_ids)
        step = step[: most - at]
        reason = FinishReason.LENGTH if at + len(step) >= most else None
        for place, token in enumerate(step):
            if token in self._tokenizer.eos_ids or token in add.params.stop_token_ids:
                step, reason = step[: place + 1], FinishReason.STOP
                break
        if gives_up and at:
            reason = FinishReason.ABORT
        if reason is not None:
            held.discard(index)
        self.num_output += len(step)
        wanted = add.params.prompt_logprobs
        return Delta(
            request_id=add.request_id,
            index=index,
            token_ids=tuple(step),
            logprobs=tuple(_logprobs(each, add.params.logprobs) for each in step)
            if add.params.logprobs is not None
            else (),
            prompt_logprobs=tuple(_logprobs(each, wanted) for each in add.prompt_ids[1:])
            if wanted is not None and at == 0 and index == 0
            else (),
            finish_reason=reason,
            num_prompt=len(add.prompt_ids),
            num_cached=3 if at == 0 else 0,
        )

    def abort(self, request_id: str, index: int | None = None) -> None:
        self.aborts.append((request_id, index))
        if index is None:
            self.held.get(request_id, set()).clear()
        else:
            self.held.get(request_id, set()).discard(index)

    async def call(self, method: str, **arguments: Any) -> Any:
        if arguments.get("path") == "/nowhere":
            raise EngineError("/nowhere holds no adapter", fix="give another path")
        self.calls.append((method, arguments))
        if method == "sleep":
            self._is_lost = arguments["level"] == 2
        return [{"are_weights_lost": self._is_lost}] if method == "wake_up" else None

    async def stats(self) -> Stats:
        if self._failure is not None:
            raise self._failure
        if self.is_silent:
            await asyncio.sleep(3600)
        num_running = sum(len(each) for each in self.held.values())
        return Stats(
            num_running=num_running,
            num_blocks_held=num_running,
            num_blocks=64,
            output_tokens=self.num_output,
            prompt_tokens=sum(len(each.prompt_ids) for each in self.adds),
        )

    def die(self) -> None:
        self._failure = EngineDead("the engine's process was killed by signal 9", fix="see its log")
        self._ended.set()

    async def stop(self, *, is_drained: bool = True, timeout_s: float = 30.0) -> None:
        del timeout_s
        self.stopped_with = is_drained
        self._ended.set()

    async def wait_ended(self) -> EngineError | None:
        await self._ended.wait()
        return self._failure


def _logprobs(token: int, count: int) -> PositionLogprobs:
    top = tuple(TokenLogprob((token + each) % 256, -0.5 - each, each + 1) for each in range(count))
    return PositionLogprobs(TokenLogprob(token, -0.5, 1), top)
