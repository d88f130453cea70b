"""Who goes by a name without reading the variable; and whether a rename has been done already."""

from __future__ import annotations

import pytest

from codemods.schema.plan import Rename
from codemods.transforms.rename import TRANSFORM, is_renamed, words
from tests.support.trees import codes, tree

BY_NAME = [
    ("def old(): ...\nf(old.__name__)\n", ["stop U110"]),
    ("def register(f): T[f.__name__] = f\n@register\ndef old(): ...\n", ["stop U110"]),
    ("def register(f): return f\n@register\ndef old(): ...\n", []),
    ("import functools\n@functools.cache\ndef old(): ...\n", []),
    ("import app\n@app.command()\ndef old(): ...\n", ["note U112"]),
    ("import pytest\n@pytest.fixture(name='x')\ndef old(): ...\n", ["note U112"]),
    (
        "class Base:\n    def __init_subclass__(cls): T[cls.__name__] = cls\nclass old(Base): ...\n",
        ["note U110", "stop U110"],
    ),
    ("class Base:\n    def __init_subclass__(cls): T.append(cls)\nclass old(Base): ...\n", ["note U110"]),
    ("from collections import namedtuple\nold = namedtuple('old', 'a b')\n", ["note U110"]),
    ("old = f('new')\n", []),
    ("def __getattr__(name): ...\n", ["stop U104"]),
]


@pytest.mark.parametrize(("text", "expected"), BY_NAME)
def test_by_name(text: str, expected: list[str]) -> None:
    old = "__getattr__" if "__getattr__" in text else "old"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), Rename(definition=f"m:{old}", to="new"))
    assert codes(planned) == expected


def test_a_decorated_method() -> None:
    text = "# file: m.py\ndef register(f): T[f.__name__] = f\nclass A:\n    @register\n    def old(self): ...\n"
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.old", to="new"))) == ["stop U110"]


DONE = [
    ("def new(): ...\n", "m:old", True),
    ("def new(): ...\ndef old(): ...\n", "m:old", False),
    ("def other(): ...\n", "m:old", False),
    ("class A:\n    def f(self): self.new = 1\n", "m:A.old", True),
    ("class A:\n    def f(self): self.new = self.old = 1\n", "m:A.old", False),
    ("def f(new):\n    return [old for old in new]\n", "m:f.old", True),
    ("def f(old):\n    new = old\n", "m:f.old", False),
    ("x = 1\n", "m:f.old", False),
]


@pytest.mark.parametrize(("text", "definition", "expected"), DONE)
def test_whether_it_is_done(text: str, definition: str, expected: bool) -> None:
    assert is_renamed(tree(f"# file: m.py\n{text}"), Rename(definition=definition, to="new")) is expected


def test_whether_a_module_is_renamed() -> None:
    files = tree("# file: pkg/__init__.py\n# file: pkg/new.py\n")
    assert is_renamed(files, Rename(definition="pkg.old", to="pkg.new"))
    assert not is_renamed(files, Rename(definition="pkg.new", to="pkg.old"))


def test_words() -> None:
    assert words(Rename(definition="pkg.m:C.f", to="g")).subject == "Rename C.f to g"
    assert words(Rename(definition="pkg.m", to="pkg.n")).subject == "Rename module pkg.m to pkg.n"
