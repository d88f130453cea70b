"""What the rest of a tree shows, stores and looks up of what changed."""

from __future__ import annotations

import pytest

from tests.verify.test_levels import said

CLASS = "class Request:\n    def __init__(self, n):\n        self.n = n\n"
KEPT = "def other():\n    return 1\n"


@pytest.mark.parametrize(
    ("reader", "is_told"),
    [
        ("import pickle\nfrom p.b import Request\ndef f(): return pickle.dumps(Request(1))\n", True),
        ("import pickle\ndef f(x): return pickle.dumps(x)\n", False),
        ("from p.b import Request\ndef f(): return Request.__module__\n", True),
        ("from p.b import Request\ndef f(): return Request(1)\n", False),
    ],
)
def test_a_class_that_moved_and_is_stored(reader: str, is_told: bool) -> None:
    old = {"p/a.py": CLASS + KEPT, "p/r.py": reader.replace("p.b", "p.a")}
    new = {"p/a.py": KEPT, "p/b.py": CLASS, "p/r.py": reader}
    assert ("U110" in said(old, new)) is is_told


@pytest.mark.parametrize(
    ("text", "is_told"), [("p.a.other", True), ("p.a:other", True), ("p.other", False), ("x.p.a.other", False)]
)
def test_an_old_path_in_a_file_that_is_not_python(text: str, is_told: bool) -> None:
    old = {"p/a.py": "X = 1\n" + KEPT, "hook.toml": f'run = "{text}"\n'}
    new = {"p/a.py": "X = 1\n", "p/b.py": KEPT, "hook.toml": f'run = "{text}"\n'}
    assert ("U119" in said(old, new)) is is_told


@pytest.mark.parametrize(("start", "is_told"), [("p.backend_", True), ("p.other_", False)])
def test_a_module_that_is_imported_by_a_name_put_together(start: str, is_told: bool) -> None:
    loader = f"import importlib\ndef load(kind):\n    return importlib.import_module(f'{start}{{kind}}')\n"
    found = said({"p/backend_x.py": KEPT}, {"p/x_backend.py": KEPT}, load=loader)
    assert ("U119" in found) is is_told


def test_a_module_in_a_folder_that_is_listed() -> None:
    lists = "import pkgutil\nNAMES = [m.name for m in pkgutil.iter_modules(__path__)]\n"
    old = {"p/q/__init__.py": lists, "p/a.py": "X = 1\n" + KEPT}
    new = {"p/q/__init__.py": lists, "p/a.py": "X = 1\n"}
    assert "U111" in said(old, new | {"p/q/b.py": KEPT})
    assert "U111" not in said(old, new | {"p/b.py": KEPT})


def test_a_docstring_that_is_read() -> None:
    old, new = '"""Starts it."""\nX = 1\n', '"""Start it."""\nX = 1\n'
    assert said({"p/a.py": old}, {"p/a.py": new}) == ""
    assert "docstring" in said({"p/a.py": old + "print(__doc__)\n"}, {"p/a.py": new + "print(__doc__)\n"})


def test_a_document_inside_a_package_that_is_read() -> None:
    reader = "from pathlib import Path\nTEXT = Path(__file__).with_name('prompt.md').read_text()\n"
    assert "U111" in said({"p/prompt.md": "One.\n"}, {"p/prompt.md": "Two.\n"}, reader=reader)
    assert said({"p/notes.md": "One.\n"}, {"p/notes.md": "Two.\n"}, reader=reader) == ""
    assert said({"README.md": "One.\n"}, {"README.md": "Two.\n"}, reader=reader) == ""


def test_the_name_of_a_field_that_is_shown() -> None:
    text = "from dataclasses import dataclass{1}\n@dataclass\nclass Request:\n    {0}: int\ndef f(n):\n    {2}\n"
    quiet = ("", "return Request(n)")
    shown = (", asdict", "return asdict(Request(n))")
    for rest, is_told in ((quiet, False), (shown, True)):
        old, new = (text.format(name, *rest) for name in ("n", "num"))
        assert ("U111" in said({"p/a.py": old}, {"p/a.py": new})) is is_told


def test_the_name_of_an_error_that_is_shown() -> None:
    text = "class {0}(Exception):\n    pass\ndef f(n):\n    raise {0}(n)\n"
    old, new = text.format("TooMany"), text.format("QueueFull")
    handler = "def show(error):\n    return type(error).__name__\n"
    assert "U110" in said({"p/a.py": old}, {"p/a.py": new}, b=handler)
    assert "U110" not in said({"p/a.py": old}, {"p/a.py": new}, b=KEPT)


def test_files_that_did_not_change_get_another_function() -> None:
    low, high = "def bound(n):\n    return n - 1\n", "def bound(n):\n    return n + 1\n"
    reader = "from p import low\ndef f(n):\n    return low.bound(n)\n"
    old, new = {"p/low.py": low, "p/high.py": high}, {"p/low.py": high, "p/high.py": low}
    assert "U119" in said(old, new, reader=reader)


def test_an_object_that_dies_with_the_function_that_keeps_it() -> None:
    owner = "class Lock:\n    def __init__(self, n):\n        self.n = n\n{0}"
    old = "from p.owner import Lock\ndef run(n):\n    lock = Lock(n)\n    lock.n += 1\n    return n\n"
    taken = "def take(n):\n    lock = Lock(n)\n    lock.n += 1\n"
    new = "from p.owner import Lock\n" + taken + "def run(n):\n    take(n)\n    return n\n"
    dies = owner.format("    def __del__(self):\n        print(self.n)\n")
    assert "object-lifetime" in said({"p/a.py": old}, {"p/a.py": new}, owner=dies)
    assert "object-lifetime" not in said({"p/a.py": old}, {"p/a.py": new}, owner=owner.format(""))


@pytest.mark.parametrize(
    ("line", "is_told"),
    [("p.a.N = 5", True), ("patch('p.a.N', 5)", True), ("setattr(p.a, 'N', 5)", True), ("x = p.a.N", False)],
)
def test_a_name_that_is_set_from_outside(line: str, is_told: bool) -> None:
    user = "def f():\n    return N\n"
    old = {"p/a.py": "N = 1\n" + user + KEPT}
    new = {"p/a.py": "N = 1\n" + KEPT, "p/b.py": "from p.a import N\n" + user}
    setter = f"import p.a\nfrom unittest.mock import patch\ndef s():\n    {line}\n"
    assert ("U111" in said(old, new, setter=setter)) is is_told
