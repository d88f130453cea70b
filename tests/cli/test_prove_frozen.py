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


@pytest.mark.parametrize("new", ["app.runner:R.f", "app/leaf.py:f"])
def test_what_only_the_new_side_reaches_is_part_of_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new: str
) -> None:
    tree = Counting(NEW)
    with Trees(tmp_path, Settings()) as trees:
        sides = {"old": FileSet(MemoryTree(OLD)), "": FileSet(tree)}
        monkeypatch.setattr(trees, "files", sides.__getitem__)
        change = partial_change(trees, [Pair(old="app.runner:R.f", new=new, origin="spec")], ("old", ""))
    assert set(change.changed) == {"app/runner.py", "app/leaf.py", "app/deep.py"}
    assert [pair.new.partition(":")[0] for pair in change.pairs] == ["app.leaf" if "leaf" in new else "app.runner"]
    assert not {"app/far.py", "other/far.py"} & tree.seen


def test_what_both_sides_use_is_one_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the old side lacked every file that was not frozen with it, so each call of one differed."""
    shared = b"from app import far\n\n\n"
    old = {"app/runner.py": shared + b"class R:\n    def f(self):\n        return far.y\n"}
    new = {**NEW, "app/runner.py": shared + NEW["app/runner.py"]}
    with Trees(tmp_path, Settings()) as trees:
        sides = {"old": FileSet(MemoryTree(old)), "": FileSet(MemoryTree(new))}
        monkeypatch.setattr(trees, "files", sides.__getitem__)
        change = partial_change(trees, [Pair(old="app.runner:R.f", new="app.runner:R.f", origin="spec")], ("old", ""))
    assert "app/far.py" not in change.changed
    assert change.old.read("app/far.py") == change.new.read("app/far.py")
    assert change.old.read("app/runner.py") == old["app/runner.py"]


@pytest.mark.parametrize(
    ("names", "is_it"),
    [(("golden/x", ""), True), (("git:HEAD", ""), False), (("", ""), False), (("a", "b"), False)],
)
def test_only_a_directory_beside_the_root_is_partial(names: tuple[str, str], is_it: bool) -> None:
    assert is_partial(names) is is_it
