"""What others may take from a module: its public names, where its definitions say they live, what a star import brings,
and which functions a patch of a name reaches. By the old side's text: that is what the world has seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.prove.following import Place
from codemods.prove.sides import FunctionNode, ModuleFacts, Side
from codemods.prove.stable import Twins


class NameFacts(Struct, frozen=True):
    """names: to be asked for. homes: of those, definitions whose `__module__` and `__qualname__` may be stored.
    starred: of `__all__`. patches: (name, function that reads it), where both stay reachable through the module and
    the function has moved away. fields: (class, name) of what a class binds to a value."""

    module: str = ""
    names: tuple[str, ...] = ()
    homes: frozenset[str] = frozenset()
    starred: tuple[str, ...] = ()
    patches: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, str], ...] = ()

    def patch_place(self, side: Side, name: str, reader: str) -> Place | None:
        """Where a function reads a name of the module, on one side; None where a patch of it does not reach there."""
        target = side.resolve(self.module, reader)
        facts = side.facts(target.module)
        if facts is None or target.node is None:
            return None
        for each in ast.walk(target.node):
            if target.module == self.module and isinstance(each, ast.Name) and each.id == name:
                return f"<{side.label}>{facts.path}", each.lineno
            if isinstance(each, ast.Attribute) and each.attr == name and isinstance(each.value, ast.Name):
                base = side.resolve(target.module, each.value.id)
                if base.kind == "module" and base.module == self.module:
                    return f"<{side.label}>{facts.path}", each.lineno
            if not isinstance(each, ast.ImportFrom) or all(alias.name != name for alias in each.names):
                continue
            if side.modules.absolute(facts.path, each.level, each.module) == self.module:
                return f"<{side.label}>{facts.path}", each.lineno
        return None


def name_facts(twins: Twins, old: str, new: str) -> NameFacts:
    """For one module that stands on the old side, and may be gone on the new one."""
    facts = twins.old.facts(old)
    assert facts is not None
    names = tuple(name for name in facts.bindings if _is_public(twins.old, facts, name))
    names += tuple(name for name in _star_names(twins.old, facts) if name not in names)
    return NameFacts(
        module=old,
        names=names,
        homes=frozenset(name for name in names if name in facts.definitions),
        starred=_listed(facts),
        patches=_patches(twins, facts, new),
        fields=tuple(_fields(facts)),
    )


def _fields(facts: ModuleFacts) -> Iterator[tuple[str, str]]:
    """Class and name of what public classes bind to a value."""
    for owner, node in facts.definitions.items():
        for each in node.body if isinstance(node, ast.ClassDef) and owner[:1] != "_" else ():
            if not isinstance(each, ast.AnnAssign) or each.value is not None:
                yield from ((owner, name) for name in names_of(each) if name[:1] != "_")


def names_of(node: ast.stmt) -> list[str]:
    """What an assignment binds."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _is_public(side: Side, facts: ModuleFacts, name: str) -> bool:
    """Defined here; or taken from the tree for others: by a package, in `__all__`, or as `x as x`."""
    if name[:1] == "_":
        return False
    imported = facts.imports.get(name)
    if imported is None or name in _listed(facts):
        return True
    node, alias = imported
    if isinstance(node, ast.Import):
        return False
    is_of_tree = side.has_module(side.modules.absolute(facts.path, node.level, node.module))
    return is_of_tree and (facts.path.endswith("__init__.py") or alias.asname == alias.name)


def _star_names(side: Side, facts: ModuleFacts) -> list[str]:
    """What star imports of a package bring, where the tree says it in `__all__`."""
    found: list[str] = []
    for star in facts.stars if facts.path.endswith("__init__.py") else ():
        source = side.facts(side.modules.absolute(facts.path, star.level, star.module))
        if source is not None:
            found.extend(_listed(source) or [name for name in source.definitions if name[:1] != "_"])
    return found


def _listed(facts: ModuleFacts) -> tuple[str, ...]:
    """`__all__`, as far as it is written out."""
    found: list[str] = []
    for index in facts.bindings.get("__all__", ()):
        for each in ast.walk(facts.tree.body[index]):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                found.append(each.value)
    return tuple(dict.fromkeys(found))


def _patches(twins: Twins, facts: ModuleFacts, new: str) -> tuple[tuple[str, str], ...]:
    there = twins.new.facts(new)
    if there is None:
        return ()
    found: list[tuple[str, str]] = []
    for reader, node in facts.definitions.items():
        target = twins.new.resolve(new, reader)
        if not isinstance(node, FunctionNode) or target.node is None or target.module == new:
            continue
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        still = {each.id for each in ast.walk(target.node) if isinstance(each, ast.Name)}
        for name in sorted(used & still & set(facts.bindings) & set(there.bindings)):
            if (
                name != reader
                and name[:1] != "_"
                and twins.old.resolve(facts.module, name).kind in ("function", "class")
            ):
                found.append((name, reader))
    return tuple(found)
