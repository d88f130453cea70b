"""Every field that is wrong is a 4xx that names it, in OpenAI's shape; nothing of it reaches the engine."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from engine.config.server_args import ServerArgs
from engine.schema.errors import BadConfig
from engine.server import limits
from engine.server.limits import Limits
from tests.engine.server.http.running import Running

CHAT: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}]}
TEXT: dict[str, Any] = {"model": "tiny", "prompt": "hi"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
DEEP: Any = 1
for _ in range(30):
    DEEP = [DEEP]


def message(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "x", **fields}]}


COMMON: list[tuple[dict[str, Any], str]] = [
    ({"model": 3}, "model"),
    ({"model": None}, "model"),
    ({"temperature": "hot"}, "temperature"),
    ({"temperature": -1}, "temperature"),
    ({"temperature": True}, "temperature"),
    ({"temperature": 101}, "temperature"),
    ({"top_p": 0}, "top_p"),
    ({"top_p": 1.5}, "top_p"),
    ({"top_p": []}, "top_p"),
    ({"top_k": -2}, "top_k"),
    ({"top_k": 1.5}, "top_k"),
    ({"min_p": -0.1}, "min_p"),
    ({"n": 0}, "n"),
    ({"n": 129}, "n"),
    ({"n": "2"}, "n"),
    ({"n": 2**80}, "n"),
    ({"max_tokens": -1}, "max_tokens"),
    ({"max_tokens": 1.5}, "max_tokens"),
    ({"max_tokens": 5000}, "max_tokens"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"min_tokens": -1}, "min_tokens"),
    ({"min_tokens": 9, "max_tokens": 3}, "min_tokens"),
    ({"seed": "x"}, "seed"),
    ({"seed": 2**64}, "seed"),
    ({"presence_penalty": 2.5}, "presence_penalty"),
    ({"frequency_penalty": -2.5}, "frequency_penalty"),
    ({"frequency_penalty": {}}, "frequency_penalty"),
    ({"repetition_penalty": 0}, "repetition_penalty"),
    ({"logit_bias": []}, "logit_bias"),
    ({"logit_bias": {"x": 1}}, "logit_bias"),
    ({"logit_bias": {"-1": 1}}, "logit_bias"),
    ({"logit_bias": {"999999": 1}}, "logit_bias"),
    ({"logit_bias": {"99999999999": 1}}, "logit_bias"),
    ({"logit_bias": {"5": "x"}}, "logit_bias[5]"),
    ({"logit_bias": {"5": 101}}, "logit_bias[5]"),
    ({"stop": 3}, "stop"),
    ({"stop": [3]}, "stop[0]"),
    ({"stop": ""}, "stop"),
    ({"stop": ["a", ""]}, "stop"),
    ({"stop": ["a"] * 17}, "stop"),
    ({"stop_token_ids": [-1]}, "stop_token_ids"),
    ({"stop_token_ids": ["1"]}, "stop_token_ids[0]"),
    ({"stop_token_ids": [10**9]}, "stop_token_ids"),
    ({"stream": "yes"}, "stream"),
    ({"stream_options": {"include_usage": True}}, "stream_options"),
    ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ({"stream": True, "stream_options": {"nope": 1}}, "stream_options.nope"),
    ({"stream": True, "stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
    ({"user": 1}, "user"),
    ({"ignore_eos": 0}, "ignore_eos"),
    ({"skip_special_tokens": 1}, "skip_special_tokens"),
    ({"include_stop_str_in_output": 1}, "include_stop_str_in_output"),
    ({"regex": 1}, "regex"),
    ({"no_such_field": 1}, "no_such_field"),
    ({"": 1}, ""),
    ({"a.b`c": 1}, "a.b`c"),
]
CHAT_ONLY: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, "messages"),
    ({"messages": "hi"}, "messages"),
    ({"messages": None}, "messages"),
    ({"messages": ["hi"]}, "messages[0]"),
    ({"messages": [DEEP]}, "messages[0]"),
    ({"messages": [{}]}, "messages[0].role"),
    (message(role="boss"), "messages[0].role"),
    (message(role=["user"]), "messages[0].role"),
    (message(content=3), "messages[0].content"),
    (message(content=None), "messages[0].content"),
    (message(content=[{"type": "text"}]), "messages[0].content[0]"),
    (message(content=[{"type": "image_url", "image_url": {"url": "x"}}]), "messages[0].content[0]"),
    (message(tool_calls=[]), "messages[0].tool_calls"),
    (message(role="assistant", tool_calls=3), "messages[0].tool_calls"),
    (message(role="assistant", tool_calls=[3]), "messages[0].tool_calls[0].function"),
    # C40: arguments of calls in a history that are no object.
    *(
        (
            message(role="assistant", tool_calls=[{"id": "1", "function": {"name": "f", "arguments": arguments}}]),
            "messages[0].tool_calls[0].function.arguments",
        )
        for arguments in ("{x", "[1]", '"s"', [1], 3, None)
    ),
    ({"max_completion_tokens": "x"}, "max_completion_tokens"),
    ({"max_completion_tokens": 0}, "max_completion_tokens"),
    ({"max_completion_tokens": 5000}, "max_completion_tokens"),
    ({"max_completion_tokens": 5, "max_tokens": 6}, "max_tokens"),
    ({"logprobs": 3}, "logprobs"),
    ({"top_logprobs": 3}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
    ({"logprobs": True, "top_logprobs": -1}, "top_logprobs"),
    ({"response_format": "json"}, "response_format"),
    ({"response_format": {}}, "response_format.type"),
    ({"response_format": {"type": "xml"}}, "response_format.type"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, "response_format.json_schema.name"),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": []}}},
        "response_format.json_schema.schema",
    ),
    ({"response_format": {"type": "json_object"}, "regex": "a"}, "regex"),
    ({"response_format": {"type": "json_object"}, "tools": [TOOL]}, "response_format"),
    ({"tools": [TOOL], "tool_choice": "required", "regex": "a"}, "regex"),
    ({"tools": []}, "tools"),
    ({"tools": {}}, "tools"),
    ({"tools": [3]}, "tools[0]"),
    ({"tools": [{"type": "magic"}]}, "tools[0].type"),
    ({"tools": [{"type": "function"}]}, "tools[0].function"),
    ({"tools": [{"type": "function", "function": {"name": "f g"}}]}, "tools[0].function.name"),
    ({"tools": [{"type": "function", "function": {"name": "f", "parameters": 3}}]}, "tools[0].function.parameters"),
    ({"tools": [TOOL, TOOL]}, "tools[1].function.name"),
    ({"tools": [TOOL] * 129}, "tools"),
    ({"tool_choice": "auto"}, "tool_choice"),
    ({"tools": [TOOL], "tool_choice": "perhaps"}, "tool_choice"),
    ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {}}}, "tool_choice.function.name"),
    ({"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice.function.name"),
    ({"parallel_tool_calls": "x"}, "parallel_tool_calls"),
    ({"functions": [{"name": "f"}]}, "functions"),
    ({"function_call": "auto"}, "function_call"),
    ({"audio": {"voice": "x"}}, "audio"),
    ({"modalities": ["text", "audio"]}, "modalities"),
    ({"store": True}, "store"),
    ({"store": 0}, "store"),
    ({"reasoning_effort": "high"}, "reasoning_effort"),
    ({"verbosity": "low"}, "verbosity"),
    ({"web_search_options": {}}, "web_search_options"),
    ({"metadata": []}, "metadata"),
    ({"chat_template_kwargs": []}, "chat_template_kwargs"),
    ({"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs.messages"),
    ({"prompt": "x"}, "prompt"),
]
TEXT_ONLY: list[tuple[dict[str, Any], str]] = [
    ({"prompt": None}, "prompt"),
    ({"prompt": 3}, "prompt"),
    ({"prompt": ""}, "prompt"),
    ({"prompt": []}, "prompt"),
    ({"prompt": [""]}, "prompt"),
    ({"prompt": ["a", ""]}, "prompt[1]"),
    ({"prompt": [[]]}, "prompt"),
    ({"prompt": ["a", 3]}, "prompt[1]"),
    ({"prompt": [3, "a"]}, "prompt[1]"),
    ({"prompt": [True]}, "prompt[0]"),
    ({"prompt": [{}]}, "prompt[0]"),
    ({"prompt": [-1]}, "prompt[0]"),
    ({"prompt": [1, 10**9]}, "prompt[1]"),
    ({"prompt": [[1], [1.5]]}, "prompt[1][0]"),
    ({"prompt": ["x"] * 129}, "prompt"),
    ({"prompt": "x" * 4096}, "prompt"),
    ({"prompt": "x" * 4090, "max_tokens": 16}, "max_tokens"),
    ({"best_of": 3}, "best_of"),
    ({"best_of": "x"}, "best_of"),
    ({"echo": "x"}, "echo"),
    ({"logprobs": True}, "logprobs"),
    ({"logprobs": 21}, "logprobs"),
    ({"suffix": "end"}, "suffix"),
    ({"suffix": 3}, "suffix"),
    ({"messages": []}, "messages"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
]


@pytest.mark.parametrize(
    ("path", "base", "change", "param"),
    [
        *(("chat/completions", CHAT, change, param) for change, param in (*COMMON, *CHAT_ONLY)),
        *(("completions", TEXT, change, param) for change, param in (*COMMON, *TEXT_ONLY)),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else None,
)
def test_a_wrong_field_is_named(
    running: Running, path: str, base: dict[str, Any], change: dict[str, Any], param: str
) -> None:
    before = len(running.engine.adds)
    for is_stream in (False, True):
        body = {**base, **({"stream": True} if is_stream else {}), **change}
        answer = running.http.post(f"/v1/{path}", json=body)
        if is_stream and "stream_options" in change and "stream" not in change:
            continue  # belongs to a stream, and there is one now
        assert answer.status_code == 400, answer.text
        error = answer.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert (error["param"], error["type"]) == (param, "invalid_request_error")
        assert error["message"].startswith(f"{param}: ") and error["code"]
    accepted = 1 if change == {"stream_options": {"include_usage": True}} else 0
    assert len(running.engine.adds) == before + accepted


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"[]", "invalid_type"),
        (b"3", "invalid_type"),
        (b'{"model": "tiny", "model": }', "invalid_json"),
        (b'{"model": "\xff"}', "invalid_json"),
        (b'{"model": "\\ud800"}', "invalid_json"),
        (b'{"model": NaN}', "invalid_json"),
        (b'{"model":"tiny","metadata":{"a":' + b"[" * 50_000, "invalid_json"),
        (b'{"model":"tiny","prompt":' + b"[" * 50_000, "invalid_json"),
    ],
)
def test_a_body_that_is_no_request(running: Running, raw: bytes, code: str) -> None:
    for path in ("completions",) if b"prompt" in raw else ("chat/completions",):
        answer = running.http.post(f"/v1/{path}", content=raw)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (400, code, None), answer.text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_no_json(running: Running, value: float) -> None:
    # C52: what is not finite passes no comparison.
    raw = f'{{"model": "tiny", "prompt": "x", "temperature": {value}}}'.replace("inf", "Infinity").replace("nan", "NaN")
    assert running.http.post("/v1/completions", content=raw).status_code == 400
    huge = '{"model": "tiny", "prompt": "x", "temperature": 1e999}'
    assert running.http.post("/v1/completions", content=huge).status_code == 400


@pytest.mark.parametrize("field", ["model", "messages"])
def test_a_field_that_is_missing(running: Running, field: str) -> None:
    body = {name: value for name, value in CHAT.items() if name != field}
    error = running.http.post("/v1/chat/completions", json=body).json()["error"]
    assert (error["param"], error["code"]) == (field, "missing_required_parameter")


@pytest.mark.parametrize(
    "change",
    [
        {"user": "u", "metadata": {"a": "b"}, "service_tier": "auto", "safety_identifier": "s", "store": False},
        {"prompt_cache_key": "k", "prompt_cache_retention": "24h", "prediction": {"type": "content", "content": "x"}},
        {"modalities": ["text"], "parallel_tool_calls": True, "audio": None, "functions": [], "tool_choice": "none"},
        dict.fromkeys(("temperature", "n", "stop", "seed", "tools", "stream", "max_tokens", "logit_bias")),
        {"tools": [TOOL], "tool_choice": "none", "response_format": {"type": "json_object"}},
        {"temperature": 0, "top_p": 1, "presence_penalty": 0},
    ],
)
def test_fields_without_an_effect_are_taken(running: Running, change: dict[str, Any]) -> None:
    assert running.http.post("/v1/chat/completions", json={**CHAT, **change}).status_code == 200


def test_what_the_engine_refuses_is_named_as_the_client_wrote_it(running: Running) -> None:
    schema = {"response_format": {"type": "json_object"}, **message(content="REFUSE")}
    tool = {"tools": [TOOL], "tool_choice": "required", **message(content="REFUSE")}
    for change, param in ((schema, "response_format"), (tool, "tools")):
        for is_stream in (False, True):
            answer = running.http.post("/v1/chat/completions", json={**CHAT, **change, "stream": is_stream})
            error = answer.json()["error"]
            assert (answer.status_code, error["param"]) == (400, param)
            assert error["message"] == f"{param}: has no such keyword; leave it out"


def test_a_model_that_is_not_served(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.completions.create(model="other", prompt="x")
    assert (caught.value.param, caught.value.code) == ("model", "model_not_found")
    assert "there is tiny" in caught.value.message


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "unknown_url"),
        ("GET", "/v1", 404, "unknown_url"),
        ("POST", "/v1/chat/completions/", 404, "unknown_url"),
        ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
        ("DELETE", "/health", 405, "method_not_allowed"),
        ("GET", "/v1/models/other", 404, "model_not_found"),
    ],
)
def test_a_path_that_is_none(running: Running, method: str, path: str, status: int, code: str) -> None:
    answer = running.http.request(method, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_errors_of_no_known_kind_are_the_servers(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    answer = running.http.post("/v1/completions", json={**TEXT, "prompt": "ODD"})
    assert answer.status_code == 500
    assert answer.json()["error"] == {
        "message": "the server failed; its log says why",
        "type": "server_error",
        "param": None,
        "code": "internal-error",
    }
    assert "ZeroDivisionError" in caplog.text and "odd" not in answer.text


def test_limits_are_kept(tmp_path: Path) -> None:
    bounds = {"max_body_bytes": 2000, "max_prompt_tokens": 50, "max_queue": 1, "max_streams": 1}
    with Running(tmp_path, key=None, limits=bounds, args={"max_running_requests": 2}) as small:
        long = small.http.post("/v1/completions", content=b" " * 2001)
        assert (long.status_code, long.json()["error"]["code"]) == (413, "body_too_long")
        chunked = small.http.post("/v1/completions", content=iter([b" " * 1500, b" " * 1500]))
        assert (chunked.status_code, chunked.json()["error"]["code"]) == (413, "body_too_long")
        wide = small.http.post("/v1/completions", json={**TEXT, "prompt": "x" * 51})
        assert (wide.status_code, wide.json()["error"]["code"]) == (400, "context_length_exceeded")
        many = small.http.post("/v1/completions", json={**TEXT, "n": 4})
        assert (many.status_code, many.json()["error"]["param"]) == (400, "n")
        small.engine.step_s = 0.01
        endless = {**TEXT, "prompt": "FOREVER", "max_tokens": 2000, "stream": True}
        with small.http.stream("POST", "/v1/completions", json=endless) as first:
            events = first.iter_lines()  # kept: where it is dropped, the stream is closed
            next(events)
            second = small.http.post("/v1/completions", json=endless)
            assert (second.status_code, second.json()["error"]["code"]) == (429, "too_many_streams")
            assert second.json()["error"]["type"] == "rate_limit_error" and second.headers["retry-after"] == "1"
            full = small.http.post("/v1/completions", json={**TEXT, "n": 3})
            assert (full.status_code, full.json()["error"]["code"]) == (429, "queue_full")
            with pytest.raises(openai.RateLimitError):
                small.client.completions.create(model="tiny", prompt="x", n=3)
            assert small.http.post("/v1/completions", json={**TEXT, "n": 2}).status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    def slow() -> Iterator[bytes]:
        yield b"{"
        time.sleep(1.0)
        yield b"}"

    with Running(tmp_path, key=None, limits={"read_s": 0.2}) as small:
        answer = small.http.post("/v1/completions", content=slow())
        assert (answer.status_code, answer.json()["error"]["code"]) == (408, "body_timeout")


@pytest.mark.parametrize("is_stream", [False, True])
def test_an_answer_has_its_time(tmp_path: Path, is_stream: bool) -> None:
    with Running(tmp_path, key=None, limits={"request_s": 0.3}, step_s=0.01) as small:
        body = {**TEXT, "prompt": "FOREVER", "max_tokens": 2000, "stream": is_stream}
        answer = small.http.post("/v1/completions", json=body)
        if is_stream:
            assert answer.status_code == 200 and '"code":"request_timeout"' in answer.text
            assert answer.text.endswith("data: [DONE]\n\n")
        else:
            assert (answer.status_code, answer.json()["error"]["code"]) == (504, "request_timeout")
        assert len(small.engine.aborts) == 1


@pytest.mark.parametrize("is_stream", [False, True])
def test_an_engine_that_gives_up_is_no_answer(running: Running, is_stream: bool) -> None:
    answer = running.http.post("/v1/completions", json={**TEXT, "prompt": "GIVE UP", "stream": is_stream})
    if is_stream:
        assert (
            answer.status_code == 200 and '"code":"aborted"' in answer.text and '"finish_reason":"' not in answer.text
        )
    else:
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "aborted")


@pytest.mark.parametrize(
    "wrong",
    [
        *({name: 0} for name in ("max_body_bytes", "max_prompts", "max_streams", "read_s", "request_s", "health_s")),
        *({"max_queue": -1}, {"drain_s": -1}, {"max_prompt_tokens": 0}),
    ],
)
def test_limits_that_leave_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadConfig, match=next(iter(wrong))):
        limits.check(Limits(**wrong))
    assert limits.check(Limits()) == Limits() and ServerArgs().max_running_requests > 0
