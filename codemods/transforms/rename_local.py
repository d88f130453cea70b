"""A local or a parameter of a function under another name, with the keyword arguments of its callers.

Everything a function's own scope can tell; who calls it by keyword is rename_parameter.py's. A scope that is read as a
dictionary (`locals()`) is reported."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.parse import Function, Source
from codemods.source.scopes import Occurrence, Role, Scope, chain, lookup
from codemods.transforms.rename_parameter import keyword_places
from codemods.transforms.rename_report import Edits, refusal, stop
from codemods.transforms.rename_variable import meaning, rename_variable
from codemods.transforms.transform import Planned, refused

_NAMESPACES = frozenset({"locals", "vars", "eval", "exec", "dir"})


def plan_local(files: FileSet, source: Source, function: Function, old: str, new: str) -> Planned:
    """The plan for one name of one function; the new name is known to be an identifier."""
    home = _home(source, function, old)
    if isinstance(home, Refusal):
        return refused(home)
    renaming = rename_variable(source, home, old, new)
    if renaming.obstacles:
        problems = [
            refusal("U107", source.path, each.line, each.message, "choose another name") for each in renaming.obstacles
        ]
        return refused(*problems)
    edits = Edits(files)
    edits.add(source, renaming.edits)
    hazards = list(_dynamic(source, home, old))
    if any(each.role is Role.PARAMETER for each in home.bound[old]) and home.node is function:
        callers = keyword_places(files, source, function, old)
        hazards.extend(callers.hazards)
        for path, places in callers.edits(new).items():
            edits.add_to(path, places)
    return Planned(files=edits.applied(), hazards=tuple(hazards))


def _home(source: Source, function: Function, name: str) -> Scope | Refusal:
    """The function's own scope, when it binds the name. Names of comprehensions and lambdas in it are not its own."""
    scope = table(source).scope_of(function)
    if name in scope.bound and name not in scope.global_names | scope.nonlocal_names:
        return scope
    code, path, line = "unknown-definition", source.path, function.lineno
    if name in scope.global_names or name in scope.nonlocal_names:
        home = lookup(scope, name)
        word = "global" if name in scope.global_names else "nonlocal"
        owner = getattr(home.node, "name", "the module") if home is not None else "the module"
        return refusal("not-local", path, line, f"{name} is {word} in {function.name}", f"rename it in {owner} instead")
    near = ", ".join(sorted(scope.bound)[:5])
    inside = any(name in each.bound for each in scope.children)
    where = ", only something inside of it does" if inside else ""
    return refusal(code, path, line, f"{function.name} itself binds no {name!r}{where}", f"name one of: {near}")


def _dynamic(source: Source, home: Scope, old: str) -> Iterator[Hazard]:
    """Calls that read the scope by text: `locals()["x"]`, `"{x}".format(**locals())`, `eval("x")`."""
    around = {id(home)} | {id(each.scope) for each in meaning(source, home, old)}
    for name in sorted(_NAMESPACES):
        for occurrence in table(source).named(name):
            if id(occurrence.scope) not in around and not any(id(above) in around for above in chain(occurrence.scope)):
                continue
            if lookup(occurrence.scope, name) is None and _reads_scope(source, occurrence):
                yield stop(
                    "U111",
                    source,
                    occurrence.start,
                    f"{name}() sees the local {old} by its name",
                    f"check that nothing asks it for {old}, then accept U111",
                )


def _reads_scope(source: Source, occurrence: Occurrence) -> bool:
    call = source.parents.get(occurrence.node)
    if not isinstance(call, ast.Call) or call.func is not occurrence.node:
        return False
    takes_object = occurrence.name in {"vars", "dir"}
    return not (takes_object and call.args)
