"""The domains of a function's inputs: its parameters, and the attributes of objects that it reads plain values from.

Annotation first, then the default, then the use on both sides of a pair. What stays unknown is `Opaque` (a parameter)
or left out (an attribute path): then the caller's opaque value stands there."""

from __future__ import annotations

import ast
from typing import Any

from msgspec import Struct

from codemods.prove.domains import (
    Bool,
    Definition,
    DictOf,
    Domain,
    Field,
    ListOf,
    Lookup,
    Maybe,
    OneOf,
    Opaque,
    Record,
    Text,
    Tie,
    Tied,
    inner_of,
    unite,
)
from codemods.prove.domains_classes import attribute_of, class_of, is_static, owner_of
from codemods.prove.domains_evidence import Facts, Value, View
from codemods.prove.domains_follow import default_of, follow
from codemods.prove.domains_guess import by_name, with_hints
from codemods.prove.domains_harvest import Reading, parameters_of
from codemods.prove.domains_home import MISSING, Home, member, nothing
from codemods.prove.domains_ties import names_in, renamed
from codemods.prove.domains_types import class_domain, lineage, typed
from codemods.source.parse import FUNCTIONS, Function


class Constants(Struct, frozen=True, kw_only=True):
    """What a function and those that it calls compare their inputs with, whatever the input."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()
    separators: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    keys: tuple[Any, ...] = ()
    styles: tuple[str, ...] = ()


class _Side:
    """One side of a pair: where its names are looked up, the class around it, and what its code shows."""

    def __init__(self, function: Function, module: ast.Module, lookup: Lookup, name: str) -> None:
        self.function = function
        self.home = Home(module, lookup, name)
        self.owner, qual = owner_of(function, module)
        self.definition = self.home.find(qual) if qual else None
        self.facts = Facts()
        self.bound = ""
        positional = [*function.args.posonlyargs, *function.args.args]
        if self.owner is not None and positional and not is_static(function):
            self.bound = positional[0].arg
        self.parameters = [each for each in parameters_of(function.args) if each.arg != self.bound]
        env: dict[str, Value] = {}
        for each in parameters_of(function.args):
            env[each.arg] = Value(frozenset({(each.arg, ())}), ast.Name(each.arg, ast.Load()))
        Reading(self.home, self.facts, self.owner, follow).read(function, env)

    def annotation(self, root: str) -> tuple[ast.expr | None, Home]:
        """The annotation of a parameter or of an attribute path, and where its names are looked up."""
        head, *path = root.split(".")
        if head == self.bound and self.definition is not None:
            at: Definition | None = self.definition
            node, home = None, self.home
        else:
            node = next((each.annotation for each in self.parameters if each.arg == head), None)
            home = self.home
            at = class_of(node, home)
        for part in path:
            if at is None:
                return None, home
            node, home = attribute_of(at, home.of(at), part)
            at = class_of(node, home)
        return node, home

    def is_code(self, root: str) -> bool:
        """Whether an attribute path ends in a method, a property or a constant of a class, which are real there."""
        head, *path = root.split(".")
        at = self.definition if head == self.bound else class_of(self.annotation(head)[0], self.home)
        for index, part in enumerate(path):
            if at is None:
                return False
            home = self.home.of(at)
            found = next((each for cls, _ in reversed(lineage(at, home)) if (each := member(cls, part))), None)
            if isinstance(found, (*FUNCTIONS, ast.ClassDef, ast.Assign)):
                return True
            prefix = ".".join([head, *path[: index + 1]])
            node, inside = self.annotation(prefix)
            at = class_of(node, inside)
        return False


def domains_of(
    function: Function,
    module: ast.Module,
    lookup: Lookup = nothing,
    *,
    other: tuple[Function, ast.Module] | None = None,
    name: str = "",
    other_lookup: Lookup | None = None,
) -> dict[str, Domain]:
    """The domain of every parameter (without a bound `self`), then of every attribute path that has one.

    lookup: the definition a name (as written in `module`) has elsewhere in the tree. name: the module's dotted name,
    for the references of `Build`. other: the function's twin, whose constants and annotations count too; its inputs
    are matched by name, `self.a.host` of one side with `host` of the other."""
    side = _Side(function, module, lookup, name)
    sides = [side]
    if other is not None:
        twin = _Side(*other, other_lookup or lookup, "")
        _adopt(side.facts, twin, [each.arg for each in side.parameters])
        sides.append(twin)
    found: dict[str, Domain] = {}
    for parameter in side.parameters:
        found[parameter.arg] = _parameter(side, parameter, sides)
    arguments = function.args
    if arguments.vararg is not None:
        found[arguments.vararg.arg] = ListOf(found[arguments.vararg.arg], "tuple")
    if arguments.kwarg is not None:
        found[arguments.kwarg.arg] = DictOf(Text(exact=("key",)), found[arguments.kwarg.arg])
    for root in side.facts.roots():
        if "." not in root or any(each.is_code(root) for each in sides):
            continue
        domain = _path(side, root, sides)
        if isinstance(domain, Opaque):
            continue
        if _is_covered(root, found):
            _sharpen(found, root, domain)
        else:
            found[root] = domain
    styled = {root: by_name(root, domain) for root, domain in found.items()}
    return {root: _tied(side.facts.ties.get(root, []), root, domain, found) for root, domain in styled.items()}


def constants_of(function: Function, module: ast.Module, lookup: Lookup = nothing) -> Constants:
    """The constants that the code of a function compares its inputs with."""
    found: dict[str, list[Any]] = {}
    for places in _Side(function, module, lookup, "").facts.table.values():
        for facts in places.values():
            for category, values in facts.items():
                found.setdefault(category, []).extend(values)
    exact = found.get("exact", [])
    marks = [*found.get("separator", []), *found.get("mark", [])]
    return Constants(
        texts=_unique([each for each in exact if isinstance(each, str)]),
        numbers=_unique([each for each in exact if isinstance(each, (int, float)) and not isinstance(each, bool)]),
        separators=_unique(marks),
        starts=_unique(found.get("start", [])),
        ends=_unique(found.get("end", [])),
        patterns=_unique(found.get("pattern", [])),
        keys=_unique(found.get("key", [])),
        styles=_unique(found.get("style", [])),
    )


def _unique(values: list[Any]) -> tuple[Any, ...]:
    return tuple({(type(each), each): each for each in values}.values())


def _parameter(side: _Side, parameter: ast.arg, sides: list[_Side]) -> Domain:
    default = default_of(side.function, parameter.arg)
    view = View(side.facts, parameter.arg)
    if default is not None and parameter.annotation is None:
        members = _enum_default(side, default, view)
        if not isinstance(members, Opaque):
            return members
    constant = side.home.constant(default)
    if constant is not MISSING:
        side.facts.equal(Value(frozenset({(parameter.arg, ())})), constant)
        if isinstance(constant, bool) and parameter.annotation is None:
            return Bool()
    domain = typed(parameter.annotation, side.home, view)
    if isinstance(domain, Opaque):
        domain = _by_name_elsewhere(side, parameter.arg, sides, view)
    if constant is None and default is not None:
        domain = domain if isinstance(domain, Opaque) else unite([OneOf((None,)), domain])
    return domain


def _enum_default(side: _Side, default: ast.expr, view: View) -> Domain:
    """`mode=Mode.FAST` without annotation: one of the modes."""
    owner = side.home.dotted(default).rpartition(".")[0]
    found = side.home.find(owner) if owner else None
    if found is None or not isinstance(found.node, ast.ClassDef):
        return Opaque()
    domain = class_domain(found, side.home.of(found), view)
    return domain if isinstance(domain, OneOf) else Opaque()


def _path(side: _Side, root: str, sides: list[_Side]) -> Domain:
    view = View(side.facts, root)
    node, home = side.annotation(root)
    domain = typed(node, home, view)
    return _by_name_elsewhere(side, root, sides, view) if isinstance(domain, Opaque) else domain


def _by_name_elsewhere(side: _Side, root: str, sides: list[_Side], view: View) -> Domain:
    """What the twin says about the input of the same name."""
    leaf = root.rpartition(".")[2]
    for twin in sides:
        if twin is side:
            continue
        names = [root, *(each.arg for each in twin.parameters if each.arg == leaf), *twin.facts.roots()]
        for name in names:
            if name == root or name.rpartition(".")[2] == leaf:
                node, home = twin.annotation(name)
                domain = typed(node, home, view) if node is not None else Opaque()
                if not isinstance(domain, Opaque):
                    return domain
    return Opaque()


def _adopt(facts: Facts, twin: _Side, parameters: list[str]) -> None:
    """The twin's facts under the names of this side."""
    ours = {root.rpartition(".")[2]: root for root in [*facts.roots(), *parameters]}
    known = {*facts.roots(), *parameters}
    theirs = {each.arg for each in twin.parameters}
    names: dict[str, str] = {}
    for root in [*twin.facts.roots(), *theirs]:
        names[root] = root if root in known else ours.get(root.rpartition(".")[2], root)
    for root, places in twin.facts.table.items():
        if names[root] not in known and root in theirs:
            continue  # a parameter that this side has under no name
        for steps, categories in places.items():
            for category, values in categories.items():
                for value in values:
                    facts.add((names[root], steps), category, value)
    for root, ties in twin.facts.ties.items():
        for tie in ties:
            if len(facts.ties.setdefault(names[root], [])) < 8:
                moved = Tie(renamed(tie.expression, names), tie.kind)
                if moved not in facts.ties[names[root]]:
                    facts.ties[names[root]].append(moved)


