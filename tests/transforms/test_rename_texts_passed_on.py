"""rename of a member whose name is in a text that reaches `getattr` by way of loops, names, tables and parameters."""

from __future__ import annotations

import pytest

from codemods.schema.plan import Rename
from codemods.transforms.rename import TRANSFORM
from tests.support.trees import codes, tree

HEAD = "# file: m.py\nclass A:\n    def run(self): ...\n    def two(self): ...\n# file: user.py\nfrom m import A\n"
FOLLOWS = {
    "a loop that only looks up": "def f(a: A):\n    for n in ('run', 'two'): getattr(a, n)()\n",
    "a loop that asks first": "def f(a: A):\n    for n in ['run']:\n        if hasattr(a, n): getattr(a, n)()\n",
    "a comprehension": "def f(a: A):\n    any(getattr(a, n) for n in ('run',))\n",
}
STAYS = {
    "a loop that prints it": "def f(a: A):\n    for n in ('run', 'two'): print(n, getattr(a, n)())\n",
    "a dictionary by name": "def f(a: A):\n    return {n: getattr(a, n) for n in ('run', 'two')}\n",
    "two objects": "def f(a: A, b: int):\n    for n in ('run', 'two'): setattr(b, n, getattr(a, n))\n",
    "two objects, ours first": "def f(a: A, b: int):\n    for n in ('run', 'two'): getattr(a, n), getattr(b, n)\n",
    "a name for two objects": "def f(a: A, b: int):\n    n = 'run'\n    getattr(a, n), getattr(b, n)\n",
    "a constant": "NAMES = ('run', 'two')\ndef f(a: A):\n    for n in NAMES: getattr(a, n)()\n",
    "a constant of a class": "class B:\n    NAMES = ['run']\n    def f(self, a: A): return [getattr(a, n) for n in self.NAMES]\n",
    "pairs": "def f(a: A):\n    for n, k in (('run', 1), ('two', 2)): getattr(a, n)()\n",
    "items": "TABLE = {'x': 'run'}\ndef f(a: A):\n    for k, n in TABLE.items(): getattr(a, n)()\n",
    "an item": "TABLE = {'x': 'run'}\ndef f(a: A, k): getattr(a, TABLE[k])()\n",
    "an item or nothing": "TABLE = {'x': 'run'}\ndef f(a: A, k): getattr(a, TABLE.get(k))()\n",
    "one of two": "def f(a: A, flag): getattr(a, 'run' if flag else 'two')()\n",
    "one of two by name": "def f(a: A, flag):\n    n = 'run' if flag else 'two'\n    getattr(a, n)()\n",
    "a default": "def f(a: A, n='run'): getattr(a, n)()\n",
    "a parameter": "def g(a: A, n): getattr(a, n)\ndef f(a: A): g(a, 'run')\n",
    "a parameter of a method": "class B:\n    def g(self, a: A, *, n): getattr(a, n)\n    def f(self, a): self.g(a, n='run')\n",
}
QUIET = {
    "another object": "def f(a: int):\n    for n in ('run', 'two'): getattr(a, n)()\n",
    "another object by a constant": "NAMES = ('run', 'two')\ndef f(a: int):\n    for n in NAMES: getattr(a, n)()\n",
    "another text": "def f(a: A, n): getattr(a, n)\nprint('run')\n",
    "another constant": "ONE, TWO = ['run'], ['two']\ndef f(a: A):\n    for n in TWO: getattr(a, n)\nX = ['run']\n",
}


@pytest.mark.parametrize("name", FOLLOWS)
def test_a_text_that_follows(name: str) -> None:
    planned = TRANSFORM.plan(tree(HEAD + FOLLOWS[name]), Rename(definition="m:A.run", to="go"))
    assert codes(planned) == []
    assert planned.files is not None
    assert b"'go'" in planned.files.read("user.py")


@pytest.mark.parametrize("name", STAYS)
def test_a_text_that_stops_the_step(name: str) -> None:
    planned = TRANSFORM.plan(tree(HEAD + STAYS[name]), Rename(definition="m:A.run", to="go"))
    assert set(codes(planned)) == {"stop U111"}
    assert planned.files is not None
    assert b"'run'" in planned.files.read("user.py")


@pytest.mark.parametrize("name", QUIET)
def test_a_text_that_is_something_else(name: str) -> None:
    files = tree(HEAD + QUIET[name])
    planned = TRANSFORM.plan(files, Rename(definition="m:A.run", to="go"))
    assert planned.files is not None
    assert planned.files.read("user.py") == files.read("user.py")
    assert codes(planned) in ([], ["stop U111"] if "another constant" in name else [])
