"""Strings after a move: pointed at the new place by what a patch reaches, or reported."""

from __future__ import annotations

import pytest

from codemods.source.files import FileSet
from codemods.transforms.repath_strings import Repath, repath, repath_reads
from tests.support.trees import files_in, tree


def with_files(before: FileSet, text: str) -> FileSet:
    for path, raw in files_in(text).items():
        before = before.write(path, raw)
    return before


def texts(found: Repath, files: FileSet, path: str) -> str:
    return found.applied(files).read(path).decode()


def reported(found: Repath) -> list[str]:
    return [f"{each.severity.value} {each.code} {each.line}" for each in found.hazards]


TEST = """\
# file: test_src.py
from unittest import mock
import src
from src import A
def test(monkeypatch):
    with mock.patch("src.time.time", return_value=5), mock.patch("src.time") as t:
        mock.patch.object(src, "time")
        monkeypatch.setattr(src, "time", 3)
        monkeypatch.setattr("src.time", 3)
        return A().fetch()
"""
MOVED = """\
# file: dst.py
import time
def fetch():
    return time.time()
# file: src.py
import time
import dst
class A:
    def fetch(self):
        return dst.fetch()
"""


def test_patches_of_what_the_moved_code_reads() -> None:
    files = tree(MOVED + TEST)
    found = repath_reads(files, "src", ["time"], "dst")
    expected = (
        TEST.replace("src.time", "dst.time")
        .replace('mock.patch.object(src, "time")', 'mock.patch("dst.time")')
        .replace('setattr(src, "time", 3)', 'setattr("dst.time", 3)')
    )
    assert texts(found, files, "test_src.py") == files_in(expected)["test_src.py"].decode()
    assert reported(found) == []


def test_a_patch_that_reaches_half_of_the_readers_stops() -> None:
    files = tree(MOVED.replace("import dst\n", "import dst\ndef g(): return time.time()\n") + TEST)
    found = repath_reads(files, "src", ["time"], "dst")
    assert found.edits == {}
    # "src.time.time" patches the module time itself, which everybody reads
    assert reported(found) == ["stop U111 5", "stop U111 6", "stop U111 7", "stop U111 8"]


def test_a_name_that_is_read_otherwise_now() -> None:
    files = tree(MOVED.replace("import time\ndef", "import time as clock\ndef") + "# file: t.py\npatch('src.time')\n")
    assert texts(repath_reads(files, "src", {"time": "clock"}, "dst"), files, "t.py") == "patch('dst.clock')\n"
    assert repath_reads(files, "src", {"time": ""}, "dst").edits == {}


def test_kept_patches_are_reported() -> None:
    files = tree(MOVED.replace("import time\nimport dst", "import dst") + "# file: t.py\npatch('src.time')\n")
    found = repath_reads(files, "src", ["time"], "dst", mode="keep")
    assert (found.edits, reported(found)) == ({}, ["stop U111 1"])


METHOD = """\
# file: src.py
class A:
    def f(self):
        return 1
    def g(self): return self.f()
# file: docs.rst
.. automethod:: src.A.f

See :meth:`src.A.f` and ``src.A.f``.
# file: CHANGELOG.md
src.A.f added
# file: test_a.py
import src
patch("src.A.f", return_value=3)
patch.object(src.A, "f", return_value=3)
patch.object(src.A, "f", lambda self: 3)
patch("src.A.f", autospec=True)
monkeypatch.setattr(src.A, "f", lambda self: 1)
monkeypatch.setattr(src.A, "f", Mock())
d = "src.A.f"
"""
FUNCTION = (
    "# file: src.py\nimport dst\nclass A:\n    def g(self): return dst.f()\n# file: dst.py\ndef f():\n    return 1\n"
)


def test_a_method_that_became_a_function() -> None:
    before = tree(METHOD)
    files = with_files(before, FUNCTION)
    found = repath(files, ("src", "A.f"), ("dst", "f"), before=before)
    assert texts(found, files, "docs.rst") == ".. autofunction:: dst.f\n\nSee :func:`dst.f` and ``dst.f``.\n"
    assert texts(found, files, "test_a.py").splitlines()[1:] == [
        'patch("dst.f", return_value=3)',
        'patch("dst.f", return_value=3)',
        'patch.object(src.A, "f", lambda self: 3)',
        'patch("src.A.f", autospec=True)',
        'monkeypatch.setattr(src.A, "f", lambda self: 1)',
        'monkeypatch.setattr("dst.f", Mock())',
        'd = "src.A.f"',
    ]
    # what replaces a method by something that takes the object first can't replace a function
    assert reported(found) == ["note U111 1", "stop U111 4", "stop U111 5", "stop U111 6", "stop U111 8"]


