"""Bodies that nobody would send: never the server's fault, always OpenAI's shape, and the server goes on."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from engine.server.protocol import ChatRequest, CompletionRequest
from tests.engine.server.http.running import Running

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 40),
    st.floats(allow_nan=False),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
ROLES = st.sampled_from(["system", "user", "assistant", "tool", "developer", "boss"])
CALLS = st.lists(
    st.fixed_dictionaries({"function": st.fixed_dictionaries({"name": SCALARS, "arguments": SCALARS | VALUES})}),
    max_size=2,
)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": ROLES}, optional={"content": SCALARS | VALUES, "tool_calls": CALLS, "name": VALUES}),
    max_size=3,
)
NEAR: dict[str, st.SearchStrategy[Any]] = {
    "model": st.just("tiny"),
    "messages": MESSAGES,
    "prompt": st.text(max_size=9) | st.lists(st.integers(-1, 300) | st.text(max_size=3), max_size=4),
    "n": st.integers(0, 4),
    "max_tokens": st.integers(0, 30),
    "stop": st.text(max_size=2) | st.lists(st.text(max_size=2), max_size=3),
    "logprobs": st.booleans() | st.integers(0, 5),
    "logit_bias": st.dictionaries(st.integers(-1, 300).map(str), st.floats(-100, 100), max_size=3),
    "tools": st.lists(
        st.fixed_dictionaries(
            {"type": st.just("function"), "function": st.fixed_dictionaries({"name": st.sampled_from(["f", "g", "?"])})}
        ),
        max_size=2,
    ),
    "tool_choice": st.sampled_from(["none", "auto", "required", "x"]),
    "response_format": st.fixed_dictionaries({"type": st.sampled_from(["text", "json_object", "json_schema"])}),
    "chat_template_kwargs": st.dictionaries(st.text(max_size=5), VALUES, max_size=2),
    "stream_options": st.fixed_dictionaries({}, optional={"include_usage": st.booleans() | SCALARS}),
}


def bodies(kind: type[ChatRequest] | type[CompletionRequest]) -> st.SearchStrategy[Any]:
    fields = {name: NEAR.get(name, SCALARS) | VALUES for name in kind.__struct_fields__}
    needed = {"model": NEAR["model"]}
    first = "messages" if kind is ChatRequest else "prompt"
    needed[first] = NEAR[first]
    few = st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True)
    chosen = few.flatmap(lambda names: st.fixed_dictionaries({**needed, **{name: fields[name] for name in names}}))
    return chosen | VALUES


def check(running: Running, path: str, body: Any) -> None:
    answer = running.http.post(f"/v1/{path}", content=json.dumps(body))
    event(f"status {answer.status_code}")
    assert answer.status_code in (200, 400, 404), (answer.status_code, answer.text, body)
    if answer.status_code == 200:
        assert '"error"' not in answer.text
        return
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"} and error["message"]
    assert error["param"] is None or error["message"].startswith(error["param"])


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(body=bodies(ChatRequest))
def test_chat_is_never_the_servers_fault(running: Running, body: Any) -> None:
    check(running, "chat/completions", body)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(body=bodies(CompletionRequest))
def test_completions_are_never_the_servers_fault(running: Running, body: Any) -> None:
    check(running, "completions", body)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=60), path=st.sampled_from(["chat/completions", "completions"]))
def test_bytes_are_never_the_servers_fault(running: Running, raw: bytes, path: str) -> None:
    answer = running.http.post(f"/v1/{path}", content=raw)
    assert answer.status_code == 400 and answer.json()["error"]["message"]


def test_the_server_still_serves(running: Running) -> None:
    assert (
        running.http.post("/v1/completions", json={"model": "tiny", "prompt": "SAY[yes]"}).json()["choices"][0]["text"]
        == "yes"
    )
    assert running.service.gate.num_answers == running.service.gate.num_streams == running.service.num_open == 0
