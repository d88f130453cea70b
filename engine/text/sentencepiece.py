"""An encoder for vocabularies that sentencepiece trained by merging pairs, from pieces and scores alone, as GGUF files
of the kind `llama` carry them: neighbours are merged whose union has the best score; characters without a piece become
bytes.

Spaces are written as U+2581. Pieces that users defined are found in the text before anything else, the longest
first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SPACE = "\u2581"
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_TABLE_BITS = 22
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6  # types of pieces, as GGUF counts them


def encoder(
    pieces: Sequence[str], scores: Sequence[float], types: Sequence[int], *, unknown_id: int | None, has_prefix: bool
) -> Any:
    """An encoder of the library tokenizers. has_prefix: text begins as if a space stood before it."""
    from tokenizers import Tokenizer, normalizers
    from tokenizers.models import BPE

    made = Tokenizer(
        BPE(
            vocab={piece: at for at, piece in enumerate(pieces)},
            merges=merges(pieces, scores, types),
            unk_token=pieces[unknown_id] if unknown_id is not None else None,
            fuse_unk=True,
            byte_fallback=BYTE in types,
        )
    )
    with_spaces = normalizers.Replace(" ", _SPACE)
    prefix = [normalizers.Prepend(_SPACE)] if has_prefix else []
    made.normalizer = normalizers.Sequence([*prefix, with_spaces])
    return made


def merges(pieces: Sequence[str], scores: Sequence[float], types: Sequence[int]) -> list[tuple[str, str]]:
    """Every way to put a piece together from two others, the best score first; of one piece, the longer first part
    first."""
    score_of = {
        piece: score for piece, score, kind in zip(pieces, scores, types, strict=True) if kind in (NORMAL, UNKNOWN)
    }
    known = sorted(score_of, key=lambda each: -score_of[each])
    return [
        (known[first], known[second])
        for whole, first, second in _splits(known)
        if known[first] + known[second] == known[whole]
    ]


def _splits(known: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """A piece, and two that it may fall into, by their places in the list: in its order, the longer first part first.
    Found by hashes of all beginnings and ends at once: of a million and a half places in Gemma's pieces a third are
    cuts, and to cut and look up every text takes seconds."""
    if not known:
        return
    lengths = np.fromiter(map(len, known), dtype=np.int64, count=len(known))
    codes = np.frombuffer("".join(known).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(known)), lengths)
    place = np.arange(len(codes)) - starts[owner]
    most = int(lengths.max(initial=0))
    forth = np.cumprod(np.full(most + 1, _FACTOR), dtype=np.uint64)
    back = np.cumprod(np.full(most + 1, pow(int(_FACTOR), -1, 1 << 64), dtype=np.uint64), dtype=np.uint64)
    # Sums up to each character, of character times factor to the power of its place: differences are hashes of parts.
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum((codes + np.uint64(1)) * forth[place], dtype=np.uint64)))
    ends = sums[starts + lengths]
    hashes = ends - sums[starts]
    find = _Finder(hashes)
    inner = np.flatnonzero(place)[::-1]  # where a second part may begin
    first = find(sums[inner] - sums[starts[owner[inner]]])
    inner, first = inner[first >= 0], first[first >= 0]
    second = find((ends[owner[inner]] - sums[inner]) * back[place[inner] - 1])
    whole, first, second = (each[second >= 0] for each in (owner[inner], first, second))
    order = np.argsort(whole, kind="stable")
    yield from zip(*(each[order].tolist() for each in (whole, first, second)), strict=True)


class _Finder:
    """Where in a list each of many hashes stands, -1 for one that is not there. A table by some bits of them; the few
    that share a place there with another are looked for by halving."""

    def __init__(self, hashes: NDArray[np.uint64]) -> None:
        self._hashes = hashes
        self._table = np.zeros(1 << _TABLE_BITS, dtype=np.int32)
        self._table[self._slot(hashes)] = np.arange(len(hashes))
        hidden = np.flatnonzero(hashes[self._table[self._slot(hashes)]] != hashes)
        self._hidden = hidden[np.argsort(hashes[hidden])]

    def __call__(self, wanted: NDArray[np.uint64]) -> NDArray[np.int64]:
        found = self._table[self._slot(wanted)].astype(np.int64)
        missed = np.flatnonzero(self._hashes[found] != wanted)
        found[missed] = -1
        if len(self._hidden):
            near = np.searchsorted(self._hashes[self._hidden], wanted[missed]) % len(self._hidden)
            again = self._hidden[near]
            found[missed] = np.where(self._hashes[again] == wanted[missed], again, -1)
        return found

    @staticmethod
    def _slot(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The upper bits: the lower ones of a product depend on the lower ones of its factors alone."""
        made: NDArray[np.uint64] = (hashes * _FACTOR) >> np.uint64(64 - _TABLE_BITS)
        return made
