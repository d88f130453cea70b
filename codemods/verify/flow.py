"""Control flow of the kernel: branches, loops, exceptions, `with` and `match`, each on both sides at once.

A place that differs between the ways to a point holds a value made of what it holds on each; the same on both sides
where they are. A loop is run until what is equal at its start is equal at its end."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.verify.canon import turned_round
from codemods.verify.forms import binds_inside
from codemods.verify.frames import If, Item, Literal
from codemods.verify.moments import NEW, OLD, Place, Since, Value, initial
from codemods.verify.scopes import bindings
from codemods.verify.targets import Targets
from codemods.verify.values import State

_MAX_ROUNDS = 8


class Flow(Targets):
    """Compares statements that hold blocks."""

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
        if _signs(o) != _signs(n):
            turned = turned_round(o)
            o = turned if _signs(turned) == _signs(n) else o
        if len(o.test) != len(n.test):
            self._differ(o.node, o.frame, n.node, n.frame, header=True)
        skipped: list[State] = []
        for number, (x, y) in enumerate(zip(o.test, n.test, strict=False)):
            if number and binds_inside(x.node, y.node, x.right, y.right):
                skipped.append(self.state.copy())
            for bind in (*x.binds, *y.binds):
                self._only(bind)
            if x.is_negated != y.is_negated or not self._truth(x, y):
                self._differ(x.node, x.frame, y.node, y.frame)
            self._path.append(next(self._fresh))
        del self._path[depth:]
        kind = self._kind
        after = [self._branch(o.blocks[0], n.blocks[0])]
        if skipped:
            self.state = self._joined([*skipped, self.state])
        after.append(self._branch(o.blocks[1], n.blocks[1]))
        self.state, self._kind = self._joined(after), kind

    def _truth(self, x: Literal, y: Literal) -> bool:
        if x.operator is not y.operator or (x.right is None) is not (y.right is None):
            return False
        good = self.same(x.node, x.frame, y.node, y.frame)
        self._hand(x.node, x.frame, "operator:" if x.right is not None else "truth:")
        self._hand(x.right, x.frame, "item:")
        return good and (x.right is None or y.right is None or self.same(x.right, x.frame, y.right, y.frame))

    def _loop(self, o: Item, n: Item) -> None:
        """Runs the body until what is equal at its start is known to be equal at its end."""
        a, b = o.node, n.node
        if isinstance(a, (ast.For, ast.AsyncFor)):
            self._doubts += 1
            self.same(a.iter, o.frame, b.iter, n.frame)  # type: ignore[attr-defined]
            self._hand(a.iter, o.frame, "each:")
        entry, key, classes = self.state.copy(), next(self._fresh), dict[tuple[int, Place], int]()
        is_last = False
        for _ in range(_MAX_ROUNDS):
            calm = (self._reached, self._waited)
            self.state = entry.copy()
            for (side, place), number in classes.items():
                self.state.held[side][place] = ("loop", key, number)
            head, before = self.state.copy(), (len(self.lines), len(self.duties))
            since = Since(next(self._fresh), (self.canon[OLD].frames, self.canon[NEW].frames))
            breaks = self._once(o, n)
            ends = {
                (side, place): (classes.get((side, place)), entry.held[side].get(place, initial(place)), value)
                for side in (OLD, NEW)
                for place, value in self.state.held[side].items()
                if not since.is_newer(place, side)
                and ((side, place) in classes or head.held[side].get(place, initial(place)) != value)
            }
            numbers = {known: number for number, known in enumerate(dict.fromkeys(ends.values()))}
            refined = {where: numbers[known] for where, known in ends.items()}
            is_known = _parts(refined) == _parts(classes)
            if is_known and (is_last or (self._reached, self._waited) == calm):
                break
            # What was read before the loop is read again behind the calls of an earlier round.
            is_last, classes = is_known, refined
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
            self._hand(a.test, o.frame, "truth:")
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
        whole: list[tuple[int, Place, Value]] = []
        self._trails += [whole, []]
        self.state = self._branch(o.blocks[0], n.blocks[0])
        caught = _caught(entry, self._trails.pop(), key)
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
            for side, frame, name in ((OLD, o.frame, x.name), (NEW, n.frame, y.name)):
                home = frame.home(name) if name else None
                if home is not None:  # the name goes away at the end of the handler
                    states[-1].held[side]["l", home.number, name] = ("unset", name)
        joined = self._joined(states)
        self._trails.pop()
        if o.blocks[2] or n.blocks[2]:  # also where something was raised on the way
            self.state = _caught(entry, whole, key)
            self._branch(o.blocks[2], n.blocks[2])
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
            self._hand(a.subject, o.frame, "match:")
            self._shape(x.pattern, o.frame, y.pattern, n.frame)
            for (name, _), (other, _) in zip(bindings([x.pattern]), bindings([y.pattern]), strict=False):
                self._bind(_name(name), o.frame, _name(other), n.frame, self._new())
            if (x.guard is None) is not (y.guard is None):
                self._differ(x.pattern, o.frame, y.pattern, n.frame)
            elif x.guard is not None and y.guard is not None:
                self.same(x.guard, o.frame, y.guard, n.frame)
            after.append(self._branch(old, new))
            if x.guard is not None:  # what the pattern has captured stays where the guard says no
                before = self._joined([before, self.state])
            self.state = after[0] = before
        self.state = self._joined(after)

    def _with(self, o: Item, n: Item) -> None:
        a, b = o.node.items, n.node.items  # type: ignore[attr-defined]
        if len(a) != len(b):
            self._differ(o.node, o.frame, n.node, n.frame)
        for x, y in zip(a, b, strict=False):
            self.same(x.context_expr, o.frame, y.context_expr, n.frame)
            self._hand(x.context_expr, o.frame, "enter:")
            if x.optional_vars is not None and y.optional_vars is not None:
                self._bind(x.optional_vars, o.frame, y.optional_vars, n.frame, self._new())
            elif x.optional_vars is not y.optional_vars:
                self._differ(x.context_expr, o.frame, y.context_expr, n.frame)
        kind, key, entry = self._kind, next(self._fresh), self.state.copy()
        self._path.append(next(self._fresh))
        self._effects += 1
        self._trails.append([])
        self.run(o.blocks[0], n.blocks[0])
        for (side, place), values in _by_place(self._trails.pop()).items():
            # Where an error is swallowed, what it held is still there, whatever the place is called.
            self._hold(side, place, ("caught", key, entry.held[side].get(place, ("before",)), *values))
        self._path.pop()
        self._effects += 1
        self._kind = kind

    def _leave(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Return):
            self._overdue()
            self._returns.append(self.state.copy())
        elif isinstance(node, (ast.Break, ast.Continue)) and self._exits:
            self._exits[-1][isinstance(node, ast.Continue)].append(self.state.copy())
        self.state.is_dead |= isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue))


def _caught(entry: State, trail: Sequence[tuple[int, Place, Value]], key: int) -> State:
    """The state where an exception has left a block that began with `entry` and stored what is in the trail."""
    caught = entry.copy()
    for (side, place), values in _by_place(trail).items():
        caught.held[side][place] = ("caught", key, entry.held[side].get(place, initial(place)), *values)
    return caught


def _by_place(trail: Sequence[tuple[int, Place, Value]]) -> dict[tuple[int, Place], list[Value]]:
    """Side and place -> what was stored there, in order."""
    found: dict[tuple[int, Place], list[Value]] = {}
    for side, place, value in trail:
        found.setdefault((side, place), []).append(value)
    return found


def _parts(classes: dict[tuple[int, Place], int]) -> set[frozenset[tuple[int, Place]]]:
    """A partition without the numbers of its classes."""
    found: dict[int, set[tuple[int, Place]]] = {}
    for place, number in classes.items():
        found.setdefault(number, set()).add(place)
    return {frozenset(part) for part in found.values()}


def _signs(item: If) -> list[tuple[bool, type | None]]:
    """The form of a condition, without what it is about."""
    return [(each.is_negated, each.operator) for each in item.test]


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())
