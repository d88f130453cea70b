"""How one request wants its tokens chosen. Says what is allowed; choosing is the sampling floor's."""

from __future__ import annotations

import math
from typing import Any

from msgspec import Struct

from engine.schema.errors import BadRequest

MAX_LOGPROBS = 20
MAX_CHOICES = 128
MAX_STOPS = 16
_SEEDS = 2**63


class SamplingParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """temperature: 0 is greedy. top_k: 0 or -1 is off. seed: the same one gives the same tokens whatever else is in the
    batch. logprobs: how many alternatives a token, None for none. max_tokens: None is up to the context's end."""

    n: int = 1
    max_tokens: int | None = 16
    min_tokens: int = 0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    is_stop_kept: bool = False
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    seed: int | None = None
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    logit_bias: dict[int, float] = {}
    json_schema: str | None = None
    regex: str | None = None

    @property
    def is_greedy(self) -> bool:
        return self.temperature == 0


_RANGES: dict[str, tuple[float, float, str]] = {
    "temperature": (0.0, 100.0, "0 (greedy) to 100"),
    "min_p": (0.0, 1.0, "0 to 1"),
    "presence_penalty": (-2.0, 2.0, "-2 to 2"),
    "frequency_penalty": (-2.0, 2.0, "-2 to 2"),
}


def check(params: SamplingParams, *, vocab_size: int | None = None) -> None:
    """Raises BadRequest for the first field that is out of range. vocab_size: None where token ids can't be judged."""
    for name, (low, high, words) in _RANGES.items():
        _number(name, getattr(params, name), low, high, words)
    _number("top_p", params.top_p, 0.0, 1.0, "above 0, at most 1")
    _number("repetition_penalty", params.repetition_penalty, 0.0, 100.0, "above 0, at most 100")
    for name in ("top_p", "repetition_penalty"):
        if getattr(params, name) == 0:
            raise BadRequest(name, "0 leaves nothing to choose from", fix="give a number above 0")
    _whole("n", params.n, 1, MAX_CHOICES)
    _whole("top_k", params.top_k, -1, 2**31)
    _whole("min_tokens", params.min_tokens, 0, 2**31)
    if params.max_tokens is not None:
        _whole("max_tokens", params.max_tokens, 1, 2**31)
        if params.min_tokens > params.max_tokens:
            raise BadRequest(
                "min_tokens", f"{params.min_tokens} is more than max_tokens={params.max_tokens}", fix="lower it"
            )
    for name in ("logprobs", "prompt_logprobs"):
        if getattr(params, name) is not None:
            _whole(name, getattr(params, name), 0, MAX_LOGPROBS)
    if params.seed is not None:
        _whole("seed", params.seed, -_SEEDS, _SEEDS - 1)
    _texts_and_tokens(params, vocab_size)
    if params.json_schema is not None and params.regex is not None:
        raise BadRequest("regex", "given beside a JSON schema", fix="give one of the two")


def _texts_and_tokens(params: SamplingParams, vocab_size: int | None) -> None:
    if len(params.stop) > MAX_STOPS:
        raise BadRequest("stop", f"{len(params.stop)} texts", fix=f"give at most {MAX_STOPS}")
    if any(not each for each in params.stop):
        raise BadRequest("stop", "an empty text would stop everything", fix="leave it out")
    for name, ids in (("stop_token_ids", params.stop_token_ids), ("logit_bias", tuple(params.logit_bias))):
        wrong = next((each for each in ids if each < 0 or (vocab_size is not None and each >= vocab_size)), None)
        if wrong is not None:
            most = "the vocabulary" if vocab_size is None else f"0 to {vocab_size - 1}"
            raise BadRequest(name, f"token {wrong} does not exist", fix=f"use ids of {most}")
    for token, bias in params.logit_bias.items():
        _number(f"logit_bias[{token}]", bias, -100.0, 100.0, "-100 to 100")


def _number(name: str, value: Any, low: float, high: float, words: str) -> None:
    if type(value) not in (int, float) or not math.isfinite(value) or not low <= value <= high:
        raise BadRequest(name, f"found {value!r}", fix=f"give a number: {words}")


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise BadRequest(name, f"found {value!r}", fix=f"give a whole number from {low} to {high}")
