"""Methods that only one side has, or that have another signature there: a call of one, on whatever object, runs its
body, so that a method that was inlined into its callers, or made a function, is followed. Only where the name leaves
no doubt: one class of the side's tree defines it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from codemods.prove.live import LeftOut
from codemods.prove.sides import FunctionNode
from codemods.prove.stable import signature

if TYPE_CHECKING:
    from codemods.prove.slices import Loader

_LEFT_OUT = LeftOut("", "")
_PLAIN = frozenset(name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind))


class LoneMethods:
    """For one side of a pair."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._names: dict[str, tuple[str, str]] | None = None
        self._functions: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """The function to run for a method name; None where calls of it stay opaque."""
        if self._names is None:
            self._names = self._found()
        if name not in self._names:
            return None
        if name not in self._functions:
            self._functions[name] = None  # while it is being made
            self._functions[name] = self._made(name)
        return self._functions[name]

    def _made(self, name: str) -> Any:
        if not self._is_only(name):
            return None
        assert self._names is not None
        module, owner_name = self._names[name]
        loader = self._loader
        node, _ = loader.side.definition(module, owner_name)
        space = loader.space(module)
        if space is None or not isinstance(node, ast.ClassDef):
            return None
        found = space.names.get(owner_name)
        if not isinstance(found, type) or isinstance(found.__dict__.get(name, _LEFT_OUT), LeftOut):
            before = space.names.pop(owner_name, None)
            found = space.define(node, loader.needed_methods(module, node, name))
            if before is not None:
                space.names[owner_name] = before
        function = found.__dict__.get(name)
        return function if callable(function) and not isinstance(function, type) else None

    def _found(self) -> dict[str, tuple[str, str]]:
        """Methods of changed files without a partner of the same signature, by name."""
        twins, side = self._loader.twins, self._loader.side
        other = twins.new if side is twins.old else twins.old
        found: dict[str, tuple[str, str]] = {}
        for path in sorted(twins.changed):
            if not path.endswith(".py") or path not in side.files:
                continue
            module = side.modules.module_of(path)
            facts = side.facts(module)
            for name, node in facts.definitions.items() if facts is not None else ():
                if not isinstance(node, ast.ClassDef):
                    continue
                there = self._partner(other, f"{module}:{name}")
                for method in node.body:
                    if isinstance(method, FunctionNode) and not _has_partner(method, there) and _is_plain(method):
                        found[method.name] = (module, name)
        return found

    def _partner(self, other: Any, key: str) -> ast.ClassDef | None:
        twins = self._loader.twins
        there = twins.original(key) if other is twins.new else twins.canonical(twins.new, key)
        module, _, name = there.partition(":")
        if other.facts(module) is None:
            return None
        node = other.definition(module, name)[0]
        return node if isinstance(node, ast.ClassDef) else None

    def _is_only(self, name: str) -> bool:
        """Whether nothing else in the tree of this side defines the name."""
        word = f"def {name}(".encode()
        files = self._loader.side.files
        count = 0
        for path in files.paths():
            if path.endswith(".py"):
                count += files.read(path).count(word)
                if count > 1:
                    return False
        return count == 1


def _has_partner(method: FunctionNode, there: ast.ClassDef | None) -> bool:
    found = [each for each in (there.body if there is not None else ()) if isinstance(each, FunctionNode)]
    return any(each.name == method.name and signature(each) == signature(method) for each in found)


def _is_plain(method: FunctionNode) -> bool:
    return not method.decorator_list and not method.name.startswith("__") and method.name not in _PLAIN
