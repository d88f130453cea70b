"""ModelRunner: one rank's model, memory and forward passes. It finds its CPUs and its peers, loads weights, sizes and
allocates KV blocks, chooses attention backends, captures graphs, runs steps and samples, takes new weights and
adapters. Who computes what in a step comes as data from above; what a layer or a kernel does is decided below."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

import torch
from msgspec import structs
from torch import Tensor

from engine.attention.backends import Attention
from engine.attention.backends import backend as attention_backend
from engine.config.env import read_env
from engine.config.model_config import ModelConfig
from engine.config.server_args import ServerArgs
from engine.distributed import parallel_state
from engine.distributed.addresses import LOOPBACK, init_url, parse_address
from engine.distributed.backend import default_backend
from engine.distributed.layout import layout
from engine.host import cpus
from engine.host.device import Device, open_device
from engine.kv.cache import KVCache, block_bytes
from engine.loader.pull import locate
from engine.models import weights
from engine.models.checkpoint import Checkpoint
from engine.models.decoder import Decoder, stages
from engine.runner.forward_batch import ForwardBatch, ForwardMode, SampledRows
from engine.sampling import sampler
from engine.sampling.backends import create_sampler, oracle_sampler, register_sampler
from engine.sampling.masks import unpack
from engine.schema.errors import BadConfig, NotEnoughMemory
from engine.schema.output import PositionLogprobs
from engine.schema.step import Sampled, StepInput, StepOutput
from engine.speculative.verify import verify

log = logging.getLogger(__name__)

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
LOGPROB_ROWS = 64  # of prompts, weighed at a time: whole rows of the vocabulary in fp32 are large
MIN_BLOCKS = 2  # the padding block, and one to use


class ModelRunner:
    """One rank of tp_size * pp_size. local_rank, local_size: among the ranks of this machine. dist_port: of the
    rendezvous, where neither the options nor the environment name one. is_draft_worker: runs the model that guesses
    ahead for another runner of this process, and shares that one's ranks."""

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
    ) -> None:
        self.server_args = server_args
        self.device_handle: Device = open_device(server_args.device, local_rank)
        self.device = self.device_handle.kind
        self.gpu_id = local_rank
        self.local_rank, self.local_size = local_rank, local_size
        self.tp_rank, self.tp_size = tp_rank, server_args.tp_size
        self.pp_rank, self.pp_size = pp_rank, server_args.pp_size
        self.dp_size, self.ep_size, self.attn_cp_size = (
            server_args.dp_size,
            server_args.ep_size,
            server_args.attn_cp_size,
        )
        self.rank, self.world_size = pp_rank * self.tp_size + tp_rank, server_args.world_size
        self.dist_port = server_args.base_port if dist_port is None else dist_port
        self.is_draft_worker = is_draft_worker
        self.forward_pass_id = 0

        # What the options name
        self.checkpoint = Checkpoint(locate(server_args.model, read_env(os.environ).cache_dir))
        self.model_config = self._build_model_config(server_args)

        # CPUs before ranks meet: the threads of the collectives inherit them
        self.local_omp_cpuid: str | None = None
        if self.device == "cpu" and not is_draft_worker:
            self.init_threads_binding()

        pre_model_load_memory = self.init_torch_distributed()
        self.initialize(pre_model_load_memory)
        self.alloc_memory_pool(pre_model_load_memory)
        if self.device == "cuda":
            self.init_cublas()
        self.init_attention_backends()

    def _build_model_config(self, server_args: ServerArgs) -> ModelConfig:
        return ModelConfig.from_server_args(server_args, shape=self.checkpoint.config)

    # -- ranks and their machines

    def init_threads_binding(self) -> None:
        """Which CPUs this rank computes on, as a list in text; None where it stays as it is. Sets local_omp_cpuid;
        init_torch_distributed applies it, where it pays."""
        omp_cpuids = read_env(os.environ).cpu_omp_threads_bind
        cpu_ids_by_node = cpus.cpu_ids_by_node(cpus.topology(), cpus.allowed_cpus())
        num_nodes = len(cpu_ids_by_node)
        if omp_cpuids == "all":
            if self.local_size > num_nodes:
                # Ranks share nodes: each node's CPUs are dealt out to its ranks, neighbours together.
                log.warning("threads: nodes are shared: ranks=%d nodes=%d", self.local_size, num_nodes)
                node = self.local_rank * num_nodes // self.local_size
                mates = [each for each in range(self.local_size) if each * num_nodes // self.local_size == node]
                ids = cpu_ids_by_node[node].split(",") if cpu_ids_by_node and cpu_ids_by_node[node] else []
                at = mates.index(self.local_rank) if mates else 0
                share = ids[at * len(ids) // len(mates) : (at + 1) * len(ids) // len(mates)] if mates else []
                self.local_omp_cpuid = ",".join(share)
            else:
                if self.local_size < num_nodes:
                    log.warning("threads: nodes stay idle: ranks=%d nodes=%d", self.local_size, num_nodes)
                self.local_omp_cpuid = cpu_ids_by_node[self.local_rank]
            if not self.local_omp_cpuid:
                log.warning("threads: unbound: rank=%d reason=no CPU of its node may be used", self.rank)
                self.local_omp_cpuid = None
        else:
            parts = omp_cpuids.split("|")
            if len(parts) != self.local_size:
                raise BadConfig(
                    f"ENGINE_CPU_OMP_THREADS_BIND={omp_cpuids!r} has {len(parts)} parts for {self.local_size} ranks",
                    fix="give one CPU list a rank of this machine, separated by |, or `all`",
                )
            if self.local_size > num_nodes:
                log.warning("threads: nodes are shared: ranks=%d nodes=%d", self.local_size, num_nodes)
            self.local_omp_cpuid = parts[self.local_rank]
            wanted = cpus.parse_cpu_list(self.local_omp_cpuid, source="ENGINE_CPU_OMP_THREADS_BIND")
            forbidden = sorted(set(wanted) - cpus.allowed_cpus())
            if forbidden:
                raise BadConfig(
                    f"ENGINE_CPU_OMP_THREADS_BIND={omp_cpuids!r}: rank {self.local_rank} may not use CPUs {forbidden}",
                    fix=f"choose from {sorted(cpus.allowed_cpus())}",
                )
        log.info("threads: chosen: rank=%d cpus=%s", self.rank, self.local_omp_cpuid)

    def init_torch_distributed(self) -> int:
        """Take the device, meet the other ranks, make every group. Returns the memory that is free before the model
        is loaded, in bytes: the least of all ranks'."""
        started = time.perf_counter()
        log.info("distributed: begin: rank=%d world=%d device=%s", self.rank, self.world_size, self.device_handle)
        try:
            self.device_handle.set_current()
        except (RuntimeError, AssertionError) as error:
            raise BadConfig(
                f"rank {self.rank} can't take device {self.device}:{self.gpu_id}: {error}",
                fix="start no more ranks a machine than it has devices",
            ) from error

        if self.server_args.dist_backend is not None:
            backend = self.server_args.dist_backend
        elif self.server_args.elastic_ep_backend == "mooncake":
            backend = "mooncake-cpu" if self.device == "cpu" else "mooncake"
        else:
            backend = default_backend(self.device)
        if backend.startswith("mooncake"):
            try:
                from mooncake import ep as mooncake_ep
            except ImportError as error:
                raise BadConfig(
                    f"collective backend {backend!r} can't be loaded: {error}",
                    fix="install mooncake-transfer-engine with its process group, or use another backend",
                ) from error
            if self.server_args.mooncake_ib_device is not None:
                cards = [each.strip() for each in self.server_args.mooncake_ib_device.split(",") if each.strip()]
                if not cards:
                    raise BadConfig(
                        f"mooncake_ib_device={self.server_args.mooncake_ib_device!r} names no card",
                        fix="give names such as mlx5_0,mlx5_1, or leave it out",
                    )
                mooncake_ep.set_device_filter(cards)
                log.info("distributed: cards: rank=%d cards=%s", self.rank, ",".join(cards))

        before_bytes = self.device_handle.available_bytes()

        env = read_env(os.environ)
        if env.dist_init_method is not None:
            init_method = env.dist_init_method
        elif env.world_rank is not None and env.world_size is not None and env.world_size > 1:
            if (env.world_rank, env.world_size) != (self.rank, self.world_size):
                raise BadConfig(
                    f"torchrun started rank {env.world_rank} of {env.world_size}, the options make it rank {self.rank}"
                    f" of {self.world_size}",
                    fix="make tp_size * pp_size the number of processes",
                )
            init_method = "env://"
        elif self.server_args.dist_init_addr is not None:
            address = parse_address(self.server_args.dist_init_addr, source="dist_init_addr")
            init_method = init_url(address.host, address.port)
        else:
            init_method = init_url(env.host_ip or LOOPBACK, self.dist_port)

        if not self.is_draft_worker:
            parallel_state.init_distributed_environment(
                backend=backend,
                world_size=self.world_size,
                rank=self.rank,
                init_method=init_method,
                timeout=self.server_args.dist_timeout,
            )
            parallel_state.initialize_model_parallel(
                layout(
                    tp_size=self.tp_size,
                    pp_size=self.pp_size,
                    dp_size=self.dp_size if self.server_args.enable_dp_attention else 1,
                    cp_size=self.attn_cp_size,
                    ep_size=self.ep_size,
                ),
                rank=self.rank,
                device=self.device,
            )

        self.tp_group = parallel_state.get_group("tp")
        self.pp_group = parallel_state.get_group("pp")
        self.attention_tp_group = parallel_state.get_group("attention_tp")
        after_bytes = self.device_handle.available_bytes()
        pre_model_load_memory = int(parallel_state.get_group("world").minimum(after_bytes))
        log.info(
            "distributed: end: rank=%d backend=%s seconds=%.2f used_bytes=%d available_bytes=%d",
            self.rank,
            backend,
            time.perf_counter() - started,
            before_bytes - after_bytes,
            pre_model_load_memory,
        )
        return pre_model_load_memory

    # -- from nothing to ready

    def initialize(self, pre_model_load_memory: int) -> None:
        """Everything between meeting the other ranks and allocating KV blocks, in the order that its parts need."""
        # The oracle registers a way to sample, so it comes before the sampler is made.
        if self.server_args.sampling_backend == "token_oracle":
            register_sampler("token_oracle", oracle_sampler)
        self.sampler = create_sampler(self.server_args.sampling_backend, vocab_size=self.model_config.vocab_size)

        self.load_model()
        taken = pre_model_load_memory - self.device_handle.available_bytes()
        log.info("memory: after the model: rank=%d taken_bytes=%d", self.rank, taken)

        # Layers of this stage
        self.start_layer, self.end_layer = self.model.stage.first, self.model.stage.last
        self.num_effective_layers = self.end_layer - self.start_layer

        self.configure_kv_cache_dtype()

    def load_model(self) -> None:
        started, before_bytes = time.perf_counter(), self.device_handle.available_bytes()
        self.dtype = self._model_dtype()
        stage = stages(self.model_config.num_layers, self.pp_size)[self.pp_rank]
        with torch.device(self.device_handle.place):
            self.model = Decoder(self.model_config, group=self.tp_group, stage=stage, dtype=self.dtype)
        if self.server_args.load_format == "dummy":
            self._fill_dummy_weights()
        else:
            weights.load(self.model, self.checkpoint.tensors(), source=str(self.checkpoint.path))
        self.model.eval()
        after_bytes = self.device_handle.available_bytes()
        log.info(
            "model: loaded: rank=%d family=%s layers=%d-%d dtype=%s seconds=%.2f used_bytes=%d available_bytes=%d",
            self.rank,
            self.model_config.family.value,
            stage.first,
            stage.last,
            self.dtype,
            time.perf_counter() - started,
            before_bytes - after_bytes,
            after_bytes,
        )

    def _model_dtype(self) -> torch.dtype:
        """What the options say; `auto` is what the device multiplies best."""
        if self.server_args.dtype == "auto":
            return self.device_handle.best_dtype()
        return DTYPES[self.server_args.dtype]

    def _fill_dummy_weights(self) -> None:
        """Numbers from the seed, the same on every run; of a size at which activations stay in range."""
        generator = torch.Generator(device=self.device).manual_seed(self.server_args.seed)
        with torch.no_grad():
            for name, each in self.model.named_parameters():
                if "norm" in name:
                    each.fill_(1.0 - self.model_config.norm_offset)
                else:
                    each.normal_(0.0, 0.02, generator=generator)

    def configure_kv_cache_dtype(self) -> None:
        """What keys and values are stored as. Everybody who reads the options afterwards finds the name that was
        settled on, never `auto`."""
        wanted = self.server_args.kv_cache_dtype
        if wanted == "auto":
            wanted = str(self.dtype).removeprefix("torch.")
        if wanted not in DTYPES:
            raise BadConfig(f"kv_cache_dtype={wanted!r}", fix=f"use one of {', '.join(DTYPES)}")
        self.kv_cache_dtype = DTYPES[wanted]
        self.server_args = structs.replace(self.server_args, kv_cache_dtype=wanted)

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
        available = parallel_state.get_group("world").minimum(self.device_handle.available_bytes())
        # What weights took comes off the share; ranks of one machine's CPU share its memory too.
        rest = pre_model_load_memory * (1 - self.server_args.mem_fraction_static)
        sharers = self.local_size if self.device == "cpu" else 1
        fitting = int((available - rest) / sharers) // self.block_bytes
        most = -(-config.max_position // block_tokens) * self.server_args.max_running_requests
        if self.server_args.max_total_tokens is not None:
            most = -(-self.server_args.max_total_tokens // block_tokens)
            if most > fitting:
                log.warning("kv: max_total_tokens is lowered: wanted_blocks=%d fitting=%d", most, fitting)
        return min(fitting, most) + 1

    def alloc_memory_pool(self, pre_model_load_memory: int) -> None:
        num_blocks = self.profile_max_num_blocks(pre_model_load_memory)
        num_blocks = int(parallel_state.get_group("world").minimum(num_blocks))
        if num_blocks < MIN_BLOCKS:
            raise NotEnoughMemory(
                f"{num_blocks} KV blocks of {self.block_bytes} bytes fit after the weights",
                fix="raise mem_fraction_static, or take a smaller model or context",
            )
        with torch.device(self.device_handle.place):
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
            "kv: allocated: rank=%d num_blocks=%d block_tokens=%d bytes=%d dtype=%s",
            self.rank,
            num_blocks,
            self.server_args.block_tokens,
            self.kv_cache.num_bytes,
            self.kv_cache_dtype,
        )

    def init_cublas(self) -> None:
        """The first product makes the library's handle and workspace: here, and not in the middle of a capture."""
        a = torch.ones((16, 16), dtype=torch.float16, device=self.device_handle.place)
        b = torch.ones((16, 16), dtype=torch.float16, device=self.device_handle.place)
        _ = a @ b

    def init_attention_backends(self) -> None:
        name = self.server_args.attention_backend or "sdpa"
        self.prefill_attention_backend = self.server_args.prefill_attention_backend or name
        self.decode_attention_backend = self.server_args.decode_attention_backend or name
        self.prefill_attention = attention_backend(self.prefill_attention_backend)
        self.decode_attention = attention_backend(self.decode_attention_backend)

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

    # -- a step

    @torch.inference_mode()
    def execute(self, step: StepInput) -> StepOutput | None:
        """One step. What it gave, on the first rank of the last stage; None on the others."""
        batch = ForwardBatch(step, block_tokens=self.server_args.block_tokens)
        hidden_TD = None
        if not self.pp_group.is_first:
            hidden_TD = self.pp_group.recv(
                torch.empty(batch.num_tokens, self.model_config.hidden_size, dtype=self.dtype), self.pp_rank - 1
            )
        hidden_TD = self.forward(batch, hidden_TD)
        if not self.pp_group.is_last:
            self.pp_group.send(hidden_TD, self.pp_rank + 1)
            return None
        sampled = self.sample(hidden_TD, batch)
        weighed = self.compute_logprobs_only(hidden_TD, batch) if batch.weighed else {}
        if self.tp_rank != 0:
            return None
        return StepOutput(number=batch.number, sampled=tuple(sampled), prompt_logprobs=weighed)

    def forward(self, batch: ForwardBatch, hidden_TD: Tensor | None = None) -> Tensor:
        """The hidden states of a step after this stage's layers."""
        self.forward_pass_id += 1
        return self._forward_raw(batch, hidden_TD)

    def _forward_raw(self, batch: ForwardBatch, hidden_TD: Tensor | None) -> Tensor:
        kind = self.decode_attention if batch.mode is ForwardMode.DECODE else self.prefill_attention
        attend: Attention = kind(self.kv_cache, batch.attention)
        made: Tensor = self.model(batch.tokens_T, batch.positions_T, attend, hidden_TD)
        return made

    def sample(self, hidden_TD: Tensor, batch: ForwardBatch) -> list[Sampled]:
        """The tokens of every sampled slice, drafts verified. Empty on the ranks that only help with the logits."""
        if not batch.sampled:
            return []
        logits_RV = self.model.logits(hidden_TD[batch.rows_R])
        if self.tp_rank != 0:
            return []
        plain = [each for each in batch.sampled if not each.drafts]
        rows = [self._row(each, 0, ()) for each in plain]
        at = [each.first for each in plain]
        chosen = self.sampler(logits_RV if len(plain) == len(batch.sampled) else logits_RV[at], rows)
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
                made[each.part.seq_id] = self._verify(logits_RV, each)
        return [made[each.part.seq_id] for each in batch.sampled]

    def _verify(self, logits_RV: Tensor, rows: SampledRows) -> Sampled:
        """Drafts are kept as long as each is what would have been chosen; then comes the token after them."""
        accepted: list[sampler.Chosen] = []

        def choose(at: int) -> sampler.Chosen:
            row = self._row(rows, at, tuple(each.token_id for each in accepted))
            accepted.extend(self.sampler(logits_RV[rows.first + at][None], [row]))
            return accepted[-1]

        verified = verify(rows.drafts, choose)
        return Sampled(
            seq_id=rows.part.seq_id,
            token_ids=verified.token_ids,
            logprobs=tuple(each.logprobs for each in verified.choices if each.logprobs is not None),
        )

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
                    pairs = zip(logits_RV, wanted, strict=True)
                    found.extend(sampler.logprobs(logits_V, token, targets.count) for logits_V, token in pairs)
            made[seq_id] = tuple(found)
        return made
