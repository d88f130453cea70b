"""Tokens to text while they come: whole characters only, and nothing that could still turn out to be a stop text."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.text.vocabulary import Vocabulary


class Delta(NamedTuple):
    """text: new since the last one, safe to send. matched: the stop text that ended it, if any."""

    text: str
    matched: str | None = None


class Detokenizer:
    """One answer. prompt: its last tokens, whose unfinished character (if any) the answer may finish."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        stop: Sequence[str] = (),
        is_stop_kept: bool = False,
        skip_special: bool = True,
        prompt: Sequence[int] = (),
    ) -> None:
        self._vocabulary, self._skip_special = vocabulary, skip_special
        self._stop, self._is_stop_kept = tuple(stop), is_stop_kept
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._decoder.decode(_unfinished(b"".join(vocabulary.bytes_of(each) for each in prompt[-8:])))
        self._can_stop = True
        self._held = ""  # decoded, but the beginning of a stop text perhaps
        self.text = ""  # all that was given out
        self.matched: str | None = None

    @property
    def num_decoded(self) -> int:
        """Characters so far, those that are held back included: where the text of the next token begins."""
        return len(self.text) + len(self._held)

    def push(self, tokens: Iterable[int], *, can_stop: bool = True) -> Delta:
        """The text that these tokens add. After a stop text nothing more is added. can_stop: whether one may end with
        them; one that ended before is text like any other."""
        if self.matched is not None:
            return Delta("", self.matched)
        self._can_stop = can_stop
        new = b"".join(self._vocabulary.bytes_of(each, skip_special=self._skip_special) for each in tokens)
        return self._take(self._decoder.decode(new), is_last=False)

    def finish(self) -> Delta:
        """What was held back: no more tokens come."""
        if self.matched is not None:
            return Delta("", self.matched)
        return self._take(self._decoder.decode(b"", final=True), is_last=True)

    def _take(self, new: str, *, is_last: bool) -> Delta:
        text = self._held + new
        # One that is whole in what was held back ended where nothing could end it.
        found = [(text.find(each, max(len(self._held) - len(each) + 1, 0)), -len(each), each) for each in self._stop]
        hits = [hit for hit in found if hit[0] >= 0] if self._can_stop else []
        if hits:
            at, _, self.matched = min(hits)
            return self._give(text[: at + len(self.matched) if self._is_stop_kept else at], "")
        keep = 0 if is_last else self._tail(text)
        return self._give(text[: len(text) - keep], text[len(text) - keep :])

    def _give(self, text: str, held: str) -> Delta:
        self._held = held
        self.text += text
        return Delta(text, self.matched)

    def _tail(self, text: str) -> int:
        """How many of the last characters may be the beginning of a stop text."""
        longest = max((len(each) for each in self._stop), default=1) - 1
        for size in range(min(longest, len(text)), 0, -1):
            end = text[-size:]
            if any(each.startswith(end) for each in self._stop):
                return size
        return 0


def _unfinished(text: bytes) -> bytes:
    """The bytes at the end that begin a character and do not end it."""
    for size in range(1, min(3, len(text)) + 1):
        lead = text[-size]
        if lead & 0xC0 != 0x80:
            needed = 4 if lead >= 0xF0 else 3 if lead >= 0xE0 else 2 if lead >= 0xC0 else 1
            return text[-size:] if needed > size else b""
    return b""
