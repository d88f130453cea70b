"""What a receiver is at its place. Each case is code in a file beside classes A, B(A) and an unrelated X."""

from __future__ import annotations

import ast
import textwrap

import pytest

from codemods.source.parse import load
from codemods.source.receiver_kinds import ClassObject, Known, ModuleObject, NotIn, Receiver
from codemods.source.receivers import receiver_type
from tests.support.trees import tree

HEAD = """\
# file: pkg/__init__.py
# file: pkg/k.py
from contextlib import contextmanager
from typing import Protocol


class A:
    other: "X"

    def __init__(self, given: "X", unknown):
        self.x = X()
        self.maybe = None
        self.given = given
        self.unknown = unknown
        self.lazy = None
        self.runner: A | None = None

    def load(self):
        self.lazy = B()

    def make(self) -> "X": ...
    def same(self): return self
    def __enter__(self): return self
    @property
    def prop(self) -> X: ...
    @classmethod
    def build(cls): return cls()


class B(A):
    def set(self):
        self.maybe = X()


class X:
    def __enter__(self) -> "A": ...


class Shape(Protocol):
    def m(self): ...


def get() -> A: ...
def untyped():
    return B()
@contextmanager
def opened(): yield A()

one = A(None, None)
two: "B | None" = None
# file: use.py
import copy
import typing
from typing import Any, Optional
from unittest.mock import MagicMock

import numpy as np
import pkg.k
from pkg import k
from pkg.k import A, B, X, Shape, get, one, opened, two, untyped

"""

