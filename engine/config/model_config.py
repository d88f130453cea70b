"""The shape of a model, from a checkpoint's own description. Sizes and switches that layers take; no weights, no dtype
of the run."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, structs

from engine.config.moe_config import MoeConfig, moe_from_hf
from engine.config.server_args import ServerArgs
from engine.schema.errors import BadConfig, BadModel


class Family(enum.Enum):
    """Decoder families that differ in more than sizes."""

    LLAMA = "llama"
    QWEN2 = "qwen2"
    QWEN3 = "qwen3"
    GEMMA3 = "gemma3"
    QWEN2_MOE = "qwen2_moe"
    QWEN3_MOE = "qwen3_moe"
    MIXTRAL = "mixtral"
    DOTS1 = "dots1"


_QK_NORM = (Family.QWEN3, Family.GEMMA3, Family.QWEN3_MOE, Family.DOTS1)
_MOE_KINDS = {
    Family.QWEN2_MOE: "qwen_moe",
    Family.QWEN3_MOE: "qwen_moe",
    Family.MIXTRAL: "mixtral",
    Family.DOTS1: "deepseek",
}


class Rope(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """theta: base of the angles. factor: positions are divided by it. Llama 3 divides low frequencies alone: those with
    fewer than `low` turns in `original` positions, with a ramp up to `high`; there is none where `original` is 0.
    divisors: of each frequency, where a checkpoint lists them instead."""

    theta: float = 10000.0
    factor: float = 1.0
    low: float = 1.0
    high: float = 4.0
    original: int = 0
    divisors: tuple[float, ...] = ()


class ModelConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """window: tokens that a sliding-window layer sees, itself included. is_global: one a layer; the others slide.
    local_rope: of sliding layers. query_scale: what scores are multiplied with. norm_offset: added to the weights of
    norms (Gemma stores them around 0). embed_scale: embeddings are multiplied with it. kv_dtype: what the
    checkpoint was made to keep keys and values in, by the name that the options have for it. moe: of a sparse model."""

    family: Family
    num_layers: int
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    ffn_size: int
    vocab_size: int
    max_position: int
    norm_eps: float
    rope: Rope = Rope()
    is_tied: bool = False
    has_qkv_bias: bool = False
    has_qk_norm: bool = False
    has_post_norms: bool = False
    activation: str = "silu"
    norm_offset: float = 0.0
    embed_scale: float = 1.0
    query_scale: float = 0.0
    window: int = 0
    is_global: tuple[bool, ...] = ()
    local_rope: Rope = Rope()
    kv_dtype: str | None = None
    moe: MoeConfig | None = None

    @classmethod
    def from_server_args(cls, args: ServerArgs, *, shape: ModelConfig) -> ModelConfig:
        """The checkpoint's shape as this run uses it: with the context that was asked for. Raises BadConfig."""
        if args.context_length is None:
            return shape
        if args.context_length > shape.max_position:
            raise BadConfig(
                f"context_length={args.context_length}, the model has positions for {shape.max_position}",
                fix="lower it",
            )
        return structs.replace(shape, max_position=args.context_length)

    @property
    def scale(self) -> float:
        return self.query_scale or self.head_dim**-0.5

    def window_of(self, layer: int) -> int:
        """0: the layer sees everything before."""
        return self.window if self.window and not self.is_global[layer] else 0

    def is_sparse(self, layer: int) -> bool:
        """Whether its feed-forward is shared out over experts."""
        return self.moe is not None and self.moe.is_sparse[layer]


def check(config: ModelConfig) -> ModelConfig:
    """Raises BadModel for sizes that contradict each other."""
    for name in ("num_layers", "hidden_size", "num_heads", "num_kv_heads", "head_dim", "ffn_size", "vocab_size"):
        if getattr(config, name) < 1:
            raise BadModel(f"{name}={getattr(config, name)}", fix="fetch the model again")
    if config.num_heads % config.num_kv_heads:
        raise BadModel(
            f"{config.num_heads} heads over {config.num_kv_heads} KV heads",
            fix="the first must be a multiple of the second",
        )
    if config.window and len(config.is_global) != config.num_layers:
        raise BadModel(
            f"{len(config.is_global)} layer kinds for {config.num_layers} layers", fix="fetch the model again"
        )
    return config


_ARCHITECTURES = {
    "LlamaForCausalLM": Family.LLAMA,
    "Qwen2ForCausalLM": Family.QWEN2,
    "Qwen3ForCausalLM": Family.QWEN3,
    "Gemma3ForCausalLM": Family.GEMMA3,
    "Qwen2MoeForCausalLM": Family.QWEN2_MOE,
    "Qwen3MoeForCausalLM": Family.QWEN3_MOE,
    "MixtralForCausalLM": Family.MIXTRAL,
    "Dots1ForCausalLM": Family.DOTS1,
}
_GEMMA_PERIOD = 6  # where a checkpoint does not list its layers: every sixth one is global


