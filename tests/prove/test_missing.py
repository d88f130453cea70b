"""A pair that names what a tree does not have is inconclusive, and the reason says what there is instead."""

from __future__ import annotations

import pytest

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.others import prove_other
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairKind, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

TREE = {
    "pack/__init__.py": b"",
    "pack/m.py": b"def bind(x):\n    return x\n\n\nclass Runner:\n    def start(self):\n        return 1\n",
    "empty.py": b"",
    "broken.py": b"def f(:\n    pass\n",
}


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        ("pack.m:bnd", "pack.m:bind", "callable", "the old tree has no function pack.m:bnd; did you mean pack.m:bind?"),
        ("pack.m:bind", "pack.m:start", "callable", "did you mean pack.m:Runner.start?"),
        ("pack.m:bind", "pack.m:other", "callable", "pack/m.py has bind, Runner.start"),
        ("pack.m:bind", "pack.m:Runner", "callable", "is a class of the new tree and no function; name two functions"),
        ("pack.m:bind", "pack.m:Runner", "class", "pack.m:bind is a function of the old tree and no class"),
        ("pack.m:bind", "pack.n:bind", "callable", "the new tree has no module pack.n; name a module that it has"),
        ("pack.m:bind", "empty:bind", "callable", "empty.py has no function at all"),
        ("pack.m.bind", "pack.m", "import", "the old tree has no module pack.m.bind; write pack.m:bind for what"),
        ("pack.m:bind", "broken:f", "callable", "broken.py:1: can't be parsed in the old tree: "),
    ],
)
def test_what_is_not_there(old: str, new: str, kind: str, words: str) -> None:
    opaque.forget()
    files = FileSet(MemoryTree(TREE))
    twins = Twins(Side("old", files), Side("new", files), ())
    pair = Pair(old=old, new=new, kind=PairKind(kind))
    prove = prove_pair if pair.kind is PairKind.CALLABLE else prove_other
    result = prove(twins, pair, ProveOptions(jobs=1, mutants=0))
    assert result.verdict is ProofVerdict.INCONCLUSIVE
    assert words in result.reason
    assert result.reason.count("mend the syntax") <= 1
