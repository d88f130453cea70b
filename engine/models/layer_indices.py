"""Which layers of a model a runner computes: all of them, those of its pipeline stage, or the few of a multi-token
prediction (MTP) draft that ride on another model's checkpoint. Decides nothing about what is in them."""

from __future__ import annotations

from typing import NamedTuple

from engine.schema.errors import BadConfig

# Drafts whose checkpoints say how many layers they predict with, and those that have one, whatever is said.
MTP_ARCHITECTURES = ("DeepseekV3ForCausalLMNextN", "Glm4MoeForCausalLMNextN", "Dots1ForCausalLMNextN")
ONE_LAYER_MTP = ("MiMoMTP", "Ernie4_5_MoeForCausalLMMTP", "Qwen3NextForCausalLMMTP", "LongcatFlashForCausalLMNextN")


class LayerIndices(NamedTuple):
    """Layers [start_layer, end_layer). num_effective_layers: how often a layer is computed in a pass, loops counted: as
    many places the KV cache needs."""

    start_layer: int
    end_layer: int
    num_effective_layers: int


def layer_indices(
    *,
    num_hidden_layers: int,
    num_attention_layers: int | None = None,
    num_nextn_predict_layers: int | None = None,
    architecture: str = "",
    is_draft_worker: bool = False,
    stage: tuple[int, int] | None = None,
    pp_size: int = 1,
    loop_num: int = 1,
) -> LayerIndices:
    """num_attention_layers: where it is not the number of layers (a layer may attend twice). stage: first and one past
    the last layer, as the model on this rank has them. loop_num: how often a model goes through its layers in one pass.

    Raises BadConfig for a draft over stages, for an MTP draft that says no number, and for a stage that is none."""
    if num_hidden_layers < 1 or loop_num < 1 or pp_size < 1:
        raise BadConfig(
            f"{num_hidden_layers} layers, {loop_num} loops, {pp_size} stages", fix="each has to be at least 1"
        )
    total = max(num_hidden_layers, num_attention_layers or 0)
    is_mtp = is_draft_worker and architecture in (*MTP_ARCHITECTURES, *ONE_LAYER_MTP)
    if is_draft_worker and pp_size > 1:
        raise BadConfig("a draft model over several stages", fix="use pp_size=1 with a draft model")
    if is_mtp:
        total = 1 if architecture in ONE_LAYER_MTP else _needed(num_nextn_predict_layers, architecture)
        return LayerIndices(0, total, total * loop_num)
    start, end = (0, total) if stage is None else stage
    if not 0 <= start < end <= total:
        raise BadConfig(f"layers {start} to {end} of {total}", fix="use no more stages than layers")
    if stage is None and pp_size > 1:
        raise BadConfig(f"{pp_size} stages, and the model does not say which layers it has", fix="use pp_size=1")
    return LayerIndices(start, end, (end - start) * loop_num)


def _needed(count: int | None, architecture: str) -> int:
    if not count:
        raise BadConfig(f"{architecture} does not say num_nextn_predict_layers", fix="use another draft model")
    return count


def hybrid_layer_ids(windows: list[int], *, start_layer: int, end_layer: int) -> tuple[list[int], list[int]]:
    """Layers of a stage that look back a window only, and those that see everything, by their numbers in the whole
    model. windows: of every layer of the model; 0: it sees everything. The end is not the stage's own."""
    ids = range(start_layer, end_layer)
    return [each for each in ids if windows[each]], [each for each in ids if not windows[each]]
