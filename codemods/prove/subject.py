"""One callable of a side, ready to run: found, sliced out, given the inputs of a world, and followed to its end
(generators are stepped, coroutines driven, context managers entered and left)."""

from __future__ import annotations

import ast
import contextlib
import contextvars
import copy
from functools import cached_property
from typing import Any

from codemods.prove.altering import Alterations
from codemods.prove.anew import Anew
from codemods.prove.domains import Described, Hole, Member, materialise
from codemods.prove.driving import call_back, driven, frozen_error
from codemods.prove.errors import Stopped, Unsupported
from codemods.prove.following import Place, followed
from codemods.prove.freeze import Freezer
from codemods.prove.handing import Handing
from codemods.prove.live import stand_for
from codemods.prove.missing import no_such
from codemods.prove.opaque import GLOBAL, OP, ROOT, Opaque, current, term
from codemods.prove.run import Run
from codemods.prove.sides import FunctionNode
from codemods.prove.slices import Loader
from codemods.prove.stable import signature
from codemods.prove.world import World

_UNFOLLOWED = contextlib.nullcontext()


_REST, _MORE = "*", "more"  # what `*args` and `**kwargs` are given


class Subject:
    """`reference`: `module:Qual.name`. `shared`: names of parameters of the old side, by name of this side's."""

    def __init__(self, loader: Loader, reference: str, renamed: dict[str, Any] | None = None) -> None:
        self.loader, self.reference = loader, reference
        current.run = loader.run  # what is asked of opaque values while code is loaded is no part of a run
        self.renamed = renamed or {}
        module, _, self.qualname = reference.partition(":")
        node, owner = loader.side.definition(module, self.qualname)
        if not isinstance(node, FunctionNode):
            raise no_such(loader.side, reference, "function")
        self.node, self.owner, self.module = node, owner, module
        self.decorators = [ast.unparse(each) for each in node.decorator_list]
        self.never: frozenset[str] = frozenset()  # parameters with a default that no caller of the old side can give
        self._folded: Opaque | None = None  # what an instance has in the method's place
        self.is_repeated = False  # whether it is called twice, as where a cache came or went
        self.beside: Subject = self  # the other twin: what either asks of the world, both must
        self.altered: Alterations | None = None  # what calls may set anew
        self.takes_sent = any(
            isinstance(each, ast.Assign | ast.AnnAssign | ast.Return | ast.Call | ast.NamedExpr | ast.Compare)
            and any(isinstance(part, ast.Yield) for part in ast.walk(each))
            for each in ast.walk(node)
        )
        self._load()
        self._defaults = _tables(self.function)

    @property
    def path(self) -> str:
        facts = self.loader.side.facts(self.module)
        assert facts is not None
        return facts.path

    def _load(self) -> None:
        space = self.loader.space(self.module)
        assert space is not None
        self.kind: Any = None
        if self.owner is None:
            self.loader.inside.add(self.loader.canonical(self.reference))
            space.names.pop(self.node.name, None)
            self.function = space.define(self.node)
        else:
            self._load_class(space)

    def _load_class(self, space: Any) -> None:
        owner = self.owner
        assert owner is not None
        wanted = self.loader.needed_methods(self.module, owner, self.node.name)
        space.pending.add(owner.name)
        self.kind = space.define(owner, wanted)
        space.pending.discard(owner.name)
        self.function = self.kind.__dict__.get(self.node.name)

    def calls_itself(self) -> bool:
        """Whether a function, by its name, calls itself; or a method that uses its instance for nothing else."""
        calls = [each.func for each in ast.walk(self.node) if isinstance(each, ast.Call)]
        if self.owner is None:
            return any(isinstance(each, ast.Name) and each.id == self.node.name for each in calls)
        if not self.is_bound() or "classmethod" in self.decorators:
            return False
        own = ast.dump(ast.Attribute(ast.Name(self.parameters()[0].arg, ast.Load()), self.node.name, ast.Load()))
        of_itself = [each for each in calls if ast.dump(each) == own]
        names = [each.id for each in ast.walk(self.node) if isinstance(each, ast.Name)]
        return 0 < len(of_itself) == names.count(self.parameters()[0].arg)

    def called(self) -> str:
        """What callers see of the signature: of a method, without its instance."""
        node = copy.copy(self.node)
        if self.is_bound():
            node.args = copy.copy(node.args)
            part = "posonlyargs" if node.args.posonlyargs else "args"
            setattr(node.args, part, getattr(node.args, part)[1:])
        return signature(node)

    def fold_recursion(self, name: str) -> None:
        """Let a call of itself be a call of a collaborator of that name."""
        space = self.loader.space(self.module)
        assert space is not None
        if self.owner is None:
            space.names[self.node.name] = term(GLOBAL, name)
        else:
            self._folded = term(GLOBAL, name)

    # -- inputs

    def parameters(self) -> list[ast.arg]:
        args = self.node.args
        return [*args.posonlyargs, *args.args, *args.kwonlyargs]

    def is_bound(self) -> bool:
        """Whether the first parameter is the instance or the class."""
        return self.owner is not None and "staticmethod" not in self.decorators

    def roots(self) -> list[str]:
        """The names of the parameters that a caller gives."""
        names = [each.arg for each in self.parameters()]
        return names[1:] if self.is_bound() else names

    def inputs(self, world: World) -> dict[str, Any]:
        """A value for each parameter: opaque, unless the world has a concrete one."""
        found: dict[str, Any] = {}
        with_default = self._with_default
        omits = bool(with_default) and world.ask(("defaults",), (False, True))
        for name in self.roots():
            if name in with_default and (omits or name in self.never):
                continue
            root = self.renamed.get(name, term(ROOT, name))
            found[name] = current.run.given(root) if type(root) is Opaque and root in world.values else root
        args = self.node.args
        if (args.vararg or args.kwarg) and not omits and world.ask(("more",), (False, True)):
            found.update({_REST: term(ROOT, "one more")} if args.vararg else {})
            found.update({_MORE: term(ROOT, "one more by name")} if args.kwarg else {})
        return found

    @cached_property
    def _with_default(self) -> set[str]:
        args = self.node.args
        positional = [*args.posonlyargs, *args.args]
        names = {each.arg for each in positional[len(positional) - len(args.defaults) :]}
        return names | {
            each.arg for each, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None
        }

    # -- a run

    def run(self, world: World, *, trace: bool = False) -> Run:
        """What the callable does in a world."""
        return contextvars.copy_context().run(self._run, world, trace)

    def _run(self, world: World, trace: bool) -> Run:
        freezer = Freezer(self.loader.name_of)
        freezer.opened = self.loader.opened
        run = Run(world, freezer, trace=trace)
        run.make = self._made
        run.lone = self.loader.lone.find
        run.is_wide = self._is_wide
        if self.altered is not None:
            run.anew = Anew(run, self.altered, self.loader.places)
        run.handing = Handing(run, lambda functions: call_back(run, functions))
        run.takes_sent = self.takes_sent or self.beside.takes_sent
        current.run = run
        self.loader.state.remember()
        for table, kept in self._defaults:
            _put_back(table, kept)
        try:
            inputs = self.inputs(world)
            with followed(run) if trace else _UNFOLLOWED:
                self._follow(run, inputs)
                if self.is_repeated:
                    run.record("again")
                    self._follow(run, inputs)
                call_back(run, freezer.callbacks)
            self._end(run, inputs)
            if freezer.callbacks:
                with followed(run) if trace else _UNFOLLOWED:
                    call_back(run, freezer.callbacks)
                self.loader.settle(run)
            run.is_plain = self._is_plain(run)
        except Stopped as stopped:
            self._cut(run, "stopped", str(stopped))
        except Unsupported as problem:
            self._cut(run, "unsupported", str(problem))
        except RecursionError:
            self._cut(run, "stopped", "recursion")
        return run

    def _is_wide(self) -> bool:
        return self.loader.traces.is_wide or self.beside.loader.traces.is_wide

    def _cut(self, run: Run, how: str, why: str) -> None:
        self.loader.state.put_back(run, self.loader.canonical)
        run.record(how, why)

    def _is_plain(self, run: Run) -> bool:
        """Whether nothing would come after a fault that ends the call."""
        is_over = run.events[-1]._u_parts[0] in ("return", "raise") and not self.is_repeated
        return is_over and self.loader.state.is_out_of_reach(self.loader.traces)

    def _made(self, value: Any) -> Any:
        """A concrete input, made anew: instances of the classes of this side, opaque values for what nobody needs."""
        return materialise(value, self._make)

    def _make(self, described: Described) -> Any:
        if isinstance(described, Hole):
            return term(ROOT, described.place)
        module, _, name = described.ref.partition(":")
        found = self.loader.value(self.loader.side.member(module, name.partition(".")[0]))
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        if isinstance(described, Member):
            return getattr(found, described.name)
        return found(*described.args, **dict(described.kwargs))

    def _start(self, inputs: dict[str, Any]) -> Any:
        positional = {each.arg for each in self.node.args.posonlyargs}
        if _REST in inputs:
            positional |= {_REST, *(each.arg for each in self.node.args.args)}
        args = [value for name, value in inputs.items() if name in positional]
        kwargs = {name: value for name, value in inputs.items() if name not in positional} if positional else inputs
        if self.owner is None:
            return self.function(*args, **kwargs)
        if "classmethod" in self.decorators or self.node.name == "__new__":
            return getattr(self.kind, self.node.name)(*args, **kwargs)
        if "staticmethod" in self.decorators:
            return getattr(self.kind, self.node.name)(*args, **kwargs)
        instance = stand_for(self.kind, term(ROOT, "self"))
        if isinstance(self.function, property):
            getter = self.function.fset if inputs else self.function.fget
            return getter(instance, *inputs.values()) if getter is not None else None
        bound = getattr(instance, self.node.name)
        if self._folded is not None:
            object.__getattribute__(instance, "__dict__")[self.node.name] = self._folded
        return bound(*args, **kwargs)

    def _follow(self, run: Run, inputs: dict[str, Any]) -> None:
        try:
            value = driven(run, self._start(inputs))
        except (Stopped, Unsupported, RecursionError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the subject raises is its outcome
            run.record("raise", frozen_error(run, error))
            return
        run.record("return", run.freezer.freeze(value))
        if run.places is not None:
            run.put_at(_givers(run, value))

    def _end(self, run: Run, inputs: dict[str, Any]) -> None:
        """What is left behind: arguments that were changed, globals, tables."""
        for name, value in inputs.items():
            if isinstance(value, list | dict | set):
                run.record("argument", name, run.freezer.freeze(value))
        for table, kept in self._defaults:
            now, then = run.freezer.freeze(table), run.freezer.freeze(kept)
            if term(OP, "is", now) is not term(OP, "is", then):
                run.record("argument", "default", now)
                run.put_at(((f"<{self.loader.side.label}>{self.path}", self.node.lineno),))
                _put_back(table, kept)
        parameters = {id(value) for value in inputs.values() if isinstance(value, list | dict | set)}
        for each, now in run.changed_given():
            if id(now) not in parameters:
                run.record("argument", each, run.freezer.freeze(now))
        if run.handing is not None:
            run.handing.end()
        self.loader.settle(run)


def _tables(function: Any) -> list[tuple[Any, Any]]:
    """The defaults of a function that a call may change, each with what it holds at first."""
    function = getattr(function, "__func__", function)
    given = [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
    ]
    return [(each, type(each)(each)) for each in given if type(each) in (list, dict, set)]


def _put_back(table: Any, kept: Any) -> None:
    table.clear()
    if isinstance(table, list):
        table.extend(kept)
    else:
        table.update(kept)


def _givers(run: Run, value: Any) -> tuple[Place, ...]:
    """Where a result was given back, innermost first; before that, where the things in it were."""
    whole = [place for place, given in run.returned if given is value] or run.left[-1:]
    if type(value) not in (list, tuple, dict):
        return tuple(whole)
    parts = list(value.values()) if isinstance(value, dict) else list(value)
    inner = [
        place for place, given in run.returned if type(given) in (str, Opaque) and any(given is each for each in parts)
    ]
    return tuple(dict.fromkeys([*inner, *whole])) if inner else tuple(whole)
