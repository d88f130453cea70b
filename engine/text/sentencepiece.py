"""An encoder for vocabularies that sentencepiece trained by merging pairs, from pieces and scores alone, as GGUF files
of the kind `llama` carry them: neighbours are merged whose union has the best score; characters without a piece become
bytes.

Spaces are written as U+2581. Pieces that users defined are found in the text before anything else, the longest
first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SPACE = "\u2581"
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
    return [
        (piece[:at], piece[at:])
        for piece in sorted(score_of, key=lambda each: -score_of[each])
        for at in range(len(piece) - 1, 0, -1)
        if piece[:at] in score_of and piece[at:] in score_of
    ]
