"""What an expression does when it is evaluated, step by step, and whether arguments may move into it.

An argument that is a constant or a variable that nothing can change meanwhile may stand anywhere, any number of times.
Any other must be evaluated exactly once, on every path, in the order of the call, and past nothing that could see or
change what it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import IntEnum

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.parse import Source
from codemods.source.scopes import Role, Scope, ScopeKind, lookup


class Weight(IntEnum):
    """PURE: gives the same whenever it is evaluated. READ: depends on state. ACT: may run anything."""

    PURE = 0
    READ = 1
    ACT = 2


class Event(Struct, frozen=True, eq=False):
    """One step. name: the parameter read, "" for other steps. is_conditional: not on every path. is_repeated: in a loop
    of a comprehension. is_deferred: when a lambda or generator made here runs."""

    weight: Weight
    node: ast.AST
    name: str = ""
    is_conditional: bool = False
    is_repeated: bool = False
    is_deferred: bool = False


class Trouble(Struct, frozen=True):
    """Why an argument can't simply move: a U-code and what would change. is_mild: only an error could be missed."""

    code: str
    message: str
    is_mild: bool = False


def is_stable(node: ast.Name, scope: Scope) -> bool:
    """Whether nobody else can give the variable another value while an expression that reads it is evaluated."""
    home = lookup(scope, node.id)
    if home is None:
        return True  # a builtin
    if home.kind is ScopeKind.MODULE:
        bound = home.bound[node.id]
        return len(bound) == 1 or all(each.role is Role.IMPORT for each in bound)
    if home.kind is ScopeKind.CLASS:
        return False
    return all(each.scope is home or each.scope.kind is ScopeKind.COMPREHENSION for each in home.bound[node.id])


