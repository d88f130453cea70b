"""How a step is called in a profile. What takes the profile is host/profiling.py."""

from __future__ import annotations
