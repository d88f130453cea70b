"""`python -m tests.bench_engine.experts`: placements beside the balancer that DeepSeek published, splits of copies'
tokens beside HiGHS, the experts' products beside a loop over experts and torch's grouped product, as Markdown tables.
Seconds are of CPU time, the best of some runs, so that a machine that others use too will do; set OMP_NUM_THREADS=1.

Exits 1 where a placement is worse than the published one, or a split is not the optimum."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor

from engine.layers.quantise import Scheme, quantised
from engine.moe import lplb
from engine.moe.eplb_algorithm import balancedness, rebalance_experts
from engine.moe.experts import Experts
from engine.moe.location import ExpertLocationMetadata
from tests.engine.moe import published

Row = list[str]


def seconds(call: Callable[[], Any], runs: int = 5) -> float:
    found = []
    for _ in range(runs):
        started = time.process_time()
        call()
        found.append(time.process_time() - started)
    return min(found)


def loads(kind: str, shape: tuple[int, int], seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if kind == "even":
        return rng.integers(0, 1000, shape).astype(float)
    if kind == "zipf":
        return rng.zipf(1.3, shape).clip(0, 10**6).astype(float)
    return (rng.exponential(1, shape) ** 3 * 100).round()


def placements() -> tuple[list[Row], bool]:
    """58 layers of 256 experts, 32 redundant, on 32 ranks of 4 nodes, as DeepSeek-V3 is served."""
    rows, is_good = [], True
    for kind in ("even", "zipf", "cubed"):
        for groups, nodes in ((1, 1), (8, 4)):
            counts = loads(kind, (58, 256))
            given: dict[str, Any] = {"num_physical": 288, "ep_size": 32, "num_groups": groups, "num_nodes": nodes}
            made = rebalance_experts(torch.from_numpy(counts), **given)
            theirs = published.rebalanced(counts, 288, groups, nodes, 32)
            ours, reference = balancedness(counts, made, 32), balancedness(counts, theirs, 32)
            is_good = is_good and bool((ours >= reference - 1e-12).all())
            rows.append(
                [
                    f"{kind}, {nodes} nodes",
                    f"{ours.mean():.4f}",
                    f"{reference.mean():.4f}",
                    f"{seconds(lambda: rebalance_experts(torch.from_numpy(counts), **given), 2):.2f}",  # noqa: B023
                    f"{seconds(lambda: published.rebalanced(counts, 288, groups, nodes, 32), 1):.2f}",  # noqa: B023
                ]
            )
    return rows, is_good


def splits() -> tuple[list[Row], bool]:
    """The same programme for both: replicated experts alone, the rest a fixed load of its rank."""
    linprog = importlib.import_module("scipy.optimize").linprog
    rows, is_good = [], True
    for experts, redundant, ranks in ((64, 16, 8), (256, 32, 32)):
        for kind in ("even", "zipf", "cubed"):
            counts = loads(kind, (1, experts), seed=5)[0]
            placed = rebalance_experts(
                torch.from_numpy(loads("cubed", (1, experts))), num_physical=experts + redundant, ep_size=ranks
            )
            location = ExpertLocationMetadata(placed, num_logical_experts=experts, ep_size=ranks, ep_rank=0)
            layout = lplb.layout_of(location, 0)
            demand, fixed = counts[layout.experts_R], counts @ layout.single_EN
            copies = len(layout.expert_C)
            upper = np.zeros((ranks, copies + 1))
            upper[layout.rank_C, np.arange(copies)], upper[:, -1] = 1, -1
            equal = np.zeros((len(demand), copies + 1))
            equal[layout.expert_C, np.arange(copies)] = 1

            def highs() -> Any:
                return linprog(
                    np.eye(copies + 1)[-1],  # noqa: B023
                    A_ub=upper,  # noqa: B023
                    b_ub=-fixed,  # noqa: B023
                    A_eq=equal,  # noqa: B023
                    b_eq=demand,  # noqa: B023
                    method="highs",
                )

            def ours() -> Any:
                return lplb.solve(layout.expert_C, layout.rank_C, demand, fixed)  # noqa: B023

            most = float((fixed + np.bincount(layout.rank_C, ours(), ranks)).max())
            even = demand[layout.expert_C] / np.bincount(layout.expert_C)[layout.expert_C]
            plain = float((fixed + np.bincount(layout.rank_C, even, ranks)).max())
            best = float(highs().fun)
            is_good = is_good and abs(most - best) <= 1e-7 * best
            rows.append(
                [
                    f"{experts}+{redundant} on {ranks}, {kind}",
                    f"{plain:.0f}",
                    f"{most:.3f}",
                    f"{best:.3f}",
                    f"{1000 * seconds(ours):.2f}",
                    f"{1000 * seconds(highs):.2f}",
                ]
            )
    return rows, is_good


def products(dtype: torch.dtype, width: int = 1024, inner: int = 512, count: int = 32, top: int = 4) -> list[Row]:
    made = [Experts(width, inner, slots=count, activation="silu", dtype=dtype) for _ in range(3)]
    torch.manual_seed(0)
    for plain, packed, rounded in zip(*(each.linears() for each in made), strict=True):
        plain.weight.data.copy_(torch.randn(plain.weight.shape) * plain.inputs**-0.5)
        packed.weight.data.copy_(plain.weight.data)
        packed.pack(is_plain_kept=False)
        rounded.use(quantised(plain.weight.data, None, Scheme(8, 0)))
    gate_up = made[0].gate_up.weight.data.view(count, 2 * inner, width).transpose(1, 2)
    down = made[0].down.weight.data.view(count, width, inner).transpose(1, 2)

    def grouped(x_TD: Tensor, slots_TK: Tensor) -> Tensor:
        flat = slots_TK.flatten()
        order = flat.argsort(stable=True)
        ends = torch.bincount(flat, minlength=count).cumsum(0).int()
        product: Any = torch._grouped_mm
        gate, up = product(x_TD[order // top], gate_up, offs=ends).chunk(2, -1)
        out = torch.empty(len(flat), width, dtype=dtype)
        out[order] = product(F.silu(gate) * up, down, offs=ends)
        return out

    rows = []
    for tokens in (1, 4, 16, 64, 256):
        x, slots = torch.randn(tokens, width).to(dtype), torch.rand(tokens, count).topk(top).indices
        calls = (
            lambda: made[1](x, slots),  # noqa: B023
            lambda: made[2](x, slots),  # noqa: B023
            lambda: made[0](x, slots),  # noqa: B023
            lambda: grouped(x, slots),  # noqa: B023
        )
        rows.append([f"{dtype}, {tokens}", *(f"{1000 * seconds(call, 3):.2f}" for call in calls)])
    return rows


def table(head: Row, rows: list[Row]) -> str:
    return "\n".join("| " + " | ".join(each) + " |" for each in (head, ["---"] * len(head), *rows)) + "\n"


def main() -> int:
    placed, is_no_worse = placements()
    sys.stdout.write(table(["placement", "balancedness", "published", "CPU s", "published"], placed) + "\n")
    split, is_optimum = splits()
    sys.stdout.write(table(["split", "even", "ours", "HiGHS", "CPU ms", "HiGHS"], split) + "\n")
    head = ["tokens, ms", "packed", "int8", "loop over experts", "torch._grouped_mm"]
    rows = [row for dtype in (torch.float32, torch.bfloat16) for row in products(dtype)]
    sys.stdout.write(table(head, rows))
    return 0 if is_no_worse and is_optimum else 1


if __name__ == "__main__":
    sys.exit(main())
