"""What touches changed lines that lie in no pair, and which lines nothing runs. Trees of text; no prover runs."""

from __future__ import annotations

import pytest

from codemods.prove.pairs import pairs_of_change
from codemods.prove.pairs_covered import uncovered
from codemods.schema.prove import Pair, PairKind
from codemods.source.files import FileSet, MemoryTree

OLD = """\
def _size(size, page):
    size = max(size, page)
    return size // page


class Maker:
    def __init__(self):
        self.kind = "flat"

    def make(self, size):
        return _size(size, 16)


def unused():
    return 1
"""
NEW = """\
from paged import pages


class Maker:
    def __init__(self):
        self.kind = "flat"

    def make(self, size):
        return pages(size, 16)


def unused():
    return 1
"""
PAGED = """\
def pages(size, page):
    return _rounded(size) // page


def _rounded(size):
    return size


def nobody():
    return 2
"""


def trees(old: dict[str, str], new: dict[str, str]) -> tuple[FileSet, FileSet, list[str]]:
    sides = [FileSet(MemoryTree({path: text.encode() for path, text in each.items()})) for each in (old, new)]
    return sides[0], sides[1], sorted(path for path in {*old, *new} if old.get(path) != new.get(path))


def names(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [(each.old, each.new) for each in pairs if each.kind is PairKind.CALLABLE]


EXTRACTED = trees({"pools.py": OLD}, {"pools.py": NEW, "paged.py": PAGED})


@pytest.mark.parametrize("residue", [{"paged.py": {2}}, {"paged.py": {6}}, {"old:pools.py": {2}}])
def test_a_changed_line_in_a_function_of_one_side_asks_for_who_runs_it(residue: dict[str, set[int]]) -> None:
    old, new, changed = EXTRACTED
    assert names(pairs_of_change(old, new, changed, residue)) == [("pools:Maker.make", "pools:Maker.make")]


def test_nobody_runs_it() -> None:
    old, new, changed = EXTRACTED
    assert names(pairs_of_change(old, new, changed, {"paged.py": {10}})) == []


def test_what_runs_a_table_runs_what_is_in_it() -> None:
    table = "def _a(x):\n    return x{}\n\n\nALL = {{'a': _a}}\n\n\ndef run(name, x):\n    return ALL[name](x)\n"
    gone = table.format("").replace("_a", "_b")
    old, new, changed = trees({"m.py": table.format(" + 0")}, {"m.py": gone})
    assert ("m:run", "m:run") in names(pairs_of_change(old, new, changed, {"m.py": {2}}))


def test_a_new_initialiser_is_run_by_who_makes_the_class() -> None:
    old, new, changed = trees(
        {"m.py": "class C:\n    a = 1\n\n\ndef f():\n    return C()\n"},
        {"m.py": "class C:\n    def __init__(self):\n        self.a = 1\n\n\ndef f():\n    return C()\n"},
    )
    assert ("m:f", "m:f") in names(pairs_of_change(old, new, changed, {"m.py": {3}}))


def test_an_import_that_moves_to_the_top_asks_for_the_import() -> None:
    old, new, changed = trees(
        {"m.py": "def f():\n    import n\n    return n.x\n", "n.py": "x = 1\n"},
        {"m.py": "import n\n\n\ndef f():\n    return n.x\n", "n.py": "x = 1\n"},
    )
    [pair] = pairs_of_change(old, new, changed, {"imports:m.py": {1}})
    assert (pair.kind, pair.new) == (PairKind.IMPORT, "m")


LINES = {("new", "paged.py"): {1, 2, 3, 4, 5, 6, 9, 10}, ("old", "pools.py"): {2, 3}, ("new", "a.cfg"): {1, 2}}


@pytest.mark.parametrize(
    ("pairs", "left"),
    [
        ([], {("new", "a.cfg"): [1, 2], ("new", "paged.py"): [1, 2, 5, 6, 9, 10], ("old", "pools.py"): [2, 3]}),
        ([("pools:Maker.make", PairKind.CALLABLE)], {("new", "a.cfg"): [1, 2], ("new", "paged.py"): [9, 10]}),
    ],
)
def test_lines_that_no_pair_runs(pairs: list[tuple[str, PairKind]], left: dict[tuple[str, str], list[int]]) -> None:
    old, new, changed = EXTRACTED
    known = [Pair(old=name, new=name, kind=kind) for name, kind in pairs]
    assert uncovered(old, new, [*changed, "a.cfg"], known, LINES) == left


def test_importing_a_module_runs_all_but_the_bodies_of_functions() -> None:
    text = (
        "import os\nX = [\n    1,\n]\n\n\n@os.deco\ndef f(a=X):\n    return a\n"
        "\n\nclass C:\n    y = 1\n\n    def g(self):\n        pass\n"
    )
    old, new, changed = trees({"m.py": ""}, {"m.py": text})
    known = [Pair(old="m", new="m", kind=PairKind.IMPORT)]
    assert uncovered(old, new, changed, known, {("new", "m.py"): set(range(1, 20))}) == {("new", "m.py"): [9, 16]}


def test_a_class_is_run_as_a_whole() -> None:
    old, new, changed = trees({"m.py": ""}, {"m.py": "class C:\n    def f(self):\n        pass\n"})
    known = [Pair(old="m:C", new="m:C", kind=PairKind.CLASS)]
    assert uncovered(old, new, changed, known, {("new", "m.py"): {1, 2, 3}}) == {}
