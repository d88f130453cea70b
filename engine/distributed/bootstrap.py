"""How a rank gets from nothing to its groups: its device, its backend, the place where ranks meet, what is free before
the model is loaded. What a group does is group.py, which ranks are in it is layout.py."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

import msgspec
import torch

from engine.config.env import EnvSettings, read_env
from engine.config.server_args import ServerArgs
from engine.distributed import all_reduce, parallel_state
from engine.distributed.addresses import LOOPBACK, init_url, parse_address
from engine.distributed.backend import default_backend
from engine.distributed.group import Group
from engine.distributed.layout import layout
from engine.host import cpus
from engine.host.device import Device, has_amx, is_arm64
from engine.host.memory import is_unbalanced
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)


class TorchDistributedResult(msgspec.Struct, frozen=True, kw_only=True):
    """This rank's groups. pre_model_load_memory: bytes that are free, on the rank that has the least."""

    tp_group: Group
    pp_group: Group
    attention_tp_group: Group
    pre_model_load_memory: int


def init_torch_distributed(
    *,
    rank: int,
    world_size: int,
    device_handle: Device,
    server_args: ServerArgs,
    device: str,
    dist_port: int,
    is_draft_worker: bool,
    local_omp_cpuid: str | None,
    local_size: int,
    tp_size: int,
) -> TorchDistributedResult:
    """Take the device, meet the other ranks, make every group. Returns the bytes that are free, at the least."""
    started = time.perf_counter()
    log.info("distributed: begin: rank=%d world=%d device=%s", rank, world_size, device_handle)
    _take_device(device_handle=device_handle, rank=rank)
    backend = _resolve_backend(server_args=server_args, device=device, rank=rank)
    before_bytes = device_handle.available_bytes()
    env: EnvSettings = read_env(os.environ)
    init_method = _resolve_dist_init_method(
        env=env, rank=rank, world_size=world_size, server_args=server_args, dist_port=dist_port
    )
    _set_all_reduce_flags(server_args=server_args, device=device)
    if not is_draft_worker:
        _join_world(
            device=device,
            local_omp_cpuid=local_omp_cpuid,
            local_size=local_size,
            world_size=world_size,
            rank=rank,
            server_args=server_args,
            backend=backend,
            init_method=init_method,
            tp_size=tp_size,
            device_handle=device_handle,
        )

    tp_group: Group = parallel_state.get_group("tp")
    pp_group: Group = parallel_state.get_group("pp")
    attention_tp_group: Group = parallel_state.get_group("attention_tp")
    after_bytes: int = device_handle.available_bytes()
    pre_model_load_memory = int(parallel_state.get_group("world").minimum(after_bytes))
    if tp_size > 1 and not is_draft_worker:
        _check_tp_memory_balance(tp_group=tp_group, after_bytes=after_bytes, rank=rank, env=env)
    log.info(
        "distributed: end: rank=%d backend=%s seconds=%.2f used_bytes=%d available_bytes=%d",
        rank,
        backend,
        time.perf_counter() - started,
        before_bytes - after_bytes,
        pre_model_load_memory,
    )
    return TorchDistributedResult(
        pre_model_load_memory=pre_model_load_memory,
        tp_group=tp_group,
        pp_group=pp_group,
        attention_tp_group=attention_tp_group,
    )


def _take_device(*, device_handle: Device, rank: int) -> None:
    """Raises BadConfig where this machine has no such device, or somebody else holds it."""
    try:
        device_handle.set_current()
    except (RuntimeError, AssertionError) as error:
        raise BadConfig(
            f"rank {rank} can't take device {device_handle}: {error}",
            fix="start no more ranks a machine than it has devices",
        ) from error


def _resolve_backend(*, server_args: ServerArgs, device: str, rank: int) -> str:
    """The name of the collective backend. Mooncake's is loaded, and kept to its cards. Raises BadConfig."""
    backend: str
    if server_args.dist_backend is not None:
        backend = server_args.dist_backend
    elif server_args.elastic_ep_backend == "mooncake":
        backend = "mooncake-cpu" if device == "cpu" else "mooncake"
    else:
        backend = default_backend(device)
    if backend.startswith("mooncake"):
        try:
            from mooncake import ep as mooncake_ep
        except ImportError as error:
            raise BadConfig(
                f"collective backend {backend!r} can't be loaded: {error}",
                fix="install mooncake-transfer-engine with its process group, or use another backend",
            ) from error
        if server_args.mooncake_ib_device is not None:
            cards = [each.strip() for each in server_args.mooncake_ib_device.split(",") if each.strip()]
            if not cards:
                raise BadConfig(
                    f"mooncake_ib_device={server_args.mooncake_ib_device!r} names no card",
                    fix="give names such as mlx5_0,mlx5_1, or leave it out",
                )
            mooncake_ep.set_device_filter(cards)
            log.info("distributed: cards: rank=%d cards=%s", rank, ",".join(cards))
    return backend


def _resolve_dist_init_method(
    *, env: EnvSettings, rank: int, world_size: int, server_args: ServerArgs, dist_port: int
) -> str:
    """Where ranks meet: what the environment forces, torchrun's, the option's, this machine. Raises BadConfig."""
    init_method: str
    if env.dist_init_method is not None:
        init_method = env.dist_init_method
    elif env.world_rank is not None and env.world_size is not None and env.world_size > 1:
        if (env.world_rank, env.world_size) != (rank, world_size):
            raise BadConfig(
                f"torchrun started rank {env.world_rank} of {env.world_size}, the options make it rank {rank}"
                f" of {world_size}",
                fix="make tp_size * pp_size the number of processes"
                if env.world_size != world_size
                else "let one launcher number the ranks, or unset RANK and WORLD_SIZE",
            )
        init_method = "env://"
    elif server_args.dist_init_addr is not None:
        address = parse_address(server_args.dist_init_addr, source="dist_init_addr")
        init_method = init_url(address.host, address.port)
    else:
        init_method = init_url(env.host_ip or LOOPBACK, dist_port)
    return init_method


