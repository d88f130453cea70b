"""Names of the tensors of sparse layers in checkpoints, and which of them go where on this rank."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from torch import Tensor

from engine.config.model_config import Family
from engine.models.feed_forward import SparseFeedForward
from engine.models.slot import Slot, ffn_slots
from engine.schema.errors import BadModel

_EXPERT = {
    Family.MIXTRAL: re.compile(r"\.block_sparse_moe\.experts\.(\d+)\.w[123]\.weight$"),
    None: re.compile(r"\.mlp\.experts\.(\d+)\.(?:gate|up|down)_proj\.weight$"),
}


def expert_of(name: str, family: Family) -> int | None:
    """The logical expert that a tensor belongs to; None for one that is no expert's."""
    found = _EXPERT.get(family, _EXPERT[None]).search(name)
    return int(found[1]) if found else None


def sparse_slots(ffn: SparseFeedForward, family: Family, rank: int) -> dict[str, Slot]:
    """Of one sparse layer, by the names within it. rank: in the group that shares what every token goes through."""
    is_mixtral = family is Family.MIXTRAL
    prefix = "block_sparse_moe." if is_mixtral else "mlp."
    router = ffn.routed.router
    found = {f"{prefix}gate.weight": Slot(router.scores.weight.data, router.config.num_experts)}
    if router.bias is not None:
        found[f"{prefix}gate.e_score_correction_bias"] = Slot(router.bias.data, len(router.bias))
    if ffn.shared is not None:
        name = "shared_expert" if ffn.shared_gate is not None else "shared_experts"
        found.update({f"{prefix}{name}.{each}": slot for each, slot in ffn_slots(ffn.shared, rank).items()})
    if ffn.shared_gate is not None:
        found[f"{prefix}shared_expert_gate.weight"] = Slot(ffn.shared_gate.weight.data, 1)
    for expert, places in _places(ffn).items():
        for name, slot in _expert_slots(ffn, places, family).items():
            found[f"{prefix}experts.{expert}.{name}.weight"] = slot
    return found


def experts_of(
    named: Iterable[tuple[str, Tensor]], family: Family, wanted: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[Tensor, Tensor, Tensor]]:
    """Gate, up and down of some experts, by layer and number, out of a checkpoint's tensors. Raises BadModel for one
    that is not there."""
    found: dict[tuple[int, int], dict[str, Tensor]] = {each: {} for each in wanted}
    for name, tensor in named:
        expert = expert_of(name, family)
        if expert is not None:
            layer = int(name.split("model.layers.")[1].split(".")[0])
            if (layer, expert) in found:
                found[layer, expert][name.split(".")[-2]] = tensor
    names = _matrices(family)
    for (layer, expert), parts in found.items():
        if len(parts) != len(names):
            raise BadModel(f"the checkpoint lacks expert {expert} of layer {layer}", fix="fetch the model again")
    return {each: (parts[names[0]], parts[names[1]], parts[names[2]]) for each, parts in found.items()}


def put(ffn: SparseFeedForward, slot: int, expert: int, matrices: tuple[Tensor, Tensor, Tensor]) -> None:
    """A whole expert into a slot: this rank's share of its width."""
    share, inner = ffn.routed.parallel.moe_tp, ffn.routed.experts.down.inputs
    start = share.rank * inner
    gate, up, down = matrices
    cut = gate.narrow(0, start, inner), up.narrow(0, start, inner), down.narrow(1, start, inner)
    ffn.routed.put(slot, expert, cut)


def _matrices(family: Family) -> tuple[str, str, str]:
    """Gate, up and down."""
    return ("w1", "w3", "w2") if family is Family.MIXTRAL else ("gate_proj", "up_proj", "down_proj")


def _places(ffn: SparseFeedForward) -> dict[int, list[int]]:
    """The slots of this rank, by the logical expert in them."""
    made: dict[int, list[int]] = {}
    for slot, expert in enumerate(ffn.routed.parallel.location.local(ffn.routed.layer)):
        made.setdefault(expert, []).append(slot)
    return made


def _expert_slots(ffn: SparseFeedForward, places: list[int], family: Family) -> dict[str, Slot]:
    experts, share = ffn.routed.experts, ffn.routed.parallel.moe_tp
    inner = experts.down.inputs
    total, start = inner * share.size, inner * share.rank
    gates = [experts.gate_up.of(each)[:inner] for each in places]
    ups = [experts.gate_up.of(each)[inner:] for each in places]
    downs = [experts.down.of(each) for each in places]
    return {
        name: _slot(targets, total, axis, start)
        for name, targets, axis in zip(_matrices(family), (gates, ups, downs), (0, 0, 1), strict=True)
    }


def _slot(targets: list[Tensor], total: int, axis: int, start: int) -> Slot:
    return Slot(targets[0], total, axis, start, copies=tuple(targets[1:]))
