"""What the server's process and the engine's say to each other, as frames of msgpack. Neither runs the other's code."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.schema.output import FinishReason, PositionLogprobs
from engine.schema.sampling import SamplingParams


class Add(Struct, frozen=True, kw_only=True, tag=True):
    """A request. params.n choices are made of it, each with a seed of its own."""

    request_id: str
    prompt_ids: tuple[int, ...]
    params: SamplingParams
    adapter: str | None = None


class Abort(Struct, frozen=True, kw_only=True, tag=True):
    """Nobody waits for these any more. index: of one choice, whose stop text was found, None for all of them."""

    request_id: str
    index: int | None = None


class Call(Struct, frozen=True, kw_only=True, tag=True):
    """Something else than a request: weights, adapters, memory, profiles, `stats`. Answered by one Reply of the same
    number."""

    number: int
    method: str
    arguments: dict[str, Any] = {}


class Stop(Struct, frozen=True, tag=True):
    """is_drained: what runs is finished first."""

    is_drained: bool = True


ToCore = Add | Abort | Call | Stop


class Fault(Struct, frozen=True, kw_only=True):
    """An EngineError's parts. field: of the request, where one is to blame."""

    code: str
    message: str
    fix: str
    field: str | None = None


class Delta(Struct, frozen=True, kw_only=True):
    """What a step added to one choice. Each choice gets exactly one with a finish_reason, its last; after an Abort too.
    matched_stop: the token that ended it, None for a length or an end of text. prompt_logprobs: all of them at once,
    from the prompt's second token on, with the first token of choice 0. num_cached: prompt tokens that the prefix cache
    had. fault: why it ended with an error."""

    request_id: str
    index: int = 0
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[PositionLogprobs, ...] = ()
    prompt_logprobs: tuple[PositionLogprobs, ...] = ()
    finish_reason: FinishReason | None = None
    matched_stop: int | None = None
    num_prompt: int = 0
    num_cached: int = 0
    fault: Fault | None = None


class Deltas(Struct, frozen=True, tag=True):
    deltas: tuple[Delta, ...]


class Refused(Struct, frozen=True, kw_only=True, tag=True):
    """A request that can't run, or can't go on."""

    request_id: str
    fault: Fault


class Reply(Struct, frozen=True, kw_only=True, tag=True):
    """fault: None where it worked."""

    number: int
    value: Any = None
    fault: Fault | None = None


class Ready(Struct, frozen=True, kw_only=True, tag=True):
    """The engine serves. context: tokens that a sequence may have in all."""

    model: str
    vocab_size: int
    context: int
    num_blocks: int
    block_tokens: int


class Failed(Struct, frozen=True, tag=True):
    """The engine ended, and why."""

    fault: Fault


class Stats(Struct, frozen=True, kw_only=True):
    """Counters since the start, and how things stand now."""

    num_running: int = 0
    num_waiting: int = 0
    num_blocks_held: int = 0
    num_blocks: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    preemptions: int = 0
    drafts: int = 0
    drafts_accepted: int = 0


FromCore = Ready | Deltas | Refused | Reply | Failed
