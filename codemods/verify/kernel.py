"""The kernel: runs an old and a new block side by side on symbolic values and says which statements are the same.

Both sides share one set of values. A local, a parameter or an attribute stands for a value; two expressions are the
same when they have the same shape over the same values, or are both names of one value. A call of a function that only
one side has is replaced by its body (canon.py). What is matched keeps its order; what is not matched is residue.

What can't be seen in the text (may this attribute be missing, is that method overridden?) is handed on as a duty; a
caller who can't discharge a duty takes the line as residue. Which definitions belong together is claimed by the caller;
a wrong claim makes residue, never a wrong match. Uses no code that infers or transforms."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.verify.align import align
from codemods.verify.canon import definition_of, turned_round
from codemods.verify.expressions import Expressions, has
from codemods.verify.frames import Body, Frame, Glue, If, Item, Literal
from codemods.verify.names import Definition, bindings
from codemods.verify.values import EFFECTS, NEW, OLD, Capture, Lazy, Place, State, Value, initial

_MAX_ROUNDS = 8
_INERT = (ast.Pass, ast.Global, ast.Nonlocal)


class Kernel(Expressions):
    """Compares definitions of two trees."""

    def function(self, old: Definition, new: Definition, given: dict[str, ast.expr], kind: str) -> None:
        """Compares two functions. given: for a parameter that only the new one has, what it stands for in the old."""
        fo, fn = self.canon[OLD].frame(old, kind), self.canon[NEW].frame(new, kind)
        self.state, self._returns, self._exits, self._trails, self._path = State(({}, {})), [], [], [], [0]
        self._captures, self._lazies, self._effects, self._reached = {}, {}, 0, 0
        self._handed = []
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
        for frame, mine, other in ((fo, sides[0], sides[1]), (fn, sides[1], sides[0])):
            for number, name in enumerate(mine):
                is_shared = name in other or number >= len(other) or other[number] in mine
                self._hold(frame.side, ("l", frame.number, name), ("param", name if is_shared else number))
        for name, node in given.items():
            self._hold(NEW, ("l", fn.number, name), self.value(node, fo) or self._new())

    def _heads(self, fo: Frame, fn: Frame) -> None:
        """Decorators and signatures; annotations are for people."""
        level = fo.outside(), fn.outside()
        self.canon[OLD].cover_head(fo)
        self.canon[NEW].cover_head(fn)
        a, b = definition_of(fo), definition_of(fn)
        decorators = [[each for each in node.decorator_list if not _is_static(each)] for node in (a, b)]
        self._list(a, decorators[0], level[0], b, decorators[1], level[1])
        x, y = a.args, b.args
        if not self.canon[NEW].is_opened(fn.chain[-1]):
            defaults = [[*args.defaults, *(each for each in args.kw_defaults if each)] for args in (x, y)]
            self._list(a, defaults[0], level[0], b, defaults[1], level[1])
            if fo.path != fn.path:
                for each in defaults[1]:
                    if not isinstance(each, ast.Constant):
                        self._residue(each, fn, "evaluated when another module is loaded", "U114")
        if type(a) is not type(b):
            self._residue(a, fo, "one is a coroutine function and one is not")

    def _settle(self) -> None:
        """At the end of a unit: what was captured, postponed or evaluated and never met."""
        for _, line in self.state.late.values():
            self._residue_line(line, "the attribute is not written any more", "U103")
        for captures in self._captures.values():
            for each in captures:
                if each.frame.side == NEW:
                    self._duty("computed" if each.is_met else "eager", each.frame, each.node)
        for lazy in self._lazies.values():
            if lazy.value is None and has(lazy.node, EFFECTS):
                self._residue(lazy.node, lazy.frame, "evaluated here only", "U102")

    # ---- statements

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
        a, b, fo, fn = o.node, n.node, o.frame, n.frame
        if isinstance(o, If) and isinstance(n, If):
            self._if(o, n)
        elif isinstance(o, Body) and isinstance(n, Body) and o.definition == n.definition:
            self.matched.add(n.definition)
            self.run(o.inside, n.inside)
        elif isinstance(a, (ast.Assign, ast.AnnAssign, ast.Return)) and type(a) is not type(b):
            self._assign(o, n)
        elif type(a) is not type(b) or type(o) is not type(n):
            self._differ(a, fo, b, fn)
        elif isinstance(a, (ast.Assign, ast.AnnAssign)) or isinstance(o, Glue):
            self._assign(o, n)
        elif isinstance(a, ast.AugAssign) and isinstance(b, ast.AugAssign):
            self.same(_load(a.target), fo, _load(b.target), fn)
            if type(a.op) is not type(b.op) or not self.same(a.value, fo, b.value, fn):
                self._differ(a, fo, b, fn)
            self._bind(a.target, fo, b.target, fn, self._new())
        elif isinstance(a, ast.Delete) and isinstance(b, ast.Delete):
            self._delete(a, fo, b, fn)
        elif isinstance(a, (ast.For, ast.AsyncFor, ast.While)):
            self._loop(o, n)
        elif isinstance(a, ast.Try) or a.__class__.__name__ == "TryStar":
            self._try(o, n)
        elif isinstance(a, (ast.With, ast.AsyncWith)) and isinstance(b, (ast.With, ast.AsyncWith)):
            self._with(o, n)
        elif isinstance(a, (ast.Import, ast.ImportFrom)) and isinstance(b, (ast.Import, ast.ImportFrom)):
            self._import(o)
            self._import(n)
            if _bound(a) != _bound(b):
                self._differ(a, fo, b, fn)
        elif isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(b, type(a)):
            self._list(a, list(a.decorator_list), fo, b, list(b.decorator_list), fn)
            self._nested(a, fo, b, fn)
            self._both(fo, a.name, fn, b.name, self._new())
        elif isinstance(a, ast.Match) and isinstance(b, ast.Match):
            self._match(o, n)
        elif isinstance(a, ast.ClassDef):
            if ast.dump(a) != ast.dump(b):
                self._differ(a, fo, b, fn)
            self._forget(a, fo, b, fn)
        else:
            self._shape(a, fo, b, fn)
            self._leave(a)

    def _delete(self, a: ast.Delete, fo: Frame, b: ast.Delete, fn: Frame) -> None:
        kinds = [[type(each) for each in node.targets] for node in (a, b)]
        if kinds[0] != kinds[1] or (
            any(isinstance(each, ast.Name) for each in a.targets) and self._is_elsewhere(fo, fn)
        ):
            self._differ(a, fo, b, fn)
            return
        for x, y in zip(a.targets, b.targets, strict=True):
            self._shape(x, fo, y, fn)
            gone = self._new()
            self._store(x, fo, gone)
            self._store(y, fn, gone)
        self._effects += 1

    def _leave(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Return):
            self._returns.append(self.state.copy())
        elif isinstance(node, (ast.Break, ast.Continue)) and self._exits:
            self._exits[-1][isinstance(node, ast.Continue)].append(self.state.copy())
        self.state.is_dead |= isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))

    def _assign(self, o: Item, n: Item) -> None:
        """Assignments, and the result of a function whose body stands in place of a call."""
        (targets_o, value_o), (targets_n, value_n) = o.assignment(), n.assignment()
        if value_o is None or value_n is None:
            if value_o is not value_n or [ast.dump(t) for t in targets_o] != [ast.dump(t) for t in targets_n]:
                self._differ(o.node, o.frame, n.node, n.frame)
            return
        fo, fn = o.value_frame, n.value_frame
        good = self.same(value_o, fo, value_n, fn)
        held = self.value(value_o, fo) if good else None
        if held is None or held[0] == "lazy":
            held = self._new()
        if len(targets_o) != len(targets_n):
            self._differ(o.node, o.frame, n.node, n.frame)
        for x, y in zip(targets_o, targets_n, strict=False):
            self._bind(x, o.frame, y, n.frame, held)

    # ---- what one side has alone

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
        if held is not None and not isinstance(value, ast.Constant) and _is_unbound(held):
            self._duty("unbound", item.value_frame, value)
        stored = [part for target in targets for part in _leaves(target)]
        if not all(isinstance(part, (ast.Name, ast.Attribute)) for part in stored) or any(
            isinstance(part, ast.Name) and frame.home(part.id) is None for part in stored
        ):
            return self._unmatched(item)
        if held is None or held[0] == "lazy":
            if not (len(targets) == 1 and isinstance(targets[0], ast.Name)):
                return self._unmatched(item)
            if held is None:
                held = ("lazy", next(self._fresh))
                self._lazies[held] = Lazy(value, item.value_frame, tuple(self._path), self._effects)
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
            place = self._base(target, frame)
            if frame.side == OLD and target.attr in self.claims.redirects.values():
                self._kind = "redirect"
                self._store(target, frame, value)
                self._duty("alias", frame, target)
                return True
            if place is None or frame.side == OLD:
                return self._residue(target, frame, "an attribute is written that the other side does not write")
            since = self.state.late.pop(place, None)
            if since is None or self.state.held[OLD].get(place) != value:
                return self._residue(target, frame, "an attribute is written that the other side does not write")
            if since[0] != self._effects:
                self._duty("late", frame, target)
        self._store(target, frame, value)
        return True

    def _capture(self, value: ast.expr, frame: Frame, targets: Iterable[Place]) -> None:
        """One side reads attributes into places of its own; what it copies from such places goes with it."""
        found: list[Capture] = []
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and (home := frame.home(node.id)) is not None:
                found += self._captures.get(("l", home.number, node.id), ())
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                held = self.value(node, frame)
                if held is not None and held[0] == "attr":
                    found.append(Capture(frame, node, held, tuple(self._path), self._reached, self._waited))
        for place in targets:
            self._captures[place] = found

    def _unmatched(self, item: Item) -> None:
        self._residue(item.node, item.frame, "no counterpart")
        for place in _stored(item.node):
            self._store(place, item.frame, self._new())
        for block in item.blocks:
            for inner in block:
                self._unmatched(inner)

    def _import(self, item: Item) -> None:
        node, frame = item.node, item.frame
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        for name in _bound(node):
            home = frame.home(name)
            ref = self.canon[frame.side].imported(node, name, frame)
            if home is not None:
                self._hold(frame.side, ("l", home.number, name), ("ref", *ref))

    def _forget(self, a: ast.AST, fo: Frame, b: ast.AST, fn: Frame) -> None:
        """After code that was only compared as text: what it stores is the same unknown on both sides."""
        for x, y in zip(_stored(a), _stored(b), strict=False):
            value = self._new()
            self._store(x, fo, value)
            self._store(y, fn, value)
        self._effects += 1

    # ---- control flow

    def _branch(self, old: list[Item], new: list[Item]) -> State:
        """The state after two blocks that run under a condition; leaves the present state as it was."""
        before = self.state.copy()
        self._path.append(next(self._fresh))
        self.run(old, new)
        self._path.pop()
        after, self.state = self.state, before
        return after

    def _joined(self, states: Sequence[State]) -> State:
        live = [state for state in states if not state.is_dead]
        if not live:
            return State(states[0].held, states[0].late, is_dead=True)
        first, key = live[0].copy(), next(self._fresh)
        for side in (OLD, NEW):
            for place in {place for state in live for place in state.held[side]}:
                values = tuple(state.held[side].get(place, initial(place)) for state in live)
                first.held[side][place] = values[0] if len(set(values)) == 1 else ("phi", key, *values)
        for state in live:
            first.late.update(state.late)
        return first

    def _if(self, o: If, n: If) -> None:
        depth = len(self._path)
        if _signs(o) != _signs(n):
            turned = turned_round(n)
            n = turned if _signs(o) == _signs(turned) else n
        if len(o.test) != len(n.test):
            self._differ(o.node, o.frame, n.node, n.frame, header=True)
        for x, y in zip(o.test, n.test, strict=False):
            for bind in (*x.binds, *y.binds):
                self._only(bind)
            if x.is_negated != y.is_negated or not self._truth(x, y):
                self._differ(x.node, x.frame, y.node, y.frame)
            self._path.append(next(self._fresh))
        del self._path[depth:]
        kind = self._kind
        after = [self._branch(a, b) for a, b in zip(o.blocks, n.blocks, strict=True)]
        self.state, self._kind = self._joined(after), kind

    def _truth(self, x: Literal, y: Literal) -> bool:
        if x.operator is not y.operator or (x.right is None) is not (y.right is None):
            return False
        good = self.same(x.node, x.frame, y.node, y.frame)
        return good and (x.right is None or y.right is None or self.same(x.right, x.frame, y.right, y.frame))

    def _loop(self, o: Item, n: Item) -> None:
        """Runs the body until what is equal at its start is known to be equal at its end."""
        a, b = o.node, n.node
        if isinstance(a, (ast.For, ast.AsyncFor)):
            self.same(a.iter, o.frame, b.iter, n.frame)  # type: ignore[attr-defined]
        entry, key, classes = self.state.copy(), next(self._fresh), dict[tuple[int, Place], int]()
        for _ in range(_MAX_ROUNDS):
            self.state = entry.copy()
            for (side, place), number in classes.items():
                self.state.held[side][place] = ("loop", key, number)
            head, before, since = self.state.copy(), (len(self.lines), len(self.duties)), next(self._fresh)
            breaks = self._once(o, n)
            ends = {
                (side, place): (classes.get((side, place)), entry.held[side].get(place, initial(place)), value)
                for side in (OLD, NEW)
                for place, value in self.state.held[side].items()
                if not _is_newer(place, since)
                and ((side, place) in classes or head.held[side].get(place, initial(place)) != value)
            }
            numbers = {known: number for number, known in enumerate(dict.fromkeys(ends.values()))}
            refined = {where: numbers[known] for where, known in ends.items()}
            if _parts(refined) == _parts(classes):
                break
            classes = refined
            del self.lines[before[0] :], self.duties[before[1] :]
        else:
            self._differ(a, o.frame, b, n.frame)
        late = self.state.late
        self.state = head
        self.state.late.update(late)
        if len(o.blocks[1]) or len(n.blocks[1]):
            self.state = self._branch(o.blocks[1], n.blocks[1])
        self.state = self._joined([self.state, *breaks])

    def _once(self, o: Item, n: Item) -> list[State]:
        """One round of a loop; the states at its breaks."""
        a, b = o.node, n.node
        self._exits.append(([], []))
        self._path.append(next(self._fresh))
        if isinstance(a, ast.While):
            self.same(a.test, o.frame, b.test, n.frame)  # type: ignore[attr-defined]
        else:
            self._bind(a.target, o.frame, b.target, n.frame, self._new())  # type: ignore[attr-defined]
        self.run(o.blocks[0], n.blocks[0])
        self._path.pop()
        breaks, continues = self._exits.pop()
        self.state = self._joined([self.state, *continues])
        self.state.is_dead = False
        return breaks

    def _try(self, o: Item, n: Item) -> None:
        a, b = o.node, n.node
        assert isinstance(a, ast.Try)
        assert isinstance(b, ast.Try)
        if len(a.handlers) != len(b.handlers) or len(o.blocks) != len(n.blocks):
            self._differ(a, o.frame, b, n.frame)
            return
        key, entry = next(self._fresh), self.state.copy()
        self._trails.append([])
        self.state = self._branch(o.blocks[0], n.blocks[0])
        trail = self._trails.pop()
        caught = entry.copy()
        for side, place in {(side, place) for side, place, _ in trail}:
            values = tuple(value for s, p, value in trail if (s, p) == (side, place))
            caught.held[side][place] = ("caught", key, entry.held[side].get(place, initial(place)), *values)
        caught.late.update(self.state.late)
        self._effects += 1
        states = [self._branch(o.blocks[1], n.blocks[1])]
        for x, y, old, new in zip(a.handlers, b.handlers, o.blocks[3:], n.blocks[3:], strict=True):
            self.state = caught.copy()
            if (x.type is None) is not (y.type is None) or (
                x.type and y.type and not self.same(x.type, o.frame, y.type, n.frame)
            ):
                self._differ(x, o.frame, y, n.frame)
            if x.name and y.name:
                self._bind(_name(x.name), o.frame, _name(y.name), n.frame, self._new())
            elif x.name != y.name:
                self._differ(x, o.frame, y, n.frame)
            states.append(self._branch(old, new))
        joined = self._joined(states)
        self.state = caught if joined.is_dead else joined
        self.run(o.blocks[2], n.blocks[2])
        self.state.is_dead |= joined.is_dead

    def _match(self, o: Item, n: Item) -> None:
        a, b = o.node, n.node
        assert isinstance(a, ast.Match)
        assert isinstance(b, ast.Match)
        self.same(a.subject, o.frame, b.subject, n.frame)
        if len(a.cases) != len(b.cases):
            self._differ(a, o.frame, b, n.frame)
        after = [self.state.copy()]
        for x, y, old, new in zip(a.cases, b.cases, o.blocks, n.blocks, strict=False):
            before = self.state.copy()
            self._effects += 1
            self._shape(x.pattern, o.frame, y.pattern, n.frame)
            for (name, _), (other, _) in zip(bindings([x.pattern]), bindings([y.pattern]), strict=False):
                self._bind(_name(name), o.frame, _name(other), n.frame, self._new())
            if (x.guard is None) is not (y.guard is None):
                self._differ(x.pattern, o.frame, y.pattern, n.frame)
            elif x.guard is not None and y.guard is not None:
                self.same(x.guard, o.frame, y.guard, n.frame)
            after.append(self._branch(old, new))
            self.state = before
        self.state = self._joined(after)

    def _with(self, o: Item, n: Item) -> None:
        a, b = o.node.items, n.node.items  # type: ignore[attr-defined]
        if len(a) != len(b):
            self._differ(o.node, o.frame, n.node, n.frame)
        for x, y in zip(a, b, strict=False):
            self.same(x.context_expr, o.frame, y.context_expr, n.frame)
            if x.optional_vars is not None and y.optional_vars is not None:
                self._bind(x.optional_vars, o.frame, y.optional_vars, n.frame, self._new())
            elif x.optional_vars is not y.optional_vars:
                self._differ(x.context_expr, o.frame, y.context_expr, n.frame)
        kind = self._kind
        self._path.append(next(self._fresh))
        self._effects += 1
        self.run(o.blocks[0], n.blocks[0])
        self._path.pop()
        self._effects += 1
        self._kind = kind


def _bound(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [
        alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
        for alias in node.names
    ]


def _load(node: ast.expr) -> ast.expr:
    """A target as it is read; positions are kept."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    assert isinstance(node, ast.Subscript)
    return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from _leaves(part)
    else:
        yield target


