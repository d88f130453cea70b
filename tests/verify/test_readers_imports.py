"""Readers of names and modules that are gone, and calls that no longer fit: each found, and what looks alike is not."""

from __future__ import annotations

import pytest

from tests.support.left_behind import Edit, places, problems

TOOLS = """# file: pkg/__init__.py
# file: pkg/tools.py
import os

LIMIT = 3


def helper(x):
    return x


def other():
    return os.sep
"""
HELPER = "def helper(x):\n    return x\n"
DROP: Edit = ("pkg/tools.py", HELPER, "")
MOVE: list[Edit] = [DROP, ("pkg/place.py", "", HELPER)]


def reader(text: str, path: str = "pkg/use.py") -> str:
    return f"{TOOLS}# file: {path}\n{text}"


FOUND = {
    "import": ("from pkg.tools import helper\n", 1),
    "import under another name": ("from pkg.tools import helper as h\n", 1),
    "import in a function": ("def f():\n    from pkg.tools import helper\n", 2),
    "one of several": ("from pkg.tools import (\n    other,\n    helper,\n)\n", 3),
    "relative": ("from .tools import helper\n", 1),
    "through the module": ("from pkg import tools\n\ntools.helper(1)\n", 3),
    "through the full name": ("import pkg.tools\n\npkg.tools.helper(1)\n", 3),
    "through an alias": ("import pkg.tools as t\n\nt.helper(1)\n", 3),
    "star": ("from pkg.tools import *\n\nprint(helper(1))\n", 3),
    "patch": ("from unittest.mock import patch\n\npatch('pkg.tools.helper')\n", 3),
    "entry point in code": ("ENTRY = 'pkg.tools:helper'\n", 1),
    "patch.object": ("from unittest.mock import patch\nfrom pkg import tools\npatch.object(tools, 'helper')\n", 3),
    "getattr": ("from pkg import tools\n\ngetattr(tools, 'helper')(1)\n", 3),
    "under try": ("try:\n    from pkg.tools import helper\nexcept ImportError:\n    helper = None\n", 2),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_reader_of_a_name_is_found(name: str) -> None:
    text, line = FOUND[name]
    assert places(reader(text), *MOVE) == [f"U119 pkg/use.py:{line}"]


def test_an_import_that_is_caught_is_said_so() -> None:
    found = problems(reader(FOUND["under try"][0]), *MOVE)
    assert [each.message for each in found] == [
        "helper is still imported, and its failure caught; pkg.tools no longer has it"
    ]


def test_the_module_itself_and_its_list_of_exports() -> None:
    text = TOOLS.replace("return os.sep", "return helper(os.sep)").replace("LIMIT = 3", "__all__ = ['helper', 'other']")
    assert places(text, DROP) == ["U119 pkg/tools.py:3", "U119 pkg/tools.py:9"]


def test_an_import_that_is_dropped_and_still_read() -> None:
    assert places(TOOLS, ("pkg/tools.py", "import os\n", "")) == ["U119 pkg/tools.py:10"]


HIDDEN = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import os\n"


def test_an_import_that_only_type_checkers_see_from_now_on() -> None:
    text = TOOLS + "# file: pkg/use.py\nfrom pkg.tools import os\n"
    assert places(text, ("pkg/tools.py", "import os\n", HIDDEN)) == ["U119 pkg/tools.py:14", "U119 pkg/use.py:1"]


def test_what_only_type_checkers_read_may_be_hidden_from_the_rest() -> None:
    text = TOOLS.replace("import os\n", "from __future__ import annotations\nimport os\n").replace(
        "return os.sep", "x: os.PathLike"
    )
    text += "# file: pkg/use.py\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.tools import os\n"
    assert places(text, ("pkg/tools.py", "import os\n", HIDDEN)) == []


def test_an_import_that_others_take_from_here() -> None:
    text = reader("from pkg.tools import os\n").replace("    return os.sep", "    return 1")
    assert places(text, ("pkg/tools.py", "import os\n", "")) == ["U119 pkg/use.py:1"]


def test_a_name_taken_from_a_package() -> None:
    text = TOOLS.replace("pkg/__init__.py\n", "pkg/__init__.py\nfrom pkg.tools import helper\n")
    text += "# file: pkg/use.py\nfrom . import helper\n# file: far.py\nfrom pkg import helper\n"
    drop = ("pkg/__init__.py", "from pkg.tools import helper\n", "")
    assert places(text, drop) == ["U119 far.py:1", "U119 pkg/use.py:1"]


def test_entry_points() -> None:
    text = TOOLS + '# file: pyproject.toml\n[project.scripts]\nrun = "pkg.tools:helper"\n'
    assert places(text, DROP) == ["U119 pyproject.toml:2"]


SILENT = {
    "another name": "from pkg.tools import other\n",
    "another module": "from pkg.place import helper\n",
    "a name of its own": "def helper(x): ...\n\nhelper(1)\n",
    "star that brings nothing read": "from pkg.tools import *\n\nprint(other())\n",
    "star, and bound here": "from pkg.tools import *\n\n\ndef helper(x): ...\n\n\nhelper(1)\n",
    "attribute of something else": "def f(tools):\n    return tools.helper\n",
    "prose": '"""See pkg.tools.helper."""\n# from pkg.tools import helper\n',
    "another dotted name": "X = 'other.pkg.tools.helper'\nY = 'pkg.tools.helpers'\n",
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_no_reader_of_a_name(name: str) -> None:
    assert places(reader(SILENT[name]), *MOVE) == []


@pytest.mark.parametrize(
    "kept",
    [
        "from pkg.place import helper\n",
        "from pkg.place import *\n",
        "from pkg.place import helper as helper\n",
        "def __getattr__(name):\n    return None\n",
        "if True:\n    from pkg.place import helper\n",
        "from outside import *\n",
        "import sys\n\nsys.modules[__name__] = make()\n",
        "globals().update(make())\n",
    ],
)
def test_a_name_that_the_module_still_gives(kept: str) -> None:
    text = reader("from pkg.tools import helper\n")
    assert places(text, ("pkg/tools.py", HELPER, kept), ("pkg/place.py", "", HELPER)) == []


# -- modules


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import pkg.tools\n", 1),
        ("import pkg.tools as t\n", 1),
        ("from pkg.tools import other\n", 1),
        ("from pkg import tools\n", 1),
        ("from . import tools\n", 1),
        ("from importlib import import_module\nimport_module('pkg.tools')\n", 2),
        ("from unittest.mock import patch\npatch('pkg.tools.other')\n", 2),
    ],
)
def test_a_module_that_is_gone(text: str, line: int) -> None:
    assert places(reader(text), ("pkg/tools.py", "", "")) == [f"U119 pkg/use.py:{line}"]


