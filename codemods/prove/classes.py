"""A whole class as a pair: an instance made by its real initialiser, with opaque arguments, then calls in sequence, and
what its attributes hold after each. Bases that are in the tree are real; what the tree's functions share stays opaque.

An instance that was made is strict: an attribute that nothing has set is an AttributeError. Between making and calling,
whoever gave the arguments may have changed them. Which sequences there are: class_calls.py."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from codemods.prove.certain import Certain, certain_of_maker
from codemods.prove.class_calls import Call, Plan, plan_of
from codemods.prove.driving import call_back, driven, frozen_error
from codemods.prove.errors import Stopped, Unsupported
from codemods.prove.following import Place, followed
from codemods.prove.freeze import Freezer
from codemods.prove.handing import Handing
from codemods.prove.inputs import bind_same, input_term
from codemods.prove.missing import NoSuchCallable, no_such
from codemods.prove.opaque import OP, ROOT, current, term
from codemods.prove.run import Run
from codemods.prove.sides import Side, Target
from codemods.prove.slices import Loader
from codemods.prove.stable import Twins
from codemods.prove.wording import in_words
from codemods.prove.world import World

_MISSING: Any = object()
_OTHERS = "others"


class ClassSubject:
    """The class of one side, live. `reference`: `module:Qual`."""

    def __init__(self, loader: Loader, reference: str) -> None:
        self.loader, self.reference = loader, reference
        current.run = loader.run
        self.module, _, self.qualname = reference.partition(":")
        node, _ = loader.side.definition(self.module, self.qualname)
        if not isinstance(node, ast.ClassDef):
            raise no_such(loader.side, reference, "class")
        self.node = node
        self._keep_real(Target("class", self.module, self.qualname.partition(".")[0], node))
        self.kind = self._load()
        self.plan: Plan = Plan()
        self.has_made = False
        self.failure = ""

    @property
    def path(self) -> str:
        facts = self.loader.side.facts(self.module)
        assert facts is not None
        return facts.path

    @cached_property
    def certain(self) -> Certain:
        """What is sure of the values that the initialiser is given."""
        return certain_of_maker(self.loader.side, self.module, self.node)

    def _keep_real(self, target: Target, depth: int = 0) -> None:
        """Execute the class and the bases that are in the tree, shared or not."""
        loader = self.loader
        key = loader.canonical(target.key)
        if key in loader.inside or not isinstance(target.node, ast.ClassDef) or depth > 16:
            return
        loader.inside.add(key)
        pending: list[ast.ClassDef] = [target.node]
        while pending:
            node = pending.pop()
            pending.extend(each for each in node.body if isinstance(each, ast.ClassDef))
            for base in node.bases:
                found = self._resolve(target.module, base.value if isinstance(base, ast.Subscript) else base)
                if found is not None:
                    self._keep_real(found, depth + 1)

    def _resolve(self, module: str, node: ast.expr) -> Target | None:
        side = self.loader.side
        if isinstance(node, ast.Name):
            return side.resolve(module, node.id)
        if isinstance(node, ast.Attribute):
            front = self._resolve(module, node.value)
            return side.member(front.module, node.attr) if front is not None and front.kind == "module" else None
        return None

    def _load(self) -> Any:
        space = self.loader.space(self.module)
        assert space is not None
        first, *rest = self.qualname.split(".")
        space.names.pop(first, None)
        space.ensure([first])
        found = space.names.get(first)
        for part in rest:
            found = getattr(found, part, None)
        if not isinstance(found, type):
            raise NoSuchCallable(
                f"{self.reference} is no class once its decorators have run", fix="name the class that is decorated"
            )
        return found

    # -- a run

    def run(self, world: World, *, trace: bool = False) -> Run:
        """What one sequence of calls does in a world."""
        freezer = Freezer(self.loader.name_of)
        run = Run(world, freezer, trace=trace)
        run.handing = Handing(run, lambda functions: call_back(run, functions))
        current.run = run
        self.loader.state.remember()
        try:
            sequence = world.ask(("sequence",), self.plan.sequences)
            with followed(run):
                self._sequence(run, sequence)
                call_back(run, freezer.callbacks)
                run.handing.end()
            self.loader.settle(run)
        except Stopped as stopped:
            self._cut(run, "stopped", str(stopped))
        except Unsupported as problem:
            self._cut(run, "unsupported", str(problem))
        except RecursionError:
            self._cut(run, "stopped", "recursion")
        return run

    def _cut(self, run: Run, how: str, why: str) -> None:
        self.loader.state.put_back(run, self.loader.canonical)
        run.record(how, why)

    def _sequence(self, run: Run, sequence: tuple[str, ...]) -> None:
        args, kwargs = self._arguments(run, self.plan.making, "", 1)
        run.record("step", f"{self.plan.name}({', '.join(self.plan.making.names)})")
        instance = self._follow(run, lambda: self.kind(*args, **kwargs), is_made=True)
        if instance is _MISSING:
            return
        seen: dict[str, Any] = {}
        self._look(run, instance, seen)
        if sequence:
            self._disturb(run, [*args, *kwargs.values()])
        counts: dict[str, int] = {}
        for name in sequence:
            counts[name] = counts.get(name, 0) + 1
            call = self.plan.calls[name]
            given, named = self._arguments(run, call, name, counts[name])
            run.record("step", f".{name}({', '.join(call.names)})" if call.is_called else f".{name}")
            self._follow(run, lambda: self._step(instance, name, call, given, named))  # noqa: B023 - runs now
            self._look(run, instance, seen)

    @staticmethod
    def _step(instance: Any, name: str, call: Call, given: list[Any], named: dict[str, Any]) -> Any:
        found = getattr(instance, name)
        return found(*given, **named) if call.is_called else found

    def _arguments(self, run: Run, call: Call, name: str, count: int) -> tuple[list[Any], dict[str, Any]]:
        """Opaque, unless the world has concrete ones; those with a default may be left out."""
        world = run.world
        omits = bool(call.defaults) and world.ask(("defaults",), (False, True))
        given: list[Any] = []
        named: dict[str, Any] = {}
        for each in call.names:
            if omits and each in call.defaults:
                continue
            root = (
                input_term(each) if not name else term(ROOT, f"{each} of {name}" + (f" ({count})" if count > 1 else ""))
            )
            value = world.values.get(root, root)
            if each in call.keywords:
                named[each] = value
            else:
                given.append(value)
        return given, named

    @staticmethod
    def _disturb(run: Run, args: list[Any]) -> None:
        """Whoever made the instance may change what it was given."""
        change = term(OP, _OTHERS)
        for each in args:
            if type(each) is type(change):
                run.touched[each] = change

    def _follow(self, run: Run, start: Callable[[], Any], *, is_made: bool = False) -> Any:
        try:
            value = start() if is_made else driven(run, start())
        except (Stopped, Unsupported, RecursionError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the subject raises is its outcome
            run.record("raise", frozen_error(run, error))
            self.failure = self.failure or in_words(f"{type(error).__name__}: {error}")
            return _MISSING
        if not is_made:
            run.record("return", run.freezer.freeze(value))
        elif type(value) is not self.kind:
            run.record("return", run.freezer.freeze(value))
            self.failure = self.failure or f"a {type(value).__name__} comes of it"
            return _MISSING
        self.has_made = True
        return value

    def _look(self, run: Run, instance: Any, seen: dict[str, Any]) -> None:
        """What the attributes hold now, where that is not what they held."""
        fields = _fields(instance)
        for name in sorted({*fields, *seen}):
            now = _frozen(run, fields[name]) if name in fields else ("nothing",)
            before = seen.get(name, _MISSING)
            if before is _MISSING or term(OP, "is", before) is not term(OP, "is", now):
                seen[name] = now
                run.record("attribute", name, now)
                run.put_at(run.written.get((id(instance), name)) or self._field_place(name))

    def _field_place(self, name: str) -> tuple[Place, ...]:
        """Where the class itself has a field of this name."""
        for each in self.node.body:
            targets = (
                each.targets
                if isinstance(each, ast.Assign)
                else [each.target]
                if isinstance(each, ast.AnnAssign)
                else []
            )
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return ((f"<{self.loader.side.label}>{self.path}", each.lineno),)
        return ()


def _frozen(run: Run, value: Any) -> Any:
    """What an attribute holds. Not what a generator would yield: to look would be to take it."""
    return ("generator",) if isinstance(value, types.GeneratorType) else run.freezer.freeze(value)


def _fields(instance: Any) -> dict[str, Any]:
    fields = dict(getattr(instance, "__dict__", {}))
    for kind in type(instance).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name[:2] != "__" and hasattr(instance, name):
                fields[name] = getattr(instance, name)
    return {name: value for name, value in fields.items() if name[:3] != "_u_"}


class PairOfClasses:
    """Both sides of a class, live; walked as a pair of callables is."""

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
        self.twins, self.is_real, self.real_modules, self.same = twins, is_real, real_modules, dict(same or {})
        self.old = ClassSubject(Loader(twins, twins.old, is_real=is_real, real_modules=real_modules), old)
        self.new = ClassSubject(Loader(twins, twins.new, is_real=is_real, real_modules=real_modules), new)
        self.old.plan = self.new.plan = plan_of(twins, self.old.kind, self.new.kind)
        bind_same(self.same)
        self.aliases = {input_term(name): input_term(other) for name, other in self.same.items()}

    def is_certain(self, value: Any) -> bool:
        """Whether an attribute of what the initialiser is given is there whenever it begins."""
        return self.new.certain.has(value)

    def with_new(self, side: Side) -> PairOfClasses:
        """The same old side beside another new one, called as before."""
        made = copy.copy(self)
        made.twins = self.twins.with_new(side)
        loader = Loader(made.twins, side, is_real=self.is_real, real_modules=self.real_modules)
        made.new = ClassSubject(loader, self.new.reference)
        made.new.plan = self.new.plan
        return made

    def twin_of(self, subject: ClassSubject) -> PairOfClasses:
        """One side beside itself."""
        made = copy.copy(self)
        made.old = made.new = subject
        return made

    def problem(self) -> str:
        """Why agreeing would say nothing; empty where it says something."""
        return "" if self.old.has_made or self.new.has_made else f"no instance can be made: {self.new.failure}"

    def run(self, world: World, *, trace: bool = False) -> tuple[Run, Run]:
        """Both twins in one world."""
        return self.old.run(world, trace=trace), self.new.run(world, trace=trace)
