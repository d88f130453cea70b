"""Stubs beside changed modules are noted where they tell something else than the module does now."""

from __future__ import annotations

import pytest

from codemods.schema.plan import ExtractMethod, Move, Rename, Step
from tests.support.steps import codes, run

TREE = """\
# file: m.py
class A:
    x = 1
    def m(self, a): return self.x + a
def top(): ...
# file: m.pyi
class A:
    x: int
    def m(self, a: int) -> int: ...
def top() -> None: ...
# file: n.py
'''N.'''
"""
STEPS: list[tuple[Step, list[tuple[str, int]]]] = [
    (ExtractMethod(method="m:A.m", to="n"), [("m.pyi", 3)]),
    (ExtractMethod(method="m:A.m", to="n", wrapper=True), []),
    (ExtractMethod(method="m:A.m"), [("m.pyi", 3)]),
    (Move(definition="m:top", to="n"), [("m.pyi", 4)]),
    (Rename(definition="m:A.m", to="k"), [("m.pyi", 3)]),
    (Rename(definition="m:A.x", to="y"), [("m.pyi", 2)]),
]


@pytest.mark.parametrize(("step", "expected"), STEPS)
def test_a_stub_that_tells_what_was(step: Step, expected: list[tuple[str, int]]) -> None:
    result, _ = run(TREE, step)
    assert [(each.path, each.line) for each in result.hazards] == expected
    assert codes(result) == ["note U119"] * bool(expected)
    assert result.commits


def test_a_rename_that_follows_into_the_stub_says_nothing() -> None:
    result, files = run(TREE + "# file: u.py\nfrom m import top\n", Rename(definition="m:top", to="down"))
    assert b"def down() -> None" in files.read("m.pyi")
    assert result.hazards == ()


def test_a_stub_that_says_nothing_of_what_came() -> None:
    result, _ = run(f"{TREE}# file: n.pyi\nx: int\n", Move(definition="m:top", to="n"))
    assert [(each.path, each.line) for each in result.hazards] == [("m.pyi", 4), ("n.pyi", 0)]
