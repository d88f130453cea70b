"""Chat completions as OpenAI's own client sees them: whole and streamed, stops, log-probabilities, several choices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from tests.engine.server import tiny
from tests.engine.server.http.running import Running


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def streamed(client: openai.OpenAI, text: str, **options: Any) -> list[Any]:
    return list(client.chat.completions.create(model="tiny", messages=user(text), stream=True, **options))


def test_an_answer(running: Running, client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="tiny", messages=user("SAY[hello w\u00f6rld \U0001f600]"))
    (choice,) = made.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "hello w\u00f6rld \U0001f600")
    assert (choice.finish_reason, choice.index, choice.logprobs, made.model) == ("stop", 0, None, "tiny")
    assert made.id.startswith("chatcmpl-")
    assert made.usage is not None and made.usage.prompt_tokens_details is not None
    prompt = running.service.tokenizer.encode(
        "<|im_start|>user\nSAY[hello w\u00f6rld \U0001f600]<|im_end|>\n<|im_start|>assistant\n"
    )
    assert list(running.engine.adds[-1].prompt_ids) == prompt
    used = made.usage
    assert (used.prompt_tokens, used.completion_tokens, used.total_tokens) == (len(prompt), 18, len(prompt) + 18)
    assert used.prompt_tokens_details.cached_tokens == 3  # type: ignore[union-attr]
    assert made._request_id == made.id


def test_a_stream_adds_up_to_the_answer(client: openai.OpenAI) -> None:
    chunks = streamed(client, "SAY[h\u00e9llo \U0001f600]")
    deltas = [each.choices[0].delta for each in chunks]
    assert deltas[0].role == "assistant" and all(each.role is None for each in deltas[1:])
    assert [each.content for each in deltas if each.content] == [*"h\u00e9llo \U0001f600"]
    # Null while it runs, and a word with the last one (C46).
    reasons = [each.choices[0].finish_reason for each in chunks]
    assert reasons == [None] * (len(chunks) - 1) + ["stop"]
    assert len({each.id for each in chunks}) == 1 and {each.object for each in chunks} == {"chat.completion.chunk"}


def test_usage_comes_last_where_it_is_asked_for(client: openai.OpenAI) -> None:
    chunks = streamed(client, "SAY[abc]", stream_options={"include_usage": True})
    assert chunks[-1].choices == [] and all(each.usage is None for each in chunks[:-1])
    assert (chunks[-1].usage.completion_tokens, chunks[-1].usage.prompt_tokens) == (4, 27)
    assert all(each.choices for each in streamed(client, "SAY[abc]"))


def test_a_raw_stream_says_null_and_ends_with_done(running: Running) -> None:
    body = {"model": "tiny", "messages": user("SAY[ab]"), "stream": True}
    answer = running.http.post("/v1/chat/completions", json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""] and all(each.startswith("data: ") for each in events[:-1])
    assert sum('"finish_reason":null' in each for each in events) == len(events) - 3
    assert all('"usage"' not in each for each in events)


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("per_step", [1, 3, 50])
@pytest.mark.parametrize(
    ("stop", "content"),
    [("STOP", "a"), (["zzz", "TO"], "aS"), (["O", "OP"], "aST"), ("\n", "aSTOP b"), (["b"], "aSTOP ")],
)
def test_a_stop_text_ends_it_and_the_engine_hears_of_it(
    running: Running, client: openai.OpenAI, stop: Any, content: str, per_step: int, is_stream: bool
) -> None:
    running.engine.per_step = per_step
    try:
        options: dict[str, Any] = {"stop": stop, "max_tokens": 500}
        if is_stream:
            chunks = streamed(client, "SAY[aSTOP b\n] FOREVER", **options)
            said = "".join(each.choices[0].delta.content or "" for each in chunks)
            reason = chunks[-1].choices[0].finish_reason
        else:
            made = client.chat.completions.create(model="tiny", messages=user("SAY[aSTOP b\n] FOREVER"), **options)
            said, reason = made.choices[0].message.content or "", made.choices[0].finish_reason
    finally:
        running.engine.per_step = 1
    assert (said, reason) == (content, "stop")
    assert (running.engine.adds[-1].request_id, 0) in running.engine.aborts
    assert not running.engine.held


def test_an_end_token_in_the_step_of_a_stop_text_does_not_bring_the_text_back(running: Running) -> None:
    # C42: end token and stop text in one step.
    running.engine.per_step = 50
    try:
        for text, stop, content in (("aSTOP", "STOP", "a"), ("a", "STOP", "a"), ("xByA", ["A", "B"], "x")):
            made = running.client.chat.completions.create(model="tiny", messages=user(f"SAY[{text}]"), stop=stop)
            assert (made.choices[0].message.content, made.choices[0].finish_reason) == (content, "stop")
    finally:
        running.engine.per_step = 1
    kept = {"include_stop_str_in_output": True}
    made = running.client.chat.completions.create(
        model="tiny", messages=user("SAY[aSTOPb]"), stop="STOP", extra_body=kept
    )
    assert made.choices[0].message.content == "aSTOP"


def test_a_length_ends_it(client: openai.OpenAI) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        made = client.chat.completions.create(model="tiny", messages=user("SAY[abcdef]"), **{name: 3})  # type: ignore[call-overload]
        assert (made.choices[0].message.content, made.choices[0].finish_reason) == ("abc", "length")
        assert made.usage.completion_tokens == 3
    # Half a character at the end is shown as what it is, once nothing can complete it.
    made = client.chat.completions.create(model="tiny", messages=user("SAY[a\u00e9]"), max_tokens=2)
    assert made.choices[0].message.content == "a\ufffd"


def test_choices_are_told_apart(running: Running, client: openai.OpenAI) -> None:
    made = client.chat.completions.create(model="tiny", messages=user("SAY[abc]"), n=3)
    assert [(each.index, each.message.content) for each in made.choices] == [(0, "abc"), (1, "abc"), (2, "abc")]
    assert made.usage is not None and (made.usage.prompt_tokens, made.usage.completion_tokens) == (27, 12)
    chunks = streamed(client, "SAY[abc]", n=3)
    for index in range(3):
        mine = [each.choices[0] for each in chunks if each.choices[0].index == index]
        assert "".join(each.delta.content or "" for each in mine) == "abc"
        assert mine[0].delta.role == "assistant" and mine[-1].finish_reason == "stop"
    assert running.engine.adds[-1].params.n == 3


def test_log_probabilities_are_of_the_tokens_that_are_sent(client: openai.OpenAI) -> None:
    made = client.chat.completions.create(
        model="tiny", messages=user("SAY[a\u00e9STOPx]"), logprobs=True, top_logprobs=2, stop="STOP"
    )
    logprobs = made.choices[0].logprobs
    assert logprobs is not None and logprobs.content is not None
    assert [(each.token, each.bytes) for each in logprobs.content] == [
        ("a", [97]),
        ("\ufffd", [0xC3]),
        ("\ufffd", [0xA9]),
    ]
    assert logprobs.content[0].logprob == -0.5
    assert [(each.token, each.logprob) for each in logprobs.content[0].top_logprobs] == [("a", -0.5), ("b", -1.5)]
    chunks = streamed(client, "SAY[a\u00e9STOx]", logprobs=True, stop="STOP")
    got = [(each.choices[0].delta.content, each.choices[0].logprobs) for each in chunks if each.choices[0].logprobs]
    # A token comes with its text: those of a text that is held back come when it is given out.
    assert ["".join(bytes(one.bytes or []).decode("latin-1") for one in each.content or []) for _, each in got] == [
        "a",
        "\xc3\xa9",
        "STOx",
    ]
    assert [content for content, _ in got] == ["a", "\u00e9", "STOx"]
    assert all(not one.top_logprobs for _, each in got for one in each.content or [])


def test_log_probabilities_of_some_choices_stay_theirs(client: openai.OpenAI) -> None:
    # C47: several sequences, each with its own.
    made = client.chat.completions.create(model="tiny", messages=user("SAY[abc]"), n=2, logprobs=True)
    for each in made.choices:
        assert each.logprobs is not None and each.logprobs.content is not None
        assert [one.token for one in each.logprobs.content] == ["a", "b", "c"]
    without = client.chat.completions.create(model="tiny", messages=user("SAY[abc]"), n=2)
    assert all(each.logprobs is None for each in without.choices)


def test_how_tokens_are_chosen_reaches_the_engine(running: Running, client: openai.OpenAI) -> None:
    client.chat.completions.create(
        model="tiny",
        messages=user("x"),
        temperature=0.25,
        top_p=0.5,
        seed=-3,
        presence_penalty=0.1,
        frequency_penalty=-0.2,
        logit_bias={"7": -100, "8": 1.5},  # type: ignore[dict-item]
        max_completion_tokens=9,
        user="u",
        extra_body={"top_k": 4, "min_p": 0.01, "repetition_penalty": 1.1, "min_tokens": 2, "stop_token_ids": [9]},
    )
    made = running.engine.adds[-1].params
    assert (made.temperature, made.top_p, made.seed, made.presence_penalty, made.frequency_penalty) == (
        0.25,
        0.5,
        -3,
        0.1,
        -0.2,
    )
    assert made.logit_bias == {7: -100.0, 8: 1.5} and made.max_tokens == 9
    assert (made.top_k, made.min_p, made.repetition_penalty, made.min_tokens, made.stop_token_ids) == (
        4,
        0.01,
        1.1,
        2,
        (9,),
    )
    client.chat.completions.create(model="tiny", messages=user("x"))
    assert running.engine.adds[-1].params.max_tokens is None


def test_forms_of_answers_become_schemas(running: Running, client: openai.OpenAI) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    for form, sent in (
        ({"type": "text"}, None),
        ({"type": "json_object"}, '{"type":"object"}'),
        (
            {"type": "json_schema", "json_schema": {"name": "x", "strict": True, "schema": schema}},
            '{"type":"object","properties":{"a":{"type":"integer"}}}',
        ),
    ):
        client.chat.completions.create(model="tiny", messages=user("x"), response_format=form)  # type: ignore[call-overload]
        assert running.engine.adds[-1].params.json_schema == sent
    client.chat.completions.create(model="tiny", messages=user("x"), extra_body={"regex": "[ab]+"})
    assert running.engine.adds[-1].params.regex == "[ab]+"


def test_control_tokens_are_shown_only_where_that_is_asked_for(client: openai.OpenAI) -> None:
    for options, content in (({}, "ab"), ({"skip_special_tokens": False}, "a<|im_start|>b")):
        made = client.chat.completions.create(model="tiny", messages=user("SAY[a<|im_start|>b]"), extra_body=options)
        assert made.choices[0].message.content == content


def test_what_templates_take_may_be_given(tmp_path: Path) -> None:
    template = "{{ style }}" + tiny.PLAIN
    with Running(tmp_path, template=template, key=None) as other:
        body = {"model": "tiny", "messages": user("x"), "chat_template_kwargs": {"style": "brief"}}
        assert other.http.post("/v1/chat/completions", json=body).status_code == 200
        assert other.service.tokenizer.decode(list(other.engine.adds[-1].prompt_ids)).startswith("brief")


def test_without_a_template_there_is_no_chat(tmp_path: Path) -> None:
    with Running(tmp_path, template=None, key=None) as other:
        with pytest.raises(openai.BadRequestError) as caught:
            other.client.chat.completions.create(model="tiny", messages=user("x"))
        assert caught.value.param == "messages"
        assert other.client.completions.create(model="tiny", prompt="SAY[x]").choices[0].text == "x"
