"""What a change may have altered, as pairs to prove: callables, classes and modules of the changed files, and those of
unchanged files that reach what changed (readers.py of this floor: affected.py).

Reads both trees. What both sides share, text and all that its names mean, is no pair. With a residue (lines that no
operation accounts for) only what touches those lines is, and what that affects."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import partial

from codemods.prove.affected_names import bound_names, words
from codemods.prove.definitions import top_level
from codemods.prove.pairs_affected import Affected
from codemods.prove.partners import Partners, definition_of, definitions, split_key
from codemods.prove.renamed import with_same
from codemods.prove.residue import IMPORTS, OLD, Renamed, Residue
from codemods.prove.sides import DefNode, FunctionNode, Side
from codemods.prove.stable import Twins, outline
from codemods.schema.prove import Pair, PairKind
from codemods.source.files import FileSet
from codemods.source.nodes import first_line

_MAKERS = (
    "__init__",
    "__post_init__",
    "__new__",
    "__init_subclass__",
    "__setattr__",
    "__getattr__",
    "__getattribute__",
)


def pairs_of_change(
    old: FileSet,
    new: FileSet,
    changed: Collection[str],
    residue: Residue | None = None,
    renamed: Sequence[Renamed] = (),
) -> list[Pair]:
    """In a stable order: callables, classes, modules. renamed: attributes that have another name now. Raises
    SourceError for a file that can't be parsed."""
    twins = Twins(Side("old", old), Side("new", new), changed)
    return with_same(twins, PairsOfChange(twins, residue).all(), renamed)


