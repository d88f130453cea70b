"""ModelRunner: one rank's model, memory and forward passes. It finds its CPUs and its peers, loads weights, sizes and
allocates KV blocks, chooses attention backends, captures graphs, runs steps and samples, takes new weights and
adapters. Who computes what in a step comes as data from above; what a layer or a kernel does is decided below."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from msgspec import structs
from torch import Tensor

from engine.attention.backends import backend as attention_backend
from engine.attention.backends import default_backend as default_attention_backend
from engine.attention.batch import AttentionBatch
from engine.config.env import read_env
from engine.config.model_config import ModelConfig
from engine.config.server_args import ServerArgs
from engine.distributed import bootstrap, parallel_state, symmetric_memory
from engine.distributed.layout import attention_place
from engine.distributed.outside_group import OutsideGroup
from engine.host import cublas, numa
from engine.host.device import Device, open_device
from engine.host.memory_saver import KV_CACHE, WEIGHTS, MemorySaver, memory_saver
from engine.host.profiling import Profiler
from engine.kv.cache import KVCache, block_bytes
from engine.layers import batch_invariant, model_parallel
from engine.layers.linear import Linear
from engine.layers.model_parallel import supports_tensor_parallel
from engine.layers.quantise import quantise
from engine.loader import language_model
from engine.loader.pull import locate
from engine.loader.remote import checksum
from engine.loader.shards import INDEX as WEIGHTS_INDEX
from engine.lora.manager import LoraManager
from engine.models import weights
from engine.models.checkpoint import Checkpoint
from engine.models.decoder import Decoder, stages
from engine.runner import profiling
from engine.runner.forward_batch import ForwardBatch, ForwardMode, SampledRows
from engine.runner.graphs import DecodeGraphs, Shape, cuda_record, plain_record
from engine.runner.tensors import dtype_of, unpacked
from engine.sampling import sampler
from engine.sampling.backends import create_sampler, oracle_sampler, register_sampler
from engine.sampling.masks import unpack
from engine.schema.errors import BadConfig, BadModel, NotEnoughMemory
from engine.schema.output import PositionLogprobs
from engine.schema.step import Sampled, Slice, StepInput, StepOutput
from engine.speculative.verify import verify

log = logging.getLogger(__name__)

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
KV_DTYPES = {**DTYPES, "fp8_e5m2": torch.float8_e5m2, "fp8_e4m3": torch.float8_e4m3fn, "int8": torch.int8}
LOGPROB_ROWS = 64  # of prompts, weighed at a time: whole rows of the vocabulary in fp32 are large
MIN_BLOCKS = 2  # the padding block, and one to use
GRAPH_BACKENDS = ("sdpa",)  # ways to compute attention whose tensors have the same shapes in every decode step
COMPILE_BACKEND = "inductor"
MEMORY_TAGS = (WEIGHTS, KV_CACHE)
SHARDED_CONFIG = "sharded.json"


def shard_name(rank: int, world_size: int) -> str:
    """The file of one rank's weights, as it holds them."""
    return f"rank-{rank:05}-of-{world_size:05}.safetensors"


