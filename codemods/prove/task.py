"""What a confined worker does for one pair: unpack both trees, prove, see that the prover is still itself, pack the
result."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from codemods.prove.confine import Refused
from codemods.prove.options import ProveOptions
from codemods.prove.packed import Pack, PackedTree
from codemods.prove.traced import Answer
from codemods.schema.prove import Pair, PairKind, PairResult
from codemods.source.files import FileSet

if TYPE_CHECKING:
    from codemods.prove.seal import Seal


class Asked(Struct, frozen=True):
    """One pair and the pack (packed.py) of what it is proved on."""

    pair: Pair
    options: ProveOptions
    pack: str


class _Kept:
    """The pack that a worker was given last: pairs of one run share it. Its seal, which is renewed."""

    path = ""
    pack: Pack | None = None
    seal: Seal | None = None


def prove_task(payload: bytes) -> bytes:
    """Asked, encoded, to Answer, encoded. Raises Refused for a subject that changed what judges it."""
    from codemods.prove import others, prover  # noqa: F401 -- loaded before the seal is taken
    from codemods.prove.seal import Seal

    asked = msgspec.msgpack.decode(payload, type=Asked)
    if _Kept.seal is None:
        _Kept.seal = Seal()
    _Kept.seal.renew()
    broken, encode = _Kept.seal.broken, msgspec.msgpack.Encoder().encode
    try:
        result = encode(traced(asked))
    finally:
        what = broken()
        if what:
            raise Refused(f"it replaced {what}, which the prover runs on: nothing that it found counts")
    return result


def answer(asked: Asked) -> PairResult:
    """The result of one pair, in this process."""
    return traced(asked).result


def traced(asked: Asked) -> Answer:
    """The result of one pair, in this process, with what was read for it."""
    from codemods.prove import opaque
    from codemods.prove.sides import Side
    from codemods.prove.stable import Twins

    if _Kept.path != asked.pack or _Kept.pack is None:
        _Kept.pack, _Kept.path = Pack(Path(asked.pack)), asked.pack
    pack = _Kept.pack
    gc.disable()  # terms live as long as the pair; the collector would walk them again and again
    try:
        files = pack.file_set("old"), pack.file_set("new")
        old, new = Side("old", files[0]), Side("new", files[1])
        result = _proved(Twins(old, new, pack.index.changed), asked)
        return Answer(result=result, old=_touched(files[0]), new=_touched(files[1]))
    finally:
        opaque.forget()
        gc.enable()
        gc.collect()


def _touched(files: FileSet) -> tuple[str, ...]:
    assert isinstance(files.base, PackedTree)
    return tuple(sorted(files.base.touched))


def _proved(twins: object, asked: Asked) -> PairResult:
    from codemods.prove.prover import prove_pair
    from codemods.prove.stable import Twins

    assert isinstance(twins, Twins)
    if asked.pair.kind is PairKind.CALLABLE:
        return prove_pair(twins, asked.pair, asked.options)
    from codemods.prove.others import prove_other

    return prove_other(twins, asked.pair, asked.options)
