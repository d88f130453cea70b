"""Functions and methods that both sides have, where one side of a pair calls one and the other does what it does by
itself (a method that was inlined, a wrapper that is left for others): executed on both sides, so that a call and its
body are not held against each other. Only where less differs then: else the call that is missing says it best."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from codemods.prove.compare import topic
from codemods.prove.opaque import ATTR, CALL, GLOBAL, ROOT, Opaque
from codemods.prove.pairing import Found, PairOfSubjects, Walk
from codemods.prove.run import Run
from codemods.prove.settle import subterms
from codemods.prove.sides import FunctionNode
from codemods.prove.subject import Subject

_MOST = 4  # rounds: what was opened may call another one


def opened_walk(
    pair: PairOfSubjects, walked: Walk, made: Callable[[frozenset[str]], PairOfSubjects], walk: Callable[..., Walk]
) -> tuple[PairOfSubjects, Walk]:
    """The pair and the walk to go on with. made: the pair with these opened; walk: as the first one was,
    or of so many paths."""
    current, found, tried = pair, walked, pair.opened
    for _ in range(_MOST):
        more = _one_sided(current, found.found) - tried
        if not more:
            break
        tried |= more
        current = made(tried)
        found = walk(current)
        before = walked
        if not found.is_complete and found.paths < walked.paths:
            before = walk(pair, found.paths)  # a shorter walk shows less of anything
        if _weight(found) < _weight(before):
            pair, walked = current, found
    return pair, walked


def _weight(walked: Walk) -> int:
    """How much differs; what was not followed to its end says nothing, and counts most."""
    cut = sum(1 for reason in walked.cut if reason.startswith("unsupported"))
    return cut * 1000 + len({topic(each.difference, each.seen) for each in walked.found})


def _one_sided(pair: PairOfSubjects, found: Iterable[Found]) -> frozenset[str]:
    """What is called, or handed to others, in a difference, by one side alone in its world; by name on the old side."""
    names: set[str] = set()
    for each in found:
        sides = ((pair.old, each.seen.old, each.difference.old_at), (pair.new, each.seen.new, each.difference.new_at))
        for subject, run, at in sides:
            other = each.seen.new if run is each.seen.old else each.seen.old
            if 0 <= at < len(run.events):
                named = {key for inner in subterms(run.events[at]) for key in _shared(subject, inner)}
                names |= {key for key in named if not _uses(other, key)} if named else set()
    return frozenset(names)


def _uses(run: Run, key: str) -> bool:
    leaf = key.rpartition(":")[2].rpartition(".")[2]
    return any(_leaf(inner) == leaf for event in run.events if event._u_kind is CALL for inner in subterms(event))


def _leaf(value: Opaque) -> str:
    if value._u_kind is ATTR:
        return str(value._u_parts[1])
    return str(value._u_parts[0]).rpartition(":")[2].rpartition(".")[2] if value._u_kind is GLOBAL else ""


def _shared(subject: Subject, value: Opaque) -> Iterable[str]:
    """The function of the trees that a term is: by its key, or as a method of `self`."""
    twins, side = subject.loader.twins, subject.loader.side
    if value._u_kind is GLOBAL and ":" in value._u_parts[0]:
        module, _, name = twins.original(value._u_parts[0]).partition(":") if side is twins.new else _split(value)
        if side.facts(module) is not None and isinstance(side.definition(module, name)[0], FunctionNode):
            yield value._u_parts[0]
    elif value._u_kind is ATTR and _is_self(value._u_parts[0]) and subject.owner is not None:
        key = f"{subject.module}:{subject.owner.name}.{value._u_parts[1]}"
        if any(isinstance(each, ast.FunctionDef) and each.name == value._u_parts[1] for each in subject.owner.body):
            yield subject.loader.canonical(key)


def _split(value: Opaque) -> tuple[str, str, str]:
    module, colon, name = value._u_parts[0].partition(":")
    return module, colon, name


def _is_self(value: object) -> bool:
    return type(value) is Opaque and value._u_kind is ROOT and value._u_parts[0] == "self"
