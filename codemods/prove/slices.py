"""The part of a side that a pair needs, as live objects: a function, the class around it, and the names they use, each
executed by itself. Nothing else of a module runs; what both sides share is opaque; modules outside the trees stand in.

`is_real`: execute what both sides share as well, if it only computes (for runs on concrete values)."""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

from codemods.prove import bindings, runtime
from codemods.prove.anew import Rebind
from codemods.prove.branches import branches
from codemods.prove.definitions import is_data, makes_own
from codemods.prove.live import make_builtins
from codemods.prove.lone import LoneMethods
from codemods.prove.moments import moments_of
from codemods.prove.opaque import GLOBAL, term
from codemods.prove.proxies import ModuleProxy, OutsideProxy, is_known
from codemods.prove.purity import Purity
from codemods.prove.run import Run
from codemods.prove.sides import DefNode, FunctionNode, Side, Target
from codemods.prove.space import Space
from codemods.prove.stable import Twins
from codemods.prove.stand_ins import outside_module, outside_name
from codemods.prove.state import State
from codemods.prove.traces import Traces


class Loader:
    """The live half of one side for one pair."""

    def __init__(
        self, twins: Twins, side: Side, *, is_real: bool = False, real_modules: frozenset[str] = frozenset(),
        opened: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        from codemods.prove.load_run import LoadRun

        self.twins, self.side, self.is_real, self.real_modules = twins, side, is_real, real_modules
        self.run = LoadRun(self.name_of)
        self.spaces: dict[str, Space] = {}
        self.reached: dict[str, set[int]] = {}  # by module: the branches that runs have taken (branches.py)
        self.executed: list[tuple[str, str]] = []  # module and qualified name of each function that may run
        self.opened = opened
        self.inside: set[str] = set(opened)  # canonical names that are executed though both sides share them
        self.builtins = make_builtins(self, runtime.NAMES)
        self.places: dict[str, Rebind] = {}  # names that functions bind anew: how one becomes another in a run
        self.state = State(self.spaces)
        self.traces = Traces()
        self._purity = Purity(side)
        self._is_opaque: dict[tuple[str, int], bool] = {}
        self._opaque: dict[str, Any] = {}
        self._imports: dict[tuple[Any, ...], tuple[str, str]] = {}
        self.lone = LoneMethods(self)
        self.moments = moments_of(twins)

    # -- names

    def canonical(self, key: str) -> str:
        return self.twins.canonical(self.side, key)

    def name_of(self, value: Any) -> str | None:
        """The name on the old side of a function, class or module of the trees."""
        if isinstance(value, types.FunctionType):
            if "_u_side" not in value.__globals__ or "<locals>" in value.__qualname__ or "<lambda>" in value.__name__:
                return None
            return self.canonical(f"{value.__globals__['__name__']}:{value.__qualname__}")
        if isinstance(value, ModuleProxy):
            module: str = value._u_module
            return module
        if isinstance(value, type) and "_u_tree" in value.__dict__ and "<locals>" not in value.__qualname__:
            return self.canonical(f"{value.__module__}:{value.__qualname__}")
        return None

    def space(self, module: str) -> Space | None:
        found = self.spaces.get(module)
        if found is None:
            facts = self.side.facts(module)
            if facts is None:
                return None
            found = self.spaces[module] = Space(self, facts)
        return found

    def is_opaque(self, target: Target) -> bool:
        """Whether a definition stands as one thing."""
        key = (target.key, len(self.inside))
        if key not in self._is_opaque:
            self._is_opaque[key] = self._stands(target)
        return self._is_opaque[key]

    def _stands(self, target: Target) -> bool:
        if self.canonical(target.key) in self.inside:
            return False
        if (self.is_real or has_no_input(target)) and self._purity.is_pure(target):
            return False
        if isinstance(target.node, ast.ClassDef) and is_data(target.node):
            return False
        return self.twins.is_stable(self.side, target)

    def has_come(self, key: str) -> bool:
        """Whether a class stands on the new side alone."""
        if self.side is self.twins.old:
            return False
        module, _, name = self.canonical(key).partition(":")
        return self.twins.old.facts(module) is None or self.twins.old.definition(module, name)[0] is None

    def opaque(self, target: Target) -> Any:
        """What stands for a function or a class that both sides share."""
        made = self._opaque.get(target.key)
        if made is None:
            made = self._opaque[target.key] = term(GLOBAL, self.canonical(target.key))
            if target.node is not None:
                bindings.register(made, target.node)
        return made

    def note(self, module: str, node: DefNode, sliced: DefNode) -> None:
        """Keep which functions may run, for those who ask whether a slip in them would show."""
        if isinstance(node, FunctionNode):
            self.executed.append((module, node.name))
            return
        for each in sliced.body:
            if isinstance(each, FunctionNode) and not each.name.startswith("__"):
                self.executed.append((module, f"{node.name}.{each.name}"))

    def unreached(self) -> list[str]:
        """The branches that no run took, as `path:line`, of the functions that may run."""
        found: list[str] = []
        for module, qualname in dict.fromkeys(self.executed):
            node, facts = self.side.definition(module, qualname)[0], self.side.facts(module)
            if node is None or facts is None:
                continue
            taken = self.reached.get(module, set())
            for line, what in sorted(branches(node).items(), key=lambda each: abs(each[0])):
                if line not in taken:
                    found.append(f"{facts.path}:{abs(line)}" + (" (no else)" if what == "no else" else ""))
        return found

    def settle(self, run: Run) -> None:
        """Record what a run has left in the modules, and put it back."""
        self.state.settle(run, self.canonical)

    # -- values

    def value(self, target: Target) -> Any:
        """The live value of what a name means. Raises ImportError where a module has no such name."""
        if target.kind == "outside":
            module, _, name = target.module.rpartition(".")
            if not module:
                return outside_module(target.module, self.real_modules)
            found = outside_module(target.module, self.real_modules) if is_known(target.module) else None
            return outside_name(module, name, self.real_modules) if found is None else found
        if target.kind == "module":
            return ModuleProxy(self, target.module)
        if target.kind == "builtin":
            return getattr(builtins, target.name)
        if target.kind == "missing":
            raise ImportError(f"cannot import name {target.name!r} from {target.module!r}")
        if target.kind != "value" and self.is_opaque(target):
            return self.opaque(target)
        space = self.space(target.module)
        assert space is not None
        space.ensure([target.name])
        return space.names.get(target.name, term(GLOBAL, self.canonical(target.key)))

    def _is_lost(self, dotted: str) -> bool:
        """Whether only the other side has the module."""
        other = self.twins.new if self.side is self.twins.old else self.twins.old
        return other.has_module(dotted)

    def import_(self, name: str, names: Any = None, _: Any = None, wanted: Any = (), level: int = 0) -> Any:
        """`__import__` of the subject."""
        asked = (name, (names or {}).get("__file__", ""), tuple(wanted or ()), level)
        if asked not in self._imports:
            self._imports[asked] = self._imported(*asked)
        what, dotted = self._imports[asked]
        if what == "inside":
            return ModuleProxy(self, dotted)
        if what == "missing":
            raise ModuleNotFoundError(f"No module named {dotted!r}")
        return OutsideProxy(dotted, self.real_modules) if what == "names" else outside_module(dotted, self.real_modules)

    def _imported(self, name: str, path: str, wanted: tuple[str, ...], level: int) -> tuple[str, str]:
        """What an import gives: a module inside the tree, one that is missing, names of one outside, or that one."""
        dotted = self.side.modules.absolute(path, level, name) if level else name
        shown = dotted if wanted else dotted.partition(".")[0]
        if self.side.has_module(dotted):
            return "inside", shown
        if self._is_lost(dotted) or (self.side.facts(dotted.partition(".")[0]) is not None and dotted != shown):
            return "missing", dotted
        if wanted and any(is_known(f"{dotted}.{each}") for each in wanted):
            return "outside", dotted
        if not wanted and dotted != shown:
            outside_module(dotted, self.real_modules)
        return "names" if wanted else "outside", shown

    def needed_methods(self, module: str, owner: ast.ClassDef, start: str) -> set[str]:
        """The methods of a class that may run when one is called: by name, what both sides share left out."""
        wanted, pending = {start}, [start]
        methods = {each.name: each for each in owner.body if isinstance(each, FunctionNode)}
        while pending:
            node = methods.get(pending.pop())
            for each in ast.walk(node) if node is not None else ():
                if not isinstance(each, ast.Attribute) or each.attr not in methods or each.attr in wanted:
                    continue
                if not self._is_shared(module, owner, each.attr):
                    wanted.add(each.attr)
                    pending.append(each.attr)
        left_out = {"__getattr__"} if makes_own(owner, methods, wanted) else {"__init__", "__getattr__"}
        return wanted | {name for name in methods if name[:2] == "__" and name not in left_out}

    def _is_shared(self, module: str, owner: ast.ClassDef, name: str) -> bool:
        from codemods.prove.stable import signature

        key = f"{module}:{owner.name}.{name}"
        canonical = self.canonical(key)
        if canonical in self.inside:
            return False
        other = self.twins.new if self.side is self.twins.old else self.twins.old
        there = self.twins.original(key) if self.side is self.twins.old else canonical
        other_module, _, qualname = there.partition(":")
        mine, theirs = self.side.definition(module, f"{owner.name}.{name}")[0], None
        if other.facts(other_module) is not None:
            theirs = other.definition(other_module, qualname)[0]
        if not isinstance(mine, FunctionNode) or not isinstance(theirs, FunctionNode):
            return False
        if self.is_real and self._purity.is_pure_function(module, mine):
            return False
        return signature(mine) == signature(theirs)


def has_no_input(target: Target) -> bool:
    """A function without parameters: if it only computes, its result is a constant."""
    node = target.node
    return isinstance(node, FunctionNode) and not any(isinstance(each, ast.arg) for each in ast.walk(node.args))
