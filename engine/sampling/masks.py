"""Masks of tokens as packed bits, as grammars give them and messages carry them, to tensors. V vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor


def unpack(bits: bytes, vocab_size: int) -> Tensor:
    """Bool [V]; tokens beyond the bits are False."""
    packed = torch.frombuffer(bytearray(bits), dtype=torch.uint8)
    flags = (packed[:, None] >> torch.arange(8, dtype=torch.uint8)) & 1
    made = flags.flatten()[:vocab_size].bool()
    return torch.nn.functional.pad(made, (0, vocab_size - len(made)))
