"""What all sparse layers of a rank share: the groups that experts are shared out over, where the experts stand, how
tokens reach them, and who watches. The layers ask it; the runner sets it up and changes it between steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from engine.config.moe_config import MoeConfig
from engine.distributed.group import Group, single
from engine.moe.dispatch import check_algorithm, physical_ids
from engine.moe.location import ExpertLocationMetadata, trivial_map
from engine.schema.errors import BadConfig

BACKENDS = ("none", "all_to_all")


class Recorder(Protocol):
    """Told of every layer which physical experts this rank's tokens went to, [T, K]."""

    def on_select_experts(self, layer: int, physical_TK: Tensor) -> None: ...


class Capturer(Protocol):
    """Told of every layer which logical experts the step's tokens chose, [T, K]."""

    def capture(self, layer: int, ids_TK: Tensor) -> None: ...


class Solver(Protocol):
    """Shares of the copies of each expert, [E, X], for this step's loads, [E]."""

    def shares(self, layer: int, counts_E: Tensor) -> Tensor: ...


class ExpertParallel:
    """ep: ranks that have different experts. moe_tp: ranks that share the width of the same experts. same_tokens: ranks
    of ep that are given the same tokens (ep itself, unless attention has batches of its own). owners: of each share of
    the experts, its rank within ep; -1 where it is gone. step: of the run, the same on every rank; the runner counts
    it. backend: `all_to_all` sends each token to the ranks of its experts; with `none` every rank looks through all
    tokens, and the ranks sum up."""

    def __init__(
        self,
        location: ExpertLocationMetadata,
        *,
        ep: Group | None = None,
        moe_tp: Group | None = None,
        same_tokens: Group | None = None,
        backend: str = "none",
        algorithm: str = "static",
    ) -> None:
        self.location, self.ep, self.moe_tp = location, ep or single(), moe_tp or single()
        self.same_tokens = same_tokens or self.ep
        self.algorithm = check_algorithm(algorithm)
        if backend not in BACKENDS:
            raise BadConfig(f"moe_a2a_backend={backend!r}", fix=f"use one of {', '.join(BACKENDS)}")
        if self.ep.size != location.ep_size:
            raise BadConfig(
                f"experts are placed on {location.ep_size} ranks, the group has {self.ep.size}", fix="use one number"
            )
        self.is_exchanged = backend == "all_to_all" and self.ep.size > 1
        self.has_own_tokens = self.same_tokens.size < self.ep.size
        if self.has_own_tokens and not self.is_exchanged:
            raise BadConfig("batches of their own over shared experts", fix="use moe_a2a_backend=all_to_all")
        if self.has_own_tokens and self.moe_tp.size > 1:
            raise BadConfig("batches of their own over experts of shared width", fix="make ep_size the same as tp_size")
        self.owners: tuple[int, ...] = tuple(range(self.ep.size))
        self.step = 0
        self.recorder: Recorder | None = None
        self.capturer: Capturer | None = None
        self.solver: Solver | None = None

    def regroup(self, ep: Group, owners: Sequence[int], same_tokens: Group | None = None) -> None:
        """Other ranks from now on: some have gone, or are back. ep_size stays what it was."""
        self.ep, self.owners = ep, tuple(owners)
        self.same_tokens = same_tokens or ep
        self.has_own_tokens = self.same_tokens.size < self.ep.size

    def physical(self, layer: int, ids_TK: Tensor, first: int, last: int) -> Tensor:
        """Where the places of tokens [first, last) go. ids: of all tokens that are given to this rank."""
        shares = None
        if self.algorithm == "lp":
            shares = self._shares(layer, ids_TK)
        return physical_ids(
            ids_TK[first:last],
            self.location,
            layer=layer,
            algorithm=self.algorithm,
            step=self.step,
            first=first,
            is_common=not self.is_exchanged,
            shares_EX=shares,
        )

    def _shares(self, layer: int, ids_TK: Tensor) -> Tensor:
        if self.solver is None:
            raise BadConfig("ep_dispatch_algorithm=lp without solvers", fix="make the solvers before the first step")
        counts = torch.bincount(ids_TK.flatten(), minlength=self.location.num_logical_experts)
        if self.has_own_tokens:
            counts = self.ep.all_reduce(counts)
            counts = counts // self.same_tokens.size  # each rank of such a group counted the same tokens
        shares = self.solver.shares(layer, counts)
        # Ranks that look through the same tokens have to agree to the last bit, whatever their processors round.
        return shares if self.is_exchanged else self.ep.broadcast(shares)

    def share_of(self, num_tokens: int) -> tuple[int, int]:
        """Which of the tokens that several ranks are given this one sends: even shares in order."""
        if not self.is_exchanged:
            return 0, num_tokens
        size = self.share_size(num_tokens)
        first = min(self.same_tokens.rank * size, num_tokens)
        return first, min(first + size, num_tokens)

    def share_size(self, num_tokens: int) -> int:
        return -(-num_tokens // self.same_tokens.size)


def alone(config: MoeConfig, *, moe_tp: Group | None = None, num_redundant: int = 0) -> ExpertParallel:
    """All experts on this rank, or a share of the width of each."""
    placed = trivial_map(len(config.is_sparse), config.num_experts, num_redundant)
    location = ExpertLocationMetadata(placed, num_logical_experts=config.num_experts, ep_size=1, ep_rank=0)
    return ExpertParallel(location, moe_tp=moe_tp)
