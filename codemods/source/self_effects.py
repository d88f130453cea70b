"""What each method of a class reads, writes and calls on its own object, followed through calls of `self`.

A method that hands `self` to somebody else, or calls what is not in the tree, may touch anything: `is_open` says so."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.source.classes import ClassKey, class_at, memo, mro
from codemods.source.files import FileSet
from codemods.source.parse import FUNCTIONS, Function
from codemods.source.usage import UseKind, self_uses


class Effects(Struct, frozen=True):
    """Attributes by name. calls: names of methods called on `self`; first_calls: their lines, in order."""

    reads: frozenset[str]
    writes: frozenset[str]
    calls: tuple[tuple[str, int], ...]
    is_open: bool


def class_effects(files: FileSet, key: ClassKey) -> ClassEffects:
    """The effects of a class, made once a file set."""
    return memo(files, "class effects", key, lambda: ClassEffects(files, key))


class ClassEffects:
    """The effects of all methods that an instance of the class has from the tree."""

    def __init__(self, files: FileSet, key: ClassKey) -> None:
        self.own: dict[str, Effects] = {}
        self.nodes: dict[str, Function] = {}
        for each in mro(files, key).classes:
            at = class_at(files, each)
            if at is None:
                continue
            source, node = at
            for statement in node.body:
                if isinstance(statement, FUNCTIONS) and statement.name not in self.own:
                    uses = self_uses(source, statement)
                    self.nodes[statement.name] = statement
                    self.own[statement.name] = Effects(
                        reads=frozenset(use.attribute for use in uses if use.kind in (UseKind.READ, UseKind.UPDATE)),
                        writes=frozenset(
                            use.attribute for use in uses if use.kind in (UseKind.WRITE, UseKind.UPDATE, UseKind.DELETE)
                        ),
                        calls=tuple((use.attribute, use.node.lineno) for use in uses if use.is_called),
                        is_open=any(use.kind is UseKind.ESCAPE for use in uses),
                    )

    def reach(self, name: str) -> Effects:
        """The effects of a method with those of everything it calls on `self`."""
        reads: set[str] = set()
        writes: set[str] = set()
        calls: list[tuple[str, int]] = []
        is_open = False
        seen: set[str] = set()
        work = [name]
        while work:
            at = work.pop()
            if at in seen:
                continue
            seen.add(at)
            found = self.own.get(at)
            if found is None:
                continue  # an attribute that happens to be called; what it does to us can't be seen here
            reads |= found.reads
            writes |= found.writes
            calls += found.calls
            is_open = is_open or found.is_open
            work += [called for called, _ in found.calls]
        return Effects(frozenset(reads), frozenset(writes), tuple(calls), is_open)

    def writers(self, attribute: str) -> list[str]:
        """Methods other than `__init__` that write an attribute themselves."""
        return [name for name, found in self.own.items() if name != "__init__" and attribute in found.writes]

    def late_in_init(self, method: str) -> frozenset[str]:
        """Attributes that `__init__` assigns only after a call that leads to `method`."""
        node = self.nodes.get("__init__")
        if node is None:
            return frozenset()
        lines = [line for called, line in self.own["__init__"].calls if self._leads_to(called, method)]
        if not lines:
            return frozenset()
        first = min(lines)
        before: set[str] = set()
        after: set[str] = set()
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
                (after if each.lineno >= first else before).add(each.attr)
        return frozenset(after - before)

    def _leads_to(self, called: str, method: str) -> bool:
        return called == method or any(name == method for name, _ in self.reach(called).calls)
