"""How a method uses its object: kinds of use, chains, lateness; and what construction surely sets."""

from __future__ import annotations

import ast

import pytest

from codemods.source.classes import ClassKey
from codemods.source.construction import construction
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.self_effects import class_effects
from codemods.source.usage import Use, bare_supers, self_uses
from tests.support.trees import tree


def method(body: str, header: str = "def f(self, x):") -> tuple[Source, Function]:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    source = Source("m.py", f"class A:\n    {header}\n{lines}".encode())
    found = next(node for node in ast.walk(source.tree) if isinstance(node, FUNCTIONS))
    return source, found


def told(use: Use) -> str:
    words = [use.kind.value, use.chain or "self"]
    words += ["late"] if use.is_late else []
    words += ["nested"] if use.is_nested else []
    words += ["called"] if use.is_called else []
    words += [use.lookup] if use.lookup else []
    return " ".join(words)


USES = {
    "return self.a": ["read a"],
    "return self.a.b.c": ["read a.b.c"],
    "return self.a.b().c": ["read a"],
    "self.a.b = 1": ["read a"],
    "self.a = self.b": ["write a", "read b"],
    "self.a += 1": ["update a"],
    "self.a: int = 1": ["write a"],
    "self.a: int": ["annotation a"],
    "self.a, (self.b, *self.c) = x": ["write a", "write b", "write c"],
    "for self.a in x: pass": ["write a"],
    "with x as self.a: pass": ["write a"],
    "del self.a, self.b[0]": ["delete a", "read b"],
    "self.a(self)": ["read a called", "escape self"],
    "return self": ["escape self"],
    "return vars(self), self.__dict__": ["escape self", "escape self"],
    "return getattr(self, 'a')": ["read a getattr"],
    "return getattr(self, 'a', None)": ["read a getattr"],
    "return getattr(self, 'a', x)": ["escape self"],
    "return getattr(self, x)": ["escape self"],
    "return hasattr(self, 'a')": ["read a hasattr"],
    "return hasattr(self, 'a b')": ["escape self"],
    "setattr(self, 'a', 1)": ["escape self"],
    "return lambda: self.a": ["read a late nested"],
    "return lambda y=self.a: y": ["read a"],
    "return [self.a for y in x]": ["read a nested"],
    "return (self.a for y in self.b)": ["read a late nested", "read b"],
    "return list(self.a for y in x)": ["read a nested"],
    "return ','.join(self.a for y in x)": ["read a nested"],
    "return x.join(lambda: self.a)": ["read a late nested"],
    "return max(x, key=lambda y: self.a)": ["read a nested"],
    "x.sort(key=lambda y: self.a)": ["read a nested"],
    "return map(lambda y: self.a, x)": ["read a late nested"],
    "return set(map(lambda y: self.a, x))": ["read a nested"],
    "return (lambda: self.a)()": ["read a nested"],
    "for y in (self.a for z in x): pass": ["read a nested"],
    "return [y for y in (self.a for z in x)]": ["read a nested"],
    "return (y for y in (self.a for z in x))": ["read a late nested"],
    "return f(*(self.a for z in x))": ["read a nested"],
    "def g(): return self.a\nreturn g()": ["read a nested"],
    "def g(): return self.a\nreturn g": ["read a late nested"],
    "def g(): return self.a\nx.g = g": ["read a late nested"],
    "def g(): yield self.a\nreturn g()": ["read a late nested"],
    "async def g(): return self.a\nreturn g()": ["read a late nested"],
    "@x\ndef g(): return self.a\nreturn g()": ["read a late nested"],
    "def g(): return self.a\ndef h(): return g()\nreturn h": ["read a late nested"],
    "def g(): return self.a\ndef h(): return g()\nreturn h()": ["read a nested"],
    "class K:\n    y = self.a": ["read a nested"],
    "class K:\n    def m(this): return self.a": ["read a late nested"],
    "lambda self: self.a": [],
    "def g(self): return self.a": [],
    "self = x\nreturn self.a": ["escape self", "read a"],
}


@pytest.mark.parametrize("body", USES)
def test_uses(body: str) -> None:
    assert [told(use) for use in self_uses(*method(body))] == USES[body]


def test_the_receiver_has_any_name() -> None:
    assert [told(use) for use in self_uses(*method("return this.a, self.b", "def f(this, /):"))] == ["read a"]
    assert self_uses(*method("return self.a", "def f(*self):")) == []


def test_a_lookup_is_another_variable_unless_it_may_fail() -> None:
    texts = ("getattr(self, 'a')", "getattr(self, 'a', 1)", "hasattr(self, 'a')", "getattr(self, '__a')", "self.__a")
    keys = [self_uses(*method(f"return {text}"))[0].key for text in texts]
    assert keys == ["a", "getattr:a", "hasattr:a", "getattr:__a", "__a"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return super().f(x)", ["super"]),
        ("return super(A, self).f(x)", []),
        ("return [super().f(y) for y in x]", ["super"]),
        ("return __class__, super", ["__class__", "super"]),
    ],
)
def test_bare_supers(body: str, expected: list[str]) -> None:
    assert [name.id for name in bare_supers(method(body)[1])] == expected


EFFECTS = """\
# file: m.py
class Base:
    def one(self):
        self.a = 1

    def two(self):
        self.b = 1


class A(Base):
    def two(self):
        super().two()
        return self.c

    def three(self):
        self.one()
        tell(self)

    def four(self):
        return isinstance(self, Base) and self is not None

    @staticmethod
    def five(self):
        self.d = 1

    @property
    def six(self):
        self.e = 1

    def seven(self):
        return self.six


class B(A):
    def one(self):
        self.f = 1
"""


@pytest.mark.parametrize(
    ("name", "reads", "writes", "is_open"),
    [
        ("one", "", "a f", False),
        ("two", "c", "b", False),
        ("three", "one", "a f", True),
        ("four", "", "", False),
        ("five", "", "", False),
        ("seven", "six", "e", False),
        ("nothing", "", "", False),
    ],
)
def test_effects(name: str, reads: str, writes: str, is_open: bool) -> None:
    found = class_effects(tree(EFFECTS), ClassKey("m", "A")).reach(name)
    assert (" ".join(sorted(found.reads)), " ".join(sorted(found.writes)), found.is_open) == (reads, writes, is_open)


CONSTRUCTION = """\
# file: m.py
class Base:
    def __init__(self):
        self.base = 1
        self.hook()

    def hook(self):
        self.never = 1


class A(Base):
    def __init__(self, x):
        self.first = 1
        super().__init__()
        if x:
            self.some = 1
            return
        try:
            self.tried = self.load()
        finally:
            self.last = 1
        self.loop(x)

    def hook(self):
        self.hooked = 1
        self.use()

    def load(self):
        self.loaded = 1
        if g():
            raise ValueError
        return self.use()

    def loop(self, x):
        for y in x:
            self.looped = y
        self.loop(x[1:])

    def use(self):
        return self.first
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("other", "base first hooked"),
        ("use", "base first hooked"),
        ("hook", "base first"),
        ("load", "base first hooked"),
    ],
)
def test_construction(name: str, expected: str) -> None:
    assert " ".join(sorted(construction(tree(CONSTRUCTION), ClassKey("m", "A")).surely_set(name))) == expected
