"""Small things that several parts of the engine need."""

from __future__ import annotations

import random
from typing import List


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def format_mib(value: float) -> str:
    return f"{value:.2f} MiB"


def set_random_seed(seed: int) -> random.Random:
    """A generator of our own: the global one belongs to whoever embeds the engine."""
    return random.Random(seed)


def split_evenly(total: int, parts: int) -> List[int]:
    if total % parts:
        raise ValueError(f"{total} does not divide by {parts}")
    return [total // parts] * parts
