"""One decoder for the Llama, Qwen, Gemma 3 and sparse families: they differ in switches (model_config.py). Keeps the
share of one tensor-parallel rank and the layers of one pipeline stage. T tokens, D model width, H and K query and KV
heads of this rank, F feed-forward width of this rank."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from engine.attention.backends import Attention
from engine.config.model_config import ModelConfig
from engine.distributed.group import Group
from engine.layers.embedding import Embedding
from engine.layers.linear import ColumnLinear, Linear, RowLinear, is_bare, share
from engine.layers.norm import RMSNorm
from engine.layers.rotary import Angles, Rotary, turn_heads
from engine.layers.target import Target
from engine.models.feed_forward import FeedForward, SparseFeedForward
from engine.models.fused import Fused
from engine.moe.parallel import ExpertParallel, alone
from engine.schema.errors import BadConfig


class Stage(NamedTuple):
    """Layers [first, last) of `total`. The first stage embeds, the last one gives logits."""

    first: int
    last: int
    total: int

    @property
    def is_first(self) -> bool:
        return self.first == 0

    @property
    def is_last(self) -> bool:
        return self.last == self.total


def stages(num_layers: int, count: int) -> list[Stage]:
    """Even shares in order; the first ones have one layer more where it does not come out."""
    sizes = [num_layers // count + (index < num_layers % count) for index in range(count)]
    ends = [sum(sizes[: index + 1]) for index in range(count)]
    return [Stage(end - size, end, num_layers) for size, end in zip(sizes, ends, strict=True)]


def kv_share(total: int, size: int) -> int:
    """KV heads of each rank. Raises BadConfig where a rank's query heads would need parts of several shares."""
    if total % size and size % total:
        raise BadConfig(
            f"num_kv_heads={total} over {size} ranks", fix=f"use a number of ranks that divides {total}, or a multiple"
        )
    return max(total // size, 1)


class SelfAttention(nn.Module):
    """num_kv_heads: at least one on every rank; where there are fewer than ranks, several ranks keep the same."""

    _tp_plan: ClassVar = {"qkv": "colwise_sharded", "out": "rowwise"}

    def __init__(self, config: ModelConfig, group: Group, dtype: torch.dtype, *, layer: int, cache_layer: int) -> None:
        super().__init__()
        self.heads = share(config.num_heads, group.size, "num_heads")
        self.kv_heads = kv_share(config.num_kv_heads, group.size)
        self.head_dim, self.scale = config.head_dim, config.scale
        self.window, self.cache_layer = config.window_of(layer), cache_layer
        width, rows = config.hidden_size, (self.heads + 2 * self.kv_heads) * self.head_dim
        self.qkv = ColumnLinear(width, rows, has_bias=config.has_qkv_bias, dtype=dtype)
        self.out = RowLinear(self.heads * self.head_dim, width, group=group, has_bias=False, dtype=dtype)
        self.q_norm: RMSNorm | None = None
        self.k_norm: RMSNorm | None = None
        if config.has_qk_norm:
            norm = {"eps": config.norm_eps, "offset": config.norm_offset}
            self.q_norm = RMSNorm(self.head_dim, dtype=dtype, **norm)
            self.k_norm = RMSNorm(self.head_dim, dtype=dtype, **norm)

    def forward(self, x_TD: Tensor, angles: Angles, attend: Attention) -> Tensor:
        norms = self.q_norm, self.k_norm
        q, k, v = turn_heads(self.qkv(x_TD), angles, (self.heads, self.kv_heads), norms)
        made = attend(self.cache_layer, q, k, v, scale=self.scale, window=self.window)
        out: Tensor = self.out(made.flatten(1))
        return out


class DecoderLayer(nn.Module):
    """Gemma norms what attention and feed-forward give, too, before it is added."""

    def __init__(
        self,
        config: ModelConfig,
        group: Group,
        dtype: torch.dtype,
        *,
        layer: int,
        cache_layer: int,
        experts: ExpertParallel | None = None,
    ) -> None:
        super().__init__()
        self.attention = SelfAttention(config, group, dtype, layer=layer, cache_layer=cache_layer)
        self.feed_forward: FeedForward | SparseFeedForward
        if config.is_sparse(layer):
            assert experts is not None, "a sparse model says where its experts stand"
            self.feed_forward = SparseFeedForward(config, group, dtype, layer=layer, experts=experts)
        else:
            self.feed_forward = FeedForward(config, group, dtype)
        self.is_local = config.window_of(layer) > 0
        self.attention_norm, self.ffn_norm = _norm(config, dtype), _norm(config, dtype)
        self.post_attention_norm = _norm(config, dtype) if config.has_post_norms else nn.Identity()
        self.post_ffn_norm = _norm(config, dtype) if config.has_post_norms else nn.Identity()

    def forward(self, x_TD: Tensor, angles: Angles, attend: Attention) -> Tensor:
        added = self.post_attention_norm(self.attention(self.attention_norm(x_TD), angles, attend))
        x_TD, normed = self.ffn_norm.after_adding(x_TD, added)
        out: Tensor = x_TD + self.post_ffn_norm(self.feed_forward(normed))
        return out


class Decoder(nn.Module):
    """hidden states in and out between stages; logits of chosen rows at the end. experts: where those of a sparse model
    stand; the width of each is shared out over the group where nothing is said."""

    def __init__(
        self,
        config: ModelConfig,
        *,
        group: Group,
        stage: Stage,
        dtype: torch.dtype,
        max_position: int | None = None,
        experts: ExpertParallel | None = None,
    ) -> None:
        super().__init__()
        self.config, self.group, self.stage, self.dtype = config, group, stage, dtype
        self.experts = experts or (alone(config.moe, moe_tp=group) if config.moe is not None else None)
        most = config.max_position if max_position is None else max_position
        self.rotary = Rotary(config.rope, head_dim=config.head_dim, max_position=most)
        self.local_rotary = (
            Rotary(config.local_rope, head_dim=config.head_dim, max_position=most) if config.window else self.rotary
        )
        has_table = stage.is_first or (stage.is_last and config.is_tied)
        self.embedding = (
            Embedding(config.vocab_size, config.hidden_size, group=group, dtype=dtype) if has_table else None
        )
        self.layers = nn.ModuleList(
            DecoderLayer(config, group, dtype, layer=layer, cache_layer=layer - stage.first, experts=self.experts)
            for layer in range(stage.first, stage.last)
        )
        self._fused = Fused()
        self.norm = _norm(config, dtype) if stage.is_last else None
        self.head: Linear | None = None
        if stage.is_last:
            rows = -(-config.vocab_size // group.size)
            self.head = ColumnLinear(config.hidden_size, rows, has_bias=False, dtype=dtype)
            if config.is_tied and self.embedding is not None:
                self.head.tie(self.embedding)

    def forward(
        self, tokens_T: Tensor, positions_T: Tensor, attend: Attention, hidden_TD: Tensor | None = None
    ) -> Tensor:
        """The hidden states after this stage's layers, [T, D]. hidden: of the stage before."""
        hidden_TD = self.embed(tokens_T) if hidden_TD is None else hidden_TD
        fused = self._fused(self, hidden_TD, positions_T, attend)
        return self.run_layers(hidden_TD, positions_T, attend) if fused is None else fused

    def embed(self, tokens_T: Tensor) -> Tensor:
        assert self.embedding is not None, "a later stage takes the hidden states of the one before"
        hidden_TD: Tensor = self.embedding(tokens_T)
        if self.config.embed_scale != 1.0:
            hidden_TD = hidden_TD * torch.tensor(self.config.embed_scale, dtype=self.dtype)
        return hidden_TD

    def run_layers(
        self, hidden_TD: Tensor, positions_T: Tensor, attend: Attention, first: int = 0, last: int | None = None
    ) -> Tensor:
        """Through some of this stage's layers, one after the other."""
        plain = self.rotary.at(positions_T, self.dtype)
        local = self.local_rotary.at(positions_T, self.dtype) if self.config.window else plain
        for layer in self.layers[first:last]:
            hidden_TD = layer(hidden_TD, local if layer.is_local else plain, attend)
        return hidden_TD

    def logits(self, hidden_TD: Tensor) -> Tensor:
        """[T, vocab_size] in fp32, on every rank. Only of the last stage."""
        assert self.norm is not None and self.head is not None, "only the last stage has logits"
        normed = self.norm(hidden_TD)
        made = self.head.product(normed, torch.float32) if is_bare(self.head) else self.head(normed).float()
        return self.group.all_gather(made)[:, : self.config.vocab_size]

    def linears(self) -> list[Linear]:
        """Every matrix, for packing."""
        return [each for each in self.modules() if isinstance(each, Linear)]

    def sparse_layers(self) -> dict[int, SparseFeedForward]:
        """Those of this stage, by their numbers in the whole model."""
        found = {index: layer.feed_forward for index, layer in enumerate(self.layers, self.stage.first)}
        return {index: each for index, each in found.items() if isinstance(each, SparseFeedForward)}

    def adapter_targets(self) -> dict[str, Target]:
        """The matrices that adapters may change, by their names in checkpoints."""
        found: dict[str, Target] = {}
        for index, layer in enumerate(self.layers, self.stage.first):
            assert isinstance(layer, DecoderLayer)
            made = _targets(layer, self.config, self.group)
            found.update({f"model.layers.{index}.{name}": each for name, each in made.items()})
        return found


def _targets(layer: DecoderLayer, config: ModelConfig, group: Group) -> dict[str, Target]:
    attention, ffn, width = layer.attention, layer.feed_forward, config.hidden_size
    dim, found, at = attention.head_dim, dict[str, Target](), 0
    kv_start = group.rank * config.num_kv_heads // group.size * dim
    for name, heads, total, start in (
        ("q_proj", attention.heads, config.num_heads, group.rank * attention.heads * dim),
        ("k_proj", attention.kv_heads, config.num_kv_heads, kv_start),
        ("v_proj", attention.kv_heads, config.num_kv_heads, kv_start),
    ):
        last = at + heads * dim
        found[f"self_attn.{name}"] = Target(attention.qkv, width, total * dim, at, last, output_start=start)
        at = last
    inputs = attention.heads * dim
    found["self_attn.o_proj"] = Target(
        attention.out, config.num_heads * dim, width, 0, width, num_inputs=inputs, input_start=group.rank * inputs
    )
    if isinstance(ffn, SparseFeedForward):
        return found
    share_F = config.ffn_size // group.size
    for at, name in ((0, "gate_proj"), (share_F, "up_proj")):
        found[f"mlp.{name}"] = Target(
            ffn.gate_up, width, config.ffn_size, at, at + share_F, output_start=group.rank * share_F
        )
    found["mlp.down_proj"] = Target(
        ffn.down, config.ffn_size, width, 0, width, num_inputs=share_F, input_start=group.rank * share_F
    )
    return found


def _norm(config: ModelConfig, dtype: torch.dtype) -> RMSNorm:
    return RMSNorm(config.hidden_size, eps=config.norm_eps, offset=config.norm_offset, dtype=dtype)
