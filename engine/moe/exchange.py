"""Rows of tokens to the ranks whose experts they ask for, and what the experts gave back to where the tokens are. A
rank that owns several of a token's experts gets the token once. T tokens here, K places of each, R rows that came here,
D width, N ranks of the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.distributed.group import Group


class Dispatched(NamedTuple):
    """rows_RD: tokens of all ranks, in the order of the ranks. slots_RK: which slots of this rank each asks for; -1
    where a place is another rank's. The rest says how to send the answers back."""

    rows_RD: Tensor
    slots_RK: Tensor
    sent: tuple[int, ...]
    received: tuple[int, ...]
    asked: tuple[int, ...]  # answers that each rank has for this one
    places: Tensor  # of the answers that come back, in their order


def dispatch(x_TD: Tensor, physical_TK: Tensor, group: Group, *, num_local: int, owners: Sequence[int]) -> Dispatched:
    """num_local: slots of each rank. owners: of every rank that experts are shared out over, its rank within the group;
    -1 where it is gone. Every rank of the group has to call this, also those without a token."""
    owner_TK = torch.tensor(owners)[physical_TK // num_local]
    assert bool((owner_TK >= 0).all()), "a place asks for an expert of a rank that is gone"
    ranks = torch.arange(group.size)
    asks_NTK = owner_TK == ranks[:, None, None]
    pairs = asks_NTK.any(-1).nonzero()  # by rank, then by token
    sent = torch.bincount(pairs[:, 0], minlength=group.size)
    tokens = pairs[:, 1]
    slots = torch.where(asks_NTK[pairs[:, 0], tokens], (physical_TK % num_local)[tokens], -1)
    received = group.all_to_all(sent, [1] * group.size, [1] * group.size)
    counts = tuple(sent.tolist()), tuple(received.tolist())
    asked = tuple(asks_NTK.sum((1, 2)).tolist())
    came = group.all_to_all(_packed(x_TD[tokens], slots), *counts)
    rows_RD, slots_RK = _unpacked(came, x_TD.shape[1], x_TD.dtype)
    return Dispatched(rows_RD, slots_RK, *counts, asked, asks_NTK.flatten(1).nonzero()[:, 1])


def combine(made_RKD: Tensor, dispatched: Dispatched, group: Group, *, num_tokens: int) -> Tensor:
    """[T, K, D]: of each place what its expert gave, wherever that is. Summed up by the caller, so that the bits do not
    depend on which rank an expert stands on."""
    is_ours_RK = dispatched.slots_RK >= 0
    per_row = is_ours_RK.sum(-1)
    ends = torch.tensor(dispatched.received).cumsum(0)
    totals = torch.cat([per_row.new_zeros(1), per_row.cumsum(0)])
    answers = (totals[ends] - totals[ends - torch.tensor(dispatched.received)]).tolist()
    width, top = made_RKD.shape[-1], dispatched.slots_RK.shape[1]
    came = group.all_to_all(made_RKD[is_ours_RK], answers, dispatched.asked)
    out = torch.empty(num_tokens * top, width, dtype=made_RKD.dtype)
    out[dispatched.places] = came
    return out.view(num_tokens, top, width)


def _packed(rows_RD: Tensor, slots_RK: Tensor) -> Tensor:
    """Both in one message."""
    parts = rows_RD.contiguous().view(torch.uint8), slots_RK.int().contiguous().view(torch.uint8)
    return torch.cat(parts, dim=1)


def _unpacked(came: Tensor, width: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    at = width * dtype.itemsize
    rows, slots = came[:, :at].contiguous(), came[:, at:].contiguous()
    return rows.view(dtype), slots.view(torch.int32).long()
