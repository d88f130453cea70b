"""What stands behind attention in a layer: one feed-forward that every token goes through, or experts of which each
token goes through some, with or without shared ones beside them. T tokens, D model width, F feed-forward width of this
rank."""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor, nn

from engine.config.model_config import ModelConfig
from engine.distributed.group import Group
from engine.kernels.panels import Panels
from engine.layers.linear import ColumnLinear, Linear, RowLinear, is_bare, share
from engine.moe.layer import RoutedExperts
from engine.moe.parallel import ExpertParallel


class FeedForward(nn.Module):
    """down(act(gate(x)) * up(x)). size: the width on all ranks together, where it is not the model's."""

    _tp_plan: ClassVar = {"gate_up": "colwise_sharded", "down": "rowwise"}

    def __init__(self, config: ModelConfig, group: Group, dtype: torch.dtype, *, size: int | None = None) -> None:
        super().__init__()
        self.size = config.ffn_size if size is None else size
        width = share(self.size, group.size, "ffn_size")
        self.gate_up = ColumnLinear(config.hidden_size, 2 * width, has_bias=False, dtype=dtype)
        self.down = RowLinear(width, config.hidden_size, group=group, has_bias=False, dtype=dtype)
        self.activation = config.activation

    def forward(self, x_TD: Tensor) -> Tensor:
        packed = self.gate_up.packed  # rows are [gate; up] per rank, so the split is local
        if isinstance(packed, Panels) and packed.can_gate() and is_bare(self.gate_up):
            made_TF = packed.product(x_TD, gate=self.activation)
        else:
            gate_TF, up_TF = self.gate_up(x_TD).chunk(2, dim=-1)
            is_gelu = self.activation == "gelu_tanh"
            made_TF = (F.gelu(gate_TF, approximate="tanh") if is_gelu else F.silu(gate_TF)) * up_TF
        out: Tensor = self.down(made_TF)
        return out


class SparseFeedForward(nn.Module):
    """Experts that the router chooses, and shared ones that have every token, whose width is shared out over the ranks.
    layer: its number in the whole model."""

    def __init__(
        self, config: ModelConfig, group: Group, dtype: torch.dtype, *, layer: int, experts: ExpertParallel
    ) -> None:
        super().__init__()
        moe = config.moe
        assert moe is not None, "only sparse models have sparse layers"
        self.routed = RoutedExperts(
            moe, experts, layer=layer, width=config.hidden_size, activation=config.activation, dtype=dtype
        )
        self.shared = FeedForward(config, group, dtype, size=moe.shared_size) if moe.shared_size else None
        self.shared_gate: Linear | None = None
        if moe.has_shared_gate:
            self.shared_gate = Linear(config.hidden_size, 1, has_bias=False, dtype=dtype)
            self.shared_gate.is_exact = True

    def forward(self, x_TD: Tensor) -> Tensor:
        made: Tensor = self.routed(x_TD)
        if self.shared is None:
            return made
        shared_TD: Tensor = self.shared(x_TD)
        if self.shared_gate is not None:
            shared_TD = torch.sigmoid(self.shared_gate(x_TD)) * shared_TD
        return made + shared_TD
