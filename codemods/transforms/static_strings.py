"""Texts that name a method whose signature changes: `getattr` names and patterns, and patches that put another function
in its place.

Finds and judges; what a text names is strings.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Severity
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.parse import load
from codemods.source.strings import StringMention, mentions
from codemods.transforms.static_made_up import made_up_names

_WRAPPER = "keep a same-named method: wrapper = true"
_REPLACING = frozenset({"new", "new_callable", "side_effect", "wraps", "autospec", "spec", "value"})


def string_hazards(files: FileSet, key: ClassKey, name: str, *, leaves: bool) -> Iterator[Hazard]:
    """leaves: whether the method will be gone from its class in the end."""
    seen: set[tuple[str, int]] = set()
    for mention in mentions(files, key.module, f"{key.qualname}.{name}"):
        if not mention.path.endswith((".py", ".pyi")):
            continue
        seen.add((mention.path, mention.line))
        if mention.kind == "getattr":
            yield from _looked_up(files, mention, name, leaves=leaves)
        elif mention.kind in ("patch-target", "setattr-name"):
            yield _patched(files, mention, name)
        elif mention.kind == "entry-point" and mention.is_sure:
            message = f"{mention.text!r} names {name}, which would need other arguments"
            yield _hazard("U111", Severity.STOP, mention, message, _WRAPPER)
    for hazard in made_up_names(files, key, name):
        if (hazard.path, hazard.line) not in seen:
            yield hazard


def _hazard(code: str, severity: Severity, place: StringMention, message: str, settle: str) -> Hazard:
    return Hazard(code=code, severity=severity, path=place.path, line=place.line, message=message, settle=settle)


def _looked_up(files: FileSet, mention: StringMention, name: str, *, leaves: bool) -> Iterator[Hazard]:
    call = _call_around(files, mention)
    is_question = call is not None and getattr(call.func, "id", "") == "hasattr"
    if is_question and not leaves:
        return
    text = mention.text if len(mention.text) < 40 else f"{mention.text[:37]}..."
    message = f"{text} may find {name} here, and whoever calls it passes no attributes"
    if is_question:
        message = f"{text} asks here whether the object has {name}"
    yield _hazard("U104", Severity.STOP, mention, message, f"{_WRAPPER}, or accept U104 when it finds another thing")


def _patched(files: FileSet, mention: StringMention, name: str) -> Hazard:
    call = _call_around(files, mention)
    given = 0
    if call is not None:
        positional = len(call.args) + sum(each.arg in _REPLACING for each in call.keywords)
        first = call.args[0] if call.args else None
        is_path = isinstance(first, (ast.Constant, ast.JoinedStr, ast.BinOp))
        given = positional - (1 if is_path else 2)
    if given > 0 and not _is_mock(call):
        message = f"{name} is replaced here by something that expects the old arguments"
        return _hazard("U111", Severity.STOP, mention, message, _WRAPPER)
    message = f"{name} is patched here: the stand-in is called with the attributes as keywords, and without the object"
    return _hazard("U111", Severity.NOTE, mention, message, "look at what the test says about its arguments")


def _is_mock(call: ast.Call | None) -> bool:
    """The replacement is a mock, which takes any arguments."""
    values = [*call.args, *(each.value for each in call.keywords)] if call is not None else []
    return any(isinstance(each, ast.Call) and ast.unparse(each.func).endswith("Mock") for each in values)


def _call_around(files: FileSet, mention: StringMention) -> ast.Call | None:
    """The call whose argument the text is, or a part of."""
    source = load(files, mention.path)
    found = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and source.end(node.func) <= mention.start and mention.end <= source.end(node)
    ]
    return max(found, key=source.start, default=None)
