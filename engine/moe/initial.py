"""Where experts stand when a run begins: in order, as a file or the option itself says, or as counts of an earlier run
suggest. L layers, E logical experts, P slots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.moe.eplb_algorithm import rebalance_experts
from engine.moe.location import trivial_map
from engine.schema.errors import BadConfig

_MAP, _COUNTS = "physical_to_logical_map", "logical_count"


def placement(
    given: str,
    *,
    num_layers: int,
    num_logical: int,
    num_redundant: int,
    ep_size: int,
    num_nodes: int = 1,
    num_groups: int = 1,
    algorithm: str = "auto",
) -> Tensor:
    """[L, P]. given: `trivial`; a .pt or .json file; or JSON. Either holds `physical_to_logical_map`, the placement, or
    `logical_count`, [L, E], from which one is made; recordings are such files. Raises BadConfig."""
    trivial = trivial_map(num_layers, num_logical, num_redundant)
    if given == "trivial":
        return trivial
    held = _read(given)
    if held.get(_MAP) is not None and held.get(_COUNTS) is None:
        made = _table(held[_MAP], given)
        if made.shape != trivial.shape:
            raise BadConfig(
                f"init_expert_location: a placement of {tuple(made.shape)}, needed is {tuple(trivial.shape)}",
                fix="it is of another model, or another ep_num_redundant_experts",
            )
        return made
    if held.get(_COUNTS) is None:
        raise BadConfig(f"init_expert_location holds neither {_MAP} nor {_COUNTS}", fix="give one of them")
    counts = _table(held[_COUNTS], given)
    if counts.shape != (num_layers, num_logical):
        raise BadConfig(
            f"init_expert_location: counts of {counts.shape[0]} layers and {counts.shape[-1]} experts, the model has"
            f" {num_layers} and {num_logical}",
            fix="give a recording of this model",
        )
    return rebalance_experts(
        counts,
        num_physical=num_logical + num_redundant,
        ep_size=ep_size,
        num_groups=num_groups,
        num_nodes=num_nodes,
        algorithm=algorithm,
    )


def _read(given: str) -> Mapping[str, Any]:
    if given.endswith((".pt", ".json")):
        try:
            if given.endswith(".pt"):
                held = torch.load(given, weights_only=True)
            else:
                held = json.loads(Path(given).read_text(encoding="utf-8"))
        except Exception as error:  # torch.load has a dozen ways to say that a file is none
            raise BadConfig(f"init_expert_location={given!r} can't be read: {error}", fix="see the file") from error
    else:
        try:
            held = json.loads(given)
        except ValueError as error:
            raise BadConfig(
                f"init_expert_location={given!r}", fix="give trivial, a .pt or .json file, or JSON"
            ) from error
    if not isinstance(held, Mapping):
        raise BadConfig(f"init_expert_location holds a {type(held).__name__}", fix="give names and tables")
    return held


def _table(given: Any, source: str) -> Tensor:
    try:
        made = torch.as_tensor(given)
    except (TypeError, ValueError) as error:
        raise BadConfig(f"init_expert_location={source!r}: no table of numbers", fix="give rows of numbers") from error
    if made.ndim != 2 or made.is_complex():
        raise BadConfig(f"init_expert_location={source!r}: no table of numbers", fix="give one row a layer")
    return made
