"""How a sparse model shares its feed-forward out over experts, from a checkpoint's own description: how many, how they
are scored and chosen, which layers have them. No weights, and nothing of where a run puts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from engine.schema.errors import BadModel


class MoeConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """top_k: experts of a token. expert_size: width of one. shared_size: width of what every token goes through beside
    them, all shared experts together; 0: there is none. has_shared_gate: its output is weighed by the token, too.
    scoring: softmax or sigmoid. is_normalised: the chosen weights sum to 1, before `scale`. num_groups, topk_groups:
    only the experts of the best groups can be chosen. has_correction_bias: added to the scores for the choice, and for
    nothing else. is_sparse: one a layer."""

    num_experts: int
    top_k: int
    expert_size: int
    is_sparse: tuple[bool, ...]
    shared_size: int = 0
    has_shared_gate: bool = False
    scoring: str = "softmax"
    is_normalised: bool = True
    scale: float = 1.0
    num_groups: int = 1
    topk_groups: int = 1
    has_correction_bias: bool = False


def moe_from_hf(raw: Mapping[str, Any], kind: str, *, source: str) -> MoeConfig:
    """kind: qwen_moe, mixtral or deepseek (groups, sigmoid, shared experts). Raises BadModel, naming the key."""

    def need(*keys: str) -> Any:
        found = next((raw[key] for key in keys if raw.get(key) is not None), None)
        if found is None:
            raise BadModel(f"{source} does not say {keys[0]}", fix="fetch the model again")
        return found

    made = _KINDS[kind](raw, need)
    return check(made, source=source)


def _qwen(raw: Mapping[str, Any], need: Callable[..., Any]) -> MoeConfig:
    count, step = need("num_hidden_layers"), raw.get("decoder_sparse_step") or 1
    dense = set(raw.get("mlp_only_layers") or ())
    shared = raw.get("shared_expert_intermediate_size") or 0
    return MoeConfig(
        num_experts=need("num_experts", "num_local_experts"),
        top_k=need("num_experts_per_tok"),
        expert_size=need("moe_intermediate_size"),
        is_sparse=tuple(layer not in dense and (layer + 1) % step == 0 for layer in range(count)),
        shared_size=shared,
        has_shared_gate=bool(shared),
        is_normalised=bool(raw.get("norm_topk_prob", False)),
    )


def _mixtral(_raw: Mapping[str, Any], need: Callable[..., Any]) -> MoeConfig:
    return MoeConfig(
        num_experts=need("num_local_experts"),
        top_k=need("num_experts_per_tok"),
        expert_size=need("intermediate_size"),
        is_sparse=(True,) * need("num_hidden_layers"),
    )


def _deepseek(raw: Mapping[str, Any], need: Callable[..., Any]) -> MoeConfig:
    first, size = raw.get("first_k_dense_replace") or 0, need("moe_intermediate_size")
    return MoeConfig(
        num_experts=need("n_routed_experts"),
        top_k=need("num_experts_per_tok"),
        expert_size=size,
        is_sparse=tuple(layer >= first for layer in range(need("num_hidden_layers"))),
        shared_size=size * (raw.get("n_shared_experts") or 0),
        scoring="sigmoid",
        is_normalised=bool(raw.get("norm_topk_prob", False)),
        scale=float(raw.get("routed_scaling_factor", 1.0)),
        num_groups=raw.get("n_group") or 1,
        topk_groups=raw.get("topk_group") or 1,
        has_correction_bias=True,
    )


_KINDS = {"qwen_moe": _qwen, "mixtral": _mixtral, "deepseek": _deepseek}


def check(config: MoeConfig, *, source: str) -> MoeConfig:
    """Raises BadModel for sizes that contradict each other."""
    for name in ("num_experts", "top_k", "expert_size", "num_groups", "topk_groups"):
        if getattr(config, name) < 1:
            raise BadModel(f"{source}: {name}={getattr(config, name)}", fix="fetch the model again")
    if config.num_experts % config.num_groups or config.topk_groups > config.num_groups:
        raise BadModel(
            f"{source}: {config.topk_groups} of {config.num_groups} groups of {config.num_experts} experts",
            fix="the groups must be equal, and as many as are chosen",
        )
    per_group = config.num_experts // config.num_groups
    if config.num_groups > 1 and per_group < 2:
        raise BadModel(f"{source}: groups of one expert", fix="a group is scored by its best two")
    if config.top_k > per_group * config.topk_groups:
        raise BadModel(
            f"{source}: {config.top_k} experts a token, of {per_group * config.topk_groups} that it can choose from",
            fix="fetch the model again",
        )
    return config
