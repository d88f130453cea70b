"""Which Python files may name something in a string: a byte search that is coarse but misses nothing strings.py finds.

Only what it lets through is parsed."""

from __future__ import annotations

import re

from codemods.source.files import FileSet
from codemods.source.index import has_word, mentioning

_LOOKUPS = tuple(word.encode() for word in ("getattr", "setattr", "hasattr", "methodcaller", "attrgetter", "delattr"))
_BOUNDARY = re.compile(r"(?<=_)(?=[^_])|(?<=[a-z0-9])(?=[A-Z])")


def naming(files: FileSet, leaf: str, before: frozenset[str], *, is_module: bool) -> list[str]:
    """Files in which the name stands in a string, or at least where a string may go on. before: the words one of which
    stands before the name in a path (classes of a member); empty when it may be any."""
    word = rb"\b" + re.escape(leaf.encode()) + rb"\b"
    owner = b"|".join(re.escape(each.encode()) for each in sorted(before)) or rb"\w"
    places = [
        rb"['\"][\w.{}:~!]*?" + word,  # right after a quote, with a dotted path or a field before it
        rb"`[~!.\w]*?" + word,  # markup
        rb">>>[^\n]*" + word,  # an example in a docstring
        rb"\.\. [\w:]+::[ \t]+[\w.]*" + word,  # a directive
        rb"(?:" + owner + rb")[.:]" + word + rb"(?:[.:]\w+)*[`'\",;)\s]",  # in prose
        rb"\\n" + word.removeprefix(rb"\b"),  # pickles
        rb"\\x\w\w" + word.removeprefix(rb"\b"),
        rb"\bmultiple\s*\(",
    ]
    if is_module:
        places.append(word + rb"[.:]\w+[`'\",;)\s]")
    pattern = re.compile(b"|".join(places))
    return [path for path in mentioning(files, leaf) if pattern.search(files.read(path))]


def spelling(files: FileSet, leaf: str) -> list[str]:
    """Files that look up attributes by a text which is put together and may come to the name.

    The fixed part of such a text ends where a word of the name ends: `f"do_{x}"`, `x + "_ping"`."""
    splits = [match.start() for match in _BOUNDARY.finditer(leaf)]
    heads = [leaf[:at] for at in splits]
    tails = [leaf[at - 1 :] if leaf[at - 1] == "_" else leaf[at:] for at in splits]
    words = [*heads, *tails, *(f"s{tail}" for tail in tails)]  # `%s_ping` has the s in front
    found = {path for word in dict.fromkeys(words) if len(word) > 1 for path in mentioning(files, word)}
    return [path for path in sorted(found) if _looks_up(files.read(path))]


def _looks_up(raw: bytes) -> bool:
    return any(has_word(raw, word) for word in _LOOKUPS)
