"""Class hierarchy over a tree: bases through imports, method resolution order, who overrides and who declares."""

from __future__ import annotations

import ast
import sys
import types

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from codemods.source import parse
from codemods.source.classes import (
    ClassKey,
    External,
    bases,
    class_at,
    declarers,
    dynamic_lookup,
    family,
    mro,
    overriders,
    provider,
    subclasses,
)
from codemods.source.files import FileSet, MemoryTree
from codemods.source.members import MemberKind, instance_attributes, members
from tests.support.trees import tree


def key(text: str) -> ClassKey:
    module, _, qualname = text.partition(":")
    return ClassKey(module, qualname)


TREE = """\
# file: pkg/__init__.py
from pkg.base import Base as Root, Mixin
from .star import *
# file: pkg/base.py
import threading
from torch import nn


class Base:
    def m(self): ...
    def n(self): ...


class Mixin:
    def m(self): ...


class Worker(threading.Thread):
    def run(self): ...


class Net(nn.Module):
    def forward(self, x): ...


class Table(dict):
    def __setitem__(self, key, value): ...
    def size(self): ...
# file: pkg/star.py
class Starred: ...
# file: pkg/alias.py
from pkg import base
import pkg.base as b
import pkg

Again = base.Base


class One(Again): ...
class Two(b.Base): ...
class Three(pkg.Root): ...
class Four(pkg.Starred, metaclass=Meta): ...
class Five(pkg.base.Base[int]): ...
class Six(make(Again)): ...
class Eight(
    Lonely,  # why:
    base.Base,
): ...


def inside():
    class Seven(Two):
        def n(self): ...

    return Seven


class Outer:
    class Inner(One): ...
# file: use.py
from pkg import Root as R, Mixin
from pkg.alias import Outer, Again as A

try:
    from fast import Engine
except ImportError:
    from pkg.base import Mixin as Engine


class Both(Mixin, R): ...
class Behind(R, Mixin): ...
class Nested(Outer.Inner):
    def m(self): ...
class Maybe(Engine): ...
class Assigned(A):
    m = None
class Broken(Nowhere): ...
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pkg.alias:One", ["pkg.base:Base"]),
        ("pkg.alias:Two", ["pkg.base:Base"]),
        ("pkg.alias:Three", ["pkg.base:Base"]),
        ("pkg.alias:Four", ["pkg.star:Starred"]),
        ("pkg.alias:Five", ["pkg.base:Base"]),
        ("pkg.alias:inside.<locals>.Seven", ["pkg.alias:Two"]),
        ("pkg.alias:Outer.Inner", ["pkg.alias:One"]),
        ("use:Both", ["pkg.base:Mixin", "pkg.base:Base"]),
        ("use:Nested", ["pkg.alias:Outer.Inner"]),
        ("use:Assigned", ["pkg.base:Base"]),
        ("use:Maybe", ["fast.Engine", "pkg.base:Mixin"]),
        ("pkg.base:Worker", ["threading.Thread"]),
        ("pkg.base:Net", ["torch.nn.Module"]),
        ("pkg.base:Table", ["dict"]),
        ("use:Broken", ["Nowhere?"]),
        ("pkg.alias:Six", ["make(Again)?"]),
    ],
)
def test_bases(name: str, expected: list[str]) -> None:
    found = bases(tree(TREE), key(name))
    assert [
        f"{each.name}{'' if each.is_known else '?'}" if isinstance(each, External) else str(each) for each in found
    ] == expected


def test_subclasses_and_who_overrides() -> None:
    files = tree(TREE)
    base = key("pkg.base:Base")
    assert [str(each) for each in subclasses(files, base)] == [
        "pkg.alias:Eight",
        "pkg.alias:Five",
        "pkg.alias:One",
        "pkg.alias:Outer.Inner",
        "pkg.alias:Three",
        "pkg.alias:Two",
        "pkg.alias:inside.<locals>.Seven",
        "use:Assigned",
        "use:Behind",
        "use:Both",
        "use:Nested",
    ]
    assert {str(each) for each in overriders(files, base, "m")} == {"use:Assigned", "pkg.base:Mixin", "use:Nested"}
    assert [str(each) for each in overriders(files, base, "n")] == ["pkg.alias:inside.<locals>.Seven"]
    assert [str(each) for each in declarers(files, base, "m")] == ["pkg.base:Mixin"]  # Behind would fall through to it
    assert declarers(files, base, "n") == ()


def test_a_base_from_outside_declares() -> None:
    files = tree(TREE)
    assert declarers(files, key("pkg.base:Table"), "__setitem__") == (External("dict"),)
    assert declarers(files, key("pkg.base:Table"), "size") == ()
    assert declarers(files, key("pkg.base:Worker"), "run") == (External("threading.Thread"),)
    assert declarers(files, key("pkg.base:Net"), "forward") == (External("torch.nn.Module"),)
    assert declarers(files, key("use:Nested"), "m") == (key("pkg.base:Base"),)


def test_mixins_belong_to_the_family() -> None:
    files = tree(TREE)
    assert key("pkg.base:Mixin") in family(files, key("pkg.base:Base"))
    assert key("pkg.base:Table") not in family(files, key("pkg.base:Base"))


def test_in_a_diamond_the_order_decides() -> None:
    files = tree(
        """\