class PairsOfChange:
    """The search, kept so that its parts can be asked one by one."""

    def __init__(self, twins: Twins, residue: Residue | None = None) -> None:
        self.twins, self.residue = twins, residue
        self.old, self.new = twins.old, twins.new
        self._found: dict[tuple[PairKind, str, str], Pair] = {}
        self.paths = sorted(path for path in twins.changed if path.endswith(".py"))
        self.partners = Partners(twins, self.paths)
        self.affected = Affected(twins, self.touched_names())

    def all(self) -> list[Pair]:
        self._callables()
        self._moved_methods()
        if self.residue is not None:
            self._runners()
        self._classes()
        self._modules()
        order = list(PairKind)
        return sorted(self._found.values(), key=lambda each: (order.index(each.kind), each.new, each.old))

    def _add(self, kind: PairKind, old: str, new: str) -> None:
        self._found.setdefault((kind, old, new), Pair(old=old, new=new, kind=kind, origin="ledger"))

    # -- lines

    def is_touched(self, path: str, node: ast.AST | None, *, is_old: bool = False) -> bool:
        """Whether a line of the residue lies in a node."""
        if self.residue is None:
            return True
        lines = self.residue.get(f"{OLD}{path}" if is_old else path, ())
        if node is None or not lines:
            return False
        first = first_line(node)
        last = node.end_lineno or first  # type: ignore[attr-defined]
        return any(first <= line <= last for line in lines)

    def _is_either_touched(self, old_key: str, old: ast.AST | None, new_key: str, new: ast.AST | None) -> bool:
        if self.residue is None:
            return True
        return self.is_touched(self._path(self.old, old_key), old, is_old=True) or self.is_touched(
            self._path(self.new, new_key), new
        )

    @staticmethod
    def _path(side: Side, key: str) -> str:
        facts = side.facts(key.partition(":")[0])
        return facts.path if facts is not None else ""

    def touched_names(self) -> set[str]:
        """Names at the top level of changed modules that callers of the old tree may not take as what they were, by
        their key on the old side."""
        found: set[str] = set()
        for path in self.paths:
            module = self.old.modules.module_of(path) if path in self.old.files else ""
            facts = self.old.facts(module) if module else None
            for name in facts.bindings if facts is not None else ():
                if self._is_name_touched(module, name):
                    found.add(f"{module}:{name}")
        return found

    def _is_name_touched(self, module: str, name: str) -> bool:
        new = self.new.facts(module)
        old = self.old.resolve(module, name)
        if new is not None and name in new.bindings and self.twins.means_same(module, module, name):
            return False
        if self.residue is None or old.module != module:
            return True
        target = self.new.resolve(module, name) if new is not None else None
        before = self._statements(self.old, module, name)
        after = self._statements(self.new, module, name) if target is not None else []
        gone = target is None or target.kind == "missing"
        path = self._path(self.old, module)
        return gone or any(
            [
                *(self.is_touched(path, each, is_old=True) for each in before),
                *(self.is_touched(path, each) for each in after),
            ]
        )

    @staticmethod
    def _statements(side: Side, module: str, name: str) -> list[ast.stmt]:
        facts = side.facts(module)
        return [facts.tree.body[index] for index in facts.bindings.get(name, ())] if facts is not None else []

    # -- callables

    def _callables(self) -> None:
        for path in self.paths:
            if path not in self.new.files:
                continue
            module = self.new.modules.module_of(path)
            for qualname, node in definitions(self.new.facts(module)).items():
                if isinstance(node, FunctionNode) and not is_empty(node):
                    self._callable(module, qualname, node)
        for key in self.affected.callables():
            self._add(PairKind.CALLABLE, key, key)

    def _callable(self, module: str, qualname: str, node: FunctionNode) -> None:
        key = f"{module}:{qualname}"
        canonical = self.twins.canonical(self.new, key)
        old_module, _, old_name = canonical.partition(":")
        there, _ = self.old.definition(old_module, old_name) if self.old.facts(old_module) is not None else (None, None)
        if not isinstance(there, FunctionNode):
            return
        if self.twins.is_same_function(old_module, there, module, node) and not self._has_other_siblings(key, node):
            if not self.affected.is_affected(old_module, module, node):
                return
            self._add(PairKind.CALLABLE, canonical, key)
        elif self._is_either_touched(canonical, there, key, node):
            self._add(PairKind.CALLABLE, canonical, key)

    def _has_other_siblings(self, key: str, node: FunctionNode) -> bool:
        """Whether a method names one of its class that has lost its partner or its signature."""
        owner, dot, _ = key.rpartition(".")
        if not dot or ":" not in owner:
            return False
        unsteady = self.affected.unsteady_methods(owner)
        return any(isinstance(each, ast.Attribute) and each.attr in unsteady for each in ast.walk(node))

    def _moved_methods(self) -> None:
        for old_key, new_key in self.partners.moved_methods.items():
            there, here = definition_of(self.old, old_key), definition_of(self.new, new_key)
            if self._is_either_touched(old_key, there, new_key, here):
                self._add(PairKind.CALLABLE, old_key, new_key)

    def _runners(self) -> None:
        """Functions whose own lines are certified and that run touched ones which have no partner."""
        for side in (self.old, self.new):
            for key, node in self.partners.functions(side).items():
                is_touched = self.is_touched(self._path(side, key), node, is_old=side is self.old)
                if not is_touched or self.partners.partner(side, key) is not None:
                    continue
                for runner in self.partners.reach(side).runners(key, partial(self._has_partner, side)):
                    pair = self.partners.partner(side, runner)
                    if pair is not None:
                        self._add(PairKind.CALLABLE, *pair)

    def _has_partner(self, side: Side, key: str) -> bool:
        return self.partners.partner(side, key) is not None

    # -- classes

    def _classes(self) -> None:
        changed: list[tuple[str, str]] = []
        for path in self.paths:
            if path not in self.new.files:
                continue
            module = self.new.modules.module_of(path)
            for qualname, node in definitions(self.new.facts(module)).items():
                if isinstance(node, ast.ClassDef):
                    key = f"{module}:{qualname}"
                    canonical = self.twins.canonical(self.new, key)
                    if self._is_changed_class(canonical, key, node):
                        changed.append((canonical, key))
        for canonical, key in [*changed, *self._subclasses(changed)]:
            found = self.new.definition(*split_key(key))[0]
            if isinstance(found, ast.ClassDef) and not is_abstract(found):
                self._add(PairKind.CLASS, canonical, key)

    def _subclasses(self, changed: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those that use or bind what of changed classes came, went, is called in another way or has another value. All
        else of a subclass, the pairs of the class itself and of its methods show: what a method of the same signature
        does is uninterpreted there."""
        found = self.affected.subclasses([key for _, key in changed])
        names: set[str] = set()
        for canonical, key in changed:
            there, here = definition_of(self.old, canonical), definition_of(self.new, key)
            if _bases(there) != _bases(here):
                return found
            old, new = bound_names(there), bound_names(here)
            names |= self.affected.unsteady_methods(key)
            names |= {name for name in {*old, *new} if old.get(name) != new.get(name)}
        return [each for each in found if self._is_any_named(each, names)]

    def _is_any_named(self, subclass: tuple[str, str], names: set[str]) -> bool:
        nodes = [definition_of(self.old, subclass[0]), definition_of(self.new, subclass[1])]
        return any(each is not None and not names.isdisjoint({*words(each), *bound_names(each)}) for each in nodes)

    def _is_changed_class(self, canonical: str, key: str, node: ast.ClassDef) -> bool:
        old_module, old_name = split_key(canonical)
        there = self.old.definition(old_module, old_name)[0] if self.old.facts(old_module) is not None else None
        if not isinstance(there, ast.ClassDef) or not self._is_either_touched(canonical, there, key, node):
            return False
        if self.twins.digest(there) == self.twins.digest(node):
            return False
        return _steady_outline(there, node) != _steady_outline(node, there) or self._is_made_otherwise(
            canonical, there, key, node
        )

    def _is_made_otherwise(self, canonical: str, there: ast.ClassDef, key: str, node: ast.ClassDef) -> bool:
        """Whether what makes an instance differs in more than methods that are pairs of their own and write alike."""
        before, after = _makers(there), _makers(node)
        return _written(there) != _written(node) or any(
            before[name] != after[name]
            and (PairKind.CALLABLE, f"{canonical}.{name}", f"{key}.{name}") not in self._found
            for name in before.keys() & after.keys()
        )

    # -- modules

    def _modules(self) -> None:
        lost = {self.old.modules.module_of(path): path for path in self.paths if path in self.old.files}
        for module in lost:
            if module and self._is_changed_module(module):
                self._add(PairKind.IMPORT, module, module)
        for module in self.affected.modules(
            [pair.old for pair in self._found.values() if pair.kind is PairKind.IMPORT]
        ):
            self._add(PairKind.IMPORT, module, module)

    def _is_changed_module(self, module: str) -> bool:
        old, new = self.old.facts(module), self.new.facts(module)
        if old is None or new is None:
            return old is not None
        lost = [name for name in old.bindings if name[0] != "_" and name not in new.bindings]
        if not lost and top_level(old) == top_level(new):
            return False
        if self.residue is None or f"{IMPORTS}{new.path}" in self.residue:
            return True
        return any(
            self.is_touched(facts.path, each, is_old=facts is old)
            for facts in (old, new)
            for each in facts.tree.body
            if not isinstance(each, DefNode) or facts.path != new.path or each.name not in new.bindings
        )


def _bases(node: ast.AST | None) -> list[str]:
    if not isinstance(node, ast.ClassDef):
        return []
    return [ast.dump(each) for each in (*node.bases, *node.keywords, *node.decorator_list)]


def is_empty(node: FunctionNode) -> bool:
    """A body that does nothing: a protocol's, an overload's, an abstract method's."""
    return all(
        (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and not isinstance(each.value.value, str))
        for each in node.body
    )


def is_abstract(node: ast.ClassDef) -> bool:
    """Whether no instance can be made of it as of other classes: subclasses are tried, or importing it."""
    bases = {ast.unparse(each).partition("[")[0].rpartition(".")[2] for each in node.bases}
    if bases & {"Protocol", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "TypedDict"}:
        return True
    decorators = [
        ast.unparse(part) for each in node.body if isinstance(each, FunctionNode) for part in each.decorator_list
    ]
    return any(each.rpartition(".")[2].startswith("abstract") for each in decorators)


def _steady_outline(node: ast.ClassDef, other: ast.ClassDef) -> str:
    """What a class offers, but for private methods that the other one lacks: their callers are pairs of their own.
    Where there are bases, any name may be one of theirs."""
    if node.bases or node.keywords:
        return outline(node)
    known = {each.name for each in other.body if isinstance(each, FunctionNode)}
    body = [
        each
        for each in node.body
        if not isinstance(each, FunctionNode) or each.name in known or not each.name.startswith("_") or _is_dunder(each)
    ]
    return outline(ast.ClassDef(node.name, [], [], body, node.decorator_list))


def _is_dunder(node: FunctionNode) -> bool:
    return node.name.startswith("__") and node.name.endswith("__")


def _written(node: ast.ClassDef) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store)}


def _makers(node: ast.ClassDef) -> dict[str, str]:
    """What makes an instance, as text by name; where a class writes attributes in a method that its initialiser calls,
    that too."""
    methods = {each.name: each for each in node.body if isinstance(each, FunctionNode)}
    wanted: dict[str, str] = {}
    pending = [name for name in _MAKERS if name in methods]
    while pending:
        name = pending.pop(0)
        if name in wanted:
            continue
        wanted[name] = ast.dump(methods[name])
        for each in ast.walk(methods[name]):
            if isinstance(each, ast.Attribute) and each.attr in methods:
                pending.append(each.attr)
    return wanted
