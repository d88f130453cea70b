"""Every backend: the original and its replacement meet the other ranks in that backend's world, with the engine's own
floors below them, for real where the device is there and simulated where it is not, up to 4,096 ranks.

UNMOVED_TEST_BACKEND chooses (`tox run -e py311-cuda-nccl`); all without it. Needed in each world: the backend's own
branches, by what was asked of the device and of torch.distributed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import logging
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist

from engine.config.server_args import ServerArgs
from engine.distributed import all_reduce, parallel_state
from engine.host.device import open_device
from engine.runner.model_runner import ModelRunner
from tests.equivalence.helpers import BOOTSTRAP, RUNNER
from tests.equivalence.worlds import BACKENDS, Backend, Met, chosen, simulated
from tests.support.frozen import frozen, load
from tests.support.house import ROOT

ORIGINAL = load(frozen(BOOTSTRAP.plan, RUNNER), f"ModelRunner.{BOOTSTRAP.method}", {})
WORLDS = [(backend, *sizes) for backend in chosen() for sizes in backend.sizes]
OURS = ("engine.runner.model_runner", "engine.distributed.bootstrap")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """What a rank leaves in its process is gone after it."""
    flags, threads = dict(all_reduce._FLAGS), torch.get_num_threads()
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    with patch.dict(os.environ):
        yield
    parallel_state.destroy()
    all_reduce._FLAGS.update(flags)
    torch.set_num_threads(threads)
    if allowed is not None:
        os.sched_setaffinity(0, allowed)


def runner_of(backend: Backend, tp_size: int, pp_size: int, rank: int) -> ModelRunner:
    """Before it meets the others."""
    args = ServerArgs(device=backend.device, tp_size=tp_size, pp_size=pp_size, **backend.options)
    made = object.__new__(ModelRunner)
    handle = open_device(backend.device, rank % 8)
    made.__dict__.update(
        server_args=args, device_handle=handle, device=handle.kind, gpu_id=rank % 8, rank=rank, tp_size=tp_size,
        pp_size=pp_size, tp_rank=rank % tp_size, pp_rank=rank // tp_size, world_size=args.world_size,
        local_rank=rank % 8, local_size=args.world_size, dist_port=4321, is_draft_worker=False, local_omp_cpuid=None,
        dp_size=1, ep_size=1, attn_cp_size=1,
    )  # fmt: skip
    return made


def outcome(function: Callable[[ModelRunner], int], backend: Backend, sizes: tuple[int, int], rank: int) -> Any:
    """Of one side: what it gave, what stands on the runner and in the process, what the device and torch were asked."""
    runner, met = runner_of(backend, *sizes, rank), Met()
    logs: list[tuple[str, str]] = []
    all_reduce._FLAGS["trust_peers"] = False

    def heard(logger: logging.Logger, record: logging.LogRecord) -> None:
        if logger.name in OURS:
            text = str(record.msg) if record.msg.startswith("distributed: end") else record.getMessage()
            logs.append((record.levelname, text))

    with (
        simulated(backend, met),
        patch.object(logging.Logger, "handle", heard),
        patch.object(logging.Logger, "isEnabledFor", lambda *_: True),
        patch("engine.host.device.available_bytes", return_value=1 << 33),
        patch.object(parallel_state, "share_memory", lambda kind, **given: met.calls.append((kind, str(given)))),
    ):
        result = function(runner)
        groups = {
            kind: (it.ranks, it.rank, it.size, it.handle is None, it.hccl_comm_name, type(it.reducer).__name__)
            for kind, it in sorted(parallel_state._GROUPS.items())
        }
        kept = {
            name: getattr(runner, name) is parallel_state.get_group(name.removesuffix("_group"))
            for name in ("tp_group", "pp_group", "attention_tp_group")
        }
        flags = dict(all_reduce._FLAGS)
        parallel_state.destroy()
    return {
        "result": result, "groups": groups, "kept": kept, "flags": flags, "calls": met.calls, "logs": logs,
        "size": os.environ.pop("LOCAL_SIZE", None),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("backend", "tp_size", "pp_size"), WORLDS, ids=[f"{it.name}-tp{tp}-pp{pp}-simulated" for it, tp, pp in WORLDS]
)
def test_ranks_meet_as_before(backend: Backend, tp_size: int, pp_size: int) -> None:
    size = tp_size * pp_size
    for rank in sorted({0, size // 2, size - 1}):
        old = outcome(ORIGINAL, backend, (tp_size, pp_size), rank)
        new = outcome(ModelRunner.init_torch_distributed, backend, (tp_size, pp_size), rank)
        assert old == new, f"{BOOTSTRAP.path}:{BOOTSTRAP.name} on {backend.name}, rank {rank} of {size}"
        assert all(old["kept"].values()), "what the runner holds are the groups of this process"
        check_own_branches(backend, old, tp_size, size)


def check_own_branches(backend: Backend, seen: dict[str, Any], tp_size: int, size: int) -> None:
    """That the world was this backend's: nothing is shown by a world in which its branches did not run."""
    asked = [each[0] for each in seen["calls"]]
    met = [each[1] for each in seen["calls"] if each[0] == "init_process_group"]
    assert met == ([backend.collective] if size > 1 else [])
    assert len(seen["groups"]["world"][0]) == size
    if backend.device in ("cuda", "xpu", "npu"):
        assert asked[0] == f"{backend.device}.set_device"
        assert seen["result"] == 60 << 30
        assert ("gloo" in {each[2] for each in seen["calls"] if each[0] == "new_group"}) == (size > 1)
    if backend.name == "cuda-nccl":
        assert ("peers" in asked) == (tp_size > 1 and "cuda.can_device_access_peer" in asked)
        assert ("cuda.synchronize" in asked) == (size > 1)
        assert seen["flags"]["trust_peers"]
        assert "copied" not in asked
    if backend.name == "rocm-nccl":
        assert ("copied" in asked) == (tp_size > 1 and "cuda.can_device_access_peer" in asked)
    if backend.name == "cpu-mooncake":
        assert ("cards", ("mlx5_0", "mlx5_1")) in seen["calls"]
    if backend.name == "npu-hccl" and tp_size > 1:
        assert seen["groups"]["tp"][4].startswith("hccl-of-")


