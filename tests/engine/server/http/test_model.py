"""A server over a model: a small checkpoint whose tokens are transformers' own, and the shipped one, which answers in
English. Everything that OpenAI's client can ask for, through both processes and the real core."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.config.server_args import ServerArgs  # noqa: E402
from engine.server.logprobs import _written  # noqa: E402
from engine.text.tokenizer import Tokenizer  # noqa: E402
from tests.engine import checkpoints, shipped  # noqa: E402
from tests.engine.server import tiny  # noqa: E402
from tests.engine.server.http import process  # noqa: E402
from tests.engine.server.http.process import Server, Spec, server  # noqa: E402
from tests.engine.test_lora import merge, write_adapter  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
KEY = "sk-of-the-tests"
NUM_TOKENS = 24
CLEAR = 1e-3  # a margin of logits that fp32 sums in another order do not turn around
PROMPT = "The quick brown fox"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"enum": ["Ada", "Grace"]}, "age": {"type": "integer", "minimum": 1, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
TOOLS: Any = [{"type": "function", "function": {"name": "register", "parameters": SCHEMA}}]


class Small:
    """expected: transformers' greedy tokens after PROMPT; adapted: with an adapter merged. clear: how many of them are
    no matter of the last digits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "model"
        model = checkpoints.write("llama", self.folder, vocab_size=tiny.VOCAB_SIZE, max_position_embeddings=1024)
        self.texts: Tokenizer = tiny.write(self.folder, template=tiny.HERMES)
        self.prompt = self.texts.encode(PROMPT)
        self.adapter = write_adapter(folder / "poet", model, 3, modules=["q_proj", "v_proj"], r=4, lora_alpha=16)
        self.key_file = folder / "key"
        self.key_file.write_text(KEY + "\n")
        with torch.inference_mode():
            self.weighed = model(torch.tensor([self.prompt])).logits[0].log_softmax(-1)
            self.expected, self.clear = self._greedy(model)
        merge(model, self.adapter)
        with torch.inference_mode():
            self.adapted, self.adapted_clear = self._greedy(model)

    def _greedy(self, model: Any) -> tuple[list[int], int]:
        ids, margins = list(self.prompt), list[float]()
        while len(ids) < len(self.prompt) + NUM_TOKENS:
            top = model(torch.tensor([ids])).logits[0, -1].topk(2)
            margins.append(float(top.values[0] - top.values[1]))
            ids.append(int(top.indices[0]))
        return ids[len(self.prompt) :], next((at for at, each in enumerate(margins) if each < CLEAR), NUM_TOKENS)

    def written(self, tokens: list[int]) -> list[str]:
        return [_written(self.texts.vocabulary, each) for each in tokens]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    return Small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def served(small: Small) -> Iterator[Server]:
    options = "--served-model-name small --dtype float32 --threads 1 --max-total-tokens 8192 --port 0"
    more = ["--enable-lora", "--enable-memory-saver", "--api-key-file", str(small.key_file)]
    with server(["engine", "serve", "--model", str(small.folder), *options.split(), *more]) as made:
        made.wait_ready()
        yield made
        made.signal()
        assert made.ended() == 0, "".join(made.log)


@pytest.fixture(scope="module")
def client(served: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key=KEY, max_retries=0, timeout=60) as made:
        yield made


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


GREEDY: dict[str, Any] = {"temperature": 0, "max_tokens": NUM_TOKENS, "extra_body": {"ignore_eos": True}}


def test_greedy_tokens_are_the_references(small: Small, client: openai.OpenAI) -> None:
    assert small.clear >= 8
    made = client.completions.create(model="small", prompt=PROMPT, logprobs=0, **GREEDY)
    logprobs = made.choices[0].logprobs
    assert logprobs is not None and logprobs.tokens is not None
    assert logprobs.tokens[: small.clear] == small.written(small.expected)[: small.clear]
    assert made.usage is not None and made.usage.completion_tokens == NUM_TOKENS
    streamed = client.completions.create(model="small", prompt=small.prompt, stream=True, **GREEDY)
    assert "".join(each.choices[0].text for each in streamed) == made.choices[0].text
    again = client.completions.create(model="small", prompt=PROMPT, **GREEDY)
    assert again.choices[0].text == made.choices[0].text
    assert again.usage is not None and again.usage.prompt_tokens_details is not None
    assert again.usage.prompt_tokens_details.cached_tokens == 16  # a block of the prefix cache


