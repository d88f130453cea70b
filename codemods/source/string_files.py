"""Which Python files may name something in a string: a byte search that is coarse but misses nothing strings.py finds.

Only what it lets through is parsed."""

from __future__ import annotations

import re

from codemods.source.files import FileSet
from codemods.source.index import mentioning

_LOOKUPS = ("getattr", "setattr", "hasattr", "methodcaller", "attrgetter", "delattr")
# The fixed text before the first hole and after the last one, in f-strings, `%`, `.format` and `+`.
_HEADS = re.compile(rb"['\"](\w{2,})(?:\{|%[a-z(]|['\"]\s*\+)")
_TAILS = re.compile(rb"(?:\}|%s|%\(\w+\)s|\+\s*['\"])(\w{2,})['\"]")


def naming(files: FileSet, leaf: str) -> list[str]:
    """Files in which the name stands in a string, or at least where a string may go on."""
    word = rb"\b" + re.escape(leaf.encode()) + rb"\b"
    places = (
        rb"['\"][\w.{}:~!]*?" + word,  # right after a quote, with a dotted path or a field before it
        rb"`[~!.\w]*?" + word,  # markup
        rb">>>[^\n]*" + word,  # an example in a docstring
        rb"\.\. [\w:]+::[ \t]+[\w.]*" + word,  # a directive
        rb"\w[.:]" + word + rb"(?:[.:]\w+)*[`'\",;)\s]",  # the end of a dotted path, or its beginning
        word + rb"[.:]\w+[`'\",;)\s]",
        rb"\\n" + word.removeprefix(rb"\b"),  # pickles
        rb"\\x\w\w" + word.removeprefix(rb"\b"),
        rb"\bmultiple\s*\(",
    )
    pattern = re.compile(b"|".join(places))
    return [path for path in mentioning(files, leaf) if pattern.search(files.read(path))]


def spelling(files: FileSet, leaf: str) -> list[str]:
    """Files that look up attributes by a text which is put together and may come to the name."""
    name = leaf.encode()
    found = []
    for path in sorted({path for word in _LOOKUPS for path in mentioning(files, word)}):
        raw = files.read(path)
        heads = (match[1] for match in _HEADS.finditer(raw))
        tails = (match[1] for match in _TAILS.finditer(raw))
        if any(name.startswith(head) for head in heads) or any(name.endswith(tail) for tail in tails):
            found.append(path)
    return found
