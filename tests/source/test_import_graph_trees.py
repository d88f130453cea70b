"""Two trees with the same files and other texts: what one imports is not taken for what the other does."""

from __future__ import annotations

from codemods.source.files import FileSet, MemoryTree
from codemods.source.import_graph import cycle


def test_trees_of_the_same_files_share_no_imports() -> None:
    plain = {"pkg/__init__.py": b"", "pkg/a.py": b"X = 1\n", "pkg/b.py": b"Y = 2\n"}
    joined = {**plain, "pkg/b.py": b"from pkg.a import X\n"}
    for texts, expected in ((plain, []), (joined, ["pkg/b.py", "pkg/a.py"]), (plain, [])):
        assert cycle(FileSet(MemoryTree(dict(texts))), "pkg/a.py", "pkg/b.py") == expected
