"""Tool calls in a model's text: which text is a call, in the forms that models were trained on. Text that is no whole
call of a tool that was offered stays text, so that nothing a model said is lost."""

from __future__ import annotations

import enum
import json
import uuid
from collections.abc import Collection
from typing import Any, NamedTuple, Protocol

HERMES_OPEN, HERMES_CLOSE = "<tool_call>", "</tool_call>"
PYTHON_TAG = "<|python_tag|>"
_BETWEEN = "[, \n\t"  # of the values of a list, and before the first


class CallDelta(NamedTuple):
    """number: of the call in its answer, from 0. id and name come once a call, with its first delta; arguments is a
    part of the JSON text."""

    number: int
    id: str | None
    name: str | None
    arguments: str


Read = tuple[str, tuple[CallDelta, ...]]


class Reader(Protocol):
    """Takes an answer's text in pieces; gives what is content, and the calls. is_full: no further call is wanted."""

    @property
    def num_calls(self) -> int: ...

    @property
    def is_full(self) -> bool: ...

    def push(self, text: str) -> Read: ...

    def finish(self) -> Read: ...


class Form(enum.Enum):
    """How a model writes a call. HERMES: JSON between tags, as Qwen does too. LLAMA: an answer that is JSON."""

    HERMES = "hermes"
    LLAMA = "llama"


def form_of(template: str) -> Form | None:
    """By what the chat template shows the model as a call. None for a form that nobody taught us."""
    if HERMES_OPEN in template:
        return Form.HERMES
    if PYTHON_TAG in template or '"parameters":' in template:
        return Form.LLAMA
    return None


def markers(form: Form) -> tuple[str, ...]:
    """Texts that belong to calls, and that a vocabulary may have as control tokens."""
    return (HERMES_OPEN, HERMES_CLOSE) if form is Form.HERMES else (PYTHON_TAG,)


class PlainReader:
    """No tools: everything is content."""

    num_calls = 0
    is_full = False

    def push(self, text: str) -> Read:
        return text, ()

    def finish(self) -> Read:
        return "", ()


class _Calls:
    """Numbers calls. most: how many are wanted."""

    def __init__(self, names: Collection[str], most: int | None) -> None:
        self._names, self._most = frozenset(names), most
        self.num_calls = 0

    @property
    def is_full(self) -> bool:
        return self._most is not None and self.num_calls >= self._most

    def _is_offered(self, value: Any) -> bool:
        name = value.get("name") if isinstance(value, dict) else None
        return isinstance(name, str) and name in self._names

    def _made(self, value: Any) -> CallDelta | None:
        """A call of a tool that was offered, or None."""
        if self.is_full or not self._is_offered(value):
            return None
        arguments = value.get("arguments", value.get("parameters", {}))
        if isinstance(arguments, str):
            arguments = _json(arguments)
        if not isinstance(arguments, dict):
            return None
        self.num_calls += 1
        return CallDelta(self.num_calls - 1, new_call_id(), value["name"], json.dumps(arguments, ensure_ascii=False))


class HermesReader(_Calls):
    """Content streams until a tag may begin; a call is given when its closing tag is there."""

    def __init__(self, names: Collection[str], most: int | None = None) -> None:
        super().__init__(names, most)
        self._buffer, self._space = "", ""
        self._is_in_call = self._is_after_call = False

    def push(self, text: str) -> Read:
        self._buffer += text
        content, calls = "", []
        while not self.is_full:
            tag = HERMES_CLOSE if self._is_in_call else HERMES_OPEN
            before, found, after = self._buffer.partition(tag)
            if not found:
                break
            self._buffer = after
            if self._is_in_call:
                call = self._made(_json(before))
                if call is None:
                    content += self._said(HERMES_OPEN + before + HERMES_CLOSE)
                else:
                    calls.append(call)
                    self._space, self._is_after_call = "", True
            else:
                content += self._said(before)
            self._is_in_call = not self._is_in_call
        if not self._is_in_call and not self.is_full:
            keep = _overlap(self._buffer, HERMES_OPEN)
            content += self._said(self._buffer[: len(self._buffer) - keep])
            self._buffer = self._buffer[len(self._buffer) - keep :]
        return content, tuple(calls)

    def finish(self) -> Read:
        """A model may end with its call, and without the closing tag."""
        if self.is_full:
            return "", ()
        call = self._made(_json(self._buffer)) if self._is_in_call else None
        if call is not None:
            return "", (call,)
        rest = (HERMES_OPEN if self._is_in_call else "") + self._buffer
        content = self._said(rest)
        return content + ("" if self.num_calls else self._space), ()

    def _said(self, text: str) -> str:
        """Space around calls is no content: it is kept back until something else follows it."""
        text = self._space + text
        if self._is_after_call:
            text = text.lstrip()
        body = text.rstrip()
        self._space = text[len(body) :]
        self._is_after_call = self._is_after_call and not body
        return body


class LlamaReader(_Calls):
    """An answer that begins as JSON is kept until it has ended: calls one after the other, `;` between them."""

    def __init__(self, names: Collection[str], most: int | None = None) -> None:
        super().__init__(names, most)
        self._buffer = ""
        self._is_content = False

    def push(self, text: str) -> Read:
        if self._is_content:
            return text, ()
        self._buffer += text
        begun = self._buffer.lstrip()
        if not begun or begun.startswith(("{", PYTHON_TAG)) or PYTHON_TAG.startswith(begun):
            return "", ()
        self._is_content = True
        return self._buffer, ()

    def finish(self) -> Read:
        if self._is_content:
            return "", ()
        values, rest = _values(self._buffer.strip().removeprefix(PYTHON_TAG), separators="; \n\t")
        if rest or not all(self._is_offered(each) for each in values):
            return self._buffer, ()
        made = [self._made(each) for each in values]
        if not any(made):
            return self._buffer, ()
        return "", tuple(each for each in made if each is not None)


class ListReader(_Calls):
    """An answer that was made to be a JSON list of calls. Each is given when it is whole."""

    def __init__(self, names: Collection[str], most: int | None = None) -> None:
        super().__init__(names, most)
        self._buffer = ""

    def push(self, text: str) -> Read:
        self._buffer += text
        if "}" not in text:
            return "", ()
        values, self._buffer = _values(self._buffer, separators=_BETWEEN)
        made = [self._made(each) for each in values]
        return "", tuple(each for each in made if each is not None)

    def finish(self) -> Read:
        rest = self._buffer.lstrip(_BETWEEN)
        return "" if rest.strip() == "]" else rest, ()


class NamedReader:
    """An answer that was made to be the arguments of one tool."""

    is_full = False

    def __init__(self, name: str) -> None:
        self._name = name
        self.num_calls = 0

    def push(self, text: str) -> Read:
        if not text:
            return "", ()
        if self.num_calls:
            return "", (CallDelta(0, None, None, text),)
        self.num_calls = 1
        return "", (CallDelta(0, new_call_id(), self._name, text),)

    def finish(self) -> Read:
        return "", ()


def new_call_id() -> str:
    return f"call_{uuid.uuid4().hex[:24]}"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_DECODER = json.JSONDecoder()


def _values(text: str, *, separators: str) -> tuple[list[Any], str]:
    """The whole JSON values at the beginning, and the text after them."""
    found, text = [], text.lstrip(separators)
    while text:
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            break
        found.append(value)
        text = text[end:].lstrip(separators)
    return found, text


def _overlap(text: str, tag: str) -> int:
    """How many of the last characters may be the beginning of a tag."""
    return next((size for size in range(min(len(text), len(tag) - 1), 0, -1) if text.endswith(tag[:size])), 0)