# file: m.py
class Root:
    @staticmethod
    def kind(): ...
class Left(Root): ...
class Right(Root):
    @staticmethod
    def kind(): ...
class Leaf(Left, Right): ...
class Wrong(Root, Right): ...
class Loop(Loop): ...
"""
    )
    assert [each.name for each in mro(files, key("m:Leaf")).classes] == ["Leaf", "Left", "Right", "Root"]
    assert provider(files, key("m:Leaf"), "kind") == key("m:Right")
    assert not mro(files, key("m:Wrong")).is_consistent
    assert mro(files, key("m:Loop")).classes == (key("m:Loop"),)


@given(st.lists(st.lists(st.integers(0, 6), max_size=3, unique=True), min_size=2, max_size=7))
def test_the_order_is_pythons(above: list[list[int]]) -> None:
    """Law: for any hierarchy that Python accepts, the same linearization; what it refuses is inconsistent."""
    lines = []
    space: dict[str, type] = {}
    is_accepted = True
    for index, indices in enumerate(above):
        names = [f"C{other}" for other in indices if other < index]
        lines.append(f"class C{index}({', '.join(names)}): ...")
        if is_accepted:
            try:
                space[f"C{index}"] = types.new_class(f"C{index}", tuple(space[name] for name in names))
            except TypeError:
                is_accepted = False
                last = index
    if is_accepted:
        last = len(above) - 1
    files = tree("# file: m.py\n" + "\n".join(lines) + "\n")
    found = mro(files, key(f"m:C{last}"))
    event(f"accepted: {is_accepted}, classes above: {len(found.classes) - 1}")
    assert found.is_consistent == is_accepted
    if is_accepted:
        assert [each.name for each in found.classes] == [each.__name__ for each in space[f"C{last}"].__mro__[:-1]]


def test_attribute_access_that_may_run_code() -> None:
    files = tree(
        """\
# file: m.py
import abc


class Plain(abc.ABC): ...
class Lazy:
    def __getattr__(self, name): ...
class Derived(Lazy): ...
class Made(metaclass=Registry): ...
class Fine(metaclass=abc.ABCMeta): ...
"""
    )
    assert dynamic_lookup(files, key("m:Plain")) == ()
    assert dynamic_lookup(files, key("m:Derived")) == ("Lazy.__getattr__",)
    assert dynamic_lookup(files, key("m:Made")) == ("metaclass=Registry of Made",)
    assert dynamic_lookup(files, key("m:Fine")) == ()


MEMBERS = """\
# file: deco.py
import functools


def watched(fn):
    @property
    def inner(self):
        return fn(self)

    return inner


class described:
    def __init__(self, fn): ...
    def __get__(self, obj, kind=None): ...


def plain(fn):
    return fn
# file: m.py
import functools
from abc import abstractmethod
from deco import described, plain, watched


class C:
    __slots__ = ("a", "b")
    k: int
    n: int = 3
    p = q = 4

    def method(self): ...
    @staticmethod
    def static(): ...
    @classmethod
    def made(cls): ...
    @property
    def one(self): ...
    @one.setter
    def one(self, value): ...
    @functools.cached_property
    def two(self): ...
    @watched
    def three(self): ...
    @described
    def four(self): ...
    @plain
    def five(self): ...
    @abstractmethod
    def six(self): ...
    seven = property(method)
    eight = staticmethod(method)
    class Nested: ...
    if True:
        def late(self): ...
    def __new__(cls): ...
