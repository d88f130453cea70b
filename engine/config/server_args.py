"""Every option of a run, with its bounds. Checked once, before anything is started; what depends on the machine or the
model is settled later, by the runner."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from engine.schema.errors import BadConfig

DTYPES = ("auto", "bfloat16", "float16", "float32")
KV_DTYPES = ("auto", "bfloat16", "float16", "float32", "fp8_e5m2", "fp8_e4m3", "int8")
LOAD_FORMATS = ("auto", "gguf", "safetensors", "sharded", "dummy", "remote")
SAMPLING_BACKENDS = ("torch", "token_oracle")
SPECULATIVE = ("ngram", "draft")


class ServerArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """model: a name that `engine model pull` knows, a .gguf file, or a folder. mem_fraction_static: of the memory that
    is available at start, what weights and KV may take. block_tokens: of one KV block. max_total_tokens: over all
    sequences, None for what fits. chunked_prefill_size: tokens of one step. node_rank, nnodes, dist_init_addr: where
    ranks stand on several machines. base_port: the first that is tried for a rendezvous of this machine.
    quantization: of the weights after loading, such as int8wo. torchao_config: post-load transforms by torchao's names.
    """

    model: str = "smollm2-135m-instruct"
    served_model_name: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    load_format: str = "auto"
    quantization: str | None = None
    seed: int = 0
    context_length: int | None = None

    tp_size: int = 1
    pp_size: int = 1
    dp_size: int = 1
    ep_size: int = 1
    attn_cp_size: int = 1
    enable_dp_attention: bool = False
    enable_torch_tp: bool = False
    nnodes: int = 1
    node_rank: int = 0
    dist_init_addr: str | None = None
    dist_timeout: float = 600.0
    load_timeout: float = 600.0
    base_port: int = 29500
    dist_backend: str | None = None
    mooncake_ib_device: str | None = None
    elastic_ep_backend: str | None = None
    disable_custom_all_reduce: bool = False
    enable_mscclpp: bool = False
    enable_torch_symm_mem: bool = False
    enable_symm_mem: bool = False
    symm_mem_prealloc_bytes: int = 1 << 30
    enable_p2p_check: bool = False
    pre_warm_nccl: bool = False

    mem_fraction_static: float = 0.5
    max_running_requests: int = 256
    max_total_tokens: int | None = None
    chunked_prefill_size: int = 2048
    block_tokens: int = 16
    disable_radix_cache: bool = False
    kv_cache_dtype: str = "auto"
    enable_memory_saver: bool = False
    enable_weights_cpu_backup: bool = False

    attention_backend: str | None = None
    prefill_attention_backend: str | None = None
    decode_attention_backend: str | None = None
    sampling_backend: str = "torch"
    enable_batch_invariant: bool = False
    enable_torch_compile: bool = False
    disable_cuda_graph: bool = False
    cuda_graph_max_bs: int = 32
    threads: int | None = None
    disable_weight_packing: bool = False

    speculative_algorithm: str | None = None
    speculative_draft_model: str | None = None
    speculative_num_draft_tokens: int = 4
    speculative_ngram_min_match: int = 2
    speculative_ngram_max_match: int = 8

    enable_lora: bool = False
    lora_paths: tuple[tuple[str, Path], ...] = ()
    max_lora_rank: int = 64
    max_loras_per_batch: int = 8
    max_loaded_loras: int = 32
    lora_target_modules: tuple[str, ...] = ()

    @property
    def world_size(self) -> int:
        """Ranks in all: pipeline stages times the tensor-parallel ranks of each."""
        return self.tp_size * self.pp_size

    @property
    def name(self) -> str:
        return self.served_model_name or self.model


_POSITIVE = (
    *("tp_size", "pp_size", "dp_size", "ep_size", "attn_cp_size", "nnodes", "max_running_requests"),
    *("chunked_prefill_size", "block_tokens", "cuda_graph_max_bs", "speculative_num_draft_tokens"),
    *("speculative_ngram_min_match", "max_lora_rank", "max_loras_per_batch", "max_loaded_loras"),
)
_OPTIONAL_POSITIVE = ("context_length", "max_total_tokens", "threads")
_CHOICES: dict[str, tuple[str, ...]] = {
    "dtype": DTYPES,
    "kv_cache_dtype": KV_DTYPES,
    "load_format": LOAD_FORMATS,
    "sampling_backend": SAMPLING_BACKENDS,
}


def check(args: ServerArgs) -> ServerArgs:
    """Raises BadConfig for the first option that is out of its bounds, or does not fit another one."""
    for name in _POSITIVE:
        if getattr(args, name) < 1:
            raise BadConfig(f"{name}={getattr(args, name)}", fix="give at least 1")
    for name in _OPTIONAL_POSITIVE:
        if getattr(args, name) is not None and getattr(args, name) < 1:
            raise BadConfig(f"{name}={getattr(args, name)}", fix="give at least 1, or leave it out")
    for name, choices in _CHOICES.items():
        if getattr(args, name) not in choices:
            raise BadConfig(f"{name}={getattr(args, name)!r}", fix=f"use one of {', '.join(choices)}")
    backends = (args.attention_backend, args.prefill_attention_backend, args.decode_attention_backend)
    if args.enable_batch_invariant and "flex" in backends:
        raise BadConfig("batch-invariant mode with attention by flex", fix="use native or reference")
    if not 0 < args.mem_fraction_static < 1:
        raise BadConfig(f"mem_fraction_static={args.mem_fraction_static}", fix="give a share between 0 and 1")
    _check_ranks(args)
    _check_speculation(args)
    _check_adapters(args)
    return args


def _check_ranks(args: ServerArgs) -> None:
    if args.world_size % args.nnodes:
        raise BadConfig(f"{args.world_size} ranks over {args.nnodes} nodes", fix="make tp_size * pp_size a multiple")
    if not 0 <= args.node_rank < args.nnodes:
        raise BadConfig(f"node_rank={args.node_rank} of {args.nnodes} nodes", fix="number nodes from 0")
    if args.nnodes > 1 and args.dist_init_addr is None:
        raise BadConfig("several nodes, and no dist_init_addr", fix="give host:port of the first node to all of them")
    if args.enable_dp_attention and args.tp_size % args.dp_size:
        raise BadConfig(f"dp_size={args.dp_size} with tp_size={args.tp_size}", fix="make it a divisor of tp_size")
    if args.tp_size % args.ep_size:
        raise BadConfig(f"ep_size={args.ep_size} with tp_size={args.tp_size}", fix="make it a divisor of tp_size")
    if args.tp_size % args.attn_cp_size:
        raise BadConfig(f"attn_cp_size={args.attn_cp_size} with tp_size={args.tp_size}", fix="make it a divisor")


def _check_speculation(args: ServerArgs) -> None:
    algorithm = args.speculative_algorithm
    if algorithm is None:
        return
    if algorithm not in SPECULATIVE:
        raise BadConfig(f"speculative_algorithm={algorithm!r}", fix=f"use one of {', '.join(SPECULATIVE)}")
    if (algorithm == "draft") != (args.speculative_draft_model is not None):
        raise BadConfig(
            f"speculative_algorithm={algorithm!r} with speculative_draft_model={args.speculative_draft_model!r}",
            fix="give a draft model with `draft`, and with nothing else",
        )
    if args.pp_size > 1:
        raise BadConfig("speculation over pipeline stages", fix="use pp_size=1, or no speculation")
    if args.speculative_ngram_max_match < args.speculative_ngram_min_match:
        raise BadConfig("speculative_ngram_max_match is below the minimum", fix="raise it")


def _check_adapters(args: ServerArgs) -> None:
    if args.lora_paths and not args.enable_lora:
        raise BadConfig("lora_paths without enable_lora", fix="enable LoRA, or give no paths")
    names = [name for name, _ in args.lora_paths]
    if len(set(names)) != len(names):
        raise BadConfig("two adapters of one name in lora_paths", fix="name each differently")
    if args.max_loras_per_batch > args.max_loaded_loras:
        raise BadConfig(
            f"max_loras_per_batch={args.max_loras_per_batch} is above max_loaded_loras={args.max_loaded_loras}",
            fix="lower it",
        )
