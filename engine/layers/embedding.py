"""The table of token vectors, its rows shared out over the ranks, and the output product, which may use the same table.
T tokens, D width, V vocabulary of this rank."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - the name that everybody knows
from torch import Tensor, nn

from engine.distributed.group import Group


def rows_of_rank(vocab_size: int, group: Group) -> tuple[int, int]:
    """First row and number of rows; the vocabulary is padded to a multiple of the ranks."""
    rows = -(-vocab_size // group.size)
    return group.rank * rows, rows


class Embedding(nn.Module):
    """Rows beyond the vocabulary are zero."""

    def __init__(self, vocab_size: int, width: int, *, group: Group, dtype: torch.dtype) -> None:
        super().__init__()
        self.first, self.rows = rows_of_rank(vocab_size, group)
        self.group = group
        self.weight = nn.Parameter(torch.zeros(self.rows, width, dtype=dtype), requires_grad=False)

    def forward(self, tokens_T: Tensor) -> Tensor:
        if self.group.size == 1:
            return F.embedding(tokens_T, self.weight)
        local = tokens_T - self.first
        is_ours = (local >= 0) & (local < self.rows)
        found = F.embedding(local.clamp(0, self.rows - 1), self.weight) * is_ours[:, None]
        return self.group.all_reduce(found)
