"""Changed lines that lie in no pair: a function that only one side has (new, gone, split, inlined) has no partner to be
compared with, so whoever runs it is compared: the nearest functions that both sides have. What nothing reaches is left
over, and said.

By names alone, within the changed files: a pair too many costs time, one too few would leave lines unproved."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from codemods.prove.affected_names import words
from codemods.prove.sides import DefNode, FunctionNode, ModuleFacts, reachable


class Reach:
    """Who runs whom on one side, by names. scopes: changed modules. functions: of these, by key."""

    def __init__(self, scopes: Iterable[ModuleFacts], functions: Mapping[str, DefNode]) -> None:
        self._callers: dict[str, set[str]] = {}  # name -> keys of functions that name it
        self._bound: dict[str, set[str]] = {}  # name -> names that are bound to what names it
        for key, node in functions.items():
            if isinstance(node, FunctionNode):
                for name in words(node):
                    self._callers.setdefault(name, set()).add(key)
        for facts in scopes:
            for statement in _outside_functions(facts.tree):
                targets = _targets(statement)
                for name in words(statement) if targets else ():
                    self._bound.setdefault(name, set()).update(targets)

    def runners(self, key: str, has_partner: Callable[[str], bool]) -> set[str]:
        """The nearest functions that may run this one and have a partner on the other side."""
        found: set[str] = set()
        names = list(_called_by(key))
        seen, known = {key}, set(names)
        while names:
            name = names.pop()
            more = set(self._bound.get(name, ()))
            for caller in self._callers.get(name, set()) - seen:
                seen.add(caller)
                if has_partner(caller):
                    found.add(caller)
                else:
                    more.update(_called_by(caller))
            names.extend(more - known)
            known |= more
        return found


def _called_by(key: str) -> tuple[str, ...]:
    """The names by which a function is run: a special method by that of its class."""
    owner, _, name = key.partition(":")[2].rpartition(".")
    is_special = bool(owner) and name.startswith("__") and name.endswith("__")
    return (owner.rpartition(".")[2],) if is_special else (name,)


def _outside_functions(tree: ast.Module) -> Iterator[ast.stmt]:
    pending: list[ast.AST] = [tree]
    while pending:
        for each in reachable(pending.pop()):
            if isinstance(each, ast.ClassDef):
                pending.append(each)
            elif not isinstance(each, FunctionNode):
                yield each


def _targets(statement: ast.stmt) -> set[str]:
    return {
        each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }
