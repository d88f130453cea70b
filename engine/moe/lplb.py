"""Splits the tokens of experts that have several copies over them so that the fullest rank has as little as possible: a
small linear programme for every layer and step, and how it is solved. Who the shares are for is dispatch.py's.

Minimise M over x >= 0: the x of an expert's copies sum to its tokens; on each rank, what experts without copies bring
and the x of its slots are at most M. C copies of replicated experts, R such experts, N ranks."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.moe.location import ExpertLocationMetadata

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
_MOST_STEPS = 60  # about ten are usual
_GAP = 1e-9  # of primal and dual, over the load
_BACK = 0.995  # of the way to the border


class Layout(NamedTuple):
    """One layer's programme without its numbers. expert_C, place_C: which replicated expert a copy is of, and which of
    its copies. rank_C: where it stands. experts_R: the replicated experts. single_EN: 1 where an expert's only copy
    is."""

    expert_C: Ints
    place_C: Ints
    rank_C: Ints
    experts_R: Ints
    single_EN: Floats
    num_copies: int


class LplbSolvers:
    """Shares for every sparse layer; the programmes are made anew where the placement has changed."""

    def __init__(self, location: ExpertLocationMetadata) -> None:
        self.location = location
        self._layouts: dict[tuple[int, ...], Layout] = {}
        self._key: tuple[bool, ...] = ()

    def shares(self, layer: int, counts_E: Tensor) -> Tensor:
        """[E, X]: how much of each expert's tokens each of its copies gets; sums to 1 over the copies that are
        there."""
        if self._key != tuple(self.location.active_ranks):
            self._layouts, self._key = {}, tuple(self.location.active_ranks)
        row = tuple(self.location.physical_to_logical_map[layer].tolist())
        if row not in self._layouts:
            if len(self._layouts) > 2 * self.location.num_layers:
                self._layouts.clear()
            self._layouts[row] = layout_of(self.location, layer)
        made = split(self._layouts[row], counts_E.double().cpu().numpy())
        return torch.from_numpy(made).to(counts_E.device)


def layout_of(location: ExpertLocationMetadata, layer: int) -> Layout:
    copies = location.logical_to_all_physical_map[layer].cpu().numpy()
    counts = location.logical_to_all_physical_map_num_valid[layer].cpu().numpy()
    alive = np.flatnonzero(location.active_ranks)
    number = {int(rank): at for at, rank in enumerate(alive)}
    per_rank = location.num_local_physical_experts
    experts = np.flatnonzero(counts > 1)
    single = np.zeros((len(counts), len(alive)))
    for expert in np.flatnonzero(counts == 1):
        single[expert, number[int(copies[expert, 0]) // per_rank]] = 1
    found = [
        (at, place, number[int(copies[expert, place]) // per_rank])
        for at, expert in enumerate(experts)
        for place in range(counts[expert])
    ]
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Layout(columns[0], columns[1], columns[2], experts, single, copies.shape[1])


def split(layout: Layout, counts_E: Floats) -> Floats:
    """[E, X]."""
    shares = np.zeros((len(counts_E), layout.num_copies))
    shares[:, 0] = 1.0
    if not len(layout.expert_C):
        return shares
    demand = counts_E[layout.experts_R]
    fixed = counts_E @ layout.single_EN
    even = 1.0 / np.bincount(layout.expert_C)[layout.expert_C]
    total = demand[layout.expert_C]
    tokens = solve(layout.expert_C, layout.rank_C, demand, fixed)
    each = np.divide(tokens, total, out=even.copy(), where=total > 0)
    shares[layout.experts_R[layout.expert_C], layout.place_C] = each
    made: Floats = shares / shares.sum(-1, keepdims=True)
    return made


def solve(expert_C: Ints, rank_C: Ints, demand_R: Floats, fixed_N: Floats) -> Floats:
    """[C]: the tokens of each copy, at the optimum. An interior-point method with Mehrotra's corrector, in fp64, until
    primal and dual meet. Experts that nobody asks for take no part: the inside of their programme is empty."""
    asked = demand_R > 0
    if not asked.any():
        return np.zeros(len(expert_C))
    if not asked.all():
        kept = asked[expert_C]
        renumbered = np.cumsum(asked) - 1
        out = np.zeros(len(expert_C))
        out[kept] = solve(renumbered[expert_C[kept]], rank_C[kept], demand_R[asked], fixed_N)
        return out
    scale = demand_R.sum() + fixed_N.sum()
    programme = _Programme(expert_C, rank_C, demand_R / scale, fixed_N / scale)
    made: Floats = programme.solved() * scale
    return made


class _Programme:
    """Variables: x of the copies, a slack for every rank, M. Rows: experts (x sum to the demand), ranks (x + slack - M
    = -fixed). A x = b, x >= 0, minimise the last."""

    def __init__(self, expert_C: Ints, rank_C: Ints, demand_R: Floats, fixed_N: Floats) -> None:
        copies, experts, ranks = len(expert_C), len(demand_R), len(fixed_N)
        self.copies = copies
        self.a = np.zeros((experts + ranks, copies + ranks + 1))
        self.a[expert_C, np.arange(copies)] = 1
        self.a[experts + rank_C, np.arange(copies)] = 1
        self.a[experts + np.arange(ranks), copies + np.arange(ranks)] = 1
        self.a[experts:, -1] = -1
        self.b = np.concatenate([demand_R, -fixed_N])
        self.c = np.zeros(copies + ranks + 1)
        self.c[-1] = 1
        # A start inside: even shares, and an M above every rank. The dual's prices need not fit yet.
        even = demand_R[expert_C] / np.bincount(expert_C)[expert_C]
        load = fixed_N + np.bincount(rank_C, even, ranks)
        top = load.max() * 1.1 + 0.1 / ranks
        self.x = np.concatenate([even, top - load, [top]])
        self.y = np.full(experts + ranks, -1.0 / (ranks + 1))
        self.s = self.c - self.a.T @ self.y

    def solved(self) -> Floats:
        for _ in range(_MOST_STEPS):
            gap = float(self.x @ self.s)
            if gap < _GAP:
                break
            if not self._step(gap / len(self.x)):
                break
        made: Floats = np.maximum(self.x[: self.copies], 0)
        return made

    def _step(self, mean: float) -> bool:
        x, s, a = self.x, self.s, self.a
        primal, dual = self.b - a @ x, self.c - a.T @ self.y - s
        ratio = x / s
        try:
            root = np.linalg.inv(np.linalg.cholesky((a * ratio) @ a.T + 1e-14 * np.eye(len(self.b))))
        except np.linalg.LinAlgError:
            return False  # as near as fp64 comes

        def direction(target: Floats) -> tuple[Floats, Floats, Floats]:
            right = primal + a @ (ratio * dual - target / s)
            dy = root.T @ (root @ right)
            ds = dual - a.T @ dy
            return (target - x * ds) / s, dy, ds

        dx, _, ds = direction(-x * s)
        ahead = float((x + _reach(x, dx) * dx) @ (s + _reach(s, ds) * ds)) / len(x)
        centre = (ahead / mean) ** 3
        dx, dy, ds = direction(centre * mean - x * s - dx * ds)
        if not (np.isfinite(dx).all() and np.isfinite(ds).all()):
            return False
        forward, back = min(1.0, _BACK * _reach(x, dx)), min(1.0, _BACK * _reach(s, ds))
        self.x, self.y, self.s = x + forward * dx, self.y + back * dy, s + back * ds
        return True


def _reach(at: Floats, towards: Floats) -> float:
    """How far one can go before a number would be below 0; at most a little beyond 1."""
    down = towards < 0
    return float((-at[down] / towards[down]).min(initial=1.0 / _BACK))
