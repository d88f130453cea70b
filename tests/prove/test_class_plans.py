"""Which calls a class is compared by, and that what is unusual about a class is no crash."""

from __future__ import annotations

import pytest

from codemods.prove.options import ProveOptions
from codemods.prove.others import prove_other
from codemods.prove.pairs import pairs_of_change
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairKind, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=500, faults=500, seconds=20.0)
_CLASS = """import dataclasses

from outside import pick, wrap


class Base:
    def __init__(self, size, width, *, name="x"):
        self.size, self.width, self.name = size, width, name


class Runner(Base):
    LIMIT = 3

    def __init__(self, *args, extra=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = extra
        self.steps = self._steps()

    def _steps(self):
        while True:
            yield pick(self.size)

    def step(self):
        return next(self.steps)

    def is_large(self):
        return self.size > self.LIMIT

    def scale(self, x):
        return x * 2

    def label(self, x):
        return ", ".join(["a", x, self.name])

    def again(self):
        return dataclasses.replace(self.extra, size=self.size)

    def _wide(self):
        return self.width

    wide = property(_wide)
"""


def _sides(old: str, new: str) -> tuple[Side, Side]:
    made = [Side(label, FileSet(MemoryTree({"m.py": text.encode()}))) for label, text in (("old", old), ("new", new))]
    return made[0], made[1]


def _proved(before: str, after: str, text: str = _CLASS) -> PairResult:
    assert text.count(before) == 1
    twins = Twins(*_sides(text, text.replace(before, after)), ["m.py"])
    return prove_other(twins, Pair(old="m:Runner", new="m:Runner", kind=PairKind.CLASS), _OPTIONS)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ("x * 2", "x * 3", "differs"),  # a constant alone
        ("LIMIT = 3", "LIMIT = 4", "differs"),  # what another method reads
        ("pick(self.size)", "pick(self.width)", "differs"),  # shows when the generator that it holds is asked
        ('["a", x, self.name]', '["a", self.name, x]', "differs"),
        ('["a", x, self.name]', '("a", x, self.name)', "agrees"),
        ("size=self.size)", "size=self.width)", "differs"),
        ("return self.width", "return self.size", "differs"),
        ("return self.size > self.LIMIT", "return not self.size <= self.LIMIT", "agrees"),
    ],
)
def test_a_class_is_compared_by_what_may_differ(before: str, after: str, verdict: str) -> None:
    found = _proved(before, after)
    assert found.verdict.value == verdict, (found.reason, found.deltas)


def test_what_can_not_reach_a_change_is_not_called() -> None:
    """One method of seven: none, that one, and that one twice."""
    assert _proved("x * 2", "x + x").cases == 3
    assert _proved("LIMIT = 3", "LIMIT = 1 + 2").cases == 1 + 1 + 1


def test_a_method_that_is_made_of_another_is_found() -> None:
    """`wide` is a value of the class that names a method; the slice that runs needs that one too."""
    text = _CLASS.replace("property(_wide)", "wrap(_wide, 1)") + "\n    def use(self):\n        return self.wide + 1\n"
    twins = Twins(*_sides(text, text.replace("self.wide + 1", "1 + self.wide - 0")), ["m.py"])
    assert prove_pair(twins, Pair(old="m:Runner.use", new="m:Runner.use"), _OPTIONS).verdict is ProofVerdict.DIFFERS


def test_a_call_whose_result_is_known_is_a_call() -> None:
    """What is compared with a constant counts as that constant; that it was asked for stays an effect."""
    text = "from outside import log, size\n\n\ndef f(x):\n    if size(x) == 'a':\n        log(1)\n    return 2\n"
    twins = Twins(*_sides(text, text.replace("size(x)", "size(x, 1)").replace("log(1)", "log(2)")), ["m.py"])
    found = prove_pair(twins, Pair(old="m:f", new="m:f"), _OPTIONS)
    assert found.verdict is ProofVerdict.DIFFERS
    assert any("size(x)  ->  " in each.message for each in found.deltas), found.deltas


_BASE = """class Base:
    def __init__(self, size):
        self.size = size
        self.left = 1

    def run(self):
        return self.helper() + self.size

    def helper(self):
        return 1

    def other(self):
        return self.size
"""
_SUBCLASSES = """from m import Base


class Plain(Base):
    def stop(self):
        return self.other()


class Overrides(Base):
    def helper(self):
        return 2


class Reads(Base):
    def rest(self):
        return self.left
"""


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("self.helper() + self.size", "self.size + self.helper()", set()),
        ("self.helper()", "helper(self)", set()),  # helper itself stays
        ("    def helper(self):\n        return 1\n\n", "", {"Overrides"}),
        ("        self.left = 1\n", "", {"Reads"}),
        ("class Base:", "class Base(dict):", {"Plain", "Overrides", "Reads"}),
    ],
)
def test_subclasses_are_asked_where_they_may_notice(before: str, after: str, wanted: set[str]) -> None:
    other = {"sub.py": _SUBCLASSES.encode()}
    new = _BASE.replace(before, after) + "\n\ndef helper(base):\n    return 1\n"
    old = _BASE + "\n\ndef unused(base):\n    return 1\n"
    files = [FileSet(MemoryTree({"m.py": text.encode()} | other)) for text in (old, new)]
    found = pairs_of_change(files[0], files[1], ["m.py"])
    assert {each.new.partition(":")[2] for each in found if each.kind is PairKind.CLASS and "sub" in each.new} == wanted
