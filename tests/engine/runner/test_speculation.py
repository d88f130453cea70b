"""Drafts of a model and of a sequence's own past, adapters in one batch with none, recorded steps: the tokens are those
of plain decoding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from safetensors.torch import save_file

from engine.config.server_args import ServerArgs
from engine.kernels import native
from engine.kv.blocks import BlockPool
from engine.models.fused import Fused
from engine.runner.executor import Executor
from engine.runner.forward_batch import ForwardBatch, ForwardMode
from engine.runner.graphs import DecodeGraphs, is_capturing, sizes_up_to
from engine.runner.model_runner import ModelRunner
from engine.sampling.oracle import oracle_token
from engine.schema.errors import BadConfig, EngineError
from engine.schema.output import PositionLogprobs
from engine.schema.sampling import SamplingParams
from engine.schema.step import PromptTargets, RowOptions, Slice, StepInput, StepPlan
from engine.speculative.ngram import propose
from tests.engine import checkpoints
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
GREEDY = SamplingParams(temperature=0, max_tokens=NUM_TOKENS, ignore_eos=True)


def start(request: pytest.FixtureRequest, folder: Path, **options: Any) -> Executor:
    made = Executor(ServerArgs(model=str(folder), **{"dtype": "float32", **options}))
    request.addfinalizer(made.shutdown)
    return made


def runner_of(executor: Executor) -> ModelRunner:
    assert executor._runner is not None
    return executor._runner


class Drafted:
    """One sequence, its drafts put into the next step as the core does it."""

    def __init__(self, executor: Executor, prompt: list[int], params: SamplingParams = GREEDY) -> None:
        self.executor, self.params, self.tokens = executor, params, list(prompt)
        self.num_prompt, self.computed, self.steps = len(prompt), 0, 0
        pool = BlockPool(executor.info.num_blocks, executor.info.block_tokens)
        self.pool, self.blocks = pool, pool.take(1)
        self.drafts: tuple[int, ...] = ()

    def step(self) -> None:
        tokens = (*self.tokens[self.computed :], *self.drafts)
        end = self.computed + len(tokens)
        self.blocks += self.pool.take(max(self.pool.blocks_for(end) - len(self.blocks), 0))
        part = Slice(
            seq_id=0,
            token_ids=tokens,
            start=self.computed,
            block_ids=tuple(self.blocks),
            is_sampled=True,
            num_drafts=len(self.drafts),
        )
        row = RowOptions(
            seq_id=0, params=self.params, seed=5, position=len(self.tokens), oracle_id=9, output=tuple(self.output)
        )
        plan = StepPlan(number=self.steps, slices=(part,))
        made = self.executor.execute(StepInput(plan=plan, rows=(row,))).sampled[0]
        self.tokens += made.token_ids
        self.computed, self.steps, self.drafts = len(self.tokens) - 1, self.steps + 1, made.drafts

    @property
    def output(self) -> list[int]:
        return self.tokens[self.num_prompt :]

    def run(self, count: int) -> list[int]:
        while len(self.output) < count:
            self.step()
        return self.output[:count]


def test_a_draft_model_that_is_the_model_is_always_right(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("llama")
    executor = start(
        request,
        made.folder,
        speculative_algorithm="draft",
        speculative_draft_model=str(made.folder),
        speculative_num_draft_tokens=3,
        block_tokens=2,  # guesses go beyond the sequence's blocks
        max_total_tokens=200,
    )
    drafted = Drafted(executor, PROMPTS[1])
    assert drafted.run(NUM_TOKENS) == made.greedy[1]
    assert drafted.steps == 1 + -(-(NUM_TOKENS - 1) // 4)  # the first gives one token, each of the others four
    runner = runner_of(executor)
    assert runner.num_drafts == runner.num_drafts_accepted == 3 * (drafted.steps - 1)


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(temperature=0.8, top_p=0.9, max_tokens=NUM_TOKENS)])
def test_a_draft_model_that_is_another_changes_nothing(
    reference: Any, request: pytest.FixtureRequest, params: SamplingParams
) -> None:
    made = reference("llama")
    plain = Drafted(start(request, made.folder), PROMPTS[2], params).run(NUM_TOKENS)
    draft = {"speculative_algorithm": "draft", "speculative_draft_model": str(reference("llama-tied").folder)}
    executor = start(request, made.folder, **draft)
    drafted = Drafted(executor, PROMPTS[2], params)
    assert drafted.run(NUM_TOKENS) == plain
    runner = runner_of(executor)
    assert 0 <= runner.num_drafts_accepted < runner.num_drafts


def test_a_draft_model_has_its_weights_again_after_a_sleep(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("llama")
    draft = {"speculative_algorithm": "draft", "speculative_draft_model": str(made.folder)}
    executor = start(request, made.folder, enable_memory_saver=True, **draft)
    executor.call("sleep", level=2)
    executor.call("wake_up", tags=["kv_cache"])
    executor.call("wake_up")
    executor.call("update_weights_from_disk", path=str(made.folder))
    drafted = Drafted(executor, PROMPTS[1])
    assert drafted.run(NUM_TOKENS) == made.greedy[1]
    runner = runner_of(executor)
    assert runner.num_drafts == runner.num_drafts_accepted > 0  # it knows what its target does


def test_a_draft_model_of_another_vocabulary_is_refused(
    reference: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    import transformers

    sizes = {**checkpoints.SIZES, "vocab_size": 50}
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).save_pretrained(tmp_path)
    draft = {"speculative_algorithm": "draft", "speculative_draft_model": str(tmp_path)}
    with pytest.raises(BadConfig, match="the draft model has 50 tokens, the model 199"):
        start(request, reference("llama").folder, **draft)


def test_drafts_from_the_past_and_wrong_ones(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("qwen3")
    drafted = Drafted(start(request, made.folder, block_tokens=4), PROMPTS[1])
    while len(drafted.output) < NUM_TOKENS:
        found = propose(drafted.tokens, num_drafts=3, min_match=1, max_match=4)
        right = made.greedy[1][len(drafted.output) :][:2]
        drafted.drafts = ((*right, 198) if drafted.steps % 2 else found) if drafted.steps else ()
        drafted.step()
    assert drafted.output[:NUM_TOKENS] == made.greedy[1]
    assert drafted.steps < NUM_TOKENS


def test_the_oracle_answers_for_drafts_too(reference: Any, request: pytest.FixtureRequest) -> None:
    drafted = Drafted(start(request, reference("llama").folder, sampling_backend="token_oracle"), [1, 2, 3])
    drafted.step()
    drafted.drafts = (oracle_token(9, 4, 199), oracle_token(9, 5, 199), 7)
    drafted.step()
    assert drafted.output == [oracle_token(9, at, 199) for at in range(3, 7)]


def test_prompts_are_weighed_in_chunks(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("llama")
    executor = start(request, made.folder, block_tokens=32)
    prompt = PROMPTS[2]
    with torch.inference_mode():
        expected = made.model(torch.tensor([prompt])).logits[0].log_softmax(-1)
    found: list[PositionLogprobs] = []
    for first, last in ((0, 15), (15, 40)):
        part = Slice(seq_id=4, token_ids=tuple(prompt[first:last]), start=first, block_ids=(3, 1), is_sampled=False)
        targets = PromptTargets(token_ids=tuple(prompt[first + 1 : last + 1]), count=2)
        plan = StepPlan(number=1, slices=(part,))
        out = executor.execute(StepInput(plan=plan, prompt_targets={4: targets}))
        assert out.sampled == ()
        found.extend(out.prompt_logprobs[4])
    assert len(found) == len(prompt) - 1
    for at, each in enumerate(found):
        assert each.chosen.token_id == prompt[at + 1]
        assert each.chosen.logprob == pytest.approx(float(expected[at, prompt[at + 1]]), abs=1e-4)
        assert [one.token_id for one in each.top] == expected[at].topk(2).indices.tolist()


# -- adapters


def adapter(folder: Path, seed: int) -> Path:
    """A PEFT folder that changes two matrices of every layer."""
    generator = torch.Generator().manual_seed(seed)
    named = {}
    for layer in range(4):
        for module, inputs, outputs in (("self_attn.q_proj", 64, 64), ("mlp.down_proj", 96, 64)):
            prefix = f"base_model.model.model.layers.{layer}.{module}"
            named[f"{prefix}.lora_A.weight"] = torch.randn(4, inputs, generator=generator) * 0.3
            named[f"{prefix}.lora_B.weight"] = torch.randn(outputs, 4, generator=generator) * 0.3
    folder.mkdir()
    save_file(named, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "down_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def test_adapters_in_one_batch_with_none(reference: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    made = reference("llama")
    executor = start(request, made.folder, enable_lora=True, lora_paths=(("one", adapter(tmp_path / "one", 1)),))
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy  # there, and not used
    assert executor.call("load_lora_adapter", name="two", path=str(adapter(tmp_path / "two", 2))) == [
        {"adapters": ["one", "two"]}
    ]
    alone = {
        name: driver.generate(executor, [PROMPTS[1]], num_tokens=NUM_TOKENS, adapters=[name])[0]
        for name in ("one", "two")
    }
    assert len({tuple(each) for each in (*alone.values(), made.greedy[1])}) == 3
    prompts, names = [PROMPTS[1]] * 4, ["two", None, "one", "two"]
    together = driver.generate(executor, prompts, num_tokens=NUM_TOKENS, adapters=names, step_tokens=20)
    assert together == [alone["two"], made.greedy[1], alone["one"], alone["two"]]
    assert executor.call("unload_lora_adapter", name="two") == [{"adapters": ["one"], "is_gone": True}]
    with pytest.raises(EngineError, match="'two' is not loaded"):
        driver.generate(executor, [PROMPTS[1]], adapters=["two"])


@pytest.mark.skipif(native.library() is None, reason="no compiler: the kernels can't be had")
def test_steps_without_an_adapter_are_computed_at_once(
    reference: Any, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, whole, was_fused = reference("llama"), Fused.__call__, list[bool]()

    def watched(self: Fused, *given: Any) -> Any:
        found = whole(self, *given)
        was_fused.append(found is not None)
        return found

    monkeypatch.setattr(Fused, "__call__", watched)
    executor = start(request, made.folder, enable_lora=True, lora_paths=(("one", adapter(tmp_path / "one", 1)),))
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy
    assert was_fused and all(was_fused)
    was_fused.clear()
    adapted = driver.generate(executor, PROMPTS[:2], num_tokens=NUM_TOKENS, adapters=["one", None])
    assert adapted[0] != made.greedy[0] and adapted[1] == made.greedy[1] and not any(was_fused)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy and was_fused[-1]


def test_an_adapter_where_there_can_be_none(reference: Any, request: pytest.FixtureRequest) -> None:
    executor = start(request, reference("llama").folder)
    with pytest.raises(BadConfig, match="start it with enable_lora"):
        executor.call("load_lora_adapter", name="x", path="y")
    with pytest.raises(BadConfig, match="a step asks for an adapter"):
        driver.generate(executor, [[1, 2]], adapters=["x"])


# -- recorded steps


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_recorded_steps_give_the_same(
    reference: Any, request: pytest.FixtureRequest, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "compile", lambda model, **_: model)  # the shapes matter here, not the code
    made = reference(family)
    executor = start(
        request, made.folder, enable_torch_compile=True, decode_attention_backend="sdpa", cuda_graph_max_bs=4
    )
    assert driver.generate(executor, PROMPTS[:4], num_tokens=NUM_TOKENS) == made.greedy[:4]
    assert not any(each.packed for each in runner_of(executor).model.linears())
    graphs = runner_of(executor).decode_graphs
    assert graphs is not None and graphs.num_replays == NUM_TOKENS - 1
    assert driver.generate(executor, PROMPTS[:3], num_tokens=NUM_TOKENS) == made.greedy[:3]  # padded to 4
    assert graphs.num_replays == 2 * (NUM_TOKENS - 1)
    # 5 are more than were recorded
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=500) == made.greedy
    assert graphs.num_replays == 2 * (NUM_TOKENS - 1)


def test_what_is_built_at_first_use_is_built_before_the_recording() -> None:
    """C22 of the given cases."""
    built: list[bool] = []

    def run(tokens_B: Any, _: Any) -> Any:
        if not built:
            built.append(is_capturing())
        return tokens_B

    def record(again: Any) -> Any:
        assert is_capturing()
        again()
        return again

    graphs = DecodeGraphs(run, record, max_batch_size=2, max_length=64, block_tokens=4)
    part = Slice(seq_id=1, token_ids=(5,), start=9, block_ids=(1, 2, 3), is_sampled=False)
    batch = ForwardBatch.decode([part], block_tokens=4)
    shape = graphs.shape_of(batch)
    assert shape is not None and graphs.replay(batch, shape).tolist() == [5]
    assert built == [False] and not is_capturing()
    long = ForwardBatch.decode(
        [Slice(seq_id=1, token_ids=(5,), start=64, block_ids=(1,) * 17, is_sampled=True)], block_tokens=4
    )
    assert graphs.shape_of(long) is None


def test_sizes_of_recordings() -> None:
    assert sizes_up_to(1) == [1]
    assert sizes_up_to(20) == [1, 2, 4, 8, 16, 20]


def test_a_prefill_in_parts_of_its_layers(reference: Any, request: pytest.FixtureRequest) -> None:
    executor = start(request, reference("gemma3").folder)
    runner = runner_of(executor)
    part = Slice(seq_id=1, token_ids=tuple(PROMPTS[1]), start=0, block_ids=(1, 2), is_sampled=False)
    step = StepInput(plan=StepPlan(number=1, slices=(part,)))
    whole = ForwardBatch(step, block_tokens=16)
    assert whole.mode is ForwardMode.EXTEND
    with torch.inference_mode():
        expected = runner.forward(whole)
    split = ForwardBatch(step, block_tokens=16)
    passes = runner.forward_pass_id
    assert runner.forward_split_prefill(split, 1) is None and runner.forward_split_prefill(split, 2) is None
    made = runner.forward_split_prefill(split, 9)
    assert made is not None and torch.allclose(made, expected, atol=1e-5)
    assert runner.forward_pass_id == passes + 1
