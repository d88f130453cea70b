"""LLM and the command line on the model that is shipped: SmolLM2-135M-Instruct, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine import LLM, SamplingParams
from engine.cli.app import main
from engine.schema.output import FinishReason
from tests.engine import agreement, shipped

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
ROOT = Path(__file__).resolve().parents[3]
QUESTION = [{"role": "user", "content": "What is the capital of France? Answer in one short sentence."}]


@pytest.fixture(scope="module")
def model() -> str:
    return str(shipped.path("smollm2-135m-instruct"))


@pytest.fixture(scope="module")
def llm(model: str) -> Iterator[LLM]:
    with LLM(model, threads=1, max_total_tokens=4096, dtype="bfloat16") as each:
        yield each


def greedy(**params: Any) -> SamplingParams:
    return SamplingParams(**{"temperature": 0.0, "max_tokens": 24, **params})


def test_greedy_tokens_are_those_of_transformers(model: str) -> None:
    prompts = [
        "The capital of France is",
        "def fibonacci(n):",
        "Once upon a time, in a small village by the sea,",
        "Water boils at",
        "1, 1, 2, 3, 5, 8,",
        "The three laws of motion were written by",
    ]
    found = agreement.measure(model, prompts, 20, threads=1, chunked_prefill_size=8)
    assert found.num_tokens == 20 * len(prompts) and found.num_wrong == 0 and found.off < 1e-3
    assert found.num_best > 0.95 * found.num_tokens


@pytest.mark.slow
@pytest.mark.skipif("UNMOVED_TEST_LONG" not in os.environ, reason="minutes: UNMOVED_TEST_LONG=1 runs it")
def test_long_answers_are_those_of_transformers(model: str) -> None:
    found = agreement.measure(model, agreement.PROMPTS, agreement.NUM_TOKENS, threads=1)
    assert found.num_tokens == 50 * 256 and found.num_wrong == 0 and found.off < 1e-2
    assert found.num_best > 0.995 * found.num_tokens


def test_it_answers_in_english(llm: LLM) -> None:
    [result] = llm.chat(QUESTION, greedy())
    assert "Paris" in result.text and result.finish_reason is FinishReason.STOP
    assert result.text == result.text.strip() and "<|" not in result.text


def test_a_stop_text_ends_it_across_tokens_and_is_not_shown(llm: LLM) -> None:
    [whole] = llm.chat(QUESTION, greedy())
    stop = whole.text[5:12]  # begins and ends inside of words
    [cut] = llm.chat(QUESTION, greedy(stop=(stop,)))
    assert (cut.text, cut.finish_reason, cut.outputs[0].stop) == (whole.text[:5], FinishReason.STOP, stop)
    [kept] = llm.chat(QUESTION, greedy(stop=(stop, "never"), is_stop_kept=True))
    assert kept.text == whole.text[:12]
    assert len(cut.token_ids) < len(whole.token_ids)
    pieces = list(llm.stream(llm.chat_prompt(QUESTION), greedy(stop=(stop,))))
    assert "".join(each.text for each in pieces) == cut.text
    assert [each.finish_reason for each in pieces if each.finish_reason] == [FinishReason.STOP]
    assert llm.stats().num_running == 0


def test_a_stop_text_waits_for_the_fewest_tokens(llm: LLM) -> None:
    [whole] = llm.chat(QUESTION, greedy(max_tokens=6))
    assert whole.finish_reason is FinishReason.LENGTH  # no end of its own, which min_tokens would put off
    first, last = whole.text[:3], whole.text[-3:]
    [cut] = llm.chat(QUESTION, greedy(max_tokens=6, stop=(first, last), min_tokens=3))
    assert cut.text == whole.text[:-3] and cut.outputs[0].stop == last
    [free] = llm.chat(QUESTION, greedy(max_tokens=6, stop=(first, last), min_tokens=6))
    assert (free.text, free.finish_reason) == (whole.text, FinishReason.LENGTH)


def test_what_streams_is_whole_characters(llm: LLM) -> None:
    params = greedy(max_tokens=40, regex="[\U0001f600-\U0001f64f]{4}")  # each is several tokens
    pieces = [each.text for each in llm.stream("Smileys:", params)]
    text = "".join(pieces)
    assert len(text) == 4 and all("\U0001f600" <= each <= "\U0001f64f" for each in text)
    assert len(pieces) > 8 and {len(each) for each in pieces} == {0, 1}


def test_an_answer_keeps_to_its_schema(llm: LLM) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}, "is_capital": {"type": "boolean"}},
        "required": ["city", "is_capital"],
        "additionalProperties": False,
    }
    params = greedy(json_schema=json.dumps(schema), max_tokens=80, n=2)
    [result] = llm.chat(QUESTION, params)
    for each in result.outputs:
        assert each.finish_reason is FinishReason.STOP
        assert isinstance(json.loads(each.text)["is_capital"], bool)
    [number] = llm.generate("One, two, three, four:", greedy(regex=r"[0-9]{3}-[a-f]{2}"))
    assert len(number.text) == 6 and number.text[3] == "-"


def test_a_token_that_ends_it_is_no_part_of_the_text(llm: LLM) -> None:
    [whole] = llm.chat(QUESTION, greedy())
    token = whole.token_ids[3]
    [cut] = llm.chat(QUESTION, greedy(stop_token_ids=(token,)))
    assert cut.outputs[0].stop == token and cut.token_ids == whole.token_ids[:4]
    assert whole.text.startswith(cut.text) and len(cut.text) < len(whole.text)


def test_log_probabilities_have_texts(llm: LLM) -> None:
    [result] = llm.chat(QUESTION, greedy(logprobs=2, max_tokens=4, prompt_logprobs=0))
    assert "".join(each.chosen.text for each in result.logprobs) == result.text
    assert len(result.prompt_logprobs) == len(result.prompt_token_ids) - 1
    assert all(each.top[0].logprob >= each.chosen.logprob for each in result.logprobs)


def test_generate_on_the_command_line(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.core.llm.LLM.close", lambda _: None)  # of this process's only runner
    options = ["--model", model, "--threads", "1", "--max-total-tokens", "2048", "--max-tokens", "16"]
    question = QUESTION[0]["content"]
    assert main(["generate", question, "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "Paris" in found["outputs"][0]["text"]


def test_a_conversation_from_a_pipe(model: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "engine", "chat", "--model", model, "--threads", "1", "--max-tokens", "16"]
    lines = "My name is Ada. Say hello.\n/reset\n\nWhat is the capital of France?\n/exit\nnever read\n"
    done = subprocess.run(
        [*command, "--temperature", "0", "--max-total-tokens", "2048"],
        input=lines,
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first and "Paris" in second
