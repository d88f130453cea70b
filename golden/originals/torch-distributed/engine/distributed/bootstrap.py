"""How a rank gets from nothing to its groups: its device, its backend, the place where ranks meet, what is free before
the model is loaded. What a group does is group.py, which ranks are in it is layout.py."""

from __future__ import annotations
