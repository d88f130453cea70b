"""NpuModelRunner: the runner on Ascend's NPUs, through torch_npu. Weights lie in the blocked order of its matrix units,
attention is its fused kernel over paged blocks, decode steps are recorded into its graphs."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from engine.attention.base import Attention
from engine.host.device import Device
from engine.runner.graphs import recorder
from engine.runner.model_runner import DTYPES, ModelRunner
from engine.schema.errors import BadConfig

log = logging.getLogger(__name__)
FRACTAL_NZ = 29  # the number that CANN gives to blocked matrices
_MASK_SIZE = 2048  # of the one triangle that the kernel reads for every prompt (its sparse mode 3)
_RIGHT_DOWN, _BAND = 3, 4  # sparse modes: causal from the last position back; a window of it
_MAX_HEAD_DIM = 512


def load_torch_npu() -> Any:
    """Raises BadConfig where it is not installed."""
    try:
        import torch_npu
    except ImportError as error:
        raise BadConfig(f"device npu: {error}", fix="install torch_npu for this version of torch") from error
    return torch_npu


class NpuAttention(Attention):
    """All sequences of a step in one call, prompts and single tokens alike. Blocks lie as [N, B, K * D]."""

    def attend(self, layer: int, q_THD: Tensor, scale: float, window: int) -> Tensor:
        cache, spans = self.cache, self.batch.spans
        keys, values = (
            each.view(cache.num_blocks, cache.block_tokens, -1) for each in (cache.keys[layer], cache.values[layer])
        )
        made, _ = load_torch_npu().npu_fused_infer_attention_score(
            query=q_THD,
            key=keys,
            value=values,
            atten_mask=_triangle(q_THD.device),
            block_table=self.batch.tables,
            input_layout="TND",
            block_size=cache.block_tokens,
            actual_seq_lengths=list(itertools.accumulate(span.last - span.first for span in spans)),
            actual_seq_lengths_kv=[span.end for span in spans],
            num_heads=q_THD.shape[1],
            num_key_value_heads=cache.heads,
            scale=scale,
            sparse_mode=_BAND if window else _RIGHT_DOWN,
            pre_tokens=window - 1 if window else 2**31 - 1,
            next_tokens=0,
        )
        result: Tensor = made.view_as(q_THD)
        return result


_TRIANGLES: dict[torch.device, Tensor] = {}


def _triangle(device: torch.device) -> Tensor:
    """What is not seen, once for a device."""
    if device not in _TRIANGLES:
        whole = torch.ones(_MASK_SIZE, _MASK_SIZE, dtype=torch.bool, device=device)
        _TRIANGLES[device] = whole.triu(diagonal=1)
    return _TRIANGLES[device]


class NpuModelRunner(ModelRunner):
    """Overrides what CUDA and CPUs do in their own ways."""

    def _open_device(self) -> Device:
        self.torch_npu = load_torch_npu()
        # Operators compiled for each shape anew would stop every step that is longer than those before.
        self.torch_npu.npu.set_compile_mode(jit_compile=False)
        return Device("npu", self.gpu_id)

    def load_model(self) -> None:
        """As everywhere; then matrices in the blocked order, which halves what a decode reads in vain."""
        super().load_model()
        count = 0
        for each in self.model.linears():
            if each.weight.shape[0] % 16 == 0 and each.weight.shape[1] % 16 == 0:
                each.weight.data = self.torch_npu.npu_format_cast(each.weight.data, FRACTAL_NZ)
                count += 1
        log.info("model: blocked: layers=%d rank=%d", count, self.rank)

    def configure_kv_cache_dtype(self) -> None:
        super().configure_kv_cache_dtype()
        if self.kv_cache_dtype not in (DTYPES["bfloat16"], DTYPES["float16"]):
            raise BadConfig(
                f"kv_cache_dtype={self.server_args.kv_cache_dtype} on npu", fix="use bfloat16 or float16 there"
            )

    def init_cublas(self) -> None:
        """CANN has no handle that is made at first use."""

    def init_attention_backends(self) -> None:
        if self.model_config.head_dim > _MAX_HEAD_DIM or self.server_args.block_tokens % 16:
            raise BadConfig(
                f"head_dim={self.model_config.head_dim}, block_tokens={self.server_args.block_tokens} on npu",
                fix=f"heads of {_MAX_HEAD_DIM} at most, and a multiple of 16 tokens a block",
            )
        for name in ("attention_backend", "prefill_attention_backend", "decode_attention_backend"):
            if getattr(self.server_args, name) not in (None, "npu"):
                super().init_attention_backends()  # the plain ones run on it too
                return
        self.prefill_attention_backend = self.decode_attention_backend = "npu"
        self.prefill_attention = self.decode_attention = NpuAttention
        self.is_hybrid_attention = False
        log.info("attention: npu rank=%d", self.rank)

    def graph_recorder(self) -> Callable[[Callable[[], Tensor]], Callable[[], Tensor]]:
        """Records into a graph of the NPU, which has CUDA's interface under another name."""
        npu = self.torch_npu.npu
        return recorder(npu.NPUGraph, npu.graph, npu.synchronize, npu.graph_pool_handle())
