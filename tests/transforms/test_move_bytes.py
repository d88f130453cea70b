"""The bytes of a move: newlines, encodings, tabs, joined lines, comments, where text is cut and pasted; and the same ones
whichever process makes them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.schema.refs import DefRef
from codemods.source.files import FileSet, MemoryTree
from codemods.source.locate import find
from codemods.source.splice import Edit
from codemods.transforms.move_block import Changes, piece_of
from codemods.transforms.move_definition import TRANSFORM, MoveArgs
from codemods.transforms.move_tokens import ChangedTokens, check_tokens
from tests.support.trees import tree

ROOT = Path(__file__).parents[2]
METHOD = (
    b"class A:\n    @staticmethod\n    def f():\n        return '''a\nb'''\n\n    def g(self):\n        return A.f()\n"
)

# name, definition, source, target (None: new), source after, target after
CASES: list[tuple[str, str, bytes, bytes | None, bytes, bytes]] = [
    (
        "into CRLF",
        "A.f",
        METHOD,
        b'"""d"""\r\nX = 1\r\n',
        b"import dst\n\n\nclass A:\n    def g(self):\n        return dst.f()\n",
        b"\"\"\"d\"\"\"\r\nX = 1\r\n\r\n\r\ndef f():\r\n    return '''a\r\nb'''\r\n",
    ),
    (
        "out of CRLF",
        "A.f",
        METHOD.replace(b"\n", b"\r\n"),
        b"X = 1\n",
        b"import dst\r\n\r\n\r\nclass A:\r\n    def g(self):\r\n        return dst.f()\r\n",
        b"X = 1\n\n\ndef f():\n    return '''a\nb'''\n",
    ),
    (
        "BOM",
        "f",
        b"import os\n\n\ndef f():\n    return os.sep\n",
        b"\xef\xbb\xbfX = 1\n",
        b"",
        b"\xef\xbb\xbfimport os\n\nX = 1\n\n\ndef f():\n    return os.sep\n",
    ),
    (
        "latin-1",
        "f",
        "def f():\n    return 'é'\n".encode(),
        "# coding: latin-1\nX = 'ü'\n".encode("latin-1"),
        b"",
        "# coding: latin-1\nX = 'ü'\n\n\ndef f():\n    return 'é'\n".encode("latin-1"),
    ),
    ("no last newline there", "f", b"def f():\n    return 1\n", b"X = 1", b"", b"X = 1\n\n\ndef f():\n    return 1"),
    (
        "no last newline here",
        "f",
        b"import os\n\nX = os\n\n\ndef f():\n    return 1",
        None,
        b"import os\n\nX = os",
        b"def f():\n    return 1\n",
    ),
    (
        "tabs into blanks",
        "A.f",
        b"class A:\n\t@staticmethod\n\tdef f():\n\t    return (1,\n\t            2)\n",
        b"def z():\n    return 1\n",
        b"class A:\n\tpass\n",
        b"def z():\n    return 1\n\n\ndef f():\n    return (1,\n            2)\n",
    ),
    (
        "blanks into tabs",
        "f",
        b'def f(x):\n    if x:\n        # why\n        return """a\n    b"""\n    return [\n        x,\n    ]\n',
        b"def z():\n\treturn 1\n",
        b"",
        b'def z():\n\treturn 1\n\n\ndef f(x):\n\tif x:\n\t\t# why\n\t\treturn """a\n    b"""\n\treturn [\n\t\tx,\n\t]\n',
    ),
    (
        "a backslash behind the last token",
        "base",
        b"base = 7 \\\n    # gap\n-3\nleft = 1\n",
        None,
        b"-3\nleft = 1\n",
        b"base = 7 \\\n    # gap\n",
    ),
    (
        "a line that holds only a backslash stays",
        "f",
        b"def f():\n    return 1\n\\\nleft = 2\n",
        None,
        b"\\\nleft = 2\n",
        b"def f():\n    return 1\n",
    ),
    (
        "an import below a joined line",
        "f",
        b"import posixpath\n\n\ndef f():\n    return posixpath.sep\n",
        b"import os\x0c\\\n\n\x0c\nx = os.sep\n",
        b"",
        b"import os\x0c\\\n\nimport posixpath\n\x0c\nx = os.sep\n\n\ndef f():\n    return posixpath.sep\n",
    ),
    (
        "header, docstring, future, import",
        "f",
        b"import os\n\n\ndef f():\n    return os.sep\n",
        b'#!/usr/bin/env python\n# licence\n"""Doc."""\nfrom __future__ import annotations\n\nX = 1\n',
        b"",
        b'#!/usr/bin/env python\n# licence\n"""Doc."""\nfrom __future__ import annotations\n\nimport os\n\nX = 1\n\n\n'
        b"def f():\n    return os.sep\n",
    ),
    (
        "a licence belongs to the file",
        "f",
        b"# Copyright A.\ndef f():\n    return 1\n\n\nX = 1\n",
        b"# Copyright B.\nimport sys\n",
        b"# Copyright A.\n\n\nX = 1\n",
        b"# Copyright B.\nimport sys\n\n\ndef f():\n    return 1\n",
    ),
    (
        "comments around and inside",
        "A.f",
        b"class A:\n    # section\n\n    # about f\n    @staticmethod  # static\n    # between\n    def f(  # open\n        x,\n    ):"
        b"\n        return x  # end\n\n        # inside\n    # outside\n\n    y = 1\n",
        None,
        b"class A:\n    # section\n\n    # outside\n\n    y = 1\n",
        b"# about f\n# between\ndef f(  # open\n    x,\n):\n    return x  # end\n\n    # inside\n",
    ),
    (
        "a formatter's region goes whole",
        "f",
        b"# fmt: off\ndef f():\n    return   1\n# fmt: on\n\n\nX = 1\n",
        None,
        b"X = 1\n",
        b"# fmt: off\ndef f():\n    return   1\n# fmt: on\n",
    ),
    (
        "above the main guard and its comment",
        "f",
        b"def f():\n    return 1\n",
        b"def main(): ...\n\n\n# run\nif __name__ == '__main__':\n    main()\n",
        b"",
        b"def main(): ...\n\n\ndef f():\n    return 1\n\n\n# run\nif __name__ == '__main__':\n    main()\n",
    ),
    (
        "a constant stands with constants",
        "B",
        b"A = 1\n# why\nB = 2  # two\nC = 3\n",
        b"import os\n\nZ = os\n\n\ndef z(): ...\n",
        b"A = 1\nC = 3\n",
        b"import os\n\nZ = os\n\n# why\nB = 2  # two\n\n\ndef z(): ...\n",
    ),
    (
        "odd spellings keep their bytes",
        "f",
        b"def f(x):\n    return 1 if x else(lambda: 2)()\n\n\ndef g(x):\n    try:\n        match(x):\n            case(1):\n"
        b"                return 1\n    except ValueError :\n        return 0\n",
        None,
        b"def g(x):\n    try:\n        match(x):\n            case(1):\n                return 1\n    except ValueError :\n"
        b"        return 0\n",
        b"def f(x):\n    return 1 if x else(lambda: 2)()\n",
    ),
]


def moved(definition: str, source: bytes, target: bytes | None) -> FileSet:
    files = {"src.py": source} if target is None else {"src.py": source, "dst.py": target}
    planned = TRANSFORM.plan(FileSet(MemoryTree(files)), MoveArgs(definition=f"src:{definition}", to="dst"))
    assert planned.files is not None, planned.refusals
    return planned.files


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_bytes(case: tuple[str, str, bytes, bytes | None, bytes, bytes]) -> None:
    _, definition, source, target, source_after, target_after = case
    files = moved(definition, source, target)
    assert files.read("dst.py") == target_after
    assert files.read("src.py") == source_after


def digest() -> str:
    """Every result of this table and of the name tables, as one hash; printed by other processes."""
    from tests.transforms.test_imports_drop import CASES as DROPS
    from tests.transforms.test_move_callers import CASES as CALLERS
    from tests.transforms.test_move_names import CASES as NAMES

    found = hashlib.sha256()
    for _, args, before, _ in (*NAMES, *CALLERS, *DROPS):
        files = TRANSFORM.plan(tree(before), args).files
        assert files is not None
        for path in files.paths():
            found.update(path.encode() + files.read(path))
    return found.hexdigest()


_POOLS = """
import multiprocessing, sys
sys.path.insert(0, ".")
from tests.transforms.test_move_bytes import digest

