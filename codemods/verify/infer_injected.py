"""Fields, getters and callbacks that a class is given in place of the whole object it read them from. Guesses."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from codemods.source.nodes import walk
from codemods.verify.frames import Claims
from codemods.verify.names import Names


def infer_injected(old: Names, befores: Iterable[str], new: Names, claims: Claims) -> None:
    """For classes whose __init__ keeps other parameters than before."""
    for path in befores:
        after = claims.modules.get(path, path)
        if after not in new.files:
            continue
        for qualname, kind in old.kinds(path).items():
            there = claims.pairs.get((path, qualname), (after, qualname))
            is_class = kind is ast.ClassDef and new.has(there)
            if not is_class or old.digests(path)[qualname] == new.digests(there[0])[there[1]]:
                continue
            node, other = old.definitions(path)[qualname], new.definitions(there[0])[there[1]]
            if isinstance(node, ast.ClassDef) and isinstance(other, ast.ClassDef):
                _look_at(node, other, there, claims)


def _look_at(node: ast.ClassDef, other: ast.ClassDef, there: tuple[str, str], claims: Claims) -> None:
    before, now = _kept(node), _kept(other)
    lost, gained = before - now, now - before
    if not lost or not gained:
        return
    chains = Counter(
        (each.value.attr, each.attr)
        for each in walk(node)
        if isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Attribute)
        and isinstance(each.value.value, ast.Name)
        and each.value.value.id == "self"
        and each.value.attr in lost
    )
    called = {
        each.func.attr
        for each in walk(other)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and not each.args and not each.keywords
    }
    for first, last in chains:
        for name in sorted(gained):
            bare = name.lstrip("_")
            if bare == last.lstrip("_"):
                claims.injected[there[0], there[1], first, last] = name
            elif bare == f"get_{last.lstrip('_')}" and name in called:
                claims.injected[there[0], there[1], first, last] = f"{name}()"


def _kept(node: ast.ClassDef) -> set[str]:
    """The attributes that __init__ sets to a parameter of the same name."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return {
                target.attr
                for statement in each.body
                if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name)
                for target in statement.targets
                if isinstance(target, ast.Attribute) and target.attr.lstrip("_") == statement.value.id.lstrip("_")
            }
    return set()
