"""What the text of a line that may store an attribute says of the receiver. Which lines may do so, and what the
receiver is, is for others to find out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_TUPLE_START = re.compile(rb"[ \t(]*(?:[\w.]+,[ \t]*)*")
_TUPLE_END = re.compile(rb"[ \t]*\)[ \t]*=(?!=)")
# What may stand before a target: nothing, another statement, another target, the head of a block.
_BEFORE = re.compile(
    rb"\s*(?:.*[;=]\s*|(?:if|elif|while|for|with|else|try|finally|except)\b.*:\s*|\(?\s*(?:[\w.]+\s*,\s*)+)?"
)
_WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_BY_TEXT = re.compile(rb"(?:setattr\w*|delattr\w*)\(\s*([\w.]+)\s*,|([\w.]+)\.__dict__")
_CHAIN = re.compile(rb"[\w.]*(?:\(\)|\[[^\[\]]*\])*\Z")


def receiver_of(line: bytes, match: re.Match[bytes], from_here: Callable[[], Sequence[bytes]]) -> str | None:
    """The receiver of a store as the line has it; None when it is no store after all. match: of what may be the store.
    from_here: the line and those behind it."""
    text = match[0]
    if text.startswith((b"setattr", b"delattr", b"__dict__")):
        by_text = _BY_TEXT.search(line)
        return (by_text[1] or by_text[2]).decode("utf-8", "replace") if by_text is not None else ""
    if text.startswith((b"for", b"as", b"del")):
        target = text.rpartition(b".")[0]
        return None if re.search(rb"\bin\b", target) else _CHAIN.search(target)[0].decode("utf-8", "replace")  # type: ignore[index]
    before = line[: match.start()]
    chain = _CHAIN.search(before)
    receiver = chain[0] if chain is not None else b""
    rest = before[: len(before) - len(receiver)]
    is_whole_line = b"=" not in text
    if is_whole_line and not (_TUPLE_START.fullmatch(rest) and _is_tuple(from_here()[:40])):
        return None
    if b"#" in before or (_BEFORE.fullmatch(rest) is None and not is_whole_line):
        return None
    if b"," in text and _TUPLE_START.fullmatch(rest) is None:
        return None
    if text[1:].lstrip(_WORD).lstrip().startswith(b":") and rest.strip():
        return None
    return receiver.decode("utf-8", "replace")


def _is_tuple(lines: Sequence[bytes]) -> bool:
    """Whether the first line is part of a target that goes over several lines."""
    if not any(_TUPLE_END.match(line) is not None for line in lines[1:]):
        return False
    after = b"\n".join(lines)[len(lines[0]) :]
    return re.match(rb"[\w.,\s\[\]]*\)[ \t]*=(?!=)", after) is not None
