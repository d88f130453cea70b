"""The shipped model as a folder of safetensors in bf16, for peers that read no GGUF."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from engine.models.checkpoint import Checkpoint


def write_folder(model: Path, folder: Path) -> None:
    checkpoint = Checkpoint(model)
    shape = checkpoint.config
    folder.mkdir(parents=True, exist_ok=True)
    named = {name: each.to(torch.bfloat16).contiguous() for name, each in checkpoint.tensors()}
    save_file(named, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.ffn_size,
        "num_hidden_layers": shape.num_layers,
        "num_attention_heads": shape.num_heads,
        "num_key_value_heads": shape.num_kv_heads,
        "head_dim": shape.head_dim,
        "vocab_size": shape.vocab_size,
        "max_position_embeddings": shape.max_position,
        "rms_norm_eps": shape.norm_eps,
        "rope_theta": shape.rope.theta,
        "tie_word_embeddings": shape.is_tied,
        "hidden_act": "silu",
        "torch_dtype": "bfloat16",
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(config))
