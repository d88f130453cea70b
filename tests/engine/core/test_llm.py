"""LLM on small checkpoints: its tokens are transformers' greedy ones whatever stands around them, seeds reproduce, and
texts end where they should."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

from engine import LLM, SamplingParams  # noqa: E402
from engine.schema.errors import BadConfig, BadModel, BadRequest  # noqa: E402
from engine.schema.output import FinishReason  # noqa: E402
from tests.engine import checkpoints  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
_rng = random.Random(5)
_start = [_rng.randrange(199) for _ in range(40)]
PROMPTS = [
    *([_rng.randrange(199) for _ in range(length)] for length in (1, 7, 23, 60)),
    *([*_start, *(_rng.randrange(199) for _ in range(length))] for length in (3, 9, 20)),
]
NUM_TOKENS = 16
CLEAR = 1e-3  # a margin of logits that fp32 sums in another order do not turn around
SMALL: dict[str, Any] = {"dtype": "float32", "threads": 1, "max_total_tokens": 2048}


class Reference:
    """transformers, one prompt at a time. clear: how many of a prompt's tokens are no matter of the last digits."""

    def __init__(self, model: Any) -> None:
        self.tokens: list[list[int]] = []
        self.logprobs: list[list[float]] = []
        self.clear: list[int] = []
        for prompt in PROMPTS:
            ids, logprobs, margins = list(prompt), list[float](), list[float]()
            while len(ids) < len(prompt) + NUM_TOKENS:
                logits = model(torch.tensor([ids])).logits[0, -1]
                top = logits.topk(2)
                margins.append(float(top.values[0] - top.values[1]))
                ids.append(int(top.indices[0]))
                logprobs.append(float(logits.log_softmax(-1)[ids[-1]]))
            self.tokens.append(ids[len(prompt) :])
            self.logprobs.append(logprobs)
            self.clear.append(next((at for at, each in enumerate(margins) if each < CLEAR), NUM_TOKENS))

    def check(self, at: int, found: tuple[int, ...]) -> None:
        assert len(found) == NUM_TOKENS
        assert list(found[: self.clear[at]]) == self.tokens[at][: self.clear[at]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Reference]]:
    found = {}
    for family in ("llama", "qwen3", "gemma3"):
        folder = tmp_path_factory.mktemp(family)
        with torch.inference_mode():
            found[family] = folder, Reference(checkpoints.write(family, folder))
    return found


@pytest.fixture(scope="module")
def llm(made: dict[str, tuple[Path, Reference]]) -> Iterator[LLM]:
    with LLM(made["llama"][0], **SMALL) as each:
        yield each


def greedy(**params: Any) -> SamplingParams:
    return SamplingParams(**{"temperature": 0.0, "max_tokens": NUM_TOKENS, "ignore_eos": True, **params})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"block_tokens": 1, "chunked_prefill_size": 5},
        {"block_tokens": 32, "max_running_requests": 2},
        {"max_total_tokens": 176, "block_tokens": 4, "chunked_prefill_size": 50},
        {"disable_radix_cache": True, "chunked_prefill_size": 17},
        {"speculative_algorithm": "ngram", "speculative_ngram_min_match": 1},
    ],
    ids=["plain", "blocks-of-1", "two-at-a-time", "preempted", "no-cache", "n-grams"],
)
@pytest.mark.parametrize("family", ["llama", "qwen3", "gemma3"])
def test_greedy_tokens_are_those_of_transformers(
    made: dict[str, tuple[Path, Reference]], family: str, options: dict[str, Any]
) -> None:
    folder, reference = made[family]
    assert sum(reference.clear) > 0.8 * NUM_TOKENS * len(PROMPTS)
    with LLM(folder, **{**SMALL, **options}) as each:
        for _ in range(2):  # the second time with what the cache has of the first
            for at, result in enumerate(each.generate(PROMPTS, greedy())):
                reference.check(at, result.token_ids)
        stats = each.stats()
    assert (stats.preemptions > 0) == ("max_total_tokens" in options)
    assert (stats.cached_tokens > 0) == ("disable_radix_cache" not in options)
    assert (stats.drafts_accepted > 0) == ("speculative_algorithm" in options)


