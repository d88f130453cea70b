"""What each token stands for, in bytes. The text of tokens is the decoding of their bytes put together, so that half a
character is never anybody's text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from engine.schema.errors import BadModel

Form = Literal["byte-level", "sentencepiece"]
_SPACE = "\u2581"


@cache
def _byte_of_char() -> dict[str, int]:
    """How byte-level vocabularies write bytes: printable Latin-1 as itself, the rest from U+0100 on, in order."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    found = {chr(each): each for each in plain}
    rest = [each for each in range(256) if each not in set(plain)]
    found.update({chr(0x100 + at): each for at, each in enumerate(rest)})
    return found


class Vocabulary:
    """special: control tokens, whose text is shown only where it is asked for. added: tokens written as themselves."""

    def __init__(self, pieces: Sequence[str], form: Form, *, special: Iterable[int], added: Iterable[int] = ()) -> None:
        self.special = frozenset(special)
        verbatim = self.special | frozenset(added)
        unpack = _from_byte_level if form == "byte-level" else _from_sentencepiece
        self.form = form
        self._bytes = [
            piece.encode() if token in verbatim else unpack(piece, token) for token, piece in enumerate(pieces)
        ]

    def __len__(self) -> int:
        return len(self._bytes)

    def bytes_of(self, token: int, *, skip_special: bool = True) -> bytes:
        """Empty for a control token that is skipped, and for an id beyond the vocabulary (models pad theirs)."""
        if not 0 <= token < len(self._bytes) or (skip_special and token in self.special):
            return b""
        return self._bytes[token]

    def text_of(self, tokens: Iterable[int], *, skip_special: bool = True) -> str:
        """The text of tokens, U+FFFD where bytes are no UTF-8."""
        whole = b"".join(self.bytes_of(each, skip_special=skip_special) for each in tokens)
        return whole.decode("utf-8", "replace")


def _from_byte_level(piece: str, token: int) -> bytes:
    table = _byte_of_char()
    try:
        return bytes([table[each] for each in piece])
    except KeyError as error:
        raise BadModel(
            f"token {token} ({piece!r}) is not in byte-level form", fix="fetch the tokenizer again"
        ) from error


def _from_sentencepiece(piece: str, token: int) -> bytes:
    del token
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        return bytes([int(piece[3:5], 16)])
    return piece.replace(_SPACE, " ").encode()
