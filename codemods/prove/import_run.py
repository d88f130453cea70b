"""A fresh interpreter of one side for one run: `sys.modules` of the tree's modules, filled as they are imported. What
is not in the tree, and what of a large tree is out of scope (import_scope.py), is opaque."""

from __future__ import annotations

import ast
import builtins
import enum
import sys
import types
from collections.abc import Callable
from typing import Any

from codemods.prove import runtime
from codemods.prove.compare import Difference
from codemods.prove.following import Place, subject_stack
from codemods.prove.freeze import Freezer
from codemods.prove.import_scope import Scope
from codemods.prove.instrument import instrument
from codemods.prove.live import hook, make_builtins
from codemods.prove.load_run import decorated
from codemods.prove.opaque import CALL, EVENT, GLOBAL, Opaque, term
from codemods.prove.proxies import OutsideProxy, is_known
from codemods.prove.run import Run
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.prove.stand_ins import outside_module
from codemods.prove.world import World

_TABLES = (list, dict, set)
_DEEPEST = 6
_MOST_NODES = 4000


class ImportRun(Run):
    """A run of top levels. No call is made to fail: what a module does when it can't be loaded is no behaviour to keep.
    `origin`: the module that is being loaded."""

    def __init__(
        self,
        world: World,
        freezer: Freezer,
        interpreter: Interpreter,
        *,
        trace: bool = False,
    ) -> None:
        super().__init__(world, freezer, trace=trace)
        self.interpreter = interpreter
        self.origin = ""
        self.origins: list[str] = []

    def _keep(self, event: Opaque) -> None:
        if event._u_kind is CALL:
            event = term(EVENT, "does", event)
        super()._keep(event)
        self.origins.append(self.interpreter.loading[-1] if self.interpreter.loading else self.origin)

    def call(self, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_quiet: bool = False) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType | type):
            return decorated(callee, args[0])
        return super().call(callee, args, kwargs, is_quiet=is_quiet)

    def judged(self, found: list[Difference], old: Run) -> list[Difference]:
        """Import-time effects are D10, and only their order within one module counts."""
        assert isinstance(old, ImportRun)
        kept: list[Difference] = []
        for each in found:
            if each.code == "D7" and old.origins[each.old_at] != self.origins[each.new_at]:
                continue
            events = (
                old.events[each.old_at] if each.old_at >= 0 else None,
                self.events[each.new_at] if each.new_at >= 0 else None,
            )
            present = [event for event in events if event is not None]
            kinds = {event._u_parts[0] for event in present}
            if kinds == {"home"} and len(present) == 1:
                continue  # the name itself is gone, and said to be
            kept.append(each._replace(code="D11" if kinds == {"patch"} else "D10"))
        return kept


