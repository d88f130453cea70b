"""What only a CUDA device can run: recorded decode steps, attention compiled for it, memory that two of its kind share.
Skipped, by name, where there is none."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from engine.attention import flex  # noqa: E402
from engine.config.server_args import ServerArgs  # noqa: E402
from engine.runner.executor import Executor  # noqa: E402
from tests.engine.runner import driver  # noqa: E402
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS  # noqa: E402

NUM_DEVICES = torch.cuda.device_count() if torch.cuda.is_available() else 0
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
needs_one = pytest.mark.skipif(NUM_DEVICES < 1, reason="no CUDA device: CUDA graphs and its kernels are not run")
needs_two = pytest.mark.skipif(NUM_DEVICES < 2, reason="fewer than two CUDA devices: symmetric memory is not run")


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Any:
    def make(folder: Any, **options: Any) -> Executor:
        sizes = {"dtype": "float32", "device": "cuda", "max_total_tokens": 1024, "cuda_graph_max_bs": 4}
        executor = Executor(ServerArgs(model=str(folder), **{**sizes, **options}))
        request.addfinalizer(executor.shutdown)
        return executor

    return make


@needs_one
@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_recorded_decode_steps_give_the_same(reference: Any, start: Any, family: str) -> None:
    made = reference(family)
    executor = start(made.folder)
    graphs = executor._runner.decode_graphs
    assert graphs is not None and set(graphs.batch_sizes) == {1, 2, 4}
    assert driver.generate(executor, PROMPTS[:4], num_tokens=NUM_TOKENS) == made.greedy[:4]
    assert graphs.num_replays == NUM_TOKENS - 1
    assert driver.generate(executor, PROMPTS[:3], num_tokens=NUM_TOKENS) == made.greedy[:3]  # padded to 4
    assert graphs.num_replays == 2 * (NUM_TOKENS - 1)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=500) == made.greedy  # not recorded
    plain = start(made.folder, disable_cuda_graph=True)
    assert plain._runner.decode_graphs is None
    assert driver.generate(plain, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy


@needs_one
def test_new_weights_reach_what_was_recorded(reference: Any, start: Any) -> None:
    made = reference("llama")
    executor = start(made.folder, load_format="dummy")
    wrong = driver.generate(executor, PROMPTS[:2], num_tokens=NUM_TOKENS)
    executor.call("update_weights_from_disk", path=str(made.folder))
    assert driver.generate(executor, PROMPTS[:2], num_tokens=NUM_TOKENS) == made.greedy[:2] != wrong


@needs_one
@pytest.mark.parametrize("backend", ["reference", "sdpa", "flex"])
def test_attention_on_the_device(reference: Any, start: Any, backend: str) -> None:
    made = reference("gemma3")
    executor = start(made.folder, attention_backend=backend)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy
    assert "cuda" not in flex._FAILED


@needs_one
@pytest.mark.parametrize("kv", ["bfloat16", "fp8_e4m3", "int8"])
def test_what_keys_and_values_are_kept_in_changes_little(reference: Any, start: Any, kv: str) -> None:
    made = reference("llama")
    found = driver.generate(start(made.folder, kv_cache_dtype=kv), PROMPTS, num_tokens=1)
    assert sum(one == each[:1] for one, each in zip(found, made.greedy, strict=True)) >= 3


@needs_two
@pytest.mark.parametrize(
    "options",
    [
        {"enable_symm_mem": True, "symm_mem_prealloc_bytes": 1 << 26},
        {"enable_torch_symm_mem": True, "disable_custom_all_reduce": True},
        {"disable_custom_all_reduce": True, "pre_warm_nccl": True},
    ],
    ids="-".join,
)
def test_two_devices_and_their_memory(reference: Any, start: Any, options: dict[str, Any]) -> None:
    made = reference("llama-tied")
    executor = start(made.folder, tp_size=2, **options)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=30) == made.greedy
    assert [each["device"] for each in executor.call("describe")] == ["cuda:0", "cuda:1"]