def test_a_prompt_is_weighed_as_by_the_reference(small: Small, client: openai.OpenAI) -> None:
    made = client.completions.create(model="small", prompt=PROMPT, echo=True, logprobs=2, max_tokens=0)
    logprobs = made.choices[0].logprobs
    assert (
        logprobs is not None and logprobs.token_logprobs is not None and logprobs.tokens == small.written(small.prompt)
    )
    expected = [float(small.weighed[at, token]) for at, token in enumerate(small.prompt[1:])]
    assert logprobs.token_logprobs[1:] == pytest.approx(expected, abs=1e-3)
    top = small.weighed[0].topk(2).indices.tolist()
    assert logprobs.top_logprobs is not None and set(logprobs.top_logprobs[1]) == {
        *small.written([*top, small.prompt[1]])
    }


def test_seeds_reproduce_and_choices_differ(client: openai.OpenAI) -> None:
    options: dict[str, Any] = {**GREEDY, "temperature": 1.5, "seed": 42, "n": 3}
    first, second = (client.completions.create(model="small", prompt=PROMPT, **options) for _ in range(2))
    texts = [each.text for each in first.choices]
    assert texts == [each.text for each in second.choices] and len(set(texts)) == 3
    other = client.completions.create(model="small", prompt=PROMPT, **{**options, "seed": 43})
    assert [each.text for each in other.choices] != texts


def test_biases_and_stops_hold(small: Small, client: openai.OpenAI) -> None:
    biased = client.completions.create(
        model="small",
        prompt=PROMPT,
        logit_bias={str(small.texts.encode("x")[0]): 100},
        **GREEDY,
    )
    assert biased.choices[0].text == "x" * NUM_TOKENS
    stopped = client.completions.create(
        model="small",
        prompt=PROMPT,
        stop="xxx",
        logit_bias={str(small.texts.encode("x")[0]): 100},
        **GREEDY,
    )
    assert (stopped.choices[0].text, stopped.choices[0].finish_reason) == ("", "stop")


@pytest.mark.parametrize("is_stream", [False, True])
def test_answers_keep_to_a_schema(client: openai.OpenAI, is_stream: bool) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
    options: dict[str, Any] = {"response_format": form, "max_tokens": 100, "seed": 5, "temperature": 1.0}
    if is_stream:
        chunks = list(client.chat.completions.create(model="small", messages=user("who?"), stream=True, **options))
        text = "".join(each.choices[0].delta.content or "" for each in chunks)
        assert chunks[-1].choices[0].finish_reason == "stop"
    else:
        made = client.chat.completions.create(model="small", messages=user("who?"), **options)
        text = made.choices[0].message.content or ""
        assert made.choices[0].finish_reason == "stop"
    found = json.loads(text)
    assert set(found) == {"name", "age"} and found["name"] in ("Ada", "Grace") and 1 <= found["age"] <= 99


