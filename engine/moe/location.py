"""Which logical expert stands in which physical slot of which rank, layer by layer, and the other way round: the maps,
how they are made and how they change in place. Which placement is good is decided in eplb_algorithm.py. L layers, E
logical experts, P physical ones (slots of all ranks), X copies at most."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.schema.errors import BadConfig


class ExpertLocationMetadata:
    """physical_to_logical_map: [L, P]. logical_to_all_physical_map: [L, E, X], filled up with -1.
    logical_to_all_physical_map_num_valid: [L, E], how many of them are. logical_to_rank_dispatch_physical_map: [L, E],
    the copy that this rank uses where it always uses the same one. Slot p is on rank p // (P / ep_size). active_ranks:
    slots of the others are no copies. The tensors stay where they are, whatever moves."""

    def __init__(
        self,
        physical_to_logical_map: Tensor,
        *,
        num_logical_experts: int,
        ep_size: int,
        ep_rank: int,
        num_nodes: int = 1,
        active_ranks: Sequence[bool] | None = None,
    ) -> None:
        self.num_layers, self.num_physical_experts = physical_to_logical_map.shape
        self.num_logical_experts, self.ep_size, self.ep_rank = num_logical_experts, ep_size, ep_rank
        self.num_nodes = num_nodes
        _check_sizes(self.num_physical_experts, num_logical_experts, ep_size, num_nodes)
        copies = self.num_physical_experts - num_logical_experts + 1
        shape = self.num_layers, num_logical_experts
        self._rows: list[list[int]] = physical_to_logical_map.tolist()
        self.physical_to_logical_map = physical_to_logical_map.to(torch.long).clone()
        self.logical_to_all_physical_map = torch.full((*shape, copies), -1)
        self.logical_to_all_physical_map_num_valid = torch.zeros(shape, dtype=torch.long)
        self.logical_to_rank_dispatch_physical_map = torch.full(shape, -1)
        self.active_ranks = [True] * ep_size if active_ranks is None else list(active_ranks)
        self._fill(range(self.num_layers))

    @property
    def num_local_physical_experts(self) -> int:
        return self.num_physical_experts // self.ep_size

    @property
    def num_redundant_experts(self) -> int:
        return self.num_physical_experts - self.num_logical_experts

    def rank_of(self, physical: int) -> int:
        return physical // self.num_local_physical_experts

    def local(self, layer: int, ep_rank: int | None = None) -> list[int]:
        """The logical experts in a rank's slots, in order; this rank's where none is named."""
        rank, count = self.ep_rank if ep_rank is None else ep_rank, self.num_local_physical_experts
        return self._rows[layer][rank * count : (rank + 1) * count]

    def missing(self, layer: int) -> list[int]:
        """Logical experts without a copy on an active rank."""
        lacking: list[int] = (self.logical_to_all_physical_map_num_valid[layer] == 0).nonzero().flatten().tolist()
        return lacking

    def update(
        self,
        physical_to_logical_map: Tensor,
        *,
        layer_ids: Sequence[int] | None = None,
        active_ranks: Sequence[bool] | None = None,
    ) -> None:
        """Another placement, in place: of some layers, or of all. Raises BadConfig for one of other sizes."""
        if physical_to_logical_map.shape != self.physical_to_logical_map.shape:
            raise BadConfig(
                f"a placement of {tuple(physical_to_logical_map.shape)} over"
                f" {tuple(self.physical_to_logical_map.shape)}",
                fix="give one slot for every physical expert of every layer",
            )
        if active_ranks is not None:
            self.active_ranks = list(active_ranks)
        ids = range(self.num_layers) if layer_ids is None else layer_ids
        for layer in ids:
            self._rows[layer] = physical_to_logical_map[layer].tolist()
        self._fill(range(self.num_layers) if active_ranks is not None else ids)

    def refresh(self) -> None:
        """Writes all maps anew: their memory may have been given back, and taken again as zeros, with the weights'."""
        self._fill(range(self.num_layers))

    def _fill(self, layer_ids: Sequence[int]) -> None:
        known: dict[tuple[int, ...], tuple[Tensor, Tensor, Tensor]] = {}
        for layer in layer_ids:
            row = tuple(self._rows[layer])
            self.physical_to_logical_map[layer] = torch.tensor(row)
            if row not in known:
                known[row] = self._maps(row)
            copies, counts, chosen = known[row]
            self.logical_to_all_physical_map[layer] = copies
            self.logical_to_all_physical_map_num_valid[layer] = counts
            self.logical_to_rank_dispatch_physical_map[layer] = chosen

    def _maps(self, row: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
        slots: list[list[int]] = [[] for _ in range(self.num_logical_experts)]
        for physical, logical in enumerate(row):
            if not 0 <= logical < self.num_logical_experts:
                raise BadConfig(
                    f"expert {logical} in a slot, of {self.num_logical_experts}", fix="name logical experts from 0"
                )
            if self.active_ranks[self.rank_of(physical)]:
                slots[logical].append(physical)
        nowhere = [logical for logical, found in enumerate(slots) if not found]
        if nowhere and all(self.active_ranks):
            raise BadConfig(f"expert {nowhere[0]} stands nowhere", fix="give every logical expert a slot")
        copies = torch.full(self.logical_to_all_physical_map.shape[1:], -1)
        slots = [found[: copies.shape[1]] for found in slots]  # more only where others stand nowhere
        for logical, found in enumerate(slots):
            copies[logical, : len(found)] = torch.tensor(found, dtype=torch.long)
        chosen = [self._nearest(logical, found) for logical, found in enumerate(slots)]
        return copies, torch.tensor([len(each) for each in slots]), torch.tensor(chosen)

    def _nearest(self, logical: int, slots: Sequence[int]) -> int:
        """The copy that this rank uses: its own, else one of its node, else one that is dealt to it so that all copies
        serve as many ranks as each other. Every rank deals alike."""
        if not slots:
            return -1
        per_node = self.ep_size // self.num_nodes
        near = [[each for each in slots if self.rank_of(each) == rank] for rank in range(self.ep_size)]
        for rank in range(self.ep_size):
            mates = [each for each in slots if self.rank_of(each) // per_node == rank // per_node]
            near[rank] = near[rank] or mates
        lone = [rank for rank in range(self.ep_size) if not near[rank]]
        if near[self.ep_rank]:
            return near[self.ep_rank][self.ep_rank % len(near[self.ep_rank])]
        dealt = [slots[at % len(slots)] for at in range(len(lone))]
        random.Random(logical).shuffle(dealt)
        return dealt[lone.index(self.ep_rank)]


def _check_sizes(num_physical: int, num_logical: int, ep_size: int, num_nodes: int) -> None:
    if num_physical < num_logical:
        raise BadConfig(f"{num_physical} slots for {num_logical} experts", fix="give at least as many")
    if num_physical % ep_size:
        raise BadConfig(
            f"{num_physical} experts, redundant ones counted, over {ep_size} ranks",
            fix="change ep_num_redundant_experts so that they can be shared out evenly",
        )
    if ep_size % num_nodes:
        raise BadConfig(f"{ep_size} ranks over {num_nodes} nodes", fix="start as many ranks on each node")


def trivial_map(num_layers: int, num_logical: int, num_redundant: int) -> Tensor:
    """[L, P]: the experts in order, then from the first one on again."""
    return (torch.arange(num_logical + num_redundant) % num_logical).repeat(num_layers, 1)
