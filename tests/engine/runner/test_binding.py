"""Which CPUs a rank binds, and what start-up refuses: bad environments, odd machines, ranks that do not fit."""

from __future__ import annotations

import logging
import os
import types
from typing import Any
from unittest.mock import patch

import pytest

pytest.importorskip("torch")

import torch

from engine.config.server_args import ServerArgs
from engine.distributed import all_reduce, parallel_state
from engine.host.cpus import Cpu
from engine.runner.model_runner import ModelRunner
from engine.schema.errors import BadConfig, TopologyUnknown

TWO_NODES = [Cpu(cpu, cpu % 4, cpu % 4 // 2, cpu % 4 // 2) for cpu in range(8)]  # 4 cores of two threads, 2 nodes
TOPOLOGY = "engine.host.cpus.topology"
ALLOWED = "engine.host.cpus.allowed_cpus"


def bare(**fields: Any) -> ModelRunner:
    """A runner that was not started, with what the method under test looks at."""
    made = object.__new__(ModelRunner)
    fixed = {"rank": 0, "tp_rank": 0, "local_rank": 0, "local_size": 1, "local_omp_cpuid": None}
    made.__dict__.update({**fixed, **fields})
    return made


def bound(env: str | None, machine: list[Cpu], allowed: set[int], rank: int, size: int) -> str | None:
    runner = bare(rank=rank, local_rank=rank, local_size=size)
    environ = {} if env is None else {"ENGINE_CPU_OMP_THREADS_BIND": env}
    with patch.dict(os.environ, environ), patch(TOPOLOGY, return_value=machine), patch(ALLOWED, return_value=allowed):
        runner.init_threads_binding()
    return runner.local_omp_cpuid


@pytest.mark.parametrize(
    ("env", "machine", "allowed", "expected"),
    [
        (None, TWO_NODES, set(range(8)), ["0,1", "2,3"]),  # one thread a core, a node a rank
        ("all", TWO_NODES, {0, 1, 2}, ["0,1", "2"]),  # cut with the affinity
        ("all", TWO_NODES, {0, 1}, ["0,1", None]),  # a node that the affinity empties
        ("all", TWO_NODES, set(range(8)), ["0,1"]),  # more nodes than ranks
        ("all", TWO_NODES, set(range(8)), ["0", "1", "2", "3"]),  # ranks share nodes
        ("all", TWO_NODES, set(range(8)), [None, "0", "1", None, "2", "3"]),  # fewer cores than ranks of a node
        ("all", [Cpu(4, 0, 0, 3), Cpu(0, 0, 0, 1)], {0, 4}, ["0", "4"]),  # node numbers with gaps, not in order
        ("all", [], {0}, [None]),
        ("4-5,7|0", TWO_NODES, set(range(8)), ["4-5,7", "0"]),  # as it was given
        ("0-3", TWO_NODES, set(range(8)), ["0-3"]),
    ],
)
def test_the_cpus_of_each_rank(
    env: str | None, machine: list[Cpu], allowed: set[int], expected: list[str | None]
) -> None:
    found = [bound(env, machine, allowed, rank, len(expected)) for rank in range(len(expected))]
    assert found == expected


@pytest.mark.parametrize(
    ("env", "size", "message"),
    [
        ("0|1", 1, "has 2 parts for 1 ranks"),
        ("0-3", 2, "has 1 parts for 2 ranks"),
        ("0|x", 2, "'x' is no CPU or range"),
        ("0|", 2, "is no CPU or range"),
        ("0|9", 2, r"rank 1 may not use CPUs \[9\]"),
    ],
)
def test_bad_bindings_are_named(env: str, size: int, message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        [bound(env, TWO_NODES, set(range(8)), rank, size) for rank in range(size)]


def test_idle_and_shared_nodes_are_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        bound("all", TWO_NODES, set(range(8)), 0, 1)
        bound("all", TWO_NODES, set(range(8)), 0, 3)
        bound("all", TWO_NODES, {2, 3}, 0, 1)
    assert [word in caplog.text for word in ("stay idle: ranks=1 nodes=2", "shared: ranks=3", "unbound")] == [True] * 3


def test_a_machine_that_does_not_tell_ends_start_up() -> None:
    with patch(TOPOLOGY, side_effect=TopologyUnknown("no lscpu", fix="install it")), pytest.raises(TopologyUnknown):
        bare().init_threads_binding()


# -- meeting the others


def starting(monkeypatch: pytest.MonkeyPatch, met: list[dict[str, Any]], **options: Any) -> ModelRunner:
    """A runner before init_torch_distributed, in a world that is only written down."""
    args = ServerArgs(device="cpu", **options)

    class Handle(types.SimpleNamespace):
        kind, index, place = "cpu", 0, torch.device("cpu")

        def __str__(self) -> str:
            return self.kind

        def set_current(self) -> None:
            met.append({"set": True})

        def available_bytes(self) -> int:
            return 1000

        def synchronize(self) -> None: ...

    monkeypatch.setattr(parallel_state, "init_distributed_environment", lambda **given: met.append(given))
    monkeypatch.setattr(parallel_state, "initialize_model_parallel", lambda *_, **__: None)
    return bare(
        server_args=args,
        device_handle=Handle(),
        device="cpu",
        gpu_id=0,
        tp_size=args.tp_size,
        pp_size=args.pp_size,
        dp_size=args.dp_size,
        ep_size=args.ep_size,
        attn_cp_size=args.attn_cp_size,
        world_size=args.world_size,
        local_size=args.world_size,
        dist_port=4321,
        is_draft_worker=False,
    )


@pytest.mark.parametrize(
    ("options", "environ", "url"),
    [
        ({}, {}, "tcp://127.0.0.1:4321"),
        ({}, {"ENGINE_HOST_IP": "10.1.2.3"}, "tcp://10.1.2.3:4321"),
        ({}, {"ENGINE_HOST_IP": "2001:db8::5"}, "tcp://[2001:db8::5]:4321"),
        ({"dist_init_addr": "node-1.lan:77"}, {}, "tcp://node-1.lan:77"),
        ({"dist_init_addr": "[::1]:77"}, {}, "tcp://[::1]:77"),
        ({"dist_init_addr": "[::1]:77"}, {"ENGINE_DIST_INIT_METHOD": "file:///x"}, "file:///x"),
        ({"dist_init_addr": "[::1]:77"}, {"RANK": "0", "WORLD_SIZE": "2"}, "env://"),
        ({}, {"RANK": "0"}, "tcp://127.0.0.1:4321"),
    ],
)
def test_where_ranks_meet(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], environ: dict[str, str], url: str
) -> None:
    met: list[dict[str, Any]] = []
    runner = starting(monkeypatch, met, tp_size=2, **options)
    with patch.dict(os.environ, environ):
        runner.init_torch_distributed()
    assert met[0] == {"set": True}
    assert met[1] == {"backend": "gloo", "world_size": 2, "rank": 0, "init_method": url, "timeout": 600.0}


@pytest.mark.parametrize(
    ("options", "environ", "message"),
    [
        ({"dist_init_addr": "::1:77"}, {}, "is ambiguous"),
        ({"dist_init_addr": "host"}, {}, "no host or no port"),
        ({}, {"RANK": "1", "WORLD_SIZE": "2"}, "torchrun started rank 1 of 2"),
        ({}, {"RANK": "0", "WORLD_SIZE": "4"}, "torchrun started rank 0 of 4"),
        ({"elastic_ep_backend": "mooncake"}, {}, "collective backend 'mooncake-cpu' can't be loaded"),
        ({"enable_mscclpp": True}, {}, "mscclpp is not installed"),
    ],
)
def test_a_world_that_can_not_be(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], environ: dict[str, str], message: str
) -> None:
    runner = starting(monkeypatch, [], tp_size=2, **options)
    with patch.dict(os.environ, environ), pytest.raises(BadConfig, match=message):
        runner.init_torch_distributed()


@pytest.mark.parametrize(
    ("size", "advice"), [("2", "let one launcher number the ranks"), ("4", "the number of processes")]
)
def test_the_advice_fits_what_torchrun_has_wrong(monkeypatch: pytest.MonkeyPatch, size: str, advice: str) -> None:
    """Declared in golden/specs/torch_distributed.toml: the original spoke of the number of processes in any case."""
    runner = starting(monkeypatch, [], tp_size=2)
    with patch.dict(os.environ, {"RANK": "1", "WORLD_SIZE": size}), pytest.raises(BadConfig) as caught:
        runner.init_torch_distributed()
    assert advice in caught.value.fix


def test_the_cards_of_mooncake(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    module = types.ModuleType("mooncake")
    module.ep = types.SimpleNamespace(set_device_filter=given.append)  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "mooncake", module)
    met: list[dict[str, Any]] = []
    runner = starting(monkeypatch, met, tp_size=2, elastic_ep_backend="mooncake", mooncake_ib_device="mlx5_0, mlx5_3,")
    runner.init_torch_distributed()
    assert given == [["mlx5_0", "mlx5_3"]]
    assert met[1]["backend"] == "mooncake-cpu"
    runner = starting(monkeypatch, met, tp_size=2, elastic_ep_backend="mooncake", mooncake_ib_device=" , ")
    with pytest.raises(BadConfig, match="names no card"):
        runner.init_torch_distributed()


@pytest.mark.parametrize("least", [899, 900])
def test_ranks_with_unequal_memory(
    monkeypatch: pytest.MonkeyPatch, least: int, caplog: pytest.LogCaptureFixture
) -> None:
    runner = starting(monkeypatch, [], tp_size=2)
    group = types.SimpleNamespace(minimum=lambda _: least, size=2, rank=0)
    monkeypatch.setattr(parallel_state, "get_group", lambda _: group)
    if least == 900:  # exactly 90 % is fine
        assert runner.init_torch_distributed() == 900
        return
    with pytest.raises(BadConfig, match="rank 0 has 1000 bytes free, another of its group 899"):
        runner.init_torch_distributed()
    with patch.dict(os.environ, {"ENGINE_MEMORY_BALANCE": "0"}), caplog.at_level(logging.WARNING):
        assert runner.init_torch_distributed() == 899
    assert "unbalanced" in caplog.text


def test_binding_is_applied_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    applied: list[Any] = []
    monkeypatch.setattr("engine.distributed.bootstrap.has_amx", lambda: True)
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, given: applied.append((pid, given)))
    monkeypatch.setattr(torch, "set_num_threads", applied.append)
    monkeypatch.setattr(parallel_state, "share_memory", lambda *given, **_: applied.append(given))
    monkeypatch.delenv("LOCAL_SIZE", raising=False)
    runner = starting(monkeypatch, [], tp_size=2)
    runner.local_omp_cpuid = "0-2,6"
    runner.init_torch_distributed()
    assert applied == [(0, [0, 1, 2, 6]), 4, ("tp",)]
    assert os.environ.pop("LOCAL_SIZE") == "2"
    applied.clear()
    runner.server_args = ServerArgs(tp_size=2, threads=3, disable_custom_all_reduce=True)
    runner.local_omp_cpuid = None
    runner.init_torch_distributed()
    assert applied == [3]
    os.environ.pop("LOCAL_SIZE")


