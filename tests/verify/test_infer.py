"""What is guessed to belong together. A guess is no proof: the kernel compares it."""

from __future__ import annotations

from collections.abc import Mapping

from codemods.source.files import FileSet, MemoryTree
from codemods.verify.change import between
from codemods.verify.frames import Claims
from codemods.verify.infer import infer
from codemods.verify.names import Names


def claims(old: Mapping[str, str], new: Mapping[str, str]) -> Claims:
    trees = [FileSet(MemoryTree({path: text.encode() for path, text in side.items()})) for side in (old, new)]
    change = between(*trees)
    paths = [each.path for each in change.changes]
    return infer(change, Names(change.old), Names(change.new), paths)


BODY = "    total = {0}.base + n\n    for each in range(n):\n        total += each\n    return total\n"
METHOD = "class C:\n    def work(self, n):\n" + "".join(f"    {line}\n" for line in BODY.format("self").splitlines())


def test_a_function_that_moved_to_another_file() -> None:
    text = "def work(s, n):\n" + BODY.format("s")
    found = claims({"a.py": text, "b.py": "X = 1\n"}, {"a.py": "", "b.py": "X = 1\n" + text})
    assert found.pairs == {("a.py", "work"): ("b.py", "work")}


def test_a_method_that_became_a_function() -> None:
    found = claims({"a.py": METHOD}, {"a.py": "class C:\n    pass\ndef work(c, n):\n" + BODY.format("c")})
    assert found.pairs == {("a.py", "C.work"): ("a.py", "work")}


def test_a_method_that_only_calls_what_became_of_it_stays_itself() -> None:
    new = "class C:\n    def work(self, n):\n        return work(self, n)\ndef work(c, n):\n" + BODY.format("c")
    found = claims({"a.py": METHOD}, {"a.py": new})
    assert ("a.py", "C.work") not in found.pairs and not found.unpaired


def test_functions_that_exchanged_their_files() -> None:
    low, high = "def bound(n):\n    return n - 1\n", "def bound(n):\n    return n + 1\n"
    found = claims({"a.py": low, "b.py": high}, {"a.py": high, "b.py": low})
    assert found.pairs == {("a.py", "bound"): ("b.py", "bound"), ("b.py", "bound"): ("a.py", "bound")}
    assert found.unpaired == {("a.py", "bound"), ("b.py", "bound")}


def test_a_constant_under_another_name_when_its_value_is_the_only_one() -> None:
    assert claims({"a.py": "A = 17\n"}, {"a.py": "B = 17\n"}).pairs == {("a.py", "A"): ("a.py", "B")}
    assert claims({"a.py": "A = 17\nB = 17\n"}, {"a.py": "C = 17\nD = 17\n"}).pairs == {}


def test_a_file_under_another_name() -> None:
    text = "X = 1\n" + METHOD
    found = claims({"a.py": text}, {"b.py": text})
    assert found.modules == {"a.py": "b.py"}
    assert found.pairs["a.py", "C.work"] == ("b.py", "C.work")


def test_attributes_fields_and_methods_under_another_name() -> None:
    init = "class C:\n    def __init__(self, size):\n        self.{0} = size\n"
    assert claims({"a.py": init.format("n")}, {"a.py": init.format("num")}).attributes == {"num": "n"}
    field = "class C:\n    {0}: int\n    other: str\n"
    assert claims({"a.py": field.format("n")}, {"a.py": field.format("num")}).attributes == {"num": "n"}
    renamed = METHOD.replace("work", "run")
    assert claims({"a.py": METHOD}, {"a.py": renamed}).attributes == {"run": "work"}


def test_an_attribute_that_is_read_through_another_object() -> None:
    old = "class C:\n    def __init__(self, ps):\n        self.ps = ps\n        self.rank = ps.rank\n"
    new = "class C:\n    def __init__(self, ps):\n        self.ps = ps\n"
    assert claims({"a.py": old}, {"a.py": new}).redirects == {("ps", "rank"): "rank"}


def test_a_method_that_only_one_side_has_is_what_a_call_may_mean() -> None:
    found = claims({"a.py": "class C:\n    pass\n"}, {"a.py": METHOD})
    assert found.loose[1] == {"work": ("a.py", "C.work")} and not found.loose[0]
