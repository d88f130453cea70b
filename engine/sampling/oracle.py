"""A sampler that needs no model: the token at a position is a hash of request and position. Under it, faults of KV and
scheduling show as wrong tokens, at any load."""

from __future__ import annotations

import hashlib

_MASK = 2**64 - 1


def splitmix64(value: int) -> int:
    """A 64-bit mix. Source: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def oracle_token(request: int, position: int, vocab_size: int) -> int:
    """What the oracle answers."""
    return splitmix64((request ^ position) & _MASK) % vocab_size


def oracle_id(request_id: str, index: int) -> int:
    """What the oracle knows a choice of a request by."""
    return int.from_bytes(hashlib.blake2b(f"{request_id}/{index}".encode(), digest_size=8).digest(), "big")
