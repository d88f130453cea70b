"""Calls as they stand in a file's text, without parsing the file: a first look that settles most files.

A call is cut out by its brackets and parsed alone. One that can't be cut out, or does not parse, counts as unknown;
strings and comments that hold something like a call only cost a look at the file."""

from __future__ import annotations

import ast
import re

from codemods.source.mentions import occurrences
from codemods.verify.readers_signatures import Signature

_TOKEN = re.compile(
    rb"'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|#[^\n]*|[()\[\]{}]",
    re.DOTALL,
)
_OPENING = re.compile(rb"[ \t]*\(")
_DEFINED = re.compile(rb"\b(?:def|class)[ \t]+\Z")
_LONGEST = 20_000  # bytes of one call


def misfit(call: ast.Call, signature: Signature) -> str:
    """Why a call does not fit; "" when it does, or may."""
    is_open = any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    )
    num = sum(not isinstance(each, ast.Starred) for each in call.args)
    given = [each.arg for each in call.keywords if each.arg is not None]
    known = {*signature.positional[signature.posonly :], *signature.keyword}
    unknown = [name for name in given if name not in known]
    if unknown and not signature.has_kwargs:
        return f"unknown argument {unknown[0]!r}"
    if num > len(signature.positional) and not signature.has_args:
        return f"{num} positional arguments for {len(signature.positional)}"
    if is_open:
        return ""
    twice = [name for name in given if name in signature.positional[signature.posonly : num]]
    if twice:
        return f"{twice[0]!r} is given twice"
    missing = [name for name in (*signature.positional[num:], *signature.keyword) if name in signature.required]
    missing = [name for name in missing if name not in given]
    return f"missing argument {missing[0]!r}" if missing else ""


def may_misfit(raw: bytes, name: str, signature: Signature) -> bool:
    """Whether some call of the name in the text, also under an `as` name, does not fit or can't be told."""
    names = {name.encode(), *re.findall(rb"\b" + re.escape(name.encode()) + rb"[ \t]+as[ \t]+(\w+)", raw)}
    return any(not fits_at(raw, at, each, signature) for each in names for at in occurrences(raw, each))


def fits_at(raw: bytes, at: int, name: bytes, signature: Signature) -> bool:
    """Whether the name at an offset is no call, or one that fits for sure."""
    opening = _OPENING.match(raw, at + len(name))
    if opening is None or _DEFINED.search(raw, max(at - 12, 0), at):
        return True
    end = _closing(raw, opening.end())
    call = _parsed(b"f(" + raw[opening.end() : end]) if end else None
    return call is not None and not misfit(call, signature)


def _closing(raw: bytes, start: int) -> int:
    """Where the bracket that is open at `start` has been closed; 0 when that can't be seen."""
    depth = 1
    for token in _TOKEN.finditer(raw, start, start + _LONGEST):
        first = token[0][:1]
        if first in (b"(", b"[", b"{"):
            depth += 1
        elif first in (b")", b"]", b"}"):
            depth -= 1
            if depth == 0:
                return token.end()
    return 0


def _parsed(text: bytes) -> ast.Call | None:
    try:
        found = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found if isinstance(found, ast.Call) else None