class Interpreter:
    """`codes`: what was compiled before, by path; kept over the runs."""

    def __init__(
        self, twins: Twins, side: Side, scope: Scope, real_modules: frozenset[str], codes: dict[str, Any]
    ) -> None:
        self.twins, self.side, self.scope, self.real_modules, self._codes = twins, side, scope, real_modules, codes
        self.modules: dict[str, types.ModuleType] = {}
        self.loading: list[str] = []
        self._tables: dict[str, dict[str, Any]] = {}
        self._changed: dict[str, tuple[Place, ...]] = {}
        self.builtins = make_builtins(self, runtime.NAMES)  # type: ignore[arg-type]
        self.builtins["__build_class__"] = _build_class

    def name_of(self, value: Any) -> str | None:
        """The name on the old side of a function, class or module of the tree."""
        if isinstance(value, types.FunctionType):
            if "_u_side" not in value.__globals__ or "<locals>" in value.__qualname__ or "<lambda>" in value.__name__:
                return None
            return self.twins.canonical(self.side, f"{value.__globals__['__name__']}:{value.__qualname__}")
        if isinstance(value, types.ModuleType) and value.__name__ in self.modules:
            return value.__name__
        if isinstance(value, type) and "_u_home" in value.__dict__ and "<locals>" not in value.__qualname__:
            return self.twins.canonical(self.side, f"{value.__dict__['_u_home']}:{value.__dict__['_u_name']}")
        return None

    def identity(self, value: Any) -> Any:
        """Which definition of the tree a value is; by its last name alone where the other side has none in its
        place."""
        name = self.name_of(value)
        if name is None or ":" not in name:
            return None if name is None else ("named", name)
        other, key = (
            (self.twins.new, self.twins.original(name)) if self.side is self.twins.old else (self.twins.old, name)
        )
        module, _, qualname = key.partition(":")
        is_there = other.facts(module) is not None and other.definition(module, qualname)[0] is not None
        return ("named", name if is_there else f"{type(value).__name__} {qualname.rpartition('.')[2]}")

    # -- importing

    def import_(self, name: str, names: Any = None, _: Any = None, wanted: Any = (), level: int = 0) -> Any:
        """`__import__` of the subject."""
        path = (names or {}).get("__file__", "")
        dotted = self.side.modules.absolute(path, level, name) if level else name
        if not self.side.has_module(dotted.partition(".")[0]):
            return self._outside(dotted, wanted)
        module = self.load(dotted)
        if not wanted:
            return self.modules.get(dotted.partition(".")[0], module)
        for each in wanted:
            if each != "*":
                self._take(module, dotted, each)
        return module

    def _take(self, module: types.ModuleType, dotted: str, name: str) -> None:
        """`from dotted import name`: an attribute, else a module of the package."""
        if hasattr(module, name):
            return
        if self.side.has_module(f"{dotted}.{name}") and hasattr(module, "__path__"):
            self.load(f"{dotted}.{name}")
            return
        how = "partially initialized module " if dotted in self.loading else ""
        raise ImportError(f"cannot import name {name!r} from {how}{dotted!r}")

    def _outside(self, dotted: str, wanted: Any) -> Any:
        shown = dotted if wanted else dotted.partition(".")[0]
        if wanted and any(is_known(f"{dotted}.{each}") for each in wanted):
            return outside_module(dotted, self.real_modules)
        if not wanted and dotted != shown:
            outside_module(dotted, self.real_modules)
        return OutsideProxy(shown, self.real_modules) if wanted else outside_module(shown, self.real_modules)

    def load(self, dotted: str) -> types.ModuleType:
        """The module, with the packages around it. Raises what its top level raises."""
        found = self.modules.get(dotted)
        if found is not None:
            return found
        parent, _, leaf = dotted.rpartition(".")
        package = self.load(parent) if parent else None
        found = self.modules.get(dotted)  # the package may have imported it
        if found is not None:
            return found
        path = self.side.modules.path_of(dotted)
        if path is None and not self.side.modules.is_package_directory(dotted):
            raise ModuleNotFoundError(f"No module named {dotted!r}")
        made = self._made(dotted, path)
        self.modules[dotted] = made
        if path is not None and path.endswith(".py") and self.scope.is_real(dotted):
            self._execute(made, dotted, path)
        if package is not None:
            setattr(package, leaf, made)
        return made

    def _made(self, dotted: str, path: str | None) -> types.ModuleType:
        is_real = path is not None and path.endswith(".py") and self.scope.is_real(dotted)
        made = types.ModuleType(dotted) if is_real or path is None else _Unread(dotted, self.twins.canonical)
        is_package = path is None or path.endswith("__init__.py")
        made.__dict__.update(
            __file__=path or "", __package__=dotted if is_package else dotted.rpartition(".")[0],
            __builtins__=self.builtins, _u_side=self.side.label,
        )  # fmt: skip
        if is_package:
            made.__dict__["__path__"] = [dotted]
        return made

    def _execute(self, module: types.ModuleType, dotted: str, path: str) -> None:
        code = self._codes.get(path)
        if code is None:
            tree = instrument(ast.parse(self.side.files.read(path)))
            code = self._codes[path] = compile(tree, f"<{self.side.label}>{path}", "exec", dont_inherit=True)
        self.loading.append(dotted)
        try:
            exec(code, module.__dict__)
        except BaseException:
            del self.modules[dotted]
            raise
        finally:
            self.loading.pop()
        self._look(dotted)

    # -- tables that other modules fill

    def _look(self, dotted: str) -> None:
        """Which tables of modules that were loaded before are not what they were."""
        stack: tuple[Place, ...] | None = None
        for module, tables in self._tables.items():
            names = self.modules[module].__dict__ if module in self.modules else {}
            for name, size in tables.items():
                now = _size(names.get(name))
                if now != size:
                    tables[name] = now
                    stack = subject_stack() if stack is None else stack
                    self._changed.setdefault(f"{module}:{name}", stack)
        names = self.modules[dotted].__dict__
        self._tables[dotted] = {
            name: _size(value) for name, value in names.items() if type(value) in _TABLES and name[:2] != "__"
        }

    def changed_tables(self, run: Run) -> dict[str, tuple[Any, tuple[Place, ...]]]:
        """Tables that another module than their own has filled, with what they hold in the end."""
        found = {}
        for key, stack in self._changed.items():
            module, _, name = key.partition(":")
            if module in self.modules:
                found[key] = (plain(run, self.modules[module].__dict__.get(name)), stack)
        return found


