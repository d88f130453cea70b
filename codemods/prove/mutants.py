"""Mutants of a piece of code: its text with one small slip each, to ask whether a proof would have told. Text to text:
nothing is run, and the same text gives the same mutants on every Python.

Which slips there are is said by the rules beside this file. Here they are numbered, kept from being made twice, and put
in an order in which few of them already cover many kinds and places."""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from heapq import heappop, heapreplace

from msgspec import Struct

from codemods.prove import mutants_blocks, mutants_calls, mutants_operators, mutants_statements, mutants_values
from codemods.prove.mutants_ground import Candidate, Ground, Kind, short
from codemods.prove.mutants_names import Names
from codemods.prove.mutants_targets import live, symbol, targets
from codemods.prove.mutants_units import Units

__all__ = ["Kind", "Mutant", "mutants_of", "pick"]

_RULES = (mutants_operators, mutants_values, mutants_calls, mutants_blocks, mutants_statements)
_TABLES = tuple(each.RULES for each in _RULES)
_NO_QUOTES = frozenset(b"'\"\\{}#\r\n")  # before 3.12 a field can't have them, so that no Python has mutants with them
_CACHED = 4  # texts


class Mutant(Struct, frozen=True, kw_only=True):
    """One slip. `source[start:end]`, which is `before`, becomes `after`; offsets count characters.

    id: of kind, symbol, the statement before and after, and which of several such: the same when lines move.
    line, column: of the change, from 1, in characters."""

    id: str
    kind: Kind
    symbol: str
    line: int
    column: int
    start: int
    end: int
    before: str
    after: str
    description: str

    def applied(self, source: str) -> str:
        """The whole module with the slip. `source` is the text that the mutant was made of."""
        return source[: self.start] + self.after + source[self.end :]


class _Site:
    """A text with everything that is worked out once for it."""

    def __init__(self, source: str) -> None:
        self.ground = Ground(source)
        self.names = Names(self.ground)
        self.units = Units(self.ground)


@lru_cache(maxsize=_CACHED)
def _site(source: str) -> _Site:
    return _Site(source)


def mutants_of(source: str, qualname: str, *, lines: Collection[int] | None = None) -> list[Mutant]:
    """Every mutant of a definition, in an order whose beginning is a fair sample.

    qualname: `Class.method`, `function`, `outer.<locals>.inner`, a class with all its methods, a constant; "" is what
    importing the module runs. lines: only those whose change touches one of them.
    Raises UnknownDefinition, Unparsable, NotText."""
    site = _site(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the code's own text warns of is not news
        found = _numbered(site, _judged(site, qualname))
    if lines is not None:
        wanted = set(lines)
        found = [each for each in found if wanted.intersection(_lines(each))]
    return pick(found, len(found))


def pick(mutants: Sequence[Mutant], budget: int, seed: int = 0) -> list[Mutant]:
    """At most `budget` mutants: the kinds take turns, and each takes the place that has had the fewest so far.

    The order of `mutants` does not matter; a smaller budget gives the beginning of what a larger one gives."""
    if budget < 0:
        raise ValueError(f"a budget of {budget} mutants; it is a number from 0 on")
    drawn = sorted(mutants, key=lambda each: (_draw(seed, each.id), each.id))
    waiting: dict[Kind, list[tuple[int, int]]] = {}  # heaps: how often its place was taken when put in, which one
    for order, mutant in enumerate(drawn):
        waiting.setdefault(mutant.kind, []).append((0, order))
    turns = sorted(waiting, key=lambda kind: (_draw(seed, kind.value), kind.value))
    places: Counter[tuple[str, int]] = Counter()
    picked: list[Mutant] = []
    while turns and len(picked) < budget:
        for kind in turns:
            chosen = drawn[_least(waiting[kind], drawn, places)]
            places[chosen.symbol, chosen.line] += 1
            picked.append(chosen)
        turns = [kind for kind in turns if waiting[kind]]
    return picked[:budget]


def _least(heap: list[tuple[int, int]], drawn: Sequence[Mutant], places: Counter[tuple[str, int]]) -> int:
    """Takes from a heap what stands at the place taken least, the first drawn of several. Numbers only grow, so that
    one which is still right when it comes to the top is the least."""
    while True:
        taken, order = heap[0]
        now = places[drawn[order].symbol, drawn[order].line]
        if now == taken:
            heappop(heap)
            return order
        heapreplace(heap, (now, order))


def _draw(seed: int, text: str) -> bytes:
    return hashlib.sha256(f"{seed}:{text}".encode()).digest()


def _lines(mutant: Mutant) -> range:
    text = mutant.before.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return range(mutant.line, mutant.line + text.count("\n") + 1)


def _proposed(site: _Site, qualname: str) -> Iterator[Candidate]:
    for target in targets(site.ground, qualname):
        for node in live(target):
            for table in _TABLES:
                for rule in table.get(type(node), ()):
                    yield from rule(site.ground, node)
            for named_rule in mutants_statements.NAMED_RULES.get(type(node), ()):
                yield from named_rule(site.ground, site.names, node)
            yield from site.names.swaps(node)


def _judged(site: _Site, qualname: str) -> list[tuple[Candidate, bytes]]:
    """The changes that are mutants, each tree once, in the order of the text; with the words that tell them apart."""
    proposed = [each for each in _proposed(site, qualname) if _fits_f_string(site.ground, each)]
    proposed.sort(key=lambda each: (each.start, each.end, each.kind.value, each.text))
    found: list[tuple[Candidate, bytes]] = []
    seen: set[tuple[int, int, str]] = set()
    for candidate in proposed:
        judged = site.units.judge(candidate)
        if judged is None:
            continue
        unit, digest = judged
        if (unit.start, unit.end, digest) not in seen:
            seen.add((unit.start, unit.end, digest))
            found.append((candidate, site.units.words(unit, candidate)))
    return found


def _fits_f_string(ground: Ground, candidate: Candidate) -> bool:
    """Inside a field only what every Python takes there; parts of an f-string are dropped as they are."""
    outer = ground.f_strings.get(candidate.node)
    if outer is None or outer is candidate.node:
        return True
    touched = ground.body[candidate.start : candidate.end] + candidate.text
    return not _NO_QUOTES.intersection(touched)


def _numbered(site: _Site, judged: list[tuple[Candidate, bytes]]) -> list[Mutant]:
    ordinals: Counter[tuple[str, str, str]] = Counter()
    found: list[Mutant] = []
    ground = site.ground
    for candidate, words in judged:
        name = symbol(ground, candidate.node)
        digest = hashlib.sha256(words).hexdigest()[:10]
        key = (candidate.kind.value, name, digest)
        ordinals[key] += 1
        start, end = ground.char(candidate.start), ground.char(candidate.end)
        found.append(
            Mutant(
                id=":".join((*key, str(ordinals[key]))),
                kind=candidate.kind,
                symbol=name,
                line=ground.source.text.line_of(candidate.start),
                column=ground.column(candidate.start),
                start=start,
                end=end,
                before=ground.body[candidate.start : candidate.end].decode("utf-8"),
                after=candidate.text.decode("utf-8"),
                description=_described(ground, candidate),
            )
        )
    return found


def _described(ground: Ground, candidate: Candidate) -> str:
    """The change, and the first line of the statement in which it is when the change does not show that itself."""
    if candidate.span is not None:
        return candidate.note
    at: ast.AST = candidate.node
    while not isinstance(at, (ast.stmt, ast.ExceptHandler)):
        at = ground.parents[at]
    first, *more = ground.segment(at).splitlines()
    return f"{candidate.note} in `{short(first + (b' ...' if more else b''), 60)}`"
