"""How many tokens a request took and gave."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.server.generation import Answer


def usage(answers: Iterable[Answer], *, has_output: bool = True) -> dict[str, Any]:
    """A prompt counts once, however many choices are made of it."""
    prompt = output = cached = 0
    for each in answers:
        prompt += len(each.add.prompt_ids)
        cached += each.num_cached
        output += each.num_tokens if has_output else 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
