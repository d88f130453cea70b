"""Importing a module as a pair: its top level runs for real in a fresh interpreter of each side, with the modules of
the tree that it imports in turn, in order, half-loaded ones and cycles included. What importing does, what it leaves
in tables of other modules, which names can then be taken from it, and where those say they live is compared (D10), and
whether a patch of a name still reaches the functions that read it (D11).

The order of effects of different modules is not compared: only which module is loaded first changes it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from codemods.prove.driving import frozen_error
from codemods.prove.errors import Stopped, Unsupported
from codemods.prove.following import Place, followed
from codemods.prove.freeze import Freezer
from codemods.prove.import_names import NameFacts, name_facts, names_of
from codemods.prove.import_run import ImportRun, Interpreter, plain
from codemods.prove.import_scope import Scope, scope_of
from codemods.prove.inputs import input_term
from codemods.prove.missing import no_such
from codemods.prove.opaque import current
from codemods.prove.run import Run
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.prove.world import World

_GONE = ("nothing",)


class ModuleSubject:
    """A module of one side, to be imported first. facts: the names that are asked for afterwards, those of the old
    side."""

    def __init__(self, twins: Twins, side: Side, module: str, scope: Scope, real_modules: frozenset[str]) -> None:
        self.twins, self.side, self.module, self.reference = twins, side, module, module
        self.scope, self.real_modules = scope, real_modules
        self.node = _First()
        self.facts: NameFacts = NameFacts()
        self.codes: dict[str, Any] = {}

    @property
    def path(self) -> str:
        for side in (self.side, self.twins.old, self.twins.new):
            path = side.modules.path_of(self.module)
            if path is not None:
                return path
        return self.module

    def run(self, world: World, *, trace: bool = False) -> Run:
        """What importing it does in a world, and what is there afterwards."""
        interpreter = Interpreter(self.twins, self.side, self.scope, self.real_modules, self.codes)
        run = ImportRun(world, Freezer(interpreter.name_of), interpreter, trace=trace)
        current.run = run
        try:
            with followed(run):
                self._import(run, interpreter)
        except Stopped as stopped:
            run.record("stopped", str(stopped))
        except Unsupported as problem:
            run.record("unsupported", str(problem))
        except RecursionError:
            run.record("stopped", "recursion")
        return run

    def _import(self, run: ImportRun, interpreter: Interpreter) -> None:
        try:
            module = interpreter.load(self.module)
        except (Stopped, Unsupported, RecursionError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever importing raises is its outcome
            run.record("raise", frozen_error(run, error))
            return
        run.origin = self.module
        self._names(run, module)
        for key, (frozen, stack) in sorted(interpreter.changed_tables(run).items()):
            run.record("table", key, frozen)
            run.put_at(stack)
        self._fields(run, module)
        for name, reader in self.facts.patches:
            place = self.facts.patch_place(self.side, name, reader)
            if place is not None:
                run.record("patch", f"{self.module}.{name}", reader)
                run.put_at((place,))

    def _names(self, run: ImportRun, module: Any) -> None:
        for name in self.facts.names:
            value = getattr(module, name, _GONE)
            place = self._place(name)
            run.record("name", f"{self.module}.{name}", _GONE if value is _GONE else plain(run, value))
            run.put_at(place)
            if value is not _GONE and name in self.facts.homes:
                home = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
                run.record("home", f"{self.module}.{name}", home)
                run.put_at(place)
        listed = getattr(module, "__all__", None)
        is_listed = isinstance(listed, list | tuple)
        names: tuple[Any, ...] = tuple(listed or ()) if is_listed else ()
        for name in self.facts.starred if is_listed else ():
            run.record("star", f"{self.module}.{name}", name in names)
            run.put_at(self._place("__all__"))

    def _fields(self, run: ImportRun, module: Any) -> None:
        """What classes hold by themselves: constants, members of an enum."""
        for owner, name in self.facts.fields:
            value = getattr(getattr(module, owner, None), name, _GONE)
            run.record("name", f"{self.module}.{owner}.{name}", _GONE if value is _GONE else plain(run, value))
            node = self.side.resolve(self.module, owner).node
            facts = self.side.facts(self.module)
            if node is not None and facts is not None:
                lines = [each.lineno for each in node.body if name in names_of(each)]
                run.put_at(((f"<{self.side.label}>{facts.path}", (lines or [node.lineno])[-1]),))

    def _place(self, name: str) -> tuple[Place, ...]:
        """The statement that binds a name, and the definition that it means."""
        facts = self.side.facts(self.module)
        if facts is None:
            return ()
        found: list[Place] = []
        target = self.side.resolve(self.module, name)
        there = self.side.facts(target.module) if target.node is not None else None
        if there is not None and target.node is not None and target.module != self.module:
            found.append((f"<{self.side.label}>{there.path}", target.node.lineno))
        at = [facts.tree.body[index].lineno for index in facts.bindings.get(name, ())]
        found.extend((f"<{self.side.label}>{facts.path}", line) for line in at[-1:])
        return tuple(reversed(found))


class _First:
    """Where a module begins, for reports."""

    lineno = 1


class PairOfModules:
    """Both sides of a module, live; walked as a pair of callables is."""

    def __init__(
        self,
        twins: Twins,
        old: str,
        new: str,
        *,
        is_real: bool = False,
        real_modules: frozenset[str] = frozenset(),
        same: Mapping[str, str] | None = None,
    ) -> None:
        if twins.old.facts(old) is None:
            raise no_such(twins.old, old, "module")
        self.twins, self.is_real, self.real_modules, self.same = twins, is_real, real_modules, dict(same or {})
        self.scope = scope = scope_of(twins, old, new)
        self.old = ModuleSubject(twins, twins.old, old, scope, real_modules)
        self.new = ModuleSubject(twins, twins.new, new, scope, real_modules)
        self.old.facts = self.new.facts = name_facts(twins, old, new)
        self.aliases = {input_term(name): input_term(other) for name, other in self.same.items()}

    def is_certain(self, value: Any) -> bool:  # noqa: ARG002
        """Importing has no inputs."""
        return False

    def with_new(self, side: Side) -> PairOfModules:
        """The same old side beside another new one."""
        made = copy.copy(self)
        made.twins = self.twins.with_new(side)
        made.new = ModuleSubject(made.twins, side, self.new.module, self.new.scope, self.real_modules)
        made.new.facts = self.new.facts
        made.new.codes = {path: code for path, code in self.new.codes.items() if path != self.new.path}
        return made

    def twin_of(self, subject: ModuleSubject) -> PairOfModules:
        """One side beside itself."""
        made = copy.copy(self)
        made.old = made.new = subject
        return made

    def problem(self) -> str:
        """Why agreeing would say nothing; empty where it says something."""
        return f"importing it runs more than {len(self.scope.opaque)} further modules" if self.scope.is_cut else ""

    def run(self, world: World, *, trace: bool = False) -> tuple[Run, Run]:
        """Both twins in one world."""
        return self.old.run(world, trace=trace), self.new.run(world, trace=trace)
