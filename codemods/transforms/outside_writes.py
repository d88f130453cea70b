"""Whether code outside of a class assigns one of its attributes: found by text, settled by the syntax tree and the type
of what it is assigned to. An assignment to something that is known to be another object does not count."""

from __future__ import annotations

import ast
import re

from codemods.schema.errors import SourceError
from codemods.source.classes import ClassKey, family
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.index import mentioning
from codemods.source.mentions import attributes
from codemods.source.parse import Source
from codemods.source.receiver_kinds import Known, Unknown
from codemods.source.receivers import receiver_type

_SHORTEST = 3  # a receiver's name that is shorter says nothing about its class


def is_set_outside(files: FileSet, attribute: str, key: ClassKey | None) -> bool:
    """key: the class whose attribute it is; None for an attribute of any object."""
    return any(is_set_in(files, path, attribute, key) for path in mentioning(files, attribute))


def is_set_in(files: FileSet, path: str, attribute: str, key: ClassKey | None, *, is_called: bool = False) -> bool:
    """As `is_set_outside`, in one file. is_called: its code is called, so an object of no known type may be ours."""
    word = re.escape(attribute.encode())
    assigned = re.compile(rb"[\w\])]\." + word + rb"\s*(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?![=}])")
    quoted = re.compile(rb"setattr\((\w+),\s*[\"']" + word + rb"[\"']")
    raw = files.read(path)
    if any(_names_ours(match[1].decode("utf-8", "replace"), key) for match in quoted.finditer(raw)):
        return True
    return assigned.search(raw) is not None and _assigns(files, path, attribute, key, is_called)


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
    plain = name.replace("_", "").lower()
    return name not in ("self", "cls") and (key is None or (len(plain) >= _SHORTEST and plain in key.name.lower()))
