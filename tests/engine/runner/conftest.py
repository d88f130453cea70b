"""Small checkpoints and what transformers answers on them, made once a session."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROMPTS = [[random.Random(1000 * n + at).randrange(199) for at in range(n)] for n in (3, 17, 40, 9, 1)]
NUM_TOKENS = 12


class Reference:
    """folder: of the checkpoint. greedy: transformers' tokens after each of PROMPTS."""

    def __init__(self, folder: Path, model: Any, greedy: list[list[int]]) -> None:
        self.folder, self.model, self.greedy = folder, model, greedy


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Reference]:
    import torch

    from tests.engine import checkpoints

    known: dict[str, Reference] = {}

    def make(family: str) -> Reference:
        if family not in known:
            folder = tmp_path_factory.mktemp(family)
            model = checkpoints.write(family, folder)
            with torch.inference_mode():
                known[family] = Reference(folder, model, [greedy(model, each) for each in PROMPTS])
        return known[family]

    return make


def greedy(model: Any, prompt: list[int], count: int = NUM_TOKENS) -> list[int]:
    """The likeliest token again and again, everything computed anew each time."""
    import torch

    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
    return tokens[len(prompt) :]
