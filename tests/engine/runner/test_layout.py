"""Which ranks stand together, and sums through memory that they share."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.distributed.layout import AttentionPlace, Layout, attention_place, group_of, layout
from engine.distributed.shared_memory import MAX_BYTES, SharedMemory, is_running
from engine.schema.errors import BadConfig
from tests.support.house import ROOT


def test_stages_and_places() -> None:
    found = layout(tp_size=2, pp_size=2)
    assert found.world == ((0, 1, 2, 3),)
    assert found.tp == found.attention_tp == ((0, 1), (2, 3))
    assert found.pp == ((0, 2), (1, 3))
    assert found.ep == found.attention_dp == found.attention_cp == ((0,), (1,), (2,), (3,))


def test_attention_and_experts_share_a_stage_in_their_own_ways() -> None:
    found = layout(tp_size=8, dp_size=2, cp_size=2, ep_size=4)
    assert found.attention_tp == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert found.attention_cp == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert found.attention_dp == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert found.moe_tp == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert found.ep == ((0, 2, 4, 6), (1, 3, 5, 7))
    assert attention_place(tp_rank=6, tp_size=8, dp_size=2, cp_size=2) == AttentionPlace(
        dp_size=2, dp_rank=1, cp_size=2, cp_rank=1, tp_size=2, tp_rank=0
    )


@given(
    parts=st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4)),
    pp_size=st.integers(1, 3),
    ep=st.integers(1, 12),
)
def test_every_rank_is_in_one_group_of_each_kind(parts: tuple[int, int, int], pp_size: int, ep: int) -> None:
    dp_size, cp_size, heads = parts
    tp_size = dp_size * cp_size * heads
    ep_size = ep if tp_size % ep == 0 else 1
    found = layout(tp_size=tp_size, pp_size=pp_size, dp_size=dp_size, cp_size=cp_size, ep_size=ep_size)
    sizes = {"tp": tp_size, "pp": pp_size, "attention_tp": heads, "attention_dp": dp_size, "attention_cp": cp_size}
    sizes |= {"ep": ep_size, "moe_tp": tp_size // ep_size, "world": tp_size * pp_size}
    assert set(sizes) == set(Layout.__struct_fields__)
    for kind, size in sizes.items():
        groups = getattr(found, kind)
        assert sorted(rank for group in groups for rank in group) == list(range(tp_size * pp_size))
        assert {len(group) for group in groups} == {size}
        assert all(list(group) == sorted(group) for group in groups)
    for rank in range(tp_size):  # a rank's place is its index in its groups
        place = attention_place(tp_rank=rank, tp_size=tp_size, dp_size=dp_size, cp_size=cp_size)
        assert group_of(found.attention_tp, rank).index(rank) == place.tp_rank
        assert group_of(found.attention_cp, rank).index(rank) == place.cp_rank
        assert group_of(found.attention_dp, rank).index(rank) == place.dp_rank


@pytest.mark.parametrize("sizes", [{"dp_size": 3}, {"cp_size": 8}, {"ep_size": 3}, {"dp_size": 2, "cp_size": 4}])
def test_sizes_that_do_not_divide_are_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(BadConfig, match="make it a divisor of tp_size"):
        layout(tp_size=4, **sizes)


# -- shared memory

_RANK = """
    import sys, os, time
    from pathlib import Path
    import torch
    from engine.distributed.shared_memory import SharedMemory
    folder, rank, size, rounds, ends = sys.argv[1], *map(int, sys.argv[2:6])
    torch.set_num_threads(1)
    memory = SharedMemory("sum", rank=rank, size=size, timeout=20.0, folder=Path(folder))
    (Path(folder) / f"ready-{rank}").touch()
    while len(list(Path(folder).glob("ready-*"))) < size:
        time.sleep(0.005)
    if rank == 0:
        memory.unlink()
    for at in range(rounds):
        if rank == ends and at == rounds // 2:
            os._exit(3)
        shape, dtype = ((7,), (3, 5), (1, 40000))[at % 3], (torch.float32, torch.bfloat16)[at % 2]
        parts = [torch.full(shape, float(at % 50 + each), dtype=dtype) for each in range(size)]
        made = memory.all_reduce(parts[rank].clone())
        assert torch.equal(made, sum(parts[1:], parts[0])), (at, rank)
    print("same")
"""


def ranks(folder: Path, size: int, rounds: int, ends: int = -1) -> list[tuple[int, str]]:
    script = textwrap.dedent(_RANK)
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    given = [[str(folder), str(rank), str(size), str(rounds), str(ends)] for rank in range(size)]
    kept: dict[str, Any] = {"env": environ, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = [subprocess.Popen([sys.executable, "-c", script, *each], **kept) for each in given]
    try:
        return [(each.wait(120), each.communicate()[0]) for each in running]
    finally:
        for each in running:
            each.kill()


def test_every_sum_is_the_ranks_own(tmp_path: Path) -> None:
    assert ranks(tmp_path, size=3, rounds=300) == [(0, "same\n")] * 3
    assert not (tmp_path / "sum").exists()


def test_a_rank_that_ends_is_named_by_those_that_wait(tmp_path: Path) -> None:
    (status, text), (ended, _) = ranks(tmp_path, size=2, rounds=100, ends=1)
    assert (status, ended) == (1, 3)
    assert "rank 1 of the machine's group has ended" in text


def test_what_is_too_large_or_elsewhere_is_the_backends(tmp_path: Path) -> None:
    memory = SharedMemory("sum", rank=0, size=1, timeout=1.0, folder=tmp_path)
    assert memory.takes(torch.zeros(MAX_BYTES // 4))
    assert not memory.takes(torch.zeros(MAX_BYTES // 4 + 1))
    assert not memory.takes(torch.zeros(0)) and not memory.takes(torch.zeros(4, device="meta"))


def test_a_rank_that_never_comes(tmp_path: Path) -> None:
    memory = SharedMemory("sum", rank=0, size=2, timeout=0.3, folder=tmp_path)
    with pytest.raises(RuntimeError, match="rank 1 of the machine's group did not come in 0 s"):
        memory.all_reduce(torch.ones(3))
    assert is_running(os.getpid()) and not is_running(2**22 + 5)
