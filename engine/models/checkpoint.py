"""A checkpoint on disk as the models take it: its shape, and its tensors by Hugging Face's names, whatever the
format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.config import model_config
from engine.config.model_config import Family, ModelConfig
from engine.kernels import blocks
from engine.loader.gguf_file import GgufFile, PackedTensor, dequantised
from engine.loader.shards import weight_files
from engine.schema.errors import BadModel

_GGUF_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
_GGUF_TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_DIVISORS = "rope_freqs.weight"  # Llama 3's ramp: part of the shape, no weight


class Checkpoint:
    """path: a .gguf file, or a folder with config.json and safetensors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gguf = GgufFile(path) if path.is_file() else None
        self.config = self._gguf_config(self.gguf) if self.gguf is not None else self._folder_config()

    def _folder_config(self) -> ModelConfig:
        path = self.path / "config.json"
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadModel(
                f"{path} can't be read: {error}", fix="give a .gguf file or a folder with config.json"
            ) from error
        return model_config.from_hf(raw, source=str(path))

    @staticmethod
    def _gguf_config(file: GgufFile) -> ModelConfig:
        names = {each.name: each.shape for each in file.tensors()}
        divisors = next((dequantised(each).flatten() for each in file.tensors() if each.name == _DIVISORS), ())
        if "token_embd.weight" not in names:
            raise BadModel(f"{file.path} has no token embeddings", fix="give the file of a language model")
        return model_config.from_gguf(
            file.get,
            file.require,
            is_tied="output.weight" not in names,
            vocab_size=names["token_embd.weight"][0],
            divisors=tuple(float(each) for each in divisors),
        )

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """One pass over all of them, one at a time."""
        if self.gguf is None:
            yield from self._safetensors()
            return
        for each in self.gguf.tensors():
            if each.name != _DIVISORS:
                name = _hf_name(each.name, self.config.family)
                yield name, self._in_order(name, _floats(each))

    def _safetensors(self) -> Iterator[tuple[str, Tensor]]:
        from safetensors import SafetensorError, safe_open

        for path in weight_files(self.path):
            try:
                opened = safe_open(path, framework="pt")
            except SafetensorError as error:
                raise BadModel(f"{path} is damaged: {error}", fix="fetch the file again") from error
            with opened as file:
                for name in file.keys():  # noqa: SIM118 - it is no mapping
                    yield name, file.get_tensor(name)

    def _in_order(self, name: str, tensor: Tensor) -> Tensor:
        """GGUF turns neighbouring numbers of a Llama head against each other, so its q and k rows are interleaved:
        put back into halves."""
        if self.config.family is not Family.LLAMA or not name.endswith(("q_proj.weight", "k_proj.weight")):
            return tensor
        half = self.config.head_dim // 2
        rows, width = tensor.shape
        return tensor.view(-1, half, 2, width).transpose(1, 2).reshape(rows, width)


def _floats(packed: PackedTensor) -> Tensor:
    """The numbers of a tensor of a GGUF file: by the kernels, where they know its blocks, else by the library."""
    found = blocks.floats(torch.from_numpy(np.array(packed.rows)), packed.kind, packed.shape)
    return torch.from_numpy(dequantised(packed)) if found is None else found


def _hf_name(name: str, family: Family) -> str:
    parts = name.split(".")
    if parts[0] == "blk" and len(parts) == 4 and parts[2] in {**_GGUF_LAYER, "ffn_norm": ""}:
        inner = _GGUF_LAYER.get(parts[2])
        if inner is None:
            inner = "pre_feedforward_layernorm" if family is Family.GEMMA3 else "post_attention_layernorm"
        return f"model.layers.{parts[1]}.{inner}.{parts[3]}"
    if parts[0] in _GGUF_TOP and len(parts) == 2:
        return f"{_GGUF_TOP[parts[0]]}.{parts[1]}"
    return name
