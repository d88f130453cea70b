"""What a move does not do, and what it reports although it does it: codes, by input."""

from __future__ import annotations

import pytest

from codemods.transforms.move_definition import TRANSFORM, MoveArgs
from tests.support.trees import codes, tree

STOPS = [
    (
        "inside if",
        "import sys\nif sys.maxsize:\n    def f():\n        return 1\n",
        "f",
        "",
        "refused conditional-definition",
    ),
    ("on a shared line", "X = 1; Y = 2\n", "X", "", "refused shared-line"),
    ("several names", "X = Y = 1\n", "X", "", "refused several-names"),
    ("no value", "X: int\n", "X", "", "refused no-value"),
    (
        "a torn region",
        "def f():\n    # fmt: off\n    return   1\n\n\nX = 1\n# fmt: on\n",
        "f",
        "",
        "refused split-region",
    ),
    ("an instance method", "class A:\n    def f(self):\n        return 1\n", "A.f", "", "refused not-static"),
    ("a class attribute", "class A:\n    X = 1\n", "A.X", "", "refused not-static"),
    ("bound again", "X = 1\n\n\ndef g():\n    global X\n    X = 2\n", "X", "", "refused rebound"),
    ("augmented", "X = [1]\nX += [2]\n", "X", "", "refused rebound"),
    ("writes state that stays", "X = 1\n\n\ndef f():\n    global X\n    X = 2\n", "f", "", "refused module-state"),
    (
        "reads rebound state",
        "X = 1\n\n\ndef f():\n    return X\n\n\ndef g():\n    global X\n    X = 2\n",
        "f",
        "",
        "stop U101",
    ),
    (
        "a default of the class",
        "class A:\n    L = 3\n\n    @staticmethod\n    def f(x=L):\n        return x\n",
        "A.f",
        "",
        "stop U114",
    ),
    ("the module's names", "def f():\n    return globals()\n", "f", "", "stop U110"),
    ("evaluated text", "def f(text):\n    return eval(text)\n", "f", "", "stop U110"),
    ("its file", "def f():\n    return __file__\n", "f", "", "stop U110"),
    ("a star that nobody knows", "from attr import *\n\n\ndef f():\n    return evolve\n", "f", "", "stop U107"),
    (
        "a probe in a part of a line",
        "try:\n    import gone\nexcept ImportError:\n    pass\n\n\ndef f():\n    return 1 if gone else 2 or gone\n",
        "f",
        "",
        "",
    ),
    (
        "a probe behind a test",
        "try:\n    import gone\n    H = 1\nexcept ImportError:\n    H = 0\n\n\ndef f():\n    return gone.x if H else 0\n",
        "f",
        "",
        "stop U102",
    ),
    (
        "state of a script",
        "S = []\n\n\ndef f():\n    return S\n\n\nif __name__ == '__main__':\n    f()\n",
        "f",
        "",
        "stop U109",
    ),
    (
        "registered where it stands",
        "from reg import register\n\n\n@register\ndef f():\n    return 1\n",
        "f",
        "",
        "stop U109",
    ),
    ("taken there", "def f():\n    return 1\n", "f", "f = 2\n", "stop U107"),
    ("bound there later", "def f():\n    return 1\n", "f", "def g():\n    global f\n    f = 2\n", "stop U107"),
    (
        "a builtin used there",
        "def filter():\n    return 1\n",
        "filter",
        "def g(x):\n    return filter(None, x)\n",
        "stop U107",
    ),
    ("a builtin hidden there", "def f(xs):\n    return max(xs)\n", "f", "def max(xs):\n    return 0\n", "stop U107"),
    (
        "needed at import",
        "def deco(f):\n    return f\n\n\n@deco\ndef f():\n    return 1\n\n\nX = f()\n",
        "f",
        "",
        "stop U108",
    ),
    (
        "annotations would run",
        "from __future__ import annotations\n\n\nclass L: ...\n\n\ndef f(x: L):\n    return x\n\n\nX = f(1)\n",
        "f",
        "Z = 1\n",
        "stop U114",
    ),
    (
        "a type in a comment",
        "from typing import List\n\n\ndef f():\n    x = []  # type: List[int]\n    return x\n",
        "f",
        "",
        "note U114",
    ),
    ("a pickle's path", "class C:\n    pass\n", "C", "", "note U110"),
    ("not in its encoding", "def f():\n    return '→'\n", "f", "# coding: latin-1\n", "refused not-text"),
]


@pytest.mark.parametrize(("what", "source", "name", "target", "code"), STOPS, ids=[case[0] for case in STOPS])
def test_codes(what: str, source: str, name: str, target: str, code: str) -> None:
    del what
    text = f"# file: src.py\n{source}" + (f"# file: dst.py\n{target}" if target else "")
    planned = TRANSFORM.plan(tree(text), MoveArgs(definition=f"src:{name}", to="dst", call="name"))
    found = codes(planned)
    assert code in found if code else not [each for each in found if not each.startswith("note")]


NEW = [
    ("hides the standard library", "# file: src.py\ndef f(): ...\n", "random", ["stop U107"]),
    (
        "hides a name of its package",
        "# file: p/__init__.py\nt = 1\n# file: src.py\ndef f(): ...\n",
        "p.t",
        ["stop U107"],
    ),
    ("has no package", "# file: src.py\ndef f(): ...\n", "nope.t", ["refused unknown-package"]),
    ("is the same", "# file: src.py\ndef f(): ...\n", "src", ["refused same-module"]),
]


@pytest.mark.parametrize(("what", "text", "to", "expected"), NEW, ids=[case[0] for case in NEW])
def test_a_destination_that(what: str, text: str, to: str, expected: list[str]) -> None:
    del what
    assert codes(TRANSFORM.plan(tree(text), MoveArgs(definition="src:f", to=to))) == expected


def test_an_importer_that_would_close_a_cycle() -> None:
    text = "# file: src.py\ndef f(): ...\n# file: dst.py\nimport u\n# file: u.py\nfrom src import f\n\n\ndef g():\n    return f()\n"
    planned = TRANSFORM.plan(tree(text), MoveArgs(definition="src:f", to="dst"))
    assert ("stop U108", "u.py") in {(f"{each.severity.value} {each.code}", each.path) for each in planned.hazards}


def test_a_reexport_that_would_close_a_cycle() -> None:
    text = "# file: src.py\ndef f(): ...\n\n\nclass K: ...\n# file: dst.py\nimport u\n# file: u.py\nfrom src import K\n"
    planned = TRANSFORM.plan(tree(text), MoveArgs(definition="src:f", to="dst", reexport=True))
    assert "stop U108" in codes(planned)
