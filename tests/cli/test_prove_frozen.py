"""A few old files against the tree that is worked on: which files are part of the change, which are not even read."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.cli.prove_frozen import is_partial, partial_change
from codemods.cli.prove_trees import Trees
from codemods.schema.config import Settings
from codemods.schema.prove import Pair
from codemods.source.files import FileSet, MemoryTree

OLD = {
    "app/runner.py": b"class R:\n    def f(self):\n        return 1\n",
    "app/same.py": b"x = 1\n",
    "app/__init__.py": b"",
}
NEW = {
    "app/__init__.py": b"",
    "app/runner.py": b"from app import leaf\n\n\nclass R:\n    def f(self):\n        return leaf.f()\n",
    "app/same.py": b"x = 1\n",
    "app/leaf.py": b"from app.deep import one\n\n\ndef f():\n    return one()\n",
    "app/deep.py": b"def one():\n    return 1\n",
    "app/far.py": b"y = 2\n",
    "other/far.py": b"broken (",
}


class Counting(MemoryTree):
    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(files)
        self.seen: set[str] = set()

    def read(self, path: str) -> bytes:
        self.seen.add(path)
        return super().read(path)


@pytest.mark.parametrize(
    ("new", "near"), [("app.runner:R.f", {"app/leaf.py"}), ("app/leaf.py:f", {"app/leaf.py", "app/deep.py"})]
)
def test_what_is_part_of_the_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: str, near: set[str]) -> None:
    tree = Counting(NEW)
    with Trees(tmp_path, Settings()) as trees:
        sides = {"old": FileSet(MemoryTree(OLD)), "": FileSet(tree)}
        monkeypatch.setattr(trees, "files", sides.__getitem__)
        change = partial_change(trees, [Pair(old="app.runner:R.f", new=new, origin="spec")], ("old", ""))
    assert set(change.changed) == {"app/runner.py", *near}
    assert [pair.new.partition(":")[0] for pair in change.pairs] == ["app.leaf" if "leaf" in new else "app.runner"]
    assert not {"app/far.py", "other/far.py"} & tree.seen


@pytest.mark.parametrize(
    ("names", "is_it"),
    [(("golden/x", ""), True), (("git:HEAD", ""), False), (("", ""), False), (("a", "b"), False)],
)
def test_only_a_directory_beside_the_root_is_partial(names: tuple[str, str], is_it: bool) -> None:
    assert is_partial(names) is is_it
