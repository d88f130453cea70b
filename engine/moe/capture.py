"""Which experts each token of a sequence was routed to, kept by KV slot: a token that a later request finds in the
prefix cache was routed when it was first computed, and is not again. T tokens of a step, L sparse layers of this stage,
K experts of a token."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.distributed.group import Group
from engine.schema.errors import BadConfig

_SMALL = 256  # experts whose numbers fit into a byte


class RoutedExpertsCapturer:
    """num_slots: KV slots, over all blocks. layer_ids: the sparse layers of this stage."""

    def __init__(self, *, num_slots: int, layer_ids: Sequence[int], top_k: int, num_experts: int) -> None:
        self.layer_ids, self.top_k = tuple(layer_ids), top_k
        self._place = {layer: at for at, layer in enumerate(self.layer_ids)}
        dtype = torch.uint8 if num_experts <= _SMALL else torch.int16
        self._kept = torch.zeros(num_slots, len(self.layer_ids), top_k, dtype=dtype, device="cpu")
        self._slots_T: Tensor | None = None

    @property
    def num_bytes(self) -> int:
        return self._kept.numel() * self._kept.element_size()

    def begin_step(self, slots_T: Tensor) -> None:
        """slots: where the step's tokens keep their keys and values."""
        self._slots_T = slots_T.cpu()

    def capture(self, layer: int, ids_TK: Tensor) -> None:
        if self._slots_T is not None:
            self._kept[self._slots_T, self._place[layer]] = ids_TK.to("cpu", self._kept.dtype)

    def end_step(self) -> None:
        self._slots_T = None

    def routed(self, slots: Sequence[int] | Tensor) -> Tensor:
        """[tokens, L, K], of a sequence's slots in its order. A copy: the slots may be given to others."""
        return self._kept[torch.as_tensor(slots, dtype=torch.long)].to(torch.int16)


def capturer_for(
    *,
    is_wanted: bool,
    is_draft_worker: bool,
    num_slots: int,
    layer_ids: Sequence[int],
    top_k: int,
    num_experts: int,
) -> RoutedExpertsCapturer | None:
    """None for draft workers: what a draft was routed to is not what the answer was. Raises BadConfig for a model
    without experts."""
    if not is_wanted or is_draft_worker:
        return None
    if not num_experts:
        raise BadConfig("enable_return_routed_experts with a dense model", fix="leave the option out")
    return RoutedExpertsCapturer(num_slots=num_slots, layer_ids=layer_ids, top_k=top_k, num_experts=num_experts)


def over_stages(routed: Tensor, pp_group: Group, layers_of_stages: Sequence[int]) -> Tensor:
    """[tokens, all sparse layers, K], on every stage, which have to ask together. layers_of_stages: how many sparse
    layers each has."""
    if pp_group.size == 1:
        return routed
    tokens, layers, top_k = routed.shape
    padded = torch.zeros(tokens, max(layers_of_stages), top_k, dtype=torch.int32)
    padded[:, :layers] = routed
    parts = torch.split(pp_group.all_gather(padded, dim=1), max(layers_of_stages), dim=1)
    return torch.cat([part[:, :count] for part, count in zip(parts, layers_of_stages, strict=True)], dim=1).short()
