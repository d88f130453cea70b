"""Which experts each token goes to, and with what weights. In fp32 whatever the model computes in: a choice that
rounding turns over changes the answer. T tokens, E experts, G groups of them, K chosen a token."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from engine.config.moe_config import MoeConfig
from engine.layers.linear import Linear


class TopK(NamedTuple):
    """ids: of logical experts, likeliest first."""

    ids_TK: Tensor
    weights_TK: Tensor


def choose(logits_TE: Tensor, config: MoeConfig, bias_E: Tensor | None = None) -> TopK:
    """bias: added to the scores for the choice alone. Of several groups, those count whose two best experts score
    most together."""
    scores_TE = logits_TE.softmax(-1) if config.scoring == "softmax" else logits_TE.sigmoid()
    ranked_TE = scores_TE if bias_E is None else scores_TE + bias_E
    if config.num_groups > 1:
        groups_TGE = ranked_TE.view(len(ranked_TE), config.num_groups, -1)
        best_TG = groups_TGE.topk(2, dim=-1).values.sum(-1).topk(config.topk_groups, dim=-1).indices
        is_out_TG = torch.ones(groups_TGE.shape[:2], dtype=torch.bool, device=ranked_TE.device).scatter_(
            1, best_TG, False
        )
        ranked_TE = groups_TGE.masked_fill(is_out_TG[..., None], float("-inf")).flatten(1)
    ids_TK = ranked_TE.topk(config.top_k, dim=-1).indices
    weights_TK = scores_TE.gather(1, ids_TK)
    if config.is_normalised:
        weights_TK = weights_TK / (weights_TK.sum(-1, keepdim=True) + 1e-20)
    return TopK(ids_TK, weights_TK * config.scale)


class Router(nn.Module):
    """The whole of it on every rank."""

    def __init__(self, config: MoeConfig, width: int) -> None:
        super().__init__()
        self.config = config
        self.scores = Linear(width, config.num_experts, has_bias=False, dtype=torch.float32)
        self.scores.is_exact = True
        self.bias: nn.Parameter | None = None
        if config.has_correction_bias:
            self.bias = nn.Parameter(torch.zeros(config.num_experts, dtype=torch.float32), requires_grad=False)

    def forward(self, x_TD: Tensor) -> TopK:
        return choose(self.scores.product(x_TD.float()), self.config, self.bias)