def _set_all_reduce_flags(*, server_args: ServerArgs, device: str) -> None:
    """Which faster ways to sum this run wants; groups look at it when they are made."""
    all_reduce.set_custom_all_reduce(not server_args.disable_custom_all_reduce)
    all_reduce.set_mscclpp_all_reduce(server_args.enable_mscclpp)
    all_reduce.set_torch_symm_mem_all_reduce(server_args.enable_torch_symm_mem)
    if device == "cuda" and not server_args.enable_p2p_check:
        # A copy between every two GPUs takes seconds on machines with many, to find what the driver knows.
        all_reduce.trust_peer_access()


def _join_world(
    *,
    device: str,
    local_omp_cpuid: str | None,
    local_size: int,
    world_size: int,
    rank: int,
    server_args: ServerArgs,
    backend: str,
    init_method: str,
    tp_size: int,
    device_handle: Device,
) -> None:
    """Threads, groups, and what groups sum with; a draft worker has its target's."""
    is_shared: bool = False
    if device == "cpu":
        is_shared = _init_cpu_threads_env(
            local_omp_cpuid=local_omp_cpuid,
            local_size=local_size,
            world_size=world_size,
            rank=rank,
            server_args=server_args,
            is_shared=is_shared,
        )
    _init_parallel_groups(
        backend=backend,
        world_size=world_size,
        rank=rank,
        init_method=init_method,
        server_args=server_args,
        tp_size=tp_size,
        device=device,
        is_shared=is_shared,
        local_size=local_size,
        device_handle=device_handle,
    )
    if server_args.pre_warm_nccl and world_size > 1:
        _prewarm_nccl(device_handle=device_handle)


def _init_cpu_threads_env(
    *,
    local_omp_cpuid: str | None,
    local_size: int,
    world_size: int,
    rank: int,
    server_args: ServerArgs,
    is_shared: bool,
) -> bool:
    """Bind this rank's threads where that pays. Returns whether its machine's ranks sum in shared memory."""
    if has_amx() or is_arm64():
        # Bind to what init_threads_binding chose, before any thread of a pool is made.
        if local_omp_cpuid is not None:
            bound = cpus.parse_cpu_list(local_omp_cpuid, source="local_omp_cpuid")
            os.sched_setaffinity(0, bound)
            torch.set_num_threads(len(bound))
        os.environ["LOCAL_SIZE"] = str(local_size)
        is_shared = all_reduce.wants("custom") and world_size == local_size
    elif world_size > 1:
        log.warning(
            "threads: not bound, and sums go through sockets: rank=%d machine=%s",
            rank,
            os.uname().machine,
        )
    if server_args.threads is not None:
        torch.set_num_threads(server_args.threads)
    return is_shared


def _init_parallel_groups(
    *,
    backend: str,
    world_size: int,
    rank: int,
    init_method: str,
    server_args: ServerArgs,
    tp_size: int,
    device: str,
    is_shared: bool,
    local_size: int,
    device_handle: Device,
) -> None:
    """Meet the other ranks and make this rank's group of every kind."""
    parallel_state.init_distributed_environment(
        backend=backend,
        world_size=world_size,
        rank=rank,
        init_method=init_method,
        timeout=server_args.dist_timeout,
    )
    parallel_state.initialize_model_parallel(
        layout(
            tp_size=tp_size,
            pp_size=server_args.pp_size,
            dp_size=server_args.dp_size if server_args.enable_dp_attention else 1,
            cp_size=server_args.attn_cp_size,
            ep_size=server_args.ep_size,
        ),
        rank=rank,
        device=device,
    )
    if is_shared:
        parallel_state.share_memory("tp", timeout=server_args.dist_timeout)
    elif device == "cuda" and tp_size > 1 and world_size == local_size:
        wants_peers = all_reduce.wants("custom") and all_reduce.can_use_peers(local_size)
        if wants_peers or all_reduce.wants("torch_symm_mem"):
            parallel_state.map_peer_memory("tp", device=device_handle.place)
    if device == "npu" and tp_size > 1:
        # Kernels that multiply and sum at once ask for the communicator by the name that HCCL gave it.
        shared = parallel_state.get_group("tp")
        assert shared.handle is not None, "a group of several ranks is connected"
        hccl: Any = shared.handle._get_backend(device_handle.place)
        shared.hccl_comm_name = str(hccl.get_hccl_comm_name(rank))


def _prewarm_nccl(*, device_handle: Device) -> None:
    """Let every communicator connect."""
    # A communicator connects at its first use, which takes memory: now, and not in the middle of a step.
    for kind in ("world", "tp", "pp", "ep"):
        group = parallel_state.get_group(kind)
        group.all_reduce(torch.zeros(1, device=device_handle.place))
    device_handle.synchronize()


def _check_tp_memory_balance(*, tp_group: Group, after_bytes: int, rank: int, env: EnvSettings) -> None:
    """Raises BadConfig, or warns, where another rank has less than 90 % of the bytes that are free here."""
    least_bytes = int(tp_group.minimum(after_bytes))
    if is_unbalanced(after_bytes, least_bytes):
        text = f"rank {rank} has {after_bytes} bytes free, another of its group {least_bytes}"
        if env.is_memory_balance_enforced:
            raise BadConfig(text, fix="end what else runs on that device, or set ENGINE_MEMORY_BALANCE=0")
        log.warning("memory: unbalanced: %s", text)
