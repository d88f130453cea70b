"""Placements against the balancer that DeepSeek published, and splits of copies' tokens against HiGHS: on even, skewed
and empty loads. Plans of transfers, simulated. No process, no model."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import numpy as np  # noqa: E402

from engine.moe import eplb_algorithm, lplb  # noqa: E402
from engine.moe.eplb_algorithm import balancedness, rebalance_experts  # noqa: E402
from engine.moe.location import ExpertLocationMetadata, trivial_map  # noqa: E402
from engine.moe.transfers import Plan, plan  # noqa: E402
from engine.schema.errors import BadConfig  # noqa: E402
from tests.engine.moe import published  # noqa: E402

LOADS = ("even", "zipf", "cubed", "one", "none", "few")


def loads(kind: str, layers: int, experts: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    shape = layers, experts
    kinds: dict[str, Callable[[], Any]] = {
        "even": lambda: rng.integers(0, 1000, shape),
        "zipf": lambda: rng.zipf(1.3, shape).clip(0, 10**6),
        "cubed": lambda: (rng.exponential(1, shape) ** 3 * 100).astype(int),
        "one": lambda: np.eye(experts, dtype=int)[rng.integers(0, experts, layers)] * 977,
        "none": lambda: np.zeros(shape, dtype=int),
        "few": lambda: rng.integers(0, 2, shape),
    }
    return kinds[kind]().astype(float)


@pytest.mark.parametrize("kind", LOADS)
@pytest.mark.parametrize(
    ("experts", "redundant", "ranks", "nodes", "groups"),
    [(64, 16, 8, 1, 1), (64, 0, 8, 2, 8), (16, 32, 4, 2, 4), (128, 32, 16, 4, 8), (8, 1, 3, 1, 1), (24, 8, 8, 2, 3)],
)
def test_never_worse_than_what_is_published(
    kind: str, experts: int, redundant: int, ranks: int, nodes: int, groups: int
) -> None:
    counts = loads(kind, 6, experts, seed=experts + redundant)
    made = rebalance_experts(
        torch.from_numpy(counts),
        num_physical=experts + redundant,
        ep_size=ranks,
        num_groups=groups,
        num_nodes=nodes,
    )
    for row in made.tolist():
        assert set(row) == set(range(experts))
    theirs = published.rebalanced(counts, experts + redundant, groups, nodes, ranks)
    ours, reference = balancedness(counts, made, ranks), balancedness(counts, theirs, ranks)
    assert (ours >= reference - 1e-12).all()
    if groups % nodes == 0 and groups > 1 and nodes > 1:  # a group's experts are all on one node
        size, per_node = experts // groups, (experts + redundant) // nodes
        for row in made.numpy():
            homes = [set((np.flatnonzero(row // size == group) // per_node).tolist()) for group in range(groups)]
            assert all(len(each) == 1 for each in homes)


def test_it_is_better_where_something_can_be_gained() -> None:
    counts = loads("even", 20, 64)
    made = rebalance_experts(torch.from_numpy(counts), num_physical=80, ep_size=8)
    theirs = published.rebalanced(counts, 80, 1, 1, 8)
    assert balancedness(counts, made, 8).mean() > balancedness(counts, theirs, 8).mean() + 0.002
    assert balancedness(counts, made, 8).min() > 0.998


def test_small_placements_are_nearly_the_best_there_is() -> None:
    """Every way to put eight items into two packs of four."""
    from itertools import combinations

    for seed in range(20):
        weights = loads("cubed", 1, 8, seed)
        best = min(
            max(weights[0][list(each)].sum(), weights[0].sum() - weights[0][list(each)].sum())
            for each in combinations(range(8), 4)
        )
        packs = eplb_algorithm.pack(weights, 2)[0]
        assert weights[0][packs].sum(-1).max() <= best * 1.05 + 1e-9


def test_experts_stay_where_they_are_as_far_as_they_can() -> None:
    counts = torch.from_numpy(loads("cubed", 4, 32))
    first = rebalance_experts(counts, num_physical=40, ep_size=4)
    shuffled = first.view(4, 4, 10)[:, [2, 0, 3, 1]].flip(-1).reshape(4, 40)
    again = rebalance_experts(counts, num_physical=40, ep_size=4, current=shuffled)
    assert torch.equal(again, shuffled)  # the same packs, so nothing moves
    nudged = rebalance_experts(counts * 1.0 + torch.rand(4, 32), num_physical=40, ep_size=4, current=first)
    fresh = rebalance_experts(counts * 1.0 + torch.rand(4, 32), num_physical=40, ep_size=4)
    assert (nudged == first).sum() > (fresh == first).sum()


@pytest.mark.parametrize("algorithm", ["auto", "elasticity_aware", "elasticity_aware_hierarchical"])
def test_ranks_that_are_gone_bear_nothing(algorithm: str) -> None:
    counts, active = loads("zipf", 3, 16), [True, False, True, True]
    before = trivial_map(3, 16, 16)
    made = rebalance_experts(
        torch.from_numpy(counts),
        num_physical=32,
        ep_size=4,
        num_groups=4,
        num_nodes=2,
        algorithm=algorithm,
        active_ranks=active,
        current=before,
    )
    parts = made.view(3, 4, 8)
    assert torch.equal(parts[:, 1], before.view(3, 4, 8)[:, 1])
    left = parts[:, [0, 2, 3]].reshape(3, -1)
    for row in left.tolist():
        assert set(row) == set(range(16))
    theirs = published.rebalanced(counts, 24, 1, 1, 3)
    assert (balancedness(counts, left, 3) >= balancedness(counts, theirs, 3) - 1e-12).all()


def test_what_can_not_be_placed_is_refused() -> None:
    counts = torch.ones(1, 16)
    for given, match in (
        ({"algorithm": "best"}, "eplb_algorithm='best'"),
        ({"active_ranks": [True, False, False, False]}, "1 ranks have 5 slots, for 16 experts"),
        ({"active_ranks": [True, False, True, True], "algorithm": "deepseek"}, "ranks that are gone"),
        ({"algorithm": "deepseek_hierarchical", "num_nodes": 2, "num_groups": 3}, "3 groups of experts on 2 nodes"),
    ):
        with pytest.raises(BadConfig, match=match):
            rebalance_experts(counts, **{"num_physical": 20, "ep_size": 4, **given})  # type: ignore[arg-type]


def optimum(placement: Any, counts: Any, ranks: int) -> float:
    """By HiGHS, over all copies of all experts."""
    optimise = pytest.importorskip("scipy.optimize")
    slots = len(placement)
    upper = np.zeros((ranks, slots + 1))
    upper[np.arange(slots) // (slots // ranks), np.arange(slots)] = 1
    upper[:, -1] = -1
    equal = np.zeros((len(counts), slots + 1))
    equal[placement, np.arange(slots)] = 1
    cost = np.eye(slots + 1)[-1]
    found = optimise.linprog(cost, A_ub=upper, b_ub=np.zeros(ranks), A_eq=equal, b_eq=counts, method="highs")
    return float(found.fun)


@pytest.mark.parametrize("kind", LOADS)
@pytest.mark.parametrize(
    ("experts", "redundant", "ranks"), [(64, 16, 8), (16, 32, 4), (8, 0, 2), (12, 3, 5), (256, 32, 16)]
)
def test_the_split_is_the_optimum_of_highs(kind: str, experts: int, redundant: int, ranks: int) -> None:
    placement = rebalance_experts(
        torch.from_numpy(loads("cubed", 1, experts, seed=3)), num_physical=experts + redundant, ep_size=ranks
    )
    location = ExpertLocationMetadata(placement, num_logical_experts=experts, ep_size=ranks, ep_rank=0)
    solvers = lplb.LplbSolvers(location)
    for seed in range(3):
        counts = loads(kind, 1, experts, seed)[0]
        shares = solvers.shares(0, torch.from_numpy(counts).long())
        assert (shares >= 0).all() and torch.allclose(shares.sum(-1), torch.ones(experts, dtype=torch.float64))
        load = np.zeros(experts + redundant)
        for expert, places in enumerate(location.logical_to_all_physical_map[0].tolist()):
            for place, physical in enumerate(places):
                if physical >= 0:
                    load[physical] = shares[expert, place] * counts[expert]
                else:
                    assert shares[expert, place] == 0
        most = load.reshape(ranks, -1).sum(-1).max()
        assert most == pytest.approx(optimum(placement[0].numpy(), counts, ranks), rel=1e-7, abs=1e-9)


def test_shares_follow_the_placement_and_the_ranks_that_are_there() -> None:
    location = ExpertLocationMetadata(trivial_map(1, 8, 8), num_logical_experts=8, ep_size=4, ep_rank=0)
    solvers = lplb.LplbSolvers(location)
    counts = torch.tensor([80, 0, 0, 0, 0, 0, 0, 0])
    assert solvers.shares(0, counts)[0, :2].tolist() == pytest.approx([0.5, 0.5])
    location.update(location.physical_to_logical_map.clone(), active_ranks=[False, True, True, True])
    assert solvers.shares(0, counts)[0].tolist() == [1.0] + [0.0] * 8
    location.update(torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 0, 0]]))
    assert solvers.shares(0, counts)[0].sum() == pytest.approx(1.0)
    assert len(set(solvers.location.logical_to_all_physical_map[0, 0].tolist())) == 5


def simulated(before: list[int], made: Plan, per_rank: int) -> list[int]:
    """What the slots hold after a plan: everything is sent first, as the updater does."""
    after = list(before)
    for each in made.transfers:
        assert before[each.source_rank * per_rank + each.source_slot] == each.expert
        after[each.rank * per_rank + each.slot] = each.expert
    for rank, copies in made.copies.items():
        for copy in sorted(copies, key=lambda each: each.is_new):
            source = (after if copy.is_new else before)[rank * per_rank + copy.source_slot]
            assert source == copy.expert
            after[rank * per_rank + copy.slot] = source
    for rank, slot, expert in made.missing:
        after[rank * per_rank + slot] = expert
    return after


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_plans_bring_every_expert_to_its_slot(ranks: int) -> None:
    rng = random.Random(ranks)
    for _ in range(60):
        per_rank = rng.randint(2, 6)
        experts = rng.randint(2, ranks * per_rank)
        fill = list(range(experts)) + [rng.randrange(experts) for _ in range(ranks * per_rank - experts)]
        before, after = rng.sample(fill, len(fill)), rng.sample(fill, len(fill))
        nodes = 2 if ranks > 2 and rng.random() < 0.5 else 1
        made = plan(before, after, ep_size=ranks, num_nodes=nodes)
        assert not made.missing and simulated(before, made, per_rank) == after
        assert all(each.source_rank != each.rank for each in made.transfers)
        came = [(each.rank, each.expert) for each in made.transfers]
        assert len(set(came)) == len(came)  # a rank receives an expert once
        per_node = ranks // nodes
        for each in made.transfers:  # across nodes only where nobody near has it
            if each.source_rank // per_node != each.rank // per_node:
                first = each.rank // per_node * per_node * per_rank
                assert each.expert not in before[first : first + per_node * per_rank]


def test_plans_without_some_ranks() -> None:
    before, after = [0, 1, 2, 3, 4, 5], [0, 1, 3, 3, 4, 2]
    made = plan(before, after, ep_size=3, active_ranks=[True, False, True])
    assert made.missing == ((2, 1, 2),) and not made.transfers and 1 not in made.copies
    fresh = plan([0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 3], ep_size=3, fresh_ranks=(1,))
    assert [(each.expert, each.source_rank, each.slot) for each in fresh.transfers] == [(0, 0, 0), (1, 0, 1)]
    assert plan([0, 0, 0, 0], [0, 0, 0, 0], ep_size=2, fresh_ranks=(1,)).copies[1][0].is_new
