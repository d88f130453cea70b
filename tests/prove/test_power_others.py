"""Power of pairs that are no callables: mutants of the methods that a class is called for, and of what importing a
module runs."""

from __future__ import annotations

import pytest

from codemods.prove.options import ProveOptions
from codemods.prove.others import prove_other
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import AcceptedMutant, Pair, PairKind, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_TEXT = """from outside import pick

TABLE = {"a": 1, "b": pick(2)}
LIMIT = 3


class Runner:
    WIDTH = 4

    def __init__(self, size):
        self.size = size
        self.steps = 0

    def step(self, x):
        if x > self.size:
            self.steps += 1
            return pick(x, self.steps)
        return None

    def other(self):
        return self.size + 1


if LIMIT > 2:
    pick(LIMIT)
"""
_NEW = _TEXT.replace("if x > self.size", "if not x <= self.size").replace("if LIMIT > 2", "if not LIMIT <= 2")


def _proved(
    kind: PairKind, new: str = _NEW, mutants: int = 60, accepted: tuple[AcceptedMutant, ...] = ()
) -> PairResult:
    old_side, new_side = (
        Side(label, FileSet(MemoryTree({"m.py": text.encode()}))) for label, text in (("old", _TEXT), ("new", new))
    )
    name = "m:Runner" if kind is PairKind.CLASS else "m"
    options = ProveOptions(jobs=1, seconds=30.0, mutants=mutants)
    return prove_other(
        Twins(old_side, new_side, ["m.py"]), Pair(old=name, new=name, kind=kind, accepted=accepted), options
    )


def test_every_slip_of_a_method_that_changed_is_told_apart() -> None:
    found = _proved(PairKind.CLASS)
    assert found.verdict is ProofVerdict.AGREES, found.reason
    assert found.mutants.killed == found.mutants.total >= 10, found.mutants.survivors


def test_slips_of_what_importing_runs_are_told_apart() -> None:
    """None of the functions, which importing does not run; what stays is what makes no difference."""
    found = _proved(PairKind.IMPORT)
    assert found.verdict is ProofVerdict.AGREES, found.reason
    assert found.mutants.total >= 10
    assert found.mutants.killed >= 0.7 * found.mutants.total, found.mutants.survivors
    lines = {each.line for each in found.mutants.survivors}
    assert lines <= {3, 4, 24}, found.mutants.survivors  # two that change places; 3 > 2 as much as 3 > 1


@pytest.mark.parametrize("kind", [PairKind.CLASS, PairKind.IMPORT])
def test_no_mutants_where_none_are_wanted(kind: PairKind) -> None:
    assert _proved(kind, mutants=0).mutants.total == 0


def test_an_accepted_mutant_that_is_told_apart_is_stale() -> None:
    accepted = (AcceptedMutant(id="constant:Runner.step:0000000000:1", why="no such"),)
    found = _proved(PairKind.CLASS, accepted=accepted)
    assert found.verdict is ProofVerdict.INCONCLUSIVE
    assert "accepted mutant" in found.reason
