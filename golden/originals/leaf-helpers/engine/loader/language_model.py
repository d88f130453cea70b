"""Which part of a model makes text, where it also sees or hears."""

from __future__ import annotations
