"""The twins of init_torch_distributed on a stage, and worlds for them: one backend's, and what a test says of it."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from engine.host import cpus
from tests.equivalence.helpers import BOOTSTRAP, Twins
from tests.equivalence.stage import Stage, always
from tests.support.frozen import Text

OPTIONS: dict[str, Any] = {
    "dist_backend": None, "elastic_ep_backend": None, "mooncake_ib_device": None, "dist_init_addr": None,
    "disable_custom_all_reduce": False, "enable_mscclpp": False, "enable_torch_symm_mem": False,
    "enable_p2p_check": False, "threads": None, "dist_timeout": 600.0, "pp_size": 1, "dp_size": 1,
    "enable_dp_attention": False, "attn_cp_size": 1, "ep_size": 1, "pre_warm_nccl": False,
}  # fmt: skip
WORLD: dict[str, Any] = {
    "device": "cpu", "rank": 0, "tp_size": 1, "local_size": None, "dist_port": 4321, "is_draft_worker": False,
    "local_omp_cpuid": None, "environ": {}, "has_mooncake": False, "has_amx": False, "is_arm64": False,
    "free": (1000, 900), "least": 900, "least_tp": 900, "wants": {"custom": True, "torch_symm_mem": False},
    "can_use_peers": True, "is_connected": True,
}  # fmt: skip


def world_of(**given: Any) -> dict[str, Any]:
    """A world by what is special about it; options of the server by their names."""
    options = {name: given.pop(name) for name in list(given) if name in OPTIONS}
    unknown = given.keys() - WORLD.keys()
    assert not unknown, unknown
    made = {**WORLD, **given, "options": {**OPTIONS, **options}}
    if made["local_size"] is None:
        made["local_size"] = world_size(made)
    return made


def world_size(world: Mapping[str, Any]) -> int:
    return int(world["tp_size"] * world["options"]["pp_size"])


def twins(edited: Text | None = None, runner: Text | None = None) -> Twins:
    stage = Stage()
    clock = types.SimpleNamespace(perf_counter=lambda: 12.5)  # durations are in no result
    answers: dict[str, dict[str, Any]] = {
        "all_reduce": {
            "set_custom_all_reduce": None,
            "set_mscclpp_all_reduce": None,
            "set_torch_symm_mem_all_reduce": None,
            "trust_peer_access": None,
            "wants": lambda name: stage.world["wants"][name],
            "can_use_peers": lambda _: stage.world["can_use_peers"],
        },
        "parallel_state": {
            "init_distributed_environment": None,
            "initialize_model_parallel": None,
            "share_memory": None,
            "map_peer_memory": None,
            "get_group": lambda kind: _group(stage, kind),
        },
        "cpus": {},
    }
    names: dict[str, Any] = {name: stage.thing(name, each) for name, each in answers.items() if name != "cpus"}
    names["cpus"] = stage.thing("cpus", {}, _real=cpus)
    names["torch"] = stage.thing("torch", {"set_num_threads": None, "zeros": "zeros"}, _real=torch)
    names["os"] = _Os(stage)
    names["time"] = clock
    names["has_amx"] = lambda: stage.called("has_amx", (), {}, stage.world["has_amx"])
    names["is_arm64"] = lambda: stage.called("is_arm64", (), {}, stage.world["is_arm64"])
    return Twins(BOOTSTRAP, stage, names, edited=edited, runner=runner)


class _Os:
    """What is asked of the operating system."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @property
    def environ(self) -> Mapping[str, str]:
        return self._stage.environ

    def sched_setaffinity(self, *given: Any) -> None:
        self._stage.called("os.sched_setaffinity", given, {})

    def uname(self) -> Any:
        return self._stage.called("os.uname", (), {}, types.SimpleNamespace(machine="riscv64"))


def _group(stage: Stage, kind: str) -> Any:
    least = "least_tp" if kind == "tp" else "least"
    handle = None
    if stage.world["is_connected"]:
        named = {"get_hccl_comm_name": lambda rank: f"hccl-{rank}"}
        handle = stage.thing(f"{kind}.handle", {"_get_backend": lambda _: stage.thing("hccl", named)})
    answers = {"minimum": lambda _: stage.world[least], "all_reduce": None}
    return stage.thing(f"group {kind}", answers, handle=handle)


def _device(stage: Stage, world: Mapping[str, Any]) -> Any:
    kind, free = world["device"], iter(world["free"])
    answers = {"set_current": None, "available_bytes": lambda: next(free), "synchronize": None}
    return stage.thing(f"{kind}:0", answers, place=f"place of {kind}")


def fields(stage: Stage, world: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """Of a runner that has not met the others."""
    plain = {
        name: world[name]
        for name in ("rank", "tp_size", "local_size", "dist_port", "is_draft_worker", "local_omp_cpuid", "device")
    }
    plain["world_size"] = world_size(world)
    made = always(**plain)
    made["server_args"] = lambda: types.SimpleNamespace(**world["options"])
    made["device_handle"] = lambda: _device(stage, world)
    return made


def compare(pair: Twins, world: Mapping[str, Any], *, faults: bool = False, **given: Any) -> Any:
    """Both sides in one world; with `faults`, also with each call on a collaborator failing in turn."""
    run = pair.compare_with_faults if faults else pair.compare
    return run(world, fields=fields(pair.stage, world), **given)