def test_a_prompt_alone_gets_what_it_gets_among_others(llm: LLM, made: dict[str, tuple[Path, Reference]]) -> None:
    order = list(range(len(PROMPTS)))
    for seed in range(3):
        random.Random(seed).shuffle(order)
        found = llm.generate([PROMPTS[at] for at in order], greedy(n=2))
        for at, result in zip(order, found, strict=True):
            for each in result.outputs:
                made["llama"][1].check(at, each.token_ids)
    made["llama"][1].check(0, llm.generate(PROMPTS[0], greedy())[0].token_ids)


def test_seeds_reproduce_alone_and_in_any_batch(llm: LLM) -> None:
    params = SamplingParams(temperature=1.0, seed=11, n=3, max_tokens=12, ignore_eos=True)
    [alone] = llm.generate(PROMPTS[2], params)
    texts = [each.token_ids for each in alone.outputs]
    assert len(set(texts)) == 3
    others = SamplingParams(temperature=1.0, max_tokens=12, ignore_eos=True)
    among = llm.generate(PROMPTS, [params if at == 2 else others for at in range(len(PROMPTS))])
    assert [each.token_ids for each in among[2].outputs] == texts
    [one] = llm.generate(PROMPTS[2], SamplingParams(temperature=1.0, seed=11, max_tokens=12, ignore_eos=True))
    assert one.token_ids == texts[0]
    [first], [second] = (llm.generate(PROMPTS[2], others) for _ in range(2))
    assert first.token_ids != second.token_ids


def test_log_probabilities_are_those_of_transformers(llm: LLM, made: dict[str, tuple[Path, Reference]]) -> None:
    reference = made["llama"][1]
    for at, result in enumerate(llm.generate(PROMPTS, greedy(logprobs=3))):
        assert tuple(each.chosen.token_id for each in result.logprobs) == result.token_ids
        clear = reference.clear[at]
        found = [each.chosen.logprob for each in result.logprobs[:clear]]
        assert found == pytest.approx(reference.logprobs[at][:clear], abs=1e-3)
        for each in result.logprobs:
            assert (each.chosen.rank, each.top[0].token_id, len(each.top)) == (1, each.chosen.token_id, 3)


def test_a_prompts_own_log_probabilities(llm: LLM, made: dict[str, tuple[Path, Reference]]) -> None:
    reference = made["llama"][1]
    prompt = [*PROMPTS[1], *reference.tokens[1]]
    [plain] = llm.generate([prompt], greedy(max_tokens=1))
    [result] = llm.generate([prompt], greedy(max_tokens=1, prompt_logprobs=2, n=2))
    assert result.token_ids == plain.token_ids
    assert [each.chosen.token_id for each in result.prompt_logprobs] == prompt[1:]
    found = [each.chosen.logprob for each in result.prompt_logprobs[len(PROMPTS[1]) - 1 :]]
    assert found == pytest.approx(reference.logprobs[1], abs=1e-3)


def test_penalties_bias_and_minimum_change_what_they_should(llm: LLM) -> None:
    [plain] = llm.generate([PROMPTS[1]], greedy())
    first = plain.token_ids[0]
    [biased] = llm.generate([PROMPTS[1]], greedy(logit_bias={first: -100.0}))
    assert first not in biased.token_ids
    [penalised] = llm.generate(
        [PROMPTS[1]], greedy(frequency_penalty=2.0, presence_penalty=2.0, repetition_penalty=50.0)
    )
    assert len(set(penalised.token_ids)) == NUM_TOKENS
    [stopped] = llm.generate([PROMPTS[1]], greedy(stop_token_ids=(first,)))
    assert (stopped.token_ids, stopped.finish_reason, stopped.outputs[0].stop) == ((first,), FinishReason.STOP, first)
    [later] = llm.generate([PROMPTS[1]], greedy(stop_token_ids=(first,), min_tokens=5))
    assert len(later.token_ids) >= 5 and first not in later.token_ids[:4]


def test_what_does_not_fit_is_refused_and_the_next_call_is_clean(llm: LLM) -> None:
    with pytest.raises(BadRequest, match="prompt: 300 tokens leave none"):
        llm.generate([PROMPTS[0], [1] * 300], greedy())
    with pytest.raises(BadRequest, match="1 for 2 prompts"):
        llm.generate([PROMPTS[0], PROMPTS[1]], [greedy()])
    with pytest.raises(BadModel, match="no tokenizer"):
        llm.generate("text", greedy())
    with pytest.raises(BadModel, match="no tokenizer"):
        llm.generate([1], greedy(stop=("x",)))
    assert llm.stats().num_running == llm.stats().num_waiting == 0
    assert llm.generate([], greedy()) == []


