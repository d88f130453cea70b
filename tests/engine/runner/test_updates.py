"""New weights while it runs: from disk, as tensors, from a trainer; what can't be taken changes nothing. Shards, memory
that is given back, profiles."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from safetensors.torch import load_file, save_file

from engine.config.server_args import ServerArgs
from engine.distributed.outside_group import OutsideGroup
from engine.kernels import native
from engine.layers.linear import Linear
from engine.models.checkpoint import Checkpoint
from engine.runner import tensors, worker
from engine.runner.executor import Executor
from engine.runner.wire import Broken, Step, Wire
from engine.schema.errors import BadConfig, BadModel, EngineError
from engine.schema.step import StepInput, StepPlan
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS, greedy

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]
needs_kernels = pytest.mark.skipif(native.library() is None, reason="no compiler: the kernels can't be had")


@pytest.fixture
def executor(reference: Any, request: pytest.FixtureRequest) -> Executor:
    return start(request, reference("llama-tied").folder)


def start(request: pytest.FixtureRequest, folder: Path, **options: Any) -> Executor:
    made = Executor(ServerArgs(model=str(folder), **{"dtype": "float32", **options}))
    request.addfinalizer(made.shutdown)
    return made


def tokens(executor: Executor) -> list[list[int]]:
    return driver.generate(executor, PROMPTS[:3], num_tokens=NUM_TOKENS)


@pytest.fixture(scope="module")
def other(reference: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], list[list[int]]]:
    """The same model with other weights: its folder, its tensors, its tokens."""
    made = reference("llama-tied")
    folder = tmp_path_factory.mktemp("other")
    given = load_file(made.folder / "model.safetensors")
    torch.manual_seed(11)
    changed = {name: each + 0.2 * torch.randn_like(each) for name, each in given.items()}
    save_file(changed, folder / "model.safetensors", metadata={"format": "pt"})
    shutil.copy(made.folder / "config.json", folder)
    import transformers

    kind: Any = transformers.AutoModelForCausalLM
    model = kind.from_pretrained(folder).float().eval()
    with torch.inference_mode():
        return folder, changed, [greedy(model, each) for each in PROMPTS[:3]]


def test_from_disk_and_back(reference: Any, executor: Executor, other: Any) -> None:
    made = reference("llama-tied")
    assert tokens(executor) == made.greedy[:3]
    executor.call("check_weights", action="snapshot")
    assert executor.call("update_weights_from_disk", path=str(other[0]))[0]["version"] == 1
    assert tokens(executor) == other[2] != made.greedy[:3]
    changed = executor.call("check_weights", action="compare")[0]["changed"]
    assert len(changed) == len(executor.call("check_weights", action="checksum")[0])
    executor.call("update_weights_from_disk", path=str(made.folder))
    assert tokens(executor) == made.greedy[:3]
    assert executor.call("check_weights", action="compare") == [{"changed": []}]


def test_what_can_not_be_loaded_changes_nothing(reference: Any, executor: Executor, other: Any, tmp_path: Path) -> None:
    made = reference("llama-tied")
    few = dict(other[1])
    del few["model.layers.3.mlp.up_proj.weight"]  # the rest would be written before it is missed
    save_file(few, tmp_path / "model.safetensors")
    shutil.copy(made.folder / "config.json", tmp_path)
    with pytest.raises(BadModel, match="1 weights are missing"):
        executor.call("update_weights_from_disk", path=str(tmp_path))
    with pytest.raises(BadModel, match="differs in"):
        executor.call("update_weights_from_disk", path=str(reference("qwen3").folder))
    assert tokens(executor) == made.greedy[:3]


def test_a_disk_that_fails_half_way_changes_nothing(
    reference: Any, executor: Executor, other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Checkpoint.tensors

    def broken(self: Checkpoint) -> Iterator[tuple[str, torch.Tensor]]:
        for count, each in enumerate(whole(self)):
            if count == 20:
                raise OSError("Input/output error")
            yield each

    monkeypatch.setattr(Checkpoint, "tensors", broken)
    with pytest.raises(EngineError, match="OSError: Input/output error"):
        executor.call("update_weights_from_disk", path=str(other[0]))
    assert tokens(executor) == reference("llama-tied").greedy[:3]


def test_from_tensors(reference: Any, executor: Executor, other: Any) -> None:
    given = {name: tensors.packed(each) for name, each in other[1].items()}
    with pytest.raises(BadModel, match=r"model.norm.weight has shape \(2,\)"):
        executor.call(
            "update_weights_from_tensor",
            named_tensors={**given, "model.norm.weight": tensors.packed(torch.zeros(2))},
        )
    with pytest.raises(BadModel, match=r"model.x has no place"):
        executor.call("update_weights_from_tensor", named_tensors={"model.x": tensors.packed(torch.zeros(2))})
    cut = {"model.norm.weight": {"dtype": "float32", "shape": [3], "data": b"1234"}}
    with pytest.raises(BadConfig, match=r"model.norm.weight: 4 bytes for \[3\] of float32"):
        executor.call("update_weights_from_tensor", named_tensors=cut)
    assert tokens(executor) == reference("llama-tied").greedy[:3]
    names = sorted(given)
    for half in (names[::2], names[1::2]):
        executor.call("update_weights_from_tensor", named_tensors={name: given[name] for name in half})
    assert tokens(executor) == other[2]
    name = "model.layers.2.self_attn.k_proj.weight"
    expected = other[1][name].flatten()[:5].tolist()
    assert executor.call("get_weights_by_name", name=name, truncate_size=5)[0] == pytest.approx(expected)


@needs_kernels
@pytest.mark.parametrize("scheme", ["int8wo-32", "int4wo-32"])
def test_quantised_matrices_that_nobody_wrote_are_not_quantised_anew(
    reference: Any, request: pytest.FixtureRequest, tmp_path: Path, scheme: str
) -> None:
    made = reference("llama")
    executor = start(request, made.folder, quantization=scheme, dtype="bfloat16")  # what comes back is rounded
    before, given = tokens(executor), load_file(made.folder / "model.safetensors")
    runner = executor._runner
    assert runner is not None

    def forms() -> dict[str, Any]:
        return {name: each.packed for name, each in runner.model.named_modules() if isinstance(each, Linear)}

    first = forms()
    for name in ("model.norm.weight", "model.layers.1.mlp.down_proj.weight"):
        executor.call("update_weights_from_tensor", named_tensors={name: tensors.packed(given[name] * 2)})
    second = forms()
    assert {name for name in first if first[name] is not second[name]} == {"layers.1.feed_forward.down"}
    few = {name: each for name, each in given.items() if name != "model.layers.3.mlp.up_proj.weight"}
    save_file(few, tmp_path / "model.safetensors")
    shutil.copy(made.folder / "config.json", tmp_path)
    with pytest.raises(BadModel, match="1 weights are missing"):
        executor.call("update_weights_from_disk", path=str(tmp_path))
    assert all(forms()[name] is each for name, each in second.items())
    executor.call("update_weights_from_disk", path=str(made.folder))
    assert tokens(executor) == before


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("update_weights_from_disk", {}, "update_weights_from_disk: missing a required argument: 'path'; it takes"),
        ("update_weights_from_disk", {"path": 3}, "update_weights_from_disk: path: Expected `str`, got `int`"),
        ("describe", {"rank": 3}, "describe: got an unexpected keyword argument 'rank'; it takes nothing"),
        ("sleep", {"level": "2"}, "sleep: level: Expected `int`, got `str`"),
        ("release_memory_occupation", {"tags": [1]}, "tags: Expected `str`, got `int` - at `"),
        ("update_weights_from_tensor", {"named_tensors": [1]}, "Expected `object`, got `array`"),
        ("load_model", {}, "no rank does 'load_model'"),
    ],
)
def test_a_call_that_does_not_fit_is_its_own_error(
    executor: Executor, method: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadConfig, match=re.escape(message)):
        executor.call(method, **arguments)
    assert executor.call("describe")[0]["rank"] == 0


def test_a_fault_of_ours_in_a_call_is_the_end_of_that_call(
    reference: Any, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> None:
        raise KeyError("lost")

    monkeypatch.setattr("engine.runner.model_runner.ModelRunner.describe", broken)
    with pytest.raises(EngineError, match="KeyError: 'lost'") as caught:
        executor.call("describe")
    assert caught.value.code == "internal"
    assert tokens(executor) == reference("llama-tied").greedy[:3]


@pytest.mark.parametrize(("error", "has_trace"), [(BadConfig("no", fix="do"), False), (ValueError("odd"), True)])
def test_a_rank_that_knows_what_is_wrong_says_it_in_one_line(
    executor: Executor,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    has_trace: bool,
) -> None:
    def broken(*_: Any) -> None:
        raise error

    monkeypatch.setattr("engine.runner.model_runner.ModelRunner.execute", broken)
    runner = executor._runner
    assert runner is not None
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    with contextlib.closing(Wire(ours)) as driver_end, contextlib.closing(Wire(theirs)) as end:
        driver_end.send(Step(StepInput(plan=StepPlan(number=1))))
        assert worker.loop(runner, end) == 1
        said = driver_end.from_rank()
    assert isinstance(said, Broken) and said.fault.message in ("no", "ValueError: odd")
    [record] = [each for each in caplog.records if each.name == "engine.runner.worker"]
    assert bool(record.exc_info) is has_trace and "rank 0: a step failed" in record.getMessage()


def test_from_a_trainer(executor: Executor, other: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    sent = sorted(other[1].items())

    def train() -> None:
        group = OutsideGroup("127.0.0.1", port, rank=0, size=2, backend="gloo", timeout=60.0)
        for _, each in sent:
            group.broadcast(each.clone())

    trainer = threading.Thread(target=train)
    trainer.start()
    where = {"master_address": "127.0.0.1", "master_port": port, "rank_offset": 1, "world_size": 2}
    executor.call("init_weights_update_group", **where)
    with pytest.raises(BadConfig, match="a group 'weights' is there"):
        executor.call("init_weights_update_group", **where)
    executor.call(
        "update_weights_from_distributed",
        names=[name for name, _ in sent],
        dtypes=["float32"] * len(sent),
        shapes=[list(each.shape) for _, each in sent],
    )
    trainer.join(60)
    assert tokens(executor) == other[2]
    assert executor.call("destroy_weights_update_group") == [{"groups": []}]
    with pytest.raises(BadConfig, match="there is no group"):
        executor.call("update_weights_from_distributed", names=[], dtypes=[], shapes=[])


def test_shards_are_loaded_as_they_were(
    reference: Any, executor: Executor, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = reference("llama-tied")
    before = executor.call("check_weights", action="checksum")
    executor.call("save_sharded_model", path=str(tmp_path))
    assert sorted(each.name for each in tmp_path.glob("rank-*")) == ["rank-00000-of-00001.safetensors"]
    again = start(request, tmp_path)
    assert again.call("check_weights", action="checksum") == before
    assert tokens(again) == tokens(executor) == made.greedy[:3]
    with pytest.raises(BadModel, match=r"has no rank-0000\d-of-00002"):
        start(request, tmp_path, load_format="sharded", tp_size=2, dist_timeout=60.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"load_format": "gguf"}, "load_format=gguf with the folder"),
        ({"load_format": "remote"}, "load_format=remote"),
        ({"kv_cache_dtype": "fp4"}, "kv_cache_dtype='fp4'"),
        ({"attention_backend": "flash9"}, "attention backend 'flash9'"),
        ({"sampling_backend": "dice"}, "sampling_backend='dice'"),
        ({"context_length": 10**6}, "context_length=1000000"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"speculative_algorithm": "draft", "speculative_draft_model": "/nowhere"}, "'/nowhere'"),
        ({"enable_dp_attention": True, "tp_size": 1, "attn_cp_size": 1, "ep_size": 3}, "ep_size=3"),
    ],
)
def test_options_that_can_not_be(
    reference: Any, request: pytest.FixtureRequest, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(EngineError, match=message):
        start(request, reference("llama").folder, **options)


def test_dummy_weights_are_the_same_on_every_run(reference: Any, request: pytest.FixtureRequest) -> None:
    made = [start(request, reference("llama").folder, load_format="dummy", seed=seed) for seed in (3, 3, 4)]
    sums = [each.call("check_weights", action="checksum") for each in made]
    assert sums[0] == sums[1] != sums[2]
    assert all(0 <= token < 199 for each in tokens(made[0]) for token in each)


def test_memory_is_given_back_and_taken_again(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("llama-tied")
    executor = start(request, made.folder, enable_memory_saver=True, enable_weights_cpu_backup=True)
    assert tokens(executor) == made.greedy[:3]
    executor.call("sleep", level=1)
    for refused in ({"method": "sleep"}, {"method": "update_weights_from_disk", "path": str(made.folder)}):
        with pytest.raises(BadConfig, match=r"released"):
            executor.call(**refused)
    with pytest.raises(BadConfig, match="a step while kv_cache, weights are released"):
        tokens(executor)
    executor.call("wake_up", tags=["weights"])
    assert executor.call("wake_up")[0] == {"released": [], "are_weights_lost": False}
    assert tokens(executor) == made.greedy[:3]


def test_weights_that_were_lost_have_to_come_from_somewhere(reference: Any, request: pytest.FixtureRequest) -> None:
    made = reference("llama-tied")
    executor = start(request, made.folder, enable_memory_saver=True)
    executor.call("sleep", level=2)
    executor.call("wake_up")
    with pytest.raises(BadConfig, match="a step without weights"):
        tokens(executor)
    executor.call("update_weights_from_disk", path=str(made.folder))
    assert tokens(executor) == made.greedy[:3]


def test_without_a_saver_nothing_is_released(executor: Executor) -> None:
    with pytest.raises(BadConfig, match="start with enable_memory_saver"):
        executor.call("release_memory_occupation", tags=["kv_cache"])
    with pytest.raises(BadConfig, match="memory tag 'kv'"):
        executor.call("release_memory_occupation", tags=["kv"])
    tokens(executor)


def test_a_profile_names_the_steps(executor: Executor, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="no profile is being taken"):
        executor.call("stop_profile", path=str(tmp_path))
    executor.call("start_profile")
    tokens(executor)
    trace = executor.call("stop_profile", path=str(tmp_path))[0]["trace"]
    names = {each.get("name") for each in json.loads(Path(trace).read_text())["traceEvents"]}
    assert {"step[extend bs=3 toks=60 longest=40]", "step[decode bs=3 toks=3]"} <= names
