"""What reaches a change from files that did not change: callers whose callee is another or gone, subclasses of a class
that changed, modules that import what is gone or stand in a cycle of imports with what changed.

A search for words over the whole tree says which files are read; only those are parsed. Calls on receivers that nobody
knows are no reach: the receiver is opaque on both sides."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.prove.affected_names import bound_inside, frame, in_annotations, is_base, made_of, words
from codemods.prove.partners import definition_of, definitions_in
from codemods.prove.sides import DefNode, FunctionNode, ModuleFacts, Side, Target
from codemods.prove.stable import Twins, outline, signature
from codemods.schema.errors import SourceError
from codemods.source.import_graph import imported_files
from codemods.source.index import mentioning

_MOST_FILES = 400  # that mention one name
_MOST_MODULES = 60  # of one cycle of imports
_MISSING = Target("missing", "", "")


class Affected:
    """`names`: keys of the old side (`module:name`) that are not what they were."""

    def __init__(self, twins: Twins, names: set[str]) -> None:
        self.twins, self.old, self.new = twins, twins.old, twins.new
        self.names = names
        self._unsteady: dict[str, frozenset[str]] = {}
        self._reaching: dict[str, set[str]] | None = None

    # -- callers

    def callables(self) -> list[str]:
        """Functions and methods of unchanged files in which a name means something else now, by key."""
        found: list[str] = []
        for path, names in sorted(self._files().items()):
            module = self.new.modules.module_of(path)
            facts = self._facts(self.new, module)
            for key, node in definitions_in(facts.tree, f"{module}:") if facts is not None else ():
                if (
                    isinstance(node, FunctionNode)
                    and names & words(node)
                    and self.is_affected(module, module, node, among=names)
                ):
                    found.append(key)
        return found

    def is_affected(self, old_module: str, new_module: str, node: DefNode, among: set[str] | None = None) -> bool:
        """Whether a name, an import or an attribute of a module in a function means something else now. The text is
        the same on both sides. among: the only names that can."""
        local = bound_inside(node)
        types = in_annotations(node)
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in local:
                if among is not None and each.id not in among:
                    continue
                if not self.twins.means_same(old_module, new_module, each.id) and self._is_felt(
                    new_module, each, node, is_type=each in types
                ):
                    return True
            elif isinstance(each, ast.ImportFrom):
                if self._is_import_felt(old_module, new_module, each, node, among):
                    return True
            elif isinstance(each, ast.Import):
                if not self._are_modules(each):
                    return True
            elif (
                isinstance(each, ast.Attribute)
                and (among is None or each.attr in among)
                and not self._is_same_member(old_module, new_module, each)
            ):
                return True
        return False

    def _is_felt(self, module: str, name: ast.Name, node: DefNode, *, is_type: bool) -> bool:
        """Whether a function notices that a name means something else. Of a class that is as it was but for methods
        that came, went or have another signature, only who uses one of these does; of what it only annotates with,
        likewise."""
        is_made = not is_type and is_base(name, node)
        return self._is_target_felt(self.new.resolve(module, name.id), node, is_type=is_type, is_base_here=is_made)

    def _is_target_felt(self, found: Target, node: DefNode, *, is_type: bool, is_base_here: bool) -> bool:
        if not isinstance(found.node, ast.ClassDef):
            return not is_type
        if not is_type and (is_base_here or not self._has_sameframe(found)):
            return True
        unsteady = self.unsteady_methods(found.key)
        return any(isinstance(each, ast.Attribute) and each.attr in unsteady for each in ast.walk(node))

    def _has_sameframe(self, found: Target) -> bool:
        """Whether a class differs from its partner in plain methods alone, or in what is behind its bases."""
        module, _, name = self.twins.canonical(self.new, found.key).partition(":")
        there = self.old.definition(module, name)[0] if self._facts(self.old, module) is not None else None
        if not isinstance(found.node, ast.ClassDef) or not isinstance(there, ast.ClassDef):
            return False
        return outline(frame(found.node)) == outline(frame(there))

    def _is_import_felt(
        self, old_module: str, new_module: str, node: ast.ImportFrom, user: DefNode, among: set[str] | None
    ) -> bool:
        """Whether a function notices what an import inside it brings now."""
        bases = {each.id for each in ast.walk(user) if isinstance(each, ast.Name) and is_base(each, user)}
        for alias in node.names:
            if among is not None and alias.name not in among and alias.name != "*":
                continue
            there, here = (
                self._imported(side, module, node, alias)
                for side, module in ((self.old, old_module), (self.new, new_module))
            )
            is_base_here = (alias.asname or alias.name) in bases
            if not self.twins.is_same_target(there, here) and (
                there.kind != here.kind or self._is_target_felt(here, user, is_type=False, is_base_here=is_base_here)
            ):
                return True
        return False

    def _imported(self, side: Side, module: str, node: ast.ImportFrom, alias: ast.alias) -> Target:
        facts = self._facts(side, module)
        source = side.modules.absolute(facts.path, node.level, node.module) if facts is not None else ""
        return side.member(source, alias.name) if alias.name != "*" else _MISSING

    def _are_modules(self, node: ast.Import) -> bool:
        return all(self.old.has_module(alias.name) == self.new.has_module(alias.name) for alias in node.names)

    def _is_same_member(self, old_module: str, new_module: str, node: ast.Attribute) -> bool:
        """`package.module.name`, where the front is a module of the tree."""
        old, new = self._module(self.old, old_module, node.value), self._module(self.new, new_module, node.value)
        if not old:
            return True
        return bool(new) and self.twins.is_same_target(self.old.member(old, node.attr), self.new.member(new, node.attr))

    def _module(self, side: Side, module: str, node: ast.expr) -> str:
        """The module of the tree that an expression means; empty where it is none."""
        if isinstance(node, ast.Name):
            found = side.resolve(module, node.id)
            return found.module if found.kind == "module" and side.has_module(found.module) else ""
        if isinstance(node, ast.Attribute):
            front = self._module(side, module, node.value)
            return f"{front}.{node.attr}" if front and side.has_module(f"{front}.{node.attr}") else ""
        return ""

    def _files(self) -> dict[str, set[str]]:
        """Unchanged files that may reach a changed name, with the names as they have them."""
        if self._reaching is None:
            self._reaching = self._searched()
        return self._reaching

    def _searched(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        pending = sorted({tuple(key.split(":", 1)) for key in self.names})
        seen = set(pending)
        while pending:
            module, name = pending.pop()
            for path in self._mentioning(name, module):
                if path in self.twins.changed:
                    continue
                found.setdefault(path, set()).add(name)
                here = self.new.modules.module_of(path)
                for bound in self._binds(here, name):
                    found[path].add(bound)
                    if (here, bound) not in seen:
                        seen.add((here, bound))
                        pending.append((here, bound))
        return found

    def _mentioning(self, name: str, module: str) -> list[str]:
        """Files with the name and the module's own, and those that take everything of the module."""
        leaf = module.rpartition(".")[2]
        files = self.new.files
        found = mentioning(files, name, leaf) if leaf else mentioning(files, name)
        if len(found) > _MOST_FILES:
            return []
        stars = (
            [path for path in mentioning(files, leaf)[:_MOST_FILES] if b"import *" in files.read(path)] if leaf else []
        )
        siblings = [path for path in mentioning(files, name)[:_MOST_FILES] if self._is_beside(path, module)]
        return sorted({*found, *stars, *siblings})

    def _is_beside(self, path: str, module: str) -> bool:
        """`from . import name` names no module."""
        return self.new.modules.package_of(path) == module

    def _binds(self, here: str, name: str) -> Iterator[str]:
        """The names at the top level of a module that mean, or are made of, a changed one."""
        facts = self._facts(self.new, here)
        if facts is None:
            return
        for bound in made_of(facts, name):
            if not self.twins.means_same(here, here, bound):
                yield bound
        if facts.stars and name not in facts.bindings and not self.twins.means_same(here, here, name):
            yield name

    def unsteady_methods(self, owner: str) -> frozenset[str]:
        """The methods of a class, named by its key on the new side, that lost their partner or their signature."""
        if owner not in self._unsteady:
            canonical = self.twins.canonical(self.new, owner)
            old, new = _methods(self.old, canonical), _methods(self.new, owner)
            self._unsteady[owner] = frozenset(
                name for name in {*old, *new} if name not in old or name not in new or old[name] != new[name]
            )
        return self._unsteady[owner]

    # -- subclasses

    def subclasses(self, keys: Iterable[str]) -> list[tuple[str, str]]:
        """Classes that inherit from one of these (keys of the new side) and stand on both sides: old and new key."""
        found: dict[str, tuple[str, str]] = {}
        pending = list(keys)
        seen = set(pending)
        while pending:
            for key in self._direct_subclasses(pending.pop()):
                if key in seen:
                    continue
                seen.add(key)
                pending.append(key)
                canonical = self.twins.canonical(self.new, key)
                module, _, name = canonical.partition(":")
                if self._facts(self.old, module) is not None and self.old.definition(module, name)[0] is not None:
                    found[key] = (canonical, key)
        return [found[key] for key in sorted(found)]

    def _direct_subclasses(self, key: str) -> Iterator[str]:
        name = key.partition(":")[2].rpartition(".")[2]
        for path in mentioning(self.new.files, name, "class")[:_MOST_FILES]:
            module = self.new.modules.module_of(path)
            facts = self._facts(self.new, module)
            for qualname, node in definitions_in(facts.tree, "") if facts is not None else ():
                if isinstance(node, ast.ClassDef) and any(self._base_key(module, base) == key for base in node.bases):
                    yield f"{module}:{qualname}"

    def _base_key(self, module: str, node: ast.expr) -> str:
        if isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            return self.new.resolve(module, node.id).key
        if isinstance(node, ast.Attribute):
            front = self._module(self.new, module, node.value)
            return self.new.member(front, node.attr).key if front else ""
        return ""

    # -- modules

    def modules(self, changed: list[str]) -> list[str]:
        """Modules that stand in a cycle of imports with one whose top level changed, and those that import at their top
        level what is gone."""
        found: dict[str, None] = {}
        for module in changed:
            for path in self._cycle(self.new, module)[:_MOST_MODULES]:
                found.setdefault(self.new.modules.module_of(path))
        for path, among in sorted(self._files().items()):
            module = self.new.modules.module_of(path)
            facts = self._facts(self.new, module)
            if facts is None:
                continue
            names = [
                name
                for name, (_, alias) in facts.imports.items()
                if not among.isdisjoint((name, alias.name)) and not self.twins.means_same(module, module, name)
            ]
            if any(self.new.resolve(module, name).kind == "missing" for name in names):
                found.setdefault(module)
        return [module for module in found if module and self.old.facts(module) is not None]

    @staticmethod
    def _cycle(side: Side, module: str) -> list[str]:
        """The files that a module imports in the end and that import it in the end."""
        start = side.modules.path_of(module)
        if start is None or not start.endswith(".py"):
            return []
        after: dict[str, list[str]] = {}
        pending = [start]
        while pending:
            path = pending.pop()
            if path not in after:
                after[path] = [each for each in imported_files(side.files, path) if each.endswith(".py")]
                pending.extend(after[path])
        before: dict[str, list[str]] = {}
        for path, others in after.items():
            for other in others:
                before.setdefault(other, []).append(path)
        reach: dict[str, None] = {}
        pending = list(before.get(start, ()))
        while pending:
            path = pending.pop()
            if path not in reach:
                reach[path] = None
                pending.extend(before.get(path, ()))
        return sorted(path for path in reach if path != start)

    @staticmethod
    def _facts(side: Side, module: str) -> ModuleFacts | None:
        """As the side has it; None where an unchanged file can't be parsed: nothing is proved of it."""
        try:
            return side.facts(module)
        except SourceError:
            return None


def _methods(side: Side, key: str) -> dict[str, str]:
    node = definition_of(side, key)
    if not isinstance(node, ast.ClassDef):
        return {}
    return {each.name: signature(each) for each in node.body if isinstance(each, FunctionNode)}