def _is_covered(root: str, found: dict[str, Domain]) -> bool:
    """Whether an attribute belongs to an object that has a domain as a whole."""
    parts = root.split(".")
    prefixes = (".".join(parts[:size]) for size in range(1, len(parts)))
    return any(prefix in found and not isinstance(found[prefix], Opaque) for prefix in prefixes)


def _sharpen(found: dict[str, Domain], root: str, shown: Domain) -> None:
    """What the code shows of a field of a record that is an input as a whole."""
    parts = root.split(".")
    for size in range(1, len(parts)):
        prefix = ".".join(parts[:size])
        if prefix in found:
            found[prefix] = _with_field(found[prefix], parts[size:], shown)


def _with_field(domain: Domain, path: list[str], shown: Domain) -> Domain:
    if isinstance(domain, Maybe):
        return Maybe(_with_field(domain.inner, path, shown))
    if not path:
        return with_hints(domain, shown)
    if not isinstance(domain, Record):
        return domain
    fields = [
        Field(each.name, _with_field(each.domain, path[1:], shown), each.can_miss) if each.name == path[0] else each
        for each in domain.fields
    ]
    return Record(tuple(fields), domain.ref)


def _tied(ties: list[Tie], root: str, domain: Domain, found: dict[str, Domain]) -> Domain:
    """The domain with the ties that can be worked out from the other inputs."""
    inner = domain.inner if isinstance(domain, Maybe) else domain
    if isinstance(inner, (Opaque, Bool, OneOf, Record)):
        return domain
    usable = [each for each in ties if _is_workable(each, root, found)]
    return Tied(domain, tuple(usable)) if usable else domain


def _is_workable(tie: Tie, root: str, found: dict[str, Domain]) -> bool:
    names = names_in(tie.expression)
    return bool(names) and all(
        name != root and any((name + ".").startswith(f"{each}.") for each in found if not _is_opaque(found[each]))
        for name in names
    )


def _is_opaque(domain: Domain) -> bool:
    inner = inner_of(domain)
    return isinstance(inner.inner if isinstance(inner, Maybe) else inner, Opaque)
