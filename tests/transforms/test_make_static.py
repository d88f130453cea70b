"""make_static: every syntactic place in which a method may use `self`. Tables of bodies before and after; calls are in
test_make_static_calls.py, what is refused or has to be proved in test_hazards_of_static.py."""

from __future__ import annotations

from typing import Any

import pytest

from codemods.schema.plan import ExtractMethod
from tests.support.steps import check_step

FRAME = """\
class A:
    def __init__(self):
        self.a = 1
        self.b = 2
        self.xs = []

    def f(self, x):
"""


def indented(text: str, by: int = 8) -> str:
    return "".join(f"{' ' * by}{line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))


def check_body(body: str, names: str, new_body: str, **keys: Any) -> None:
    """The body of `A.f`, the names of the new parameters, and the new body."""
    head, _, _ = FRAME.rpartition("    def f(self, x):\n")
    header = f"    def f(x, *, {names}):\n" if names else "    def f(x):\n"
    after = f"{head}    @staticmethod\n{header}{indented(new_body)}"
    check_step(FRAME + indented(body), after, ExtractMethod(method="m:A.f", **keys))


READS = {
    "an argument": ("return g(x, self.a)", "a", "return g(x, a)"),
    "a keyword": ("return g(a=self.a)", "a", "return g(a=a)"),
    "a chain": ("return self.xs.sort.__name__", "xs", "return xs.sort.__name__"),
    "a call of an attribute": ("return self.xs.append(self.a)", "xs, a", "return xs.append(a)"),
    "a subscript": ("return self.xs[self.a : self.b]", "xs, a, b", "return xs[a : b]"),
    "an assignment through it": ("self.xs[0] = self.a", "xs, a", "xs[0] = a"),
    "an attribute of it": ("self.xs.n += 1", "xs", "xs.n += 1"),
    "del of an item": ("del self.xs[0]", "xs", "del xs[0]"),
    "several targets": ("y, self.xs[0] = 1, 2", "xs", "y, xs[0] = 1, 2"),
    "a default of a function": (
        "def g(y=self.a):\n    return y\n\nreturn g",
        "a",
        "def g(y=a):\n    return y\n\nreturn g",
    ),
    "a default of a lambda": ("return lambda y=self.a: y", "a", "return lambda y=a: y"),
    "a decorator": ("@self.a\ndef g():\n    pass\n\nreturn g", "a", "@a\ndef g():\n    pass\n\nreturn g"),
    "a comprehension": (
        "return [y + self.a for y in self.xs if y > self.b]",
        "a, xs, b",
        "return [y + a for y in xs if y > b]",
    ),
    "a dict comprehension": ("return {y: self.a for y in x}", "a", "return {y: a for y in x}"),
    "a generator that is consumed": ("return sum(y * self.a for y in x)", "a", "return sum(y * a for y in x)"),
    "a generator in a loop": (
        "for y in (z + self.a for z in x):\n    g(y)",
        "a",
        "for y in (z + a for z in x):\n    g(y)",
    ),
    "the first iterable of a generator": ("return (y for y in self.xs)", "xs", "return (y for y in xs)"),
    "a lambda that is called at once": (
        "return sorted(x, key=lambda y: y * self.a)",
        "a",
        "return sorted(x, key=lambda y: y * a)",
    ),
    "a lambda for map": ("return list(map(lambda y: y + self.a, x))", "a", "return list(map(lambda y: y + a, x))"),
    "a helper that is only called": (
        "def g(y):\n    return y + self.a\n\nreturn g(1) + g(x)",
        "a",
        "def g(y):\n    return y + a\n\nreturn g(1) + g(x)",
    ),
    "a helper that calls itself": (
        "def g(y):\n    return g(y - 1) if y else self.a\n\nreturn g(x)",
        "a",
        "def g(y):\n    return g(y - 1) if y else a\n\nreturn g(x)",
    ),
    "an f-string": ("return f'{self.a} and {self.b!r:>{self.a}}'", "a, b", "return f'{a} and {b!r:>{a}}'"),
    "an f-string that prints itself": (
        "return f'{self.a=} {self.b = :>4}'",
        "a, b",
        "return f'self.a={a!r} self.b = {b:>4}'",
    ),
    "one inside another": ("return f'{f\"{self.a=}\"}'", "a", "return f'{f\"self.a={a!r}\"}'"),
    "walrus": ("if (y := self.a) > x:\n    return y", "a", "if (y := a) > x:\n    return y"),
    "with": ("with self.a as y:\n    return y", "a", "with a as y:\n    return y"),
    "for": ("for y in self.xs:\n    g(y)", "xs", "for y in xs:\n    g(y)"),
    "while": ("while self.a > x:\n    x += 1", "a", "while a > x:\n    x += 1"),
    "assert": ("assert self.a, f'{self.b}'", "a, b", "assert a, f'{b}'"),
    "raise": ("raise ValueError(self.a) from self.b", "a, b", "raise ValueError(a) from b"),
    "except": (
        "try:\n    g()\nexcept self.a as error:\n    h(error)",
        "a",
        "try:\n    g()\nexcept a as error:\n    h(error)",
    ),
    "match": (
        "match self.a:\n    case 1 if self.b:\n        return x",
        "a, b",
        "match a:\n    case 1 if b:\n        return x",
    ),
    "a chained comparison": ("return 0 < self.a < self.b", "a, b", "return 0 < a < b"),
    "a starred argument": ("return g(*self.xs, **self.a)", "xs, a", "return g(*xs, **a)"),
    "a class in it": ("class K:\n    y = self.a\n\nreturn K", "a", "class K:\n    y = a\n\nreturn K"),
    "getattr with a name": ("return getattr(self, 'a')", "a", "return a"),
    "getattr with a default": ("return getattr(self, 'late', None)", "late", "return late"),
    "hasattr": ("return hasattr(self, 'late')", "has_late", "return has_late"),
    "brackets around self": ("return (self).a", "a", "return a"),
    "no blank before a bracket": ("if x:\n    return(self).a", "a", "if x:\n    return a"),
    "over lines": ("return (\n    self\n    .a\n)", "a", "return (\n    a\n)"),
    "an annotation without a value": ("self.c: int\nreturn self.a", "a", "c: int\nreturn a"),
    "a comment that names it": ("return self.a  # self.a", "a", "return a  # self.a"),
    "a text that names it": ("return 'self.a', self.a", "a", "return 'self.a', a"),
    "the class of the object": ("return self.__class__.__name__", "self_class", "return self_class.__name__"),
    "a shadowed self": ("g = lambda self: self.b\nreturn g(self.a)", "a", "g = lambda self: self.b\nreturn g(a)"),
}

NAMES = {
    "a loop variable": ("for a in x:\n    g(a - self.a)", "self_a", "for a in x:\n    g(a - self_a)"),
    "a comprehension's variable": ("return [a for a in self.a]", "self_a", "return [a for a in self_a]"),
    "a lambda's parameter": (
        "return max(x, key=lambda a: a * self.a)",
        "self_a",
        "return max(x, key=lambda a: a * self_a)",
    ),
    "a handler's name": (
        "try:\n    g()\nexcept E as a:\n    g(a, self.a)",
        "self_a",
        "try:\n    g()\nexcept E as a:\n    g(a, self_a)",
    ),
    "a pattern's name": (
        "match x:\n    case a:\n        g(a, self.a)",
        "self_a",
        "match x:\n    case a:\n        g(a, self_a)",
    ),
    "a global that is read": ("return a + self.a", "self_a", "return a + self_a"),
    "a global that is declared": ("global a\na = self.a", "self_a", "global a\na = self_a"),
    "an import": ("import a\nreturn a.b, self.a", "self_a", "import a\nreturn a.b, self_a"),
    "a nested function": (
        "def a():\n    return 1\n\nreturn a() + self.a",
        "self_a",
        "def a():\n    return 1\n\nreturn a() + self_a",
    ),
    "a name in a class body": (
        "class K:\n    a = self.a\n\nreturn K",
        "self_a",
        "class K:\n    a = self_a\n\nreturn K",
    ),
    "another parameter": ("return x + self.x", "self_x", "return x + self_x"),
    "both of its names": (
        "self_x = 1\nreturn x + self.x + self_x",
        "self_x_2",
        "self_x = 1\nreturn x + self_x_2 + self_x",
    ),
    "a builtin that is used": ("return len(x) + self.len", "self_len", "return len(x) + self_len"),
    "a keyword of the language": ("return getattr(self, 'class', 1)", "self_class", "return self_class"),
    "underscores": ("return self._c", "c", "return c"),
    "only underscores": ("return self._", "value", "return value"),
    "capitals": ("return self.MAX_SIZE", "max_size", "return max_size"),
    "two of one name": ("return self.c + self._c", "c, self_c", "return c + self_c"),
    "a local for it": ("a = self.a\nreturn a + self.a", "a", "return a + a"),
    "a local for it, with a comment": ("a = self.a  # short\nreturn a", "a", "# short\nreturn a"),
    "a local for it, below a docstring": ('"""Doc."""\n\na = self.a\n\nreturn a', "a", '"""Doc."""\n\nreturn a'),
    "a local of another name": ("y = self.a\nreturn y", "a", "y = a\nreturn y"),
    "a local that changes": ("a = self.a\na += 1\nreturn a", "self_a", "a = self_a\na += 1\nreturn a"),
    "a local of a branch": ("if x:\n    a = self.a\n    return a", "self_a", "if x:\n    a = self_a\n    return a"),
    "a local read before": (
        "if x:\n    del a\na = self.a\nreturn a",
        "self_a",
        "if x:\n    del a\na = self_a\nreturn a",
    ),
}

WRITES = {
    "last": ("self.a = x", "", "a = x\nreturn a"),
    "augmented": ("self.a += x", "a", "a += x\nreturn a"),
    "annotated": ("self.a: int = x", "", "a: int = x\nreturn a"),
    "a tuple of targets": ("self.a, self.b = x", "", "a, b = x\nreturn a, b"),
    "a starred target": ("self.a, *self.xs = x", "", "a, *xs = x\nreturn a, xs"),
    "a chain of targets": ("y = self.a = x\nreturn y", "", "y = a = x\nreturn y, a"),
    "for": ("for self.a in ():\n    pass", "a", "for a in ():\n    pass\nreturn a"),
    "with": ("with open(x) as self.a:\n    pass", "", "with open(x) as a:\n    pass\nreturn a"),
    "a branch": ("if x:\n    self.a = 1", "a", "if x:\n    a = 1\nreturn a"),
    "all branches": (
        "if x:\n    self.a = 1\nelse:\n    self.a = 2",
        "",
        "if x:\n    a = 1\nelse:\n    a = 2\nreturn a",
    ),
    "read before": ("self.b = self.a\nself.a = x", "a", "b = a\na = x\nreturn b, a"),
    "read after": ("self.a = x\nself.b = self.a", "", "a = x\nb = a\nreturn a, b"),
    "with a result": ("self.a = x\nreturn x", "", "a = x\nreturn x, a"),
    "with the attribute as the result": ("self.a += 1\nreturn self.a", "a", "a += 1\nreturn a"),
    "with one of two as the result": ("self.a = x\nself.b = x\nreturn self.b", "", "a = x\nb = x\nreturn a, b"),
    "with a tuple": ("self.a = x\nreturn x, 1", "", "a = x\nreturn (x, 1), a"),
    "with a tuple in brackets": ("self.a = x\nreturn (x, 1)", "", "a = x\nreturn (x, 1), a"),
    "with a tuple of brackets": ("self.a = x\nreturn (x), (1)", "", "a = x\nreturn ((x), (1)), a"),
    "with a lambda": ("self.a = x\nreturn lambda: x", "", "a = x\nreturn (lambda: x), a"),
    "with a choice": ("self.a = x\nreturn 1 if x else 2", "", "a = x\nreturn (1 if x else 2), a"),
    "with a result over lines": (
        "self.a = x\nreturn (\n    x\n    + 1\n)",
        "",
        "a = x\nreturn (\n    x\n    + 1\n), a",
    ),
    "with bare returns": ("if x:\n    return\nself.a = 1", "a", "if x:\n    return a\na = 1\nreturn a"),
    "with an explicit None": ("if x:\n    return None\nself.a = 1", "a", "if x:\n    return a\na = 1\nreturn a"),
    "with a result on some paths": (
        "self.a = x\nif x:\n    return 1",
        "",
        "a = x\nif x:\n    return 1, a\nreturn None, a",
    ),
    "before a function": ("self.a = x\n\ndef g():\n    pass", "", "a = x\n\ndef g():\n    pass\n\nreturn a"),
    "no way to the end": ("while True:\n    self.a = x\n    return", "", "while True:\n    a = x\n    return a"),
    "a name that is taken": ("a = 1\nself.a = a", "", "a = 1\nself_a = a\nreturn self_a"),
}


@pytest.mark.parametrize("name", READS)
def test_reads(name: str) -> None:
    check_body(*READS[name])


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    check_body(*NAMES[name])


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    check_body(*WRITES[name])


KEYS = {
    "parameters": ({"parameters": {"a": "first"}}, "self.a = x", "", "first = x\nreturn first"),
    "parameters of a read": ({"parameters": {"a": "first"}}, "return self.a", "first", "return first"),
    "a name that a local has": ({"parameters": {"a": "y"}}, "y = self.a\nreturn y", "y", "return y"),
    "returns": ({"returns": ("b", "a")}, "self.a = x\nself.b = x", "", "a = x\nb = x\nreturn b, a"),
    "leaves": ({"leaves": True}, "return self.a.n + self.a.n.k", "n", "return n + n.k"),
    "leaves of two": ({"leaves": True}, "return self.a.n + self.a.k", "a", "return a.n + a.k"),
    "leaves that are called": ({"leaves": True}, "return self.a.n()", "a", "return a.n()"),
    "one leaf": ({"leaves": ("a.n",)}, "return self.a.n + self.a.k", "n, a", "return n + a.k"),
    "a local for a leaf": ({"leaves": True}, "n = self.a.n\nreturn n", "n", "return n"),
    "lazy": ({"lazy": ("a",)}, "return lambda: self.a", "a", "return lambda: a()"),
    "lazy in a text": ({"lazy": ("a",)}, "return f'{self.a=}'", "a", "return f'self.a={a()!r}'"),
    "optional": ({"optional": ("c",)}, "if x:\n    return self.c", "c", "if x:\n    return c"),
    "owner": (
        {"owner": "owner"},
        "g(self)\nself.a = self.b\ndel self.b",
        "owner",
        "g(owner)\nowner.a = owner.b\ndel owner.b",
    ),
    "owner of a text": ({"owner": "o"}, "return f'{self.a=} {self=}'", "o", "return f'self.a={o.a!r} self={o!r}'"),
    "owner in closures": ({"owner": "o"}, "return lambda: self.a", "o", "return lambda: o.a"),
    "owner with super": ({"owner": "o"}, "return super(A, self).f(x)", "o", "return super(A, o).f(x)"),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_the_plan(name: str) -> None:
    keys, *texts = KEYS[name]
    assert isinstance(keys, dict)
    check_body(*texts, **keys)