"""


def test_members_by_kind() -> None:
    files = tree(MEMBERS)
    located = class_at(files, key("m:C"))
    assert located is not None
    found = members(files, *located)
    kinds = {name: member.kind for name, member in found.items()}
    assert kinds == {
        "a": MemberKind.SLOT,
        "b": MemberKind.SLOT,
        "__slots__": MemberKind.ATTRIBUTE,
        "k": MemberKind.FIELD,
        "n": MemberKind.ATTRIBUTE,
        "p": MemberKind.ATTRIBUTE,
        "q": MemberKind.ATTRIBUTE,
        "method": MemberKind.METHOD,
        "static": MemberKind.STATIC,
        "made": MemberKind.CLASS_METHOD,
        "one": MemberKind.ACCESSOR,
        "two": MemberKind.ACCESSOR,
        "three": MemberKind.ACCESSOR,
        "four": MemberKind.ACCESSOR,
        "five": MemberKind.DECORATED,
        "six": MemberKind.METHOD,
        "seven": MemberKind.ACCESSOR,
        "eight": MemberKind.STATIC,
        "Nested": MemberKind.CLASS,
        "late": MemberKind.METHOD,
        "__new__": MemberKind.STATIC,
    }
    assert len(found["one"].nodes) == 2


def test_instance_attributes() -> None:
    files = tree(
        """\
# file: m.py
from k import Base


class C(Base):
    shared = 1

    def __init__(self, size: int, other=None):
        self.size = size
        self.a, self.b = 1, other
        if other:
            return
        self.late = 2
        setattr(self, "named", 3)

    def reset(this):
        this.size = 0
        for this.x in (): ...

    @staticmethod
    def make(self):
        self.no = 1
# file: k.py
class Base:
    def __init__(self):
        self.base: int = 0
"""
    )
    found = instance_attributes(files, key("m:C"))
    assert list(found) == ["shared", "size", "a", "b", "late", "named", "x", "base"]
    first, second = found["size"]
    assert (first.method, first.is_unconditional, first.parameter is not None) == ("__init__", True, True)
    assert (second.method, second.is_unconditional) == ("reset", False)
    assert not found["late"][0].is_unconditional
    assert found["base"][0].annotation is not None
    assert found["base"][0].owner == key("k:Base")
    assert found["x"][0].value is None


def test_only_files_with_the_name_are_parsed() -> None:
    """A file that can't be parsed and does not derive from the class must not matter."""
    files = FileSet(MemoryTree({"m.py": b"class A: ...\nclass B(A): ...\n", "bad.py": b"A = = 1\nclass ("}))
    assert subclasses(files, key("m:A")) == (key("m:B"),)


@pytest.mark.parametrize(
    "text",
    [
        "class A(Base): ...",
        "class A(\n    Other,  # (not the last):\n    Base,\n): ...",
        "class A[T](Other[T], Base): ...",
        "class Other: ...\nclass A(Other, metaclass=M, *[Base]): ...\nclass B(Base): ...",
        "Alias = Base\nclass A(Alias): ...",
        "if True:\n    First = Second = Base\nclass A(First): ...",
        "Alias = (\n    Base\n)\nclass A(Alias): ...",
        "import pkg\nAlias: type = pkg.Base\nclass A(Alias): ...",
        "from pkg import Base as Alias\nclass A(Alias): ...",
    ],
)
def test_a_quick_look_lets_no_subclass_slip(text: str) -> None:
    files = tree(f"# file: pkg.py\nclass Base: ...\n# file: a.py\nfrom pkg import Base\n{text}\n")
    if "[T]" in text and sys.version_info < (3, 12):
        pytest.skip("type parameters need Python 3.12")
    assert {each.module for each in subclasses(files, key("pkg:Base"))} == {"a"}


def test_a_file_that_only_uses_a_class_is_not_read_for_subclasses(monkeypatch: pytest.MonkeyPatch) -> None:
    using = "from pkg import Base\n\n\nclass A:\n    def f(self, x: Base, y=Base()):\n        z = Base(1)\n"
    files = tree(f"# file: pkg.py\nclass Base: ...\n# file: a.py\n{using}")
    read: list[str] = []

    def parsed(path: str, body: bytes) -> ast.Module:
        read.append(path)
        return ast.parse(body)

    monkeypatch.setattr(parse, "parse_tree", parsed)
    assert subclasses(files, key("pkg:Base")) == ()
    assert read == []
    assert subclasses(files.write("a.py", b"from pkg import Base\nclass Unread(Base): ...\n"), key("pkg:Base"))
    assert "a.py" in read
