"""The runners of other devices: MLX for real where it is installed, an NPU as its library would be asked; and methods
patched by their dotted names, as users of such a class do."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any
from unittest.mock import patch

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from engine.attention.batch import AttentionBatch
from engine.attention.plain import ReferenceAttention
from engine.config.server_args import ServerArgs
from engine.kv.cache import KVCache
from engine.loader.language_model import resolve_language_model
from engine.runner.executor import Executor
from engine.runner.forward_batch import ForwardBatch
from engine.runner.kinds import runner_kind
from engine.runner.model_runner import ModelRunner
from engine.runner.npu_model_runner import NpuAttention, NpuModelRunner
from engine.runner.profiling import build_step_span_name
from engine.schema.errors import BadConfig
from engine.schema.sampling import SamplingParams
from engine.schema.step import RowOptions, Slice, StepInput, StepPlan
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


def start(request: pytest.FixtureRequest, folder: Any, **options: Any) -> Executor:
    made = Executor(ServerArgs(model=str(folder), **{"dtype": "float32", **options}))
    request.addfinalizer(made.shutdown)
    return made


def test_which_runner_a_device_has() -> None:
    assert runner_kind("cpu") is runner_kind("cuda") is ModelRunner
    assert runner_kind("npu") is NpuModelRunner
    assert runner_kind("mlx").__name__ == "MlxModelRunner"


@pytest.mark.parametrize(("device", "module"), [("mlx", "mlx.core"), ("npu", "torch_npu")])
def test_without_the_library_it_says_what_to_install(
    reference: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, device: str, module: str
) -> None:
    folder = reference("llama").folder
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadConfig, match=f"device {device}: .*; .*install"):
        start(request, folder, device=device)


@pytest.mark.parametrize("family", ["llama-3", "qwen2", "gemma3"])
def test_mlx_gives_the_same_tokens(reference: Any, request: pytest.FixtureRequest, family: str) -> None:
    pytest.importorskip("mlx.core")
    made = reference(family)
    executor = start(request, made.folder, device="mlx", block_tokens=4, max_total_tokens=400)
    assert driver.generate(executor, PROMPTS, num_tokens=NUM_TOKENS, step_tokens=30) == made.greedy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tp_size": 2}, "several ranks on mlx"),
        ({"enable_lora": True}, "enable_lora on mlx"),
        ({"attention_backend": "sdpa"}, "attention_backend='sdpa' on mlx"),
        ({"kv_cache_dtype": "int8"}, "kv_cache_dtype=int8 on mlx"),
    ],
)
def test_what_mlx_does_not_do(reference: Any, options: dict[str, Any], message: str) -> None:
    pytest.importorskip("mlx.core")
    args = ServerArgs(model=str(reference("llama").folder), device="mlx", dtype="float32", **options)
    with pytest.raises(BadConfig, match=message):
        runner_kind("mlx")(args)


# -- an NPU's library, as far as it is asked


def fused_score(**given: Any) -> tuple[Any, Any]:
    """What CANN's kernel computes in the layout TND, as its manual has it, one query after the other."""
    assert given["input_layout"] == "TND"
    query, keys, values = given["query"], given["key"], given["value"]
    size, heads, kv_heads = given["block_size"], given["num_heads"], given["num_key_value_heads"]
    assert given["atten_mask"].shape == (2048, 2048) and given["atten_mask"][0].tolist()[:3] == [False, True, True]
    out, first = torch.empty_like(query), 0
    ends = zip(given["actual_seq_lengths"], given["actual_seq_lengths_kv"], given["block_table"], strict=True)
    for last, length, blocks in ends:
        slots = [int(blocks[at // size]) * size + at % size for at in range(length)]
        kept = [each.flatten(0, 1)[slots].unflatten(-1, (kv_heads, -1)) for each in (keys, values)]
        k, v = (each.repeat_interleave(heads // kv_heads, dim=1) for each in kept)
        for row in range(first, last):
            at = length - (last - row)
            low = max(0, at - given["pre_tokens"]) if given["sparse_mode"] == 4 else 0
            scores = torch.einsum("hd,lhd->hl", query[row], k[low : at + 1]) * given["scale"]
            out[row] = torch.einsum("hl,lhd->hd", scores.softmax(-1), v[low : at + 1])
        first = last
    return out, None


@pytest.mark.parametrize("window", [0, 5])
def test_the_npu_kernel_is_asked_for_what_the_formula_says(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(3)
    parts = [
        Slice(seq_id=0, token_ids=(1,), start=8, block_ids=(5, 2, 7), is_sampled=True),
        Slice(seq_id=1, token_ids=(1,) * 6, start=3, block_ids=(1, 4, 6), is_sampled=True),
        Slice(seq_id=2, token_ids=(1,) * 3, start=0, block_ids=(3,), is_sampled=True),
    ]
    cache = KVCache(num_layers=2, num_blocks=9, block_tokens=4, heads=2, head_dim=16, dtype=torch.float32)
    cache.keys.normal_()
    cache.values.normal_()
    batch = AttentionBatch(parts, 4)
    q_THD = torch.randn(10, 4, 16)
    expected = ReferenceAttention(cache, batch).attend(1, q_THD, 0.25, window)
    module: Any = types.ModuleType("torch_npu")
    module.npu_fused_infer_attention_score = fused_score
    monkeypatch.setitem(sys.modules, "torch_npu", module)
    found = NpuAttention(cache, batch).attend(1, q_THD, 0.25, window)
    assert torch.allclose(found, expected, atol=1e-5)


def test_npu_graphs_are_recorded_by_its_library() -> None:
    log: list[str] = []

    class Graph:
        def replay(self) -> None:
            log.append("replay")

    class Recording:
        def __init__(self, graph: Graph, *, pool: str) -> None:
            assert (type(graph), pool) == (Graph, "pool")

        def __enter__(self) -> None:
            log.append("begin")

        def __exit__(self, *_: object) -> None:
            log.append("end")

    runner = object.__new__(NpuModelRunner)
    npu = types.SimpleNamespace(
        graph_pool_handle=lambda: "pool", NPUGraph=Graph, graph=Recording, synchronize=lambda: log.append("wait")
    )
    runner.torch_npu = types.SimpleNamespace(npu=npu)
    out = torch.ones(2)

    def run() -> torch.Tensor:
        log.append("run")
        return out

    assert runner.graph_recorder()(run)() is out
    assert log == ["wait", "begin", "run", "end", "replay"]


# -- by dotted names


def test_methods_are_patched_by_name(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("llama")
    path, settle = "engine.runner.model_runner.ModelRunner", ModelRunner.configure_kv_cache_dtype
    with (
        patch(f"{path}.init_cublas") as cublas,
        patch(f"{path}.init_threads_binding", autospec=True) as binding,
        patch("engine.distributed.symmetric_memory.prealloc_symmetric_memory_pool") as prealloc,
        patch(f"{path}.configure_kv_cache_dtype", autospec=True, side_effect=settle) as kv,
        patch("engine.runner.model_runner.Profiler") as profiler,
    ):
        profiler.return_value.is_on = False
        executor = start(request, made.folder)
    assert executor._runner is not None
    binding.assert_called_once_with(executor._runner)
    kv.assert_called_once()
    cublas.assert_not_called()  # a CPU
    prealloc.assert_not_called()
    assert executor._runner.local_omp_cpuid is None


@pytest.mark.parametrize(
    ("parts", "draft", "pp_size", "name"),
    [
        ([(1, 7, True, 0)], False, 1, "step[decode bs=1 toks=1]"),
        ([(3, 0, True, 0), (2, 4, False, 0)], False, 1, "step[extend bs=2 toks=5 longest=6]"),
        ([(1, 9, True, 0), (2, 4, False, 0)], True, 1, "draft.step[mixed bs=2 toks=3 longest=10]"),
        ([(3, 4, True, 2), (1, 4, True, 0)], False, 2, "step[verify bs=2 toks=4 drafts=2] pp=1"),
        ([], False, 1, "step[idle bs=0 toks=0]"),
    ],
)
def test_the_name_of_a_span(parts: list[tuple[int, int, bool, int]], draft: bool, pp_size: int, name: str) -> None:
    slices = tuple(
        Slice(seq_id=at, token_ids=(1,) * count, start=start, block_ids=(1,) * 5, is_sampled=sampled, num_drafts=drafts)
        for at, (count, start, sampled, drafts) in enumerate(parts)
    )
    rows = tuple(
        RowOptions(seq_id=each.seq_id, params=SamplingParams(), seed=0, position=0, oracle_id=0)
        for each in slices
        if each.is_sampled
    )
    batch = ForwardBatch(StepInput(plan=StepPlan(number=1, slices=slices), rows=rows), block_tokens=4)
    assert build_step_span_name(batch, is_draft_worker=draft, pp_rank=1, pp_size=pp_size) == name


def test_the_part_of_a_model_that_makes_text() -> None:
    class Whole(torch.nn.Module):
        def __init__(self, **parts: torch.nn.Module) -> None:
            super().__init__()
            for name, each in parts.items():
                setattr(self, name, each)

    text = torch.nn.Linear(2, 2)
    assert resolve_language_model(text) is text
    assert resolve_language_model(Whole(language_model=text, vision=torch.nn.Linear(1, 1))) is text
    assert resolve_language_model(Whole(thinker=Whole(language_model=text))) is text


def test_importing_the_kinds_needs_none_of_their_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mlx", "mlx.core", "torch_npu"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("engine.runner.mlx_model_runner", "engine.runner.npu_model_runner"):
        monkeypatch.delitem(sys.modules, name)
        importlib.import_module(name)
