"""Tool calls in text: every form, cut anywhere; what is no whole call of an offered tool stays text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from engine.server.protocol import ChatRequest
from engine.server.tool_choice import plan_tools
from engine.server.tools import (
    CallDelta,
    Form,
    HermesReader,
    ListReader,
    LlamaReader,
    NamedReader,
    PlainReader,
    Reader,
    form_of,
)
from engine.text.chat import ChatTemplate
from tests.engine.server import tiny

NAMES = ("f", "get_weather")
MAKERS: dict[str, Callable[[], Reader]] = {
    "hermes": lambda: HermesReader(NAMES),
    "llama": lambda: LlamaReader(NAMES),
    "list": lambda: ListReader(NAMES),
    "plain": PlainReader,
}


def read(reader: Reader, pieces: list[str]) -> tuple[str, list[tuple[str | None, Any]]]:
    content, calls = "", list[CallDelta]()
    for each in pieces:
        text, found = reader.push(each)
        content, calls = content + text, calls + list(found)
    text, found = reader.finish()
    return content + text, [(each.name, json.loads(each.arguments)) for each in [*calls, *found]]


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


F1, F2 = f"<tool_call>\n{call('f', x=1)}\n</tool_call>", f"<tool_call>{call('f', x=2)}</tool_call>"
CASES: list[tuple[str, str, str, list[Any]]] = [
    ("hermes", "just text", "just text", []),
    ("hermes", "a < b <tool", "a < b <tool", []),
    ("hermes", F1, "", [("f", {"x": 1})]),
    ("hermes", f"Let me see.\n{F1}\n{F2}\n", "Let me see.", [("f", {"x": 1}), ("f", {"x": 2})]),
    ("hermes", f"{F1}and then", "and then", [("f", {"x": 1})]),
    ("hermes", "  spaces  ", "  spaces  ", []),
    ("hermes", F1.removesuffix("</tool_call>"), "", [("f", {"x": 1})]),
    ("hermes", f"<tool_call>{call('g')}</tool_call>", f"<tool_call>{call('g')}</tool_call>", []),
    ("hermes", "<tool_call>{oops</tool_call>", "<tool_call>{oops</tool_call>", []),
    ("hermes", '<tool_call>{"name": "f", "argu', '<tool_call>{"name": "f", "argu', []),
    (
        "hermes",
        '<tool_call>{"name": "f", "arguments": [1]}</tool_call>.',
        '<tool_call>{"name": "f", "arguments": [1]}</tool_call>.',
        [],
    ),
    ("hermes", '<tool_call>{"name": "f"}</tool_call>', "", [("f", {})]),
    ("hermes", '<tool_call>{"name": "f", "arguments": "{\\"x\\": 3}"}</tool_call>', "", [("f", {"x": 3})]),
    (
        "hermes",
        '<tool_call>{"name": ["f"], "arguments": {}}</tool_call>',
        '<tool_call>{"name": ["f"], "arguments": {}}</tool_call>',
        [],
    ),
    ("llama", "Hello {", "Hello {", []),
    ("llama", '{"name": "f", "parameters": {"x": 1}}', "", [("f", {"x": 1})]),
    ("llama", '<|python_tag|>{"name": "f", "parameters": {}}', "", [("f", {})]),
    (
        "llama",
        '{"name": "f", "parameters": {}}; {"name": "get_weather", "parameters": {"y": 2}}',
        "",
        [("f", {}), ("get_weather", {"y": 2})],
    ),
    ("llama", '{"name": "other", "parameters": {}}', '{"name": "other", "parameters": {}}', []),
    ("llama", '{"a": 1}', '{"a": 1}', []),
    ("llama", '{"name": "f", "para', '{"name": "f", "para', []),
    ("llama", '{"name": "f", "parameters": {}} and so', '{"name": "f", "parameters": {}} and so', []),
    ("llama", "<|python", "<|python", []),
    ("llama", "", "", []),
    ("list", f"[{call('f', x=1)}, {call('get_weather')}]", "", [("f", {"x": 1}), ("get_weather", {})]),
    ("list", f" [ {call('f', x=1)} ] ", "", [("f", {"x": 1})]),
    ("list", f"[{call('f', x=1)}, " + '{"name": "f", "ar', '{"name": "f", "ar', [("f", {"x": 1})]),
    ("plain", F1, F1, []),
]


@pytest.mark.parametrize(("kind", "text", "content", "calls"), CASES)
def test_calls_are_read_however_the_text_is_cut(kind: str, text: str, content: str, calls: list[Any]) -> None:
    for size in (1, 2, 3, 7, 1000):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert read(MAKERS[kind](), pieces) == (content, calls), size


@given(
    st.lists(
        st.sampled_from(["<tool_call>", "</tool_call>", call("f", x=1), "{", "}", " ", "\n", "a", "<", '"']),
        max_size=12,
    ),
    st.sampled_from(["hermes", "llama", "list"]),
    st.lists(st.integers(1, 9), max_size=20),
)
def test_a_text_gives_the_same_in_pieces_as_whole(parts: list[str], kind: str, sizes: list[int]) -> None:
    text = "".join(parts)
    pieces, rest = [], text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    whole, cut = read(MAKERS[kind](), [text]), read(MAKERS[kind](), [*pieces, rest])
    event("calls" if whole[1] else "no calls")
    assert whole == cut
    if kind != "list" and not whole[1]:
        assert whole[0] == text  # nothing that was said is lost


def test_no_more_calls_than_are_wanted() -> None:
    reader = HermesReader(NAMES, 1)
    assert not reader.is_full
    content, calls = reader.push(f"{F1}{F2}")
    assert (content, [each.name for each in calls], reader.is_full) == ("", ["f"], True)
    assert reader.push(F2) == ("", ()) and reader.finish() == ("", ())


def test_arguments_of_the_one_tool_stream() -> None:
    reader = NamedReader("f")
    made = [reader.push(each)[1] for each in ('{"x"', "", ": 1}")]
    (first,), nothing, (second,) = made
    assert (first.name, first.arguments, nothing) == ("f", '{"x"', ()) and first.id is not None
    assert second == CallDelta(0, None, None, ": 1}") and reader.num_calls == 1


def test_calls_have_numbers_and_ids_of_their_own() -> None:
    _, calls = HermesReader(NAMES).push(F1 + F2)
    assert [each.number for each in calls] == [0, 1]
    assert len({each.id for each in calls}) == 2 and all(each.id and each.id.startswith("call_") for each in calls)


@pytest.mark.parametrize(
    ("template", "form"),
    [(tiny.HERMES, Form.HERMES), (tiny.LLAMA, Form.LLAMA), (tiny.PLAIN, None), ("{{ tools }}", None)],
)
def test_the_template_tells_the_form(template: str, form: Form | None) -> None:
    assert form_of(template) is form
    assert ChatTemplate(template).takes_tools == ("tools" in template)


def request(choice: Any, *, parallel: bool | None = None) -> ChatRequest:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/n"}, "root": {"$ref": "#"}},
        "$defs": {"n": {"type": "integer"}},
    }
    tools = [{"type": "function", "function": {"name": name, "parameters": node}} for name in NAMES]
    return ChatRequest(model="m", messages=[], tools=tools, tool_choice=choice, parallel_tool_calls=parallel)


@pytest.mark.parametrize("parallel", [None, True, False])
def test_a_forced_call_is_made_by_a_schema(parallel: bool | None) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    plan = plan_tools(request("required", parallel=parallel), ChatTemplate(tiny.HERMES))
    assert plan.schema is not None
    check = jsonschema.Draft202012Validator(json.loads(plan.schema))
    one = {"name": "f", "arguments": {"next": 3, "root": {"next": 4}}}
    for value, is_right in (
        ([one], True),
        ([one, one], parallel is not False),
        ([], False),
        ([{"name": "g", "arguments": {}}], False),
        ([{"name": "f"}], False),
        ([{"name": "get_weather", "arguments": {"next": "x"}}], False),
        ([{"name": "get_weather", "arguments": {"root": {"next": "x"}}}], False),
    ):
        assert check.is_valid(value) == is_right, value


def test_a_template_without_tools_or_with_an_unknown_form_is_no_place_for_them() -> None:
    from engine.server.errors import ApiError

    with pytest.raises(ApiError, match="no place for them"):
        plan_tools(request("auto"), ChatTemplate(tiny.PLAIN))
    with pytest.raises(ApiError, match="not known"):
        plan_tools(request("auto"), ChatTemplate("{{ tools }}"))
    assert plan_tools(request("none"), ChatTemplate(tiny.PLAIN)).schema is None
    assert plan_tools(request("required"), ChatTemplate("{{ tools }}")).schema is not None
