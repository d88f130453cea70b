"""Attributes that have another name now, or stand behind another object, as the ledger has found them: what only reads
them agrees without a spec, and whoever sets them differs, once."""

from __future__ import annotations

from codemods.cli.prove_derived import derived
from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import PairKind, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree
from codemods.verify.change import TreeChange

_OLD = """
class Runner:
    def __init__(self, rank, size):
        self.rank = rank
        self.size = size

    def first(self, send):
        if self.rank == 0:
            send(self.size)
        else:
            send(self.rank)

    def text(self, send):
        send(f"{self.rank} of {self.size}")


def report(runner, send):
    send(runner.rank, runner.size + 1)
"""
_NEW = """
class Place:
    def __init__(self, rank, size):
        self.rank = rank
        self.size = size


class Runner:
    def __init__(self, rank, size):
        self.ps = Place(rank, size)

    def first(self, send):
        if self.ps.rank != 0:
            send(self.ps.rank)
        else:
            send(self.ps.size)

    def text(self, send):
        send(f"{self.ps.rank} of {self.ps.size}")


def report(runner, send):
    size = runner.ps.size
    send(runner.ps.rank, size + 1)
"""


def _proved(old: str, new: str) -> dict[str, PairResult]:
    before = FileSet(MemoryTree({"m.py": old.encode()}))
    after = before.write("m.py", new.encode())
    change = TreeChange(old=before, new=after, changes=after.changes_since(before))
    found = derived("", change, ("", ""), takes_all=True)
    results = {}
    for pair in found.pairs:
        if pair.kind is PairKind.CALLABLE:
            opaque.forget()
            twins = Twins(Side("old", before), Side("new", after), ["m.py"])
            results[pair.new] = prove_pair(twins, pair, ProveOptions(jobs=1, mutants=0, seconds=20.0))
    return results


def test_what_only_reads_what_stands_behind_another_object_agrees() -> None:
    found = _proved(_OLD, _NEW)
    for name in ("m:Runner.first", "m:Runner.text", "m:report"):
        assert found[name].verdict is ProofVerdict.AGREES, found[name].deltas
    assert found["m:Runner.__init__"].verdict is ProofVerdict.DIFFERS


def test_another_name_alone() -> None:
    new = _OLD.replace("self.rank", "self.place").replace("if self.place == 0", "if not self.place != 0")
    found = _proved(_OLD, new.replace("runner.rank", "runner.place"))
    assert found["m:Runner.first"].verdict is ProofVerdict.AGREES, found["m:Runner.first"].deltas


def test_the_wrong_one_of_them_differs() -> None:
    found = _proved(_OLD, _NEW.replace("if self.ps.rank != 0", "if self.ps.size != 0"))
    assert found["m:Runner.first"].verdict is ProofVerdict.DIFFERS


def test_what_was_there_beside_it_is_something_else() -> None:
    """The old class read through the same object: what it held need not be what the attribute held."""
    old = _OLD.replace("        self.size = size\n", "        self.size = size\n        self.ps = rank.place\n")
    old = old.replace("send(self.rank)", "send(self.ps.rank)")
    found = _proved(old, _NEW)
    assert found["m:Runner.first"].verdict is ProofVerdict.DIFFERS
