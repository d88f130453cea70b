"""Which function of one side is which of the other: by its place, by where its module or class went, or because a new
function is named after a method that is gone. Looks at changed files only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from codemods.prove.pairs_reach import Reach
from codemods.prove.sides import DefNode, FunctionNode, ModuleFacts, Side, reachable
from codemods.prove.stable import Twins


def definitions(facts: ModuleFacts | None) -> dict[str, DefNode]:
    """Functions, classes and methods of a module by qualified name, the last of each name; none of those in
    functions."""
    return dict(definitions_in(facts.tree, "")) if facts is not None else {}


def definitions_in(scope: ast.AST, prefix: str) -> Iterator[tuple[str, DefNode]]:
    """All of them in order, also several of one name. prefix: put before each name."""
    for each in reachable(scope):
        if isinstance(each, DefNode):
            yield prefix + each.name, each
            if isinstance(each, ast.ClassDef):
                yield from definitions_in(each, f"{prefix}{each.name}.")


def split_key(key: str) -> tuple[str, str]:
    module, _, name = key.partition(":")
    return module, name


def definition_of(side: Side, key: str) -> DefNode | None:
    module, name = split_key(key)
    return side.definition(module, name)[0] if side.facts(module) is not None else None


class Partners:
    """paths: the changed Python files."""

    def __init__(self, twins: Twins, paths: Sequence[str]) -> None:
        self.twins, self.old, self.new, self.paths = twins, twins.old, twins.new, paths
        self._reach: dict[str, Reach] = {}

    def definitions(self, side: Side) -> dict[str, DefNode]:
        """Of the changed files of a side, by key."""
        found: dict[str, DefNode] = {}
        for path in self.paths:
            if path in side.files:
                module = side.modules.module_of(path)
                found.update((f"{module}:{name}", node) for name, node in definitions(side.facts(module)).items())
        return found

    def functions(self, side: Side) -> dict[str, DefNode]:
        return {key: node for key, node in self.definitions(side).items() if isinstance(node, FunctionNode)}

    @cached_property
    def moved_methods(self) -> dict[str, str]:
        """Methods that are gone and that one function alone, which is new, is named after: old key to new key."""
        by_name: dict[str, list[str]] = {}
        for key, node in self.twins.only(self.new, self.old).items():
            if isinstance(node, FunctionNode) and key not in self.twins.moved():
                by_name.setdefault(key.partition(":")[2].lstrip("_"), []).append(key)
        found: dict[str, str] = {}
        for key in self.functions(self.old) if by_name else ():
            module, qualname = split_key(key)
            owner, dot, name = qualname.rpartition(".")
            if not dot or len(by_name.get(name.lstrip("_"), ())) != 1:
                continue
            new_owner = self.twins.original(f"{module}:{owner}")
            is_kept = definition_of(self.new, f"{new_owner}.{name}") is not None
            if not (is_kept and self.new.facts(split_key(new_owner)[0]) is not None):
                (found[key],) = by_name[name.lstrip("_")]
        return found

    def partner(self, side: Side, key: str) -> tuple[str, str] | None:
        """Old and new key of a function of a side; None where the other side has no such function."""
        if side is self.new:
            old_key = self.twins.canonical(self.new, key)
            if isinstance(definition_of(self.old, old_key), FunctionNode):
                return old_key, key
            old_key = next((old for old, new in self.moved_methods.items() if new == key), "")
            return (old_key, key) if old_key else None
        new_key = self.moved_methods.get(key) or self.twins.original(key)
        return (key, new_key) if isinstance(definition_of(self.new, new_key), FunctionNode) else None

    def reach(self, side: Side) -> Reach:
        """Who runs whom in the changed files of a side."""
        if side.label not in self._reach:
            modules = [side.modules.module_of(path) for path in self.paths if path in side.files]
            scopes = [facts for facts in map(side.facts, modules) if facts is not None]
            self._reach[side.label] = Reach(scopes, self.functions(side))
        return self._reach[side.label]
