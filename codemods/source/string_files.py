"""Which Python files may name something in a string: a byte search that is coarse but misses nothing strings.py finds.

Only what it lets through is parsed."""

from __future__ import annotations

import re

from codemods.source.files import FileSet
from codemods.source.index import has_word, mentioning

_LOOKUPS = tuple(word.encode() for word in ("getattr", "setattr", "hasattr", "methodcaller", "attrgetter", "delattr"))
_USERS = re.compile(
    rb"attr\b|\battrgetter|\bmethodcaller|\bpatch|\bspy\b|__all__|__slots__|__match_args__|\bglobals\b|\bvars\b|__dict__|"
    rb"__getattr|__setattr|\bimport_module|\bmodules\b|\b-m\b|\blogger\b|getLogger|assertLogs|\.name\b|pytest_plugins|files\("
    rb"|__import__|importorskip|find_spec|run_module|['\"]-m['\"]|setitem"
)
_BY_VARIABLE = re.compile(
    rb"\b(?:[gs]et|has|del)attr\(\s*[^,'\"]+,\s*(?:\w+[^\w'\"]|['\"][^'\"]*['\"]\s*if\b)|"
    rb"\b(?:attrgetter|methodcaller)\(\s*\*?\w+[^\w'\"]"
)
_MULTIPLE = re.compile(rb"multiple\s*\(")
_BOUNDARY = re.compile(r"(?<=_)(?=[^_])|(?<=[a-z0-9])(?=[A-Z])")


def naming(files: FileSet, leaf: str, before: frozenset[str], *, is_module: bool) -> list[str]:
    """Files in which the name stands in a string, or at least where a string may go on. before: the words one of which
    stands before the name in a path, when it is not a whole path (classes of a member, the module of a definition)."""
    word = rb"\b" + re.escape(leaf.encode()) + rb"\b"
    owner = b"|".join(re.escape(each.encode()) for each in sorted(before)) or rb"\w"
    places = [
        rb"['\"}][\w.{}:~!]*[.:]" + word,  # right after a quote or a field: a dotted path
        rb"['\"]" + word + rb"[.:]",
        rb"`[~!.\w]*?" + word,  # markup
        rb">>>[^\n]*" + word,  # an example in a docstring
        rb"\.\. [\w:]+::[ \t]+[\w.]*" + word,  # a directive
        rb"(?:\w\.\w+|" + owner + rb")[.:]" + word + rb"(?:[.:]\w+)*[`'\",;)\s]",  # in prose
        rb"\\n" + word.removeprefix(rb"\b"),  # pickles
        rb"\\x\w\w" + word.removeprefix(rb"\b"),
        rb"\bmultiple\s*\(",
    ]
    if is_module:
        places.append(word + rb"[.:]\w+[`'\",;)\s]")
    alone = rb"['\"]" + word + rb"['\"]"
    path, bare = re.compile(b"|".join(places)), re.compile(alone)
    found = []
    for each in mentioning(files, leaf):
        raw = files.read(each)
        # A bare name in quotes says something only where something looks names up.
        if path.search(raw) or (bare.search(raw) and _USERS.search(raw)):
            found.append(each)
    return found


def reaching(files: FileSet, module: str, name: str) -> list[str]:
    """Files that may patch or look up `module.name` by a string: they have the module's own name, and the name right
    behind it or alone in quotes."""
    leaf = module.rpartition(".")[2]
    # Plain texts rather than one expression: that is ten times as fast.
    texts = (f"{leaf}.{name}".encode(), f"'{name}'".encode(), f'"{name}"'.encode())
    found = []
    for each in mentioning(files, leaf, name):
        raw = files.read(each)
        if (any(text in raw for text in texts) or _MULTIPLE.search(raw)) and _USERS.search(raw):
            found.append(each)
    return found


def spelling(files: FileSet, leaf: str) -> list[str]:
    """Files that look up attributes by a text which is put together and may come to the name.

    The fixed part of such a text ends where a word of the name ends: `f"do_{x}"`, `x + "_ping"`."""
    splits = [match.start() for match in _BOUNDARY.finditer(leaf)]
    heads = [leaf[:at] for at in splits if at > 1]
    tails = [leaf[at - 1 :] if leaf[at - 1] == "_" else leaf[at:] for at in splits]
    tails = [tail for tail in tails if len(tail) > 1]
    if not heads and not tails:
        return []
    head = b"|".join(re.escape(each.encode()) for each in heads) or rb"(?!)"
    tail = b"|".join(re.escape(each.encode()) for each in tails) or rb"(?!)"
    pattern = re.compile(
        rb"['\"](?:" + head + rb")(?:\{|%[\w(]|['\"]\s*\+)|(?:\}|%s|\)s|\+\s*['\"])(?:" + tail + rb")['\"]"
    )
    words = [*heads, *tails, *(f"s{each}" for each in tails)]  # `%s_ping` has the s in front
    found = {path for word in dict.fromkeys(words) for path in mentioning(files, word)}
    return [path for path in sorted(found) if _looks_up(files.read(path), pattern)]


def passing(files: FileSet, leaf: str) -> list[str]:
    """Files that look up attributes by a variable and have the bare name in quotes, which may come to be its value."""
    bare = re.compile(rb"['\"]" + re.escape(leaf.encode()) + rb"['\"]")
    found = []
    for path in mentioning(files, leaf):
        raw = files.read(path)
        if bare.search(raw) and _BY_VARIABLE.search(raw):
            found.append(path)
    return found


def _looks_up(raw: bytes, pattern: re.Pattern[bytes]) -> bool:
    return any(has_word(raw, word) for word in _LOOKUPS) and pattern.search(raw) is not None
