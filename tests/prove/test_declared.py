"""A declared difference hides no other one, and of what is declared it is known whether it occurs. Domains are given to
inputs, and to nothing else."""

from __future__ import annotations

import pytest

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import DeclaredDelta, Pair, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

LOGGER = "import logging\n\nlogger = logging.getLogger(__name__)\n\n\n"
OLD = """\
def bind(nodes: list[int], size: int) -> int:
    logger.warning("nodes: %d", len(nodes))
    if len(nodes) < size:
        logger.warning("few")
    return size
"""
SLIP = OLD.replace("< size", "<= size")
LAST = OLD.replace("    return size\n", "    return size + 1 if size > 6 and len(nodes) == 2 else size\n")
MEANT = DeclaredDelta(code="D1", where="[numa]", why="the logger of the module that the code moved to")


def proved(new: str, *declared: DeclaredDelta) -> PairResult:
    opaque.forget()
    old = FileSet(MemoryTree({"runner.py": (LOGGER + OLD).encode()}))
    files = FileSet(MemoryTree({"numa.py": (LOGGER + new).encode()}))
    twins = Twins(Side("old", old), Side("new", files), ("runner.py", "numa.py"))
    pair = Pair(old="runner:bind", new="numa:bind", deltas=declared)
    return prove_pair(twins, pair, ProveOptions(jobs=1, mutants=0, seconds=30))


def test_all_cases_are_tried_where_the_first_differs_as_declared() -> None:
    result = proved(OLD, MEANT)
    assert result.verdict is ProofVerdict.AGREES, result
    assert all(each.declared for each in result.deltas)
    assert result.paths > 2


@pytest.mark.parametrize(("new", "code"), [(SLIP, "D8"), (LAST, "D6")])
def test_a_slip_behind_a_declared_difference_is_found(new: str, code: str) -> None:
    result = proved(new, MEANT)
    assert result.verdict is ProofVerdict.DIFFERS
    assert code in {each.code for each in result.deltas if not each.declared}
    assert "does not occur" not in result.reason


def test_a_difference_can_be_declared_by_its_place() -> None:
    places = [DeclaredDelta(code="D1", where=f"numa.py:{line}", why="moved") for line in (7, 9)]
    assert proved(OLD, *places).verdict is ProofVerdict.AGREES
    assert proved(OLD, places[0]).verdict is ProofVerdict.DIFFERS
    assert proved(SLIP, *places).verdict is ProofVerdict.DIFFERS


def test_a_domain_of_what_is_no_input_is_refused() -> None:
    opaque.forget()
    files = FileSet(MemoryTree({"runner.py": (LOGGER + OLD).encode()}))
    twins = Twins(Side("old", files), Side("new", files), ())
    for name, is_known in (
        ("nodez", False),
        ("self.nodes", False),
        ("nodes", True),
        ("os.environ['X']", True),
        ("*", True),
        ("m:f()", True),
    ):
        pair = Pair(old="runner:bind", new="runner:bind", domains={name: "opaque"})
        result = prove_pair(twins, pair, ProveOptions(jobs=1, mutants=0, seconds=30))
        assert ("no input of runner:bind" in result.reason) is not is_known, result.reason
