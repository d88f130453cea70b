"""From the fields of a request to how its tokens are chosen. The engine's bounds are checked by the engine's own rule,
before anything is sent; its names are put back into the client's."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from engine.schema.errors import BadRequest
from engine.schema.sampling import SamplingParams, check
from engine.server.errors import of, refused
from engine.server.protocol import ChatRequest, Common, CompletionRequest, ObjectFormat, SchemaFormat

ANY_OBJECT = '{"type":"object"}'
_RENAMED = {
    "is_stop_kept": "include_stop_str_in_output",
    "json_schema": "response_format",
    "adapter": "model",
}


def names_of(request: CompletionRequest | ChatRequest) -> dict[str, str]:
    """What this client calls the engine's fields."""
    if isinstance(request, CompletionRequest):
        return {**_RENAMED, "prompt_logprobs": "logprobs"}
    names = {**_RENAMED, "prompt": "messages"}
    if request.top_logprobs is not None:
        names["logprobs"] = "top_logprobs"
    if request.max_completion_tokens is not None:
        names["max_tokens"] = "max_completion_tokens"
    if request.response_format is None:
        names["json_schema"] = "tools"
    return names


def of_completion(request: CompletionRequest, *, vocab_size: int) -> SamplingParams:
    """An echo without any new token still asks the engine for one: it computes nothing for none."""
    if request.best_of is not None and request.best_of != (request.n or 1):
        raise refused("best_of", "answers are not ranked; leave it out, or make it n", code="unsupported_parameter")
    max_tokens = 16 if request.max_tokens is None else request.max_tokens
    if max_tokens == 0 and request.echo:
        max_tokens = 1
    made = _common(
        request,
        max_tokens=max_tokens,
        logprobs=request.logprobs,
        prompt_logprobs=request.logprobs if request.echo else None,
    )
    return _checked(made, request, vocab_size)


def of_chat(request: ChatRequest, *, vocab_size: int, tool_schema: str | None = None) -> SamplingParams:
    """tool_schema: the JSON that a forced tool call has to be."""
    max_tokens = request.max_tokens if request.max_completion_tokens is None else request.max_completion_tokens
    if request.max_tokens not in (None, max_tokens):
        raise refused("max_tokens", "differs from max_completion_tokens; give one of the two", code="invalid_value")
    if request.top_logprobs is not None and not request.logprobs:
        raise refused("top_logprobs", "needs logprobs to be true", code="invalid_value")
    made = _common(
        request,
        max_tokens=max_tokens,
        logprobs=(request.top_logprobs or 0) if request.logprobs else None,
        json_schema=_schema(request, tool_schema),
    )
    return _checked(made, request, vocab_size)


def _schema(request: ChatRequest, tool_schema: str | None) -> str | None:
    form = request.response_format
    if tool_schema is not None:
        if request.regex is not None:
            raise refused("regex", "given beside a forced tool call; give one of the two", code="invalid_value")
        return tool_schema
    if request.regex is not None and isinstance(form, (ObjectFormat, SchemaFormat)):
        raise refused("regex", "given beside response_format; give one of the two", code="invalid_value")
    if isinstance(form, ObjectFormat):
        return ANY_OBJECT
    if isinstance(form, SchemaFormat):
        return msgspec.json.encode(form.json_schema.schema).decode()
    return None


def _common(request: Common, **own: Any) -> SamplingParams:
    given = {
        name: value
        for name in (
            *("n", "temperature", "top_p", "top_k", "min_p", "min_tokens", "seed", "regex", "ignore_eos"),
            *("presence_penalty", "frequency_penalty", "repetition_penalty", "stop_token_ids", "skip_special_tokens"),
        )
        if (value := getattr(request, name)) is not None
    }
    if request.stop is not None:
        given["stop"] = (request.stop,) if isinstance(request.stop, str) else request.stop
    if request.include_stop_str_in_output is not None:
        given["is_stop_kept"] = request.include_stop_str_in_output
    if request.logit_bias:
        given["logit_bias"] = _biases(request.logit_bias)
    return SamplingParams(**given, **own)


def _biases(given: dict[str, Any]) -> dict[int, float]:
    found = {}
    for token, bias in given.items():
        if not token.isascii() or not token.isdigit() or len(token) > 10:
            raise refused("logit_bias", f"{token[:20]!r} is no token id", code="invalid_value")
        if type(bias) not in (int, float) or not math.isfinite(bias):
            raise refused(f"logit_bias[{token}]", "is no number", code="invalid_type")
        found[int(token)] = float(bias)
    return found


def _checked(params: SamplingParams, request: CompletionRequest | ChatRequest, vocab_size: int) -> SamplingParams:
    try:
        check(params, vocab_size=vocab_size)
    except BadRequest as error:
        raise of(error, renamed=names_of(request)) from error
    return params
