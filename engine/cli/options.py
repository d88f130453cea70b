"""The options of the engine, made from ServerArgs: one for each field, with its type, its default and its help. A
command takes them by a decorator, beside its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import msgspec
import typer

from engine.config.server_args import ServerArgs, check
from engine.schema.errors import BadConfig

# Panels of the help, in order; a field's panel and help. A test holds this against ServerArgs.
MODEL, MEMORY, SPEED, RANKS, SPECULATION, ADAPTERS = (
    *("Model", "Memory and batches", "Speed", "Ranks and machines", "Speculation", "Adapters"),
)
HELP: dict[str, tuple[str, str]] = {
    "model": (MODEL, "A name that `model list` shows, a .gguf file, or a folder with config.json and safetensors."),
    "served_model_name": (MODEL, "The name it goes by; else the model's."),
    "device": (MODEL, "cpu, cuda, or auto."),
    "dtype": (MODEL, "Of weights and activations: auto, bfloat16, float16, float32."),
    "load_format": (MODEL, "auto, gguf, safetensors, sharded, dummy (random weights), remote."),
    "quantization": (MODEL, "Of the weights after loading, such as int8wo."),
    "seed": (MODEL, "Of requests that bring none of their own."),
    "context_length": (MODEL, "Tokens of a prompt and its answer, at most; else the model's own."),
    "mem_fraction_static": (MEMORY, "Share of the free memory that weights and KV may take."),
    "max_running_requests": (MEMORY, "Answers in one batch, at most."),
    "max_total_tokens": (MEMORY, "Tokens whose KV is kept, over all answers; else what fits."),
    "chunked_prefill_size": (MEMORY, "Tokens computed in one step, at most: longer prompts come in parts."),
    "block_tokens": (MEMORY, "Tokens of one KV block."),
    "disable_radix_cache": (MEMORY, "Compute every prompt whole, whatever others began with."),
    "kv_cache_dtype": (MEMORY, "auto, bfloat16, float16, float32, fp8_e5m2, fp8_e4m3, int8."),
    "enable_memory_saver": (MEMORY, "Let weights and KV be released and restored while it runs (sleep)."),
    "enable_weights_cpu_backup": (MEMORY, "Keep released weights aside, so that they need not be loaded again."),
    "attention_backend": (SPEED, "For prefill and decode alike; else the best for the device."),
    "prefill_attention_backend": (SPEED, "For prompts alone."),
    "decode_attention_backend": (SPEED, "For decoding alone."),
    "sampling_backend": (SPEED, "torch, or token_oracle: tokens by a hash, to test what stands around the model."),
    "enable_batch_invariant": (SPEED, "The same request gives the same bits in every batch."),
    "enable_torch_compile": (SPEED, "Compile the model's forward pass."),
    "disable_cuda_graph": (SPEED, "Capture no graphs."),
    "cuda_graph_max_bs": (SPEED, "The largest batch that a graph is captured for."),
    "threads": (SPEED, "CPU threads of one rank; else its share of the cores."),
    "disable_weight_packing": (SPEED, "Keep weights as they come, for less memory and slower products."),
    "tp_size": (RANKS, "Tensor-parallel ranks: each keeps a share of every layer."),
    "pp_size": (RANKS, "Pipeline stages: each keeps some of the layers."),
    "dp_size": (RANKS, "Data-parallel groups."),
    "ep_size": (RANKS, "Expert-parallel ranks."),
    "attn_cp_size": (RANKS, "Context-parallel ranks of attention."),
    "enable_dp_attention": (RANKS, "Attention data-parallel, the rest tensor-parallel."),
    "enable_torch_tp": (RANKS, "Tensor parallelism by torch's own plans."),
    "nnodes": (RANKS, "Machines that take part."),
    "node_rank": (RANKS, "Which of them this is, from 0."),
    "dist_init_addr": (RANKS, "host:port of the first machine, for all of them."),
    "dist_timeout": (RANKS, "Seconds that a rank waits for the others."),
    "load_timeout": (RANKS, "Seconds that ranks wait for the slowest one to load."),
    "base_port": (RANKS, "The first port that is tried for a rendezvous on this machine."),
    "dist_backend": (RANKS, "Of collectives; else the device's own."),
    "mooncake_ib_device": (RANKS, "InfiniBand devices of the mooncake backend, by commas."),
    "elastic_ep_backend": (RANKS, "Who keeps expert-parallel ranks together when one of them goes."),
    "disable_custom_all_reduce": (RANKS, "Leave sums over ranks to the backend."),
    "enable_mscclpp": (RANKS, "Small sums over ranks by MSCCL++."),
    "enable_torch_symm_mem": (RANKS, "Sums over ranks by torch's symmetric memory."),
    "enable_symm_mem": (RANKS, "Communicate out of symmetric memory."),
    "symm_mem_prealloc_bytes": (RANKS, "How much of it is taken at once, at the start."),
    "enable_p2p_check": (RANKS, "Test whether devices reach each other's memory, instead of taking it for granted."),
    "pre_warm_nccl": (RANKS, "Communicate once at the start, before anybody waits for it."),
    "speculative_algorithm": (SPECULATION, "ngram: guess from what came before; draft: by a smaller model."),
    "speculative_draft_model": (SPECULATION, "The smaller model, as with --model."),
    "speculative_num_draft_tokens": (SPECULATION, "Tokens guessed at a time."),
    "speculative_ngram_min_match": (SPECULATION, "Tokens that must match before a guess is made."),
    "speculative_ngram_max_match": (SPECULATION, "Tokens that are matched at most."),
    "enable_lora": (ADAPTERS, "Make room for low-rank adapters."),
    "lora_paths": (ADAPTERS, "NAME=FOLDER of one that is loaded at the start; as often as there are some."),
    "max_lora_rank": (ADAPTERS, "The largest rank of an adapter."),
    "max_loras_per_batch": (ADAPTERS, "Different ones in one batch."),
    "max_loaded_loras": (ADAPTERS, "Different ones in memory."),
    "lora_target_modules": (ADAPTERS, "Modules that adapters may change; else those of the first adapters."),
}
_NAMES = {"lora_paths": "--lora", "lora_target_modules": "--lora-target-module"}


def server_options(command: Callable[..., int]) -> Callable[..., None]:
    """A command that takes `args: ServerArgs` becomes one with an option for each of its fields, its own ones first."""
    own = [each for each in inspect.signature(command, eval_str=True).parameters.values() if each.name != "args"]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        fields = {name: given.pop(name) for name in ServerArgs.__struct_fields__}
        raise typer.Exit(command(args=make_args(fields), **given))

    parameters = [*own, *_parameters()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def make_args(fields: dict[str, Any]) -> ServerArgs:
    """Raises BadConfig."""
    given = dict(fields)
    given["lora_paths"] = tuple(_named_path(each) for each in given["lora_paths"] or ())
    given["lora_target_modules"] = tuple(given["lora_target_modules"] or ())
    return check(ServerArgs(**given))


def _named_path(text: str) -> tuple[str, Path]:
    name, found, path = text.partition("=")
    if not found or not name or not path:
        raise BadConfig(f"--lora {text!r}", fix="write NAME=FOLDER")
    return name, Path(path)


def _parameters() -> list[inspect.Parameter]:
    hints = get_type_hints(ServerArgs)
    made = []
    for field in msgspec.structs.fields(ServerArgs):
        kind, default = hints[field.name], field.default
        if isinstance(default, tuple):
            kind, default = list[str] | None, None
        panel, words = HELP[field.name]
        name = _NAMES.get(field.name, "--" + field.name.replace("_", "-"))
        option = typer.Option(name, help=words, rich_help_panel=panel, show_default=default is not None)
        made.append(
            inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
            )
        )
    return made
