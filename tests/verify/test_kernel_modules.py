"""Small modules, judged to the end: moments at which an attribute is read or stored, who may write it in between, and
functions that take other parameters now and are called on both sides.

Like test_kernel_parts.py: where `tests.power` finds a check that could go missing unseen, its pair belongs here."""

from __future__ import annotations

from textwrap import dedent

import pytest

from codemods.verify.certificate import examine
from codemods.verify.chain import checks
from tests.verify.test_kernel_more import Text, module_change

Pair = tuple[Text, Text]

# ---- attributes that another object holds now

_HELD_BY_P = """
from typing import NamedTuple


class P(NamedTuple):
    a: int
    b: int
    c: int
    d: int


"""
_HELD_BY_Q = """
class Q(NamedTuple):
    e: int
    g: int
    h: int
    i: int


"""
_STORES = ("self.a = a", "self.b = b", "self.c = c", "self.d = d")
_STORES_P = "self.p = P(a=a, b=b, c=c, d=d)"


def _class(names: str, body: tuple[str, ...], read: str, more: str = "") -> str:
    """A class that stores in its initialiser, a function that reads what it has stored, and one that does not."""
    lines = "".join(f"        {line}\n" for line in body)
    shown = read.replace("self", "k")
    return (
        f"def log(x, y):\n    print(x, y)\n\n\ndef show(k):\n    print({shown})\n\n\n{more}"
        f"class K:\n    def __init__(self, {names}):\n{lines}\n    def f(self):\n        return {read}\n"
    )


def _held(old: tuple[str, ...], new: tuple[str, ...]) -> Pair:
    names = "abcd"
    reads = [" + ".join(f"self.{head}{each}" for each in names) for head in ("", "p.")]
    return _class(", ".join(names), old, reads[0]), _HELD_BY_P + _class(", ".join(names), new, reads[1])


def _held_by_two() -> Pair:
    names, more = "a, b, c, d, e, g, h, i", ("self.e = e", "self.g = g", "self.h = h", "self.i = i")
    end = "log(x, c)"
    reads = [
        " + ".join(f"self.{head}{each}" for head, part in zip(heads, ("abcd", "eghi"), strict=True) for each in part)
        for heads in (("", ""), ("p.", "q."))
    ]
    old = _class(names, (*_STORES, *more, "x = a", end), reads[0])
    new = ("x = a", _STORES_P, "self.q = Q(e=e, g=g, h=h, i=i)", end)
    return old, _HELD_BY_P + _HELD_BY_Q + _class(names, new, reads[1])


_EXTRA = "self.y = P(a, b, c, d)"
_PLAIN = _class("a, b, c, d", ("self.p = a", "self.z = b"), "self.p.a + self.z")
_HOLDERS_SAME = [_held((*_STORES, "x = a", "log(x, c)"), ("x = a", _STORES_P, "log(x, c)")), _held_by_two()]
_HOLDERS = [
    _held((*_STORES, "show(self)"), ("show(self)", _STORES_P)),
    _held(("x = 1", *_STORES, "a = 5", "log(a, x)"), ("x = 1", "a = 5", _STORES_P, "log(a, x)")),
    (_PLAIN, _HELD_BY_P + _PLAIN.replace("self.z = b\n", f"self.z = b\n        {_EXTRA}\n")),
    (_class("ps", ("self.a = ps.a", "show(self)", "self.ps = ps"), "self.a"),
     _class("ps", ("show(self)", "self.ps = ps"), "self.ps.a")),
]  # fmt: skip

# ---- what is read once, before a loop or a call, where it was read again


def _read_once(effect: str, method: str = "") -> Pair:
    """An attribute that is read before a loop now; the loop has an effect on the object."""
    head = f"class K:\n    def __init__(self):\n        self.a = 1\n\n{method}"
    old = f"{head}    def f(self, c):\n        while c:\n            print(self.a)\n            {effect}\n"
    new = f"{head}    def f(self, c):\n        h(self, c, a=self.a)\n"
    function = f"\n\ndef h(k, c, *, a):\n    while c:\n        print(a)\n        {effect.replace('self', 'k')}\n"
    return old, new + function


_WRITES = "        self.a = 2\n"
_ONCE = [
    _read_once("self.m()", f"    def m(self):\n{_WRITES}\n"),
    _read_once("self.a = 5"),
    _read_once(
        "with self: pass", f"    def __enter__(self):\n{_WRITES}\n    def __exit__(self, *e):\n        pass\n\n"
    ),
]


def _taken(statement: str, read: str, names: str = "a, b", used: str = "a, b", head: str = "") -> Pair:
    """What a function reads after a statement; both go to another one now, which is handed what is read."""
    given = ", ".join(filter(None, (used, read)))
    taken = ", ".join(filter(None, (used, "v")))
    before = f"{head}def go({names}):\n    {statement}\n    return {read}\n"
    after = f"{head}def go({names}):\n    return take({given})\n\n\ndef take({taken}):\n    {statement}\n    return v\n"
    return before, after


_BOX = dedent("""\
    class Box:
        def __init__(self):
            self.v = 0
            self.b = None

        def m(self):
            self.v = 1


    """)
