"""Which definitions are the same on both sides, text and all that they use: those stand as one opaque thing in both
twins.

A definition whose text changed but not its signature is a pair of its own, and opaque to its callers. A definition that
has no partner, or another signature, is executed where it is called."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from codemods.prove.sides import DefNode, ModuleFacts, Side, Target


def digest(node: ast.AST) -> str:
    """A definition without its places and its docstring."""
    return ast.dump(node)


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What callers see: parameters with their defaults, whether it is async, and decorators."""
    args = node.args
    names = [[each.arg for each in part] for part in (args.posonlyargs, args.args, args.kwonlyargs)]
    defaults = [ast.dump(each) if each else "" for each in (*args.defaults, *args.kw_defaults)]
    rest = (args.vararg.arg if args.vararg else "", args.kwarg.arg if args.kwarg else "")
    decorators = [ast.dump(each) for each in node.decorator_list]
    return repr((names, defaults, rest, decorators, type(node).__name__))


class Twins:
    """Both trees and what they share. `changed`: the paths that differ."""

    def __init__(self, old: Side, new: Side, changed: Iterable[str]) -> None:
        self.old, self.new = old, new
        self.changed = frozenset(changed)
        new.share(old, self.changed)
        self._stable: dict[str, bool] = {}
        self._moved: dict[str, str] | None = None
        self._digests: dict[int, str] = {}
        self.notes: dict[str, object] = {}  # what others found of both trees; a mutant's twins share it

    def with_new(self, side: Side) -> Twins:
        """The same twins with another new side that binds the same names."""
        made = copy.copy(self)
        made.new = side
        return made

    # -- names

    def moved(self) -> dict[str, str]:
        """Definitions at the top level of changed modules that stand elsewhere on the new side: new key to old key."""
        if self._moved is None:
            self._moved = {}
            gone, came = self.only(self.old, self.new), self.only(self.new, self.old)
            by_text: dict[tuple[str, str], list[str]] = {}
            by_name: dict[str, list[str]] = {}
            for key, node in gone.items():
                by_text.setdefault((node.name, self.digest(node)), []).append(key)
                by_name.setdefault(node.name, []).append(key)
            for key, node in came.items():
                found = by_text.get((node.name, self.digest(node))) or by_name.get(node.name, [])
                if len(found) == 1:
                    self._moved[key] = found[0]
            self._find_renamed(gone, came, self._moved)
        return self._moved

    @staticmethod
    def _find_renamed(gone: dict[str, DefNode], came: dict[str, DefNode], moved: dict[str, str]) -> None:
        """Definitions with the same text but for their name, where there is one of either."""
        bodies: dict[str, tuple[list[str], list[str]]] = {}
        taken = set(moved.values())
        for which, side in enumerate((gone, came)):
            for key, node in side.items():
                if key not in (taken, moved)[which]:
                    text = ast.dump(node).replace(f"name={node.name!r}", "name=", 1)
                    bodies.setdefault(text, ([], []))[which].append(key)
        for old, new in bodies.values():
            if len(old) == len(new) == 1:
                moved[new[0]] = old[0]

    def only(self, side: Side, other: Side) -> dict[str, DefNode]:
        """Definitions at the top level of changed modules of a side that stand there on it alone, by key."""
        found: dict[str, DefNode] = {}
        for path in sorted(self.changed):
            if not path.endswith(".py") or path not in side.files:
                continue
            module = side.modules.module_of(path)
            facts = side.facts(module)
            there = other.facts(module)
            for name, node in facts.definitions.items() if facts is not None else ():
                if there is None or name not in there.definitions:
                    found[f"{module}:{name}"] = node
        return found

    def canonical(self, side: Side, key: str) -> str:
        """The name on the old side of what has this name on a side."""
        if side is self.old or ":" not in key:
            return key
        head, dot, tail = key.partition(".") if "." in key.partition(":")[2] else (key, "", "")
        if dot:
            module, _, qualname = key.partition(":")
            first, _, rest = qualname.partition(".")
            return f"{self.moved().get(f'{module}:{first}', f'{module}:{first}')}.{rest}"
        return self.moved().get(head + tail, key)

    def original(self, key: str) -> str:
        """The name on the new side of what has this name on the old side."""
        module, _, qualname = key.partition(":")
        first, dot, rest = qualname.partition(".")
        for new, old in self.moved().items():
            if old == f"{module}:{first}":
                return f"{new}{dot}{rest}"
        return key

    def digest(self, node: ast.AST) -> str:
        found = self._digests.get(id(node))
        if found is None:
            found = self._digests[id(node)] = digest(node)
        return found

    # -- what is the same

    def is_stable(self, side: Side, target: Target) -> bool:
        """Whether callers may take it as one thing on both sides."""
        key = self.canonical(side, target.key)
        if key not in self._stable:
            self._stable[key] = True  # while it is being decided: recursion is the same on both sides
            self._stable[key] = self._decide(key)
        return self._stable[key]

    def _decide(self, key: str) -> bool:
        module, _, name = key.partition(":")
        new_module, _, new_name = self.original(key).partition(":")
        old = self.old.resolve(module, name) if self.old.facts(module) else None
        new = self.new.resolve(new_module, new_name) if self.new.facts(new_module) else None
        if old is None or new is None or old.kind != new.kind:
            return False
        if old.kind == "value":
            return self._is_same_value(old, new)
        if old.node is None or new.node is None:
            return old.key == new.key
        if old.node is new.node:
            return True
        if isinstance(old.node, ast.ClassDef) and isinstance(new.node, ast.ClassDef):
            return self._is_same_class(old, new)
        assert isinstance(old.node, ast.FunctionDef | ast.AsyncFunctionDef)
        assert isinstance(new.node, ast.FunctionDef | ast.AsyncFunctionDef)
        if signature(old.node) != signature(new.node):
            return False
        return self.digest(old.node) == self.digest(new.node) or not self._makes_other_things(old, new)

    def _makes_other_things(self, old: Target, new: Target) -> bool:
        """Whether a function names a class that only its side has: what it gives back has another shape, so callers
        must be run with it."""
        for mine, side, other in ((old, self.old, self.new), (new, self.new, self.old)):
            for each in ast.walk(mine.node) if mine.node is not None else ():
                found = side.resolve(mine.module, each.id) if isinstance(each, ast.Name) else None
                if found is None or found.kind != "class":
                    continue
                key = self.original(found.key) if side is self.old else self.canonical(side, found.key)
                module, _, name = key.partition(":")
                if other.facts(module) is None or other.definition(module, name)[0] is None:
                    return True
        return False

    def _is_same_class(self, old: Target, new: Target) -> bool:
        """Same fields, bases and signatures; its methods are pairs of their own."""
        a, b = old.node, new.node
        assert isinstance(a, ast.ClassDef) and isinstance(b, ast.ClassDef)
        if self.digest(a) == self.digest(b):
            return True
        return outline(a) == outline(b)

    def _is_same_value(self, old: Target, new: Target) -> bool:
        a, b = self.old.facts(old.module), self.new.facts(new.module)
        assert a is not None and b is not None
        if a is not b and _value_text(a, old.name) != _value_text(b, new.name):
            return False
        for name in _value_names(a, old.name):
            if name != old.name and not self.means_same(old.module, new.module, name):
                return False
        return True

    def means_same(self, old_module: str, new_module: str, name: str) -> bool:
        """Whether a name means the same thing at the top level of a module of each side."""
        return self.is_same_target(self.old.resolve(old_module, name), self.new.resolve(new_module, name))

    def is_same_target(self, old: Target, new: Target) -> bool:
        """Whether what a name means on the old side is what one means on the new side."""
        if old.kind != new.kind:
            return False
        if old.kind in ("function", "class", "value"):
            return self.canonical(self.new, new.key) == old.key and self.is_stable(self.old, old)
        return old.kind in ("builtin", "missing") or old.key == new.key

    def is_same_function(self, old_module: str, old: DefNode, new_module: str, new: DefNode) -> bool:
        """Equal text, and every name in it means the same: nothing to prove."""
        return self.is_same_text(old_module, old, new_module, new)

    def is_same_text(self, old_module: str, old: ast.stmt, new_module: str, new: ast.stmt) -> bool:
        """The same of any statement."""
        if self.digest(old) != self.digest(new):
            return False
        names = {each.id for each in ast.walk(old) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
        return all(self.means_same(old_module, new_module, name) for name in sorted(names))


def outline(node: ast.ClassDef) -> str:
    """What a class offers: bases, decorators, fields, signatures; not what its methods do."""
    parts = [ast.dump(each) for each in (*node.bases, *node.keywords, *node.decorator_list)]
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            parts.append(f"{each.name}{signature(each)}")
        elif not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)):
            parts.append(ast.dump(each))
    return "\n".join(sorted(parts))


def _value_text(facts: ModuleFacts, name: str) -> list[str]:
    return [ast.dump(facts.tree.body[index]) for index in facts.bindings[name]]


def _value_names(facts: ModuleFacts, name: str) -> list[str]:
    found = {
        each.id
        for index in facts.bindings[name]
        for each in ast.walk(facts.tree.body[index])
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
    return sorted(found & facts.all_names)
