"""MlxModelRunner: the runner on Apple's chips, through MLX. Weights and KV blocks are MLX's; batches, sampling and all
that is plain Python are the base class's. One process, one stage: there is one device."""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor

from engine.attention.base import Attention
from engine.distributed import parallel_state
from engine.distributed.layout import layout
from engine.host.device import CpuDevice, Device
from engine.models.mlx_decoder import MlxDecoder, MlxKVCache, load_mlx
from engine.runner.forward_batch import ForwardBatch
from engine.runner.model_runner import DTYPES, ModelRunner
from engine.schema.errors import BadConfig, NotEnoughMemory

log = logging.getLogger(__name__)
# Options that change what torch's layers compute.
_OTHERS = ("enable_lora", "enable_torch_compile", "enable_memory_saver", "enable_batch_invariant", "quantization")


class MlxModelRunner(ModelRunner):
    """Overrides what touches the device: memory, weights, KV blocks, attention, graphs."""

    def _open_device(self) -> Device:
        """Host tensors around the model are the CPU's."""
        self.mx = load_mlx()
        if self.server_args.world_size > 1:
            raise BadConfig("several ranks on mlx", fix="there is one device: use tp_size=1 and pp_size=1")
        for name in _OTHERS:
            if getattr(self.server_args, name):
                raise BadConfig(f"{name} on mlx", fix="leave it out there")
        return CpuDevice()

    def init_threads_binding(self) -> None:
        """The chip's own cores are not for us to choose."""

    def init_torch_distributed(self) -> int:
        """A world of one, without sockets. The memory that MLX may wire down, less what it has."""
        parallel_state.initialize_model_parallel(layout(tp_size=1), rank=0, device="cpu")
        self.tp_group = parallel_state.get_group("tp")
        self.pp_group = parallel_state.get_group("pp")
        self.attention_tp_group = parallel_state.get_group("attention_tp")
        return self.available_bytes()

    def available_bytes(self) -> int:
        """On machines with Metal, of what it recommends at most; else of the host's memory."""
        if not self.mx.metal.is_available():
            return self.device_handle.available_bytes()
        limit = int(self.mx.device_info()["max_recommended_working_set_size"])
        return max(limit - int(self.mx.get_active_memory()), 0)

    def load_model(self) -> None:
        """Read by torch as everywhere, then moved: the torch weights go."""
        super().load_model()
        self.model = MlxDecoder(self.model, self.dtype)  # type: ignore[assignment]
        log.info(
            "model: moved to mlx: device=%s active_bytes=%d", self.mx.default_device(), self.mx.get_active_memory()
        )

    def _pack_weights(self) -> None:
        """MLX has its own order."""

    def configure_kv_cache_dtype(self) -> None:
        super().configure_kv_cache_dtype()
        if self.kv_cache_dtype not in DTYPES.values():
            raise BadConfig(f"kv_cache_dtype={self.server_args.kv_cache_dtype} on mlx", fix="use auto there")

    def alloc_memory_pool(self, pre_model_load_memory: int, num_blocks: int | None = None) -> None:
        if num_blocks is None:
            num_blocks = self.profile_max_num_blocks(pre_model_load_memory)
        if num_blocks < 2:
            raise NotEnoughMemory(f"{num_blocks} KV blocks fit after the weights", fix="raise mem_fraction_static")
        cache = MlxKVCache(
            self.mx,
            num_layers=self.num_effective_layers,
            num_slots=num_blocks * self.server_args.block_tokens,
            heads=self.model_config.num_kv_heads,
            head_dim=self.model_config.head_dim,
            dtype=getattr(self.mx, str(self.kv_cache_dtype).removeprefix("torch.")),
        )
        model: Any = self.model
        model.cache = cache
        self.kv_cache = cache  # type: ignore[assignment]
        self.num_blocks = num_blocks
        log.info("kv: allocated: num_blocks=%d bytes=%d", num_blocks, cache.num_bytes)

    def init_attention_backends(self) -> None:
        """MLX's own; what stands for it here carries where the tokens are."""
        for name in ("attention_backend", "prefill_attention_backend", "decode_attention_backend"):
            if getattr(self.server_args, name) not in (None, "mlx"):
                raise BadConfig(f"{name}={getattr(self.server_args, name)!r} on mlx", fix="leave it out there")
        self.prefill_attention_backend = self.decode_attention_backend = "mlx"
        self.prefill_attention = self.decode_attention = Attention
        self.is_hybrid_attention = False
        log.info("attention: mlx")

    def init_cuda_graphs(self) -> None:
        """MLX builds its graphs by itself, lazily."""

    def init_draft_runner(self, pre_model_load_memory: int) -> None:
        del pre_model_load_memory
        if self.server_args.speculative_algorithm == "draft":
            raise BadConfig("a draft model on mlx", fix="use speculative_algorithm=ngram there")

    def _check_updatable(self) -> None:
        raise BadConfig("new weights on mlx", fix="start the engine again")

    @torch.inference_mode()
    def forward_split_prefill(self, batch: ForwardBatch, num_layers: int) -> Tensor | None:
        del batch, num_layers
        raise BadConfig("a prefill in parts of its layers on mlx", fix="lower chunked_prefill_size instead")
