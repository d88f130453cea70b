"""Small seeded checkpoints that transformers writes to disk, and a run of our decoder on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.attention.backends import backend
from engine.attention.batch import AttentionBatch
from engine.distributed.group import Group, single
from engine.kv.cache import KVCache
from engine.models import weights
from engine.models.checkpoint import Checkpoint
from engine.models.decoder import Decoder, Stage, stages
from engine.moe.parallel import ExpertParallel
from engine.schema.step import Slice

SIZES: dict[str, Any] = {
    "vocab_size": 199,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaForCausalLM", {}),
    "llama-tied": ("LlamaForCausalLM", {"tie_word_embeddings": True, "num_key_value_heads": 4}),
    "llama-3": ("LlamaForCausalLM", {"rope_parameters": _LLAMA3}),
    "qwen2": ("Qwen2ForCausalLM", {}),
    "qwen3": ("Qwen3ForCausalLM", {"head_dim": 32}),
    "gemma3": (
        "Gemma3ForCausalLM",
        {"head_dim": 32, "sliding_window": 7, "query_pre_attn_scalar": 20, "num_key_value_heads": 1},
    ),
}
_EXPERTS = {"num_experts_per_tok": 3, "moe_intermediate_size": 32}
SPARSE: dict[str, tuple[str, dict[str, Any]]] = {
    "qwen3-moe": (
        "Qwen3MoeForCausalLM",
        {**_EXPERTS, "head_dim": 32, "num_experts": 8, "norm_topk_prob": True, "mlp_only_layers": [1]},
    ),
    "qwen2-moe": (
        "Qwen2MoeForCausalLM",
        {**_EXPERTS, "num_experts": 8, "shared_expert_intermediate_size": 48, "decoder_sparse_step": 2},
    ),
    "mixtral": ("MixtralForCausalLM", {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 9}),
    "dots1": (
        "Dots1ForCausalLM",
        {
            **_EXPERTS,
            "head_dim": 16,
            "n_routed_experts": 16,
            "n_shared_experts": 2,
            "n_group": 4,
            "topk_group": 2,
            "first_k_dense_replace": 1,
            "routed_scaling_factor": 1.7,
            "norm_topk_prob": True,
        },
    ),
}


def write(family: str, folder: Path, **sizes: Any) -> Any:
    """The reference model, its weights drawn anew (norms and biases too), saved to a folder. sizes: other ones."""
    import transformers

    name, extra = {**FAMILIES, **SPARSE}[family]
    kind = getattr(transformers, name)
    torch.manual_seed(7)
    model = kind(kind.config_class(**{**SIZES, **extra, **sizes})).float().eval()
    with torch.no_grad():
        for name, each in model.named_parameters():
            drawn = torch.randn_like(each) * (0.3 if each.ndim == 1 else each.shape[-1] ** -0.5)
            each.copy_(drawn + 1 if "norm" in name else drawn)
        for name, each in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                each.copy_(torch.randn_like(each) * 0.1)
    model.save_pretrained(folder)
    return model


def decoder(
    folder: Path,
    *,
    group: Group | None = None,
    stage: Stage | None = None,
    max_position: int | None = None,
    experts: ExpertParallel | None = None,
    dtype: torch.dtype = torch.float32,
) -> Decoder:
    checkpoint = Checkpoint(folder)
    whole = stages(checkpoint.config.num_layers, 1)[0]
    model = Decoder(
        checkpoint.config,
        group=group or single(),
        stage=stage or whole,
        dtype=dtype,
        max_position=max_position,
        experts=experts,
    )
    weights.load(model, checkpoint.tensors(), source=str(folder))
    return model


def cache_of(model: Decoder, block_tokens: int) -> KVCache:
    return KVCache(
        num_layers=len(model.layers),
        num_blocks=64,
        block_tokens=block_tokens,
        heads=max(model.config.num_kv_heads // model.group.size, 1),
        head_dim=model.config.head_dim,
        dtype=model.dtype,
    )


def logits(
    models: Sequence[Decoder],
    sequences: Sequence[Sequence[int]],
    *,
    chunks: Sequence[int],
    attention: str,
    block_tokens: int = 4,
    before_step: Callable[[Sequence[Slice]], None] = lambda _: None,
) -> list[Tensor]:
    """The logits after every token of each sequence, computed together, so many tokens a step (the last number again
    and again). models: the stages, in order. before_step: told what a step will compute."""
    caches = [cache_of(each, block_tokens) for each in models]
    free = list(range(63, 0, -1))
    blocks: list[list[int]] = [[] for _ in sequences]
    done, out, step = [0] * len(sequences), [[] for _ in sequences], 0  # type: ignore[var-annotated]
    while any(at < len(each) for at, each in zip(done, sequences, strict=True)):
        count = chunks[min(step, len(chunks) - 1)]
        step += 1
        parts = []
        for index, each in enumerate(sequences):
            tokens = tuple(each[done[index] : done[index] + count])
            while len(blocks[index]) * block_tokens < done[index] + len(tokens):
                blocks[index].append(free.pop())
            if tokens:
                parts.append(
                    Slice(
                        seq_id=index,
                        token_ids=tokens,
                        start=done[index],
                        block_ids=tuple(blocks[index]),
                        is_sampled=True,
                    )
                )
        parts.sort(key=lambda part: len(part.token_ids) > 1)  # decodes first, as the scheduler plans
        batch = AttentionBatch(parts, block_tokens)
        rows = torch.tensor([token for part in parts for token in part.token_ids])
        before_step(parts)
        hidden: Tensor | None = None
        for model, cache in zip(models, caches, strict=True):
            hidden = model(rows, batch.positions_T, backend(attention)(cache, batch), hidden)
        assert hidden is not None
        made = models[-1].logits(hidden)
        for part, span in zip(parts, batch.spans, strict=True):
            out[part.seq_id].append(made[span.first : span.last])
            done[part.seq_id] = part.end
    return [torch.cat(each) for each in out]


class Cached:
    """The logits after the last tokens of one sequence at a time, whose KV stays between calls; that of tokens that
    are others the next time is written over."""

    def __init__(self, model: Decoder) -> None:
        self.model, self.cache, self.known = model, cache_of(model, 16), list[int]()

    def __call__(self, tokens: Sequence[int], count: int) -> Tensor:
        start = next((at for at, (a, b) in enumerate(zip(self.known, tokens)) if a != b), len(self.known))  # noqa: B905
        start = min(start, len(tokens) - count)
        part = Slice(
            seq_id=0, token_ids=tuple(tokens[start:]), start=start, block_ids=tuple(range(1, 60)), is_sampled=True
        )
        batch = AttentionBatch([part], 16)
        with torch.inference_mode():
            hidden = self.model(
                torch.tensor(part.token_ids), batch.positions_T, backend("sdpa")(self.cache, batch), None
            )
            made: Tensor = self.model.logits(hidden[-count:])
        self.known = list(tokens)
        return made
