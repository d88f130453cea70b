"""When two expressions are the same: one shape over the same values, or two names of one value.

What one side evaluates into a name and the other where it is used is met there; what is met late is a duty."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from codemods.verify.forms import NOTHING, aligned, binds_inside, has, makes_keys
from codemods.verify.frames import Bind, Frame, Item, drained
from codemods.verify.injections import in_turn
from codemods.verify.meetings import REFLECTS
from codemods.verify.moments import EFFECTS, NEW, OLD, Lazy, Value
from codemods.verify.recursion import Recursion
from codemods.verify.scopes import Function, parameters
from codemods.verify.values import State

Nested = Function | ast.Lambda
# What may do something, or fail, when it is evaluated at another time.
_ACTIVE = (
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr, ast.UnaryOp),
    *(ast.Starred, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
# What makes another object each time it is evaluated.
_MADE_ANEW = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
# Calls that look a definition up by a text.
_LOOKUPS = frozenset(
    {"patch", "setattr", "delattr", "import_module", "find_spec", "resolve_name", "import_string", "locate"}
)
_CAPTURES = (ast.MatchAs, ast.MatchStar, ast.MatchMapping)


class Expressions(Recursion):
    """Compares expressions and targets. What runs blocks is the kernel's."""

    def run(self, old: list[Item], new: list[Item]) -> None:
        raise NotImplementedError

    def _only(self, item: Item) -> None:
        raise NotImplementedError

    def _bind(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame, value: Value) -> bool:
        raise NotImplementedError

    def _joined(self, states: Sequence[State]) -> State:
        raise NotImplementedError

    def same(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool:
        """Whether both come to the same value with the same effects; marks what does not."""
        vo, vn = self.value(o, fo), self.value(n, fn)
        if vo is not None and vo[0] == "ref" and vo[-1] in REFLECTS:
            self._reflects(str(vo[-1]), fo, n, fn)
        if vo is not None and vo == vn and vo[0] != "lazy":
            self._met(vo, o, fo, n, fn)
            return True
        for mine, other, its in ((vn, o, fo), (vo, n, fn)):
            if mine is not None and mine[0] == "lazy":
                return self._lazy(self._lazies[mine], other, its)
        called = self._called(o, fo, n, fn)
        if called is not None:
            return called
        is_path = self._by_path and isinstance(o, ast.Constant) and isinstance(n, ast.Constant)
        if is_path and self._one_path(o.value, fo, n.value, fn):  # type: ignore[attr-defined]
            return True
        if type(o) is not type(n) or (vo is not None and vn is not None and not isinstance(o, ast.Tuple)):
            return self._differ(o, fo, n, fn)
        if isinstance(o, ast.Lambda) and isinstance(n, ast.Lambda):
            return self._nested(o, fo, n, fn)
        if isinstance(o, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return self._comprehension(o, fo, n, fn)  # type: ignore[arg-type]
        if isinstance(o, ast.NamedExpr) and isinstance(n, ast.NamedExpr):
            return self.same(o.value, fo, n.value, fn) & self._bind(o.target, fo, n.target, fn, self._new())
        if isinstance(o, (ast.BoolOp, ast.IfExp)):
            return self._conditional(o, fo, n, fn)
        return self._shape(o, fo, n, fn)

    def _shape(self, o: ast.AST, fo: Frame, n: ast.AST, fn: Frame) -> bool:
        if not isinstance(o, ast.Call):
            return self._fields(o, fo, n, fn)
        before, self._by_path = self._by_path, ast.unparse(o.func).rpartition(".")[2] in _LOOKUPS
        for call, frame in ((o, fo), (n, fn)):
            func = getattr(call, "func", None)
            if isinstance(call, ast.Call) and (isinstance(func, ast.Attribute) or self._is_foreign(call.func, frame)):
                self._drained.update(drained(call))
        good = self._fields(o, fo, n, fn)
        self._by_path = before
        return good

    def _fields(self, o: ast.AST, fo: Frame, n: ast.AST, fn: Frame) -> bool:
        good = True
        for name in o._fields:
            a, b = getattr(o, name, None), getattr(n, name, None)
            if name in ("ctx", "kind") or (isinstance(o, _CAPTURES) and name in ("name", "rest") and a and b):
                continue  # what a pattern captures is bound by who compares the cases
            if name == "attr":
                if not self._is_attribute(str(a), fo, str(b), fn):
                    return self._differ(o, fo, n, fn)
                continue
            if name == "keywords" and isinstance(a, list) and isinstance(b, list):
                b = self._reordered(a, self._as_before(b, n, fn))
            if name == "kwd_attrs" and isinstance(n, ast.MatchClass):
                b = self._former(n.kwd_attrs, n.cls, fn)
            if name == "args" and isinstance(n, ast.Call) and isinstance(a, list):
                b = self._patched(a, n, n.args)
            if isinstance(a, list) and isinstance(b, list):
                good &= self._list(o, a, fo, n, b, fn)
            elif isinstance(a, ast.expr) and isinstance(b, ast.expr):
                good &= self.same(a, fo, b, fn)
            elif isinstance(a, ast.AST) and isinstance(b, ast.AST) and type(a) is type(b):
                good &= self._shape(a, fo, b, fn)
            elif a != b:
                return self._differ(o, fo, n, fn)
        self._doubts += isinstance(o, ast.Assert) or self._may_divide_by_zero(o, fo)
        self._operate(o, fo)
        if isinstance(o, EFFECTS):
            self._effects += 1
            if isinstance(o, ast.Call):
                self._handed.append(self._handing(o, fo))
                self._reached = len(self._handed)
            self._waited += isinstance(o, (ast.Await, ast.Yield, ast.YieldFrom))
        return good

    def _is_attribute(self, old: str, fo: Frame, new: str, fn: Frame) -> bool:
        a, b = self.canon[OLD].mangled(old, fo), self.canon[NEW].mangled(new, fn)
        return a == b or self.claims.attributes.get(b) == a

    def _list(self, o: ast.AST, a: list[Any], fo: Frame, n: ast.AST, b: list[Any], fn: Frame) -> bool:
        """Two lists of parts, one by one; parts that are no nodes are names or None."""
        good = True
        for x, y in zip(a, b, strict=True) if len(a) == len(b) else aligned(a, b):
            if x is NOTHING or y is NOTHING:
                parts = [part if isinstance(part, ast.AST) else None for part in (x, y)]
                good = self._differ(*((parts[0], fo, parts[1], fn) if any(parts) else (o, fo, n, fn)))
            elif isinstance(x, ast.expr) and isinstance(y, ast.expr):
                good &= self.same(x, fo, y, fn)
            elif isinstance(x, ast.AST) and type(x) is type(y):
                good &= self._shape(x, fo, y, fn)
            elif x != y:
                good = self._differ(x if hasattr(x, "lineno") else o, fo, y if hasattr(y, "lineno") else n, fn)
        return good

    def _as_before(self, keywords: list[ast.keyword], call: ast.AST, frame: Frame) -> list[ast.keyword]:
        """The keywords that fill fields, under the names that the fields had."""
        func = getattr(call, "func", None)
        if func is None:
            return keywords
        names = self._former([each.arg for each in keywords], func, frame)
        pairs = zip(keywords, names, strict=True)
        return [each if each.arg == name else _keyword(name, each) for each, name in pairs]

    def _former(self, names: list[Any], owner: ast.expr, frame: Frame) -> list[Any]:
        """Names of fields of a class, or of a copy of its instance, as they were on the old side."""
        renamed = self.claims.attributes
        if not any(name in renamed for name in names):
            return names
        held = self.value(owner, frame)
        node = self.canon[NEW].names.definitions(str(held[2])).get(str(held[3])) if held and held[1] == "top" else None
        fields = {ast.unparse(each.target) for each in getattr(node, "body", ()) if isinstance(each, ast.AnnAssign)}
        is_copy = held is not None and held[-1] == "dataclasses.replace"
        return [renamed[name] if name in renamed and (is_copy or name in fields) else name for name in names]

    def _conditional(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool:
        if isinstance(o, ast.BoolOp) and isinstance(n, ast.BoolOp):
            if type(o.op) is not type(n.op) or len(o.values) != len(n.values):
                return self._differ(o, fo, n, fn)
            good = self.same(o.values[0], fo, n.values[0], fn)
            for each in o.values:
                self._hand(each, fo, "truth:")
            self._path.append(next(self._fresh))
            states = []
            for x, y in zip(o.values[1:], n.values[1:], strict=True):
                states += [self.state.copy()] if binds_inside(x, y) else []
                good &= self.same(x, fo, y, fn)
            self._path.pop()
            self.state = self._joined([*states, self.state]) if states else self.state
            return good
        assert isinstance(o, ast.IfExp)
        assert isinstance(n, ast.IfExp)
        good = self.same(o.test, fo, n.test, fn)
        self._hand(o.test, fo, "truth:")
        before, states = self.state.copy(), []
        for x, y in ((o.body, n.body), (o.orelse, n.orelse)):
            self._path.append(next(self._fresh))
            good &= self.same(x, fo, y, fn)
            self._path.pop()
            states.append(self.state)
            self.state = before.copy()
        self.state = self._joined(states) if binds_inside(o, n) else states[-1]
        return good

    def _comprehension(self, o: ast.ListComp, fo: Frame, n: ast.ListComp, fn: Frame) -> bool:
        if len(o.generators) != len(n.generators):
            return self._differ(o, fo, n, fn)
        good, go, gn = True, fo.inner(o, next(self._fresh)), fn.inner(n, next(self._fresh))
        is_late = isinstance(o, ast.GeneratorExp) and not {o, n} <= self._drained
        if is_late:  # it runs when somebody goes through it, as a function inside does
            go, gn = replace(go, is_comprehension=False), replace(gn, is_comprehension=False)
        self._path.append(next(self._fresh))
        before = self.state.copy() if binds_inside(o, n) else None
        for number, (x, y) in enumerate(zip(o.generators, n.generators, strict=True)):
            good &= self.same(x.iter, go if number else fo, y.iter, gn if number else fn)
            self._hand(x.iter, go if number else fo, "each:")
            if is_late and not number:
                self._effects, self._waited = self._effects + 1, self._waited + 1
            good &= self._bind(x.target, go, y.target, gn, self._new())
            good &= self._list(o, list(x.ifs), go, n, list(y.ifs), gn)
            for each in x.ifs:
                self._hand(each, go, "truth:")
            if x.is_async != y.is_async:
                good = self._differ(o, fo, n, fn)
        for name in ("key", "value", "elt"):
            if hasattr(o, name):
                good &= self.same(getattr(o, name), go, getattr(n, name), gn)
        self._path.pop()
        self._waited -= is_late
        if before is not None:
            self.state = self._joined([before, self.state])
        return good

    def _lazy(self, lazy: Lazy, other: ast.expr, its: Frame) -> bool:
        """One side evaluates here what the other has evaluated into a name before."""
        here = (tuple(self._path), self._effects)
        is_made = has(lazy.node, _MADE_ANEW) and (lazy.value is not None or tuple(self._path) != lazy.path)
        plain = not is_made and not has(lazy.node, (*EFFECTS, *_ACTIVE)) and not makes_keys(lazy.node)
        ok = lazy.value is None and here == (lazy.path, lazy.effects)
        pair = (other, its, lazy.node, lazy.frame) if its.side == OLD else (lazy.node, lazy.frame, other, its)
        good = self._meet(lazy, pair)
        if good and not ok and not plain:
            code = "U102" if lazy.value is None else "U101"
            self._residue(lazy.node, lazy.frame, "evaluated once here, elsewhere or more often there", code)
            good = False
        lazy.value = lazy.value or self._new()
        return good

    def _meet(self, lazy: Lazy, pair: tuple[ast.expr, Frame, ast.expr, Frame]) -> bool:
        """Compares it, at the times when each side has evaluated it."""
        side, kept, since, waited = lazy.frame.side, dict(self._now), len(self._handed), self._waited
        self._now[side] = lazy.time
        good = self.same(*pair)
        now = next(self._clock)
        self._crossed((self._now.get(OLD, now), self._now.get(NEW, now)), since, waited)
        self._now = kept
        return good

    # ---- calls and closures

    def _called(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool | None:
        """Calls that are to be looked into; None when there is none."""
        if self._asked(o, fo, n, fn):
            self._kind = "inject"
            return True
        for found in (self._made(o, fo, n, fn), self._again(o, fo, n, fn)):
            if found is not None:
                return found
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and not n.args and not n.keywords:
            held = self.value(n.func, fn)
            lazy = self._lazies.get(held) if held is not None else None
            if lazy is not None and isinstance(lazy.node, ast.Lambda) and not parameters(lazy.node):
                lazy.value = lazy.value or self._new()
                self._kind = "parameter"
                return self.same(o, fo, lazy.node.body, lazy.frame)
        inner_o = self.canon[OLD].entered(o, fo) if isinstance(o, ast.Call) else None
        inner_n = self.canon[NEW].entered(n, fn) if isinstance(n, ast.Call) else None
        if inner_o is not None and inner_n is not None:
            self.matched.add(inner_n.frame.chain[-1])
            self._enter_both(inner_o.binds, inner_n.binds)
            returns, self._returns = self._returns, []
            self.run(self.canon[OLD].body(inner_o.frame), self.canon[NEW].body(inner_n.frame))
            self.state = self._joined([self.state, *self._returns])
            self._returns = returns
            return True
        for inner, call in ((inner_n, n), (inner_o, o)):
            if inner is not None and inner.result is not None:
                self._enter(inner.binds)
                self._mark(inner.statement or inner.result, inner.frame, inner.frame.kind)
                if call is n:
                    return self.same(o, fo, inner.result, inner.frame)
                return self.same(inner.result, inner.frame, n, fn)
        return None

    def _enter_both(self, old: Sequence[Item], new: Sequence[Item]) -> None:
        """The parameters of one function on both sides: those of one name are compared where they are given."""
        others = {_parameter(bind): bind for bind in old}
        first, second = ({_parameter(each): each.value for each in binds if each.value} for binds in (old, new))
        if not in_turn(first, second):
            self._differ(old[0].node, old[0].line_frame, new[0].node, new[0].line_frame)
        for bind in new:
            other = others.pop(_parameter(bind), None)
            if other is None or other.value is None or bind.value is None:
                self._only(bind)
                continue
            fo, fn = other.value_frame, bind.value_frame
            held = self.value(other.value, fo) if self.same(other.value, fo, bind.value, fn) else None
            self._mark(bind.node, bind.line_frame, bind.frame.kind)
            self._both(
                other.frame, _parameter(bind), bind.frame, _parameter(bind), self._new() if held is None else held
            )
        for bind in others.values():
            self._only(bind)

    def _enter(self, binds: Sequence[Bind]) -> None:
        for bind in binds:
            self._only(bind)

    def _nested(self, o: Nested, fo: Frame, n: Nested, fn: Frame) -> bool:
        """Functions inside functions: they run later, when what they capture may have changed."""
        names = [each.arg for each in parameters(o)]
        if names != [each.arg for each in parameters(n)] or not self._shape(o.args, fo, n.args, fn):
            return self._differ(o, fo, n, fn)
        go, gn = fo.nested(o, next(self._fresh)), fn.nested(n, next(self._fresh))
        before, returns, known = self.state.copy(), self._returns, len(self.lines)
        for name in names:
            self._both(go, name, gn, name, self._new())
        self._path.append(next(self._fresh))
        self._effects += 1
        self._waited += 1
        self.run(self.canon[OLD].nested(o, go), self.canon[NEW].nested(n, gn))
        self._waited -= 1
        self._path.pop()
        self.state, self._returns = before, returns
        return not any(line.reason for line in self.lines[known:])


def _keyword(name: str | None, node: ast.keyword) -> ast.keyword:
    return ast.copy_location(ast.keyword(name, node.value), node)


def _parameter(bind: Item) -> str:
    """The name of the place that a call fills."""
    target = bind.targets[0]
    assert isinstance(target, ast.Name)
    return target.id