def from_hf(raw: Mapping[str, Any], *, source: str) -> ModelConfig:
    """From the contents of a config.json. Raises BadModel, naming the key."""

    def need(key: str) -> Any:
        if raw.get(key) is None:
            raise BadModel(f"{source} does not say {key}", fix="fetch the model again")
        return raw[key]

    names = need("architectures")
    family = _ARCHITECTURES.get(names[0]) if names else None
    if family is None:
        raise BadModel(f"{source}: architecture {names}", fix=f"known are {', '.join(_ARCHITECTURES)}")
    _refuse_unknown(raw, source)
    heads, hidden = need("num_attention_heads"), need("hidden_size")
    is_gemma = family is Family.GEMMA3
    ropes = _ropes(raw, is_gemma=is_gemma)
    return check(
        ModelConfig(
            family=family,
            num_layers=need("num_hidden_layers"),
            hidden_size=hidden,
            num_heads=heads,
            num_kv_heads=raw.get("num_key_value_heads") or heads,
            head_dim=raw.get("head_dim") or hidden // heads,
            ffn_size=need("intermediate_size"),
            vocab_size=need("vocab_size"),
            max_position=raw.get("max_position_embeddings", 2048),
            norm_eps=raw.get("rms_norm_eps", 1e-6),
            rope=ropes[0],
            local_rope=ropes[1],
            is_tied=bool(raw.get("tie_word_embeddings", is_gemma)),
            has_qkv_bias=family is Family.QWEN2
            or bool(raw.get("attention_bias"))
            or (family is Family.QWEN2_MOE and raw.get("qkv_bias", True)),
            has_qk_norm=family in _QK_NORM,
            has_post_norms=is_gemma,
            activation=_activation(raw, is_gemma=is_gemma, source=source),
            norm_offset=1.0 if is_gemma else 0.0,
            embed_scale=hidden**0.5 if is_gemma else 1.0,
            query_scale=_query_scale(raw) if is_gemma else 0.0,
            window=_window(raw, family),
            is_global=_globals(raw, family),
            kv_dtype=_kv_dtype(raw, source),
            moe=moe_from_hf(raw, _MOE_KINDS[family], source=source) if family in _MOE_KINDS else None,
        )
    )


_KV_DTYPES = {"fp8": "fp8_e4m3", "fp8_e4m3": "fp8_e4m3", "fp8_e5m2": "fp8_e5m2", "int8": "int8"}


def _kv_dtype(raw: Mapping[str, Any], source: str) -> str | None:
    """Newer checkpoints keep it as a scheme, older ones as a name."""
    given = raw.get("quantization_config") or {}
    scheme = given.get("kv_cache_scheme")
    name = given.get("kv_cache_quant_algo")
    if isinstance(scheme, Mapping):
        kinds: dict[tuple[Any, Any], str] = {("float", 8): "fp8", ("int", 8): "int8"}
        name = kinds.get((scheme.get("type"), scheme.get("num_bits")), str(dict(scheme)))
    if name is None:
        return None
    if str(name).lower() not in _KV_DTYPES:
        raise BadModel(f"{source}: KV cache in {name}", fix=f"known are {', '.join(_KV_DTYPES)}")
    return _KV_DTYPES[str(name).lower()]


_ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh", "gelu_new": "gelu_tanh"}
# What changes a model's answers and is not built here, with the values that say it is off.
_OFF: dict[str, tuple[Any, ...]] = {
    "attn_logit_softcapping": (None,),
    "final_logit_softcapping": (None,),
    "use_bidirectional_attention": (None, False),
    "partial_rotary_factor": (None, 1.0),
}


def _refuse_unknown(raw: Mapping[str, Any], source: str) -> None:
    """Raises BadModel for a switch that would be passed over: the answers would look right and be wrong."""
    for key, off in _OFF.items():
        if raw.get(key) not in off:
            raise BadModel(f"{source}: {key}={raw[key]!r} is not supported", fix="use another model")


