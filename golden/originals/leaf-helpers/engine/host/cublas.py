"""The library of matrix products on NVIDIA's GPUs: what it makes at its first use is made when it does no harm."""

from __future__ import annotations