class _Unread(types.ModuleType):
    """A module of the tree that is not executed: its names are opaque, the same on both sides."""

    def __init__(self, name: str, canonical: Callable[[Side, str], str]) -> None:
        super().__init__(name)
        self.__dict__["_u_canonical"] = canonical

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_u_")):
            raise AttributeError(name)
        return term(GLOBAL, f"{self.__name__}:{name}")


def _build_class(function: Any, name: str, *bases: Any, **keywords: Any) -> Any:
    made = builtins.__build_class__(function, name, *bases, **keywords)
    if isinstance(made, type):
        hook(made)
        try:
            made._u_home = function.__globals__["__name__"]  # type: ignore[attr-defined]
            made._u_name = _qualname(function, name)  # type: ignore[attr-defined]
        except (TypeError, AttributeError):
            return made
    return made


def _qualname(body: Any, name: str) -> str:
    """Of a class by the function that is its body, whatever the body says itself. Before 3.11 that function has the
    bare name, and the qualified one among its constants."""
    if sys.version_info >= (3, 11):
        found: str = body.__qualname__
        return found
    texts = [each for each in body.__code__.co_consts if isinstance(each, str)]
    return next((each for each in texts if each == name or each.endswith(f".{name}")), name)


def _size(value: Any) -> Any:
    """What tells whether a table has been changed, without asking what is in it."""
    if isinstance(value, dict):
        return [(id(key), id(each)) for key, each in value.items()]
    return [id(each) for each in value] if isinstance(value, list | set) else id(value)


def plain(run: Run, value: Any) -> Any:
    """A value at the top of a module, as far as it is data; of other things only what they are."""
    budget = [_MOST_NODES]
    return _plain(run, value, 0, budget)


def _plain(run: Run, value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    kind = type(value)
    if depth > _DEEPEST or budget[0] < 0:
        return ("deep", kind.__name__)
    if kind in (list, tuple):
        return (kind.__name__, *(_plain(run, each, depth + 1, budget) for each in value))
    if kind is dict:
        pairs = [
            (_plain(run, key, depth + 1, budget), _plain(run, each, depth + 1, budget)) for key, each in value.items()
        ]
        return ("dict", frozenset(pairs))
    if kind in (set, frozenset):
        return ("set", frozenset(_plain(run, each, depth + 1, budget) for each in value))
    if kind in (str, int, float, bool, bytes, complex, Opaque) or value is None or isinstance(value, enum.Enum):
        return run.freezer.freeze(value)
    if isinstance(run, ImportRun):
        found = run.interpreter.identity(value)
        if found is not None:
            return found
    if callable(value):
        return ("callable",)
    return ("instance", kind.__qualname__)