def test_a_stream_that_is_left_is_aborted(llm: LLM) -> None:
    stream = llm.stream(PROMPTS[3], greedy(n=2, max_tokens=100))
    first = next(stream)
    assert (first.text, first.finish_reason) == ("", None)  # tokens have no text here
    stream.close()
    assert (llm.stats().num_running, llm.stats().num_waiting) == (0, 0)

    def fail(done: int, total: int) -> None:
        raise KeyboardInterrupt(f"{done} of {total}")

    with pytest.raises(KeyboardInterrupt, match="1 of 2"):
        llm.generate([PROMPTS[0], PROMPTS[1]], [greedy(max_tokens=2), greedy(max_tokens=90)], progress=fail)
    assert (llm.stats().num_running, llm.stats().num_waiting) == (0, 0)


def write_adapter(folder: Path, seed: int) -> Path:
    torch.manual_seed(seed)
    folder.mkdir()
    tensors = {}
    for layer in range(4):
        for module, (outputs, inputs) in {"q_proj": (64, 64), "v_proj": (32, 64)}.items():
            name = f"base_model.model.model.layers.{layer}.self_attn.{module}"
            tensors[f"{name}.lora_A.weight"] = torch.randn(4, inputs) * 0.3
            tensors[f"{name}.lora_B.weight"] = torch.randn(outputs, 4) * 0.3
    save_file(tensors, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def test_adapters_answer_differently_and_what_has_none_as_before(
    made: dict[str, tuple[Path, Reference]], tmp_path: Path
) -> None:
    folder, reference = made["llama"]
    with LLM(folder, **SMALL, enable_lora=True, lora_paths={"a": str(write_adapter(tmp_path / "a", 1))}) as each:
        each.load_lora("b", write_adapter(tmp_path / "b", 2))
        plain, with_a, with_b = (each.generate(PROMPTS, greedy(), lora=name) for name in (None, "a", "b"))
        for at, result in enumerate(plain):
            reference.check(at, result.token_ids)
        assert all(one.token_ids != two.token_ids for one, two in zip(with_a, with_b, strict=True))
        each.unload_lora("a")
        with pytest.raises(BadRequest, match="no adapter 'a'"):
            each.generate(PROMPTS, greedy(), lora="a")
        each.load_lora("a", tmp_path / "b")  # another one of the name: what the cache has of the first is not its own
        again = each.generate(PROMPTS, greedy(), lora="a")
        assert [result.token_ids for result in again] == [result.token_ids for result in with_b]


def test_after_sleep_and_after_new_weights_the_answers_are_right(
    made: dict[str, tuple[Path, Reference]], tmp_path: Path
) -> None:
    folder, reference = made["llama"]
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    tensors = load_file(folder / "model.safetensors")
    save_file({name: each.flip(0).contiguous() for name, each in tensors.items()}, other / "model.safetensors")
    with LLM(folder, **SMALL, enable_memory_saver=True) as each:
        before = each.generate(PROMPTS, greedy())
        pieces = each.stream(PROMPTS[0], greedy())
        next(pieces)
        each.sleep(1)
        for ask in (lambda: each.generate(PROMPTS, greedy()), lambda: list(pieces)):
            with pytest.raises(BadConfig, match="the engine sleeps"):
                ask()
        each.wake_up()
        each.update_weights(other)
        changed = each.generate(PROMPTS, greedy())
        assert all(one.token_ids != two.token_ids for one, two in zip(before, changed, strict=True))
        each.sleep(2)
        each.wake_up()
        each.update_weights(folder)
        for at, result in enumerate(each.generate(PROMPTS, greedy())):
            reference.check(at, result.token_ids)


def test_a_stream_whose_answer_another_call_took_says_so(llm: LLM) -> None:
    pieces = llm.stream(PROMPTS[0], greedy())
    next(pieces)
    llm.generate(PROMPTS[1], greedy())
    with pytest.raises(BadConfig, match="another call took"):
        list(pieces)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"no_such": 1}, "no option 'no_such'"),
        ({"tp_size": "two"}, "an option is of another type: .*tp_size"),
        ({"block_tokens": 0}, "block_tokens=0"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        LLM("nowhere", **options)


def test_after_its_end_it_says_so(made: dict[str, tuple[Path, Reference]]) -> None:
    with LLM(made["llama"][0], **SMALL) as each:
        pass
    each.close()
    with pytest.raises(BadConfig, match="closed"):
        each.generate([1], greedy())
