"""ModelRunner runs the forward passes of the models."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from minirunner import envs, simdev
from minirunner.config import ModelConfig, ServerArgs
from minirunner.distributed.parallel_state import (
    get_tp_group,
    get_world_group,
    init_distributed_environment,
    initialize_model_parallel,
)
from minirunner.host.common import ceil_div, format_mib, set_random_seed
from minirunner.host.memory import get_available_memory, get_total_memory
from minirunner.host.numa import get_cpu_ids_by_node
from minirunner.model import TinyModel
from minirunner.runner.forward_batch import ForwardBatch, StepOutput
from minirunner.runner.kv_pool import KVPool

if TYPE_CHECKING:
    from minirunner.engine import Engine

logger = logging.getLogger(__name__)

# Probed once: the driver call behind it is slow on real hosts.
_is_amx_available = simdev.has_amx()

# Batch sizes for which a decode step is prepared ahead of time.
STEP_CACHE_SIZES = (1, 2, 4, 8)

# A device that has lost more than a tenth of what the emptiest one has is used by somebody else, too.
MEMORY_BALANCE_RATIO = 0.9


class ModelRunner:
    """ModelRunner owns what one rank needs to run a model: device, groups, weights, KV blocks and prepared steps."""

    def __init__(
        self,
        model_config: ModelConfig,
        server_args: ServerArgs,
        gpu_id: int,
        tp_rank: int,
        tp_size: int,
        dist_port: int,
        is_draft_worker: bool = False,
        engine: Optional[Engine] = None,
    ):
        # Parse args
        self.model_config = model_config
        self.server_args = server_args
        self.device = server_args.device
        self.gpu_id = gpu_id
        self.tp_rank = tp_rank
        self.tp_size = tp_size
        self.dist_port = dist_port
        self.is_draft_worker = is_draft_worker
        self.engine = engine
        self.block_tokens = server_args.block_tokens
        self.forward_pass_id = 0
        self.num_padded_rows = 0
        self.step_cache: Dict[int, str] = {}
        self.rng = set_random_seed(server_args.random_seed)

        # The draft model runs on the same device, so its layers count when KV blocks are sized.
        self.draft_num_layers = 0
        if server_args.draft_model_path and not self.is_draft_worker:
            draft_config = self._build_model_config(server_args.draft_model_path, is_draft_model=True)
            self.draft_num_layers = draft_config.num_layers

        if self.device == "cpu":
            self.init_threads_binding()

        # Get memory before the model is loaded
        self.pre_model_load_memory = self.init_distributed()

    def initialize(self):
        """Take the device and load the weights, once the groups of all ranks exist."""
        self.init_device()
        self.load_model()
        self.max_total_num_tokens = self.profile_max_num_tokens()

    def start(self):
        """Take the rest of the memory, once all ranks have loaded their weights and know how much there is."""
        self.init_memory_pool()
        self.init_attention_backend()
        self.init_step_cache()

    def _build_model_config(self, model_path: str, is_draft_model: bool = False) -> ModelConfig:
        return ModelConfig.from_server_args(self.server_args, model_path=model_path, is_draft_model=is_draft_model)

    # Device and distributed set-up

    def init_threads_binding(self):
        threads_bind = os.environ.get("MINI_CPU_THREADS_BIND", "all")
        cpu_ids_by_node = get_cpu_ids_by_node()
        num_nodes = len(cpu_ids_by_node)
        if threads_bind == "all":
            # One rank per node. With more ranks than nodes somebody has to share, and only the user knows who.
            assert self.tp_size <= num_nodes, (
                f"MINI_CPU_THREADS_BIND is not set, so each of the {self.tp_size} ranks (tp_size) needs a NUMA node "
                f"of its own, and this host has {num_nodes}. "
                f"Name the cores of each rank instead, for example MINI_CPU_THREADS_BIND=0-3|4-7 for two ranks."
            )
            if self.tp_size < num_nodes:
                logger.warning(
                    f"This host has {num_nodes} NUMA nodes and tp_size is {self.tp_size}: "
                    f"the cores of {num_nodes - self.tp_size} nodes stay idle."
                )
            self.local_omp_cpuid = cpu_ids_by_node[self.tp_rank]
        else:
            threads_bind_list = threads_bind.split("|")
            assert self.tp_size == len(threads_bind_list), (
                f"MINI_CPU_THREADS_BIND names cores for {len(threads_bind_list)} ranks, tp_size is {self.tp_size}. "
                f"Please name the cores of every rank."
            )
            self.local_omp_cpuid = threads_bind_list[self.tp_rank]
            if self.tp_size > num_nodes:
                logger.warning(
                    f"{self.tp_size=} is larger than the number of NUMA nodes ({num_nodes}): ranks share the memory "
                    f"of a node, so how much each one gets is not known ahead. Please set `max_total_tokens`."
                )

    def init_distributed(self) -> float:
        tic = time.perf_counter()
        logger.info("Init distributed begin.")

        try:
            # On a host without an accelerator all ranks sit on device 0.
            simdev.set_device(0 if self.device == "cpu" else self.gpu_id)
        except simdev.DeviceError:
            logger.warning(f"Context: {self.device=} {self.gpu_id=} {self.tp_rank=} {self.tp_size=}")
            raise

        # Resolve the backend: what the user says, else what suits the device.
        if self.server_args.dist_backend:
            backend = self.server_args.dist_backend
        elif self.device == "cpu":
            backend = "shm" if _is_amx_available else "tcp"
        else:
            backend = "ring"

        before_avail_memory = get_available_memory(self.device, self.gpu_id)

        # Resolve the init method. An orchestrator that has opened a store for us says so in the environment; then no
        # port of ours can collide with another engine on this host.
        init_method_override = envs.get_str("MINI_DIST_INIT_METHOD")
        if init_method_override:
            init_method = init_method_override
        elif self.server_args.dist_init_addr:
            host, _, port = self.server_args.dist_init_addr.rpartition(":")
            if not host or not port.isdigit():
                raise ValueError(f"dist_init_addr {self.server_args.dist_init_addr!r} is not HOST:PORT")
            init_method = f"tcp://{host}:{port}"
        else:
            init_method = f"tcp://{self.server_args.host or '127.0.0.1'}:{self.dist_port}"

        if not self.is_draft_worker:
            if self.device == "cpu":
                if _is_amx_available:
                    # Bind the math library's threads to the cores of this rank
                    simdev.bind_threads(self.local_omp_cpuid)

                    # The shared memory collectives size their segments by this
                    os.environ["MINI_LOCAL_SIZE"] = str(self.tp_size)
                else:
                    logger.warning("Threads are not bound and collectives don't use shared memory: the host lacks AMX")

            # Only the target model's runner creates groups, the draft model's joins them.
            init_distributed_environment(
                backend=backend,
                world_size=self.tp_size,
                rank=self.tp_rank,
                init_method=init_method,
            )
            initialize_model_parallel(tensor_model_parallel_size=self.tp_size)

        pre_model_load_memory = get_available_memory(
            self.device,
            self.gpu_id,
            distributed=get_world_group().world_size > 1,
        )
        self.tp_group = get_tp_group()

        local_memory = self.check_memory_balance(pre_model_load_memory)

        logger.info(
            f"Init distributed ends. elapsed={time.perf_counter() - tic:.2f} s, "
            f"mem usage={format_mib(before_avail_memory - local_memory)}"
        )
        return pre_model_load_memory

    def check_memory_balance(self, pre_model_load_memory: float) -> float:
        """Free memory of this rank in MiB, once it is known that no rank is short of memory for others' sake."""
        # Every rank holds a shard of the same size, so the fullest device decides for all of them.
        local_memory = get_available_memory(self.device, self.gpu_id)
        if self.tp_size > 1 and not self.is_draft_worker:
            if pre_model_load_memory < local_memory * MEMORY_BALANCE_RATIO:
                msg = "The memory capacity is unbalanced. Some devices may be occupied by other processes. "
                msg += f"{self.tp_size=}, {pre_model_load_memory=}, {local_memory=}, "
                msg += f"{local_memory * MEMORY_BALANCE_RATIO=:.1f}"
                if envs.get_bool("MINI_ENABLE_MEMORY_BALANCE_CHECK", True):
                    raise RuntimeError(msg)
                else:
                    logger.warning(msg)
        return local_memory

    def init_device(self):
        simdev.set_device(self.gpu_id)
        self.warm_up_matmul()
        self.total_memory = get_total_memory(self.device, self.gpu_id)
        free_memory = get_available_memory(self.device, self.gpu_id)
        logger.info(f"Device {self.gpu_id}: {format_mib(free_memory)} of {format_mib(self.total_memory)} are free.")

    def warm_up_matmul(self):
        """Run a small matmul now. Otherwise the first request waits until the device has loaded its math library."""
        dtype = "float16"
        a = simdev.ones((16, 16), dtype=dtype)
        b = simdev.ones((16, 16), dtype=dtype)
        c = a @ b
        return c

    # Weights

    def load_model(self):
        tic = time.perf_counter()
        before_avail_memory = get_available_memory(self.device, self.gpu_id)
        self.model = TinyModel(self.model_config, self.tp_rank, self.tp_size)
        self._load_weights(self._model_path())
        simdev.allocate(self._memory_device(), self._allocation("weights"), self.model.num_bytes())
        self.weight_load_mem_usage = before_avail_memory - get_available_memory(self.device, self.gpu_id)
        logger.info(
            f"Load weight end. elapsed={time.perf_counter() - tic:.2f} s, "
            f"mem usage={format_mib(self.weight_load_mem_usage)}"
        )

    def _model_path(self) -> str:
        if self.is_draft_worker:
            assert self.server_args.draft_model_path is not None
            return self.server_args.draft_model_path
        return self.server_args.model_path

    def _load_weights(self, path: str):
        # Imported here: tools that only need the runner's sizes should not have to read checkpoints.
        from minirunner.loader.checkpoint import iterate_weights

        missing = set(self.model.expected_names())
        for name, matrix in iterate_weights(path):
            if name not in missing:
                logger.warning(f"{path}: {name} is not a weight of this model, or is there twice")
                continue
            missing.discard(name)
            self.model.load_weight(name, matrix)
        if missing:
            raise ValueError(f"{path}: weights are missing: {', '.join(sorted(missing))}")

    def update_weights_from_disk(self, model_path: str) -> Tuple[bool, str]:
        """Swap in the weights of another checkpoint of the same shape; the old ones stay when that fails."""
        new_config = self._build_model_config(model_path, is_draft_model=self.is_draft_worker)
        if new_config != self.model_config:
            return False, f"{model_path} has another shape: {new_config} instead of {self.model_config}"

        old_params = dict(self.model.params)
        try:
            self._load_weights(model_path)
        except (OSError, ValueError) as error:
            self.model.params = old_params
            return False, f"Failed to update weights: {error}. The old ones are in use."
        logger.info(f"Update weights end. {model_path=} {self.forward_pass_id=}")
        return True, "Succeeded to update model weights."

    # Memory

    def _memory_device(self) -> int:
        return 0 if self.device == "cpu" else self.gpu_id

    def _allocation(self, what: str) -> str:
        role = "draft" if self.is_draft_worker else "target"
        return f"{role}.{self.tp_rank}.{what}"

    def profile_max_num_tokens(self) -> int:
        """How many tokens fit in what is left of the static part of the memory once the weights are loaded."""
        available_memory = get_available_memory(self.device, self.gpu_id, distributed=get_world_group().world_size > 1)
        num_layers = self.model_config.num_layers + self.draft_num_layers
        cell_size = self.model_config.kv_bytes_per_token // self.model_config.num_layers * num_layers
        rest_memory = available_memory - self.pre_model_load_memory * (1 - self.server_args.mem_fraction_static)
        if self.device == "cpu":
            rest_memory /= self.tp_size
        return int(rest_memory * simdev.MIB // cell_size)

    def init_memory_pool(self):
        max_total_tokens = self.server_args.max_total_tokens
        if max_total_tokens is not None:
            if max_total_tokens > self.max_total_num_tokens:
                logger.warning(
                    f"{max_total_tokens=} is larger than the profiled value {self.max_total_num_tokens}. "
                    f"Use the profiled value instead."
                )
            self.max_total_num_tokens = min(self.max_total_num_tokens, max_total_tokens)

        # Whole blocks only
        num_blocks = self.max_total_num_tokens // self.block_tokens
        self.max_total_num_tokens = num_blocks * self.block_tokens
        if num_blocks < ceil_div(self.model_config.max_context, self.block_tokens):
            raise RuntimeError(
                f"Not enough memory for one request of {self.model_config.max_context} tokens: "
                f"{self.max_total_num_tokens} tokens fit. Please try to increase mem_fraction_static. "
                f"{self.server_args.mem_fraction_static=}"
            )

        self.kv_pool = KVPool(num_blocks, self.block_tokens, self.model_config.num_layers)
        simdev.allocate(
            self._memory_device(),
            self._allocation("kv"),
            self.max_total_num_tokens * self.model_config.kv_bytes_per_token,
        )
        logger.info(
            f"Memory pool end. avail mem={format_mib(get_available_memory(self.device, self.gpu_id))} "
            f"{num_blocks=} {self.block_tokens=}"
        )

    # Attention and prepared steps

    def get_attention_backend_name(self) -> str:
        return "naive" if self.model_config.max_context <= 16 else "paged"

    def init_attention_backend(self):
        """Init attention kernel backend."""
        self.attn_backend_name = self.get_attention_backend_name()
        logger.info(f"Use attention backend {self.attn_backend_name}.")

    def init_step_cache(self):
        """Prepare decode steps for the usual batch sizes, so that a step only has to be padded to one of them."""
        if self.server_args.disable_step_cache:
            return
        for size in STEP_CACHE_SIZES:
            if size > self.server_args.max_batch_size:
                break
            self.step_cache[size] = f"{self.attn_backend_name}/decode/bs={size}"

    def can_run_step_cache(self, batch: ForwardBatch) -> bool:
        return not batch.is_prefill and any(size >= batch.batch_size for size in self.step_cache)

    # Steps

    def forward(self, batch: ForwardBatch) -> StepOutput:
        self.forward_pass_id += 1
        if batch.is_prefill:
            output = self.forward_prefill(batch)
        else:
            output = self.forward_decode(batch)
        if self.engine is not None and self.tp_rank == 0:
            self.engine.on_step(batch.num_tokens)
        return output

    def forward_prefill(self, batch: ForwardBatch) -> StepOutput:
        too_long = [
            request_id
            for request_id, tokens in zip(batch.request_ids, batch.tokens)
            if len(tokens) > self.model_config.max_context
        ]
        if too_long:
            raise ValueError(f"prompts are longer than {self.model_config.max_context=}: {', '.join(too_long)}")
        return StepOutput(logits=self._run_rows(batch), used_step_cache=False)

    def forward_decode(self, batch: ForwardBatch) -> StepOutput:
        use_step_cache = self.can_run_step_cache(batch)
        if use_step_cache:
            padded_size = min(size for size in self.step_cache if size >= batch.batch_size)
            self.num_padded_rows += padded_size - batch.batch_size
        return StepOutput(logits=self._run_rows(batch), used_step_cache=use_step_cache)

    def _run_rows(self, batch: ForwardBatch) -> List[List[int]]:
        rows = []
        for request_id, tokens in zip(batch.request_ids, batch.tokens):
            logits: List[int] = []
            for token in tokens:
                logits = self.model.forward_token(request_id, token, self.kv_pool)
            rows.append(logits)
        return rows

    def sample(self, rows: List[List[int]], temperature: Optional[float] = None) -> List[int]:
        """The next token of each row: the first of the largest for no temperature, else drawn by weight."""
        if not temperature:
            return [max(range(len(row)), key=lambda token, row=row: (row[token], -token)) for row in rows]
        next_tokens = []
        for row in rows:
            weights = [(logit / (max(row) or 1)) ** (1 / temperature) + 1e-9 for logit in row]
            next_tokens.append(self.rng.choices(range(len(row)), weights)[0])
        return next_tokens

    def finish(self, request_ids: List[str]):
        for request_id in request_ids:
            self.kv_pool.free(request_id)

    # Housekeeping

    def get_stats(self) -> Dict[str, object]:
        return {
            "forward_pass_id": self.forward_pass_id,
            "num_padded_rows": self.num_padded_rows,
            "free_blocks": self.kv_pool.num_free_blocks,
            "avail_mem": format_mib(get_available_memory(self.device, self.gpu_id)),
            "attn_backend": self.attn_backend_name,
        }

    def dump_context(self, *names: str) -> str:
        """Attributes by name, for error reports from the field."""
        return " ".join(f"{name}={getattr(self, name, '?')!r}" for name in names)

    def release(self):
        # The pool goes before the weights: blocks are freed in the reverse order of their allocation.
        simdev.release(self._memory_device(), self._allocation("kv"))
        simdev.release(self._memory_device(), self._allocation("weights"))
        self.step_cache.clear()
