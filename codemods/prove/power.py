"""Whether a proof could have failed: the new side is changed in small ways, and each change must be told apart."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from codemods.prove.mutants import Mutant, mutants_of, pick
from codemods.prove.options import ProveOptions
from codemods.prove.pairing import PairOfSubjects
from codemods.prove.sides import DefNode, FunctionNode, ModuleFacts, Side
from codemods.prove.stable import Twins
from codemods.prove.survivors import Accepted, judge
from codemods.schema.errors import UnmovedError
from codemods.schema.prove import Mutants, Pair, Survivor
from codemods.source.nodes import first_line

AnyPair = Any  # pairs of callables, of classes, of modules: `twins` and `with_new(side)` is what they share here
Differs = Callable[[AnyPair, float], bool]
_SHARE = 0.25  # of its time budget again, a pair may take for its mutants
_LEAST_SECONDS = 5.0


IsTold = Callable[["Place", Mutant, float], bool]


class Power(Struct, frozen=True):
    """problem: why the power is not enough, empty when it is."""

    mutants: Mutants
    problem: str = ""


class Place(Struct, frozen=True, eq=False):
    """A function of the new side that runs in a pair; with no name, what importing the module runs."""

    facts: ModuleFacts
    qualname: str
    source: str

    def mutants(self) -> Iterator[Mutant]:
        """None in functions, where it is a module: importing it does not run them."""
        for mutant in mutants_of(self.source, self.qualname):
            if self.qualname or not isinstance(_find(self.facts.tree, mutant.symbol), FunctionNode):
                yield mutant

    @property
    def reference(self) -> str:
        return f"{self.facts.module}:{self.qualname}"


def measure(pair: PairOfSubjects, differs: Differs, spec: Pair, options: ProveOptions, end: float) -> Power:
    """Run mutants of everything of the new side that the pair executes. The time: what is left until `end` (monotonic
    seconds), and a share of the budget more."""
    places = places_of(pair.new.loader.side, pair.new.loader.executed)
    unknown = [each for each in spec.focus if each not in {place.reference for place in places}]
    if unknown:
        return Power(Mutants(), f"{unknown[0]}, which the spec's `focus` names, does not run in this pair")
    if spec.focus:
        places = [place for place in places if place.reference in spec.focus]
    return measured(places, partial(is_told_apart, pair, differs), spec, options, end)


def measured(places: Sequence[Place], is_told: IsTold, spec: Pair, options: ProveOptions, end: float) -> Power:
    """Of the mutants of these places, how many are told apart in the time."""
    end = max(end, time.monotonic() + _LEAST_SECONDS, time.monotonic() + options.seconds * _SHARE)
    made = [(place, mutant) for place in places for mutant in place.mutants()]
    chosen = {mutant.id: (place, mutant) for place, mutant in made}
    picked = pick([mutant for _, mutant in made], options.mutants, options.seed)
    killed, left, untried = 0, [], {each.id for _, each in made} - {each.id for each in picked}
    for mutant in picked:
        place = chosen[mutant.id][0]
        if time.monotonic() > end:
            untried.add(mutant.id)
            continue
        if is_told(place, mutant, end):
            killed += 1
        elif time.monotonic() > end:
            untried.add(mutant.id)  # it was cut short
        else:
            left.append((place, mutant))
    return _judged(killed, left, spec, {mutant.id for _, mutant in made}, untried)


def _judged(killed: int, left: list[tuple[Place, Mutant]], spec: Pair, existing: set[str], untried: set[str]) -> Power:
    accepted = [Accepted(id=each.id, why=each.why) for each in spec.accepted]
    judged = judge([mutant for _, mutant in left], accepted, existing=existing, untried=untried)
    reasons = {mutant.id: one.why for mutant, one in judged.explained}
    survivors = tuple(
        Survivor(
            id=mutant.id,
            path=place.facts.path,
            line=mutant.line,
            before=mutant.before,
            after=mutant.after,
            why=reasons.get(mutant.id, ""),
        )
        for place, mutant in left
    )
    mutants = Mutants(killed=killed, total=killed + len(left), survivors=survivors)
    problem = ""
    if judged.stale:
        problem = "; ".join(f"the accepted mutant {each.accepted.id} {each.lapse.value}" for each in judged.stale)
    elif mutants.total and not killed:
        problem = "no mutant of the new side is told apart: this run could not have failed"
    return Power(mutants, problem)


def places_of(side: Side, functions: Iterable[tuple[str, str]]) -> list[Place]:
    """Functions of a side, by module and qualified name."""
    found: list[Place] = []
    for module, qualname in dict.fromkeys(functions):
        facts = side.facts(module)
        if facts is not None:
            found.append(Place(facts, qualname, side.files.read(facts.path).decode("utf-8", "replace")))
    return found


def is_told_apart(pair: AnyPair, differs: Differs, place: Place, mutant: Mutant, end: float) -> bool:
    """A mutant that can't even be loaded is told apart."""
    node = mutated(place.source, place.facts, place.qualname, mutant) if place.qualname else None
    if node is None and place.qualname:
        return True
    try:
        side = _side_with(pair.twins.new, place, node) if node is not None else _side_of(pair.twins.new, place, mutant)
        return differs(pair.with_new(side), end)
    except (UnmovedError, RecursionError):
        return True
    except Exception:  # noqa: BLE001 - whatever the mutant raises while it is loaded tells it apart
        return True