def _stored(node: ast.AST) -> list[ast.expr]:
    """The names and attributes a statement stores, without those of the statements in it."""
    found: list[ast.expr] = []
    todo: list[ast.AST] = [node]
    while todo:
        at = todo.pop()
        if isinstance(at, (ast.Name, ast.Attribute)) and isinstance(at.ctx, (ast.Store, ast.Del)):
            found.append(at)
        todo += [child for child in ast.iter_child_nodes(at) if not isinstance(child, (ast.stmt, ast.ExceptHandler))]
    return found


def _is_static(node: ast.expr) -> bool:
    """`@staticmethod` only says how the function is reached; the kernel looks at calls."""
    return isinstance(node, ast.Name) and node.id == "staticmethod"


def _is_unbound(value: object) -> bool:
    """Whether a value may be that of a name without one."""
    if not isinstance(value, tuple) or not value:
        return False
    return value[0] == "unset" or (value[0] != "const" and any(_is_unbound(part) for part in value[1:]))


def _parts(classes: dict[tuple[int, Place], int]) -> set[frozenset[tuple[int, Place]]]:
    """A partition without the numbers of its classes."""
    found: dict[int, set[tuple[int, Place]]] = {}
    for place, number in classes.items():
        found.setdefault(number, set()).add(place)
    return {frozenset(part) for part in found.values()}


def _is_newer(value: object, since: int) -> bool:
    """Whether a place belongs to an object that was made after this number was given."""
    if isinstance(value, tuple):
        return any(_is_newer(part, since) for part in value)
    return isinstance(value, int) and value > since


def _signs(item: If) -> list[tuple[bool, type | None]]:
    """The form of a condition, without what it is about."""
    return [(each.is_negated, each.operator) for each in item.test]