@pytest.mark.parametrize(
    "text", ["import tools\n", "from pkg import use\n", "'''pkg.tools'''\n", "X = 'pkg.toolset'\n"]
)
def test_what_names_no_module_that_is_gone(text: str) -> None:
    assert places(reader(text), ("pkg/tools.py", "", "")) == []


def test_a_module_in_configuration() -> None:
    text = TOOLS + "# file: tox.ini\n[testenv]\ncommands = python -m pkg.tools\n"
    text += "# pkg.tools\n; pkg.tools\nx = 1 # pkg.tools\n"
    assert places(text, ("pkg/tools.py", "", "")) == ["U119 tox.ini:2"]


def test_a_module_that_becomes_a_package_is_not_gone() -> None:
    body = TOOLS.split("# file: pkg/tools.py\n")[1]
    edits: list[Edit] = [("pkg/tools.py", "", ""), ("pkg/tools/__init__.py", "", body)]
    assert places(reader("from pkg.tools import helper\n"), *edits) == []


# -- calls


@pytest.mark.parametrize(
    ("now", "call", "why"),
    [
        ("def helper(x, *, device):", "helper(1)", "missing argument 'device'"),
        ("def helper(x, y):", "helper(1)", "missing argument 'y'"),
        ("def helper():", "helper(1)", "1 positional arguments for 0"),
        ("def helper(value):", "helper(x=1)", "unknown argument 'x'"),
        ("def helper(*, x):", "helper(1)", "1 positional arguments for 0"),
        ("def helper():", "helper(**{'a': 1}, x=2)", "unknown argument 'x'"),
    ],
)
def test_a_call_that_does_not_fit(now: str, call: str, why: str) -> None:
    text = reader(f"from pkg.tools import helper\n\n{call}\n")
    found = problems(text, ("pkg/tools.py", "def helper(x):", now))
    assert [each.message for each in found if each.line == 3] == [f"helper(…) does not fit its new signature: {why}"]
    assert {each.code for each in found} == {"U121"}


