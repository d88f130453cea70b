"""What two tensor-parallel ranks do beside steps: weights put together, sharded, updated; DTensors; sums through shared
memory. One pair of processes for each."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file

from engine.config.server_args import ServerArgs
from engine.runner import tensors
from engine.runner.executor import Executor
from engine.schema.errors import BadConfig, EngineError
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS
from tests.support.house import ROOT

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


def start(request: pytest.FixtureRequest, folder: Path, **options: Any) -> Executor:
    made = Executor(ServerArgs(model=str(folder), dtype="float32", tp_size=2, dist_timeout=120.0, **options))
    request.addfinalizer(made.shutdown)
    return made


def test_weights_of_two_ranks(reference: Any, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    made = reference("gemma3")  # one KV head, on both ranks
    executor = start(request, made.folder, enable_lora=True)
    named = load_file(made.folder / "model.safetensors")
    for name in ("self_attn.k_proj", "self_attn.o_proj", "mlp.up_proj", "input_layernorm"):
        full = f"model.layers.1.{name}.weight"
        expected = named[full].float().flatten()[:2000].tolist()
        for found in executor.call("get_weights_by_name", name=full, truncate_size=2000):
            assert found == pytest.approx(expected)
    before = executor.call("check_weights", action="checksum")
    executor.call("save_sharded_model", path=str(tmp_path))
    turned = {name: tensors.packed(-each) for name, each in named.items() if name.endswith("down_proj.weight")}
    executor.call("update_weights_from_tensor", named_tensors=turned)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) != made.greedy
    with pytest.raises(EngineError, match=r"rank 0: .*has no place"):
        executor.call("update_weights_from_tensor", named_tensors={"x": tensors.packed(named["model.norm.weight"])})
    executor.call("update_weights_from_disk", path=str(made.folder))
    assert executor.call("check_weights", action="checksum") == before
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy
    executor.shutdown()
    assert sorted(each.name for each in tmp_path.glob("rank-*")) == [
        "rank-00000-of-00002.safetensors",
        "rank-00001-of-00002.safetensors",
    ]
    again = start(request, tmp_path)
    assert again.call("check_weights", action="checksum") == before


def test_shares_as_dtensors(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("qwen2")  # biases
    executor = start(request, made.folder, enable_torch_tp=True)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS) == made.greedy
    with pytest.raises(BadConfig, match="layers that are DTensors"):
        executor.call("update_weights_from_disk", path=str(made.folder))


_RANK = """
    import sys
    import torch, torch.distributed as dist
    from engine.distributed import parallel_state
    from engine.distributed.layout import layout
    rank, store = int(sys.argv[1]), sys.argv[2]
    parallel_state.init_distributed_environment(
        backend="gloo", world_size=2, rank=rank, init_method=f"file://{store}", timeout=60.0
    )
    parallel_state.initialize_model_parallel(layout(tp_size=2), rank=rank, device="cpu")
    group = parallel_state.get_group("tp")
    assert parallel_state.share_memory("tp", timeout=60.0) and group.reducer is not None
    for size in (3, 1000, 2 << 20):  # the last one is the backend's
        made = group.all_reduce(torch.arange(size, dtype=torch.float32) * (rank + 1))
        assert torch.equal(made, torch.arange(size, dtype=torch.float32) * 3)
    assert not parallel_state.share_memory("pp", timeout=60.0)  # a group of one
    parallel_state.tell("x", "told") if rank == 0 else None
    print(parallel_state.ask("x"))
    parallel_state.destroy()
"""


def test_groups_sum_through_shared_memory(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", textwrap.dedent(_RANK)]
    running = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "store")], env=environ, stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    try:
        assert [each.communicate(timeout=180)[0] for each in running] == ["told\n"] * 2
    finally:
        for each in running:
            each.kill()
