"""What a request gets back: why it ended, and how likely its tokens were."""

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
