"""Methods that a class finds by names which no text holds: `getattr(self, anything)()`, and lists of its members.

Looks at the class, its bases and its subclasses; names that stand in a text are static_strings.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Severity
from codemods.source.classes import ClassKey, class_at, heirs_where, mro
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.modules import modules_of
from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.receivers import scope_at
from codemods.source.string_text import WILD, text_of
from codemods.source.usage import receiver_name

_WRAPPER = "keep a same-named method: wrapper = true"
_ASKS = re.compile(rb"""\bgetattr\(|\bgetmembers\(|\bdir\(|\bvars\(|__dict__""")
_PREFIX = re.compile(rb"""\.startswith\(\s*["']([^"']+)["']""")


def made_up_names(files: FileSet, key: ClassKey, name: str) -> Iterator[Hazard]:
    """Places where the method may be meant without being named."""
    for each in dict.fromkeys((*mro(files, key).classes, *heirs_where(files, key, _ASKS))):
        path = modules_of(files).path_of(each.module)
        if path is None or not _ASKS.search(files.read(path)):
            continue
        at = class_at(files, each)
        if at is not None:
            is_asked = _is_asked_for(files, path, name)
            yield from _looked_up(files, *at, name, is_asked=is_asked)
            yield from _listed(*at, name, is_asked=is_asked)


def _hazard(source: Source, node: ast.AST, severity: Severity, message: str, name: str) -> Hazard:
    settle = f"{_WRAPPER}, or accept U104 when {name} is never asked for"
    return Hazard(
        code="U104", severity=severity, path=source.path, line=source.line(node), message=message, settle=settle
    )


def _is_asked_for(files: FileSet, path: str, name: str) -> bool:
    """Whether the file sorts names by a beginning that this one has: `name.startswith("do_")`."""
    return any(name.startswith(match[1].decode("utf-8", "replace")) for match in _PREFIX.finditer(files.read(path)))


def _looked_up(files: FileSet, source: Source, node: ast.ClassDef, name: str, *, is_asked: bool) -> Iterator[Hazard]:
    """`getattr(self, anything)()`: any method may be meant."""
    for call in _lookups(source, node):
        text = text_of(source, call.args[1], scope_at(source, call))
        is_free = text is None or not text.value.replace(WILD, "")
        if not is_free and not (text is not None and text.could_be(name)):
            continue
        is_likely = not is_free or is_asked or _is_a_text(files, name)
        message = f"methods are called by names made at run time here; {name} may be one of them"
        yield _hazard(source, call, Severity.STOP if is_likely else Severity.PROVE, message, name)


def _listed(source: Source, node: ast.ClassDef, name: str, *, is_asked: bool) -> Iterator[Hazard]:
    """`inspect.getmembers(self)`, `dir(self)`, `vars(type(self))`: a static method is another member than a method."""
    for function in (each for each in node.body if isinstance(each, FUNCTIONS)):
        me = receiver_name(function)
        for call in walk(function):
            if not isinstance(call, ast.Call) or not call.args:
                continue
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            of_class = _is_class(call.args[0], me, function)
            is_me = getattr(call.args[0], "id", "") == me
            if called == "getmembers" and (is_me or of_class):
                is_likely = is_asked or len(call.args) > 1
            elif (called == "dir" and (is_me or of_class)) or (called == "vars" and of_class):
                is_likely = is_asked
            else:
                continue
            message = f"the members of the class are listed here, and {name} would be a static one"
            yield _hazard(source, call, Severity.STOP if is_likely else Severity.PROVE, message, name)


def _is_class(node: ast.expr, me: str, function: ast.AST) -> bool:
    """`type(self)`, `self.__class__`, or the first parameter of what is called on the class."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "type" and bool(node.args) and getattr(node.args[0], "id", "") == me
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__" and getattr(node.value, "id", "") == me
    name = getattr(function, "name", "")
    decorators = {getattr(each, "id", "") for each in getattr(function, "decorator_list", ())}
    return getattr(node, "id", "") == me and (name == "__init_subclass__" or "classmethod" in decorators)


def _lookups(source: Source, node: ast.ClassDef) -> Iterator[ast.Call]:
    """Lookups on a method's own object whose result is called."""
    for function in (each for each in node.body if isinstance(each, FUNCTIONS)):
        me = receiver_name(function)
        for call in walk(function):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "getattr" or len(call.args) < 2:
                continue
            if getattr(call.args[0], "id", "") == me and _is_called(source, function, call):
                yield call


def _is_called(source: Source, function: ast.AST, call: ast.Call) -> bool:
    above = source.parents[call]
    if isinstance(above, ast.Call) and above.func is call:
        return True
    if not isinstance(above, ast.Assign) or not isinstance(above.targets[0], ast.Name):
        return False
    kept = above.targets[0].id
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(getattr(each.func, "id", "") == kept for each in calls)


def _is_a_text(files: FileSet, name: str) -> bool:
    """Whether the very name stands in quotes somewhere."""
    quoted = [f'"{name}"'.encode(), f"'{name}'".encode()]
    return any(any(text in files.read(path) for text in quoted) for path in mentioning(files, name))
