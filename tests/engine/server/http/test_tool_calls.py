"""Tools as OpenAI's own client sees them: shown to the template, read from the answer, forced by a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.engine.server import tiny
from tests.engine.server.http.running import Running

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Any = [
    {"type": "function", "function": {"name": "weather", "description": "of a city", "parameters": PARAMETERS}},
    {"type": "function", "function": {"name": "noop"}},
]
CALL = '{"name": "weather", "arguments": {"city": "Köln"}}'


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def streamed(client: openai.OpenAI, text: str, **options: Any) -> tuple[str, list[dict[str, Any]], str | None]:
    content, calls, reason = "", list[dict[str, Any]](), None
    options = {"tools": TOOLS, **options}
    for chunk in client.chat.completions.create(model="tiny", messages=user(text), stream=True, **options):
        choice = chunk.choices[0]
        content += choice.delta.content or ""
        for each in choice.delta.tool_calls or []:
            if each.index == len(calls):
                assert each.id and each.function and each.function.name and each.type == "function"
                calls.append({"name": each.function.name, "arguments": ""})
            assert each.function is not None
            calls[each.index]["arguments"] += each.function.arguments or ""
        reason = choice.finish_reason or reason
    return content, calls, reason


@pytest.mark.parametrize("per_step", [1, 4, 500])
def test_calls_in_an_answer(running: Running, client: openai.OpenAI, per_step: int) -> None:
    running.engine.per_step = per_step
    said = f'SAY[So: <tool_call>\n{CALL}\n</tool_call>\n<tool_call>{{"name": "noop"}}</tool_call>]'
    try:
        made = client.chat.completions.create(model="tiny", messages=user(said), tools=TOOLS)
        content, calls, reason = streamed(client, said)
    finally:
        running.engine.per_step = 1
    (choice,) = made.choices
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", "So:")
    assert choice.message.tool_calls is not None
    found = [(each.function.name, json.loads(each.function.arguments)) for each in choice.message.tool_calls]  # type: ignore[union-attr]
    assert found == [("weather", {"city": "Köln"}), ("noop", {})]
    assert (content, reason) == ("So:", "tool_calls")
    assert [(each["name"], json.loads(each["arguments"])) for each in calls] == found
    prompt = running.service.tokenizer.decode(list(running.engine.adds[-1].prompt_ids))
    assert '"description": "of a city"' in prompt
    assert running.engine.adds[-1].params.json_schema is None


def test_an_answer_without_calls(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="tiny", messages=user("SAY[no need]"), tools=TOOLS)
    assert (made.choices[0].message.content, made.choices[0].message.tool_calls) == ("no need", None)
    assert made.choices[0].finish_reason == "stop" and streamed(client, "SAY[no need]") == ("no need", [], "stop")


def test_one_call_at_a_time(running: Running, client: openai.OpenAI) -> None:
    said = f"SAY[<tool_call>{CALL}</tool_call>] FOREVER"
    made = client.chat.completions.create(
        model="tiny", messages=user(said), tools=TOOLS, parallel_tool_calls=False, max_tokens=2000
    )
    assert made.choices[0].finish_reason == "tool_calls"
    assert made.choices[0].message.tool_calls is not None and len(made.choices[0].message.tool_calls) == 1
    assert (running.engine.adds[-1].request_id, 0) in running.engine.aborts  # the rest is not computed


def test_a_call_that_is_cut_off_is_text(client: openai.OpenAI) -> None:
    for is_stream in (False, True):
        options: dict[str, Any] = {"tools": TOOLS, "max_tokens": 20}
        if is_stream:
            content, calls, reason = streamed(client, f"SAY[<tool_call>{CALL}</tool_call>]", **options)
        else:
            made = client.chat.completions.create(
                model="tiny", messages=user(f"SAY[<tool_call>{CALL}</tool_call>]"), **options
            )
            content, calls = made.choices[0].message.content or "", []
            reason = made.choices[0].finish_reason
        assert (content, calls, reason) == (f"<tool_call>{CALL[:19]}", [], "length")


def test_a_tool_may_be_required(running: Running, client: openai.OpenAI) -> None:
    said = f"SAY[[{CALL}]]"
    content, calls, reason = streamed(client, said.replace("]]", "] ]"), tool_choice="required")
    assert (content, reason) == ("", "tool_calls")
    assert calls == [{"name": "weather", "arguments": '{"city": "Köln"}'}]
    schema = json.loads(running.engine.adds[-1].params.json_schema or "")
    assert schema["items"]["anyOf"][0]["properties"]["arguments"] == PARAMETERS


def test_a_tool_may_be_named(running: Running, client: openai.OpenAI) -> None:
    choice: Any = {"type": "function", "function": {"name": "weather"}}
    said = 'SAY[{"city": "Köln"}]'
    assert streamed(client, said, tool_choice=choice) == (
        "",
        [{"name": "weather", "arguments": '{"city": "Köln"}'}],
        "tool_calls",
    )
    made = client.chat.completions.create(model="tiny", messages=user(said), tools=TOOLS, tool_choice=choice, n=2)
    for each in made.choices:
        assert each.message.content is None and each.message.tool_calls is not None
    assert json.loads(running.engine.adds[-1].params.json_schema or "") == PARAMETERS


def test_a_history_with_calls_reaches_the_template(running: Running, client: openai.OpenAI, tmp_path: Path) -> None:
    messages: list[Any] = [
        *user("x"),
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "noop", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "done"},
    ]
    client.chat.completions.create(model="tiny", messages=messages, tools=TOOLS)
    prompt = running.service.tokenizer.decode(list(running.engine.adds[-1].prompt_ids), skip_special=False)
    assert "<|im_start|>tool\ndone<|im_end|>" in prompt
    template = (
        "{% for m in messages %}{{ m.content.strip() }}"
        "{% for c in m.tool_calls %}{{ c.function.arguments.city }}{% endfor %}{% endfor %}"
    )
    with Running(tmp_path, template=template, key=None) as other:
        messages[1]["tool_calls"][0]["function"]["arguments"] = '{"city": "Bonn"}'
        other.client.chat.completions.create(model="tiny", messages=messages)
        assert other.service.tokenizer.decode(list(other.engine.adds[-1].prompt_ids)) == "xBonndone"


def test_llamas_calls(tmp_path: Path) -> None:
    with Running(tmp_path, template=tiny.LLAMA, key=None) as other:
        said = 'SAY[<|python_tag|>{"name": "weather", "parameters": {"city": "Bonn"}}]'
        assert streamed(other.client, said) == (
            "",
            [{"name": "weather", "arguments": '{"city": "Bonn"}'}],
            "tool_calls",
        )


def test_a_template_without_tools_refuses_them(tmp_path: Path) -> None:
    with Running(tmp_path, template=tiny.PLAIN, key=None) as other:
        with pytest.raises(openai.BadRequestError) as caught:
            other.client.chat.completions.create(model="tiny", messages=user("x"), tools=TOOLS)
        assert caught.value.param == "tools"
        other.client.chat.completions.create(model="tiny", messages=user("x"), tools=TOOLS, tool_choice="none")
