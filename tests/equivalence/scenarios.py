"""`python -m tests.equivalence.scenarios [NAME]`: real calls of each method that left the runner, one a behaviour, for
recordings. Run by tests/equivalence/rerecord.py on the code before the split, and by itself on what there is now.

Devices are stand-ins (Handle below, which recordings name): what they say of their memory is the same on every machine.
Real serving is no scenario but the engine's own command; rerecord.py lists which."""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest.mock import patch

import torch

from engine.config.server_args import ServerArgs
from engine.distributed import all_reduce, parallel_state
from engine.host import cpus
from engine.host.cpus import Cpu
from engine.runner import model_runner
from engine.runner.model_runner import ModelRunner
from engine.schema.errors import EngineError

MACHINE = [Cpu(cpu, cpu % 4, cpu % 4 // 2, cpu % 4 // 2) for cpu in range(8)]


class Handle:
    """A simulated device: a kind, and memory that is always the same."""

    def __init__(self, kind: str, *, fails: bool = False) -> None:
        self.kind, self.index, self.fails = kind, 0, fails

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}"

    @property
    def place(self) -> torch.device:
        return torch.device("cpu")

    def set_current(self) -> None:
        if self.fails:
            raise RuntimeError("invalid device ordinal")

    def available_bytes(self) -> int:
        return 1000

    def synchronize(self) -> None: ...


def runner(device: str = "cpu", *, fails: bool = False, rank: int = 0, **options: Any) -> ModelRunner:
    """Before it has met the others."""
    args = ServerArgs(device=device, **options)
    made = object.__new__(ModelRunner)
    made.__dict__.update(
        server_args=args, device_handle=Handle(device, fails=fails), device=device, rank=rank, tp_rank=rank, pp_rank=0,
        tp_size=args.tp_size, pp_size=args.pp_size, world_size=args.world_size, local_rank=rank,
        local_size=args.world_size, local_omp_cpuid=None, dist_port=4321, is_draft_worker=False, dp_size=1, ep_size=1,
        attn_cp_size=1,
    )  # fmt: skip
    return made


def binding(setting: str | None, rank: int, size: int, machine: list[Cpu], allowed: set[int]) -> Callable[[], None]:
    def run() -> None:
        made = runner(rank=rank)
        made.local_size = size
        with (
            patch.dict(os.environ, {} if setting is None else {"ENGINE_CPU_OMP_THREADS_BIND": setting}),
            patch.object(cpus, "topology", return_value=machine),
            patch.object(cpus, "allowed_cpus", return_value=allowed),
        ):
            made.init_threads_binding()

    return run


def meeting(
    environ: Mapping[str, str] | None = None, *, amx: bool = False, draft: bool = False, bound: str | None = None,
    **options: Any,
) -> Callable[[], None]:  # fmt: skip
    """A world of one, which meets nobody."""

    def run() -> None:
        made = runner(**options)
        made.is_draft_worker, made.local_omp_cpuid = draft, bound
        home: Any = sys.modules.get("engine.distributed.bootstrap", model_runner)
        home = home if hasattr(home, "has_amx") else model_runner
        with (
            patch.dict(os.environ, environ or {}),
            patch.object(home, "has_amx", lambda: amx),
            patch.object(os, "sched_setaffinity", lambda *_: None, create=True),
            patch.object(torch, "set_num_threads", lambda _: None),
        ):
            try:
                made.init_torch_distributed()
            finally:
                parallel_state.destroy()

    return run


def step(mode: str, *, draft: bool = False, pp_size: int = 1) -> Callable[[], None]:
    """The name of a step; the batch is of the engine's own types."""

    def run() -> None:
        from engine.runner.forward_batch import ForwardMode

        made = runner()
        made.is_draft_worker, made.pp_size = draft, pp_size
        slices = [types.SimpleNamespace(num_drafts=2, end=7), types.SimpleNamespace(num_drafts=0, end=5)]
        batch: Any = types.SimpleNamespace(mode=ForwardMode(mode), batch_size=2, num_tokens=12, slices=slices)
        call = getattr(made, "_build_step_span_name", None)
        if call is not None:
            call(batch)
            return
        from engine.runner.profiling import build_step_span_name

        build_step_span_name(batch, is_draft_worker=draft, pp_rank=0, pp_size=pp_size)

    return run


def pool(count: int, *, wanted: bool = True, size: int = 2) -> Callable[[], None]:
    """Symmetric memory, where none is taken: on a CPU, asking for it is an error that names what is missing."""

    def run() -> None:
        made = runner(tp_size=size, enable_symm_mem=wanted, symm_mem_prealloc_bytes=count)
        made.tp_group, made.forward_stream = parallel_state.get_group("tp"), None
        call = getattr(made, "prealloc_symmetric_memory_pool", None)
        if call is not None:
            call()
            return
        from engine.distributed.symmetric_memory import prealloc_symmetric_memory_pool

        names = ("server_args", "tp_size", "forward_stream_context", "tp_group", "device_handle", "rank")
        prealloc_symmetric_memory_pool(**{name: getattr(made, name) for name in names})

    return run


def first_product() -> None:
    runner().init_cublas()


NODES = {0, 1, 2, 3}
SCENARIOS: dict[str, Callable[[], None]] = {
    "binding: a node a rank": binding(None, 1, 2, MACHINE, NODES),
    "binding: shared nodes": binding("all", 3, 4, MACHINE, NODES),
    "binding: idle nodes": binding("all", 0, 1, MACHINE, NODES),
    "binding: an empty node": binding("all", 1, 2, MACHINE, {0}),
    "binding: a list": binding("0-1|2", 0, 2, MACHINE, NODES),
    "binding: lists on shared nodes": binding("0|1|2", 2, 3, MACHINE, NODES),
    "binding: too few lists": binding("0", 0, 2, MACHINE, NODES),
    "binding: a bad list": binding("0|x", 1, 2, MACHINE, NODES),
    "binding: forbidden": binding("0|9", 1, 2, MACHINE, NODES),
    "meeting: one rank": meeting(),
    "meeting: a draft model": meeting(draft=True),
    "meeting: bound": meeting(amx=True, bound="0-2"),
    "meeting: threads": meeting(threads=3),
    "meeting: a device that can't be taken": meeting(device="cuda", fails=True),
    "meeting: cuda simulated": meeting(device="cuda"),
    "meeting: cuda simulated, peers tested": meeting(device="cuda", enable_p2p_check=True),
    "meeting: npu simulated": meeting(device="npu"),
    "meeting: xpu simulated": meeting(device="xpu"),
    "meeting: backend given": meeting(dist_backend="gloo"),
    "meeting: no mooncake": meeting(elastic_ep_backend="mooncake"),
    "meeting: no mooncake for cuda": meeting(device="cuda", elastic_ep_backend="mooncake"),
    "meeting: a method given": meeting({"ENGINE_DIST_INIT_METHOD": "file:///x"}),
    "meeting: a host": meeting({"ENGINE_HOST_IP": "10.1.2.3"}),
    "meeting: an address": meeting(dist_init_addr="node-1.lan:77"),
    "meeting: a bad address": meeting(dist_init_addr="node-1.lan"),
    "meeting: torchrun of another size": meeting({"RANK": "1", "WORLD_SIZE": "2"}),
    "meeting: a bad rank": meeting({"RANK": "x"}),
    "meeting: a bad flag": meeting({"ENGINE_MEMORY_BALANCE": "maybe"}),
    "meeting: no mscclpp": meeting(enable_mscclpp=True),
    "meeting: sums by symmetric memory": meeting(enable_torch_symm_mem=True, disable_custom_all_reduce=True),
    "step: decode": step("decode"),
    "step: extend": step("extend"),
    "step: mixed": step("mixed", pp_size=2),
    "step: verify": step("verify"),
    "step: verify by a draft model": step("verify", draft=True),
    "step: idle": step("idle"),
    "pool: not wanted": pool(1 << 20, wanted=False),
    "pool: one rank": pool(1 << 20, size=1),
    "pool: none": pool(0),
    "pool: no allocator": pool(1 << 20),
    "first product simulated": first_product,
}


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """What a scenario leaves in the process is gone for the next."""
    flags = dict(all_reduce._FLAGS)
    with patch.dict(os.environ):
        for name in [each for each in os.environ if each.startswith("ENGINE_")]:
            del os.environ[name]
        yield
    all_reduce._FLAGS.update(flags)


def main(wanted: str = "") -> int:
    """The number of scenarios that were run. Errors of the engine are outcomes."""
    number = 0
    for name, run in SCENARIOS.items():
        if name.startswith(wanted):
            number += 1
            with _as_before(), contextlib.suppress(EngineError):
                run()
    return number


if __name__ == "__main__":
    if not main(*sys.argv[1:]):
        raise SystemExit(f"no scenario begins with {sys.argv[1]!r}; there are: {', '.join(SCENARIOS)}")
