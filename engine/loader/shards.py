"""Which files hold the weights of a checkpoint, and whether all of them are there. Looks at names, opens nothing but
the index."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from engine.schema.errors import BadModel

INDEX = "model.safetensors.index.json"
_SHARD = re.compile(r"-(\d+)-of-(\d+)\.[^.]+$")


def missing_shards(names: Sequence[str]) -> list[str]:
    """What is wrong with a set of shard names, in words; empty when all are there. Some tools count from 0, some from
    1: either is complete."""
    found = {name: match for name in names if (match := _SHARD.search(name))}
    if not found:
        return ["no name ends in -NUMBER-of-TOTAL"]
    if len(found) < len(names):
        return [f"{name} is no shard" for name in names if name not in found]
    totals = sorted({int(match[2]) for match in found.values()})
    if len(totals) > 1:
        return [f"shards of {' and of '.join(map(str, totals))} are mixed"]
    total, got = totals[0], {int(match[1]) for match in found.values()}
    start = 0 if 0 in got else 1
    return [f"number {each} of {total} is missing" for each in range(start, start + total) if each not in got]


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder, in order. Raises BadModel when some are missing or there are none."""
    index = folder / INDEX
    if index.exists():
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadModel(f"{index} is no index of weights: {error!r}", fix="fetch the model again") from error
        gone = [name for name in names if not (folder / name).is_file()]
        if gone:
            raise BadModel(f"{index} names files that are not there: {', '.join(gone)}", fix="fetch the model again")
        return [folder / name for name in names]
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise BadModel(f"{folder} holds no .safetensors file", fix="give a folder with weights, or a .gguf file")
    shards = [each.name for each in files if _SHARD.search(each.name)]
    if shards and (problems := missing_shards(shards)):
        raise BadModel(f"{folder}: {'; '.join(problems)}", fix="fetch the missing files")
    return [folder / name for name in shards] if shards else files
