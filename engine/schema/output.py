"""What a request gets back. Text is cut where the client's stop texts say; token ids are as they were chosen."""

from __future__ import annotations

import enum

from msgspec import Struct


class FinishReason(enum.Enum):
    """Why a choice ended: a stop text or token, the length, the client or the engine gave up."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"
    ERROR = "error"


class TokenLogprob(Struct, frozen=True):
    """A token with its natural logarithm of probability. rank: 1 for the likeliest."""

    token_id: int
    logprob: float
    rank: int
    text: str = ""


class PositionLogprobs(Struct, frozen=True):
    """The token that was chosen at one position, and the likeliest ones there."""

    chosen: TokenLogprob
    top: tuple[TokenLogprob, ...] = ()


class Choice(Struct, frozen=True, kw_only=True):
    """One of the `n` answers. matched_stop: the stop text or token id that ended it."""

    index: int
    text: str
    token_ids: tuple[int, ...]
    finish_reason: FinishReason | None = None
    matched_stop: str | int | None = None
    logprobs: tuple[PositionLogprobs, ...] | None = None


class RequestOutput(Struct, frozen=True, kw_only=True):
    """All of a request so far. num_cached_tokens: prompt tokens whose KV was there already."""

    request_id: str
    prompt: str | None
    prompt_token_ids: tuple[int, ...]
    choices: tuple[Choice, ...]
    prompt_logprobs: tuple[PositionLogprobs | None, ...] | None = None
    num_cached_tokens: int = 0

    @property
    def is_finished(self) -> bool:
        return all(each.finish_reason is not None for each in self.choices)
