"""The table of transforms by name. Each is loaded when a plan first needs it: a run pays only for what it does."""

from __future__ import annotations

from importlib import import_module

from codemods.transforms.transform import Transform

NAMES = (
    "extract_function",
    "inline_function",
    "make_static",
    "move_definition",
    "redirect_attribute",
    "rename",
    "result_struct",
    "split_method",
)


def transform(name: str) -> Transform:
    """The transform of that name. Raises KeyError for one that does not exist."""
    if name not in NAMES:
        raise KeyError(name)
    found = import_module(f"codemods.transforms.{name}").TRANSFORM
    assert isinstance(found, Transform)
    return found