@pytest.mark.parametrize("backend", chosen(), ids=[f"{it.name}-for-real" for it in chosen()])
def test_one_rank_for_real(backend: Backend) -> None:
    """The device itself, where it is there; ranks that meet for real are test_two_ranks.py's and test_ranks.py's."""
    if not backend.is_there():
        pytest.skip(f"hardware: {backend.name}: no such device here; not shown: {', '.join(backend.hardware)}")
    found = []
    for function in (ORIGINAL, ModelRunner.init_torch_distributed):
        runner = runner_of(backend, 1, 1, 0)
        found.append(function(runner) > 0)
        found.append(runner.tp_group.size)
        if backend.device == "cuda":
            runner.init_cublas()
        parallel_state.destroy()
    assert found == [True, 1] * 2


@pytest.mark.parametrize("backend", chosen(), ids=[it.name for it in chosen()])
def test_a_backend_that_is_not_there_is_named_the_same_way(backend: Backend) -> None:
    """What both say where the device or the library is missing, with no stand-in at all."""
    if backend.is_there() and backend.device != "cpu":
        pytest.skip(f"{backend.name} is there")
    said = []
    for function in (ORIGINAL, ModelRunner.init_torch_distributed):
        with patch.object(dist, "init_process_group", side_effect=ValueError("no such backend")):
            try:
                function(runner_of(backend, 2, 1, 0))
            except Exception as error:  # noqa: BLE001 - an outcome
                said.append((type(error).__name__, str(error)))
            finally:
                parallel_state.destroy()
    assert len(said) == 2
    assert said[0] == said[1]


def test_the_backends_are_those_of_tox() -> None:
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")
    assert "{" + ",".join(it.name for it in BACKENDS) + "}" in text
