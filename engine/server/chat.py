"""`/v1/chat/completions`: messages to a prompt by the model's template, answers in OpenAI's forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from engine.schema.errors import BadRequest
from engine.schema.messages import Add
from engine.schema.sampling import SamplingParams
from engine.server import fields, logprobs, params, prompts
from engine.server.choice import Choice
from engine.server.errors import of, refused
from engine.server.generation import Answer, News
from engine.server.protocol import ChatRequest, refuse_what_is_not_built
from engine.server.replies import Job, new_id
from engine.server.service import Service
from engine.server.tool_choice import ToolPlan, plan_tools
from engine.server.tools import CallDelta, markers
from engine.server.usage import usage
from engine.text.chat import ChatTemplate

_OWN_OPTIONS = ("messages", "tools", "add_generation_prompt", "bos_token", "eos_token")


async def prepare(service: Service, body: bytes) -> Job:
    """Raises ApiError."""
    request = fields.decode(body, ChatRequest)
    adapter = service.adapter_of(request.model)
    refuse_what_is_not_built(request)
    template = service.tokenizer.template
    if template is None:
        raise refused("messages", "the model has no chat template; use /v1/completions", code="unsupported_parameter")
    tools = plan_tools(request, template)
    chosen = params.of_chat(request, vocab_size=service.vocab_size, tool_schema=tools.schema)
    text = _rendered(request, template, tools)
    prompt_ids = await prompts.encode(service.tokenizer, text)
    names = params.names_of(request)
    length_field = names.get("max_tokens", "max_tokens")
    prompts.check_fits(prompt_ids, chosen, service, place="messages", length_field=length_field)
    request_id = new_id("chatcmpl")
    add = Add(request_id=request_id, prompt_ids=prompt_ids, params=chosen, adapter=adapter)
    answer = Answer(add, [_choice(service, chosen, prompt_ids, tools) for _ in range(chosen.n)])
    options = request.stream_options
    return Job(
        id=request_id,
        endpoint="chat",
        answers=(answer,),
        shape=ChatShape(
            id=request_id,
            created=service.now(),
            model=request.model,
            service=service,
            has_logprobs=bool(request.logprobs),
            has_usage=options is not None and bool(options.include_usage),
        ),
        is_stream=bool(request.stream),
        renamed=names,
    )


def _rendered(request: ChatRequest, template: ChatTemplate, tools: ToolPlan) -> str:
    options = request.chat_template_kwargs or {}
    for name in _OWN_OPTIONS:
        if name in options:
            raise refused(f"chat_template_kwargs.{name}", "is the server's to give", code="invalid_value")
    try:
        return template.render(request.messages, tools=tools.shown, options=options)
    except BadRequest as error:
        raise of(error) from error


def _choice(service: Service, chosen: SamplingParams, prompt_ids: tuple[int, ...], tools: ToolPlan) -> Choice:
    vocabulary = service.tokenizer.vocabulary
    wanted = set() if tools.form is None else {each.encode() for each in markers(tools.form)}
    shown = frozenset(
        each for each in vocabulary.special if wanted and vocabulary.bytes_of(each, skip_special=False) in wanted
    )
    return Choice(service.tokenizer, chosen, prompt=prompt_ids[-8:], reader=tools.make_reader(), shown=shown)


class ChatShape(Struct, frozen=True, kw_only=True, eq=False):
    """The forms of one request's answers."""

    id: str
    created: int
    model: str
    service: Service
    has_logprobs: bool
    has_usage: bool

    def whole(self, answers: Sequence[Answer], news: Sequence[News]) -> Any:
        choices = [self._choice(index, [each for each in news if each.index == index]) for index in _indexes(answers)]
        return {**self._head("chat.completion"), "choices": choices, "usage": usage(answers)}

    def _choice(self, index: int, news: list[News]) -> dict[str, Any]:
        content = "".join(each.piece.text for each in news)
        calls = _joined([call for each in news for call in each.piece.calls])
        message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
        if calls:
            message |= {"content": content or None, "tool_calls": calls}
        entries = [entry for each in news for entry in each.piece.entries]
        return {
            "index": index,
            "message": message,
            "logprobs": self._logprobs(entries),
            "finish_reason": news[-1].piece.reason,
        }

    def _logprobs(self, entries: Sequence[Any]) -> Any:
        return logprobs.chat(self.service.tokenizer.vocabulary, entries) if self.has_logprobs else None

    def events(self, news: Sequence[News]) -> list[Any]:
        found = []
        for each in news:
            piece = each.piece
            if each.is_first:
                found.append(self._chunk(each.index, {"role": "assistant", "content": "", "refusal": None}))
            if piece.text or piece.entries:
                found.append(self._chunk(each.index, {"content": piece.text}, entries=piece.entries))
            for call in piece.calls:
                found.append(self._chunk(each.index, {"tool_calls": [_call_delta(call)]}))
            if piece.reason is not None:
                found.append(self._chunk(each.index, {}, reason=piece.reason))
        return found

    def last(self, answers: Sequence[Answer]) -> list[Any]:
        if not self.has_usage:
            return []
        return [{**self._head("chat.completion.chunk"), "choices": [], "usage": usage(answers)}]

    def _chunk(self, index: int, delta: Any, *, entries: Sequence[Any] = (), reason: str | None = None) -> Any:
        made = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
        if entries:
            made["logprobs"] = self._logprobs(entries)
        chunk = {**self._head("chat.completion.chunk"), "choices": [made]}
        return {**chunk, "usage": None} if self.has_usage else chunk

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def _indexes(answers: Sequence[Answer]) -> range:
    return range(len(answers[0].choices))


def _joined(deltas: Sequence[CallDelta]) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for each in deltas:
        if each.number not in found:
            function = {"name": each.name, "arguments": ""}
            found[each.number] = {"id": each.id, "type": "function", "function": function}
        found[each.number]["function"]["arguments"] += each.arguments
    return list(found.values())


def _call_delta(call: CallDelta) -> dict[str, Any]:
    if call.id is None:
        return {"index": call.number, "function": {"arguments": call.arguments}}
    function = {"name": call.name, "arguments": call.arguments}
    return {"index": call.number, "id": call.id, "type": "function", "function": function}
