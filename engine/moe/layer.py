"""The routed half of a sparse layer: tokens to the router, to the copies of the experts that it chose, and the weighed
sum of what comes back. T tokens, K places of each, D width."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor, nn

from engine.config.moe_config import MoeConfig
from engine.kernels.experts import weighed
from engine.layers.linear import share
from engine.moe.exchange import combine, dispatch
from engine.moe.experts import Experts
from engine.moe.parallel import ExpertParallel
from engine.moe.router import Router


class RoutedExperts(nn.Module):
    """layer: its number in the whole model."""

    def __init__(
        self,
        config: MoeConfig,
        parallel: ExpertParallel,
        *,
        layer: int,
        width: int,
        activation: str,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.layer, self.parallel = layer, parallel
        self.router = Router(config, width)
        self.experts = Experts(
            width,
            share(config.expert_size, parallel.moe_tp.size, "expert_size"),
            slots=parallel.location.num_local_physical_experts,
            activation=activation,
            dtype=dtype,
        )
        # The number of each slot's expert, which goes where the weights go, so that a move can be checked.
        self.canary = torch.tensor(parallel.location.local(layer))

    def mark(self) -> None:
        """All slots have been filled as the maps say."""
        self.canary.copy_(torch.tensor(self.parallel.location.local(self.layer)))

    def slot_rows(self) -> list[Tensor]:
        """Everything that belongs to the slots' experts, one row a slot."""
        return [*self.experts.parts(), self.canary.view(-1, 1)]

    def put(self, slot: int, expert: int, matrices: Sequence[Tensor]) -> None:
        """An expert's own tensors into a slot: gate, up and down as checkpoints have them, cut to this rank's share of
        the width."""
        gate, up, down = matrices
        self.experts.gate_up.write(slot, torch.cat([gate, up]))
        self.experts.down.write(slot, down)
        self.canary[slot] = expert

    def forward(self, x_TD: Tensor) -> Tensor:
        parallel = self.parallel
        ids_TK, weights_TK = self.router(x_TD)
        if parallel.capturer is not None:
            parallel.capturer.capture(self.layer, ids_TK)
        first, last = parallel.share_of(len(x_TD))
        physical_TK = parallel.physical(self.layer, ids_TK, first, last)
        if parallel.recorder is not None and (parallel.is_exchanged or parallel.ep.is_first):
            parallel.recorder.on_select_experts(self.layer, physical_TK)
        if parallel.is_exchanged:
            return self._exchanged(x_TD, physical_TK, weights_TK, first, last)
        per_rank = parallel.location.num_local_physical_experts
        slots_TK = physical_TK - parallel.location.ep_rank * per_rank
        slots_TK = slots_TK.where((slots_TK >= 0) & (slots_TK < per_rank), -1)
        made_TD = weighed(self.experts(x_TD, slots_TK), weights_TK)
        return parallel.ep.all_reduce(parallel.moe_tp.all_reduce(made_TD))

    def _exchanged(self, x_TD: Tensor, physical_TK: Tensor, weights_TK: Tensor, first: int, last: int) -> Tensor:
        parallel = self.parallel
        sent = dispatch(
            x_TD[first:last],
            physical_TK,
            parallel.ep,
            num_local=parallel.location.num_local_physical_experts,
            owners=parallel.owners,
        )
        made = combine(self.experts(sent.rows_RD, sent.slots_RK), sent, parallel.ep, num_tokens=last - first)
        ours = parallel.moe_tp.all_reduce(weighed(made, weights_TK[first:last]))
        if parallel.same_tokens.size == 1:
            return ours
        padded = F.pad(ours, (0, 0, 0, parallel.share_size(len(x_TD)) - len(ours)))
        return parallel.same_tokens.all_gather(padded, dim=0)[: len(x_TD)]