def _side_of(side: Side, place: Place, mutant: Mutant) -> Side:
    """The side with another text of a whole module. Raises SyntaxError."""
    raw = mutant.applied(place.source).encode()
    made = side.with_facts(ModuleFacts(place.facts.module, place.facts.path, raw))
    made.files = side.files.write(place.facts.path, raw)
    return made


def mutated(source: str, facts: ModuleFacts, qualname: str, mutant: Mutant) -> DefNode | None:
    """The definition with the slip, at its place; None where it does not parse alone."""
    node = _find(facts.tree, qualname)
    if node is None:
        return None
    lines = source.splitlines(keepends=True)
    first = first_line(node)
    start = sum(len(line) for line in lines[: first - 1])
    end = sum(len(line) for line in lines[: node.end_lineno])
    text = mutant.applied(source)[start : end + len(mutant.after) - (mutant.end - mutant.start)]
    is_inner = text[:1].isspace()
    try:
        tree = ast.parse(f"if True:\n{text}" if is_inner else text)
    except SyntaxError:
        return None
    made = tree.body[0].body[0] if is_inner and isinstance(tree.body[0], ast.If) else tree.body[0]
    if not isinstance(made, DefNode):
        return None
    ast.increment_lineno(made, first - (2 if is_inner else 1))
    return made


def _find(tree: ast.AST, qualname: str) -> DefNode | None:
    if not qualname:
        return None
    node: ast.AST = tree
    for part in qualname.split("."):
        found = [
            each for each in ast.walk(node) if isinstance(each, DefNode) and each.name == part and each is not node
        ]
        if not found:
            return None
        node = found[-1]
    return node if isinstance(node, DefNode) else None


def _side_with(side: Side, place: Place, node: DefNode) -> Side:
    """The side with one definition replaced; everything else is shared."""
    old = _find(place.facts.tree, place.qualname)
    assert old is not None
    facts = copy.copy(place.facts)
    facts.tree = ast.Module(body=_replaced(place.facts.tree.body, old, node), type_ignores=[])
    facts.definitions = {
        name: next((each for each in facts.tree.body if isinstance(each, DefNode) and each.name == name), value)
        for name, value in place.facts.definitions.items()
    }
    return side.with_facts(facts)


def _replaced(body: list[ast.stmt], old: DefNode, new: DefNode) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for each in body:
        if each is old:
            made.append(new)
        elif each.lineno <= old.lineno <= (each.end_lineno or 0) and isinstance(each, ast.ClassDef):
            outer = copy.copy(each)
            outer.body = _replaced(each.body, old, new)
            made.append(outer)
        else:
            made.append(each)
    return made


__all__ = ["Differs", "Power", "Twins", "measure", "mutated"]
