"""What is read of classes and functions without parsing whole files, and the one search for lines of the tree."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from codemods.repo.commit_files import CommitFiles
from codemods.repo.store import ObjectStore
from codemods.source.files import FileSet, MemoryTree
from codemods.verify.asked_lines import Asked
from codemods.verify.change import TreeChange, between
from codemods.verify.class_text import class_in
from codemods.verify.steady import is_steady
from codemods.verify.tree_lines import TreeLines


def test_a_class_is_found_by_its_text() -> None:
    text = b"""\
x = 1


@dataclass(frozen=True)
class A(B[int], m.C, metaclass=M):
    n: int
    t: str = ""

    @property
    def p(self):
        return 1

    k = property(p)


y = 2
"""
    klass = class_in("a.py", text, "A")
    assert klass is not None
    assert klass.bases == ("B", "m.C")
    assert klass.is_data and klass.is_frozen
    assert [set(klass.kinds(name)) for name in ("n", "t", "p", "k", "y", "x")] == [
        {"field"}, {"field"}, {"computed"}, {"computed"}, set(), set()
    ]  # fmt: skip
    node = klass.method("p")
    assert isinstance(node, ast.FunctionDef) and node.lineno == 10
    assert klass.method_at(11) == "p"


@pytest.mark.parametrize(
    ("body", "steady"),
    [
        ("@lru_cache\ndef f():\n    return dice()\n", True),
        ("def f() -> bool:\n    return torch.version.hip is not None\n", True),
        (
            "def f():\n    name = platform.machine().lower()\n    return name in ('arm64',) and cpu.is_available()\n",
            True,
        ),
        ("def f():\n    return next(COUNTER)\n", False),
        ("def f():\n    return time.time()\n", False),
        ("def f():\n    return os.environ['A'] == '1'\n", False),
        ("_on = False\n\n\ndef f():\n    return _on\n\n\ndef g():\n    global _on\n    _on = True\n", False),
        ("@retry\ndef f():\n    return 1\n", False),
    ],
)
def test_a_function_that_keeps_its_answer(body: str, steady: bool) -> None:
    assert is_steady(body.encode(), "f") is steady


def test_a_repository_is_searched_for_the_same_lines(tmp_path: Path) -> None:
    files = {
        "a.py": "class A(B):\n    def f(self):\n        self.x = 1\n",
        "b.txt": "class B(A): .x =\n",
        "c.py": "y.x, z = 1\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    for argv in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m"]):
        subprocess.run(["git", *argv], cwd=tmp_path, check=True)
    said = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=tmp_path, check=True, capture_output=True, text=True)
    with ObjectStore(tmp_path / ".git") as store:
        base = FileSet(CommitFiles(store, said.stdout.strip()))
        found = TreeLines(TreeChange(old=base, new=base, changes=()), Asked(written={"x"}))
        memory = FileSet(MemoryTree({path: text.encode() for path, text in files.items()}))
        plain = TreeLines(between(memory, memory), Asked(written={"x"}))
        assert [found.saying(name) for name in "Axfz"] == [plain.saying(name) for name in "Axfz"]
        assert [(hit.path, hit.number, receiver) for hit, receiver in found.writes("x")] == [
            ("a.py", 3, "self"),
            ("c.py", 1, "y"),
        ]