@pytest.mark.parametrize(
    ("now", "call"),
    [
        ("def helper(x, device=None):", "helper(1)"),
        ("def helper(x, *rest):", "helper(1, 2)"),
        ("def helper(x, y):", "helper(*[1, 2])"),
        ("def helper(x, y):", "helper(**{})"),
        ("def helper(x, **rest):", "helper(1, a=2)"),
        ("def helper(x, y):", "helper(1, 2)"),
        ("def helper(x, y):", "(lambda helper: helper(1))"),
        ("@decorate\ndef helper(x, y):", "helper(1)"),
    ],
)
def test_a_call_that_may_fit(now: str, call: str) -> None:
    assert places(reader(f"from pkg.tools import helper\n\n{call}\n"), ("pkg/tools.py", "def helper(x):", now)) == []


CLASSES = """# file: made.py
from dataclasses import dataclass


@dataclass
class Size:
    width: int
    height: int = 1


class Runner:
    def __init__(self, rank):
        self.rank = rank

    def go(self, n):
        return n

    def run(self):
        return self.go(1)


class Heir(Runner):
    def __init__(self):
        super().__init__(1)
# file: use.py
from made import Heir, Runner, Size


def f(x: Runner, y: Heir, z):
    Size(1, height=2)
    Runner(1)
    Heir()
    x.go(1)
    y.go(1)
    z.go(1)
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("    height: int = 1\n", "", ["U121 use.py:5"]),
        ("    height: int = 1\n", "    height: int = 1\n    depth: int = 2\n", []),
        ("width: int\n", "width: int\n    depth: int\n", ["U121 use.py:5"]),
        ("__init__(self, rank)", "__init__(self, rank, size)", ["U121 made.py:23", "U121 use.py:6"]),
        ("go(self, n)", "go(self, n, m)", ["U121 made.py:18", "U121 use.py:8", "U121 use.py:9"]),
        ("go(self, n)", "go(self, n, m=1)", []),
    ],
)
def test_constructors_fields_and_methods(old: str, new: str, expected: list[str]) -> None:
    assert places(CLASSES, ("made.py", old, new)) == expected


def test_an_override_may_take_what_the_base_does_not() -> None:
    text = CLASSES.replace("        super().__init__(1)\n", "        super().__init__(1)\n\n    def go(self, n): ...\n")
    assert places(text, ("made.py", "go(self, n):\n        return", "go(self, n, m):\n        return")) == []


def test_a_call_that_never_fitted_is_no_news() -> None:
    text = reader("from pkg.tools import helper\n\nhelper()\n")
    assert places(text, ("pkg/tools.py", "def helper(x):", "def helper(x, y):")) == []


def test_a_change_that_takes_nothing_away() -> None:
    text = reader("from pkg.tools import helper\n\nhelper(1)\n")
    assert places(text, ("pkg/tools.py", "    return x\n", "    return x + LIMIT\n\n\nNEW = 1\n")) == []
