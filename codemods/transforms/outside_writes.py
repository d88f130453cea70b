"""Whether code outside of a class assigns one of its attributes: found by text, settled by the syntax tree and the type
of what it is assigned to. An assignment to something that is known to be another object does not count."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.source.classes import ClassKey, family
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.index import has_word, mentioning
from codemods.source.mentions import attributes, occurrences
from codemods.source.parse import Source
from codemods.source.receiver_kinds import Known, Unknown
from codemods.source.receivers import receiver_type

_ASSIGNED = re.compile(rb"\s*(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?![=}])")
_NAME = re.compile(rb"(\w*)[\])]*\Z")
_WORD = re.compile(r"[A-Z][a-z0-9]*|[a-z0-9]+")
_LONGEST = 60  # bytes looked at before the attribute
_SHORTEST = 3  # a receiver's name that is shorter says nothing about its class


def is_set_outside(files: FileSet, attribute: str, key: ClassKey | None) -> bool:
    """key: the class whose attribute it is; None for an attribute of any object."""
    return any(is_set_in(files, path, attribute, key) for path in mentioning(files, attribute))


def is_set_in(files: FileSet, path: str, attribute: str, key: ClassKey | None, *, is_called: bool = False) -> bool:
    """As `is_set_outside`, in one file. is_called: its code is called, so an object of no known type may be ours."""
    quoted = re.compile(rb"setattr\((\w+),\s*[\"']" + re.escape(attribute.encode()) + rb"[\"']")
    raw = files.read(path)
    if any(_names_ours(match[1].decode("utf-8", "replace"), key) for match in quoted.finditer(raw)):
        return True
    receivers = set(_receivers(raw, attribute.encode())) - {"self", "cls"}
    # to have the class's type without being called like it, a receiver needs the class in its file
    is_plausible = is_called or key is None or has_word(raw, key.name.encode())
    may_be_ours = bool(receivers) and (is_plausible or any(_names_ours(each, key) for each in receivers))
    return may_be_ours and _assigns(files, path, attribute, key, is_called)


def _receivers(text: bytes, word: bytes) -> Iterator[str]:
    """The last name before each `.word =`."""
    for at in occurrences(text, word):
        if text[at - 1 : at] == b"." and _ASSIGNED.match(text, at + len(word)):
            before = _NAME.search(text, max(at - _LONGEST, 0), at - 1)
            yield before[1].decode("utf-8", "replace") if before else ""


def _assigns(files: FileSet, path: str, attribute: str, key: ClassKey | None, is_called: bool) -> bool:
    try:
        source = glimpse(files, path, attribute)
    except SourceError:
        return True
    return any(
        isinstance(each.node.ctx, (ast.Store, ast.Del)) and _may_be_ours(files, source, each.node.value, key, is_called)
        for each in attributes(source.text, source.tree, attribute)
    )


def _may_be_ours(files: FileSet, source: Source, receiver: ast.expr, key: ClassKey | None, is_called: bool) -> bool:
    if isinstance(receiver, ast.Name) and receiver.id in ("self", "cls"):
        return False
    if key is None:
        return True
    found = receiver_type(files, source, receiver)
    if isinstance(found, Known):
        return any(each in family(files, key) for each in found.keys)
    return isinstance(found, Unknown) and (is_called or _is_called_like(receiver, key))


def _is_called_like(receiver: ast.expr, key: ClassKey) -> bool:
    """`runner` and `model_runner` are names for a ModelRunner; without a type that is all there is to go by."""
    return _names_ours(receiver.attr if isinstance(receiver, ast.Attribute) else getattr(receiver, "id", ""), key)


def _names_ours(name: str, key: ClassKey | None) -> bool:
    """Whether the name ends as the class does: `model` alone is no ModelRunner."""
    if name in ("self", "cls") or key is None:
        return key is None and name not in ("self", "cls")
    plain = name.replace("_", "").lower()
    words = _WORD.findall(key.name)
    last = words[-1].lower() if words else key.name.lower()
    return len(plain) >= _SHORTEST and (key.name.lower().endswith(plain) or plain.endswith(last))
