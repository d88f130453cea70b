"""What a confined worker does for one pair: unpack both trees, prove, pack the result."""

from __future__ import annotations

import gc

import msgspec
from msgspec import Struct

from codemods.prove.options import ProveOptions
from codemods.prove.packed import NeedFile, Packed
from codemods.schema.prove import Pair, PairKind, PairResult


class Asked(Struct, frozen=True):
    """One pair and what it is proved on. trees: a `Packed`, encoded; its digest lets a worker keep it."""

    pair: Pair
    options: ProveOptions
    trees: bytes
    digest: str


class Answered(Struct, frozen=True):
    """A result, or the files that are needed for one."""

    result: PairResult | None = None
    needs: tuple[str, ...] = ()


class _Kept:
    digest = ""
    packed: Packed | None = None


def prove_task(payload: bytes) -> bytes:
    """Asked, encoded, to Answered, encoded."""
    asked = msgspec.msgpack.decode(payload, type=Asked)
    return msgspec.msgpack.encode(answer(asked))


def answer(asked: Asked) -> Answered:
    """The result of one pair, in this process."""
    from codemods.prove import opaque, settle
    from codemods.prove.sides import Side
    from codemods.prove.stable import Twins

    if _Kept.digest != asked.digest or _Kept.packed is None:
        _Kept.packed = msgspec.msgpack.decode(asked.trees, type=Packed)
        _Kept.digest = asked.digest
    packed = _Kept.packed
    gc.disable()  # terms live as long as the pair; the collector would walk them again and again
    try:
        old, new = Side("old", packed.file_set("old")), Side("new", packed.file_set("new"))
        twins = Twins(old, new, packed.changed)
        return Answered(result=_proved(twins, asked))
    except NeedFile as need:
        return Answered(needs=(need.path,))
    finally:
        opaque.forget()
        settle.forget()
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
