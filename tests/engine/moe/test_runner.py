"""Sparse models through the runner: the tokens of transformers, alone and over ranks that share the width of the
experts; rounded, and with new weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file  # noqa: E402

from engine.config.server_args import ServerArgs  # noqa: E402
from engine.runner import tensors  # noqa: E402
from engine.runner.executor import Executor  # noqa: E402
from tests.engine import checkpoints  # noqa: E402
from tests.engine.runner import driver  # noqa: E402

PROMPTS = [[(11 * at + n) % 199 for at in range(n)] for n in (3, 17, 9)]
NUM_TOKENS = 8


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, list[list[int]]]]:
    known: dict[str, tuple[Path, list[list[int]]]] = {}

    def make(family: str) -> tuple[Path, list[list[int]]]:
        if family not in known:
            folder = tmp_path_factory.mktemp(family)
            model = checkpoints.write(family, folder)
            found = []
            with torch.inference_mode():
                for prompt in PROMPTS:
                    tokens = list(prompt)
                    for _ in range(NUM_TOKENS):
                        tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
                    found.append(tokens[len(prompt) :])
            known[family] = folder, found
        return known[family]

    return make


def start(request: pytest.FixtureRequest, folder: Path, **options: Any) -> Executor:
    made = Executor(ServerArgs(model=str(folder), dtype="float32", max_total_tokens=1024, **options))
    request.addfinalizer(made.shutdown)
    return made


@pytest.mark.parametrize("family", checkpoints.SPARSE)
def test_tokens_are_those_of_transformers(reference: Any, request: pytest.FixtureRequest, family: str) -> None:
    folder, expected = reference(family)
    executor = start(request, folder)
    for step_tokens, has_cache in ((64, False), (7, True)):
        made = driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=step_tokens, has_cache=has_cache)
        assert made == expected


def test_two_ranks_share_the_width_of_the_experts(reference: Any, request: pytest.FixtureRequest) -> None:
    folder, expected = reference("dots1")
    executor = start(request, folder, tp_size=2, dist_timeout=120.0)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == expected
    named = load_file(folder / "model.safetensors")
    for name in ("experts.5.up_proj", "experts.5.down_proj", "shared_experts.gate_proj", "gate"):
        full = f"model.layers.2.mlp.{name}.weight"
        for found in executor.call("get_weights_by_name", name=full, truncate_size=1500):
            assert found == pytest.approx(named[full].flatten()[:1500].tolist())
    before = executor.call("check_weights", action="checksum")
    turned = {name: tensors.packed(-each) for name, each in named.items() if ".experts.3.down_proj" in name}
    assert len(turned) == 3
    executor.call("update_weights_from_tensor", named_tensors=turned)
    assert executor.call("check_weights", action="checksum") != before
    executor.call("update_weights_from_disk", path=str(folder))
    assert executor.call("check_weights", action="checksum") == before
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == expected


def test_two_stages(reference: Any, request: pytest.FixtureRequest) -> None:
    folder, expected = reference("qwen3-moe")
    executor = start(request, folder, pp_size=2, dist_timeout=120.0)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == expected


def test_memory_that_was_given_back(reference: Any, request: pytest.FixtureRequest) -> None:
    """Not the weights alone are lost: where the experts stand is in tensors, too."""
    folder, expected = reference("dots1")
    executor = start(request, folder, enable_memory_saver=True)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == expected
    executor.call("sleep", level=2)
    executor.call("wake_up")
    executor.call("update_weights_from_disk", path=str(folder))
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == expected


def test_experts_in_whole_numbers(reference: Any, request: pytest.FixtureRequest) -> None:
    folder, _ = reference("mixtral")
    executor = start(request, folder, quantization="int8wo")
    alone = [driver.generate(executor, [each], num_tokens=NUM_TOKENS)[0] for each in PROMPTS]
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == alone
