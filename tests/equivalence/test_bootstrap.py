"""Meeting the other ranks: init_torch_distributed and its pieces against the method they were.

Each piece has its own worlds, in which what it decides by is varied and the rest is plain; together they take every
branch of both sides, each world also with every call on a collaborator failing. Level: exhaustive over the options
below for backends, places to meet, flags and balance of memory; drawn beyond. Power: test_slips.py."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.config.env import read_env
from engine.host.device import KINDS
from tests.equivalence import bootstrap
from tests.equivalence.bootstrap import OPTIONS, compare, twins, world_of
from tests.equivalence.helpers import Twins

PAIR = twins()


MOONCAKES = [(None, False), (None, "broken"), *((cards, True) for cards in (None, "", " , ", "mlx5_0, mlx5_3,"))]


def backend_worlds() -> list[dict[str, Any]]:
    return [
        world_of(
            device=device, dist_backend=chosen, elastic_ep_backend=elastic, mooncake_ib_device=cards,
            has_mooncake=has_mooncake,
        )
        for device in (*KINDS, "tpu")
        for chosen in (None, "", "fake", "mooncake-x")
        for elastic in (None, "mooncake", "other")
        for cards, has_mooncake in MOONCAKES
    ]  # fmt: skip


def meeting_worlds() -> list[dict[str, Any]]:
    environs = [
        {}, {"ENGINE_HOST_IP": "10.1.2.3"}, {"ENGINE_HOST_IP": "2001:db8::5"}, {"ENGINE_HOST_IP": ""},
        {"ENGINE_DIST_INIT_METHOD": "file:///x"}, {"RANK": "0"}, {"RANK": "0", "WORLD_SIZE": "1"},
        {"RANK": "1", "WORLD_SIZE": "1"}, {"WORLD_SIZE": "2"}, {"RANK": "0", "WORLD_SIZE": "2"},
        {"RANK": "1", "WORLD_SIZE": "2"}, {"RANK": "0", "WORLD_SIZE": "4"}, {"RANK": "x"}, {"ENGINE_NONSENSE": "1"},
        {"ENGINE_DIST_INIT_METHOD": "env://", "RANK": "1", "WORLD_SIZE": "4"},
    ]  # fmt: skip
    addresses = [None, "node-1.lan:77", "[::1]:77", "::1:77", "host", ":1", "h:0", "h:65536", " h:9 "]
    return [
        world_of(environ=environ, dist_init_addr=address, tp_size=size, rank=rank)
        for environ in environs
        for address in addresses
        for size, rank in ((1, 0), (2, 0), (2, 1))
    ]


def flag_worlds() -> list[dict[str, Any]]:
    names = ("disable_custom_all_reduce", "enable_mscclpp", "enable_torch_symm_mem", "enable_p2p_check")
    return [
        world_of(device=device, **dict(zip(names, values, strict=True)))
        for device in ("cpu", "cuda", "xpu")
        for values in itertools.product((False, True), repeat=4)
    ]


def thread_worlds() -> list[dict[str, Any]]:
    return [
        world_of(
            has_amx=has_amx, is_arm64=is_arm64, local_omp_cpuid=bound, tp_size=size, local_size=local, threads=threads,
            wants={"custom": custom, "torch_symm_mem": False}, is_draft_worker=is_draft,
        )
        for has_amx, is_arm64 in ((False, False), (True, False), (False, True))
        for bound in (None, "0-2,6", "x")
        for size, local in ((1, 1), (2, 2), (2, 1))
        for threads in (None, 0, 3)
        for custom in (False, True)
        for is_draft in (False, True)
    ]  # fmt: skip


def group_worlds() -> list[dict[str, Any]]:
    wants = [{"custom": custom, "torch_symm_mem": symmetric} for custom in (False, True) for symmetric in (False, True)]
    peers = [
        world_of(device="cuda", tp_size=size, local_size=local, wants=each, can_use_peers=can, pre_warm_nccl=warm)
        for size, local in ((1, 1), (2, 2), (2, 1))
        for each in wants
        for can in (False, True)
        for warm in (False, True)
    ]
    sizes = [
        world_of(
            device=device, tp_size=tp, pp_size=pp, dp_size=dp, enable_dp_attention=is_dp, attn_cp_size=cp, ep_size=ep,
            is_connected=is_connected, is_draft_worker=is_draft, pre_warm_nccl=is_draft,
        )
        for device in ("cpu", "npu")
        for tp, pp, dp, cp, ep in ((1, 1, 1, 1, 1), (2, 1, 1, 1, 1), (4, 2, 2, 2, 4), (2, 3, 1, 2, 2), (3, 1, 2, 1, 2))
        for is_dp in (False, True)
        for is_connected in (False, True)
        for is_draft in (False, True)
    ]  # fmt: skip
    return peers + sizes


def memory_worlds() -> list[dict[str, Any]]:
    return [
        world_of(
            tp_size=size, free=(5000, after), least=least_all, least_tp=least, is_draft_worker=is_draft,
            environ={} if enforced is None else {"ENGINE_MEMORY_BALANCE": enforced},
        )
        for size in (1, 2)
        for after, least in ((1000, 899), (1000, 899.9), (1000, 900), (1000, 1000), (0, 0), (10, 9), (11, 9), (1, 0))
        for least_all in (0, 7.9)
        for is_draft in (False, True)
        for enforced in (None, "0", "1", "off", "")
    ]  # fmt: skip


WORLDS = {
    "_resolve_backend": backend_worlds,
    "_resolve_dist_init_method": meeting_worlds,
    "_set_all_reduce_flags": flag_worlds,
    "_init_cpu_threads_env": thread_worlds,
    "_init_parallel_groups": group_worlds,
    "_check_tp_memory_balance": memory_worlds,
}
MORE = {  # pieces that have no worlds of their own
    "init_torch_distributed": "all of them",
    "_take_device": "a device that can't be taken is a call that fails",
    "_join_world": "of _init_cpu_threads_env and _init_parallel_groups",
    "_prewarm_nccl": "of _init_parallel_groups",
}


def test_every_piece_has_worlds() -> None:
    assert WORLDS.keys() | MORE.keys() == {*PAIR.helper.pieces, PAIR.helper.name}


def check_bootstrap(pair: Twins) -> None:
    """Every world of every piece, those where nothing fails first: a slip shows in them soonest."""
    for step in (7, 1):  # a prime: some of every kind, whatever varies fastest
        for make in WORLDS.values():
            for world in make()[::step]:
                compare(pair, world)
    for make in WORLDS.values():
        for world in make()[::13]:
            compare(pair, world, faults=True)


def test_every_world_of_every_piece() -> None:
    """Calls fail in turn in some of the worlds: which call is made depends on few of the things that vary."""
    pair = twins()
    for piece, make in WORLDS.items():
        for at, world in enumerate(make()):
            compare(pair, world, faults=at % 12 == 0)
        missing = [each for each in pair.branches_new.missing() if each.startswith(f"{piece}:")]
        assert not missing, f"worlds of {piece}: {missing}"
    assert pair.num_failed_calls > 1000
    pair.check_reached({}, {})


def test_backends_by_themselves() -> None:
    """What the piece says is what the original hands to the world that is met."""
    piece = PAIR.function.__globals__["_resolve_backend"]
    for world in backend_worlds():
        old, _ = compare(PAIR, world)
        got = PAIR.stage.run(
            piece, world, bootstrap.fields(PAIR.stage, world),
            call=lambda function, runner: function(
                server_args=runner.server_args, device=runner.device, rank=runner.rank
            ),
        )  # fmt: skip
        met = [dict(event[2:])["backend"] for event in old.events if event[:2] == ("call", MEET)]
        assert met in ([got.result], []), (world, got)
        assert old.raised == got.raised


MEET = "parallel_state.init_distributed_environment"


def _meet(function: Callable[..., Any], runner: Any) -> Any:
    return function(
        env=read_env(PAIR.stage.environ), rank=runner.rank, world_size=runner.world_size,
        server_args=runner.server_args, dist_port=runner.dist_port,
    )  # fmt: skip


def test_places_to_meet_by_themselves() -> None:
    piece = PAIR.function.__globals__["_resolve_dist_init_method"]
    num_met = 0
    for world in meeting_worlds():
        old, whole = compare(PAIR, world)
        got = PAIR.stage.run(
            piece, world, bootstrap.fields(PAIR.stage, world),
            call=_meet,
        )  # fmt: skip
        met = [dict(event[2:])["init_method"] for event in old.events if event[:2] == ("call", MEET)]
        assert met == ([] if got.raised else [got.result])
        assert whole.raised == got.raised
        num_met += len(met)
    assert num_met > 100


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "dist_backend": st.sampled_from([None, "gloo", "nccl", "fake", "mooncake"]),
    "elastic_ep_backend": st.sampled_from([None, "mooncake"]),
    "mooncake_ib_device": st.none() | st.text(alphabet="m,x 0", max_size=5),
    "dist_init_addr": st.none() | st.sampled_from(["n:1", "[::1]:9", "::1", ":", "n:x"]),
    "threads": st.none() | st.integers(0, 9),
    "dist_timeout": st.floats(0, 9),
    "device": st.sampled_from([*KINDS, "tpu"]),
    "rank": st.integers(0, 5),
    "tp_size": st.integers(1, 4),
    "local_size": st.none() | st.integers(1, 8),
    "dist_port": st.integers(0, 70000),
    "local_omp_cpuid": st.none() | st.sampled_from(["0", "0-3", "1,x", ""]),
    "free": st.tuples(st.integers(0, 1 << 40), st.integers(0, 1 << 40)),
    "least": st.floats(0, 1e12) | st.integers(0, 99),
    "least_tp": st.floats(0, 1e12) | st.integers(0, 99),
    "environ": st.fixed_dictionaries(
        {},
        optional={
            "RANK": st.integers(0, 5).map(str), "WORLD_SIZE": st.integers(0, 8).map(str),
            "ENGINE_MEMORY_BALANCE": st.sampled_from(["0", "1", "maybe"]),
            "ENGINE_HOST_IP": st.sampled_from(["::1", "h", ""]), "ENGINE_DIST_INIT_METHOD": st.sampled_from(["", "u"]),
        },
    ),
    "wants": st.fixed_dictionaries({"custom": st.booleans(), "torch_symm_mem": st.booleans()}),
}  # fmt: skip
NUMBERS = ("pp_size", "dp_size", "attn_cp_size", "ep_size")
FLAGS = tuple(name for name, it in {**OPTIONS, **bootstrap.WORLD}.items() if isinstance(it, bool))
DRAWN = st.fixed_dictionaries(
    {}, optional=VALUES | dict.fromkeys(FLAGS, st.booleans()) | dict.fromkeys(NUMBERS, st.integers(1, 3))
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # which goes by the clock
@given(DRAWN, st.none() | st.integers(0, 20))
def test_drawn_worlds(drawn: dict[str, Any], fault_at: int | None) -> None:
    compare(PAIR, world_of(**drawn), fault=None if fault_at is None else (fault_at, AssertionError))