def test_a_wrapper_keeps_the_strings() -> None:
    before = tree(METHOD)
    wrapper = FUNCTION.replace(
        "    def g(self): return dst.f()", "    def f(self): return dst.f()\n    def g(self): return self.f()"
    )
    found = repath(with_files(before, wrapper), ("src", "A.f"), ("dst", "f"), before=before)
    assert (found.edits, found.hazards) == ({}, ())
    around = wrapper.replace("return self.f()", "return dst.f()")
    found = repath(with_files(before, around), ("src", "A.f"), ("dst", "f"), before=before)
    assert found.edits == {}
    assert reported(found) == [f"stop U111 {line}" for line in (2, 3, 4, 5, 6, 7)]


HELPER = """\
# file: src.py
def helper(): return 1
def use(): return helper()
# file: user.py
from src import helper
def u(): return helper()
# file: t.py
patch("src.helper"), patch("user.helper"), patch("src.helper.x"), run("src:helper"), getattr(src, "helper")
# file: pyproject.toml
[project.scripts]
a = "src:helper"
"""
LINE = 'patch("src.helper"), patch("user.helper"), patch("src.helper.x"), run("src:helper"), getattr(src, "helper")\n'
WAYS = {
    "callers name the module": (
        "import dst\ndef use(): return dst.helper()\n",
        'patch("dst.helper"), patch("user.helper"), patch("dst.helper.x"), run("dst:helper"), getattr(src, "helper")\n',
        ["stop U111 1"],  # getattr of a name that is gone
    ),
    "callers name the function": (
        "from dst import helper\ndef use(): return helper()\n",
        'patch("src.helper"), patch("user.helper"), patch("src.helper.x"), run("dst:helper"), getattr(src, "helper")\n',
        [],
    ),
    "callers do both": (
        "import dst\nfrom dst import helper\ndef use(): return helper() + dst.helper()\n",
        'patch("src.helper"), patch("user.helper"), patch("src.helper.x"), run("dst:helper"), getattr(src, "helper")\n',
        ["stop U111 1"],
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_function_that_moved(name: str) -> None:
    own, expected, hazards = WAYS[name]
    before = tree(HELPER)
    files = with_files(
        before,
        f"# file: src.py\n{own}# file: dst.py\ndef helper(): return 1\n# file: user.py\nfrom dst import helper\ndef u(): return helper()\n",
    )
    found = repath(files, ("src", "helper"), ("dst", "helper"), before=before)
    assert texts(found, files, "t.py") == expected
    assert texts(found, files, "pyproject.toml").endswith('a = "dst:helper"\n')
    assert reported(found) == hazards


def test_keep_tells_what_dangles() -> None:
    before = tree(HELPER)
    files = with_files(
        before, "# file: src.py\nx = 1\n# file: dst.py\ndef helper(): return 1\n# file: user.py\nx = 1\n"
    )
    found = repath(files, ("src", "helper"), ("dst", "helper"), before=before, mode="keep")
    assert found.edits == {}
    assert {each.path for each in found.hazards} == {"t.py", "pyproject.toml"}


def test_a_class_that_moved() -> None:
    before = tree("# file: src.py\nclass C:\n    def m(self): ...\n# file: t.py\npatch('src.C.m'), patch('src.C')\n")
    files = with_files(
        before, "# file: src.py\nimport dst\ndef f(): return dst.C()\n# file: dst.py\nclass C:\n    def m(self): ...\n"
    )
    found = repath(files, ("src", "C"), ("dst", "C"), before=before)
    assert texts(found, files, "t.py") == "patch('dst.C.m'), patch('dst.C')\n"


def test_markup_of_a_module_that_is_moved_from() -> None:
    before = tree('# file: src.py\n""":func:`helper`."""\ndef helper(): ...\n# file: d.md\n`src.helper`\n')
    files = with_files(before, '# file: src.py\n""":func:`helper`."""\n# file: dst.py\ndef helper(): ...\n')
    found = repath(files, ("src", "helper"), ("dst", "helper"), before=before)
    assert texts(found, files, "src.py") == '""":func:`dst.helper`."""\n'
    assert texts(found, files, "d.md") == "`dst.helper`\n"
