"""One adapter as PEFT writes it (adapter_config.json, adapter_model.safetensors): what it may say, and whether it is
for this model. Whatever would change results and is not computed here is refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from engine.schema.errors import EngineError

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_PREFIXES = ("base_model.model.", "base_model.")
_NAME = re.compile(r"(?P<module>.+)\.lora_(?P<part>[AB])(?:\.default)?\.weight")

_READ = {
    "r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern", "target_modules", "peft_type", "task_type",
    "init_lora_weights",
}  # fmt: skip
# What only training, or a tool other than ours, looks at. Which modules are changed is seen from the weights.
_WITHOUT_EFFECT = {
    "auto_mapping", "base_model_name_or_path", "corda_config", "ensure_weight_tying", "eva_config", "exclude_modules",
    "inference_mode", "layers_pattern", "layers_to_transform", "loftq_config", "lora_dropout", "lora_ga_config",
    "megatron_config", "megatron_core", "peft_version", "qalora_group_size", "revision", "runtime_config",
    "velora_config",
}  # fmt: skip
# Other computations; fine as long as they are off.
_OFF = {
    "alora_invocation_tokens", "arrow_config", "bias", "fan_in_fan_out", "kasa_config", "layer_replication",
    "lora_bias", "modules_to_save", "monteclora_config", "target_parameters", "trainable_token_indices", "use_bdlora",
    "use_dora", "use_qalora",
}  # fmt: skip
# The others (pissa, olora, loftq, ...) take something out of the base model's weights, which are then not those here.
_STARTS = (True, False, None, "gaussian", "orthogonal", "eva")


class BadAdapter(EngineError):
    """The files of an adapter are incomplete, ask for what is not computed here, or are for another model."""

    code = "bad-adapter"


class Pair(NamedTuple):
    """B(A x) * scale is added to the product of one matrix. a: [r, inputs]; b: [outputs, r]; both of the whole
    matrix."""

    a: Tensor
    b: Tensor
    scale: float


class Adapter(NamedTuple):
    """pairs: by the module's name in checkpoints, such as model.layers.0.self_attn.q_proj."""

    name: str
    rank: int
    pairs: dict[str, Pair]
    base_model: str = ""


class Shapes(NamedTuple):
    """What an adapter is held against. sizes: inputs and outputs by the end of a module's name, such as
    self_attn.q_proj."""

    num_layers: int
    sizes: Mapping[str, tuple[int, int]]
    max_rank: int


