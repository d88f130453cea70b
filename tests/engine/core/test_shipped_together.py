"""Grammars, drafts and stop texts in one answer, on the model that is shipped: drafts change no token, whoever guesses
them, and what a grammar forbids is never shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("llguidance")

from engine import LLM, SamplingParams
from engine.core.llm import Result
from engine.schema.output import FinishReason
from tests.engine import shipped

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}, "is_capital": {"type": "boolean"}},
    "required": ["city", "is_capital"],
    "additionalProperties": False,
}
SCHEMA = json.dumps({"type": "array", "items": CITY, "minItems": 3, "maxItems": 3})
WRITTEN = '[{"city": "Rome", "is_capital": true}, {"city": "Bonn", "is_capital": false}]'
QUESTION = f"Write three cities as JSON, as in {WRITTEN}"
CASES = {
    "schema": SamplingParams(temperature=0, max_tokens=90, json_schema=SCHEMA),
    "schema drawn": SamplingParams(temperature=0.9, seed=3, max_tokens=90, json_schema=SCHEMA),
    "schema cut": SamplingParams(temperature=0, max_tokens=90, json_schema=SCHEMA, stop=('l": ', "}, {")),
    "regex cut": SamplingParams(temperature=0, max_tokens=60, regex=r"([a-z]{2,9}, ){6}end", stop=(", e", "ever")),
    "stop kept": SamplingParams(
        temperature=0, max_tokens=60, json_schema=SCHEMA, stop=("true", "false"), is_stop_kept=True
    ),
    "several": SamplingParams(temperature=0.7, seed=8, n=3, max_tokens=60, json_schema=SCHEMA, stop=("}",)),
    "free": SamplingParams(temperature=0, max_tokens=40, stop=("\n\n\n",), logprobs=1),
}


def answers(llm: LLM) -> dict[str, Result]:
    prompt = llm.chat_prompt([{"role": "user", "content": QUESTION}])
    return dict(zip(CASES, llm.generate([prompt] * len(CASES), list(CASES.values())), strict=True))


def start(**options: Any) -> LLM:
    model = str(shipped.path("smollm2-135m-instruct"))
    # In fp32, where a row has the same bits whatever is computed beside it.
    return LLM(model, threads=1, max_total_tokens=4096, dtype="float32", **options)


@pytest.fixture(scope="module")
def plain() -> Iterator[dict[str, Result]]:
    with start() as llm:
        yield answers(llm)


def test_each_keeps_to_what_was_asked(plain: dict[str, Result]) -> None:
    for name in ("schema", "schema drawn"):
        assert plain[name].finish_reason is FinishReason.STOP
        assert [list(each) for each in json.loads(plain[name].text)] == [["city", "is_capital"]] * 3
    cut = plain["schema cut"]
    assert cut.outputs[0].stop in ('l": ', "}, {") and plain["schema"].text.startswith(cut.text)
    assert 'l": ' not in cut.text and "}, {" not in cut.text
    assert re.fullmatch(r"[a-z, ]+", plain["regex cut"].text) and plain["regex cut"].outputs[0].stop in (", e", "ever")
    assert plain["stop kept"].text.endswith(("true", "false"))
    assert [each.text.count("{") for each in plain["several"].outputs] == [1, 1, 1]


@pytest.mark.parametrize("guesser", ["ngram", "draft"])
def test_drafts_change_nothing(plain: dict[str, Result], guesser: str) -> None:
    options: dict[str, Any] = {"speculative_algorithm": guesser}
    if guesser == "draft":
        options["speculative_draft_model"] = str(shipped.path("smollm2-135m-instruct"))
    with start(**options) as llm:
        found, stats = answers(llm), llm.stats()
    for name, expected in plain.items():
        for one, other in zip(found[name].outputs, expected.outputs, strict=True):
            assert (one.text, one.token_ids, one.finish_reason, one.stop) == (
                other.text,
                other.token_ids,
                other.finish_reason,
                other.stop,
            ), name
    assert 0 < stats.drafts_accepted < stats.drafts
    assert (stats.num_running, stats.num_waiting) == (0, 0)
