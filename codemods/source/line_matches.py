"""Where a pattern for the start of a line matches, in a tenth of the time that trying each line takes: only lines that
have one of the words of the pattern are tried."""

from __future__ import annotations

import re
from collections.abc import Iterator


def line_starts(raw: bytes, wanted: bytes) -> Iterator[int]:
    """Where each line starts that has these bytes."""
    at = raw.find(wanted)
    while at >= 0:
        yield raw.rfind(b"\n", 0, at) + 1
        end = raw.find(b"\n", at)
        at = raw.find(wanted, end) if end >= 0 else -1


def line_matches(pattern: re.Pattern[bytes], raw: bytes, words: tuple[bytes, ...]) -> Iterator[re.Match[bytes]]:
    """What `pattern.finditer` gives. The pattern begins with `^` (MULTILINE), and what it matches has, in its first
    line, one of the words with a blank behind it."""
    starts = {start for word in words for blank in (b" ", b"\t") for start in line_starts(raw, word + blank)}
    end = 0
    for start in sorted(starts):
        match = pattern.match(raw, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield match
