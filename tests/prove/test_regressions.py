"""Every regression pair: the tree with the slip differs and one of its places is named; the mended one agrees, but for
what the refactoring changes on purpose. Without any spec, but for those declarations."""

from __future__ import annotations

import functools

import pytest

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.others import prove_other
from codemods.prove.pairs import pairs_of_change
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side as Tree
from codemods.prove.stable import Twins
from codemods.schema.prove import DeclaredDelta, Pair, PairKind, PairResult, ProofVerdict
from codemods.source.files import FileSet
from tests.prove.regression_pairs import DECLARED, Case, Side, is_meant, load_cases

pytestmark = pytest.mark.cases
each_case = pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)

_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=3000, faults=6000, seconds=20.0)


def _changed(old: FileSet, new: FileSet) -> set[str]:
    paths = {*old.paths(), *new.paths()}
    return {path for path in paths if path not in old or path not in new or old.read(path) != new.read(path)}


def proved(case: Case, side: Side, pair: Pair) -> PairResult:
    opaque.forget()
    old, new = case.files("before"), case.files(side)
    twins = Twins(Tree("old", old), Tree("new", new), _changed(old, new))
    prove = prove_pair if pair.kind is PairKind.CALLABLE else prove_other
    return prove(twins, pair, _OPTIONS)


@functools.cache
def results(case_id: str, side: Side) -> list[PairResult]:
    case = next(each for each in load_cases() if each.id == case_id)
    old, new = case.files("before"), case.files(side)
    pairs = pairs_of_change(old, new, _changed(old, new))
    return [proved(case, side, pair) for pair in pairs]


def _shown(found: list[PairResult]) -> str:
    return "\n".join(
        f"{each.kind.value} {each.new}: {each.verdict.value} {each.reason} "
        + "; ".join(
            f"{delta.code} {delta.path}:{delta.line} {delta.old_path}:{delta.old_line} {delta.message}"
            for delta in each.deltas
        )
        for each in found
    )


@each_case
def test_the_slip_is_found_and_its_place_is_named(case: Case) -> None:
    found = results(case.id, "after")
    named = [
        delta
        for each in found
        if each.verdict is ProofVerdict.DIFFERS
        for delta in each.deltas
        if case.where.names(delta.path, delta.line) or case.where.names(delta.old_path, delta.old_line)
    ]
    assert named, _shown(found)


@each_case
def test_the_mended_tree_agrees_but_for_what_is_declared(case: Case) -> None:
    found = results(case.id, "fixed")
    declared = DECLARED.get(case.id, ())
    assert bool(declared) == bool(case.where.declared)
    for each in found:
        unmeant = [delta for delta in each.deltas if not is_meant(delta, declared)]
        assert not unmeant, _shown(found)
        assert each.verdict is (ProofVerdict.DIFFERS if each.deltas else ProofVerdict.AGREES), _shown(found)


def test_a_declaration_is_held_against_what_differs() -> None:
    case = next(each for each in load_cases() if each.id == "B74")
    meant = (DeclaredDelta(code="D10", where="m.get_rank", why="everybody asks ctx() now"),)
    declared = proved(case, "fixed", Pair(old="m", new="m", kind=PairKind.IMPORT, deltas=meant))
    assert declared.verdict is ProofVerdict.AGREES
    assert [each.declared for each in declared.deltas] == [True]
    stale = (*meant, DeclaredDelta(code="D11", where="m.get_rank", why="nothing of the kind"))
    refused = proved(case, "fixed", Pair(old="m", new="m", kind=PairKind.IMPORT, deltas=stale))
    assert refused.verdict is ProofVerdict.DIFFERS
    assert "does not occur" in refused.reason