def test_a_machine_without_matrix_tiles_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("engine.distributed.bootstrap.has_amx", lambda: False)
    monkeypatch.setattr("engine.distributed.bootstrap.is_arm64", lambda: False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: pytest.fail("bound"))
    runner = starting(monkeypatch, [], tp_size=2)
    runner.local_omp_cpuid = "0"
    with caplog.at_level(logging.WARNING):
        runner.init_torch_distributed()
    assert "not bound" in caplog.text


def test_a_device_that_can_not_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = starting(monkeypatch, [], tp_size=1)
    monkeypatch.setattr(
        type(runner.device_handle), "set_current", lambda _: (_ for _ in ()).throw(RuntimeError("ordinal"))
    )
    with pytest.raises(BadConfig, match="rank 0 can't take device cpu: ordinal"):
        runner.init_torch_distributed()


def test_the_warm_up_reaches_every_group(monkeypatch: pytest.MonkeyPatch) -> None:
    summed: list[str] = []

    def group(kind: str) -> Any:
        return types.SimpleNamespace(minimum=lambda given: given, all_reduce=lambda _: summed.append(kind), size=2)

    runner = starting(monkeypatch, [], tp_size=2, pre_warm_nccl=True)
    monkeypatch.setattr(parallel_state, "get_group", group)
    runner.init_torch_distributed()
    assert summed == ["world", "tp", "pp", "ep"]
    assert all_reduce.wants("custom")
