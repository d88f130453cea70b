"""What making an object of one class does to it, step by step: which attributes are surely set, and from where on.

Follows `__init__` through the methods it calls on its object and through `super()`; what has no text in the tree, and
calls that other objects make back, are not seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.classes import ClassKey, External, class_at, memo, mro, resolve_class
from codemods.source.files import FileSet
from codemods.source.flow import Flow, Kind, attributes, flow_of
from codemods.source.flow_points import Point
from codemods.source.locate import flattened
from codemods.source.members import self_name
from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS, Function

_MAKERS = ("__init__", "__post_init__", "__attrs_post_init__", "setUp", "setup_method")
_HARMLESS = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})


class Method(Struct, frozen=True):
    """A method as one class of the order defines it."""

    owner: ClassKey
    name: str


def construction(files: FileSet, key: ClassKey) -> Construction:
    """The construction of a class, made once a file set."""
    return memo(files, "construction", key, lambda: Construction(files, key))


class Construction:
    def __init__(self, files: FileSet, key: ClassKey) -> None:
        self.files = files
        self.order = mro(files, key).order
        self.nodes: dict[Method, Function] = {}
        self._flows: dict[Method, Flow] = {}
        self._after: dict[Method, frozenset[str]] = {}
        self._plain: dict[Method, bool] = {}
        for each in mro(files, key).classes:
            at = class_at(files, each)
            for statement in flattened(at[1].body) if at is not None else ():
                if isinstance(statement, FUNCTIONS):
                    self.nodes.setdefault(Method(each, statement.name), statement)

    # -- questions

    def surely_set(self, name: str) -> frozenset[str]:
        """Attributes that are set whenever a method of this name starts, also when construction itself calls it."""
        made: frozenset[str] = frozenset()
        early: frozenset[str] | None = None
        for maker in _MAKERS:
            method = self.found(maker)
            if method is None:
                continue
            for before in self._on_the_way(method, name, made, ()):
                early = before if early is None else early & before
            made |= self.after(method)
        return made if early is None else made & early

    def after(self, method: Method) -> frozenset[str]:
        """Attributes that every way out of the method, errors apart, has set."""
        if method not in self._after:
            self._after[method] = frozenset()  # a call of itself promises nothing
            flow = self._flow(method)
            missing = self._missing(method)
            ends = [point for point in flow.points if point.kind in (Kind.END, Kind.RETURN) and point.number in missing]
            left = [missing[point.number] for point in ends]
            self._after[method] = self._universe(method) - frozenset().union(*left) if left else frozenset()
        return self._after[method]

    def found(self, name: str, behind: ClassKey | None = None) -> Method | None:
        """The method that an object of the class has under this name; behind: as `super()` in that class finds it."""
        order = self.order[self.order.index(behind) + 1 :] if behind in self.order else self.order
        for each in order:
            if isinstance(each, External):
                if each.name not in _HARMLESS:
                    return None  # it may have the method itself, and may or may not pass the call on
            elif Method(each, name) in self.nodes:
                return Method(each, name)
        return None

    # -- one method

    def _flow(self, method: Method) -> Flow:
        if method not in self._flows:
            function = self.nodes[method]
            self._flows[method] = flow_of(function.body, attributes(self_name(function)))
        return self._flows[method]

    def _universe(self, method: Method) -> frozenset[str]:
        """The attributes that the method uses, or that something it calls surely sets."""
        found = set(self._flow(method).keys)
        for point in self._flow(method).points:
            called = self._called(method, point)
            if called is not None:
                found |= self.after(called)
            found.update(self._by_setattr(method, point))
        return frozenset(found) - {each.name for each in self.nodes}

    def _missing(self, method: Method) -> dict[int, frozenset[str]]:
        """Before each point that can be reached: attributes of the universe that some path has not set."""
        flow = self._flow(method)
        names = sorted(self._universe(method))
        bits = {name: 1 << position for position, name in enumerate(names)}

        def mask(attributes: frozenset[str]) -> int:
            return sum(bits[each] for each in attributes if each in bits)

        def transfer(point: Point, missing: int) -> int:
            if point.late:
                return missing
            if point.kind in (Kind.WRITE, Kind.READ):  # a read that does not fail shows that the attribute is there
                return missing & ~bits.get(point.key, 0)
            if point.kind is Kind.DELETE:
                return missing | bits.get(point.key, 0)
            called = self._called(method, point)
            done = self.after(called) if called is not None else frozenset()
            return missing & ~mask(done | self._by_setattr(method, point))

        state = flow.forward([(flow.graph.entry, (1 << len(names)) - 1)], transfer)
        return {number: frozenset(name for name in names if missing & bits[name]) for number, missing in state.items()}

    def _called(self, method: Method, point: Point) -> Method | None:
        """The method of the object that is called, and runs to its end, at this point."""
        node = point.node
        if point.kind is not Kind.STEP or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return None
        found = self._meant(method, node, node.func)
        return found if found is not None and self._runs_when_called(found) else None

    def _runs_when_called(self, method: Method) -> bool:
        if method not in self._plain:
            function = self.nodes[method]
            yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in walk(function))
            self._plain[method] = isinstance(function, ast.FunctionDef) and not yields
        return self._plain[method]

    def _meant(self, method: Method, call: ast.Call, func: ast.Attribute) -> Method | None:
        me = self_name(self.nodes[method])
        owner = func.value
        if isinstance(owner, ast.Name) and owner.id == me:
            return self.found(func.attr)
        if isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "super":
            return self.found(func.attr, behind=method.owner)
        is_unbound = call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == me
        if is_unbound and isinstance(owner, (ast.Name, ast.Attribute)):
            at = class_at(self.files, method.owner)
            if at is not None:
                for named in resolve_class(self.files, at[0], owner, table(at[0]).module):
                    if isinstance(named, ClassKey) and Method(named, func.attr) in self.nodes:
                        return Method(named, func.attr)
        return None

    def _by_setattr(self, method: Method, point: Point) -> frozenset[str]:
        node = point.node
        if point.kind is not Kind.STEP or not isinstance(node, ast.Call) or len(node.args) != 3:
            return frozenset()
        owner, name, _ = node.args
        is_ours = getattr(node.func, "id", "") == "setattr" and isinstance(owner, ast.Name)
        if not is_ours or owner.id != self_name(self.nodes[method]) or not isinstance(name, ast.Constant):  # type: ignore[attr-defined]
            return frozenset()
        return frozenset({str(name.value)})

    # -- who leads where

    def _on_the_way(
        self, method: Method, target: str, base: frozenset[str], above: tuple[Method, ...]
    ) -> Iterator[frozenset[str]]:
        """For each place below `method` that starts, or hands out, a method called `target`: what is set by then."""
        flow = self._flow(method)
        missing: dict[int, frozenset[str]] | None = None
        for point in flow.points:
            for name, called in self._started(method, point):
                leads = name == target or (called is not None and self._leads(called, target))
                if not leads or point.number not in (missing := missing or self._missing(method)):
                    continue
                here = base | (self._universe(method) - missing[point.number])
                if name == target:
                    yield here
                if called is not None and called not in (*above, method):
                    yield from self._on_the_way(called, target, here, (*above, method))

    def _started(self, method: Method, point: Point) -> list[tuple[str, Method | None]]:
        """The method that is called at the point; one that is only named may be called by whoever gets it."""
        if point.kind is Kind.READ:
            return [(point.key, self.found(point.key))]
        node = point.node
        if point.kind is Kind.STEP and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found = self._meant(method, node, node.func)
            return [(found.name, found)] if found is not None else []
        return []

    def _leads(self, method: Method, target: str) -> bool:
        seen: set[Method] = set()
        work = [method]
        while work:
            at = work.pop()
            if at in seen:
                continue
            seen.add(at)
            for point in self._flow(at).points:
                for name, called in self._started(at, point):
                    if name == target:
                        return True
                    if called is not None:
                        work.append(called)
        return False
