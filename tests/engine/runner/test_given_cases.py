"""The given cases from the field that are about machines, ranks, weights and the runner, on our own functions. Each is
what a public engine once did wrong; the numbers are theirs."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch

from engine.config.model_config import from_hf
from engine.config.server_args import ServerArgs
from engine.distributed import addresses, backend, ports
from engine.distributed.group import Group
from engine.host import cpus, memory, numa
from engine.loader import shards
from engine.models import weights
from engine.models.checkpoint import Checkpoint
from engine.runner.executor import Executor
from engine.schema.errors import BadConfig, BadModel
from tests.engine import checkpoints
from tests.engine.runner import driver
from tests.engine.runner.conftest import NUM_TOKENS, PROMPTS

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
]


def test_c03_cpus_come_from_what_was_given() -> None:
    assert [cpus.slice_for_rank(rank, 2, {4, 5, 9, 12}) for rank in (0, 1)] == [[4, 5], [9, 12]]


def test_c04_a_narrow_affinity_is_no_missing_numa() -> None:
    every = set(range(8))
    assert numa.cpus_of_node(0, {0, 1, 2, 3}, {2, 3, 4}, strict=False) == [2, 3]
    assert numa.cpus_of_node(0, {0, 1}, {6}, strict=False) is None
    assert numa.cpus_of_node(0, {0, 1}, every, strict=False) == [0, 1]
    with pytest.raises(BadConfig):
        numa.cpus_of_node(0, {0, 1}, {6}, strict=True)


@pytest.mark.parametrize(
    ("bad", "args"),
    [
        ([], ["--cpunodebind=1", "--membind=1"]),
        (["--membind"], ["--cpunodebind=1", "--preferred=1"]),
        (["--membind", "--preferred"], ["--cpunodebind=1"]),
        (["--"], []),
    ],
)
def test_c05_binding_of_memory_may_be_forbidden(bad: list[str], args: list[str]) -> None:
    assert numa.numactl_args(1, lambda given: not any(one.startswith(each) for one in given for each in bad)) == args


def test_c07_libnuma_has_two_names() -> None:
    def loader(*have: str) -> Any:
        def load(name: str) -> str:
            if name not in have:
                raise OSError(name)
            return name

        return load

    found = [numa.load_libnuma(loader(*have)) for have in (("libnuma.so",), ("libnuma.so.1",), ())]
    assert found == ["libnuma.so", "libnuma.so.1", None]


def test_c08_stages_take_nodes_first() -> None:
    sizes = [(8, 1, 1), (8, 1, 2), (8, 2, 2), (2, 4, 4)]
    assert [backend.ranks_per_node(*each) for each in sizes] == [8, 4, 8, 2]


def test_c09_brackets_are_for_ipv6() -> None:
    hosts = {"10.0.0.1": "10.0.0.1", "node-1.lan": "node-1.lan", "2001:db8::5": "2001:db8::5", "[::1]": "::1"}
    for given, host in hosts.items():
        address = addresses.parse_address(f"{given if '[' in given else addresses.bracketed(given)}:29500", source="x")
        made = urlparse(addresses.init_url(address.host, address.port))
        assert (made.hostname, made.port) == (host, 29500)


def test_c11_a_wildcard_is_no_address_to_connect_to() -> None:
    assert [addresses.connect_host(each) for each in ("0.0.0.0", "::", "10.1.1.1")] == ["127.0.0.1", "::1", "10.1.1.1"]


def test_c12_a_port_is_free_for_every_family_or_not_at_all() -> None:
    both = ports.FAMILIES

    def free(port: int, families: Any, taken: set[tuple[Any, int]]) -> bool:
        return ports.is_free(port, families=families, bind=lambda family, at: (family, at) not in taken)

    assert not free(80, both, {(both[1], 80)})
    assert free(80, both, set())
    assert not free(70000, both, set())
    assert free(80, both[:1], {(both[1], 80)})


def test_c15_workers_listen_where_the_others_come_from() -> None:
    given = [None, "n1:9", "[fd00::1]:9"]
    assert [addresses.worker_bind_host(each) for each in given] == ["127.0.0.1", "n1", "fd00::1"]


def test_c17_cards_are_counted_from_the_jobs_first_gpu() -> None:
    for gpus in ([0, 1, 2, 3], [4, 5, 6, 7]):
        assert backend.cards_for_gpus(gpus, ["a", "b"]) == ["a", "b"]


def test_c18_a_cpu_group_gets_cpu_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    devices: list[str] = []
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda tensor, **_: devices.append(tensor.device.type))
    with torch.device("meta"):  # another default device
        assert Group((0, 1), 0).minimum(7.0) == 7.0
    assert devices == ["cpu"]


def test_c19_the_least_of_all_ranks_counts() -> None:
    assert [memory.is_unbalanced(each, 40) for each in (80, 40)] == [True, False]
    assert not memory.is_unbalanced(80, 79)


def with_config(folder: Path, target: Path, **changes: Any) -> Path:
    target.mkdir()
    config = json.loads((folder / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**config, **changes}))
    shutil.copy(folder / "model.safetensors", target)
    return target


@pytest.mark.parametrize(
    ("quantization", "wanted", "name"),
    [
        ({"kv_cache_quant_algo": "FP8"}, "auto", "fp8_e4m3"),
        ({"kv_cache_scheme": {"type": "float", "num_bits": 8}}, "auto", "fp8_e4m3"),
        ({"kv_cache_scheme": {"type": "int", "num_bits": 8}}, "auto", "int8"),
        ({"kv_cache_quant_algo": "FP8"}, "bfloat16", "bfloat16"),  # what is asked for goes first
        (None, "auto", "float32"),
    ],
)
def test_c29_what_was_settled_on_is_what_everybody_reads(
    reference: Any,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    quantization: dict[str, Any] | None,
    wanted: str,
    name: str,
) -> None:
    folder = with_config(reference("llama").folder, tmp_path / "model", quantization_config=quantization)
    executor = Executor(ServerArgs(model=str(folder), dtype="float32", kv_cache_dtype=wanted))
    request.addfinalizer(executor.shutdown)
    runner = executor._runner
    assert runner is not None
    assert runner.server_args.kv_cache_dtype == name == executor.call("describe")[0]["kv_cache_dtype"]
    assert runner.kv_cache.dtype == runner.kv_cache_dtype
    made = driver.generate(executor, PROMPTS[:2], num_tokens=NUM_TOKENS)
    assert [len(each) for each in made] == [NUM_TOKENS] * 2
    if name == "float32":
        assert made == reference("llama").greedy[:2]


def test_c29_an_unknown_one_is_an_error() -> None:
    raw = {**checkpoints.SIZES, "architectures": ["LlamaForCausalLM"]}
    for given in ({"kv_cache_quant_algo": "weird"}, {"kv_cache_scheme": {"type": "float", "num_bits": 4}}):
        with pytest.raises(BadModel, match="KV cache in"):
            from_hf({**raw, "quantization_config": given}, source="x")


def test_c33_every_rank_has_a_head() -> None:
    target = from_hf({**checkpoints.SIZES, "architectures": ["LlamaForCausalLM"]}, source="x")
    from engine.models.decoder import Decoder, stages

    for size, rows in ((1, 32), (2, 16), (4, 16)):
        model = Decoder(target, group=Group(range(size), 0), stage=stages(4, 1)[0], dtype=torch.float32)
        found = model.adapter_targets()["model.layers.0.self_attn.k_proj"]
        assert found.last - found.first == rows


@pytest.mark.parametrize("order", [1, -1])
def test_c35_every_weight_is_handled_once_in_any_order(reference: Any, order: int) -> None:
    model = checkpoints.decoder(reference("llama-tied").folder)
    expected = {name: each.clone() for name, each in model.state_dict().items()}
    for each in model.parameters():
        each.data.zero_()
    tensors = list(Checkpoint(reference("llama-tied").folder).tensors())[::order]
    if order == 1:  # the tied matrix under its other name too, in front of the rest
        tied = dict(tensors)["model.embed_tokens.weight"]
        tensors.insert(0, ("lm_head.weight", tied))
    handled = []

    def once() -> Any:
        for name, tensor in tensors:
            handled.append(name)
            yield name, tensor

    weights.load(model, once(), source="x")
    assert handled == [name for name, _ in tensors]
    assert all(torch.equal(each, expected[name]) for name, each in model.state_dict().items())


def test_c36_old_scales_are_skipped_and_nothing_else_is(reference: Any, caplog: pytest.LogCaptureFixture) -> None:
    folder = reference("llama").folder
    model = checkpoints.decoder(folder)
    named = list(Checkpoint(folder).tensors())
    with caplog.at_level(logging.WARNING):
        weights.load(model, [*named, ("model.layers.0.self_attn.kv_scale", torch.ones(1))], source="x")
    assert caplog.text.count("obsolete=1") == 1
    with pytest.raises(BadModel, match=r"model.layers.9.w has no place"):
        weights.load(model, [*named, ("model.layers.9.w", torch.ones(1))], source="x")


def test_c38_shards_count_from_zero_or_one() -> None:
    def complete(*parts: tuple[list[int], int]) -> bool:
        names = [f"model-{at:05}-of-{total:05}.safetensors" for numbers, total in parts for at in numbers]
        return not shards.missing_shards(names)

    assert complete(([1, 2], 2)) and complete(([0, 1], 2))
    assert not complete(([0, 2], 2)) and not complete(([1], 2)) and not complete(([1], 1), ([2], 2))
