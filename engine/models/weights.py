"""A checkpoint's tensors, by the names that Hugging Face gives them, into a decoder: which part of which tensor goes
where on this rank. Each tensor is handled once, in whatever order it comes."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from engine.layers.embedding import rows_of_rank
from engine.layers.norm import RMSNorm
from engine.models.decoder import Decoder, DecoderLayer
from engine.models.expert_weights import expert_of, sparse_slots
from engine.models.feed_forward import SparseFeedForward
from engine.models.slot import Slot, ffn_slots
from engine.schema.errors import BadModel

log = logging.getLogger(__name__)
OBSOLETE = (".rotary_emb.inv_freq", ".attn.bias", ".masked_bias", ".kv_scale")
_LAYER = re.compile(r"model\.layers\.(\d+)\.")


def slots(model: Decoder) -> dict[str, Slot]:
    """Where each tensor goes that this rank and stage need."""
    found: dict[str, Slot] = {}
    first, _ = rows_of_rank(model.config.vocab_size, model.group)
    if model.embedding is not None:
        found["model.embed_tokens.weight"] = Slot(model.embedding.weight.data, model.config.vocab_size, 0, first)
    if model.head is not None and not model.config.is_tied:
        found["lm_head.weight"] = Slot(model.head.weight.data, model.config.vocab_size, 0, first)
    if model.norm is not None:
        found["model.norm.weight"] = Slot(model.norm.weight.data, model.config.hidden_size)
    for index, layer in enumerate(model.layers, model.stage.first):
        assert isinstance(layer, DecoderLayer)
        prefix = f"model.layers.{index}."
        found.update({f"{prefix}{name}": slot for name, slot in _layer_slots(model, layer).items()})
    return found


@contextmanager
def plain(model: Decoder) -> Iterator[None]:
    """Every matrix with its plain weight, for as long as weights are looked at: of a matrix that is packed alone it is
    made of the packed form, and goes again."""
    forms = [(each, each.packed) for each in model.linears() if not each.weight.numel()]
    for linear, _ in forms:
        linear.unpack()
    try:
        yield
    finally:
        for linear, form in forms:
            linear.packed = form
            linear.drop_plain()


def _layer_slots(model: Decoder, layer: DecoderLayer) -> dict[str, Slot]:
    rank, size = model.group.rank, model.group.size
    attention, ffn = layer.attention, layer.feed_forward
    dim, heads, kv_heads = attention.head_dim, attention.heads, attention.kv_heads
    kv_start = rank * model.config.num_kv_heads // size * dim
    found: dict[str, Slot] = {}
    at = 0
    kv_total, total = model.config.num_kv_heads * dim, model.config.num_heads * dim
    parts = (("q", heads, rank * heads * dim, total), ("k", kv_heads, kv_start, kv_total))
    for name, rows, start, whole in (*parts, ("v", kv_heads, kv_start, kv_total)):
        part = slice(at, at + rows * dim)
        found[f"self_attn.{name}_proj.weight"] = Slot(attention.qkv.weight.data[part], whole, 0, start)
        if attention.qkv.bias is not None:
            found[f"self_attn.{name}_proj.bias"] = Slot(attention.qkv.bias.data[part], whole, 0, start)
        at = part.stop
    found["self_attn.o_proj.weight"] = Slot(attention.out.weight.data, total, 1, rank * heads * dim)
    if isinstance(ffn, SparseFeedForward):
        found.update(sparse_slots(ffn, model.config.family, rank))
    else:
        found.update({f"mlp.{name}": slot for name, slot in ffn_slots(ffn, rank).items()})
    for name, norm in _norms(layer).items():
        found[f"{name}.weight"] = Slot(norm.weight.data, len(norm.weight))
    return found


def _norms(layer: DecoderLayer) -> dict[str, RMSNorm]:
    """By their names in checkpoints. Gemma calls what stands before the feed-forward another name."""
    has_post = not isinstance(layer.post_ffn_norm, nn.Identity)
    found: dict[str, nn.Module | None] = {
        "input_layernorm": layer.attention_norm,
        "pre_feedforward_layernorm" if has_post else "post_attention_layernorm": layer.ffn_norm,
        "self_attn.q_norm": layer.attention.q_norm,
        "self_attn.k_norm": layer.attention.k_norm,
    }
    if has_post:
        found["post_attention_layernorm"] = layer.post_attention_norm
        found["post_feedforward_layernorm"] = layer.post_ffn_norm
    return {name: norm for name, norm in found.items() if isinstance(norm, RMSNorm)}


def load(model: Decoder, named: Iterable[tuple[str, Tensor]], *, source: str) -> int:
    """Fill the weights of this rank and stage; how many tensors were used. Raises BadModel for one that is unknown, of
    another shape, twice there, or missing; obsolete ones are skipped, and said once. What was packed is packed
    again."""
    was_packed = [(each, each.weight.numel() > 0) for each in model.linears() if each.packed is not None]
    for linear, _ in was_packed:
        linear.unpack()
    if model.experts is not None:
        model.experts.location.refresh()
    wanted = slots(model)
    missing, obsolete = set(wanted), []
    used: set[str] = set()
    with torch.no_grad():
        for name, tensor in named:
            if name in used:
                raise BadModel(f"{source}: {name} comes twice", fix="remove one of the files that hold it")
            slot = wanted.get(name)
            if slot is not None:
                slot.fill(name, tensor)
                used.add(name)
                missing.discard(name)
            elif name.endswith(OBSOLETE):
                obsolete.append(name)
            elif not is_elsewhere(model, name):
                raise BadModel(
                    f"{source}: {name} has no place in this model", fix="see whether the family is the right one"
                )
    if missing:
        some = ", ".join(sorted(missing)[:3])
        raise BadModel(f"{source}: {len(missing)} weights are missing, such as {some}", fix="fetch the model again")
    if obsolete:
        log.warning("weights skipped: source=%s obsolete=%d first=%s", source, len(obsolete), obsolete[0])
    for sparse in model.sparse_layers().values():
        sparse.routed.mark()
    for linear, is_plain_kept in was_packed:
        linear.pack(is_plain_kept=is_plain_kept)
    return len(used)


def is_elsewhere(model: Decoder, name: str) -> bool:
    """Whether another stage or rank has it, or, of tied matrices, the other name."""
    layer = _LAYER.match(name)
    if layer is not None:
        if model.config.moe is not None and (expert := expert_of(name, model.config.family)) is not None:
            is_sparse = int(layer[1]) < model.stage.total and model.config.is_sparse(int(layer[1]))
            return is_sparse and expert < model.config.moe.num_experts
        return int(layer[1]) < model.stage.total and not model.stage.first <= int(layer[1]) < model.stage.last
    if name == "lm_head.weight":
        return model.config.is_tied or not model.stage.is_last
    return name in ("model.embed_tokens.weight", "model.norm.weight")
