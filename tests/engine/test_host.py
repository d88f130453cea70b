"""CPUs, nodes, memory: text of real machines, and of those that are odd."""

from __future__ import annotations

import logging
import os
import subprocess
from pathlib import Path

import pytest

from engine.host import cpus, memory, numa
from engine.host.cpus import Cpu
from engine.schema.errors import BadConfig, TopologyUnknown

TWO_NODES = """# The following is the parsable format
# CPU,Core,Socket,Node
0,0,0,0
1,1,0,0
2,2,1,1
3,3,1,1
4,0,0,0
5,1,0,0
6,2,1,1
7,3,1,1
"""


def test_the_first_thread_of_each_core_in_the_order_of_nodes() -> None:
    found = cpus.parse_lscpu(TWO_NODES)
    assert cpus.cpu_ids_by_node(found, range(8)) == ["0,1", "2,3"]


@pytest.mark.parametrize(
    ("rows", "allowed", "ids"),
    [
        ("0,0,0,0\n1,0,0,1\n", {0, 1}, ["0", "1"]),  # a core number means its own socket and node
        ("4,0,0,3\n5,1,0,3\n0,2,0,1\n", {0, 4, 5}, ["0", "4,5"]),  # node numbers with gaps, not in order
        ("0,0,0,0\n1,1,0,1\n", {0}, ["0", ""]),  # an affinity that empties a node: it stays
        ("0,,,\n1,,,\n", {0, 1}, ["0"]),  # a virtual machine tells no core: both are threads of one
        ("0,0,0,\n", {0}, ["0"]),
        ("", {0}, []),
    ],
)
def test_odd_machines(rows: str, allowed: set[int], ids: list[str]) -> None:
    assert cpus.cpu_ids_by_node(cpus.parse_lscpu(rows), allowed) == ids


def test_a_row_of_another_shape_is_skipped_and_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert cpus.parse_lscpu("0,0,0,0,0\n1,1,0,0\n") == [Cpu(1, 1, 0, 0)]
    assert "fields=5 expected=4" in caplog.text


@pytest.mark.parametrize("rows", ["x,0,0,0", ",0,0,0", "0,a,0,0"])
def test_rows_that_are_no_numbers_are_an_error(rows: str) -> None:
    with pytest.raises(TopologyUnknown, match="is not numbers"):
        cpus.parse_lscpu(rows)


@pytest.mark.parametrize("error", [FileNotFoundError("lscpu"), subprocess.CalledProcessError(1, "lscpu")])
def test_no_lscpu_says_what_to_do(error: Exception) -> None:
    def run() -> str:
        raise error

    with pytest.raises(TopologyUnknown, match="ENGINE_CPU_OMP_THREADS_BIND"):
        cpus.topology(run)


def test_this_machine() -> None:
    found = cpus.topology()
    assert cpus.allowed_cpus() == os.sched_getaffinity(0)
    assert {each.cpu for each in found} >= cpus.allowed_cpus()


@pytest.mark.parametrize(
    ("text", "ids"), [("0-3,8", [0, 1, 2, 3, 8]), ("3", [3]), ("0-6:2,1", [0, 1, 2, 4, 6]), ("1,1", [1])]
)
def test_lists_as_the_kernel_writes_them(text: str, ids: list[int]) -> None:
    assert cpus.parse_cpu_list(text, source="x") == ids


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-1", "0-4:0", "1,,2", "\u0661"])
def test_lists_that_are_none(text: str) -> None:
    with pytest.raises(BadConfig, match=r"^bad-config: ENGINE_X: "):
        cpus.parse_cpu_list(text, source="ENGINE_X")


def test_shares_are_of_what_is_allowed() -> None:
    allowed = {4, 5, 9, 12}
    assert [cpus.slice_for_rank(rank, 2, allowed) for rank in (0, 1)] == [[4, 5], [9, 12]]
    shares = [cpus.slice_for_rank(rank, 3, allowed) for rank in range(3)]
    assert [each for share in shares for each in share] == sorted(allowed)
    with pytest.raises(BadConfig):
        cpus.slice_for_rank(2, 2, allowed)


def test_a_node_is_cut_with_the_affinity(caplog: pytest.LogCaptureFixture) -> None:
    assert numa.cpus_of_node(0, {0, 1, 2, 3}, {2, 3, 4}, strict=False) == [2, 3]
    assert numa.cpus_of_node(0, {0, 1}, range(8), strict=True) == [0, 1]
    with caplog.at_level(logging.WARNING):
        assert numa.cpus_of_node(1, {0, 1}, {6}, strict=False) is None
    assert "unbound: node=1" in caplog.text
    with pytest.raises(BadConfig, match="node 1 has CPUs"):
        numa.cpus_of_node(1, {0, 1}, {6}, strict=True)


@pytest.mark.parametrize(
    ("refused", "args"),
    [
        ((), ["--cpunodebind=1", "--membind=1"]),
        (("--membind",), ["--cpunodebind=1", "--preferred=1"]),
        (("--membind", "--preferred"), ["--cpunodebind=1"]),
        (("--",), []),
    ],
)
def test_the_strongest_binding_that_is_let_through(refused: tuple[str, ...], args: list[str]) -> None:
    assert numa.numactl_args(1, lambda given: not any(each.startswith(refused or ("?",)) for each in given)) == args


def test_the_library_under_either_name(caplog: pytest.LogCaptureFixture) -> None:
    def only(*names: str) -> object:
        def load(name: str) -> str:
            if name not in names:
                raise OSError(f"{name}: not here {names}")
            return name

        return load

    assert numa.load_libnuma(only("libnuma.so")) == "libnuma.so"  # type: ignore[arg-type]
    assert numa.load_libnuma(only("libnuma.so.1")) == "libnuma.so.1"  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        assert [numa.load_libnuma(only()) for _ in range(3)] == [None] * 3  # type: ignore[arg-type]
    assert caplog.text.count("stays unbound") == 1


def test_memory_is_cut_with_the_container(tmp_path: Path) -> None:
    meminfo, limit, usage = tmp_path / "meminfo", tmp_path / "max", tmp_path / "current"
    meminfo.write_text("MemTotal: 900 kB\nMemAvailable:  700 kB\n")
    usage.write_text("102400\n")
    for text, expected in (("max\n", 716800), ("512000\n", 409600), ("1024\n", 0), ("999999999\n", 716800)):
        limit.write_text(text)
        assert memory.available_bytes(meminfo=meminfo, cgroups=[(limit, usage)]) == expected
    assert memory.available_bytes(meminfo=meminfo, cgroups=[(tmp_path / "none", usage)]) == 716800
    assert memory.available_bytes() > 0


def test_balance_looks_at_the_least_of_all_ranks() -> None:
    assert [memory.is_unbalanced(each, 40) for each in (80, 40)] == [True, False]
    assert not memory.is_unbalanced(80, 79)
    assert not memory.is_unbalanced(100, 90) and memory.is_unbalanced(100, 89.9)
