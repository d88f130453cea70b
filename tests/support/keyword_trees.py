"""Small trees in memory for tests of plans and transforms."""

from __future__ import annotations

from textwrap import dedent

from codemods.source.files import FileSet, MemoryTree


def tree(**files: str) -> FileSet:
    """Files by name: `pkg__mod` is pkg/mod.py, `pkg` alone gets an __init__.py with the text. Texts are dedented."""
    found: dict[str, bytes] = {}
    for name, text in files.items():
        path = name.replace("__", "/") + ".py"
        found[path] = dedent(text).lstrip("\n").encode()
        for parent in _parents(path):
            found.setdefault(f"{parent}/__init__.py", b"")
    return FileSet(MemoryTree(found))


def text(files: FileSet, path: str) -> str:
    """A file of the tree as text."""
    return files.read(path).decode()


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
