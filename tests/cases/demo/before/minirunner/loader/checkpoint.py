"""Checkpoints: eight bytes of header length, a JSON header, then the weights as little-endian 32-bit integers."""

from __future__ import annotations

import array
import json
import random
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

Matrix = List[List[int]]


def read_header(path: str) -> Dict[str, Any]:
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length))


def iterate_weights(path: str) -> Iterator[Tuple[str, Matrix]]:
    raw = Path(path).read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    for name, entry in header["tensors"].items():
        rows, cols = entry["shape"]
        start = 8 + length + entry["offset"]
        values = array.array("i", raw[start : start + rows * cols * 4])
        if len(values) != rows * cols:
            raise ValueError(f"{path}: {name} is cut off")
        if sys.byteorder == "big":
            values.byteswap()
        yield name, [list(values[row * cols : (row + 1) * cols]) for row in range(rows)]


def write_checkpoint(path: str, config: Dict[str, int], weights: Dict[str, Matrix]) -> None:
    tensors, blob = {}, b""
    for name, matrix in weights.items():
        tensors[name] = {"shape": [len(matrix), len(matrix[0])], "offset": len(blob)}
        values = array.array("i", [value for row in matrix for value in row])
        if sys.byteorder == "big":
            values.byteswap()
        blob += values.tobytes()
    header = json.dumps({"config": config, "tensors": tensors}).encode()
    Path(path).write_bytes(len(header).to_bytes(8, "little") + header + blob)


def write_random_checkpoint(path: str, vocab_size: int = 32, hidden_size: int = 6, num_layers: int = 2, seed: int = 7):
    """A model that has learned nothing, the same one for the same seed."""
    rng = random.Random(seed)

    def matrix(rows: int, cols: int) -> Matrix:
        return [[rng.randrange(1, 100) for _ in range(cols)] for _ in range(rows)]

    weights = {"embed": matrix(vocab_size, hidden_size), "lm_head": matrix(vocab_size, hidden_size)}
    for layer in range(num_layers):
        weights[f"layers.{layer}.mix"] = matrix(hidden_size, hidden_size)
    write_checkpoint(path, {"vocab_size": vocab_size, "hidden_size": hidden_size, "num_layers": num_layers}, weights)