def test_answers_keep_to_an_expression(client: openai.OpenAI) -> None:
    made = client.completions.create(
        model="small", prompt=PROMPT, max_tokens=50, extra_body={"regex": "(ab|cd){3}!"}, temperature=1.0
    )
    text = made.choices[0].text
    assert len(text) == 7 and text.endswith("!") and {text[at : at + 2] for at in (0, 2, 4)} <= {"ab", "cd"}


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "register"}}])
def test_a_forced_call_is_whole(client: openai.OpenAI, choice: Any) -> None:
    made = client.chat.completions.create(
        model="small",
        messages=user("register Ada"),
        tools=TOOLS,
        tool_choice=choice,
        parallel_tool_calls=False,
        max_tokens=200,
        seed=3,
    )
    assert made.choices[0].finish_reason == "tool_calls" and made.choices[0].message.content is None
    (call,) = made.choices[0].message.tool_calls or []
    assert call.type == "function" and call.function.name == "register"
    assert json.loads(call.function.arguments)["name"] in ("Ada", "Grace")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "object", "properties": {"a": {"type": "nonsense"}}}, "response_format"),
        ({"$ref": "#/nowhere"}, "response_format"),
    ],
)
def test_a_schema_that_is_none_is_refused(client: openai.OpenAI, schema: dict[str, Any], words: str) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="small", messages=user("x"), response_format=form)
    assert caught.value.param == words
    with pytest.raises(openai.BadRequestError) as refused:
        client.completions.create(model="small", prompt="x", extra_body={"regex": "(unclosed"})
    assert refused.value.param == "regex"


def post(served: Server, path: str, **body: Any) -> dict[str, Any]:
    with process.client(served, headers={"authorization": f"Bearer {KEY}"}) as http:
        answer = http.post(path, json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


def tokens(client: openai.OpenAI, model: str) -> list[str]:
    made = client.completions.create(model=model, prompt=PROMPT, logprobs=0, **GREEDY)
    assert made.choices[0].logprobs is not None
    return made.choices[0].logprobs.tokens or []


def test_an_adapter_is_a_model_while_it_is_loaded(small: Small, served: Server, client: openai.OpenAI) -> None:
    before = tokens(client, "small")
    post(served, "/v1/load_lora_adapter", lora_name="poet", lora_path=str(small.adapter))
    assert [each.id for each in client.models.list()] == ["small", "poet"]
    assert small.adapted_clear >= 4 and small.adapted[:4] != small.expected[:4]
    assert tokens(client, "poet")[: small.adapted_clear] == small.written(small.adapted)[: small.adapted_clear]
    assert tokens(client, "small") == before
    post(served, "/v1/unload_lora_adapter", lora_name="poet")
    with pytest.raises(openai.NotFoundError):
        tokens(client, "poet")


def test_after_sleep_and_new_weights_it_says_the_same(small: Small, served: Server, client: openai.OpenAI) -> None:
    before = tokens(client, "small")
    for level in (1, 2):
        post(served, "/sleep", level=level)
        with pytest.raises(openai.InternalServerError) as caught:
            tokens(client, "small")
        assert caught.value.code == "asleep"
        woken = post(served, "/wake_up")
        assert woken == {"is_sleeping": False, "are_weights_lost": level == 2}
        if level == 2:
            with pytest.raises(openai.InternalServerError) as lost:
                tokens(client, "small")
            assert lost.value.code == "weights_lost"
            post(served, "/update_weights", model_path=str(small.folder))
        assert tokens(client, "small") == before


@pytest.mark.slow
def test_the_shipped_model_answers_in_english() -> None:
    args = ServerArgs(model=str(shipped.path("smollm2-135m-instruct")), served_model_name="smollm2")
    with server(Spec(args=args)) as made:
        made.wait_ready()
        with openai.OpenAI(base_url=f"{made.url}/v1", api_key="none", max_retries=0, timeout=60) as client:
            asked = user("What is the capital of France? Answer in one sentence.")
            answer = client.chat.completions.create(model="smollm2", messages=asked, temperature=0, max_tokens=40)
            assert "Paris" in (answer.choices[0].message.content or "")
            chunks = client.chat.completions.create(
                model="smollm2", messages=asked, temperature=0, max_tokens=40, stream=True
            )
            text = "".join(each.choices[0].delta.content or "" for each in chunks)
            assert text == answer.choices[0].message.content
            with pytest.raises(openai.BadRequestError, match="no place for them"):
                client.chat.completions.create(model="smollm2", messages=asked, tools=TOOLS)
        made.signal()
        assert made.ended() == 0
