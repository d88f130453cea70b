"""Statements as a flow graph: branches, loops, handlers, `finally` on every way out. Stops at expressions, which are
flow_expressions.py's.

A `finally` body is built once for each way that leaves through it. Exceptions go to the nearest handler with the state
from before the point that raised. `with` may swallow an exception unless the manager is known not to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from codemods.source.flow_expressions import iteration_risk
from codemods.source.flow_managers import Swallows, may_swallow
from codemods.source.flow_patterns import PatternFlow
from codemods.source.flow_points import Graph, KeyOf, Kind, Point, Risk


class _Context(Struct, eq=False):
    """Something around the statement being built that a way out passes through.

    loop: where `break` and `continue` go. handler, swallow: where exceptions go (swallow: or on, outwards).
    final: the statements to run on the way out. exit_of: the `with` whose manager is left. end: where `return` goes."""

    node: ast.AST
    loop: tuple[Point, Point] | None = None
    handler: Point | None = None
    swallow: Point | None = None
    final: list[ast.stmt] | None = None
    exit_of: ast.AST | None = None
    end: Point | None = None
    hidden: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    copies: dict[bool, Point] = {}


class StatementFlow(PatternFlow):
    def __init__(self, key_of: KeyOf, *, evaluates_annotations: bool, swallows: Swallows) -> None:
        super().__init__(key_of, evaluates_annotations=evaluates_annotations)
        self.swallows = swallows
        self.contexts: list[_Context] = []
        self.uncaught: dict[Kind, Point] = {}

    # -- ways out

    def error_target(self, *, is_explicit: bool = False) -> Point:
        return self._error_target(len(self.contexts), is_explicit)

    def _error_target(self, depth: int, is_explicit: bool) -> Point:
        """Where an exception goes that is raised inside the first `depth` contexts."""
        for position in range(depth - 1, -1, -1):
            context = self.contexts[position]
            if context.handler is not None or context.end is not None:
                return context.handler or context.end  # type: ignore[return-value]
            if context.final is not None or context.exit_of is not None:
                if is_explicit not in context.copies:
                    context.copies[is_explicit] = self._on_the_way(context, position, is_explicit)
                return context.copies[is_explicit]
        kind = Kind.RAISE if is_explicit else Kind.ERROR
        if kind not in self.uncaught:
            self.uncaught[kind] = self.new(kind, ast.Pass())
        return self.uncaught[kind]

    def _on_the_way(self, context: _Context, position: int, is_explicit: bool) -> Point:
        """Builds what an exception passes through in one context, and its way on."""
        outer, kept, hidden = self.frontier, self.contexts, (self.hidden, self.hidden_by_class)
        start = self.new(Kind.STEP, context.node)
        context.copies[is_explicit] = start
        self.frontier, self.contexts = [start], kept[:position]
        self.hidden, self.hidden_by_class = context.hidden
        self._leave(context)
        target = self._error_target(position, is_explicit)
        if self.frontier:
            on = self.goes_on(context.node, target)
            if context.swallow is not None:
                on.after.append(context.swallow)
        self.frontier, self.contexts, (self.hidden, self.hidden_by_class) = outer, kept, hidden
        return start

    def goes_on(self, node: ast.AST, target: Point) -> Point:
        """The exception that brought us here goes on to `target`, with the state as it is now."""
        on = self.emit(Kind.STEP, node)
        on.on_error.append(target)
        self.frontier = []
        return on

    def _hidden_now(self) -> tuple[frozenset[str], frozenset[str]]:
        return self.hidden, self.hidden_by_class

    def _leave(self, context: _Context) -> None:
        if context.final is not None:
            self.block(context.final)
        elif context.exit_of is not None:
            self.risk(context.exit_of, Risk.CALL)

    def _jump(self, kind: Kind, node: ast.stmt) -> None:
        """Out of every context up to the one that `kind` ends at, through what runs on the way."""
        kept = self.contexts
        for position in range(len(kept) - 1, -1, -1):
            context = kept[position]
            target = _target(context, kind)
            if target is not None:
                self.join(target)
                break
            self.contexts = kept[:position]
            self._leave(context)
            if not self.frontier:
                break
        else:
            self.emit(kind, node)
        self.contexts, self.frontier = kept, []

    @contextmanager
    def boundary(self, node: ast.AST) -> Iterator[None]:
        end = self.new(Kind.STEP, node)
        kept, self.contexts = self.contexts, [_Context(node, end=end)]
        yield
        self.join(end)
        self.contexts = kept

    # -- statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.emit(Kind.STEP, statement)
            self.expression(statement)

    def _Return(self, node: ast.Return) -> None:
        self.expression(node.value)
        self._jump(Kind.RETURN, node)

    def _Break(self, node: ast.Break) -> None:
        self._jump(Kind.BREAK, node)

    def _Continue(self, node: ast.Continue) -> None:
        self._jump(Kind.CONTINUE, node)

    def _Raise(self, node: ast.Raise) -> None:
        self.expressions([node.exc, node.cause])
        self.risk(node, Risk.RAISE)
        self.frontier = []

    def _Assert(self, node: ast.Assert) -> None:
        yes, no = self.condition(node.test)
        self.frontier = no
        self.expression(node.msg)
        self.risk(node, Risk.RAISE)
        self.frontier = yes

    def _Assign(self, node: ast.Assign) -> None:
        self.expression(node.value)
        for target in node.targets:
            self.target(target)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.expression(node.value)
            self.target(node.target)
        elif isinstance(node.target, (ast.Attribute, ast.Subscript)):
            self.expressions(ast.iter_child_nodes(node.target))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        reading = _as_load(node.target)
        if not self.variable(reading, report=node.target):
            self.expressions(ast.iter_child_nodes(reading))
            self.risk(node.target, Risk.NAME if isinstance(node.target, ast.Name) else Risk.OPERATION)
        self.expression(node.value)
        self.risk(node, Risk.OPERATION)
        if not self.variable(node.target):
            self.risk(node.target, Risk.OPERATION if not isinstance(node.target, ast.Name) else Risk.NONE)

    def target(self, node: ast.expr) -> None:
        """What an assignment does to one target once its value is there."""
        if isinstance(node, (ast.Tuple, ast.List)):
            self.risk(node, Risk.OPERATION)
            for element in node.elts:
                self.target(element)
        elif isinstance(node, ast.Starred):
            self.target(node.value)
        else:
            self.expression(node)

    def _Delete(self, node: ast.Delete) -> None:
        self.expressions(node.targets)

    def _Global(self, node: ast.Global | ast.Nonlocal) -> None:
        pass

    _Nonlocal = _Pass = _Global

    def _TypeAlias(self, node: ast.AST) -> None:
        """`type X = ...` binds its name now; what stands behind the `=` is evaluated when somebody asks."""
        self.emit(Kind.STEP, node)
        past, before, self.late = list(self.frontier), self.late, True
        self.expression(node.value)  # type: ignore[attr-defined]
        self.late = before
        self.frontier = [*past, *self.frontier]
        self.expression(node.name)  # type: ignore[attr-defined]

    def _Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.risk(node, Risk.CALL)
        for alias in node.names:
            name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            self.bind(name, alias)

    _ImportFrom = _Import

    def _If(self, node: ast.If) -> None:
        yes, no = self.condition(node.test)
        self.frontier = yes
        self.block(node.body)
        after_body, self.frontier = self.frontier, no
        self.block(node.orelse)
        self.frontier = [*after_body, *self.frontier]

    def _While(self, node: ast.While) -> None:
        head = self.emit(Kind.STEP, node)
        yes, no = self.condition(node.test)
        self.frontier = yes
        self._loop(node, head, no)

    def _For(self, node: ast.For | ast.AsyncFor) -> None:
        self.expression(node.iter)
        self.risk(node.iter, Risk.CALL if isinstance(node, ast.AsyncFor) else iteration_risk(node.iter))
        head = self.emit(Kind.STEP, node)
        self.risk(node.iter, Risk.CALL if isinstance(node, ast.AsyncFor) else iteration_risk(node.iter))
        exhausted = list(self.frontier)
        self.target(node.target)
        self._loop(node, head, exhausted)

    _AsyncFor = _For

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, head: Point, done: list[Point]) -> None:
        """The body with its way back to `head`; then `else` for the paths that end the loop by themselves."""
        behind = self.new(Kind.STEP, node)
        self.contexts.append(_Context(node, loop=(behind, head)))
        self.block(node.body)
        self.join(head)
        self.contexts.pop()
        self.frontier = done
        self.block(node.orelse)
        self.join(behind)

    def _With(self, node: ast.With | ast.AsyncWith) -> None:
        behind = self.new(Kind.STEP, node)
        opened = 0
        for item in node.items:
            self.expression(item.context_expr)
            self.risk(item.context_expr, Risk.CALL)
            swallow = behind if self.swallows(item) else None
            self.contexts.append(_Context(node, exit_of=item.context_expr, swallow=swallow, hidden=self._hidden_now()))
            opened += 1
            if item.optional_vars is not None:
                self.target(item.optional_vars)
        self.block(node.body)
        for _ in range(opened):
            context = self.contexts.pop()
            self._leave(context)
        self.join(behind)

    _AsyncWith = _With

    def _Try(self, node: ast.Try) -> None:
        final = _Context(node, final=node.finalbody, hidden=self._hidden_now()) if node.finalbody else None
        if final is not None:
            self.contexts.append(final)
        caught = self.new(Kind.STEP, node)
        caught.catches = True
        started = self.emit(Kind.STEP, node)
        if node.handlers:
            self.contexts.append(_Context(node, handler=caught))
        self.block(node.body)
        if not any(caught in point.on_error for point in self.points[started.number :]):
            started.on_error.append(caught)  # nothing here raises that we know of; its handlers count all the same
        if node.handlers:
            self.contexts.pop()
        self.block(node.orelse)
        ends = self.frontier
        self.frontier = [caught] if node.handlers else []
        ends += self._handlers(node)
        self.frontier = ends
        if final is not None:
            self.contexts.pop()
            self.block(node.finalbody)

    _TryStar = _Try

    def _handlers(self, node: ast.Try) -> list[Point]:
        """Each handler in turn; the open ends of all of them. What none of them takes goes on outwards."""
        ends: list[Point] = []
        for handler in node.handlers:
            self.expression(handler.type)
            unmatched = list(self.frontier)
            if handler.name:
                self.bind(handler.name, handler)
            self.block(handler.body)
            if handler.name:
                self.unbind(handler.name, handler)
            ends += self.frontier
            takes_all = handler.type is None or getattr(handler.type, "id", "") == "BaseException"
            if type(node).__name__ == "TryStar":  # the rest of a group may go to the next handler
                unmatched += self.frontier
            self.frontier = [] if takes_all else unmatched
        if self.frontier:
            self.goes_on(node, self.error_target())
        return ends


def _target(context: _Context, kind: Kind) -> Point | None:
    if kind is Kind.RETURN:
        return context.end
    return context.loop[0 if kind is Kind.BREAK else 1] if context.loop else None


def _as_load(node: ast.expr) -> ast.expr:
    """The target of an augmented assignment as the read that comes first."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(id=node.id, ctx=ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(value=node.value, attr=node.attr, ctx=ast.Load()), node)
    assert isinstance(node, ast.Subscript)
    return ast.copy_location(ast.Subscript(value=node.value, slice=node.slice, ctx=ast.Load()), node)


def graph_of(
    statements: Sequence[ast.stmt],
    key_of: KeyOf,
    *,
    evaluates_annotations: bool = True,
    swallows: Swallows = may_swallow,
) -> Graph:
    """The flow graph of statements that stand one after the other in a function.

    evaluates_annotations: whether a nested function's annotations run (not under PEP 563)."""
    builder = StatementFlow(key_of, evaluates_annotations=evaluates_annotations, swallows=swallows)
    entry = builder.new(Kind.STEP, ast.Pass())
    builder.frontier = [entry]
    builder.block(statements)
    builder.emit(Kind.END, statements[-1] if statements else ast.Pass())
    return Graph(entry=entry, points=builder.points, key_of=key_of)
