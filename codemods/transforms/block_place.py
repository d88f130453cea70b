"""Where a new function stands and whether its name is free.

A function goes below the one it was taken from, behind those that were taken from it before, so that they read in the
order in which they are called. It goes above where the definition may run before the next line does: above a class,
whose creation may call its methods, and above a decorated function."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.classes import defines, mro, subclasses
from codemods.source.imports import imports_of
from codemods.source.index import mentioning
from codemods.source.locate import head_start
from codemods.source.members import members
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, load
from codemods.source.scopes import BUILTINS, lookup
from codemods.source.splice import Edit
from codemods.transforms.block_find import Part
from codemods.transforms.block_host import Host, assignments_of

_HARMLESS_BASES = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol", "Exception"})


class Spot(Struct, frozen=True, kw_only=True):
    """Where a definition goes. offset: where a signature's annotations are evaluated, as far as names are concerned."""

    offset: int
    is_above: bool
    indent: bytes
    gap: int  # blank lines between the definition and its neighbour


def spot_for(host: Host, part: Part, kind: str) -> Spot:
    """The place for what is taken out of `host` at `part`."""
    if kind == "function" and (host.owner is not None or host.function.decorator_list):
        return spot_above(host)
    last = _last_taken_before(host, part, host.function)
    indent = host.source.text.indent_at(host.source.start(host.function))
    return Spot(offset=definition_end(host, last), is_above=False, indent=indent, gap=_gap(indent))


def spot_above(host: Host) -> Spot:
    """The place above the function, or above the outermost class around it."""
    source = host.source
    anchor: ast.stmt = host.owner or host.function
    while isinstance(source.parents[anchor], ast.ClassDef):
        anchor = source.parents[anchor]  # type: ignore[assignment]
    indent = source.text.indent_at(source.start(anchor))
    return Spot(offset=head_start(source, anchor), is_above=True, indent=indent, gap=_gap(indent))


def _gap(indent: bytes) -> int:
    return 1 if indent else 2


def _last_taken_before(host: Host, part: Part, anchor: ast.stmt) -> ast.stmt:
    """The last of the functions right behind `anchor` that it calls above the block."""
    source = host.source
    siblings = _siblings(host, anchor)
    called = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(host.function)
        if isinstance(node, ast.Call) and source.start(node) < part.start
    }
    found = anchor
    for sibling in siblings[siblings.index(anchor) + 1 :]:
        if not isinstance(sibling, FUNCTIONS) or sibling.name not in called:
            break
        found = sibling
    return found


def _siblings(host: Host, anchor: ast.stmt) -> list[ast.stmt]:
    above = host.source.parents[anchor]
    suites = (getattr(above, name, None) for name in ("body", "orelse", "finalbody"))
    return next(suite for suite in suites if isinstance(suite, list) and anchor in suite)


def definition_end(host: Host, node: ast.stmt) -> int:
    """Offset behind a definition, with the comments in its body that no statement follows."""
    source = host.source
    depth = len(source.text.indent_at(source.start(node)).expandtabs())
    at = end = source.text.line_end(max(source.start(node), source.end(node) - 1))
    while at < len(source.body):
        line = source.body[at : source.text.line_end(at)]
        is_comment = line.lstrip(b" \t\x0c").startswith(b"#")
        if line.strip() and not (is_comment and len(source.text.indent_at(at).expandtabs()) > depth):
            break
        at = source.text.line_end(at)
        end = at if line.strip() else end
    return end


def insertion(host: Host, spot: Spot, texts: list[bytes]) -> Edit:
    """The definitions put in their place, blank lines between them and their neighbours."""
    newline = host.source.text.newline
    blank = newline * spot.gap
    body = host.source.body
    before, behind = body[: spot.offset], body[spot.offset :]
    if spot.is_above:
        is_close = bool(before.strip()) and bool(before.splitlines()[-1].strip())
        text = (blank if is_close else b"") + b"".join(text + blank for text in texts)
        return Edit(spot.offset, spot.offset, text)
    text = b"".join(blank + text for text in texts)
    if before and not before.endswith((b"\n", b"\r")):  # the file ends here, without a newline, and goes on doing so
        text = newline + text.removesuffix(newline)
    elif behind and behind.splitlines()[0].strip() and not _closes_suite(host, spot):
        text += blank
    return Edit(spot.offset, spot.offset, text)