CASES = [
    ("def f(r: A):\n    r.m()", "A"),
    ("def f(r: 'A | None' = None):\n    r.m()", "A"),
    ("def f(r: Optional[k.A]):\n    r.m()", "A"),
    ("def f(r: A | X):\n    r.m()", "A|X"),
    ("def f(r: typing.Annotated[A, 1]):\n    r.m()", "A"),
    ("def f(r: type[A]):\n    r.m()", "class A"),
    ("def f(r: Any):\n    r.m()", "?"),
    ("def f(r: Shape):\n    r.m()", "?"),
    ("def f(r: np.ndarray):\n    r.m()", "not"),
    ("def f(r):\n    r.m()", "?"),
    ("def f(*r, **kw):\n    r.m()", "not"),
    ("r = A()\nr.m()", "=A"),
    ("def f():\n    r = pkg.k.A()\n    r.m()", "=A"),
    ("def f(c):\n    r = A() if c else None\n    r.m()", "=A"),
    ("def f(c):\n    r = None\n    r = A()\n    r = B()\n    r.m()", "=A|B"),
    ("def f(c):\n    r = A()\n    r = c\n    r.m()", "?"),
    ("def f(c):\n    r = A()\n    r = 1\n    r.m()", "?"),
    ("def f(r: A):\n    q = r\n    q.m()", "A"),
    ("def f(r: A):\n    (q := r).m()", "A"),
    ("A.m()", "class A"),
    ("k.A.m()", "class A"),
    ("k.m()", "module"),
    ("np.m()", "not"),
    ("np.linalg.m()", "not"),
    ("np.array(1).m()", "?"),
    ("np.Thing().m()", "not"),
    ("'text'.m()", "not"),
    ("[1].m()", "not"),
    ("one.m()", "=A"),
    ("k.one.m()", "=A"),
    ("two.m()", "B"),
    ("get().m()", "A"),
    ("k.get().m()", "A"),
    ("untyped().m()", "=B"),
    ("async def f():\n    (await get()).m()", "A"),
    ("def f(r: A):\n    r.make().m()", "X"),
    ("def f(r: A):\n    r.same().m()", "A"),
    ("def f(r: A):\n    r.x.m()", "=X"),
    ("def f(r: A):\n    r.other.m()", "X"),
    ("def f(r: A):\n    r.given.m()", "X"),
    ("def f(r: A):\n    r.unknown.m()", "?"),
    ("def f(r: A):\n    r.runner.m()", "A"),
    ("def f(r: A):\n    r.runner.runner.x.m()", "=X"),
    ("def f(r: A):\n    r.lazy.m()", "=B"),
    ("def f(r: A):\n    r.maybe.m()", "=X"),
    ("def f(r: A):\n    r.prop.m()", "X"),
    ("def f(r: A):\n    r.load.m()", "not"),
    ("def f(r: A):\n    r.nothing.m()", "?"),
    ("A.build().m()", "A"),
    ("type(one).m()", "class A"),
    ("one.__class__.m()", "class A"),
    ("copy.deepcopy(one).m()", "=A"),
    ("typing.cast('A', 1).m()", "A"),
    ("A.__new__(A).m()", "=A"),
    ("object.__new__(A).m()", "=A"),
    ("MagicMock().m()", "double"),
    ("getattr(one, 'x').m()", "?"),
    ("with A() as r:\n    r.m()", "=A"),
    ("with X() as r:\n    r.m()", "A"),
    ("with opened() as r:\n    r.m()", "?"),
    ("def f(rs: list[A]):\n    for r in rs:\n        r.m()", "A"),
    ("def f(rs: 'dict[str, A]'):\n    rs['a'].m()", "A"),
    ("def f(rs: 'dict[str, A]'):\n    for r in rs.values():\n        r.m()", "A"),
    ("def f(rs: 'dict[str, A]'):\n    for r in rs:\n        r.m()", "not"),
    ("def f(rs: tuple[A, ...]):\n    [r.m() for r in rs]", "A"),
    ("def f(rs):\n    for r in rs:\n        r.m()", "?"),
    ("rs = [A(), B()]\nrs[0].m()", "=A|B"),
    ("def f(r):\n    if isinstance(r, A):\n        r.m()", "A"),
    ("def f(r):\n    if isinstance(r, A) and r.m():\n        pass", "A"),
    ("def f(r):\n    return r.m() if isinstance(r, (A, X)) else 0", "A|X"),
    ("def f(r):\n    assert isinstance(r, A)\n    r.m()", "A"),
    ("def f(r):\n    if not isinstance(r, A):\n        return\n    r.m()", "A"),
    ("def f(r, s):\n    if isinstance(r, A):\n        r = s\n        r.m()", "?"),
    ("def f(r):\n    if isinstance(r, A):\n        pass\n    else:\n        r.m()", "?"),
    ("class C(A):\n    def f(self):\n        self.m()", "C"),
    ("class C(A):\n    @classmethod\n    def f(cls):\n        cls.m()", "class C"),
    ("class C(A):\n    def f(self):\n        return [self.m() for _ in 'ab']", "C"),
    ("class C(A):\n    def f(self):\n        self.x.m()", "=X"),
    ("class C:\n    def f(self: 'A'):\n        self.m()", "A"),
    ("class C:\n    @staticmethod\n    def f(self):\n        self.m()", "?"),
    ("class C(A):\n    def f(self):\n        self = 3\n        self.m()", "?"),
    ("try:\n    pass\nexcept ValueError as r:\n    r.m()", "not"),
    ("def f(A):\n    A().m()", "?"),
]


def told(kind: Receiver) -> str:
    if isinstance(kind, Known):
        return ("=" if kind.is_exact else "") + "|".join(each.qualname for each in kind.keys)
    if isinstance(kind, ClassObject):
        return f"class {kind.key.qualname}"
    if isinstance(kind, ModuleObject):
        return "module"
    if isinstance(kind, NotIn):
        return "not"
    return "double" if kind.is_double else "?"


@pytest.mark.parametrize(("code", "expected"), CASES, ids=[code.replace("\n", ";") for code, _ in CASES])
def test_receivers(code: str, expected: str) -> None:
    files = tree(HEAD + textwrap.dedent(code) + "\n")
    source = load(files, "use.py")
    receiver = next(
        node.value for node in ast.walk(source.tree) if isinstance(node, ast.Attribute) and node.attr == "m"
    )
    assert told(receiver_type(files, source, receiver)) == expected
