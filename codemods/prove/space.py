"""The names of one module as live objects: each made by the statements that bind it, when code is about to use it."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from codemods.prove.branches import mark
from codemods.prove.definitions import class_slice, names_used
from codemods.prove.held import held_value, hold_fields, rebound_value
from codemods.prove.instrument import instrument
from codemods.prove.live import fill, hook
from codemods.prove.opaque import GLOBAL, current, term
from codemods.prove.sides import DefNode, FunctionNode, ModuleFacts

if TYPE_CHECKING:
    from codemods.prove.slices import Loader


class Space:
    """The live names of one module."""

    def __init__(self, loader: Loader, facts: ModuleFacts) -> None:
        self.loader, self.facts = loader, facts
        self.names: dict[str, Any] = {
            "__name__": facts.module,
            "__file__": facts.path,
            "__builtins__": loader.builtins,
            "_u_side": loader.side.label,
            "_u_reach": loader.reached.setdefault(facts.module, set()).add,
        }
        self.pending: set[str] = set()
        self.given: set[str] = set()  # names that code has asked for
        self.made: set[str] = set()  # those, and what else was bound here and not by a run
        self._done: set[int] = set()

    def ensure(self, names: Iterable[str]) -> None:
        """Give the names of this module that code is about to use their values."""
        for name in names:
            before = set(self.names)
            if name not in self.names and name not in self.pending and name in self.facts.bindings:
                self.pending.add(name)
                self.given.add(name)
                self.names[name] = self._make(name)
                self.pending.discard(name)
            elif name in self.names and name not in self.given and name not in self.pending:
                self.given.add(name)  # bound by the statement that bound another one
                key = self.loader.canonical(f"{self.facts.module}:{name}")
                self.names[name] = held_value(self.loader.moments, key, self.names[name])
            elif name not in self.names and self.facts.stars and not hasattr(builtins, name):
                found = self.loader.side.resolve(self.facts.module, name)
                if found.kind not in ("missing", "builtin"):
                    self.given.add(name)
                    self.names[name] = self.loader.value(found)
            else:
                continue
            new = self.names.keys() - before  # the statement that binds a name may bind others too
            self.made |= new
            self.loader.state.add(self.facts.module, self, sorted({*new, name}))

    def _make(self, name: str) -> Any:
        found = self.loader.side.resolve(self.facts.module, name)
        if found.kind == "value" and found.module == self.facts.module:
            # What functions bind anew depends on the moment: an input, as an attribute is.
            key = self.loader.canonical(found.key)
            if self.loader.moments.is_rebound(key):
                self.loader.places[key] = lambda _, value: self.names.__setitem__(name, value)
                return rebound_value(self.facts, name, key)
            return held_value(self.loader.moments, key, self._value(name))
        if found.module == self.facts.module and found.node is not None:
            return self.loader.opaque(found) if self.loader.is_opaque(found) else self.define(found.node)
        return self.loader.value(found)

    def _value(self, name: str) -> Any:
        """Run the statements that bind a name. Where they ask the world, the name itself is opaque."""
        key = self.loader.canonical(f"{self.facts.module}:{name}")
        for index in [each for each in self.facts.bindings[name] if each not in self._done]:
            statement = self.facts.tree.body[index]
            if isinstance(statement, ast.If | ast.Try | ast.For | ast.While | ast.With):
                return self._guarded(statement, name, key)
            self._done.add(index)
            try:
                self.run([statement])
            except Exception:  # noqa: BLE001 - the subject may raise anything; what importing it does is another pair
                return term(GLOBAL, key)
        return self.names.get(name, term(GLOBAL, key))

    def _guarded(self, statement: ast.stmt, name: str, key: str) -> Any:
        """A name that is bound under a condition: opaque, unless the condition is known."""
        before = dict(self.names)
        run = self.loader.run
        asked = len(run.world.trail)
        try:
            self.run([statement])
        except Exception:  # noqa: BLE001 - the subject may raise anything; then the name is not known
            self.names = before | {"__builtins__": self.loader.builtins}
            return term(GLOBAL, key)
        if len(run.world.trail) > asked:
            return term(GLOBAL, key)
        return self.names.get(name, term(GLOBAL, key))

    def define(self, node: DefNode, wanted: set[str] | None = None) -> Any:
        """Execute a definition and what it uses. wanted: of a class, the methods to keep (None: all)."""
        made = class_slice(node, wanted) if isinstance(node, ast.ClassDef) else node
        self.loader.note(self.facts.module, node, made)
        self.run([made])
        found = self.names[node.name]
        if isinstance(found, type) and isinstance(node, ast.ClassDef):
            hook(found)
            key = self.loader.canonical(f"{self.facts.module}:{node.name}")
            hold_fields(self.loader.moments, key, found, node, self.loader.places)
            if made is not node:
                fill(found, {each.name for each in node.body if isinstance(each, FunctionNode)}, key)
            if self.loader.has_come(f"{self.facts.module}:{node.name}"):
                found._u_new = True  # type: ignore[attr-defined]
        return found

    def run(self, statements: list[ast.stmt]) -> None:
        """Execute statements of this module, with the names they use."""
        used = names_used(statements)
        bound = {each.name for each in statements if isinstance(each, DefNode)}
        self.ensure(sorted(used - bound))
        self.loader.traces.read(statements)
        tree = instrument(ast.Module(body=copy.deepcopy(statements), type_ignores=[]))
        mark(tree)
        code = compile(tree, f"<{self.loader.side.label}>{self.facts.path}", "exec", dont_inherit=True)
        outer = getattr(current, "run", None)
        current.run = self.loader.run
        try:
            exec(code, self.names)
        finally:
            if outer is not None:
                current.run = outer
