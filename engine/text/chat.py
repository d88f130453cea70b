"""Messages of a conversation to the prompt that a model was trained on: which template, which messages it can take,
what it may do while it runs (nothing but text)."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2
import jinja2.meta
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.schema.errors import BadModel, BadRequest

ROLES = ("system", "developer", "user", "assistant", "tool")


def choose_template(given: str | Mapping[str, str], *, name: str | None = None) -> str:
    """The template of a model that has one text, or several by name: the one asked for, `default`, or the only one.

    Raises BadModel when that leaves a choice."""
    if isinstance(given, str):
        return given.strip()
    wanted = name if name is not None else "default"
    if wanted in given:
        return given[wanted].strip()
    if name is None and len(given) == 1:
        return next(iter(given.values())).strip()
    raise BadModel(f"the model has no chat template {wanted!r}", fix=f"choose one of {sorted(given)}")


def check_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages as templates take them: contents as text, the arguments of tool calls as objects. Raises BadRequest
    that names the place."""
    if not messages:
        raise BadRequest("messages", "there are none", fix="send at least one")
    return [_message(f"messages[{index}]", each) for index, each in enumerate(messages)]


def _message(place: str, message: Mapping[str, Any]) -> dict[str, Any]:
    role = message.get("role")
    if role not in ROLES:
        raise BadRequest(f"{place}.role", f"found {role!r}", fix=f"use one of {', '.join(ROLES)}")
    made = {**message, "content": _content(f"{place}.content", message.get("content"))}
    if role == "developer":
        made["role"] = "system"
    calls = message.get("tool_calls")
    if calls is None:
        made.pop("tool_calls", None)
        if made["content"] is None:
            raise BadRequest(f"{place}.content", "is missing", fix="send a text")
        return made
    if not isinstance(calls, list) or role != "assistant":
        raise BadRequest(f"{place}.tool_calls", "belongs to an assistant, as a list", fix="leave it out")
    made["tool_calls"] = [_call(f"{place}.tool_calls[{index}]", each) for index, each in enumerate(calls)]
    made["content"] = made["content"] or ""
    return made


def _content(place: str, content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise BadRequest(place, f"found {type(content).__name__}", fix="send a text, or a list of text parts")
    texts = []
    for index, part in enumerate(content):
        if not isinstance(part, Mapping) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise BadRequest(f"{place}[{index}]", "is no text part", fix='send {"type": "text", "text": "..."}')
        texts.append(part["text"])
    return "".join(texts)


def _call(place: str, call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise BadRequest(f"{place}.function", "has no name", fix='send {"name": ..., "arguments": ...}')
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise BadRequest(f"{place}.function.arguments", f"is no JSON: {error}", fix="send an object") from error
    if not isinstance(arguments, dict):
        found = type(arguments).__name__
        raise BadRequest(f"{place}.function.arguments", f"is no object but {found}", fix="send an object")
    return {**call, "function": {**function, "arguments": arguments}}


class ChatTemplate:
    """A compiled template. Templates come with models and are not trusted: they run in jinja's sandbox. takes_tools:
    whether it has a place for tools."""

    def __init__(self, text: str, *, bos: str = "", eos: str = "") -> None:
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.filters["tojson"] = _tojson
        environment.globals.update(raise_exception=_refuse, strftime_now=_now)
        self._special = {"bos_token": bos, "eos_token": eos}
        self.text = text
        try:
            self._template = environment.from_string(text)
            self.takes_tools = "tools" in jinja2.meta.find_undeclared_variables(environment.parse(text))
        except jinja2.TemplateSyntaxError as error:
            raise BadModel(
                f"the chat template can't be compiled: line {error.lineno}: {error.message}", fix="give one"
            ) from error

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        is_answer_begun: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> str:
        """The prompt. is_answer_begun: end with what begins the assistant's turn. options: names that this template
        knows beside the usual ones. Raises BadRequest for what the template refuses or can't work with."""
        given = {
            "messages": check_messages(messages),
            "tools": list(tools) or None,
            "add_generation_prompt": is_answer_begun,
        }
        try:
            return self._template.render({**(options or {}), **given, **self._special})
        except BadRequest:
            raise
        except Exception as error:  # a template is a program: what it does with odd messages may fail in any way
            raise BadRequest(
                "messages", f"the chat template refuses: {error}", fix="send them as the model expects"
            ) from error


def _tojson(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return dt.datetime.now(tz=dt.timezone.utc).strftime(form)
