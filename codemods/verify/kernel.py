"""The kernel: runs an old and a new block side by side on symbolic values and says which statements are the same.

Both sides share one set of values. A local, a parameter or an attribute stands for a value; two expressions are the
same when they have the same shape over the same values, or are both names of one value. A call of a function that only
one side has is replaced by its body (canon.py). What is matched keeps its order; what is not matched is residue.

What can't be seen in the text (may this attribute be missing, is that method overridden?) is handed on as a duty; a
caller who can't discharge a duty takes the line as residue. Which definitions belong together is claimed by the caller;
a wrong claim makes residue, never a wrong match. Uses no code that infers or transforms."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from codemods.verify.align import align
from codemods.verify.flow import Flow
from codemods.verify.forms import (
    as_read,
    bound_names,
    definition_of,
    has,
    is_static_mark,
    is_unbound,
    leaves,
    places,
    stored_in,
)
from codemods.verify.frames import Bind, Body, Frame, If, Item
from codemods.verify.moments import EFFECTS, NEW, OLD, Capture, Lazy, Place, Value
from codemods.verify.names import Definition
from codemods.verify.side import RESULT
from codemods.verify.values import State

_INERT = (ast.Pass, ast.Global, ast.Nonlocal)


class Kernel(Flow):
    """Compares definitions of two trees."""

    def function(self, old: Definition, new: Definition, given: dict[str, ast.expr], kind: str) -> None:
        """Compares two functions. given: for a parameter that only the new one has, what it stands for in the old."""
        fo, fn = self.canon[OLD].frame(old, kind), self.canon[NEW].frame(new, kind)
        self.state, self._returns, self._exits, self._trails, self._path = State(({}, {})), [], [], [], [0]
        self._captures, self._lazies, self._effects, self._reached = {}, {}, 0, 0
        self._handed, self._stored, self._passed, self._awaited = [], ({}, {}), [], {}
        self._parameters(fo, fn, given)
        self._heads(fo, fn)
        self.run(self.canon[OLD].body(fo), self.canon[NEW].body(fn))
        self._settle()

    def level(self, old: Sequence[Item], new: Sequence[Item]) -> None:
        """Compares statements of a module or a class body, in order."""
        self.state, self._path, self._captures, self._lazies = State(({}, {})), [0], {}, {}
        self.run(list(old), list(new))
        self._settle()

    def _parameters(self, fo: Frame, fn: Frame, given: dict[str, ast.expr]) -> None:
        """Parameters of one name are one value; others are where they stand in one place."""
        sides = []
        for frame in (fo, fn):
            args = definition_of(frame).args
            sides.append([each.arg for each in [*args.posonlyargs, *args.args, *args.kwonlyargs]])
            for each in filter(None, (args.vararg, args.kwarg)):
                self._hold(frame.side, ("l", frame.number, each.arg), ("param", each.arg))
        is_maker = self._is_maker(fn)
        for frame, mine, other in ((fo, sides[0], sides[1]), (fn, sides[1], sides[0])):
            for number, name in enumerate(mine):
                is_shared = is_maker or name in other or number >= len(other) or other[number] in mine
                self._hold(frame.side, ("l", frame.number, name), ("param", name if is_shared else number))
        for name, node in () if is_maker else given.items():
            self._hold(NEW, ("l", fn.number, name), self.value(node, fo) or self._new())

    def _heads(self, fo: Frame, fn: Frame) -> None:
        """Decorators and signatures; annotations are for people."""
        level = fo.outside(), fn.outside()
        self.canon[OLD].cover_head(fo)
        self.canon[NEW].cover_head(fn)
        a, b = definition_of(fo), definition_of(fn)
        decorators = [[each for each in node.decorator_list if not is_static_mark(each)] for node in (a, b)]
        self._list(a, decorators[0], level[0], b, decorators[1], level[1])
        x, y = a.args, b.args
        if not self.canon[NEW].is_opened(fn.chain[-1]):
            defaults = [[*args.defaults, *(each for each in args.kw_defaults if each)] for args in (x, y)]
            self._list(a, defaults[0], level[0], b, defaults[1], level[1])
            if fo.path != fn.path:
                for each in defaults[1]:
                    if not self._is_fixed(each, level[1]):
                        self._residue(each, fn, "evaluated when another module is loaded", "U114")
        elif bool(fo.owner) is bool(fn.owner):
            before, after = places(a, fo.owner), places(b, fn.owner)
            if any(before[name] != after[name] for name in before.keys() & after.keys()):
                self._residue(y, fn, "parameters changed their places", "U121")
        if type(a) is not type(b):
            self._residue(a, fo, "one is a coroutine function and one is not")

    def _settle(self) -> None:
        """At the end of a unit: what was captured, postponed or evaluated and never met."""
        self._overdue()
        self._keepings()
        for captures in self._captures.values():
            for each in captures:
                if isinstance(each.node, ast.Name):
                    continue  # a global is there
                is_new = each.frame.side == NEW
                self._duty("eager" if is_new and not each.is_met else "computed", each.frame, each.node)
        for lazy in self._lazies.values():
            if lazy.value is None and has(lazy.node, EFFECTS):
                self._residue(lazy.node, lazy.frame, "evaluated here only", "U102")

    def run(self, old: list[Item], new: list[Item]) -> None:
        """Compares two blocks from the present state on."""
        for o, n in align(old, new, self.claims):
            self._kind = ""
            if o is None or n is None:
                self._only(o or n)  # type: ignore[arg-type]
            else:
                self._pair(o, n)
                self._marks(o, n)

    def _marks(self, o: Item, n: Item) -> None:
        kind = self._kind or n.frame.kind or o.frame.kind
        self._mark(o.node, o.line_frame, kind)
        self._mark(n.node, n.line_frame, kind)

    def _pair(self, o: Item, n: Item) -> None:
        a, b = o.node, n.node
        if isinstance(o, If) and isinstance(n, If):
            self._if(o, n)
        elif isinstance(o, Body) and isinstance(n, Body) and o.definition == n.definition:
            self.matched.add(n.definition)
            rest_o, rest_n = ([each for each in item.inside if not isinstance(each, Bind)] for item in (o, n))
            self._enter_both(*([each for each in item.inside if isinstance(each, Bind)] for item in (o, n)))
            self.run(rest_o, rest_n)
        elif self._is_injection(o) and self._is_injection(n):
            self._only(o)
            self._only(n)
        elif o.is_assignment and n.is_assignment:
            self._assign(o, n)
        elif type(a) is not type(b) or type(o) is not type(n):
            self._differ(a, o.frame, b, n.frame)
        elif isinstance(a, (ast.For, ast.AsyncFor, ast.While)):
            self._loop(o, n)
        elif isinstance(a, ast.Try) or a.__class__.__name__ == "TryStar":
            self._try(o, n)
        elif isinstance(a, (ast.With, ast.AsyncWith)):
            self._with(o, n)
        elif isinstance(a, ast.Match):
            self._match(o, n)
        else:
            self._simple(o, n)

    def _simple(self, o: Item, n: Item) -> None:
        """Two statements of one kind that hold no blocks of their own."""
        a, b, fo, fn = o.node, n.node, o.frame, n.frame
        if isinstance(a, ast.AugAssign) and isinstance(b, ast.AugAssign):
            self.same(as_read(a.target), fo, as_read(b.target), fn)
            self._hand(as_read(a.target), fo, "operator:")
            if type(a.op) is not type(b.op) or not self.same(a.value, fo, b.value, fn):
                self._differ(a, fo, b, fn)
            self._hand(a.value, fo, "operator:")
            self._bind(a.target, fo, b.target, fn, self._new())
        elif isinstance(a, ast.Delete) and isinstance(b, ast.Delete):
            self._delete(a, fo, b, fn)
        elif isinstance(a, (ast.Import, ast.ImportFrom)) and isinstance(b, (ast.Import, ast.ImportFrom)):
            self._import(o)
            self._import(n)
            if bound_names(a) != bound_names(b) or self.canon[OLD].loaded(a, fo) != self.canon[NEW].loaded(b, fn):
                self._differ(a, fo, b, fn)
        elif isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(b, type(a)):
            self._list(a, list(a.decorator_list), fo, b, list(b.decorator_list), fn)
            self._nested(a, fo, b, fn)
            self.nested_pairs.append((fn.path, b, a.name, self._is_elsewhere(fo, fn)))
            self._both(fo, a.name, fn, b.name, self._new())
        elif isinstance(a, ast.ClassDef):
            if ast.dump(a) != ast.dump(b) or self._meant(a, fo) != self._meant(b, fn):
                self._differ(a, fo, b, fn)
            self._both(fo, a.name, fn, a.name, self._new())
            self.nested_pairs.append((fn.path, b, a.name, self._is_elsewhere(fo, fn)))
            self._effects += 1
        else:
            self._shape(a, fo, b, fn)
            self._leave(a)

    def _assign(self, o: Item, n: Item) -> None:
        """Assignments, and the result of a function whose body stands in place of a call."""
        (targets_o, value_o), (targets_n, value_n) = o.assignment(), n.assignment()
        if value_o is None or value_n is None:
            if value_o is not value_n or [ast.dump(t) for t in targets_o] != [ast.dump(t) for t in targets_n]:
                self._differ(o.node, o.frame, n.node, n.frame)
            return
        fo, fn = o.value_frame, n.value_frame
        good = self.same(value_o, fo, value_n, fn)
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in targets_o):
            self._hand(value_o, fo, "each:")
        held = self.value(value_o, fo) if good else None
        if held is None or held[0] == "lazy":
            held = self._new()
        if len(targets_o) != len(targets_n):
            self._differ(o.node, o.frame, n.node, n.frame)
        for x, y in zip(targets_o, targets_n, strict=False):
            self._bind(x, o.frame, y, n.frame, held)

    def _only(self, item: Item) -> None:
        node, frame = item.node, item.frame
        if isinstance(node, _INERT) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return self._mark(node, frame, "docstring" if isinstance(node, ast.Expr) else "dead code")
        if isinstance(node, (ast.Import, ast.ImportFrom)) and frame.function is not None:
            self._import(item)
            if frame.side == OLD:
                self._duty("eager-import", frame, node)
            return self._mark(node, frame, "import")
        if not item.is_assignment:
            return self._unmatched(item)
        targets, value = item.assignment()
        if value is None:
            return self._mark(node, frame, "annotation")
        held = self.value(value, item.value_frame)
        is_read = not isinstance(value, ast.Constant) and not (isinstance(value, ast.Name) and value.id == RESULT)
        if held is not None and is_read and is_unbound(held):
            self._duty("unbound", item.value_frame, value)
        stored = [part for target in targets for part in leaves(target)]
        if not all(isinstance(part, (ast.Name, ast.Attribute)) for part in stored) or any(
            isinstance(part, ast.Name) and frame.home(part.id) is None for part in stored
        ):
            return self._unmatched(item)
        if held is None or held[0] == "lazy":
            if not (len(targets) == 1 and isinstance(targets[0], ast.Name)):
                return self._unmatched(item)
            if held is None:
                held = ("lazy", next(self._fresh))
                self._lazies[held] = Lazy(value, item.value_frame, tuple(self._path), self._effects, next(self._clock))
        self._capture(value, item.value_frame, [self._place(each, frame) for each in stored])
        good = True
        for target in targets:
            good &= self._alone(target, frame, held)
        if good:
            self._mark(node, item.line_frame, self._kind or frame.kind or "alias")
        return None

    def _alone(self, target: ast.expr, frame: Frame, value: Value) -> bool:
        """One side stores a value that it has already; an attribute only where the other side has stored it before."""
        if isinstance(target, (ast.Tuple, ast.List)):
            good = True
            for number, part in enumerate(target.elts):
                good &= self._alone(part, frame, self._part(value, number))
            return good
        if isinstance(target, ast.Attribute):
            return self._alone_attribute(target, frame, value)
        home = frame.home(target.id) if isinstance(target, ast.Name) else None
        if home is not None and not home.is_inlined and home.is_watched(target.id, getattr(target, "lineno", 0)):  # type: ignore[attr-defined]
            return self._residue(target, frame, "a function inside reads the name when it runs")
        self._store(target, frame, value)
        return True

    def _alone_attribute(self, target: ast.Attribute, frame: Frame, value: Value) -> bool:
        """The other side has to store the same value into the same attribute: it did so before, or does so later."""
        place = self._base(target, frame)
        if place is None:
            return self._residue(target, frame, "an attribute is written that the other side does not write")
        if self._keeps(target, frame, value):
            self._kind = "inject"
        elif frame.side == OLD and target.attr in self.claims.redirects.values():
            self._kind = "redirect"
            self._duty("alias", frame, target)
            self._await_holders(place)
        elif frame.side == NEW and self._fills(place, value):
            self._kind = "redirect"
        elif place in self.state.late and self.state.late[place].side != frame.side:
            since = self.state.late.pop(place)
            if self.state.held[1 - frame.side].get(place) != value:
                return self._residue(target, frame, "an attribute gets another value than on the other side")
            self._duty("plain", frame, target)
            if since.effects != self._effects:
                self._duty("late", frame, target)
            elif since.doubts != self._doubts:
                self._residue(target, frame, "assigned before or after something that may fail", "U103")
        else:
            self._late(target, frame)
        self._store(target, frame, value)
        return True

    def _fills(self, place: Place, value: Value) -> bool:
        """Whether an object is stored whose fields are attributes that the old side has just stored."""
        if value[0] != "record" or place[0] != "a":
            return False
        fields: dict[str, Value] = dict(value[1:])  # type: ignore[arg-type]
        wanted = {last: old for (first, last), old in self.claims.redirects.items() if first == place[2]}
        held = {last: self.state.held[OLD].get(("a", place[1], old)) for last, old in wanted.items()}
        return bool(wanted) and all(fields.get(last) == known for last, known in held.items())

    def _capture(self, value: ast.expr, frame: Frame, targets: Iterable[Place]) -> None:
        """One side reads attributes into places of its own; what it copies from such places goes with it."""
        found: list[Capture] = []
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and frame.home(node.id) is not None:
                found += self._captures.get(self._place(node, frame), ())
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                held = self.value(node, frame)
                place = self._base(node, frame)
                if held is not None and held[0] == "attr" and place is not None:
                    found.append(self._read_now(frame, node, held, place))
        found += self._globals(value, frame)
        for place in targets:
            self._captures[place] = found

    def _unmatched(self, item: Item) -> None:
        self._residue(item.node, item.frame, "no counterpart")
        for place in stored_in(item.node):
            self._store(place, item.frame, self._new())
        for block in item.blocks:
            for inner in block:
                self._unmatched(inner)

    def _import(self, item: Item) -> None:
        node, frame = item.node, item.frame
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        for name in bound_names(node):
            home = frame.home(name)
            ref = self.canon[frame.side].imported(node, name, frame)
            if home is not None:
                self._hold(frame.side, ("l", home.number, name), ("ref", *ref))
