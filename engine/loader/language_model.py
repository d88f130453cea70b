"""Which part of a model makes text, where it also sees or hears."""

from __future__ import annotations

from torch import nn


def resolve_language_model(model: nn.Module) -> nn.Module:
    """The part of a model that makes text: all of it, unless it also sees or hears."""
    for name in ("language_model", "text_model", "thinker"):
        inner = getattr(model, name, None)
        if isinstance(inner, nn.Module):
            return resolve_language_model(inner)
    return model
