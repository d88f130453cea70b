"""What code shows about its inputs, as facts about places in them. Gathering is domains_harvest.py's; what the facts
mean for a domain is domains_infer.py's.

A *spot* is a place in an input: the input's name (or dotted path) and the steps from there, such as ("pieces",
"item") for a part of a text that was split, ("item", "#1") for the second place of each row, ("number",) for int() of
it."""

from __future__ import annotations

import ast
from typing import Any

from msgspec import Struct, field

from codemods.prove.domains import Tie
from codemods.prove.domains_home import MISSING
from codemods.prove.domains_ties import is_workable

Spot = tuple[str, tuple[str, ...]]
_MOST = 64  # values of one category at one spot; a table of thousands of keys needs no more
DEEPEST = 7


class Value(Struct, frozen=True, eq=False):
    """What an expression may hold: the spots it comes from, the same thing in terms of the inputs, its constant
    value, and its parts when it is a tuple."""

    spots: frozenset[Spot] = frozenset()
    expr: ast.expr | None = None
    constant: Any = MISSING
    items: tuple[Value, ...] = ()

    def step(self, *steps: str) -> Value:
        return Value(frozenset(moved(spot, *steps) for spot in self.spots))

    @property
    def root(self) -> str:
        """The input that this very value is, "" when it is none or a part of one."""
        if len(self.spots) == 1 and self.expr is not None:
            (root, steps) = next(iter(self.spots))
            if not steps and isinstance(self.expr, (ast.Name, ast.Attribute)):
                return root
        return ""


NOTHING = Value()


def moved(spot: Spot, *steps: str) -> Spot:
    root, before = spot
    return (root, before + steps) if len(before) + len(steps) <= DEEPEST else spot


def united(*values: Value) -> Value:
    """One of several values."""
    spots = frozenset().union(*(value.spots for value in values))
    only = values[0].expr if len(values) == 1 else None
    return Value(spots, only)


class Facts(Struct):
    """table: input -> steps -> category -> values, in the order met. ties: input -> what it stands in a relation to."""

    table: dict[str, dict[tuple[str, ...], dict[str, list[Any]]]] = field(default_factory=dict)
    ties: dict[str, list[Tie]] = field(default_factory=dict)

    def add(self, spot: Spot, category: str, value: Any) -> None:
        root, steps = spot
        values = self.table.setdefault(root, {}).setdefault(steps, {}).setdefault(category, [])
        known = any(type(each) is type(value) and each == value for each in values)
        if not known and len(values) < _MOST:
            values.append(value)

    def note(self, value: Value, category: str, *facts: Any) -> None:
        for spot in sorted(value.spots):
            for fact in facts:
                self.add(spot, category, fact)

    def equal(self, value: Value, constant: Any) -> None:
        """The value is compared with a constant."""
        if constant is None:
            self.note(value, "kind", "none")
        elif isinstance(constant, (str, int, float, bytes)):
            self.note(value, "exact", constant)
            self.note(value, "kind", type(constant).__name__)
        elif isinstance(constant, (list, tuple, dict)):
            self.note(value, "kind", type(constant).__name__)

    def tie(self, root: str, expr: ast.expr, kind: str) -> None:
        if sum(1 for _ in ast.walk(expr)) > 40 or not is_workable(text := ast.unparse(expr)):
            return
        found = Tie(text, kind)
        ties = self.ties.setdefault(root, [])
        if found not in ties and len(ties) < 6:
            ties.append(found)

    def roots(self) -> list[str]:
        return list(dict.fromkeys([*self.table, *self.ties]))


class View(Struct, frozen=True, eq=False):
    """The facts of one spot and of what lies below it."""

    facts: Facts
    root: str
    steps: tuple[str, ...] = ()

    def get(self, category: str) -> list[Any]:
        return self.facts.table.get(self.root, {}).get(self.steps, {}).get(category, [])

    def deep(self, category: str, *, beside: bool = True) -> list[Any]:
        """The values here and at every spot below. beside=False: only below."""
        found: list[Any] = []
        size = len(self.steps)
        for steps, facts in self.facts.table.get(self.root, {}).items():
            if steps[:size] == self.steps and (beside or len(steps) > size):
                found.extend(facts.get(category, ()))
        return found

    def number(self) -> list[Any]:
        """What numbers made of this text, or of its parts, are compared with."""
        found: list[Any] = []
        size = len(self.steps)
        for steps, facts in self.facts.table.get(self.root, {}).items():
            if steps[:size] == self.steps and "number" in steps[size:]:
                found.extend(facts.get("exact", ()))
        return found

    def below(self, *steps: str) -> View:
        return View(self.facts, self.root, self.steps + steps)

    def next_steps(self) -> list[str]:
        size = len(self.steps)
        found = [
            steps[size]
            for steps in self.facts.table.get(self.root, {})
            if steps[:size] == self.steps and len(steps) > size
        ]
        return list(dict.fromkeys(found))

    def attribute(self, name: str) -> View:
        if not self.steps:
            return View(self.facts, f"{self.root}.{name}")
        return self.below(f".{name}")

    @property
    def kinds(self) -> list[str]:
        return [str(kind) for kind in self.get("kind")]
