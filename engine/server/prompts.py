"""Prompts to tokens, and whether they fit: within the model's context, with what is to come after them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from engine.schema.sampling import SamplingParams
from engine.server.errors import refused
from engine.server.service import Service
from engine.text.tokenizer import Tokenizer

_LONG = 20_000  # characters that take so long to encode that others would notice


def read(prompt: Any, service: Service) -> list[str | tuple[int, ...]]:
    """The prompts of a completion: texts or tokens. Raises ApiError."""
    if isinstance(prompt, str):
        return [prompt]
    if not isinstance(prompt, list):
        raise refused(
            "prompt", f"expected a text, tokens, or a list of either, found {_kind(prompt)}", code="invalid_type"
        )
    if not prompt:
        raise refused("prompt", "is empty", code="invalid_value")
    if not isinstance(prompt[0], (str, list)):
        return [_tokens(prompt, "prompt", service.vocab_size)]
    if len(prompt) > service.limits.max_prompts:
        raise refused(
            "prompt", f"{len(prompt)} of them; give at most {service.limits.max_prompts}", code="invalid_value"
        )
    found: list[str | tuple[int, ...]] = []
    for at, each in enumerate(prompt):
        if type(each) is not type(prompt[0]):
            raise refused(f"prompt[{at}]", "is of another kind than the first", code="invalid_type")
        found.append(each if isinstance(each, str) else _tokens(each, f"prompt[{at}]", service.vocab_size))
    return found


def _tokens(given: list[Any], place: str, vocab_size: int) -> tuple[int, ...]:
    for at, each in enumerate(given):
        if type(each) is not int:
            raise refused(f"{place}[{at}]", f"expected a token, found {_kind(each)}", code="invalid_type")
        if not 0 <= each < vocab_size:
            raise refused(f"{place}[{at}]", f"token {each} does not exist", code="invalid_value")
    return tuple(given)


async def encode(tokenizer: Tokenizer, text: str) -> tuple[int, ...]:
    """Long ones in a thread of their own, so that streams go on meanwhile."""
    if len(text) < _LONG:
        return tuple(tokenizer.encode(text))
    return tuple(await asyncio.to_thread(tokenizer.encode, text))


def check_fits(
    prompt_ids: Sequence[int], params: SamplingParams, service: Service, *, place: str, length_field: str | None
) -> None:
    """place, length_field: what the client calls the prompt, and how long the answer may be (None where it did not
    say). Raises ApiError."""
    count, context = len(prompt_ids), service.context
    if not count:
        raise refused(place, "has no tokens", code="invalid_value")
    most = service.limits.max_prompt_tokens
    if most is not None and count > most:
        raise refused(place, f"{count} tokens; this server takes {most}", code="context_length_exceeded")
    if count >= context:
        raise refused(
            place,
            f"{count} tokens, and the model has room for {context}, answer included",
            code="context_length_exceeded",
        )
    if length_field is not None and params.max_tokens is not None and count + params.max_tokens > context:
        what = f"{params.max_tokens} after a prompt of {count} tokens; the model has room for {context} in all"
        raise refused(length_field, what, code="context_length_exceeded")


def _kind(value: Any) -> str:
    return {dict: "object", list: "list", str: "str", bool: "bool", type(None): "null"}.get(
        type(value), type(value).__name__
    )
