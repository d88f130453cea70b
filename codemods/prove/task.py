"""What a confined worker does for one pair: unpack both trees, prove, pack the result."""

from __future__ import annotations

import gc
from pathlib import Path

import msgspec
from msgspec import Struct

from codemods.prove.options import ProveOptions
from codemods.prove.packed import Pack
from codemods.schema.prove import Pair, PairKind, PairResult


class Asked(Struct, frozen=True):
    """One pair and the pack (packed.py) of what it is proved on."""

    pair: Pair
    options: ProveOptions
    pack: str


class _Kept:
    """The pack that a worker was given last: pairs of one run share it."""

    path = ""
    pack: Pack | None = None


def prove_task(payload: bytes) -> bytes:
    """Asked, encoded, to PairResult, encoded."""
    asked = msgspec.msgpack.decode(payload, type=Asked)
    return msgspec.msgpack.encode(answer(asked))


def answer(asked: Asked) -> PairResult:
    """The result of one pair, in this process."""
    from codemods.prove import opaque
    from codemods.prove.sides import Side
    from codemods.prove.stable import Twins

    if _Kept.path != asked.pack or _Kept.pack is None:
        _Kept.pack, _Kept.path = Pack(Path(asked.pack)), asked.pack
    pack = _Kept.pack
    gc.disable()  # terms live as long as the pair; the collector would walk them again and again
    try:
        old, new = Side("old", pack.file_set("old")), Side("new", pack.file_set("new"))
        return _proved(Twins(old, new, pack.index.changed), asked)
    finally:
        opaque.forget()
        gc.enable()
        gc.collect()


def _proved(twins: object, asked: Asked) -> PairResult:
    from codemods.prove.prover import prove_pair
    from codemods.prove.stable import Twins

    assert isinstance(twins, Twins)
    if asked.pair.kind is PairKind.CALLABLE:
        return prove_pair(twins, asked.pair, asked.options)
    from codemods.prove.others import prove_other

    return prove_other(twins, asked.pair, asked.options)
