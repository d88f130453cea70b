"""Which CPUs a rank binds: the helper against the method it was, over machines, affinities, settings and ranks.

Level: exhaustive over the machines, settings and ranks below, each also with every call on a collaborator failing;
drawn beyond. Power: test_slips.py."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.host import cpus
from engine.host.cpus import Cpu
from tests.equivalence.helpers import BINDING, Twins
from tests.equivalence.stage import Stage, always
from tests.support.frozen import Text

MACHINES = {
    "two nodes": [Cpu(cpu, cpu % 4, cpu % 4 // 2, cpu % 4 // 2) for cpu in range(8)],
    "one node": [Cpu(cpu, cpu, 0, 0) for cpu in range(3)],
    "gaps": [Cpu(4, 0, 0, 3), Cpu(0, 0, 0, 1)],
    "nothing": [],
}
SETTINGS = [None, "all", " all ", "", "0|1", "0-1,3|2", "0", "0|x", "0|", "|", "9|9", "0-3:2|1", "3-1|0", "0|1|2"]


def twins(edited: Text | None = None, runner: Text | None = None) -> Twins:
    stage = Stage()

    def machine() -> list[Cpu]:
        found: list[Cpu] = stage.world["machine"]
        return found

    names = {
        "cpus": stage.thing(
            "cpus", {"topology": machine, "allowed_cpus": lambda: set(stage.world["allowed"])}, _real=cpus
        ),
        "os": _Os(stage),
    }
    return Twins(BINDING, stage, names, edited=edited, runner=runner)


class _Os:
    """Has an environment alone."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    @property
    def environ(self) -> Mapping[str, str]:
        return self.stage.environ


def fields(world: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    return always(**{name: world[name] for name in ("local_size", "local_rank", "rank")}, local_omp_cpuid="before")


def world_of(setting: str | None, machine: list[Cpu], allowed: set[int], rank: int, size: int) -> dict[str, Any]:
    environ = {} if setting is None else {"ENGINE_CPU_OMP_THREADS_BIND": setting}
    return {
        "environ": environ, "machine": machine, "allowed": allowed, "local_rank": rank, "local_size": size,
        "rank": rank + 7,
    }  # fmt: skip


def every_world() -> list[dict[str, Any]]:
    """Every setting on every machine, with few affinities; ranks also where there are none."""
    return [
        world_of(setting, machine, allowed, rank, size)
        for setting in SETTINGS
        for machine in MACHINES.values()
        for allowed in ({0, 1, 2, 3}, {2})
        for size in (1, 2, 5)
        for rank in sorted({-1, 0, size - 1, size})
    ]


def check_binding(pair: Twins) -> None:
    for world in every_world():
        pair.compare_with_faults(world, fields=fields(world))


def test_every_machine_setting_and_rank() -> None:
    pair = twins()
    check_binding(pair)
    assert pair.num_failed_calls > 1000
    pair.check_reached({}, {})


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    cpu = st.builds(Cpu, st.integers(0, 15), st.integers(0, 7), st.integers(0, 1), st.integers(0, 3))
    part = st.one_of(
        st.integers(0, 17).map(str),
        st.tuples(st.integers(0, 9), st.integers(0, 17)).map(lambda pair: f"{pair[0]}-{pair[1]}"),
        st.sampled_from(["", "x", "1-", "0-8:3", " 3", "1_0", "٣"]),
    )
    lists = st.lists(part, min_size=1, max_size=3).map(",".join)
    setting = st.one_of(st.none(), st.just("all"), st.lists(lists, min_size=1, max_size=4).map("|".join))
    size = draw(st.integers(1, 6))
    return world_of(
        draw(setting), draw(st.lists(cpu, max_size=8)), draw(st.sets(st.integers(0, 17))), draw(st.integers(0, size)),
        size,
    )  # fmt: skip


PAIR = twins()


@given(worlds())
def test_drawn_machines(world: dict[str, Any]) -> None:
    PAIR.compare(world, fields=fields(world))
