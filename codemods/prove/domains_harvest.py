"""Reads a function, and the functions of the tree that it hands its inputs to, for what they show about those inputs.

One pass in the order of the text; branches are united, loops read once. A wrong guess costs a useless value, never a
wrong verdict, so this is generous and stops early: calls are followed to a small depth, and unknown ones say
nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from codemods.prove.domains_compare import calculated, compared
from codemods.prove.domains_evidence import NOTHING, Facts, Spot, Value, united
from codemods.prove.domains_home import MISSING, Home
from codemods.source.parse import FUNCTIONS, Function

DEEPEST_CALL = 5


class Reading:
    """One function under reading. owner: the class whose method it is. follow: reads a call."""

    def __init__(
        self, home: Home, facts: Facts, owner: ast.ClassDef | None, follow: Follow, around: Reading | None = None
    ) -> None:
        self.home, self.facts, self.owner, self.follow = home, facts, owner, follow
        self.depth: int = around.depth + 1 if around is not None else 0
        self.stack: tuple[ast.AST, ...] = around.stack if around is not None else ()
        self.read_calls: dict[tuple[ast.AST, tuple[frozenset[Spot], ...]], Value] = (
            around.read_calls if around is not None else {}
        )
        self.env: dict[str, Value] = {}
        self.returned: list[Value] = []

    def read(self, node: Function | ast.Lambda, env: dict[str, Value]) -> Value:
        """What the function may return. env: the values of its parameters."""
        self.stack = (*self.stack, node)
        self.env = env
        if isinstance(node, ast.Lambda):
            return self.value(node.body)
        self.block(node.body)
        if len(self.returned) == 1:
            return self.returned[0]
        sizes = {len(each.items) for each in self.returned if each is not NOTHING}
        merged = united(*self.returned) if self.returned else NOTHING
        if len(sizes) == 1 and sizes != {0}:
            columns = zip(*(each.items for each in self.returned if each is not NOTHING), strict=True)
            merged = Value(merged.spots, items=tuple(united(*column) for column in columns))
        return Value(merged.spots, items=merged.items)

    # ---- statements

    def block(self, body: Iterable[ast.AST]) -> None:
        for node in body:
            self.statement(node)

    def statement(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            value = self.value(node.value)
            for target in node.targets:
                self.bind(target, value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.bind(node.target, self.value(node.value))
        elif isinstance(node, ast.AugAssign):
            done = calculated(self.facts, self.value(node.target), node.op, self.value(node.value))
            self.bind(node.target, Value(done.spots))
        elif isinstance(node, ast.Return):
            self.returned.append(self.value(node.value) if node.value is not None else NOTHING)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.bind(node.target, self.element(self.value(node.iter)))
            self.block([*node.body, *node.orelse])
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = self.value(item.context_expr)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, Value(value.spots))
            self.block(node.body)
        elif isinstance(node, ast.Match):
            self._match(node)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self._nested(node)
        else:
            self._other(node)

    def _other(self, node: ast.AST) -> None:
        for name in node._fields:
            child = getattr(node, name, None)
            for each in child if isinstance(child, list) else [child]:
                if isinstance(each, ast.expr):
                    self.value(each)
                elif isinstance(each, (ast.stmt, ast.ExceptHandler)):
                    self.statement(each)

    def _nested(self, node: Function | ast.ClassDef) -> None:
        if isinstance(node, ast.ClassDef) or self.depth >= DEEPEST_CALL:
            return
        names = {each.arg for each in parameters_of(node.args)}
        inner = Reading(self.home, self.facts, self.owner, self.follow, self)
        inner.read(node, {name: value for name, value in self.env.items() if name not in names})

    def _match(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchValue):
                    compared(self.facts, subject, ast.Eq(), self.value(pattern.value))
                elif isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
                    self.facts.note(subject, "kind", "none")
                elif isinstance(pattern, ast.MatchAs) and pattern.name:
                    self.bind(ast.Name(pattern.name, ast.Store()), Value(subject.spots))
            if case.guard is not None:
                self.value(case.guard)
            self.block(case.body)

    def bind(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Starred):
            self.bind(target.value, Value(value.spots))
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = value.items if len(value.items) == len(target.elts) else ()
            for index, each in enumerate(target.elts):
                self.bind(
                    each, parts[index] if parts else value.step("item" if "pieces" in _last(value) else f"#{index}")
                )
        elif isinstance(target, (ast.Name, ast.Attribute)):
            name = self.home.dotted(target)
            before = self.env.get(name)
            self.env[name] = value if before is None else united(before, value)
        else:
            self._other(target)

    # ---- expressions

    def value(self, node: ast.expr | None) -> Value:
        if node is None:
            return NOTHING
        handler = getattr(self, f"_{type(node).__name__}", None)
        if handler is not None:
            found = handler(node)
            assert isinstance(found, Value)
            return found
        found = self.home.constant(node)
        self._other(node)
        return Value(constant=found)

    def element(self, value: Value) -> Value:
        """What iterating over a value gives."""
        if value.constant is not MISSING:
            return NOTHING
        self.facts.note(value, "kind", "iterated")
        ends = {steps[-1] if steps else "" for _, steps in value.spots}
        if ends & {"items"}:
            base = Value(frozenset((root, steps[:-1]) for root, steps in value.spots if steps and steps[-1] == "items"))
            return Value(base.spots, items=(base.step("keys", "item"), base.step("values", "item")))
        if ends & {"enumerated", "zipped"} or value.items:
            return value
        if ends & {"bound"}:
            return Value(frozenset((root, steps[:-1]) for root, steps in value.spots if steps[-1:] == ("bound",)))
        return value.step("item")

    def _Constant(self, node: ast.Constant) -> Value:
        return Value(constant=self.home.constant(node), expr=node)

    def _Name(self, node: ast.Name) -> Value:
        if node.id in self.env:
            return self.env[node.id]
        return self._global(node)

    def _global(self, node: ast.Name | ast.Attribute) -> Value:
        found = self.home.constant(node)
        is_plain = isinstance(found, (str, int, float)) or found is None
        return Value(constant=found, expr=ast.Constant(found) if is_plain else None)

    def _Attribute(self, node: ast.Attribute) -> Value:
        name = self.home.dotted(node)
        if name in self.env:
            return self.env[name]
        owner = self.value(node.value)
        if owner.root and owner.expr is not None:
            path = f"{owner.root}.{node.attr}"
            self.facts.note(owner, "attribute", node.attr)
            self.facts.table.setdefault(path, {})
            return Value(frozenset({(path, ())}), ast.Attribute(owner.expr, node.attr, ast.Load()))
        if owner.spots:
            return owner.step(f".{node.attr}")
        return self._global(node)

    def _NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.bind(node.target, value)
        return value

    def _Await(self, node: ast.Await) -> Value:
        return self.value(node.value)

    def _Tuple(self, node: ast.Tuple) -> Value:
        constant = self.home.constant(node)
        items = tuple(self.value(each) for each in node.elts)
        return Value(united(*items).spots if items else frozenset(), None, constant, items)

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        values = [self.value(each) for each in node.values]
        if isinstance(node.op, ast.And):
            return values[-1]
        for value in values[1:]:
            if isinstance(value.constant, (str, int, float)):
                self.facts.equal(values[0], value.constant)
        return united(*values)

    def _IfExp(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        return united(self.value(node.body), self.value(node.orelse))

    def _BinOp(self, node: ast.BinOp) -> Value:
        done = calculated(self.facts, self.value(node.left), node.op, self.value(node.right))
        constant = self.home.constant(node)
        return Value(done.spots, done.expr, constant, done.items)

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return NOTHING
        constant = self.home.constant(node)
        return Value(value.spots, ast.Constant(constant) if constant is not MISSING else None, constant)

    def _Compare(self, node: ast.Compare) -> Value:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        for left, op, right in zip(values, node.ops, values[1:], strict=False):
            compared(self.facts, left, op, right)
        return NOTHING

    def _Subscript(self, node: ast.Subscript) -> Value:
        owner, index = self.value(node.value), self.value(node.slice)
        if isinstance(owner.constant, dict):
            for key in owner.constant:
                self.facts.equal(index, key)
            return NOTHING
        if isinstance(node.slice, ast.Slice):
            self.facts.note(owner, "kind", "sliced")
            return owner.step("slice") if "pieces" not in _last(owner) else Value(owner.spots)
        if isinstance(index.constant, str):
            self.facts.note(owner, "kind", "dict")
            self.facts.note(owner, "key", index.constant)
            return owner.step(f"[{index.constant!r}]")
        self.facts.note(owner, "kind", *(["indexed"] if isinstance(index.constant, int) else []))
        if index.root and owner.expr is not None and index.root not in {root for root, _ in owner.spots}:
            self.facts.tie(index.root, owner.expr, "index")
        if isinstance(index.constant, int) and index.constant >= 0 and "pieces" not in _last(owner):
            return owner.step(f"#{index.constant}")
        return owner.step("item")

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        for each in node.generators:
            self.bind(each.target, self.element(self.value(each.iter)))
            for test in each.ifs:
                self.value(test)

    def _ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        before = dict(self.env)
        self._comprehension(node)
        made = self.value(node.elt)
        self.env = before
        return Value(frozenset((root, steps[:-1]) for root, steps in made.spots if steps and steps[-1] == "item"))

    _SetComp = _ListComp
    _GeneratorExp = _ListComp

    def _DictComp(self, node: ast.DictComp) -> Value:
        before = dict(self.env)
        self._comprehension(node)
        self.value(node.key)
        self.value(node.value)
        self.env = before
        return NOTHING

    def _Lambda(self, node: ast.Lambda) -> Value:
        names = {each.arg for each in parameters_of(node.args)}
        if self.depth < DEEPEST_CALL:
            inner = Reading(self.home, self.facts, self.owner, self.follow, self)
            inner.read(node, {name: value for name, value in self.env.items() if name not in names})
        return NOTHING

    def _Call(self, node: ast.Call) -> Value:
        return self.follow(self, node)


def _last(value: Value) -> set[str]:
    return {steps[-1] for _, steps in value.spots if steps}


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    extra = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]


Follow = Callable[[Reading, ast.Call], Value]