_GLOBAL = "G = len('a')\n\n\ndef put(v):\n    global G\n    G = v\n\n\n"
_KLASS = "class K:\n    n = 1\n\n\ndef put():\n    K.n = 5\n\n\n"
_TAKEN_SAME = [
    _taken("print(1)", "a.v", used="", head=_BOX),
    _taken("b.w = 1", "a.v", used="b", head=_BOX),
    _taken("a.v = 1", "a.b.v", used="a", head=_BOX),
    _taken("a.b.v = 1", "a.v", used="a", head=_BOX),
    _taken("a.v = 1", "G", used="a", head=_GLOBAL),
]
_TAKEN = [
    _taken("b.m()", "a.v", used="b", head=_BOX),
    _taken("put(2)", "G", used="", head=_GLOBAL),
    _taken("put()", "K.n", used="", head=_KLASS),
    _taken("K.n = 5", "K.n", used="", head=_KLASS),
]
_OWN = dedent("""\
    class T:
        def __init__(self, h):
            self.h = h

        def go(self):
            h = make()
            self.m()
            return h.v

        def m(self):
            self.h.v = 2


    def make():
        return T(None)
    """)
_OWN_NOW = _OWN.replace("        self.m()\n        return h.v\n", "        return take(self, h.v)\n")
_TAKEN.append((_OWN, f"{_OWN_NOW}\n\ndef take(t, v):\n    t.m()\n    return v\n"))

# ---- functions that take other parameters now


def _called(old: tuple[str, str, str], new: tuple[str, str, str], more: str = "") -> Pair:
    """Parameters, body and call of a function, on both sides."""
    return tuple(  # type: ignore[return-value]
        f"def h({head}):\n    {body}\n\n\ndef g(p, q):\n    return print({call})\n{more}"
        for head, body, call in (old, new)
    )


_EFFECTS = "\n\ndef e():\n    return print(1)\n\n\ndef i():\n    return print(2)\n"
_AGAIN = ("n", "if n:\n        return h(n.left)\n    return 5", "h(p)")


def _again(call: str, first: str = "") -> Pair:
    return _called(_AGAIN, ("n, *, k", f"if n:{first}\n        return {call}\n    return k", "h(p, k=5)"))


_CALLED_SAME = [
    _called(("o", "return o.a + o.b", "h(p)"), ("*, first, b", "return first + b", "h(first=p.a, b=p.b)")),
    _called(("o, x", "o.go()", "h(p, 1)"), ("*, o", "o.go()", "h(o=p)")),
    _called(("x, y", "return x + y", "h(p, p)"), ("*, x", "return x + x", "h(x=p)")),
    _called(("x, z", "return x + z", "h(e(), i())"), ("*, x", "return x + i()", "h(x=e())"), _EFFECTS),
    _again("h(n.left, k=k)"),
]
_CALLED = [
    _called(("x, y", "return x - y", "h(e(), i())"), ("*, x, y", "return y - x", "h(x=e(), y=i())"), _EFFECTS),
    _again("h(n.left, k=6)"),
    _again("h(n.left, k=k)", "\n        k = 6"),
]

# ---- methods that call themselves and are functions now

_TREE = """\
class T:
    def __init__(self, k, child):
        self.k = k
        self.child = child

    def go(self, n, m):
        return {go}
"""
_TREES = [
    (_TREE.format(go="self.walk(n)") + """
    def walk(self, n):
        if n:
            return self.child.walk(n.left)
        return self.k
""", _TREE.format(go="walk(self, n, k=self.k)") + """

def walk(self, n, *, k):
    if n:
        return walk(self.child, n.left, k=k)
    return k
"""),
    (_TREE.format(go="1") + """
    def walk(self, n):
        if n:
            return self.walk(n.left)
        return self.k


class S(T):
    def walk(self, n):
        return super().walk(n) + 1
""", _TREE.format(go="1") + """
    def walk(self, n):
        return walk(n, k=self.k)


def walk(n, *, k):
    if n:
        return walk(n.left, k=k)
    return k


class S(T):
    def walk(self, n):
        return super().walk(n) + 1
"""),
    (_TREE.format(go="1") + """
    def walk(self, n, m):
        if n:
            return self.walk(n.left, m)
        return self.k - m
""", _TREE.format(go="1") + """
    def walk(self, n, m):
        return walk(n=m, m=n, k=self.k)


def walk(n, m, *, k):
    if m:
        return walk(m.left, n, k=k)
    return k - n
"""),
    (_TREE.format(go="1") + """
    def walk(self, n):
        while n:
            print(self.k)
            self.walk(n.left)
        self.k = 2
""", _TREE.format(go="1") + """
    def walk(self, n):
        return walk(self, n, k=self.k)


def walk(t, n, *, k):
    while n:
        print(k)
        walk(t, n.left, k=k)
    t.k = 2
"""),
]  # fmt: skip

SAME_JUDGED: list[Pair] = [*_HOLDERS_SAME, *_TAKEN_SAME, *_CALLED_SAME]
DIFFERENT_JUDGED: list[Pair] = [*_HOLDERS, *_ONCE, *_TAKEN, *_CALLED, *_TREES]


@pytest.mark.parametrize(("before", "after"), SAME_JUDGED)
def test_modules_that_are_the_same(before: Text, after: Text) -> None:
    ledger = examine(module_change(before, after), *checks(None, None))
    assert [*ledger.residue, *ledger.problems] == []
    assert ledger.verdict.value == "mechanical"


@pytest.mark.parametrize(("before", "after"), DIFFERENT_JUDGED)
def test_modules_that_differ(before: Text, after: Text) -> None:
    ledger = examine(module_change(before, after), *checks(None, None))
    assert ledger.problems or ledger.verdict.value != "mechanical"
