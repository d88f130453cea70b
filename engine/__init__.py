"""The LLM inference engine: request, tokenizer, scheduler, runner, sampler, detokenizer.

    from engine import LLM, SamplingParams

Importing it costs nothing: what the names stand for is loaded when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.core.llm import LLM, Result
    from engine.schema.sampling import SamplingParams

__all__ = ["LLM", "Result", "SamplingParams"]
_HOMES = {"LLM": "engine.core.llm", "Result": "engine.core.llm", "SamplingParams": "engine.schema.sampling"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