class ModelRunner:
    """One rank of tp_size * pp_size. local_rank, local_size: among the ranks of this machine. dist_port: of the
    rendezvous, where neither the options nor the environment name one. is_draft_worker: runs the model that guesses
    ahead for another runner of this process (target), and shares that one's ranks."""

    def __init__(
        self,
        server_args: ServerArgs,
        *,
        tp_rank: int = 0,
        pp_rank: int = 0,
        local_rank: int = 0,
        local_size: int = 1,
        dist_port: int | None = None,
        is_draft_worker: bool = False,
        target: ModelRunner | None = None,
    ) -> None:
        # What was asked for
        self.server_args = server_args
        self.gpu_id = local_rank
        self.device_handle: Device = self._open_device()
        self.device: str = self.device_handle.kind
        self.is_draft_worker = is_draft_worker
        self.target = target

        # Where this rank stands
        self.tp_rank = tp_rank
        self.tp_size: int = server_args.tp_size
        self.pp_rank = pp_rank
        self.pp_size: int = server_args.pp_size
        self.dp_size: int = server_args.dp_size
        self.ep_size: int = server_args.ep_size
        self.attn_cp_size: int = server_args.attn_cp_size
        self.rank: int = pp_rank * self.tp_size + tp_rank
        self.world_size: int = server_args.world_size
        self.local_rank = local_rank
        self.local_size = local_size
        self.dist_port: int = server_args.base_port if dist_port is None else dist_port
        self.is_torch_tp = server_args.enable_torch_tp and self.tp_size > 1
        self.attention_place = attention_place(
            tp_rank=self.tp_rank,
            tp_size=self.tp_size,
            dp_size=self.dp_size if server_args.enable_dp_attention else 1,
            cp_size=self.attn_cp_size,
        )

        # What changes while it runs
        self.forward_pass_id = 0
        self.num_forward_tokens = 0
        self.num_drafts = 0
        self.num_drafts_accepted = 0
        self.forward_stream: Any = None
        self.decode_graphs: DecodeGraphs | None = None
        self.draft_runner: ModelRunner | None = None
        self.weights_update_groups: dict[str, OutsideGroup] = {}
        self.weights_snapshot: dict[str, str] | None = None
        self.sleeping: set[str] = set()
        self.are_weights_lost = False
        self.profiler = Profiler()
        self.num_target_blocks = 0

        self.checkpoint_path = locate(server_args.model, read_env(os.environ).cache_dir)
        self.checkpoint = Checkpoint(self.checkpoint_path)
        self.model_config = ModelConfig.from_server_args(server_args, shape=self.checkpoint.config)

        # CPUs before ranks meet: the threads of collectives inherit what is bound. A rank of another device has none.
        self.local_omp_cpuid: str | None = None
        if self.device == "cpu" and not is_draft_worker:
            self.init_threads_binding()

        pre_model_load_memory = self.init_torch_distributed()
        self.initialize(pre_model_load_memory)
        if is_draft_worker:
            return  # its blocks are numbered, and so allocated, by its target

        self.init_draft_runner(pre_model_load_memory)
        self.alloc_memory_pool(pre_model_load_memory)
        if self.device == "cuda":
            self.init_cublas()
            symmetric_memory.prealloc_symmetric_memory_pool(
                server_args=self.server_args,
                tp_size=self.tp_size,
                forward_stream_context=self.forward_stream_context,
                tp_group=self.tp_group,
                device_handle=self.device_handle,
                rank=self.rank,
            )
        self.init_attention_backends()
        self.alloc_draft_memory_pool(pre_model_load_memory)
        self.init_cuda_graphs()

    def _open_device(self) -> Device:
        return open_device(self.server_args.device, self.gpu_id)

    # -- ranks and their machines

    def init_threads_binding(self) -> None:
        """Which CPUs this rank computes on, as a list in text; None where it stays as it is. Sets local_omp_cpuid;
        init_torch_distributed applies it, where it pays."""
        self.local_omp_cpuid = numa.init_threads_binding(
            local_size=self.local_size, local_rank=self.local_rank, rank=self.rank
        )

    def init_torch_distributed(self) -> int:
        """Take the device, meet the other ranks, make every group. Returns the bytes that are free, at the least."""
        result = bootstrap.init_torch_distributed(
            rank=self.rank,
            world_size=self.world_size,
            device_handle=self.device_handle,
            server_args=self.server_args,
            device=self.device,
            dist_port=self.dist_port,
            is_draft_worker=self.is_draft_worker,
            local_omp_cpuid=self.local_omp_cpuid,
            local_size=self.local_size,
            tp_size=self.tp_size,
        )
        pre_model_load_memory = result.pre_model_load_memory
        self.tp_group = result.tp_group
        self.pp_group = result.pp_group
        self.attention_tp_group = result.attention_tp_group
        return pre_model_load_memory

    def init_cublas(self) -> None:
        """The first product makes the library's handle and workspace: here, and not in the middle of a capture."""
        cublas.init_cublas(device_handle=self.device_handle)

    # -- from nothing to ready

    def initialize(self, pre_model_load_memory: int) -> None:
        """Everything between meeting the other ranks and allocating KV blocks, in the order that its parts need."""
        # What weights and KV are allocated in, so that it can be given back while nobody asks for anything.
        self.memory_saver: MemorySaver
        if self.target is not None:
            self.memory_saver = self.target.memory_saver
        else:
            self.memory_saver = memory_saver(self.device, is_enabled=self.server_args.enable_memory_saver)

        # The oracle registers a way to sample, so it comes before the sampler is made.
        if self.server_args.sampling_backend == "token_oracle":
            register_sampler("token_oracle", oracle_sampler)
        self.sampler = create_sampler(self.server_args.sampling_backend, vocab_size=self.model_config.vocab_size)

        self.load_model()
        taken = pre_model_load_memory - self.device_handle.available_bytes()
        log.info("memory: after the model: rank=%d taken_bytes=%d", self.rank, taken)

        # Layers of this stage; a draft model is whole on its rank.
        self.start_layer, self.end_layer = self.model.stage.first, self.model.stage.last
        self.num_effective_layers = self.end_layer - self.start_layer
        if self.is_draft_worker and self.num_effective_layers != self.model_config.num_layers:
            raise BadConfig("a draft model over several stages", fix="use pp_size=1 with a draft model")

        # Layers that look back a window only, and those that see everything: the end of a stage is not its own.
        self.swa_layer_ids: list[int] = []
        self.full_layer_ids: list[int] = []
        for layer_id in range(self.start_layer, self.end_layer):
            is_local = self.model_config.window_of(layer_id) > 0
            (self.swa_layer_ids if is_local else self.full_layer_ids).append(layer_id)
        self.is_hybrid_swa = bool(self.swa_layer_ids) and bool(self.full_layer_ids)
        if self.swa_layer_ids:
            log.info(
                "layers: windowed=%s full=%s window=%d rank=%d",
                self.swa_layer_ids,
                self.full_layer_ids,
                self.model_config.window,
                self.rank,
            )

        # Transforms of what was loaded: before adapters, which hang themselves into the layers as they are then.
        if self.server_args.quantization is not None:
            if self.is_torch_tp:
                raise BadConfig("quantization with enable_torch_tp", fix="use one of them")
            before_bytes = self.device_handle.available_bytes()
            count = quantise(self.model, self.server_args.quantization)
            log.info(
                "model: quantised: scheme=%s layers=%d freed_bytes=%d rank=%d",
                self.server_args.quantization,
                count,
                self.device_handle.available_bytes() - before_bytes,
                self.rank,
            )
        else:
            self._pack_weights()
        if self.is_torch_tp:
            if not supports_tensor_parallel(self.model):
                raise BadConfig(
                    f"{type(self.model).__name__} has no plan for torch's tensor parallelism",
                    fix="leave enable_torch_tp out",
                )
            self.apply_torch_tp()

        self.lora_manager: LoraManager | None = None
        if self.server_args.enable_lora and not self.is_draft_worker:
            self.init_lora_manager()

        # The same bits for a request alone and in any batch: products over fixed tiles; attention is chosen later.
        self.is_batch_invariant = self.server_args.enable_batch_invariant or read_env(os.environ).is_batch_invariant
        if self.is_batch_invariant:
            batch_invariant.enable(self.model)
            log.info("batch invariant: on: rank=%d", self.rank)

        self.configure_kv_cache_dtype()

    def _pack_weights(self) -> None:
        """Weights in the order in which this machine's products read them."""
        if self.server_args.disable_weight_packing or self.device != "cpu" or self.is_torch_tp:
            return
        if self.server_args.enable_torch_compile:
            return  # torch compiles products that it sees; those of packed weights are calls into the unknown
        if self.server_args.enable_memory_saver:
            log.info("model: not packed: packed weights could not be released: rank=%d", self.rank)
            return
        packed = sum(each.pack(is_plain_kept=False) for each in self.model.linears())
        log.info("model: packed: layers=%d rank=%d", packed, self.rank)

    def _unpack_weights(self) -> list[Linear]:
        """The layers that were packed, which have their plain weights again, to be written."""
        return [each for each in self.model.linears() if each.unpack()]

    def _repack_weights(self, layers: list[Linear]) -> None:
        """In the form that each had before: quantised ones are quantised anew."""
        for each in layers:
            each.pack(is_plain_kept=False)

    def apply_torch_tp(self) -> None:
        """Shares of the layers as DTensors, by the plans that the model's modules carry."""
        model_parallel.apply_torch_tp(
            tp_size=self.tp_size, rank=self.rank, tp_group=self.tp_group, device=self.device, model=self.model
        )

    def load_model(self) -> None:
        """The weights of this rank: found, read, put where they belong. Every rank waits for the slowest, for a while
        and then no longer: one that hangs on its disk is named."""
        started, before_bytes = time.perf_counter(), self.device_handle.available_bytes()
        self.gpu_mem_before_load = before_bytes
        load_format = self.server_args.load_format
        path = self.checkpoint_path
        if load_format == "auto":
            is_sharded = path.is_dir() and (path / SHARDED_CONFIG).exists()
            load_format = "gguf" if path.is_file() else "sharded" if is_sharded else "safetensors"
        if load_format == "gguf" and not path.is_file():
            raise BadConfig(f"load_format=gguf with the folder {path}", fix="give a .gguf file")
        if load_format in ("safetensors", "sharded") and not path.is_dir():
            raise BadConfig(f"load_format={load_format} with the file {path}", fix="give a folder, or use gguf")
        if load_format == "remote":
            raise BadConfig("load_format=remote", fix="another instance's memory can't be read yet; give a path")

        if self.server_args.dtype == "auto":
            self.dtype = self.device_handle.best_dtype()
        else:
            self.dtype = DTYPES[self.server_args.dtype]
            if self.device == "cuda" and self.dtype == torch.bfloat16 and self.device_handle.best_dtype() != self.dtype:
                log.warning("model: bfloat16 is emulated here: float16 instead: rank=%d", self.rank)
                self.dtype = torch.float16
        self.server_args = structs.replace(self.server_args, dtype=str(self.dtype).removeprefix("torch."))
        if self.server_args.attn_cp_size > 1 or (self.server_args.enable_dp_attention and self.dp_size > 1):
            raise BadConfig("DP attention or context parallelism", fix="dense models take tensor and pipeline ranks")

        stage = stages(self.model_config.num_layers, self.pp_size)[self.pp_rank]
        is_kept = self.server_args.enable_weights_cpu_backup
        with self.memory_saver.region(WEIGHTS, is_kept=is_kept), torch.device(self.device_handle.place):
            self.model = Decoder(self.model_config, group=self.tp_group, stage=stage, dtype=self.dtype)
            if load_format == "dummy":
                generator = torch.Generator(device=self.device).manual_seed(self.server_args.seed)
                with torch.no_grad():
                    for name, each in self.model.named_parameters():
                        if "norm" in name:
                            each.fill_(1.0 - self.model_config.norm_offset)
                        else:
                            each.normal_(0.0, 0.02, generator=generator)
            elif load_format == "sharded":
                self._load_shard(path)
            else:
                weights.load(self.model, self.checkpoint.tensors(), source=str(path))
        self.model.eval()
        self.language_model = language_model.resolve_language_model(self.model)
        self.load_format = load_format
        self.weights_version = 0

        after_bytes = self.device_handle.available_bytes()
        self.weight_load_bytes = before_bytes - after_bytes
        log.info(
            "model: loaded: rank=%d family=%s format=%s layers=%d-%d dtype=%s seconds=%.2f used_bytes=%d"
            " available_bytes=%d",
            self.rank,
            self.model_config.family.value,
            load_format,
            stage.first,
            stage.last,
            self.dtype,
            time.perf_counter() - started,
            self.weight_load_bytes,
            after_bytes,
        )
        if self.world_size > 1 and not self.is_draft_worker:
            try:
                parallel_state.get_group("world").barrier(timedelta(seconds=self.server_args.load_timeout))
            except RuntimeError as error:
                raise BadModel(
                    f"some ranks had not loaded the model {self.server_args.load_timeout:.0f} s after rank {self.rank}:"
                    f" {error}",
                    fix="see their logs and disks, or raise load_timeout",
                ) from error

    def _load_shard(self, path: Path) -> None:
        """What save_sharded_model wrote of this very rank: no tensor is cut."""
        from safetensors.torch import load_file

        name = shard_name(self.rank, self.world_size)
        if not (path / name).is_file():
            found = ", ".join(sorted(each.name for each in path.glob("rank-*"))) or "none"
            raise BadModel(f"{path} has no {name} (there are: {found})", fix="load it with the sizes it was saved with")
        given = load_file(path / name, device=str(self.device_handle.place))
        own = dict(self.model.state_dict())
        if given.keys() != own.keys() or any(given[each].shape != own[each].shape for each in own):
            raise BadModel(f"{path / name} is of another model or other sizes", fix="save it again")
        with torch.no_grad():
            for each, tensor in own.items():
                tensor.copy_(given[each])

    def configure_kv_cache_dtype(self) -> None:
        """What keys and values are stored as. Everybody who reads the options afterwards finds the name that was
        settled on, never `auto`."""
        wanted = self.server_args.kv_cache_dtype
        if wanted == "auto":
            wanted = self.model_config.kv_dtype or str(self.dtype).removeprefix("torch.")
        if wanted not in KV_DTYPES:
            raise BadConfig(f"kv_cache_dtype={wanted!r}", fix=f"use one of {', '.join(KV_DTYPES)}")
        self.kv_cache_dtype = KV_DTYPES[wanted]
        self.server_args = structs.replace(self.server_args, kv_cache_dtype=wanted)
        if wanted.startswith("fp8") or wanted == "int8":
            log.info("kv: in 8 bits: dtype=%s rank=%d", wanted, self.rank)

    def profile_max_num_blocks(self, pre_model_load_memory: int) -> int:
        """How many KV blocks this rank can have: what is left of its share of the memory after the weights, and no
        more than the requests that may run at once can fill."""
        config, block_tokens = self.model_config, self.server_args.block_tokens
        self.block_bytes = block_bytes(
            num_layers=self.num_effective_layers,
            block_tokens=block_tokens,
            heads=max(config.num_kv_heads // self.tp_size, 1),
            head_dim=config.head_dim,
            dtype=self.kv_cache_dtype,
        )
        per_block = self.block_bytes
        if self.draft_runner is not None:
            per_block += self.draft_runner.block_bytes
        available = parallel_state.get_group("world").minimum(self.device_handle.available_bytes())
        # What weights took comes off the share; ranks of one machine's CPU share its memory too.
        rest = pre_model_load_memory * (1 - self.server_args.mem_fraction_static)
        sharers = self.local_size if self.device == "cpu" else 1
        fitting = int((available - rest) / sharers) // per_block
        most = -(-config.max_position // block_tokens) * self.server_args.max_running_requests
        if self.server_args.max_total_tokens is not None:
            most = -(-self.server_args.max_total_tokens // block_tokens)
            if most > fitting:
                log.warning("kv: max_total_tokens is lowered: wanted_blocks=%d fitting=%d", most, fitting)
        return min(fitting, most) + 1

    def alloc_memory_pool(self, pre_model_load_memory: int, num_blocks: int | None = None) -> None:
        """The KV blocks. num_blocks: of a draft model, whose blocks are numbered as its target's are, with some of its
        own behind them for tokens that are only guessed."""
        if num_blocks is None:
            num_blocks = self.profile_max_num_blocks(pre_model_load_memory)
            num_blocks = int(parallel_state.get_group("world").minimum(num_blocks))
        if num_blocks < MIN_BLOCKS:
            raise NotEnoughMemory(
                f"{num_blocks} KV blocks of {self.block_bytes} bytes fit after the weights",
                fix="raise mem_fraction_static, or take a smaller model or context",
            )
        with self.memory_saver.region(KV_CACHE), torch.device(self.device_handle.place):
            self.kv_cache = KVCache(
                num_layers=self.num_effective_layers,
                num_blocks=num_blocks,
                block_tokens=self.server_args.block_tokens,
                heads=max(self.model_config.num_kv_heads // self.tp_size, 1),
                head_dim=self.model_config.head_dim,
                dtype=self.kv_cache_dtype,
            )
        self.num_blocks = num_blocks
        log.info(
            "kv: allocated: rank=%d num_blocks=%d block_tokens=%d bytes=%d dtype=%s available_bytes=%d",
            self.rank,
            num_blocks,
            self.server_args.block_tokens,
            self.kv_cache.num_bytes,
            self.kv_cache_dtype,
            self.device_handle.available_bytes(),
        )

    def init_attention_backends(self) -> None:
        """Which way attention is computed, for prompts and for single tokens: as the options say, else what suits the
        device, the format of the KV cache and the mode."""
        default = self.server_args.attention_backend
        if default is None:
            # Steps that are recorded or compiled call no kernels of our own: torch can't see into them.
            default = "sdpa" if self.server_args.enable_torch_compile else default_attention_backend(self.device)
            if self.is_batch_invariant and default == "sdpa":
                default = "reference"
        self.prefill_attention_backend = self.server_args.prefill_attention_backend or default
        self.decode_attention_backend = self.server_args.decode_attention_backend or default
        if self.is_batch_invariant and "sdpa" in (self.prefill_attention_backend, self.decode_attention_backend):
            raise BadConfig(
                "batch-invariant mode with attention by sdpa, whose bits depend on the batch",
                fix="leave the backends out, or use native or reference",
            )
        self.prefill_attention = attention_backend(self.prefill_attention_backend)
        self.decode_attention = attention_backend(self.decode_attention_backend)
        self.is_hybrid_attention = self.prefill_attention_backend != self.decode_attention_backend
        self.server_args = structs.replace(
            self.server_args,
            prefill_attention_backend=self.prefill_attention_backend,
            decode_attention_backend=self.decode_attention_backend,
        )
        log.info(
            "attention: prefill=%s decode=%s rank=%d",
            self.prefill_attention_backend,
            self.decode_attention_backend,
            self.rank,
        )

    def init_cuda_graphs(self) -> None:
        """Record decode steps, where the device can and nothing forbids it; elsewhere compile them, where that was
        asked for. Adapters change from step to step, so a run with them records nothing."""
        self.decode_graphs = None
        is_wanted = not self.server_args.disable_cuda_graph if self.device_handle.can_capture else False
        is_compiled = self.server_args.enable_torch_compile
        if not is_wanted and not is_compiled:
            return
        if self.pp_size > 1 or self.lora_manager is not None or self.is_torch_tp:
            log.warning("graphs: none: pp_size=%d lora=%s", self.pp_size, self.lora_manager is not None)
            return
        if self.decode_attention_backend not in GRAPH_BACKENDS:
            log.warning("graphs: none: decode attention %s has no fixed shapes", self.decode_attention_backend)
            return
        model = torch.compile(self.model, dynamic=False, backend=COMPILE_BACKEND) if is_compiled else self.model

        def run(tokens_B: Tensor, batch: AttentionBatch) -> Tensor:
            made: Tensor = model(tokens_B, batch.positions_T, self.decode_attention(self.kv_cache, batch))
            return made

        if is_wanted:
            self.init_cublas()
        self.decode_graphs = DecodeGraphs(
            run,
            self.graph_recorder() if is_wanted else plain_record,
            max_batch_size=min(self.server_args.cuda_graph_max_bs, self.server_args.max_running_requests),
            max_length=self.model_config.max_position,
            block_tokens=self.server_args.block_tokens,
        )
        if is_wanted:
            started, before_bytes = time.perf_counter(), self.device_handle.available_bytes()
            with torch.inference_mode(), self.device_context():
                for batch_size in reversed(self.decode_graphs.batch_sizes):
                    self.decode_graphs.capture(Shape(batch_size, self.decode_graphs.lengths[0]))
            log.info(
                "graphs: recorded: sizes=%d seconds=%.2f used_bytes=%d rank=%d",
                len(self.decode_graphs.batch_sizes),
                time.perf_counter() - started,
                before_bytes - self.device_handle.available_bytes(),
                self.rank,
            )

    def graph_recorder(self) -> Callable[[Callable[[], Tensor]], Callable[[], Tensor]]:
        """What records a step: one pool of memory for all recordings, which never run at the same time."""
        return cuda_record(torch.cuda.graph_pool_handle())

    def init_draft_runner(self, pre_model_load_memory: int) -> None:
        """The runner of the model that guesses ahead: on the same ranks, with blocks numbered as this one's."""
        if self.is_draft_worker or self.server_args.speculative_algorithm != "draft":
            return
        assert self.server_args.speculative_draft_model is not None, "the options were checked"
        args = structs.replace(
            self.server_args,
            model=self.server_args.speculative_draft_model,
            load_format="auto",
            quantization=None,
            context_length=None,
            dtype="auto" if self.server_args.dtype == "auto" else self.server_args.dtype,
            enable_lora=False,
            lora_paths=(),
            sampling_backend="torch",
            disable_cuda_graph=True,
            enable_torch_compile=False,
            speculative_algorithm=None,
            speculative_draft_model=None,
        )
        draft = type(self)(
            args,
            tp_rank=self.tp_rank,
            pp_rank=self.pp_rank,
            local_rank=self.local_rank,
            local_size=self.local_size,
            dist_port=self.dist_port,
            is_draft_worker=True,
            target=self,
        )
        ours, theirs = self.model_config, draft.model_config
        if ours.vocab_size != theirs.vocab_size:
            raise BadConfig(
                f"the draft model has {theirs.vocab_size} tokens, the model {ours.vocab_size}",
                fix="use a draft model with the same vocabulary",
            )
        if theirs.max_position < ours.max_position:
            raise BadConfig(
                f"the draft model has {theirs.max_position} positions, the run {ours.max_position}",
                fix=f"give context_length={theirs.max_position}, or another draft model",
            )
        draft.profile_max_num_blocks(pre_model_load_memory)
        self.draft_runner = draft

    def describe(self) -> dict[str, Any]:
        """What this rank has, in plain data."""
        return {
            "rank": self.rank,
            "device": str(self.device_handle),
            "dtype": str(self.dtype).removeprefix("torch."),
            "layers": [self.start_layer, self.end_layer],
            "num_blocks": self.num_blocks,
            "kv_cache_dtype": self.server_args.kv_cache_dtype,
            "available_bytes": self.device_handle.available_bytes(),
            "cpus": self.local_omp_cpuid,
            "forward_passes": self.forward_pass_id,
        }

    def alloc_draft_memory_pool(self, pre_model_load_memory: int) -> None:
        """The draft model's blocks: numbered as ours, then enough of its own for what every request may guess."""
        if self.draft_runner is None:
            return
        size = self.server_args.block_tokens
        scratch = -(-self.server_args.speculative_num_draft_tokens // size) + 1
        self.draft_runner.num_target_blocks = self.num_blocks
        self.draft_runner.alloc_memory_pool(
            pre_model_load_memory, self.num_blocks + scratch * self.server_args.max_running_requests
        )
        self.draft_runner.init_attention_backends()

    # -- a step

    def device_context(self) -> contextlib.AbstractContextManager[Any]:
        """New tensors are made on this rank's device."""
        return contextlib.nullcontext() if self.device == "cpu" else torch.device(self.device_handle.place)

    def forward_stream_context(self) -> contextlib.AbstractContextManager[Any]:
        """The stream that steps run on; a CPU has none."""
        if self.device != "cuda":
            return contextlib.nullcontext()
        if self.forward_stream is None:
            self.forward_stream = self.device_handle.module.Stream(self.device_handle.place)
        context: contextlib.AbstractContextManager[Any] = torch.cuda.stream(self.forward_stream)
        return context

    @torch.inference_mode()
    def execute(self, step: StepInput) -> StepOutput | None:
        """One step. What it gave, on the first rank of the last stage; None on the others."""
        if self.are_weights_lost and not self.sleeping:
            raise BadConfig("a step without weights: they were released", fix="call update_weights_from_disk first")
        if self.sleeping:
            raise BadConfig(f"a step while {', '.join(sorted(self.sleeping))} are released", fix="resume memory first")
        with self.device_context():
            batch = ForwardBatch(step, block_tokens=self.server_args.block_tokens)
            if self.lora_manager is not None:
                self.lora_manager.begin_step([each.adapter for each in batch.slices for _ in each.token_ids])
            elif any(each.adapter is not None for each in batch.slices):
                raise BadConfig("a step asks for an adapter", fix="start the engine with enable_lora")
            hidden_TD = None
            if not self.pp_group.is_first:
                hidden_TD = torch.empty(batch.num_tokens, self.model_config.hidden_size, dtype=self.dtype)
                self.pp_group.recv(hidden_TD, self.pp_rank - 1)
            hidden_TD = self.forward(batch, hidden_TD)
            if not self.pp_group.is_last:
                self.pp_group.send(hidden_TD, self.pp_rank + 1)
                return None
            sampled = self.sample(hidden_TD, batch)
            weighed = self.compute_logprobs_only(hidden_TD, batch) if batch.weighed else {}
            if self.draft_runner is not None:
                guesses = self.draft_runner.propose(step, batch, sampled, self.server_args.speculative_num_draft_tokens)
                sampled = [structs.replace(each, drafts=guesses.get(each.seq_id, ())) for each in sampled]
            if self.tp_rank != 0:
                return None
            return StepOutput(number=batch.number, sampled=tuple(sampled), prompt_logprobs=weighed)

    def forward(self, batch: ForwardBatch, hidden_TD: Tensor | None = None) -> Tensor:
        """The hidden states of a step after this stage's layers. hidden: of the stage before."""
        self.forward_pass_id += 1
        self.num_forward_tokens += batch.num_tokens
        with self.profiler.span(
            profiling.build_step_span_name(
                batch, is_draft_worker=self.is_draft_worker, pp_rank=self.pp_rank, pp_size=self.pp_size
            )
            if self.profiler.is_on
            else ""
        ):
            return self._forward_raw(batch, hidden_TD)

    def _forward_raw(self, batch: ForwardBatch, hidden_TD: Tensor | None) -> Tensor:
        if batch.mode is ForwardMode.IDLE:
            return torch.empty(0, self.model_config.hidden_size, dtype=self.dtype)
        if self.decode_graphs is not None and hidden_TD is None:
            shape = self.decode_graphs.shape_of(batch)
            if shape is not None:
                return self.decode_graphs.replay(batch, shape)
        if batch.mode is ForwardMode.DECODE:
            attend = self.decode_attention(self.kv_cache, batch.attention)
        else:
            attend = self.prefill_attention(self.kv_cache, batch.attention)
        made: Tensor = self.model(batch.tokens_T, batch.positions_T, attend, hidden_TD)
        return made

    @torch.inference_mode()
    def forward_split_prefill(self, batch: ForwardBatch, num_layers: int) -> Tensor | None:
        """The next layers of a prefill, so that decodes of others can run between its parts; the hidden states when all
        layers are done, None before. The batch keeps how far it is."""
        assert self.pp_size == 1 and num_layers > 0, "a stage's layers are split already"
        attend = self.prefill_attention(self.kv_cache, batch.attention)
        last = min(batch.split_index + num_layers, self.num_effective_layers)
        with self.device_context(), self.profiler.span(f"split[{batch.split_index}-{last}]"):
            if batch.split_hidden_TD is None:
                batch.split_hidden_TD = self.model.embed(batch.tokens_T)
            batch.split_hidden_TD = self.model.run_layers(
                batch.split_hidden_TD, batch.positions_T, attend, batch.split_index, last
            )
        batch.split_index = last
        if last < self.num_effective_layers:
            return None
        self.forward_pass_id += 1
        self.num_forward_tokens += batch.num_tokens
        return batch.split_hidden_TD

    def sample(self, hidden_TD: Tensor, batch: ForwardBatch) -> list[Sampled]:
        """The tokens of every sampled slice, drafts verified. Empty on ranks that only help with the logits; where a
        draft model guesses on, every rank chooses, and all choose the same."""
        if not batch.sampled:
            return []
        logits_RV = self.model.logits(hidden_TD if len(batch.rows_R) == len(hidden_TD) else hidden_TD[batch.rows_R])
        if self.tp_rank != 0 and self.draft_runner is None:
            return []
        plain = [each for each in batch.sampled if not each.drafts]
        rows = [self._row(each, 0, ()) for each in plain]
        if len(plain) < len(batch.sampled):
            chosen = self.sampler(logits_RV[[each.first for each in plain]], rows) if plain else []
        else:
            chosen = self.sampler(logits_RV, rows)
        made = {
            each.part.seq_id: Sampled(
                seq_id=each.part.seq_id,
                token_ids=(one.token_id,),
                logprobs=() if one.logprobs is None else (one.logprobs,),
            )
            for each, one in zip(plain, chosen, strict=True)
        }
        for each in batch.sampled:
            if each.drafts:
                accepted: list[sampler.Chosen] = []

                def choose(at: int, rows: SampledRows = each, accepted: list[sampler.Chosen] = accepted) -> Any:
                    row = self._row(rows, at, tuple(one.token_id for one in accepted))
                    accepted.extend(self.sampler(logits_RV[rows.first + at][None], [row]))
                    return accepted[-1]

                verified = verify(each.drafts, choose, end_ids=each.options.end_ids)
                self.num_drafts += len(each.drafts)
                self.num_drafts_accepted += verified.num_accepted
                made[each.part.seq_id] = Sampled(
                    seq_id=each.part.seq_id,
                    token_ids=verified.token_ids,
                    logprobs=tuple(one.logprobs for one in verified.choices if one.logprobs is not None),
                )
        return [made[each.part.seq_id] for each in batch.sampled]

    def _row(self, rows: SampledRows, at: int, accepted: tuple[int, ...]) -> sampler.Row:
        options = rows.options
        return sampler.Row(
            params=options.params,
            seed=options.seed,
            position=options.position + at,
            prompt=options.prompt,
            output=(*options.output, *accepted),
            end_ids=frozenset(options.end_ids),
            allowed_V=unpack(options.allowed[at], self.model_config.vocab_size) if options.allowed else None,
            oracle_id=options.oracle_id,
        )

    def compute_logprobs_only(self, hidden_TD: Tensor, batch: ForwardBatch) -> dict[int, tuple[PositionLogprobs, ...]]:
        """How likely the tokens of prompts were, without choosing any; so many rows of logits at a time, since those of
        a whole prompt can take more memory than the model."""
        made = {}
        for seq_id, (span, targets) in batch.weighed.items():
            found: list[PositionLogprobs] = []
            for at in range(0, len(targets.token_ids), LOGPROB_ROWS):
                wanted = targets.token_ids[at : at + LOGPROB_ROWS]
                logits_RV = self.model.logits(hidden_TD[span.first + at : span.first + at + len(wanted)])
                if self.tp_rank == 0:
                    found.extend(sampler.batch_logprobs(logits_RV, wanted, [targets.count] * len(wanted)))
            made[seq_id] = tuple(found)
        return made

    def propose(
        self, step: StepInput, batch: ForwardBatch, sampled: list[Sampled], num_drafts: int
    ) -> dict[int, tuple[int, ...]]:
        """As a draft worker: take in what the step computed, then guess on from the tokens that came of it, greedily.

        The step's tokens go through this model too, into blocks of the same numbers, so that it knows of every
        sequence what its target does. Guesses beyond the sequence's blocks are kept in blocks of its own; the next step
        computes them again where they belong."""
        self.forward(
            ForwardBatch(StepInput(plan=step.plan, rows=step.rows), block_tokens=self.server_args.block_tokens)
        )
        scratch = iter(range(self.num_target_blocks, self.num_blocks))
        size = self.server_args.block_tokens
        current: dict[int, tuple[Slice, list[int]]] = {}
        for rows, one in zip(batch.sampled, sampled, strict=True):
            # The last accepted token has no KV yet; drafts that were wrong are overwritten from there on.
            start = rows.options.position + len(one.token_ids) - 1
            end = min(start + num_drafts, self.model_config.max_position)
            missing = max(-(-end // size) - len(rows.part.block_ids), 0)
            blocks = [*rows.part.block_ids, *(next(scratch) for _ in range(missing))]
            part = Slice(
                seq_id=rows.part.seq_id,
                token_ids=(one.token_ids[-1],),
                start=start,
                block_ids=tuple(blocks),
                is_sampled=True,
            )
            if start < end:
                current[rows.part.seq_id] = part, []
        for _ in range(num_drafts):
            parts = [part for part, _ in current.values() if part.end <= self.model_config.max_position]
            if not parts:
                break
            guess = ForwardBatch.decode(parts, block_tokens=size)
            chosen = self.model.logits(self.forward(guess)).argmax(-1).tolist()
            for part, token in zip(parts, chosen, strict=True):
                current[part.seq_id][1].append(token)
                follow = structs.replace(part, token_ids=(token,), start=part.end)
                current[part.seq_id] = follow, current[part.seq_id][1]
        return {seq_id: tuple(guessed) for seq_id, (_, guessed) in current.items()}

    # -- new weights

    def update_weights_from_disk(self, path: str, load_format: str = "auto") -> dict[str, Any]:
        """The weights of another checkpoint of the same shape. What can't be loaded leaves the old ones in place."""
        self._check_updatable()
        started = time.perf_counter()
        found = locate(path, read_env(os.environ).cache_dir)
        if load_format not in ("auto", "gguf", "safetensors"):
            raise BadConfig(f"load_format={load_format!r}", fix="use auto, gguf or safetensors")
        checkpoint = Checkpoint(found)
        shape = ModelConfig.from_server_args(self.server_args, shape=checkpoint.config)
        if shape != self.model_config:
            changed = [
                name
                for name in ModelConfig.__struct_fields__
                if getattr(shape, name) != getattr(self.model_config, name)
            ]
            raise BadModel(f"{found} differs in {', '.join(changed)}", fix="start another engine for another model")
        packed = self._unpack_weights()
        kept = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        try:
            count = weights.load(self.model, checkpoint.tensors(), source=str(found))
        except BaseException:  # whatever it is: half of each is worse than either
            with torch.no_grad():
                for name, tensor in self.model.state_dict().items():
                    tensor.copy_(kept[name])
            log.warning("weights: kept: rank=%d source=%s", self.rank, found)
            raise
        finally:
            self._repack_weights(packed)
            self._after_update()
        self.checkpoint, self.checkpoint_path = checkpoint, found
        self.are_weights_lost = False
        self.server_args = structs.replace(self.server_args, model=path)
        self.weights_version += 1
        log.info(
            "weights: updated: rank=%d source=%s tensors=%d seconds=%.2f version=%d",
            self.rank,
            found,
            count,
            time.perf_counter() - started,
            self.weights_version,
        )
        return {"tensors": count, "version": self.weights_version}

    def update_weights_from_tensor(self, named_tensors: dict[str, Any]) -> dict[str, Any]:
        """Some weights by their names in checkpoints, each as dtype, shape and bytes; all of them are checked before
        the first is written."""
        self._check_updatable()
        return self._write_named({name: unpacked(name, given) for name, given in named_tensors.items()})

    def init_weights_update_group(
        self,
        master_address: str,
        master_port: int,
        rank_offset: int,
        world_size: int,
        group_name: str = "weights",
        backend: str = "gloo",
    ) -> dict[str, Any]:
        """Join a group with somebody outside, usually a trainer, who is its rank 0."""
        if group_name in self.weights_update_groups:
            raise BadConfig(f"a group {group_name!r} is there", fix="destroy it first, or choose another name")
        rank = rank_offset + self.rank
        if not 0 < rank < world_size:
            raise BadConfig(f"rank {rank} of {world_size} in {group_name!r}", fix="leave rank 0 to who sends")
        self.weights_update_groups[group_name] = OutsideGroup(
            master_address,
            master_port,
            rank=rank,
            size=world_size,
            backend=backend,
            timeout=self.server_args.dist_timeout,
            name=group_name,
        )
        log.info("weights: group: name=%s rank=%d size=%d backend=%s", group_name, rank, world_size, backend)
        return {"rank": rank, "size": world_size}

    def destroy_weights_update_group(self, group_name: str = "weights") -> dict[str, Any]:
        if self.weights_update_groups.pop(group_name, None) is None:
            raise BadConfig(f"there is no group {group_name!r}", fix="it may be destroyed already")
        return {"groups": sorted(self.weights_update_groups)}

    def update_weights_from_distributed(
        self, names: list[str], dtypes: list[str], shapes: list[list[int]], group_name: str = "weights"
    ) -> dict[str, Any]:
        """Weights that rank 0 of a group sends, one broadcast each, in this order."""
        self._check_updatable()
        group = self.weights_update_groups.get(group_name)
        if group is None:
            raise BadConfig(f"there is no group {group_name!r}", fix="call init_weights_update_group first")
        if not len(names) == len(dtypes) == len(shapes):
            raise BadConfig(
                f"{len(names)} names, {len(dtypes)} dtypes, {len(shapes)} shapes", fix="give one each a weight"
            )
        made = {}
        for name, dtype, shape in zip(names, dtypes, shapes, strict=True):
            tensor = torch.empty(shape, dtype=dtype_of(dtype), device=group.device)
            made[name] = group.broadcast(tensor)
        return self._write_named(made)

    def _check_updatable(self) -> None:
        if self.is_torch_tp:
            raise BadConfig("new weights for layers that are DTensors", fix="start without enable_torch_tp")
        if self.sleeping:
            raise BadConfig(f"new weights while {', '.join(sorted(self.sleeping))} are released", fix="resume first")

    def _write_named(self, named: dict[str, Tensor]) -> dict[str, Any]:
        # A packed layer has given its plain weight up: unpacked, it has one again, which takes what is new.
        packed = self._unpack_weights()
        try:
            wanted = weights.slots(self.model)
            for name, tensor in named.items():
                if name in wanted:
                    wanted[name].check(name, tensor)
                elif not weights.is_elsewhere(self.model, name):
                    raise BadModel(f"{name} has no place in this model", fix="give names as checkpoints have them")
            used = sorted(named.keys() & wanted.keys())
            with torch.no_grad():
                for name in used:
                    wanted[name].fill(name, named[name].to(self.device_handle.place))
        finally:
            self._repack_weights(packed)
        self._after_update()
        self.weights_version += 1
        return {"tensors": len(used), "version": self.weights_version}

    def _after_update(self) -> None:
        """What was made of the old weights is not of the new ones."""
        if self.decode_graphs is not None and self.server_args.enable_torch_compile:
            self.init_cuda_graphs()

    def get_weights_by_name(self, name: str, truncate_size: int = 100) -> list[float] | None:
        """The first numbers of a weight by its name in checkpoints, put together over the ranks; None on stages that
        have it not. Ranks that keep the same rows have the same numbers in them."""
        with weights.plain(self.model):
            slot = weights.slots(self.model).get(name)
            if slot is None:
                if not weights.is_elsewhere(self.model, name):
                    raise BadModel(f"{name} has no place in this model", fix="give names as checkpoints have them")
                return None
            shape = list(slot.target.shape)
            is_shared = shape[slot.axis] != slot.total
            shape[slot.axis] = slot.total
            whole, holders = torch.zeros(shape, dtype=torch.float32), torch.zeros(slot.total, dtype=torch.float32)
            start = min(slot.start, slot.total)
            length = min(slot.target.shape[slot.axis], slot.total - start)
            whole.narrow(slot.axis, start, length).copy_(slot.target.narrow(slot.axis, 0, length))
            holders[start : start + length] = 1
        if is_shared:
            self.tp_group.all_reduce(whole)
            self.tp_group.all_reduce(holders)
        view = [1] * whole.ndim
        view[slot.axis] = slot.total
        values: list[float] = (whole / holders.view(view)).flatten()[:truncate_size].tolist()
        return values

    def check_weights(self, action: str) -> dict[str, Any]:
        """checksum: of every weight of this rank. snapshot: keep them, for compare: which have changed since."""
        with weights.plain(self.model):
            made = {name: checksum(tensor) for name, tensor in self.model.state_dict().items()}
        if action == "checksum":
            return made
        if action == "snapshot":
            self.weights_snapshot = made
            return {"tensors": len(made)}
        if action == "compare":
            if self.weights_snapshot is None:
                raise BadConfig("compare without a snapshot", fix="take one first")
            changed = sorted(name for name in made if made[name] != self.weights_snapshot.get(name))
            return {"changed": changed}
        raise BadConfig(f"check_weights({action!r})", fix="use checksum, snapshot or compare")

    def save_sharded_model(self, path: str) -> dict[str, Any]:
        """The weights of each rank as they are here, for load_format=sharded with the same sizes. The first rank leaves
        what else lies beside a folder's weights: its configuration, its tokenizer."""
        from safetensors.torch import save_file

        self._check_updatable()
        if self.checkpoint_path.is_file():
            raise BadConfig(
                f"{self.checkpoint_path} is a GGUF file, whose tokenizer can't be written beside shards",
                fix="load the model from a folder",
            )
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        name = shard_name(self.rank, self.world_size)
        with weights.plain(self.model):
            tensors = {each: tensor.contiguous() for each, tensor in self.model.state_dict().items()}
            by_storage: dict[int, str] = {}
            for each in list(tensors):  # tied weights are one tensor: safetensors wants each written for itself
                if by_storage.setdefault(tensors[each].data_ptr(), each) != each:
                    tensors[each] = tensors[each].clone()
            save_file(tensors, folder / name)
        if self.rank == 0:
            for beside in self.checkpoint_path.iterdir():
                if beside.is_file() and beside.suffix != ".safetensors" and beside.name != WEIGHTS_INDEX:
                    shutil.copy2(beside, folder / beside.name)
            sizes = {"tp_size": self.tp_size, "pp_size": self.pp_size}
            (folder / SHARDED_CONFIG).write_text(json.dumps(sizes), encoding="utf-8")
        log.info("weights: saved: rank=%d path=%s tensors=%d", self.rank, folder / name, len(tensors))
        return {"file": name, "tensors": len(tensors)}

    # -- adapters

    def init_lora_manager(self) -> None:
        self.lora_manager = LoraManager(
            self.model,
            max_rank=self.server_args.max_lora_rank,
            max_loaded=self.server_args.max_loaded_loras,
            max_in_batch=self.server_args.max_loras_per_batch,
            target_modules=self.server_args.lora_target_modules,
            group=self.tp_group,
            base_model=self.server_args.name,
        )
        for name, path in self.server_args.lora_paths:
            self.lora_manager.load(name, path)
        log.info("lora: ready: slots_bytes=%d adapters=%d", self.lora_manager.num_bytes, len(self.lora_manager.names))

    def _lora(self) -> LoraManager:
        if self.lora_manager is None:
            raise BadConfig("this engine has no adapters", fix="start it with enable_lora")
        return self.lora_manager

    def load_lora_adapter(self, name: str, path: str) -> dict[str, Any]:
        manager = self._lora()
        manager.load(name, path)
        return {"adapters": list(manager.names)}

    def load_lora_adapter_from_tensors(
        self, name: str, config: dict[str, Any], tensors: dict[str, Any]
    ) -> dict[str, Any]:
        manager = self._lora()
        manager.load_tensors(name, config, {each: unpacked(each, given) for each, given in tensors.items()})
        return {"adapters": list(manager.names)}

    def unload_lora_adapter(self, name: str) -> dict[str, Any]:
        """No new request may ask for it. is_gone: at once; else when the last one that holds it has ended."""
        manager = self._lora()
        is_gone = manager.unload(name)
        return {"adapters": list(manager.names), "is_gone": is_gone}

    def hold_lora_adapter(self, name: str) -> None:
        self._lora().hold(name)

    def release_lora_adapter(self, name: str) -> None:
        self._lora().release(name)

    # -- memory that is given back, and profiles

    def release_memory_occupation(self, tags: list[str] | None = None) -> dict[str, Any]:
        """Give back the memory of weights, of the KV cache, or of both. What was in the KV cache is lost; weights are
        too, unless the engine keeps a copy of them."""
        wanted = list(MEMORY_TAGS) if tags is None else tags
        for tag in wanted:
            if tag not in MEMORY_TAGS:
                raise BadConfig(f"memory tag {tag!r}", fix=f"use some of {', '.join(MEMORY_TAGS)}")
            if tag in self.sleeping:
                raise BadConfig(f"the memory of {tag} is released already", fix="resume it first")
        before_bytes = self.device_handle.available_bytes()
        self.memory_saver.pause(wanted)
        self.sleeping.update(wanted)
        if WEIGHTS in wanted and not self.server_args.enable_weights_cpu_backup:
            self.are_weights_lost = True
        freed = self.device_handle.available_bytes() - before_bytes
        log.info("memory: released: tags=%s bytes=%d rank=%d", wanted, freed, self.rank)
        return {"released_bytes": freed, "released": sorted(self.sleeping)}

    def resume_memory_occupation(self, tags: list[str] | None = None) -> dict[str, Any]:
        """Take memory again. Weights that were lost are to be loaded anew before the next step."""
        wanted = sorted(self.sleeping) if tags is None else tags
        for tag in wanted:
            if tag not in self.sleeping:
                released = ", ".join(sorted(self.sleeping)) or "nothing"
                raise BadConfig(f"the memory of {tag!r} is not released", fix=f"released is {released}")
        self.memory_saver.resume(wanted)
        self.sleeping.difference_update(wanted)
        return {"released": sorted(self.sleeping), "are_weights_lost": self.are_weights_lost}

    def sleep(self, level: int = 1) -> dict[str, Any]:
        """1: the KV cache goes, and the weights if they come back by themselves. 2: both go, whatever comes back."""
        if level not in (1, 2):
            raise BadConfig(f"sleep level {level!r}", fix="use 1 or 2")
        is_kept = self.server_args.enable_weights_cpu_backup
        return self.release_memory_occupation([KV_CACHE, WEIGHTS] if level == 2 or is_kept else [KV_CACHE])

    def wake_up(self, tags: list[str] | None = None) -> dict[str, Any]:
        return self.resume_memory_occupation(tags)

    def start_profile(self) -> None:
        self.profiler.start()

    def stop_profile(self, path: str) -> dict[str, Any]:
        target = Path(path) / f"rank-{self.rank}.json"
        self.profiler.stop(target)
        return {"trace": str(target)}
