"""Completions as OpenAI's own client sees them: prompts of every kind, echoes, log-probabilities of prompts."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.engine.server.http.running import Running


def test_an_answer(client: openai.OpenAI) -> None:
    made = client.completions.create(model="tiny", prompt="SAY[hello]")
    assert (made.choices[0].text, made.choices[0].finish_reason, made.object) == ("hello", "stop", "text_completion")
    assert made.usage is not None and (made.usage.prompt_tokens, made.usage.completion_tokens) == (10, 6)
    assert (
        client.completions.create(model="tiny", prompt="SAY[12345678901234567890]").choices[0].text
        == "1234567890123456"
    )


@pytest.mark.parametrize("is_stream", [False, True])
def test_every_prompt_has_choices_of_its_own(client: openai.OpenAI, is_stream: bool) -> None:
    prompts = ["SAY[a]", "SAY[bb]", "SAY[ccc]"]
    if is_stream:
        texts = ["", "", "", "", "", ""]
        for chunk in client.completions.create(model="tiny", prompt=prompts, n=2, stream=True):
            texts[chunk.choices[0].index] += chunk.choices[0].text
    else:
        made = client.completions.create(model="tiny", prompt=prompts, n=2)
        assert [each.index for each in made.choices] == [0, 1, 2, 3, 4, 5]
        texts = [each.text for each in made.choices]
    assert texts == ["a", "a", "bb", "bb", "ccc", "ccc"]


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_stop_text_waits_for_the_fewest_tokens(client: openai.OpenAI, is_stream: bool) -> None:
    asked: Any = {"model": "tiny", "prompt": "SAY[aXbcXdX]", "stop": ["X"], "extra_body": {"min_tokens": 3}}
    if is_stream:
        text = "".join(each.choices[0].text for each in client.completions.create(**asked, stream=True))
    else:
        text = client.completions.create(**asked).choices[0].text
    assert text == "aXbc"


def test_prompts_may_be_tokens(running: Running, client: openai.OpenAI) -> None:
    tokens = running.service.tokenizer.encode("SAY[x]")
    assert client.completions.create(model="tiny", prompt=tokens).choices[0].text == "x"
    assert [each.text for each in client.completions.create(model="tiny", prompt=[tokens, tokens[:3]]).choices] == [
        "x",
        "ok",
    ]
    assert running.engine.adds[-1].prompt_ids in {tuple(tokens), tuple(tokens[:3])}


def test_a_prompt_that_ends_within_a_character_is_not_sent_again(running: Running, client: openai.OpenAI) -> None:
    # C44: the first delta has new text only; the character that it finishes may be in it.
    by_byte = {running.service.tokenizer.vocabulary.bytes_of(token): token for token in range(256)}
    for raw, said in ((b"HEX[a974] \xc3", "\u00e9t"), (b"SAY[you]", "you")):
        tokens = [by_byte[bytes([each])] for each in raw]
        chunks = list(client.completions.create(model="tiny", prompt=tokens, stream=True))
        assert "".join(each.choices[0].text for each in chunks) == said


@pytest.mark.parametrize("is_stream", [False, True])
def test_an_echo_comes_first(client: openai.OpenAI, is_stream: bool) -> None:
    options: dict[str, Any] = {"model": "tiny", "prompt": "SAY[b] \u00e9", "echo": True, "logprobs": 1}
    if is_stream:
        chunks = [each.choices[0] for each in client.completions.create(**options, stream=True)]
    else:
        chunks = list(client.completions.create(**options).choices)
    assert "".join(each.text for each in chunks) == "SAY[b] \u00e9b"
    parts = [each.logprobs for each in chunks if each.logprobs is not None]
    tokens = [token for each in parts for token in each.tokens or []]
    assert tokens == ["S", "A", "Y", "[", "b", "]", " ", "bytes:\\xc3", "bytes:\\xa9", "b"]
    values = [value for each in parts for value in each.token_logprobs or []]
    assert values == [None, *[-0.5] * 9]  # nothing stands before the first token
    assert [at for each in parts for at in each.text_offset or []] == [0, 1, 2, 3, 4, 5, 6, 7, 7, 8]
    tops = [top for each in parts for top in each.top_logprobs or []]
    assert tops[0] is None and tops[1] == {"A": -0.5}


def test_an_echo_alone_weighs_a_text(client: openai.OpenAI) -> None:
    made = client.completions.create(model="tiny", prompt="SAY[b]", echo=True, logprobs=0, max_tokens=0)
    assert (made.choices[0].text, made.choices[0].finish_reason) == ("SAY[b]", "length")
    assert made.usage is not None and made.usage.completion_tokens == 0
    logprobs = made.choices[0].logprobs
    assert logprobs is not None and logprobs.tokens == [*"SAY[b]"]


def test_log_probabilities_name_the_chosen_token_too(client: openai.OpenAI) -> None:
    made = client.completions.create(model="tiny", prompt="SAY[ab]", logprobs=3)
    logprobs = made.choices[0].logprobs
    assert logprobs is not None
    assert (logprobs.tokens, logprobs.token_logprobs, logprobs.text_offset) == (["a", "b"], [-0.5, -0.5], [0, 1])
    assert logprobs.top_logprobs == [{"a": -0.5, "b": -1.5, "c": -2.5}, {"b": -0.5, "c": -1.5, "d": -2.5}]


def test_usage_of_a_stream(client: openai.OpenAI) -> None:
    chunks = list(
        client.completions.create(
            model="tiny", prompt=["SAY[a]", "b"], stream=True, stream_options={"include_usage": True}
        )
    )
    assert chunks[-1].choices == [] and chunks[-1].usage is not None
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (7, 5)
    assert {each.choices[0].finish_reason for each in chunks[:-1] if each.choices} == {None, "stop"}
