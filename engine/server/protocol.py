"""What requests may say, field by field. A field that OpenAI has and that can't change an answer here is taken and has
no effect; one that would change it, and is not built, is refused by name; a field that nobody has is refused too."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from engine.server.errors import refused


class StreamOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """include_obfuscation: padding against eavesdroppers; we send none, and none is what it asks when false."""

    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class TextFormat(Struct, frozen=True, tag_field="type", tag="text"):
    """Whatever the model says."""


class ObjectFormat(Struct, frozen=True, tag_field="type", tag="json_object"):
    """Any JSON object."""


class SchemaOfAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    schema: dict[str, Any]
    description: str | None = None
    strict: bool | None = None


class SchemaFormat(Struct, frozen=True, kw_only=True, tag_field="type", tag="json_schema"):
    """JSON of one shape."""

    json_schema: SchemaOfAnswer


class FunctionName(Struct, frozen=True):
    name: str


class NamedTool(Struct, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """The tool that has to be called."""

    function: FunctionName


class FunctionTool(Struct, frozen=True, kw_only=True):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Struct, frozen=True, kw_only=True, tag_field="type", tag="function"):
    """A function that the model may ask to be called."""

    function: FunctionTool


class Common(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What both endpoints take. From `top_k` on: ours, and not OpenAI's."""

    model: str
    frequency_penalty: float | None = None
    logit_bias: dict[str, Any] | None = None
    max_tokens: int | None = None
    n: int | None = None
    presence_penalty: float | None = None
    seed: int | None = None
    stop: str | tuple[str, ...] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    user: str | None = None

    top_k: int | None = None
    min_p: float | None = None
    min_tokens: int | None = None
    repetition_penalty: float | None = None
    stop_token_ids: tuple[int, ...] | None = None
    ignore_eos: bool | None = None
    skip_special_tokens: bool | None = None
    include_stop_str_in_output: bool | None = None
    regex: str | None = None


class CompletionRequest(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """prompt: a text, tokens, or a list of either."""

    prompt: Any
    best_of: int | None = None
    echo: bool | None = None
    logprobs: int | None = None
    suffix: Any = None


class ChatRequest(Common, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """messages: judged where the template takes them."""

    messages: list[dict[str, Any]]
    logprobs: bool | None = None
    max_completion_tokens: int | None = None
    metadata: dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    prediction: dict[str, Any] | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    response_format: TextFormat | ObjectFormat | SchemaFormat | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    tools: list[dict[str, Any]] | None = None
    top_logprobs: int | None = None

    audio: Any = None
    function_call: Any = None
    functions: Any = None
    modalities: Any = None
    reasoning_effort: Any = None
    store: Any = None
    verbosity: Any = None
    web_search_options: Any = None

    chat_template_kwargs: dict[str, Any] | None = None


# The values that ask for what happens anyway.
_HARMLESS: dict[str, tuple[Any, ...]] = {
    "modalities": (["text"],),
    "store": (False,),
    "functions": ([],),
    "suffix": ("",),
}
_NOT_BUILT = {
    "audio": "speech is not made here",
    "function_call": "is deprecated; use tool_choice",
    "functions": "is deprecated; use tools",
    "modalities": "text is all there is",
    "reasoning_effort": "is not known; what the chat template takes goes into chat_template_kwargs",
    "store": "answers are not kept",
    "suffix": "text can't be put in the middle; leave it out",
    "verbosity": "is not known; ask for it in a message",
    "web_search_options": "there is no search",
}


def refuse_what_is_not_built(request: CompletionRequest | ChatRequest) -> None:
    """Raises ApiError for the first field that asks for it."""
    for name, why in _NOT_BUILT.items():
        value = getattr(request, name, None)
        if value is not None and not any(
            type(value) is type(each) and value == each for each in _HARMLESS.get(name, ())
        ):
            raise refused(name, why, code="unsupported_parameter")
    if request.stream_options is not None and not request.stream:
        raise refused("stream_options", "belongs to a stream; set stream, or leave it out", code="invalid_value")
    if request.stream_options is not None and request.stream_options.include_obfuscation:
        raise refused("stream_options.include_obfuscation", "no padding is sent", code="unsupported_parameter")
