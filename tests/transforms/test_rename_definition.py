"""rename of module-level functions, classes and constants, in a whole tree."""

from __future__ import annotations

import pytest

from codemods.schema.plan import Rename
from codemods.source.text import NotText
from codemods.transforms.rename import TRANSFORM
from tests.support.trees import check, codes, tree

STEP = Rename(definition="pkg.core:old", to="new")

CORE = """\
# file: pkg/__init__.py
# file: pkg/core.py
def old(n):
    return n
"""

# name -> (the rest of the tree before, what changes in it)
USES: dict[str, tuple[str, dict[str, str]]] = {
    "imports by name": (
        "# file: a.py\nfrom pkg.core import old\nprint(old(1), x.old, 'old')\n",
        {"import old": "import new", "old(1)": "new(1)"},
    ),
    "an alias stays": (
        "# file: a.py\nfrom pkg.core import old as f\nf(1)\n",
        {"import old": "import new"},
    ),
    "an alias of the same name": (
        "# file: a.py\nfrom pkg.core import old as old\nold(1)\n",
        {"import old as old": "import new as new", "old(1)": "new(1)"},
    ),
    "through modules": (
        "# file: a.py\nimport pkg.core\nimport pkg.core as c\nfrom pkg import core\npkg.core.old, c.old, core.old, d.old\n",
        {"pkg.core.old, c.old, core.old": "pkg.core.new, c.new, core.new"},
    ),
    "in functions": (
        "# file: a.py\ndef f(old):\n    return old\ndef g():\n    from pkg.core import old\n    return old\n",
        {"import old\n    return old": "import new\n    return new"},
    ),
    "relative imports": (
        "# file: pkg/a.py\nfrom .core import (\n    old,  # kept\n    other,\n)\nfrom . import core\nold, core.old\n",
        {"    old,  # kept": "    new,  # kept", "old, core.old": "new, core.new"},
    ),
    "a re-export": (
        "# file: pkg/api.py\nfrom .core import old\n__all__ = ['old']\n# file: a.py\nfrom pkg import api\nfrom pkg.api import old\napi.old\n",
        {
            "from .core import old": "from .core import new",
            "['old']": "['new']",
            "api import old\napi.old": "api import new\napi.new",
        },
    ),
    "a star import": (
        "# file: a.py\nfrom pkg.core import *\nold(1)\n# file: b.py\nimport a\nfrom a import old\na.old\n",
        {"*\nold(1)": "*\nnew(1)", "from a import old\na.old": "from a import new\na.new"},
    ),
    "a name that is taken": (
        "# file: a.py\nfrom pkg.core import old\nnew = 1\nold(new)\n# file: b.py\nfrom a import old\n",
        {"from pkg.core import old": "from pkg.core import new as old"},
    ),
    "a name that is taken in one function": (
        "# file: a.py\nfrom pkg.core import old\ndef f(new): return old(new)\n",
        {"from pkg.core import old": "from pkg.core import new as old"},
    ),
    "a fallback": (
        "# file: a.py\ntry:\n    from pkg.core import old\nexcept ImportError:\n    old = None\n# file: b.py\nfrom a import old\n",
        {"from pkg.core import old": "from pkg.core import new as old"},
    ),
    "quoted types": (
        "# file: a.py\nfrom typing import cast, List\nfrom pkg import core\nfrom pkg.core import old\n"
        "def f(x: 'old', y: 'core.old | None') -> List['old']:\n    return cast('old', x)  # type: old\n",
        {
            "core import old": "core import new",
            "x: 'old', y: 'core.old | None') -> List['old']": "x: 'new', y: 'core.new | None') -> List['new']",
            "cast('old', x)  # type: old": "cast('new', x)  # type: new",
        },
    ),
    "printed text": (
        "# file: a.py\nfrom pkg import core\nfrom pkg.core import old\nf'{old=} {core.old = }'\n",
        {"core import old": "core import new", "f'{old=} {core.old = }'": "f'old={new!r} core.old = {core.new!r}'"},
    ),
    "mocks": (
        "# file: a.py\nfrom pkg.core import old\n# file: test_a.py\nimport a\nfrom pkg import core\n"
        "patch('pkg.core.old'), patch('a.old'), patch.object(core, 'old'), patch('b.old')\n"
        "monkeypatch.setattr(a, 'old', 1), getattr(core, 'old'), patch('pkg.core.old.x')\n",
        {
            "core import old": "core import new",
            "('pkg.core.old'), patch('a.old'), patch.object(core, 'old')": "('pkg.core.new'), patch('a.new'), patch.object(core, 'new')",
            "(a, 'old', 1), getattr(core, 'old'), patch('pkg.core.old.x')": "(a, 'new', 1), getattr(core, 'new'), patch('pkg.core.new.x')",
        },
    ),
    "a mock of a kept name": (
        "# file: a.py\nfrom pkg.core import old\nnew = 1\n# file: test_a.py\npatch('a.old'), patch('pkg.core.old')\n",
        {"core import old": "core import new as old", "patch('pkg.core.old')": "patch('pkg.core.new')"},
    ),
    "documents": (
        "# file: docs/api.rst\n.. autofunction:: pkg.core.old\n\n:func:`~pkg.core.old`, old\n"
        "# file: pyproject.toml\n[project.scripts]\nold = 'pkg.core:old'\n",
        {
            "autofunction:: pkg.core.old": "autofunction:: pkg.core.new",
            "~pkg.core.old": "~pkg.core.new",
            "'pkg.core:old'": "'pkg.core:new'",
        },
    ),
    "what has the same name": (
        "# file: a.py\nfrom other import old\nold(1)\n# file: b.py\nclass old:\n    old = 1\n# file: other.py\ndef old(): ...\n",
        {},
    ),
    "modules by text": (
        "# file: a.py\nimport importlib, sys\nimportlib.import_module('pkg.core').old, sys.modules['pkg.core'].old\n",
        {"('pkg.core').old, sys.modules['pkg.core'].old": "('pkg.core').new, sys.modules['pkg.core'].new"},
    ),
    "a stub": (
        "# file: pkg/core.pyi\ndef old(n: int) -> int: ...\n",
        {"def old(n: int)": "def new(n: int)"},
    ),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_uses(name: str, newline: str) -> None:
    rest, changes = USES[name]
    after = rest
    for old, new in changes.items():
        assert after.count(old) == 1, old
        after = after.replace(old, new)
    planned = check(TRANSFORM, STEP, CORE + rest, CORE.replace("old", "new") + after, newline=newline)
    assert codes(planned) == []


HOME = {
    "recursion": ("def old(n): return old(n - 1)\n", "def new(n): return new(n - 1)\n"),
    "a constant": ("old = 1\nold += 1\nf(old)\n", "new = 1\nnew += 1\nf(new)\n"),
    "global": ("old = 1\ndef f():\n    global old\n    old = 2\n", "new = 1\ndef f():\n    global new\n    new = 2\n"),
    "two definitions": ("if x:\n    def old(): ...\nelse:\n    old = None\n", "if x:\n    def new(): ...\nelse:\n    new = None\n"),
    "a fallback import": (
        "try:\n    from fast import old\nexcept ImportError:\n    def old(): ...\n",
        "try:\n    from fast import old as new\nexcept ImportError:\n    def new(): ...\n",
    ),
    "exports": (
        "__all__ = ['a']\n__all__ += ['old']\n__all__.extend(['old'])\ndef old(): ...\n",
        "__all__ = ['a']\n__all__ += ['new']\n__all__.extend(['new'])\ndef new(): ...\n",
    ),
    "a class attribute of that name": (
        "def old(): ...\nclass C:\n    old = old\n    x = old\n    def m(self): return old, self.old\n",
        "def new(): ...\nclass C:\n    old = new\n    x = old\n    def m(self): return new, self.old\n",
    ),
    "decorators and defaults": (
        "def old(f): return f\n@old\ndef g(x=old): ...\n",
        "def new(f): return f\n@new\ndef g(x=new): ...\n",
    ),
    "docstrings": ('""":func:`old` or pkg.core.old, old"""\ndef old(): ...\n', '""":func:`new` or pkg.core.new, old"""\ndef new(): ...\n'),
    "the own module by name": (
        "def old(): ...\ndef f():\n    from pkg.core import old as g\n    return globals()['old'], __name__\n",
        "def new(): ...\ndef f():\n    from pkg.core import new as g\n    return globals()['new'], __name__\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOME)
def test_the_own_file(name: str) -> None:
    before, after = HOME[name]
    head = "# file: pkg/__init__.py\n# file: pkg/core.py\n"
    check(TRANSFORM, STEP, head + before, head + after)


def test_a_class_takes_its_pickles_along_only_by_hand() -> None:
    planned = check(
        TRANSFORM,
        Rename(definition="m:Old", to="New"),
        "# file: m.py\nclass Old: ...\n# file: t.py\npatch('m.Old.f')\n",
        "# file: m.py\nclass New: ...\n# file: t.py\npatch('m.New.f')\n",
    )
    assert codes(planned) == ["note U110"]


HAZARDS = [
    ("T = {'a': 'pkg.core.old'}", ["stop U111"]),
    ("print('uses pkg.core.old')", ["note U111"]),
    ("getattr(core, f'o{x}')", []),
    ("from pkg import core\ngetattr(core, f'ol_{x}')", []),
    ("print(core.old.__name__)", ["stop U110"]),
]


@pytest.mark.parametrize(("line", "expected"), HAZARDS)
def test_hazards(line: str, expected: list[str]) -> None:
    head = CORE + "def use():\n    return old.__name__\n" if "__name__" in line else CORE
    planned = TRANSFORM.plan(tree(head + f"# file: a.py\n{line}\n"), STEP)
    assert codes(planned) == expected


def test_kept_strings_are_reported_and_exports_follow_all_the_same() -> None:
    before = CORE + "__all__ = ['old']\n# file: t.py\npatch('pkg.core.old')\n# file: d.rst\n:func:`pkg.core.old`\n"
    after = "# file: pkg/core.py\ndef new(n):\n    return n\n__all__ = ['new']\n"
    planned = check(TRANSFORM, Rename(definition="pkg.core:old", to="new", strings="keep"), before, after)
    assert codes(planned) == ["note U111", "stop U111"]


REFUSALS = [
    ("def old(): ...\nnew = 1\n", "U107"),
    ("def old(): ...\ndef f(new): return old\n", "U107"),
    ("def old(): ...\ndef f(): return new\n", "U107"),
    ("from x import old\n", "not-defined-here"),
    ("def older(): ...\n", "unknown-definition"),
    ("def old(): ...\nclass C:\n    if x:\n        old = 1\n    y = old\n", "U107"),
    ("def old(): ...\nclass C:\n    old += 1\n", "U107"),
]


@pytest.mark.parametrize(("text", "code"), REFUSALS)
def test_refusals(text: str, code: str) -> None:
    planned = TRANSFORM.plan(tree(f"# file: pkg/__init__.py\n# file: pkg/core.py\n{text}"), STEP)
    assert {each.code for each in planned.refusals} == {code}
    assert planned.files is None


def test_a_star_import_that_captures_or_loses_the_name() -> None:
    captured = CORE + "# file: a.py\nfrom pkg.core import *\ndef f(new): return old\n"
    assert codes(TRANSFORM.plan(tree(captured), STEP)) == ["refused U107"]
    lost = CORE + "# file: a.py\nfrom pkg.core import *\nold\n"
    assert codes(TRANSFORM.plan(tree(lost), Rename(definition="pkg.core:old", to="_new"))) == ["refused U119"]


def test_names_with_two_underscores_inside_classes() -> None:
    text = "# file: m.py\ndef old(): ...\nclass C:\n    def m(self): return old()\n"
    planned = TRANSFORM.plan(tree(text), Rename(definition="m:old", to="__old"))
    assert codes(planned) == ["refused U107"]


def test_a_fixture_and_a_test_are_found_by_name() -> None:
    fixture = "# file: conftest.py\nimport pytest\n@pytest.fixture\ndef old(): ...\n"
    assert codes(TRANSFORM.plan(tree(fixture), Rename(definition="conftest:old", to="new"))) == ["stop U119"]
    test = "# file: test_m.py\ndef test_old(): ...\n"
    assert codes(TRANSFORM.plan(tree(test), Rename(definition="test_m:test_old", to="old"))) == ["stop U119"]
    assert codes(TRANSFORM.plan(tree(test), Rename(definition="test_m:test_old", to="test_new"))) == []


def test_a_builtin_that_somebody_reads() -> None:
    step = Rename(definition="m:old", to="print")
    assert codes(TRANSFORM.plan(tree("# file: m.py\ndef old(): ...\n"), step)) == []
    assert codes(TRANSFORM.plan(tree("# file: m.py\ndef old(): ...\nprint(1)\n"), step)) == ["refused U107"]


def test_bytes_that_are_not_plain_utf_8_stay() -> None:
    files = {
        "pkg/__init__.py": b"",
        "pkg/core.py": b"\xef\xbb\xbfdef old(): return '\xc3\xa9'\r\n\x0c\r\nx = '\xc3\xa9', old\t# no newline",
        "a.py": b"# -*- coding: latin-1 -*-\nfrom pkg.core import old\ns = '\xe9', old('\xe9 old')\n",
    }
    planned = TRANSFORM.plan(tree(files), STEP)
    assert planned.files is not None
    assert planned.files.read("pkg/core.py") == files["pkg/core.py"].replace(b"old", b"new")
    assert planned.files.read("a.py") == (
        b"# -*- coding: latin-1 -*-\nfrom pkg.core import new\ns = '\xe9', new('\xe9 old')\n"
    )


def test_a_name_that_the_encoding_of_a_file_lacks() -> None:
    files = {"m.py": b"# coding: latin-1\ndef old(): ...\n"}
    with pytest.raises(NotText):
        TRANSFORM.plan(tree(files), Rename(definition="m:old", to="\u0434\u0430"))
