"""Syntax trees that are let go and parsed again change nothing, and no more are kept than was said."""

from __future__ import annotations

import pytest

from codemods.source.files import FileSet, MemoryTree
from codemods.verify import trees
from codemods.verify.names import Names
from tests.support.field_cases import contents
from tests.support.soundness import Case, examined, load_cases


def num_files(case: Case) -> int:
    return sum(path.endswith(".py") for path in contents(case.folder / "after"))


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "KEEP_BYTES", 0)


@pytest.mark.cases
def test_the_ledger_is_the_same_when_hardly_a_tree_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [case for case in load_cases() if num_files(case) > 2]
    assert len(cases) > 50
    usual = {case.id: examined(case) for case in cases}
    monkeypatch.setattr(trees, "KEEP_BYTES", 0)
    assert [case.id for case in cases if examined(case) != usual[case.id]] == []


def test_no_more_text_is_kept_than_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "KEEP_BYTES", 100)
    files = FileSet(MemoryTree({f"m{number}.py": b"x = 1\n" * 5 for number in range(8)}))
    kept = trees.trees_of(files)
    for path in files.paths():
        trees.tree_of(files, path)
    assert list(kept.trees) == ["m5.py", "m6.py", "m7.py"]


@pytest.mark.usefixtures("nothing_kept")
def test_what_holds_nodes_goes_along_with_the_tree() -> None:
    names = Names(FileSet(MemoryTree({"a.py": b"def f():\n    pass\n", "b.py": b"from a import f\n"})))
    before = names.definitions("a.py")["f"]
    names.kinds("a.py")
    names.text("a.py", before)
    assert names.resolve("b.py", "f") == ("top", "a.py", "f")
    assert list(trees.trees_of(names.files).facts) == ["a.py"]
    names.definitions("b.py")
    assert list(trees.trees_of(names.files).facts) == ["b.py"]
    assert names.has(("a.py", "f")), "which needs no tree any more"
    assert list(trees.trees_of(names.files).facts) == ["b.py"]
