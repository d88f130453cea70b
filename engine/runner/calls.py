"""What a runner does for others besides steps: the methods that may be asked for by name, on every rank."""

from __future__ import annotations

CALLS: frozenset[str] = frozenset({"describe"})
