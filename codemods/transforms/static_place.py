"""What a method is to the classes around it: overridden, decorated, a generator, awaited elsewhere.

These hazards do not depend on what the body does with `self`; those that do are static_hazards.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Severity
from codemods.source.classes import ClassKey, External, bases, declarers, mro, names_of, overriders
from codemods.source.files import FileSet
from codemods.source.members import Member, MemberKind
from codemods.source.parse import Function, Source, load
from codemods.source.sites import CallSites, node_at
from codemods.transforms.static_body import is_generator

_WRAPPER = "keep a same-named method: wrapper = true"
_NEVER = ("abstractmethod", "overload")


def place_hazards(
    files: FileSet, source: Source, function: Function, key: ClassKey, member: Member, sites: CallSites | None
) -> Iterator[Hazard]:
    """sites: None when a wrapper stays, so that nothing outside the class notices."""
    yield from _decorators(source, function, member, has_wrapper=sites is None)
    yield from _suspension(source, function, has_wrapper=sites is None)
    if sites is None:
        return
    yield from _overrides(files, source, function, key)
    if isinstance(function, ast.AsyncFunctionDef):
        yield from _not_awaited(files, sites)


def _hazard(source: Source, code: str, severity: Severity, line: int, message: str, settle: str) -> Hazard:
    return Hazard(code=code, severity=severity, path=source.path, line=line, message=message, settle=settle)


def _decorators(source: Source, function: Function, member: Member, *, has_wrapper: bool) -> Iterator[Hazard]:
    for decorator in function.decorator_list:
        text = source.segment(decorator).decode().partition("\n")[0]
        leaf = text.partition("(")[0].rpartition(".")[2]
        if leaf in ("staticmethod", "classmethod"):
            continue
        if leaf in _NEVER or (not has_wrapper and leaf != "override"):
            settle = "leave this method in the class" if leaf in _NEVER else _WRAPPER
            message = f"@{text} works on the method, and would work on something else"
            yield _hazard(source, "U112", Severity.STOP, decorator.lineno, message, settle)
    if len(member.nodes) > 1:
        message = f"{function.name} is bound {len(member.nodes)} times in the class"
        yield _hazard(source, "U112", Severity.STOP, function.lineno, message, "leave one definition first")
    elif member.kind is MemberKind.ACCESSOR and not has_wrapper:
        message = f"{function.name} is read without a call"
        yield _hazard(source, "U112", Severity.STOP, function.lineno, message, _WRAPPER)
    elif member.kind is MemberKind.CLASS_METHOD and not has_wrapper:
        message = f"{function.name} gets the class it is called on, which may be a subclass"
        yield _hazard(source, "U104", Severity.STOP, function.lineno, message, _WRAPPER)


def _suspension(source: Source, function: Function, *, has_wrapper: bool) -> Iterator[Hazard]:
    if not is_generator(function):
        return
    if isinstance(function, ast.AsyncFunctionDef):
        message = f"{function.name} is an asynchronous generator: values sent into it would not arrive"
        yield _hazard(source, "U113", Severity.STOP, function.lineno, message, "accept U113 when nothing is sent in")
    elif not has_wrapper:
        message = f"{function.name} is a generator: attributes would be read at the call, not at the first step"
        yield _hazard(source, "U113", Severity.STOP, function.lineno, message, _WRAPPER)


def _overrides(files: FileSet, source: Source, function: Function, key: ClassKey) -> Iterator[Hazard]:
    name = function.name
    below = overriders(files, key, name)
    if below:
        message = f"{name} is overridden in {names_of(below)}: a class-qualified call would miss that"
        yield _hazard(source, "U104", Severity.STOP, function.lineno, message, _WRAPPER)
    above = declarers(files, key, name)
    if above:
        message = f"{name} overrides what {names_of(above)} declares: calls through the base would miss it"
        yield _hazard(source, "U104", Severity.STOP, function.lineno, message, _WRAPPER)
    elif not below:
        unknown = [base for each in mro(files, key).classes for base in bases(files, each) if _is_unknown(base)]
        if unknown:
            message = f"{names_of(unknown)} is not in the tree: whether it declares {name} can't be seen"
            severity = Severity.PROVE if name.startswith("_") else Severity.STOP
            yield _hazard(source, "U104", severity, function.lineno, message, f"{_WRAPPER}, or accept U104")


def _is_unknown(base: object) -> bool:
    """Outside the tree and not a builtin (whose methods are known)."""
    return isinstance(base, External) and not (base.is_known and "." not in base.name)


def _not_awaited(files: FileSet, sites: CallSites) -> Iterator[Hazard]:
    for site in sites.sure:
        source = load(files, site.path)
        node = node_at(source, site)
        if site.is_call and not isinstance(source.parents[node], ast.Await):
            message = "the coroutine is made here and run later: attributes would be read now"
            yield _hazard(source, "U113", Severity.PROVE, site.line, message, _WRAPPER)
