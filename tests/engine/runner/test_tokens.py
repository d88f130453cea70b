"""Greedy tokens of the runner are transformers', however the work is cut: chunks, blocks, prefix cache, backends."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.config.server_args import ServerArgs
from engine.kernels import native
from engine.runner.executor import Executor
from engine.schema.errors import BadConfig
from tests.engine import checkpoints
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Any:
    def make(folder: Any, **options: Any) -> Executor:
        executor = Executor(ServerArgs(model=str(folder), **{"dtype": "float32", **options}))
        request.addfinalizer(executor.shutdown)
        return executor

    return make


@pytest.mark.parametrize("family", checkpoints.FAMILIES)
def test_every_family(reference: Any, start: Any, family: str) -> None:
    made = reference(family)
    executor = start(made.folder)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy


@pytest.mark.parametrize("family", ["llama", "gemma3"])
@pytest.mark.parametrize(("step_tokens", "block_tokens"), [(7, 1), (13, 4), (500, 32)])
def test_chunks_and_blocks(reference: Any, start: Any, family: str, step_tokens: int, block_tokens: int) -> None:
    made = reference(family)
    executor = start(made.folder, block_tokens=block_tokens)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=step_tokens) == made.greedy


@pytest.mark.parametrize("backends", [{"attention_backend": "reference"}, {"decode_attention_backend": "reference"}])
def test_attention_backends(reference: Any, start: Any, backends: dict[str, str]) -> None:
    made = reference("gemma3")
    assert driver.generate(start(made.folder, **backends), PROMPTS, num_tokens=NUM_TOKENS) == made.greedy


def test_the_prefix_cache_changes_nothing(reference: Any, start: Any) -> None:
    made = reference("llama")
    executor = start(made.folder, block_tokens=2)
    twice = driver.generate(executor, PROMPTS + PROMPTS, num_tokens=NUM_TOKENS, step_tokens=30, has_cache=True)
    assert twice == made.greedy * 2


def test_few_blocks_preempt_and_change_nothing(reference: Any, start: Any) -> None:
    made = reference("qwen3")
    executor = start(made.folder, block_tokens=4, max_total_tokens=80)
    assert executor.info.num_blocks == 21
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_request_has_the_same_bits_alone_and_in_any_batch(reference: Any, start: Any, dtype: str) -> None:
    executor = start(reference("llama").folder, enable_batch_invariant=True, dtype=dtype)
    runner, seen = executor._runner, dict[tuple[int, int], Any]()
    inner = runner.sampler

    def watched(logits_BV: Any, rows: Any) -> Any:
        seen.update({(row.oracle_id, row.position): each.clone() for row, each in zip(rows, logits_BV, strict=True)})
        return inner(logits_BV, rows)

    runner.sampler = watched
    driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=30)
    together = dict(seen)
    seen.clear()
    for at, prompt in enumerate(PROMPTS):
        driver.generate(executor, [prompt], num_tokens=NUM_TOKENS, first_id=at)
    assert seen.keys() == together.keys() and len(seen) == len(PROMPTS) * NUM_TOKENS
    assert all(bool((seen[each] == together[each]).all()) for each in seen)


def test_attention_whose_bits_depend_on_the_batch_is_refused(reference: Any, start: Any) -> None:
    with pytest.raises(BadConfig, match="batch-invariant mode with attention by sdpa"):
        start(reference("llama").folder, enable_batch_invariant=True, decode_attention_backend="sdpa")


@pytest.mark.parametrize("kv", ["bfloat16", "float16", "fp8_e4m3", "fp8_e5m2", "int8"])
def test_what_keys_and_values_are_kept_in_changes_little(reference: Any, start: Any, kv: str) -> None:
    made = reference("llama")
    found = driver.generate(start(made.folder, kv_cache_dtype=kv), PROMPTS, num_tokens=1)
    same = [one == expected[:1] for one, expected in zip(found, made.greedy, strict=True)]
    assert sum(same) >= 3


@pytest.mark.parametrize("scheme", ["int8wo", "int8wo-32"])
def test_weights_in_eight_bits(reference: Any, start: Any, scheme: str) -> None:
    if native.library() is None:
        pytest.skip("no compiler for the kernels")
    made = reference("llama")
    executor = start(made.folder, quantization=scheme)
    found = driver.generate(executor, PROMPTS, num_tokens=1)
    assert sum(one == expected[:1] for one, expected in zip(found, made.greedy, strict=True)) >= 4
    before = executor.call("check_weights", action="checksum")
    executor.call("update_weights_from_disk", path=str(made.folder))  # quantised anew, to the same numbers
    assert executor.call("check_weights", action="checksum") == before
    assert driver.generate(executor, PROMPTS, num_tokens=1) == found
