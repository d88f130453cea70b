"""Values at the top level of a module that can't be made in the world of opaque values: unknown, not the end."""

from __future__ import annotations

import pytest

from codemods.prove.options import ProveOptions
from codemods.prove.others import prove_other
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairKind, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_OLD = """from outside import flag

FAST = flag("FAST") and never_bound


class Runner:
    def __init__(self, size):
        self.size = size
        self.is_fast = FAST

    def run(self, x):
        if not FAST:
            x = x + self.size
        return x


def use(x):
    return x if FAST else -x
"""
_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=500, faults=500, seconds=20.0)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (_OLD.replace("x = x + self.size", "x = self._more(x)").replace("def use", "#\ndef use")
         .replace("        return x\n", "        return x\n\n    def _more(self, x):\n        return x + self.size\n"),
         ProofVerdict.AGREES),
        (_OLD.replace("x + self.size", "x - self.size").replace("else -x", "else x"), ProofVerdict.DIFFERS),
    ],
)  # fmt: skip
def test_a_value_that_raises_while_it_is_made_is_unknown(new: str, verdict: ProofVerdict) -> None:
    """`never_bound` is a NameError only where the flag is set: the module may be imported, and its code run."""
    sides = [FileSet(MemoryTree({"m.py": text.encode()})) for text in (_OLD, new)]
    twins = Twins(Side("old", sides[0]), Side("new", sides[1]), ["m.py"])
    made = prove_other(twins, Pair(old="m:Runner", new="m:Runner", kind=PairKind.CLASS), _OPTIONS)
    assert made.verdict is verdict, made.reason
    called = prove_pair(twins, Pair(old="m:use", new="m:use"), _OPTIONS)
    assert called.verdict is verdict, called.reason


def test_the_error_of_a_class_that_can_not_be_made_names_what_is_in_it() -> None:
    text = """from outside import limit


class Runner:
    def __init__(self, size):
        raise ValueError(f"size {size} of {limit}")
"""
    old, new = (Side(label, FileSet(MemoryTree({"m.py": text.encode()}))) for label in ("old", "new"))
    twins = Twins(old, new, [])
    made = prove_other(twins, Pair(old="m:Runner", new="m:Runner", kind=PairKind.CLASS), _OPTIONS)
    assert made.reason == "no instance can be made: ValueError: size {size} of {outside.limit}"


_STATE = """_group = None
_count = 0


def set_group(group):
    global _group
    _group = group


def size():
    if _group is None:
        return 1
    return _group.size


def step(x):
    global _count
    _count += 1
    return x if _count > 3 else -x
"""


@pytest.mark.parametrize(
    ("name", "change", "verdict"),
    [
        ("size", ("if _group is None", "if not _group is not None"), ProofVerdict.AGREES),
        ("size", ("if _group is None", "if not _group"), ProofVerdict.DIFFERS),
        ("size", ("return _group.size", "return 1"), ProofVerdict.DIFFERS),
        ("step", ("x if _count > 3 else -x", "-x if _count <= 3 else x"), ProofVerdict.AGREES),
        ("step", ("_count > 3", "_count > 4"), ProofVerdict.DIFFERS),
        ("step", ("_count += 1", "_count += 2"), ProofVerdict.DIFFERS),
    ],
)
def test_what_functions_bind_anew_is_an_input(name: str, change: tuple[str, str], verdict: ProofVerdict) -> None:
    """The module is loaded with None and 0; at the moment of a call they may be anything."""
    texts = (_STATE, _STATE.replace(*change))
    old, new = (
        Side(label, FileSet(MemoryTree({"m.py": text.encode()})))
        for label, text in zip(("old", "new"), texts, strict=True)
    )
    made = prove_pair(Twins(old, new, ["m.py"]), Pair(old=f"m:{name}", new=f"m:{name}"), _OPTIONS)
    assert made.verdict is verdict, (made.reason, made.deltas)
