"""Expressions as points of a flow graph, in the order Python evaluates them. Statements are flow_statements.py's.

Where control can go two ways (`and`, `or`, `if`-expressions, chained comparisons, comprehensions) so does the graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from codemods.source.flow_points import KeyOf, Kind, Point, Risk
from codemods.source.flow_scopes import heads, hidden_by, root_name, signature_annotations

_QUIET_CALLS = frozenset(
    {"abs", "bool", "callable", "float", "id", "int", "isinstance", "issubclass", "len", "range", "repr", "round"}
    | {"str", "type"}
)
_EAGER_CALLS = frozenset(
    {"all", "any", "dict", "frozenset", "list", "max", "min", "next", "set", "sorted", "sum", "tuple", "join"}
)
_OPERATIONS = (ast.BinOp, ast.Subscript, ast.Slice, ast.FormattedValue, ast.Starred, ast.Attribute)
_KINDS = {ast.Load: Kind.READ, ast.Store: Kind.WRITE, ast.Del: Kind.DELETE}


class ExpressionFlow:
    """Keeps the frontier: the points whose successor is whatever comes next."""

    def __init__(self, key_of: KeyOf, *, evaluates_annotations: bool) -> None:
        self.key_of = key_of
        self.evaluates_annotations = evaluates_annotations
        self.points: list[Point] = []
        self.frontier: list[Point] = []
        self.late = False
        self.hidden: frozenset[str] = frozenset()
        self.hidden_by_class: frozenset[str] = frozenset()

    def error_target(self, *, is_explicit: bool = False) -> Point:
        """Where an exception raised here goes."""
        raise NotImplementedError

    # -- making points

    def new(self, kind: Kind, node: ast.AST, key: str = "", risk: Risk = Risk.NONE) -> Point:
        point = Point(kind, node, key, risk, late=self.late, number=len(self.points))
        self.points.append(point)
        return point

    def emit(self, kind: Kind, node: ast.AST, key: str = "", risk: Risk = Risk.NONE) -> Point:
        """A new point at the end of every open path."""
        point = self.new(kind, node, key, risk)
        self.join(point)
        if risk is not Risk.NONE and not self.late:
            point.on_error.append(self.error_target(is_explicit=isinstance(node, ast.Raise)))
        return point

    def join(self, point: Point) -> None:
        for open_end in self.frontier:
            open_end.after.append(point)
        self.frontier = [point]

    def risk(self, node: ast.AST, risk: Risk) -> None:
        self.emit(Kind.STEP, node, risk=risk)

    def variable(self, node: ast.expr, report: ast.AST | None = None) -> bool:
        """A point for `node` when it is a variable; whether it is."""
        key = None if self.is_hidden(node) else self.key_of(node)
        if key is None:
            return False
        kind = _KINDS[type(node.ctx)]  # type: ignore[attr-defined]
        is_attribute = isinstance(node, (ast.Attribute, ast.Subscript))
        self.emit(kind, report or node, key, Risk.OPERATION if is_attribute else _name_risk(kind))
        return True

    def bind(self, name: str, node: ast.AST) -> None:
        """A name bound by something that has no Name node: an import, a definition, a handler, a pattern."""
        self.variable(ast.Name(id=name, ctx=ast.Store()), report=node)

    def unbind(self, name: str, node: ast.AST) -> None:
        """As `bind`, for the name of a handler at its end: it can't fail, whatever became of the name."""
        stand_in = ast.Name(id=name, ctx=ast.Del())
        key = None if self.is_hidden(stand_in) else self.key_of(stand_in)
        if key is not None:
            self.emit(Kind.DELETE, node, key)

    def is_hidden(self, node: ast.expr) -> bool:
        root = root_name(node)
        return root in self.hidden or root in self.hidden_by_class

    # -- expressions

    def expressions(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            self.expression(node)

    def expression(self, node: ast.AST | None) -> None:
        if node is None:
            return
        handler: Callable[[ast.AST], None] | None = getattr(self, f"_{type(node).__name__}", None)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and self.variable(node):
            return
        if handler is not None:
            handler(node)
            return
        self.expressions(ast.iter_child_nodes(node))
        if isinstance(node, _OPERATIONS) or (isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not)):
            self.risk(node, Risk.OPERATION)

    def _Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and not self.is_hidden(node):
            self.risk(node, Risk.NAME)

    def _Constant(self, node: ast.Constant) -> None:
        pass

    def _Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if isinstance(node.func, ast.Attribute) and not self.variable(node.func):
            self.expression(node.func.value)
        elif not isinstance(node.func, ast.Attribute):
            self.expression(node.func)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if isinstance(argument, ast.GeneratorExp) and name in _EAGER_CALLS:
                self._comprehension(argument)
            else:
                self.expression(argument)
        is_quiet = isinstance(node.func, ast.Name) and name in _QUIET_CALLS
        self.risk(node, Risk.OPERATION if is_quiet else Risk.CALL)

    def _Compare(self, node: ast.Compare) -> None:
        self.expression(node.left)
        leave: list[Point] = []
        for position, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            self.expression(right)
            if not isinstance(operator, (ast.Is, ast.IsNot)):
                self.risk(node, Risk.OPERATION)
            if position < len(node.ops) - 1:
                leave += self.fork(node)
        self.frontier += leave

    def fork(self, node: ast.AST) -> list[Point]:
        """One more way out of here: the open paths go on, and the returned ones too."""
        self.emit(Kind.STEP, node)
        return list(self.frontier)

    def _BoolOp(self, node: ast.BoolOp) -> None:
        yes, no = self.condition(node)
        self.frontier = [*yes, *no]

    def condition(self, node: ast.expr) -> tuple[list[Point], list[Point]]:
        """Evaluates `node`; the open paths when it is true, and when it is false."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yes, no = self.condition(node.operand)
            return no, yes
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            left: list[Point] = []
            for value in node.values[:-1]:
                yes, no = self.condition(value)
                self.frontier = yes if is_and else no
                left += no if is_and else yes
            yes, no = self.condition(node.values[-1])
            return (yes, [*no, *left]) if is_and else ([*yes, *left], no)
        self.expression(node)
        self.emit(Kind.STEP, node)
        here = list(self.frontier)
        if isinstance(node, ast.Constant):
            return (here, []) if node.value else ([], here)
        return here, list(here)

    def _IfExp(self, node: ast.IfExp) -> None:
        yes, no = self.condition(node.test)
        self.frontier = yes
        self.expression(node.body)
        after_body = self.frontier
        self.frontier = no
        self.expression(node.orelse)
        self.frontier = [*after_body, *self.frontier]

    def _NamedExpr(self, node: ast.NamedExpr) -> None:
        self.expression(node.value)
        self.expression(node.target)

    def _Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            self.expression(key)
            self.expression(value)
            if key is not None:
                self.risk(node, Risk.OPERATION)  # a key is hashed
            else:
                self.risk(node, Risk.CALL)

    def _Await(self, node: ast.Await) -> None:
        self.expression(node.value)
        self.risk(node, Risk.CALL)

    def _Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self.expression(node.value)
        self.risk(node, Risk.CALL)

    _YieldFrom = _Yield

    # -- scopes inside

    def _comprehension(self, node: ast.AST) -> None:
        """Loops one inside the other; its loop names are its own, its walrus targets are ours."""
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.expression(generators[0].iter)
        with self.inside(node):
            self._comprehension_loop(node, generators)

    def _comprehension_loop(self, node: ast.AST, generators: list[ast.comprehension], depth: int = 0) -> None:
        if depth == len(generators):
            parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)  # type: ignore[attr-defined]
            self.expressions(parts)
            if isinstance(node, (ast.DictComp, ast.SetComp)):
                self.risk(node, Risk.OPERATION)
            return
        generator = generators[depth]
        if depth:
            self.expression(generator.iter)
        self.risk(generator.iter, iteration_risk(generator.iter))
        head = self.emit(Kind.STEP, generator.iter)
        left = list(self.frontier)
        self.expression(generator.target)
        for test in generator.ifs:
            yes, no = self.condition(test)
            self.frontier = yes
            for point in no:
                point.after.append(head)
        self._comprehension_loop(node, generators, depth + 1)
        self.join(head)
        self.frontier = left

    _ListComp = _SetComp = _DictComp = _comprehension

    def _GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """Runs when somebody iterates; only its first iterable is evaluated here."""
        self.expression(node.generators[0].iter)
        with self.later(node):
            self._comprehension_loop(node, node.generators)

    def _Lambda(self, node: ast.Lambda) -> None:
        self.expressions(heads(node))
        with self.later(node):
            self.expression(node.body)

    def _FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A nested `def`: its defaults now, its body later."""
        self.expressions(heads(node))
        if self.evaluates_annotations:
            self.expressions(signature_annotations(node))
        if node.decorator_list:
            self.risk(node, Risk.CALL)
        with self.later(node):
            self.block(node.body)
        self.bind(node.name, node)

    _AsyncFunctionDef = _FunctionDef

    def _ClassDef(self, node: ast.ClassDef) -> None:
        """A class body runs where it stands, with names of its own."""
        self.expressions(heads(node))
        if node.bases or node.keywords or node.decorator_list:
            self.risk(node, Risk.CALL)
        with self.inside(node):
            self.block(node.body)
        self.bind(node.name, node)

    def block(self, statements: list[ast.stmt]) -> None:
        """The statements of a body, one after the other."""
        raise NotImplementedError

    @contextmanager
    def inside(self, node: ast.AST) -> Iterator[None]:
        """A scope that runs here. A class's names are seen by its own statements only, not by scopes in it."""
        before = self.hidden, self.hidden_by_class
        if isinstance(node, ast.ClassDef):
            self.hidden_by_class = hidden_by(node)
        else:
            self.hidden, self.hidden_by_class = self.hidden | hidden_by(node), frozenset()
        yield
        self.hidden, self.hidden_by_class = before

    @contextmanager
    def later(self, node: ast.AST) -> Iterator[None]:
        """A scope that may run later, or never: its points are marked, and a path leads past them."""
        self.emit(Kind.STEP, node)
        past = list(self.frontier)
        before, self.late = self.late, True
        with self.inside(node), self.boundary(node):
            yield
        self.late = before
        self.frontier = [*past, *self.frontier]

    @contextmanager
    def boundary(self, node: ast.AST) -> Iterator[None]:
        """Returns inside end here, not in the function around."""
        raise NotImplementedError


def iteration_risk(iterable: ast.expr) -> Risk:
    """Of fetching the next item: displays and ranges run nobody's code."""
    if isinstance(iterable, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.Constant)):
        return Risk.NONE
    is_range = isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"
    return Risk.NONE if is_range else Risk.CALL


def _name_risk(kind: Kind) -> Risk:
    return Risk.NONE if kind is Kind.WRITE else Risk.NAME
