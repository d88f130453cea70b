"""Greedy tokens of the runner are transformers', however the work is cut: chunks, blocks, prefix cache, backends."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.config.server_args import ServerArgs
from engine.runner.executor import Executor
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