class Steps:
    """Evaluates an expression of one file on paper. parameters: names that are arguments still to come."""

    def __init__(self, source: Source, scope: Scope, parameters: frozenset[str] = frozenset()) -> None:
        self.source, self.scope, self.own, self.parameters = source, scope, scope, parameters
        self.conditional = self.repeated = self.deferred = False

    def of(self, node: ast.AST) -> Iterator[Event]:
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is not None:
            yield from handler(node)
        else:
            for child in ast.iter_child_nodes(node):
                yield from self.of(child)

    def step(self, weight: Weight, node: ast.AST, name: str = "") -> Event:
        return Event(weight, node, name, self.conditional, self.repeated, self.deferred)

    def is_parameter(self, node: ast.Name) -> bool:
        return node.id in self.parameters and lookup(self.scope, node.id) in (None, self.own)

    def _Name(self, node: ast.Name) -> Iterator[Event]:
        if self.is_parameter(node):
            yield self.step(Weight.READ, node, node.id)
        elif not is_stable(node, self.scope):
            yield self.step(Weight.READ, node)

    def _Attribute(self, node: ast.Attribute) -> Iterator[Event]:
        yield from self.of(node.value)
        head = _head(node)
        is_member = head is not None and head is node.value and head.id[:1].isupper() and node.attr.isupper()
        if not (is_member and self.is_fixed(node)):  # `Mode.DECODE` is a constant by everybody's convention
            yield self.step(Weight.READ, node)

    def is_fixed(self, node: ast.expr) -> bool:
        """A chain of attributes that starts at a module-level name which is bound once."""
        head = _head(node)
        if head is None or self.is_parameter(head):
            return False
        home = lookup(self.scope, head.id)
        return home is not None and home.kind is ScopeKind.MODULE and is_stable(head, self.scope)

    def _Call(self, node: ast.Call) -> Iterator[Event]:
        if not self.is_fixed(node.func):  # nobody gives a module or class another method in the middle of a call
            yield from self.of(node.func)
        for part in [*node.args, *node.keywords]:
            yield from self.of(part)
        yield self.step(Weight.ACT, node)

    def _Await(self, node: ast.Await) -> Iterator[Event]:
        yield from self.of(node.value)
        yield self.step(Weight.ACT, node)

    _Yield = _YieldFrom = _NamedExpr = _Await

    def _after(self, node: ast.AST) -> Iterator[Event]:
        for child in ast.iter_child_nodes(node):
            yield from self.of(child)
        yield self.step(Weight.READ, node)

    _BinOp = _Subscript = _FormattedValue = _Starred = _after
    _List = _Set = _Dict = _after  # a new object each time

    def _UnaryOp(self, node: ast.UnaryOp) -> Iterator[Event]:
        yield from self.of(node.operand)
        if not isinstance(node.operand, ast.Constant):
            yield self.step(Weight.READ, node)

    def _Compare(self, node: ast.Compare) -> Iterator[Event]:
        yield from self.of(node.left)
        yield from self.of(node.comparators[0])
        yield self.step(Weight.READ, node)
        yield from self._maybe(node.comparators[1:])

    def _BoolOp(self, node: ast.BoolOp) -> Iterator[Event]:
        yield from self.of(node.values[0])
        yield from self._maybe(node.values[1:])

    def _IfExp(self, node: ast.IfExp) -> Iterator[Event]:
        yield from self.of(node.test)
        yield from self._maybe([node.body, node.orelse])

    def _maybe(self, nodes: Sequence[ast.AST]) -> Iterator[Event]:
        before, self.conditional = self.conditional, True
        for node in nodes:
            yield from self.of(node)
        self.conditional = before

    def _Lambda(self, node: ast.Lambda) -> Iterator[Event]:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                yield from self.of(default)
        yield from self._inside(node, [node.body], deferred=True)
        yield self.step(Weight.READ, node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Iterator[Event]:
        yield from self.of(node.generators[0].iter)
        parts: list[ast.AST] = list(node.generators[0].ifs)
        for generator in node.generators[1:]:
            parts.extend([generator.iter, *generator.ifs])
        parts.extend([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        is_generator = isinstance(node, ast.GeneratorExp)
        yield from self._inside(node, parts, deferred=is_generator)
        yield self.step(Weight.READ if is_generator else Weight.ACT, node)

    _ListComp = _SetComp = _DictComp = _GeneratorExp = _comprehension

    def _inside(self, node: ast.AST, parts: Sequence[ast.AST], *, deferred: bool) -> Iterator[Event]:
        """What runs in a scope of its own, more than once or later."""
        before = (self.scope, self.conditional, self.repeated, self.deferred)
        self.scope = table(self.source).scope_of(node)
        self.conditional = self.repeated = True
        self.deferred = self.deferred or deferred
        for part in parts:
            yield from self.of(part)
        self.scope, self.conditional, self.repeated, self.deferred = before


def _head(node: ast.expr) -> ast.Name | None:
    """`a` of `a.b.c`; None when there is no name at the beginning."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def weight_of(source: Source, node: ast.expr, scope: Scope) -> Weight:
    """What evaluating an argument amounts to."""
    return max((event.weight for event in Steps(source, scope).of(node)), default=Weight.PURE)


def troubles(
    given: Sequence[tuple[str, str, Weight]], events: Sequence[Event], constants: frozenset[str]
) -> Iterator[Trouble]:
    """What would change when arguments are evaluated where the expression reads them.

    given: (parameter, text, weight) in the order in which the call evaluates them. constants: parameters whose argument
    is a literal."""
    last: tuple[int, str, Weight] | None = None
    for name, text, weight in given:
        places = [index for index, event in enumerate(events) if event.name == name]
        if weight is Weight.PURE:
            if name not in constants and any(events[index].is_deferred for index in places):
                yield Trouble("U101", f"{text} is read when the function made here runs, not at the call")
            continue
        if not places:
            what = f"{text} is evaluated at the call today, and not at all in the inlined expression"
            yield Trouble("U102", what, is_mild=weight is Weight.READ)
        elif any(events[index].is_deferred or events[index].is_repeated for index in places) or len(places) > 1:
            yield Trouble("U101", f"{text} is evaluated once at the call today, and more often or later once inlined")
        elif events[places[0]].is_conditional:
            yield Trouble("U102", f"{text} is evaluated on every path today, and only on some once inlined")
        else:
            at = places[0]
            passed = [event.weight for event in events[:at] if not event.name]
            if any(max(weight, other) is Weight.ACT for other in passed):
                yield Trouble("U101", f"{text} would be evaluated after something that the body does first")
            elif last is not None and at < last[0] and max(weight, last[2]) is Weight.ACT:
                yield Trouble("U101", f"{text} would be evaluated before {last[1]}")
            if last is None or at > last[0]:
                last = (at, text, weight)