def read(name: str, folder: Path, shapes: Shapes) -> Adapter:
    """Raises BadAdapter."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadAdapter(f"{name}: {folder / CONFIG} can't be read: {error}", fix="give a PEFT folder") from error
    if not (folder / WEIGHTS).is_file():
        raise BadAdapter(f"{name}: {folder} has no {WEIGHTS}", fix="save the adapter as safetensors")
    try:
        tensors = load_file(folder / WEIGHTS)
    except SafetensorError as error:
        raise BadAdapter(f"{name}: {folder / WEIGHTS} is damaged: {error}", fix="fetch it again") from error
    return check(name, config, tensors, shapes)


def check(name: str, config: Any, tensors: Mapping[str, Tensor], shapes: Shapes) -> Adapter:
    """The adapter of a configuration and its tensors. Raises BadAdapter, naming the key or the tensor."""
    _check_config(name, config)
    halves: dict[str, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        found = _NAME.fullmatch(_without_prefix(key))
        if found is None:
            raise BadAdapter(f"{name}: {key} is no part of a low-rank pair", fix="train matrices of layers alone")
        halves.setdefault(found["module"], {})[found["part"]] = tensor
    if not halves:
        raise BadAdapter(f"{name}: there are no weights", fix=f"see whether {WEIGHTS} is the right file")
    pairs = {module: _pair(name, module, each, config, shapes) for module, each in sorted(halves.items())}
    rank = max(len(each.a) for each in pairs.values())
    return Adapter(name, rank, pairs, str(config.get("base_model_name_or_path") or ""))


def _check_config(name: str, config: Any) -> None:
    if not isinstance(config, dict):
        raise BadAdapter(f"{name}: {CONFIG} holds no object", fix="fetch it again")
    if config.get("peft_type") != "LORA":
        raise BadAdapter(f"{name}: peft_type is {config.get('peft_type')!r}", fix="give a LoRA adapter")
    if config.get("task_type") not in (None, "CAUSAL_LM"):
        raise BadAdapter(f"{name}: task_type is {config['task_type']!r}", fix="give an adapter of a language model")
    known = _READ | _WITHOUT_EFFECT | _OFF
    unknown = sorted(key for key, value in config.items() if key not in known and value is not None)
    if unknown:
        raise BadAdapter(f"{name}: {CONFIG} says {', '.join(unknown)}, which is not known", fix="leave it out")
    on = sorted(key for key in _OFF if config.get(key) and config[key] != "none")
    if on:
        raise BadAdapter(f"{name}: {', '.join(on)} is not computed here", fix="merge the adapter into the model")
    if config.get("init_lora_weights") not in _STARTS:
        raise BadAdapter(
            f"{name}: init_lora_weights is {config['init_lora_weights']!r}, which changes the base model too",
            fix="save it converted to plain LoRA (path_initial_model_for_weight_conversion of PEFT)",
        )
    for key, kinds in (("r", (int,)), ("lora_alpha", (int, float))):
        if type(config.get(key)) not in kinds or config[key] <= 0:
            raise BadAdapter(f"{name}: {key} is {config.get(key)!r}", fix="a number above 0 is needed")
    for key in ("rank_pattern", "alpha_pattern"):
        if not isinstance(config.get(key) or {}, dict):
            raise BadAdapter(f"{name}: {key} is {config[key]!r}", fix="an object of numbers is needed")


def _without_prefix(key: str) -> str:
    """PEFT wraps a model twice; what is left begins with `model.layers`."""
    for prefix in _PREFIXES:
        if key.startswith(prefix):
            return key[len(prefix) :]
    return key


def _pair(name: str, module: str, halves: Mapping[str, Tensor], config: Mapping[str, Any], shapes: Shapes) -> Pair:
    found = re.fullmatch(r"model\.layers\.(\d+)\.(.+)", module)
    if found is None or found[2] not in shapes.sizes:
        raise BadAdapter(
            f"{name}: {module} can't be adapted", fix=f"in layers these can: {', '.join(sorted(shapes.sizes))}"
        )
    if int(found[1]) >= shapes.num_layers:
        raise BadAdapter(
            f"{name}: {module}, but the model has {shapes.num_layers} layers", fix="use its own base model"
        )
    if set(halves) != {"A", "B"}:
        raise BadAdapter(f"{name}: {module} has lora_{min(halves)} alone", fix="fetch the adapter again")
    rank = int(_pattern(config.get("rank_pattern"), module, config["r"]))
    if rank > shapes.max_rank:
        raise BadAdapter(f"{name}: rank {rank} of {module}", fix=f"raise max_rank, which is {shapes.max_rank}")
    inputs, outputs = shapes.sizes[found[2]]
    for part, needed in (("A", (rank, inputs)), ("B", (outputs, rank))):
        if tuple(halves[part].shape) != needed:
            raise BadAdapter(
                f"{name}: lora_{part} of {module} has shape {tuple(halves[part].shape)}, needed is {needed}",
                fix="use the model that the adapter was trained on",
            )
    alpha = float(_pattern(config.get("alpha_pattern"), module, config["lora_alpha"]))
    return Pair(halves["A"], halves["B"], alpha / (rank**0.5 if config.get("use_rslora") else rank))


def _pattern(patterns: Mapping[str, Any] | None, module: str, default: float) -> float:
    """The value of the first pattern that a module's name ends in, as PEFT looks for it."""
    for pattern, value in (patterns or {}).items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            return float(value)
    return default