if __name__ == "__main__":
    found = {multiprocessing.get_context(how).Pool(1).apply(digest) for how in ("fork", "spawn")} | {digest()}
    print(*sorted(found))
"""


def test_same_bytes_in_every_process(tmp_path: Path) -> None:
    script = tmp_path / "pools.py"
    script.write_text(_POOLS)
    printed = set()
    for seed in ("1", "4321"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, str(script)], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert len(printed.pop().split()) == 1


@pytest.mark.parametrize(
    ("pasted", "is_same"),
    [
        (b"def f(x):\n    return f(x + 1)\n", True),
        (b"def f(x):\n    return f(x + 2)\n", False),
        (b"def f(x):\n    return f(x)\n", False),
        (b"def f(x):\n    return g(x + 1)\n", False),
        (b"def f(x):\n    return f(x + 1)\n    # more\n", False),
        (b"@staticmethod\ndef f(x):\n    return f(x + 1)\n", True),
    ],
)
def test_a_changed_token_is_seen(pasted: bytes, is_same: bool) -> None:
    source = b"class A:\n    @staticmethod\n    def f(x):\n        return A.f(x + 1)\n"
    located = find(FileSet(MemoryTree({"src.py": source})), DefRef("src", "A.f"))
    piece = piece_of(located, is_carried=False)
    changes = Changes(own={0: Edit(0, 0, b"")})
    if is_same:
        check_tokens(located.source, piece, pasted, changes)
    else:
        with pytest.raises(ChangedTokens):
            check_tokens(located.source, piece, pasted, changes)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python parses it")
def test_syntax_that_this_python_lacks(tmp_path: Path) -> None:
    source = (
        'class Fmt:\n    def line(self, d):\n        return f"{d["k"]}"\n\n    def other(self):\n        return 1\n'
    )
    (tmp_path / "m.py").write_text(source)
    plan = tmp_path / "plan.toml"
    plan.write_text('id = "x"\n\n[[step]]\ndo = "extract-method"\nmethod = "m:Fmt.other"\nto = "dst"\n')
    command = [sys.executable, "-m", "codemods", "apply", str(plan), "--root", str(tmp_path), "--in-place"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "m.py:3" in done.stderr
    assert (tmp_path / "m.py").read_text() == source
    assert not (tmp_path / "dst.py").exists()
