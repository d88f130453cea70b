"""What a method is to the classes around it: overridden, decorated, a generator, awaited elsewhere.

These hazards do not depend on what the body does with `self`; those that do are static_hazards.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source import foreign
from codemods.source.binder import table
from codemods.source.classes import ClassKey, External, bases, declarers, mro, names_of, overriders
from codemods.source.files import FileSet
from codemods.source.lateness import is_consumed
from codemods.source.members import Member, MemberKind
from codemods.source.parse import Function, Source, load
from codemods.source.sites import CallSite, CallSites, SiteKind, node_at
from codemods.transforms.static_body import is_generator
from codemods.transforms.static_decorators import keeps_class, passes_on
from codemods.transforms.static_strings import string_hazards

_WRAPPER = "keep a same-named method: wrapper = true"
_PROTOCOLS = ("typing.Protocol", "typing_extensions.Protocol")
_NEVER = ("abstractmethod", "overload")
# Bases of the standard library that call methods by the beginning of their names.
_DISPATCHERS = {
    "ast.NodeVisitor": ("visit_",),
    "ast.NodeTransformer": ("visit_",),
    "cmd.Cmd": ("do_", "help_", "complete_"),
    "http.server.BaseHTTPRequestHandler": ("do_",),
    "http.server.SimpleHTTPRequestHandler": ("do_",),
    "unittest.TestCase": ("test",),
    "unittest.IsolatedAsyncioTestCase": ("test",),
}


def place_refusals(source: Source, function: Function, member: Member, *, has_wrapper: bool) -> list[Refusal]:
    """What no acceptance can settle."""
    found: list[tuple[str, str, str]] = []
    if any(node is not function and not _is_accessor_part(node, member) for node in member.nodes):
        message = f"{function.name} is bound {len(member.nodes)} times in the class"
        found.append(("U112", message, "leave one definition first"))
    if member.kind is MemberKind.ACCESSOR and not has_wrapper:
        found.append(("U112", f"{function.name} is read without a call", _WRAPPER))
    if member.kind is MemberKind.CLASS_METHOD and not has_wrapper:
        message = f"{function.name} gets the class it is called on, which may be a subclass"
        found.append(("U104", message, _WRAPPER))
    return [
        Refusal(code=code, path=source.path, line=function.lineno, message=message, settle=settle)
        for code, message, settle in found
    ]


def _is_accessor_part(node: ast.stmt, member: Member) -> bool:
    """The setter or deleter of a property."""
    decorators = getattr(node, "decorator_list", [])
    leaves = {each.attr for each in decorators if isinstance(each, ast.Attribute)}
    return member.kind is MemberKind.ACCESSOR and bool(leaves & {"setter", "deleter", "getter"})


def place_hazards(
    files: FileSet,
    source: Source,
    owner: ast.ClassDef,
    function: Function,
    key: ClassKey,
    sites: CallSites | None,
    *,
    leaves: bool,
    takes_values: bool,
) -> Iterator[Hazard]:
    """sites: None when a wrapper stays, so that nothing outside the class notices.

    leaves: the method goes elsewhere. takes_values: callers pass something of the object."""
    yield from _decorators(files, source, owner, function, has_wrapper=sites is None)
    yield from _class_name(files, source, owner, key)
    if is_generator(function):
        yield from _suspension(files, source, function, sites, takes_values=takes_values)
    if sites is None:
        return
    yield from _overrides(files, source, function, key)
    yield from _called_by_name(files, source, function, key)
    yield from string_hazards(files, key, function.name, leaves=leaves)
    if isinstance(function, ast.AsyncFunctionDef) and not is_generator(function) and takes_values:
        yield from _not_awaited(files, sites)


def _hazard(source: Source, code: str, severity: Severity, line: int, message: str, settle: str) -> Hazard:
    return Hazard(code=code, severity=severity, path=source.path, line=line, message=message, settle=settle)


# -- U112


def _decorators(
    files: FileSet, source: Source, owner: ast.ClassDef, function: Function, *, has_wrapper: bool
) -> Iterator[Hazard]:
    scope = table(source).scope_of(owner)
    for decorator in function.decorator_list:
        text = source.segment(decorator).decode().partition("\n")[0]
        leaf = text.partition("(")[0].rpartition(".")[2]
        if leaf == "classmethod":
            continue
        if leaf in _NEVER or not (has_wrapper or passes_on(files, source, decorator, scope)):
            settle = "leave this method in the class" if leaf in _NEVER else _WRAPPER
            message = f"@{text} works on the method, and would work on something else"
            yield _hazard(source, "U112", Severity.STOP, decorator.lineno, message, settle)


def _class_name(files: FileSet, source: Source, owner: ast.ClassDef, key: ClassKey) -> Iterator[Hazard]:
    """Calls name the class, so its name must mean it."""
    for decorator in owner.decorator_list:
        if not keeps_class(files, source, decorator):
            text = source.segment(decorator).decode().partition("\n")[0]
            message = f"@{text} may put something else in the place of {key.name}, and calls name the class"
            yield _hazard(source, "U112", Severity.STOP, decorator.lineno, message, "accept U112 when it does not")
    if any(isinstance(base, External) and base.name in _PROTOCOLS for base in bases(files, key)):
        message = f"{key.name} is a protocol: what its members are decides what conforms to it"
        yield _hazard(source, "U104", Severity.STOP, owner.lineno, message, "leave the methods of a protocol in it")
    outer = key.qualname.partition(".")[0]
    if len(table(source).module.bound.get(outer, [])) > 1:
        message = f"{outer} is bound more than once in this module, so that a call may name another thing"
        yield _hazard(source, "U107", Severity.STOP, owner.lineno, message, "leave one binding of it first")


# -- U113


def _suspension(
    files: FileSet, source: Source, function: Function, sites: CallSites | None, *, takes_values: bool
) -> Iterator[Hazard]:
    """A generator: its body starts with the first step."""
    if isinstance(function, ast.AsyncFunctionDef) and sites is None:
        message = f"{function.name} is an asynchronous generator: values sent into it would not arrive"
        yield _hazard(source, "U113", Severity.STOP, function.lineno, message, "accept U113 when nothing is sent in")
    elif sites is not None and takes_values and not all(_starts_at_once(files, site) for site in sites.sure):
        message = f"{function.name} is a generator: attributes would be read at the call, not at the first step"
        yield _hazard(source, "U113", Severity.STOP, function.lineno, message, _WRAPPER)


def _starts_at_once(files: FileSet, site: CallSite) -> bool:
    """The generator is run, or entered, where it is made."""
    source = load(files, site.path)
    node = node_at(source, site)
    if not isinstance(node, ast.Call):
        return False
    above = source.parents[node]
    return isinstance(above, (ast.withitem, ast.AsyncFor, ast.YieldFrom)) or is_consumed(source, node)


def _not_awaited(files: FileSet, sites: CallSites) -> Iterator[Hazard]:
    for site in sites.sure:
        source = load(files, site.path)
        node = node_at(source, site)
        if site.is_call and not isinstance(source.parents[node], ast.Await):
            message = "the coroutine is made here and run later: attributes would be read now"
            yield _hazard(source, "U113", Severity.PROVE, site.line, message, _WRAPPER)


# -- U104


def static_already_hazards(
    files: FileSet, source: Source, function: Function, key: ClassKey, sites: CallSites, *, has_wrapper: bool
) -> Iterator[Hazard]:
    """Of a method that is static before anything is done: calls through an object still find the one of its class."""
    if not has_wrapper:
        yield from _overrides(files, source, function, key)
        yield from _called_by_name(files, source, function, key)
        return
    below = overriders(files, key, function.name)
    for site in sites.sure if below else ():
        if site.kind is not SiteKind.CLASS_CALL:
            message = f"this call would be qualified, and miss {function.name} of {names_of(below)}"
            settle = "accept U104 when the object is of no such class"
            yield _hazard(load(files, site.path), "U104", Severity.STOP, site.line, message, settle)


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
        unknown = [base for each in mro(files, key).classes for base in bases(files, each) if _may_declare(base, name)]
        if unknown:
            message = f"{names_of(dict.fromkeys(unknown))} is not in the tree: whether it declares {name} can't be seen"
            severity = Severity.PROVE if name.startswith("_") else Severity.STOP
            yield _hazard(source, "U104", severity, function.lineno, message, f"{_WRAPPER}, or accept U104")


def _may_declare(base: object, name: str) -> bool:
    """Outside the tree, and not known to leave the name alone."""
    return isinstance(base, External) and (not base.is_known or foreign.defines(base.name, name) is None)


def _called_by_name(files: FileSet, source: Source, function: Function, key: ClassKey) -> Iterator[Hazard]:
    """Methods that Python, a base of the standard library or a test runner finds by their names."""
    name = function.name
    message = ""
    if name.startswith("__") and name.endswith("__"):
        message = f"Python itself calls {name} on objects"
    for base in mro(files, key).external:
        if name.startswith(_DISPATCHERS.get(base.name, ("\0",))):
            message = f"{base.name} calls methods by the beginning of their names"
    if name.startswith("test") and key.name.startswith("Test"):
        message = "a test runner calls it on an object"
    if message:
        yield _hazard(source, "U104", Severity.STOP, function.lineno, message, _WRAPPER)
