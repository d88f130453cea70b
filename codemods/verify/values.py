"""What every place holds on each side, on symbolic values that both sides share, and what has been concluded so far."""

from __future__ import annotations

import ast
from itertools import count
from typing import cast

from msgspec import Struct, field

from codemods.source.nodes import first_line
from codemods.verify.canon import Canon
from codemods.verify.frames import Claims, Duty, Frame, Line
from codemods.verify.moments import (
    NEW,
    OLD,
    Capture,
    Handed,
    Kept,
    Late,
    Lazy,
    Passed,
    Place,
    Value,
)
from codemods.verify.names import Definition, Names
from codemods.verify.scopes import outer_names


class State(Struct):
    """What every place holds on each side. late: attributes that one side alone has stored so far."""

    held: tuple[dict[Place, Value], dict[Place, Value]]
    late: dict[Place, Late] = field(default_factory=dict)
    is_dead: bool = False

    def copy(self) -> State:
        return State((dict(self.held[0]), dict(self.held[1])), dict(self.late), self.is_dead)


class Values:
    """Places, values and conclusions of two trees. `lines` and `duties` are what has been concluded so far."""

    def __init__(self, old: Names, new: Names, claims: Claims) -> None:
        self.claims = claims
        self.lines: list[Line] = []
        self.duties: list[Duty] = []
        self.matched: set[Definition] = set()  # functions of the new tree that were compared where they are called
        self.canon = (
            Canon(OLD, old, new, claims, self.lines, self.duties),
            Canon(NEW, new, old, claims, self.lines, self.duties),
        )
        self.state = State(({}, {}))
        self._fresh = count(1)
        self._path: list[int] = []
        self._effects = 0
        self._doubts = 0  # what may fail without being called
        self._by_path = False  # inside a call that looks definitions up by text
        self._waited = 0  # times other code may have run: at an await, or before a function inside a function does
        self._reached = 0  # effects that may have written to an object that was handed to them
        self._handed: list[Handed] = []  # who they were
        self._stored: tuple[dict[Place, int], dict[Place, int]] = ({}, {})  # how many there had been at each store
        self._trails: list[list[tuple[int, Place, Value]]] = []
        self._captures: dict[Place, list[Capture]] = {}
        self._lazies: dict[Value, Lazy] = {}
        self._clock = count(1)
        self._now: dict[int, int] = {}  # by side: when what is being met was evaluated, where that was before
        self._passed: list[Passed] = []
        self.turned: set[str] = set()  # functions whose parameters changed their places
        self.nested_pairs: list[tuple[str, ast.AST, str, bool]] = []  # path, node, former name, whether it moved
        self._drained: set[ast.AST] = set()  # generators that run where they are made
        self._awaited: dict[Place, int] = {}  # objects that have to be stored, and how many there had been then
        self._kept: tuple[list[Kept], list[Kept]] = ([], [])  # what __init__ has kept of what it was given
        self._kind = ""
        self._returns: list[State] = []
        self._exits: list[tuple[list[State], list[State]]] = []

    def value(self, node: ast.expr, frame: Frame) -> Value | None:
        """What a plain expression stands for now; None when it has to be evaluated."""
        side = frame.side
        if isinstance(node, ast.Constant):
            return ("const", type(node.value).__name__, repr(node.value))
        if isinstance(node, ast.Name):
            return self._name(node.id, frame)
        if isinstance(node, ast.Attribute):
            injected = self._given_instead(node, frame) if side == OLD and self.claims.injected else None
            if injected is not None:
                return injected
            static = self.canon[side].static(node, frame)
            if static is not None:
                return ("ref", *static)
            base = self.value(node.value, frame)
            return None if base is None else self._member(side, base, self.canon[side].mangled(node.attr, frame))
        if isinstance(node, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in node.elts):
            parts = [self.value(part, frame) for part in node.elts]
            return None if None in parts else ("tuple", *parts)
        if isinstance(node, ast.Call):
            fields = self.canon[side].record(node, frame)
            if fields is not None:
                values = [(name, self.value(part, frame)) for name, part in fields]
                return None if any(part is None for _, part in values) else ("record", *values)
        return None

    def _given_instead(self, node: ast.Attribute, frame: Frame) -> Value | None:
        """`self.object.member` of the old side, where the class is given the member now."""
        holder = node.value
        if not isinstance(holder, ast.Attribute) or not isinstance(holder.value, ast.Name):
            return None
        home = frame.home(holder.value.id)
        if home is None or not home.owner or home.selfname != holder.value.id:
            return None
        if home.title.endswith(".__init__"):
            return None  # it may not be there yet
        there = self.claims.pairs.get((home.path, home.owner), (home.path, home.owner))
        path = self.claims.modules.get(there[0], there[0])
        name = self.claims.injected.get((path, there[1], holder.attr, node.attr))
        base = self.value(holder.value, frame)
        if name is None or base is None:
            return None
        return ("attr", base, name)

    def _name(self, name: str, frame: Frame) -> Value:
        home = frame.home(name)
        if home is None:
            ref = self.canon[frame.side].reference(name, frame)
            return self.state.held[frame.side].get(("g", ref), ("ref", *ref))
        if home.activation is not frame.activation and not home.is_settled(name):
            return home.cell(name)
        held = self.state.held[frame.side].get(("l", home.number, name))
        return held or (("unset", name) if home.activation is frame.activation else home.cell(name))

    def _member(self, side: int, base: Value, name: str) -> Value | None:
        if base[0] == "record":
            return dict(cast("tuple[tuple[str, Value], ...]", base[1:])).get(name)
        if base[0] == "lazy":
            return None
        if base[0] == "ref":
            ref = self.canon[side].member(base[1:], name)  # type: ignore[arg-type]
            if ref is not None:
                return self.state.held[side].get(("a", base, name), ("ref", *ref))
        name = self.claims.attributes.get(name, name)
        if base[0] == "attr" and (str(base[2]), name) in self.claims.redirects:
            base, name = base[1], self.claims.redirects[str(base[2]), name]  # type: ignore[assignment]
        return self.state.held[side].get(("a", base, name), ("attr", base, name))

    def _meant(self, node: ast.AST, frame: Frame) -> list[Value]:
        """What the names in a piece of code stand for, where only its text is compared."""
        found: list[Value] = []
        for name in outer_names(node):
            home = frame.home(name)
            found.append(self._name(name, frame))
            if home is not None and not home.is_settled(name):  # its methods read the name when they are called
                found.append(home.cell(name))
        return found

    def _hold(self, side: int, place: Place, value: Value) -> None:
        self.state.held[side][place] = value
        for trail in self._trails:
            trail.append((side, place, ("at", self._effects, value)))

    def _both(self, fo: Frame, old: str, fn: Frame, new: str, value: Value) -> None:
        self._hold(OLD, ("l", fo.number, old), value)
        self._hold(NEW, ("l", fn.number, new), value)

    def _overdue(self) -> None:
        """At an end: what one side has stored by now and the other never does."""
        for late in self.state.late.values():
            self._residue_line(late.line, "the attribute is not written on the other side", "U103")
        self.state.late.clear()

    def _new(self) -> Value:
        return ("fresh", next(self._fresh))

    def _global(self, name: str, frame: Frame) -> object:
        return self.canon[frame.side].reference(name, frame) if frame.home(name) is None else None

    def _base(self, node: ast.Attribute, frame: Frame) -> Value | None:
        base = self.value(node.value, frame)
        return None if base is None else self._member_place(frame, base, node.attr)

    def _member_place(self, frame: Frame, base: Value, attr: str) -> Value:
        name = self.canon[frame.side].mangled(attr, frame)
        name = self.claims.attributes.get(name, name)
        if base[0] == "attr" and (str(base[2]), name) in self.claims.redirects:
            return ("a", base[1], self.claims.redirects[str(base[2]), name])
        return ("a", base, name)

    def _part(self, value: Value, number: int) -> Value:
        if value[0] == "tuple" and number < len(value) - 1:
            return value[number + 1]  # type: ignore[return-value]
        if value[0] == "record" and number < len(value) - 1:
            return value[number + 1][1]  # type: ignore[index,no-any-return]
        return ("item", value, number)

    def _spread(self, node: ast.expr, frame: Frame, value: Value) -> None:
        """One side stores the parts of a value."""
        if isinstance(node, (ast.Tuple, ast.List)):
            for number, part in enumerate(node.elts):
                self._spread(part, frame, self._part(value, number))
        else:
            self._store(node, frame, value)

    def _place(self, node: ast.expr, frame: Frame) -> Place:
        """The local of a side that a name is; for an attribute, what its object is called."""
        while isinstance(node, ast.Attribute):
            node = node.value
        home = frame.home(node.id) if isinstance(node, ast.Name) else None
        return ("l", frame.side, home.number, node.id) if home and isinstance(node, ast.Name) else ("none",)

    def _store(self, node: ast.expr, frame: Frame, value: Value) -> None:
        place: Place | None = None  # of an object that has to be evaluated first, nobody knows it
        if isinstance(node, ast.Name):
            home = frame.home(node.id)
            place = ("l", home.number, node.id) if home else ("g", self.canon[frame.side].reference(node.id, frame))
            self._hold(frame.side, place, value)
        elif isinstance(node, ast.Attribute) and (place := self._base(node, frame)) is not None:
            self._hold(frame.side, place, value)
            text = f"{frame.path}:{ast.unparse(node)}"
            self._handed.append(Handed(text, stored=place, node=node, frame=frame))
            self._reached = len(self._handed)
            since = self._awaited.pop(place, self._reached) if frame.side == NEW else self._reached
            if any(each.reaches(place) for each in self._handed[since:]):
                self._residue(node, frame, "stored after calls that could read the attribute that it holds now", "U103")
        if place is not None and place[0] in ("a", "g"):
            self._stored[frame.side][place] = len(self._handed)

    def _await_holders(self, place: Place) -> None:
        """The old side stores an attribute that another object holds now: that one is there, or is stored before the
        object that has both is handed to anybody. While that one is being made, no parameter can be it."""
        for (holder, _), old in self.claims.redirects.items():
            there = ("a", place[1], holder)
            if old == place[2] and there not in self.state.held[NEW]:
                self._awaited.setdefault(there, len(self._handed))

    def _mark(self, node: ast.AST, frame: Frame, kind: str) -> None:
        self._conclude(node, frame, kind, "", "")

    def _residue(self, node: ast.AST, frame: Frame, reason: str, code: str = "") -> bool:
        self._conclude(node, frame, "residue", reason, code)
        return False

    def _residue_line(self, line: Line, reason: str, code: str) -> None:
        self.lines.append(Line(line.side, line.path, line.first, line.last, "residue", reason, code, line.function))

    def _conclude(self, node: ast.AST, frame: Frame, kind: str, reason: str, code: str) -> None:
        first = first_line(node)
        if not first and reason:  # operators, and names that normal forms make, stand nowhere: never unsaid for that
            first = getattr(frame.function, "lineno", 1)
        if first:
            last = getattr(node, "end_lineno", first) or first
            self.lines.append(Line(frame.side, frame.path, first, last, kind, reason, code, frame.title))

    def _differ(self, o: ast.AST | None, fo: Frame, n: ast.AST | None, fn: Frame, *, header: bool = False) -> bool:
        for node, frame in ((o, fo), (n, fn)):
            if node is not None:
                if header and isinstance(node, ast.If):
                    node = node.test
                self._residue(node, frame, "differs")
        return False

    def _duty(self, kind: str, frame: Frame, node: ast.AST, *more: str) -> None:
        what = (*self.canon[frame.side].described(node, frame), *more)
        duty = Duty(kind, frame.side, frame.path, getattr(node, "lineno", 0), what, frame.title)
        if duty not in self.duties:
            self.duties.append(duty)