def _closes_suite(host: Host, spot: Spot) -> bool:
    """Whether what follows belongs to a block further out."""
    depth = len(spot.indent.expandtabs())
    return len(host.source.text.indent_at(spot.offset).expandtabs()) < depth


# -- the name


def name_problems(host: Host, name: str, kind: str) -> list[Refusal | Hazard]:
    """Why the new definition can't have this name."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return [host.refusal("bad-name", host.function, f"{name!r} is no name for a function", "choose another name")]
    if kind == "function":
        return list(_module_name_problems(host, name))
    return list(_member_problems(host, name))


def _taken(host: Host, line: int, message: str) -> Refusal:
    return host.refusal("U107", line, message, "choose another name")


def _module_name_problems(host: Host, name: str) -> Iterator[Refusal | Hazard]:
    source, scopes = host.source, table(host.source)
    bound = scopes.module.bound.get(name)
    if bound:
        yield _taken(host, source.text.line_of(bound[0].start), f"{source.path} has a {name} already")
        return
    scope = lookup(scopes.scope_of(host.function), name)
    if scope is not None:
        yield _taken(host, source.line(host.function), f"{name} is another variable inside {host.name}")
    if host.owner is not None and name.startswith("__") and not name.endswith("__"):
        message = f"{name} is spelt with the name of the class where {host.name} calls it"
        yield host.refusal("U105", host.function, message, "begin the name with one underscore")
    users = [each for each in scopes.named(name) if scopes.resolve(each) is None]
    if users and (name in BUILTINS or scopes.module.has_star_import):
        yield _taken(host, source.text.line_of(users[0].start), f"{name} is read here and would mean the new function")
    modules = modules_of(host.files)
    module = modules.module_of(source.path)
    if modules.path_of(f"{module}.{name}") is not None:
        yield _taken(host, source.line(host.function), f"{module}.{name} is a submodule")
    if not name.startswith("_") and "__all__" not in scopes.module.bound:
        yield from _star_importers(host, name, module)


def _star_importers(host: Host, name: str, module: str) -> Iterator[Hazard]:
    """Files that import everything from here would get the new name as well."""
    modules = modules_of(host.files)
    for path in mentioning(host.files, name):
        if path == host.source.path or b"*" not in host.files.read(path):
            continue
        other = load(host.files, path)
        stars = [each for each in imports_of(host.files, other) if each.attribute == "*"]
        if any(modules.path_of(each.module, near=path) == host.source.path for each in stars):
            yield Hazard(
                code="U107",
                severity=Severity.STOP,
                path=path,
                line=stars[0].statement.lineno,
                message=f"this file imports everything from {module} and uses the name {name} already",
                settle="begin the new name with an underscore",
            )


def _member_problems(host: Host, name: str) -> Iterator[Refusal | Hazard]:
    assert host.key is not None and host.owner is not None
    line = host.source.line(host.function)
    if name.startswith("__") and name.endswith("__"):
        yield host.refusal("bad-name", host.function, f"{name} has a meaning of its own", "choose another name")
    if name in members(host.files, host.source, host.owner):
        yield _taken(host, line, f"{host.owner.name} has a {name} already")
        return
    order = mro(host.files, host.key)
    heirs = subclasses(host.files, host.key)
    for each in (*order.classes[1:], *heirs):
        if defines(host.files, each, name):
            yield _taken(host, line, f"{each.qualname} has a {name} already")
            return
    for each in (*order.classes, *heirs):
        assigned = assignments_of(host.files, each, name)
        if assigned:
            yield _taken(host, assigned[0].line, f"{name} is an attribute of the object")
            return
    unseen = [each.name for each in order.external if each.name not in _HARMLESS_BASES]
    if unseen:
        yield host.hazard(
            "U107",
            line,
            f"{unseen[0]} is not in the tree; should it have a {name} of its own, the new method takes its place",
            "choose a name that says what the block does",
            severity=Severity.NOTE,
        )
