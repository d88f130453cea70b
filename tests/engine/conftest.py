"""What a test of the engine leaves of its environment: nothing. Commands and ranks set variables for the processes that
they start, and a test that runs one in this process would set them for every test behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

_OURS = ("ENGINE_", "LOCAL_SIZE", "GLOO_")


@pytest.fixture(autouse=True)
def _environment_as_before() -> Iterator[None]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(_OURS)}
    yield
    for name in [each for each in os.environ if each.startswith(_OURS) and each not in kept]:
        del os.environ[name]
    os.environ.update(kept)