def _activation(raw: Mapping[str, Any], *, is_gemma: bool, source: str) -> str:
    key, default = ("hidden_activation", "gelu_pytorch_tanh") if is_gemma else ("hidden_act", "silu")
    given = raw.get(key) or default
    if given not in _ACTIVATIONS:
        raise BadModel(f"{source}: {key}={given!r}", fix=f"known are {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[given]


def _query_scale(raw: Mapping[str, Any]) -> float:
    return float(raw["query_pre_attn_scalar"]) ** -0.5 if "query_pre_attn_scalar" in raw else 0.0


def _window(raw: Mapping[str, Any], family: Family) -> int:
    """Qwen's configurations name a window that is off unless they say so, dots.llm1's one that its layers need not
    have."""
    if family is Family.DOTS1:
        is_used = "sliding_attention" in (raw.get("layer_types") or ())
    else:
        has_switch = family not in (Family.LLAMA, Family.GEMMA3, Family.MIXTRAL)
        is_used = family is not Family.LLAMA and (not has_switch or bool(raw.get("use_sliding_window")))
    return int(raw.get("sliding_window") or 0) if is_used else 0


def _globals(raw: Mapping[str, Any], family: Family) -> tuple[bool, ...]:
    if not _window(raw, family):
        return ()
    count: int = raw["num_hidden_layers"]
    if raw.get("layer_types"):
        return tuple(each == "full_attention" for each in raw["layer_types"])
    if family is Family.MIXTRAL:
        return (False,) * count
    if family is Family.GEMMA3:
        period = raw.get("sliding_window_pattern") or _GEMMA_PERIOD
        return tuple((layer + 1) % period == 0 for layer in range(count))
    return tuple(layer < raw.get("max_window_layers", 0) for layer in range(count))


def _ropes(raw: Mapping[str, Any], *, is_gemma: bool) -> tuple[Rope, Rope]:
    """Of global and of local layers, which only Gemma turns by angles of their own. Newer checkpoints keep both in
    `rope_parameters`, older ones have keys of their own."""
    given = raw.get("rope_parameters")
    if isinstance(given, Mapping) and "full_attention" in given:
        return _rope(given["full_attention"], raw), _rope(given.get("sliding_attention", {}), raw)
    if not isinstance(given, Mapping):
        given = {"rope_theta": raw.get("rope_theta", 10000.0), **(raw.get("rope_scaling") or {})}
    plain = _rope(given, raw)
    return plain, Rope(theta=raw.get("rope_local_base_freq", 10000.0)) if is_gemma else plain


def _rope(given: Mapping[str, Any], raw: Mapping[str, Any]) -> Rope:
    kind = given.get("rope_type", given.get("type", "default"))
    theta = float(given.get("rope_theta") or raw.get("rope_theta") or 10000.0)
    if kind == "default":
        return Rope(theta=theta)
    if kind == "linear":
        return Rope(theta=theta, factor=float(given["factor"]))
    if kind == "llama3":
        return Rope(
            theta=theta,
            factor=float(given["factor"]),
            low=float(given["low_freq_factor"]),
            high=float(given["high_freq_factor"]),
            original=int(given["original_max_position_embeddings"]),
        )
    raise BadModel(f"rope scaling {kind!r}", fix="known are default, linear and llama3")


_GGUF = {"llama": Family.LLAMA, "qwen2": Family.QWEN2, "qwen3": Family.QWEN3, "gemma3": Family.GEMMA3}


def from_gguf(
    get: Callable[..., Any],
    require: Callable[[str], Any],
    *,
    is_tied: bool,
    vocab_size: int,
    divisors: tuple[float, ...] = (),
) -> ModelConfig:
    """From the settings of a GGUF file. is_tied: whether the file has no output matrix of its own. divisors: of the
    rotary frequencies, if it has some: Llama 3's ramp stands nowhere else. Norms are stored there as they are used, so
    that nothing is added to them."""
    name = require("general.architecture")
    if name not in _GGUF:
        raise BadModel(f"architecture {name!r}", fix=f"known are {', '.join(_GGUF)}")
    family = _GGUF[name]
    heads, hidden = int(require(f"{name}.attention.head_count")), int(require(f"{name}.embedding_length"))
    is_gemma, count = family is Family.GEMMA3, int(require(f"{name}.block_count"))
    window = int(get(f"{name}.attention.sliding_window", 0)) if is_gemma else 0
    head_dim = int(get(f"{name}.attention.key_length", hidden // heads))
    return check(
        ModelConfig(
            family=family,
            num_layers=count,
            hidden_size=hidden,
            num_heads=heads,
            num_kv_heads=int(get(f"{name}.attention.head_count_kv", heads)),
            head_dim=head_dim,
            ffn_size=int(require(f"{name}.feed_forward_length")),
            vocab_size=vocab_size,
            max_position=int(require(f"{name}.context_length")),
            norm_eps=float(require(f"{name}.attention.layer_norm_rms_epsilon")),
            rope=_gguf_rope(name, get, divisors, head_dim=head_dim),
            is_tied=is_tied,
            has_qkv_bias=family is Family.QWEN2,
            has_qk_norm=family in (Family.QWEN3, Family.GEMMA3),
            has_post_norms=is_gemma,
            activation="gelu_tanh" if is_gemma else "silu",
            embed_scale=hidden**0.5 if is_gemma else 1.0,
            window=window,
            is_global=tuple((layer + 1) % _GEMMA_PERIOD == 0 for layer in range(count)) if window else (),
        )
    )


def _gguf_rope(name: str, get: Callable[..., Any], divisors: tuple[float, ...], *, head_dim: int) -> Rope:
    """Of layers that see everything; in windows nothing is scaled. Raises BadModel for a scaling that is not linear,
    and for heads of which a part is turned only."""
    turned = int(get(f"{name}.rope.dimension_count", head_dim))
    if turned != head_dim:
        raise BadModel(f"{name}.rope.dimension_count={turned} with heads of {head_dim}", fix="no family here does that")
    kind = get(f"{name}.rope.scaling.type", "linear")
    if kind not in ("none", "linear"):
        raise BadModel(f"rope scaling {kind!r}", fix="known are none and linear")
    factor = float(get(f"{name}.rope.scaling.factor", get(f"{name}.rope.scale_linear", 1.0))) or 1.0
    theta = float(get(f"{name}.rope.freq_base", 10000.0))
    return Rope(theta=theta, factor=1.0 if kind == "none" else factor, divisors=divisors)
