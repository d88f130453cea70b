"""What a call may set anew of what code has read before: attributes of objects, names of modules, attributes of
classes. By the text of what it calls, as far as its own module and what that imports; of what is not in the trees, what
it is called on or given.

What has so many definitions in the tree that nobody can tell which one it is counts as not in the trees. That a call
changes what it was not given, deep in modules that its own does not name, is not seen."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from codemods.prove.changing import Changes, Path, changes_by, functions_in, names_of_functions
from codemods.prove.opaque import ATTR, GLOBAL, ROOT, Opaque
from codemods.prove.sides import FunctionNode, ModuleFacts, Side
from codemods.prove.stable import Twins
from codemods.schema.errors import SourceError
from codemods.source.index import mentioning

_MOST_HOMES = 6  # modules that define a method of one name
_MOST_MODULES = 5  # that are read for one call
_REBOUND = "_u_rebound"
_MAKING = ("__init__", "__new__", "__post_init__")


class Altered(NamedTuple):
    """What a call may set anew. names: attributes, of any object. own: of the instance that the method of a pair runs
    on. others: of any other. places: names of modules and classes, by key on the old side. is_outside: attributes of
    whatever it was called on or given."""

    names: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    is_outside: bool = False
    every: frozenset[str] = frozenset()  # attributes of whatever

    def __or__(self, other: Altered) -> Altered:
        return Altered(
            self.names | other.names,
            self.own | other.own,
            self.others | other.others,
            self.places | other.places,
            self.is_outside or other.is_outside,
            self.every | other.every,
        )

    def sets(self, attribute: Opaque) -> bool:
        """Whether this attribute may be among those that are known by name."""
        base, name = attribute._u_parts[:2]
        return name in self.names or name in (self.own if is_self(base) else self.others)


_NOTHING, _OUTSIDE = Altered(), Altered(is_outside=True)


class Alterations(dict[Opaque, Altered]):
    """By callee. owner: the class around a method that is a pair, by module and name on the old side."""

    def __init__(self, twins: Twins, owner: tuple[str, ast.ClassDef] | None) -> None:
        super().__init__()
        self._twins, self._owner = twins, owner
        self._kin = _kin(twins.old, *owner) if owner is not None else frozenset[str]()
        self._methods = frozenset(each.name for each in functions_of(owner[1])) if owner is not None else frozenset()
        self._sides = [twins.old] if twins.new is twins.old else [twins.old, twins.new]

    def __missing__(self, callee: Opaque) -> Altered:
        found = self[callee] = self._of(callee)
        return found

    def is_method(self, value: Opaque) -> bool:
        """Whether a value is a method of the instance that the pair runs on."""
        return value._u_kind is ATTR and value._u_parts[1] in self._methods and is_self(value._u_parts[0])

    def _of(self, callee: Opaque) -> Altered:
        if callee._u_kind is GLOBAL:
            module, colon, name = callee._u_parts[0].partition(":")
            return self._from([(module, name)]) if colon else _OUTSIDE
        if callee._u_kind is not ATTR:
            return _OUTSIDE
        method: str = callee._u_parts[1]
        if self._owner is not None and self.is_method(callee):
            return self._from([(self._owner[0], f"{self._owner[1].name}.{method}")])
        homes = self._homes(method)
        return self._from(homes) if 0 < len(homes) <= _MOST_HOMES else _OUTSIDE

    def _homes(self, name: str) -> list[tuple[str, str]]:
        """Modules of the trees that define a function or method of this name."""
        known = self._twins.notes.setdefault("homes", {})
        assert isinstance(known, dict)
        if name not in known:
            words = (f"def {name}(".encode(), f"def {name}[".encode())
            found: set[str] = set()
            for side in self._sides:
                for path in mentioning(side.files, name):
                    if path.endswith(".py") and any(word in side.files.read(path) for word in words):
                        found.add(self._twins.canonical(side, side.modules.module_of(path)))
            known[name] = [(module, name) for module in sorted(found)]
        homes: list[tuple[str, str]] = known[name]
        return homes

    def _from(self, homes: Iterable[tuple[str, str]]) -> Altered:
        found = _NOTHING
        for module, qualname in homes:
            for side in self._sides:
                key = f"{module}:{qualname}"
                there, _, name = (key if side is self._twins.old else self._twins.original(key)).partition(":")
                found |= self._reached(side, there, name)
        return found

    def _reached(self, side: Side, module: str, qualname: str) -> Altered:
        """What a function sets, and those that it uses."""
        found = _NOTHING
        pending = [(module, name) for name in _entered(side, module, qualname)]
        done: set[tuple[str, str]] = set()
        while pending:
            here, name = pending.pop()
            facts = _facts(side, here)
            if facts is None or (here, name) in done:
                continue
            functions = self._closure(facts, name)
            done |= {(here, each) for each in functions}
            found |= self._set_by(side, facts, functions)
            if len({each for each, _ in done}) < _MOST_MODULES:
                pending.extend(_used_elsewhere(side, facts, functions))
        return found

    @staticmethod
    def _closure(facts: ModuleFacts, name: str) -> set[str]:
        """The functions of a module that one of them may run, by name."""
        known = names_of_functions(facts)
        found, pending = {name}, [name]
        while pending:
            for used in _used(facts, pending.pop()):
                more = _MAKING if isinstance(facts.definitions.get(used), ast.ClassDef) else (used,)
                for each in more:
                    if each in known and each not in found:
                        found.add(each)
                        pending.append(each)
        return found

    def _set_by(self, side: Side, facts: ModuleFacts, functions: set[str]) -> Altered:
        names: set[str] = set()
        own: set[str] = set()
        others: set[str] = set()
        places = {f"{facts.module}:{name}" for name in _rebound_by(facts, functions)}
        for function in sorted(functions):
            changes = changes_by(facts, function)
            for path in (*changes.stored, *changes.contents):
                if len(path) < 2:
                    continue
                if not _is_of_self(path):
                    names.add(path[-1])
                elif function not in _MAKING:
                    (own if self._is_of_kin(facts, {function}) else others).add(path[-1])
            places |= {f"{module}:{name}" for module, name in _rebound_elsewhere(side, facts, changes, function)}
        keys = frozenset(self._twins.canonical(side, each) for each in places)
        return Altered(
            frozenset(names), frozenset(own), frozenset(own | others), keys, False, frozenset(names | own | others)
        )

    def _is_of_kin(self, facts: ModuleFacts, setters: set[str]) -> bool:
        """Whether the methods of these names in a module are all of the class of the pair, or of its kin: they set
        attributes of its own instances alone."""
        owners = [
            each
            for each in facts.definitions.values()
            if isinstance(each, ast.ClassDef) and any(part.name in setters for part in functions_of(each))
        ]
        return bool(owners) and all(
            each.name in self._kin or not self._kin.isdisjoint(map(_leaf, each.bases)) for each in owners
        )


def functions_of(node: ast.ClassDef) -> Iterator[FunctionNode]:
    return (each for each in node.body if isinstance(each, FunctionNode))


def is_self(value: object) -> bool:
    return type(value) is Opaque and value._u_kind is ROOT and value._u_parts[0] == "self"


def _is_of_self(path: Path) -> bool:
    return len(path) == 2 and path[0] == "self"


def _leaf(base: ast.expr) -> str:
    return ast.unparse(base).rpartition(".")[2]


def _kin(side: Side, module: str, owner: ast.ClassDef) -> frozenset[str]:
    found = {owner.name}
    pending = [(module, owner)]
    while pending:
        here, node = pending.pop()
        for base in node.bases:
            target = side.resolve(here, ast.unparse(base)) if isinstance(base, ast.Name) else None
            if _leaf(base) not in found:
                found.add(_leaf(base))
                if target is not None and isinstance(target.node, ast.ClassDef):
                    pending.append((target.module, target.node))
    return frozenset(found)


def _facts(side: Side, module: str) -> ModuleFacts | None:
    try:
        return side.facts(module)
    except SourceError:
        return None


def _entered(side: Side, module: str, qualname: str) -> Iterable[str]:
    """The functions that a call of a definition enters, by name."""
    if _facts(side, module) is None:
        return ()
    node, _ = side.definition(module, qualname)
    return _MAKING if isinstance(node, ast.ClassDef) else (qualname.rpartition(".")[2],)


def _used(facts: ModuleFacts, function: str) -> set[str]:
    """The names that the functions of a name use."""
    return changes_by(facts, function).calls.get(function, set())


def _used_elsewhere(side: Side, facts: ModuleFacts, functions: set[str]) -> Iterator[tuple[str, str]]:
    """Functions of other modules that functions of this one use by an imported name."""
    every = {name for each in functions for name in _used(facts, each)}
    for name in sorted(every & facts.imports.keys()):
        target = side.resolve(facts.module, name)
        if target.node is not None and target.module != facts.module:
            for each in _MAKING if isinstance(target.node, ast.ClassDef) else (target.name,):
                yield target.module, each
        elif target.kind == "module":
            there = _facts(side, target.module)
            for part in sorted(every & there.definitions.keys()) if there is not None else ():
                yield target.module, part


def _rebound_by(facts: ModuleFacts, functions: set[str]) -> set[str]:
    """The names of the module that these functions bind anew."""
    known: dict[str, set[str]] | None = facts.__dict__.get(_REBOUND)
    if known is None:
        known = facts.__dict__[_REBOUND] = {}
        for function in functions_in(facts.tree) if facts.rebound else ():
            bound = {name for each in ast.walk(function) if isinstance(each, ast.Global) for name in each.names}
            known.setdefault(function.name, set()).update(bound)
    return {name for function in functions for name in known.get(function, ())}


def _rebound_elsewhere(side: Side, facts: ModuleFacts, changes: Changes, function: str) -> Iterator[tuple[str, str]]:
    """`module.name = ...`, and `Class.name = ...` as it is called at the moment of a call (held.py)."""
    for path in changes.stored:
        if len(path) != 2:
            continue
        if path[0] == "cls":
            for each in facts.definitions.values():
                if isinstance(each, ast.ClassDef) and any(part.name == function for part in functions_of(each)):
                    yield facts.module, f"{each.name}.{path[1]}"
            continue
        target = side.resolve(facts.module, path[0])
        if target.kind == "module":
            yield target.module, path[1]
        elif target.kind == "class":
            yield target.module, f"{target.name}.{path[1]}"
