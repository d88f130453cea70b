"""Whole modules, judged to the end: what a class is given in place of an object, and functions that call themselves.

Like test_kernel_parts.py: each pair differs from one that is certified in one place alone."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from codemods.source.files import FileSet, MemoryTree
from codemods.verify.certificate import examine
from codemods.verify.chain import checks
from codemods.verify.change import TreeChange, between

_OBJECT = """\
class Runner:
    def __init__(self):
        self.size = 4
        self.step = 1


class Other:
    def __init__(self, runner, n):
        self.runner = runner
        self.n = n


class Helper:
    def __init__(self, runner, n=1, m=2):
        self.runner = runner
        self.n = n
        self.m = m

    def total(self, o):
        return self.runner.size + self.n + self.m.deep + o.runner.n

    def more(self, o):
        return self.n


def build(f, g, h):
    runner = Runner()
    return Helper(runner, n=f(), m=g())
"""
_SELF = """\
class T:
    def __init__(self):
        self.k = 1

    def walk(self, n):
        if n:
            return self.walk(n.left)
        return self.k
"""


def edited(text: str, *swaps: tuple[str, str]) -> str:
    for old, new in swaps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


_FIELD = edited(
    _OBJECT,
    ("Helper:\n    def __init__(self, runner, n=1, m=2):\n        self.runner = runner",
     "Helper:\n    def __init__(self, size, n=1, m=2):\n        self.size = size"),
    ("self.runner.size", "self.size"),
    ("Helper(runner,", "Helper(runner.size,"),
)  # fmt: skip
_GETTER = edited(
    _FIELD,
    ("self, size, n", "self, get_size, n"),
    ("self.size = size", "self.get_size = get_size"),
    ("self.size +", "self.get_size() +"),
    ("Helper(runner.size,", "Helper(lambda: runner.size,"),
)
_CALLED = edited(_OBJECT, ("self.runner.size", "self.runner.size(o)"))
_CALLBACK = edited(
    _FIELD, ("return self.size", "return self.size(o)"), ("Helper(runner.size,", "Helper(lambda n: runner.size(n),")
)
_FREE = """\
class T:
    def __init__(self):
        self.k = 1

    def walk(self, n):
        return walk(n, k=self.k)


def walk(n, *, k):
    if n:
        return walk(n.left, k=k)
    return k
"""
_CALL, _CALL_NOW = "Helper(runner, n=f(), m=g())", "Helper(runner.size, n=f(), m=g())"
_LAST = "self.m = m"
_HEAD = "def __init__(self, runner, n=1, m=2):"
_BY_GETTER = "lambda: runner.size"


class Edit(NamedTuple):
    """The same, or each its own, swaps of a pair of modules; what is added at the end of both."""

    before: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()
    more: str = ""

    def of(self, old: str, new: str) -> tuple[str, str]:
        return edited(old, *self.before) + self.more, edited(new, *self.after) + self.more


def _both(old: str, before: str, after: str) -> Edit:
    return Edit(((old, before),), ((old, after),))


def _after(old: str, new: str) -> Edit:
    return Edit((), ((old, new),))


def _added(text: str) -> Edit:
    return Edit(more=f"\n\n{text}\n")


_FIELDS = [
    # what is given
    Edit(((_CALL, "Helper(runner, n=f(), m=g())"),), ((_CALL_NOW, "Helper(runner.size, m=g(), n=f())"),)),
    Edit(((_CALL, "Other(runner, f())"),), ((_CALL_NOW, "Helper(runner.size, f())"),)),
    Edit(((_CALL, "Helper(runner, **g())"),), ((_CALL_NOW, "Helper(runner.size, **h())"),)),
    Edit(((_CALL, "Helper(runner, 1, 2, 3)"),), ((_CALL_NOW, "Helper(runner.size, 1, 2, 4)"),)),
    Edit(((_CALL, "Helper(runner, *g)"),), ((_CALL_NOW, "Helper(runner.size, *h)"),)),
    Edit(((_CALL, "Helper(runner, n=f(), m=g())"),), ((_CALL_NOW, "Helper(runner.size, n=f())"),)),
    Edit(((_CALL, "Helper(runner, n=f())"),), ((_CALL_NOW, "Helper(runner.size, n=f(), m=g())"),)),
    Edit(((_CALL, "Helper(h(), n=f(), m=g())"),), ((_CALL_NOW, "Helper(4, n=f(), m=g())"),)),
    _after(_CALL_NOW, "Helper(runner.step, n=f(), m=g())"),
    _after(_CALL_NOW, "Helper(runner.size, n=f(), m=h())"),
    Edit((), ((_CALL_NOW, "Helper(n=f(), m=g())"), ("self, size, n", "self, size=4, n"))),
    Edit(((_CALL, f"{_CALL} + runner"),), ((_CALL_NOW, f"{_CALL_NOW} + f"),)),
    Edit(((_CALL, "h"),), ((_CALL_NOW, _CALL_NOW),)),
    Edit(((_CALL, _CALL),), ((_CALL_NOW, "h"),)),
    Edit((("    return Helper(", "    runner.size = 5\n    return Helper("),),
         ((f"    return {_CALL_NOW}", "    runner.size = 5\n    return Helper(5, n=f(), m=g())"),)),
    Edit(((f"    return {_CALL}", f"    x = {_CALL}\n    runner.size = 9\n    return x"),),
         ((f"    return {_CALL_NOW}", f"    x = {_CALL_NOW}\n    runner.size = 9\n    return x"),)),
    Edit(((_CALL, "Helper(runner, n=f(), m=5)"),), ((_CALL_NOW, "Helper(runner.size, n=f())"),)),
    Edit(((f"    return {_CALL}", f"    x = h()\n    y = {_CALL}\n    return x, y"),),
         ((f"    return {_CALL_NOW}", f"    y = {_CALL_NOW}\n    return h(), y"),)),
    # what is kept
    Edit((), (("m=2)", "m=2, z=3)"), (_LAST, f"{_LAST}\n        self.z = z"))),
    Edit((("m=2)", "m=2, z=3)"), (_LAST, f"{_LAST}\n        self.z = z"))),
    _after(_LAST, f"{_LAST}\n        self.size = n"),
    _after(_LAST, f"{_LAST}\n        self.size = 5"),
    Edit(((_LAST, f"{_LAST}\n        self.runner = n"),)),
    Edit(((_LAST, "self.m = runner"),), ((_LAST, "self.m = size"),)),
    Edit(((_LAST, f"{_LAST}\n        self.q = runner"),), ((_LAST, f"{_LAST}\n        self.q = size"),)),
    Edit(((_LAST, f"{_LAST}\n        m()"),),
         (("        self.size = size\n", ""), (_LAST, f"{_LAST}\n        m()\n        self.size = size"))),
    Edit(((_LAST, f"{_LAST}\n        self.q = self.runner.size"),),
         (("        self.size = size\n", ""),
          (_LAST, f"{_LAST}\n        self.q = self.size\n        self.size = size"))),
    Edit(((_LAST, f"{_LAST}\n        if n:\n            self.q = 1"),),
         (("        self.size = size\n", ""),
          (_LAST, f"{_LAST}\n        if n:\n            self.q = 1\n            self.size = size"))),
    # what is read
    Edit((("o.runner.n", "o.runner.size"),), (("o.runner.n", "o.size"),)),
    _both("        return self.n\n", "        return self.x.runner.size\n", "        return self.x.size\n"),
    _both("        return self.n\n", "        return o.runner.size\n", "        return o.size\n"),
    _both("        return self.n\n", "        return build.runner.size\n", "        return build.size\n"),
    _both("        return self.n\n", "        return self.runner.step\n", "        return self.size\n"),
    # who else
    _both("    def more(self, o):\n", "    def reset(self):\n        self.size = 0\n\n    def more(self, o):\n",
          "    def reset(self):\n        self.size = 0\n\n    def more(self, o):\n"),
    _added("def other(runner):\n    return Helper(runner, 5)"),
    _added("def other(runner):\n    return Helper(*[runner])"),
    _added("def other(runner):\n    k = Helper\n    return k(runner)"),
    _added("class Sub(Helper):\n    pass\n\n\ndef other(runner):\n    return Sub(runner)"),
    _added("def other(helper):\n    return helper.runner"),
    _added("def other(helper, x):\n    helper.runner = x"),
    _added("def other(helper, x):\n    helper.size = x"),
]  # fmt: skip
_GETTERS = [
    _after(_BY_GETTER, "lambda: runner.step"),
    _after(_BY_GETTER, "lambda n: runner.size"),
    _after(_BY_GETTER, "runner.size"),
    _after(_BY_GETTER, "f"),
    Edit((("return self.n\n", "return self.runner.size\n"),), (("return self.n\n", "return self.get_size(1)\n"),)),
    Edit((("return self.n\n", "return self.runner.size\n"),), (("return self.n\n", "return self.get_size(k=1)\n"),)),
    Edit((("return self.n\n", "return self.runner.step\n"),), (("return self.n\n", "return self.get_size()\n"),)),
    Edit(((f"return {_CALL}", f"x = {_CALL}\n    runner = h\n    return x"),),
         (("return Helper", "x = Helper"), ("m=g())", "m=g())\n    runner = h\n    return x"))),
]  # fmt: skip
_CALLBACKS = [
    _after("lambda n: runner.size(n)", "lambda n: runner.size(1)"),
    _after("lambda n: runner.size(n)", "lambda n: runner.size"),
    _after("lambda n: runner.size(n)", "lambda n: runner.step(n)"),
    _after("lambda n: runner.size(n)", "lambda n: runner.size(n, k=1)"),
    _after("lambda n: runner.size(n)", "lambda n, k: runner.size(k, n)"),
    _after("lambda n: runner.size(n)", "lambda runner: runner.size(runner)"),
]
_CALLBACKS.append(
    Edit(((f"return {_CALL}", f"x = {_CALL}\n    runner = h\n    return x"),),
         (("return Helper", "x = Helper"), ("m=g())", "m=g())\n    runner = h\n    return x")))
)  # fmt: skip
_RECURSION = [
    Edit((("return self.walk(n.left)", "x = n.x()\n            y = self.walk(n.left)\n            return x, y"),),
         (("        return walk(n.left, k=k)", "        y = walk(n.left, k=k)\n        return n.x(), y"),)),
    Edit((("        if n:", "        n = n.next\n        if n:"),), (("walk(n, k=self.k)", "walk(n.next, k=self.k)"),)),
    Edit((("        if n:", "        print(n)\n        if n:"),),
         (("        return walk(n, k", "        print(n)\n        return walk(n, k"),)),
    Edit((("        if n:", "        if n:\n            self.k = 3"),),
         (("return walk(n, k=self.k)", "return walk(self, n, k=self.k)"), ("def walk(n", "def walk(t, n"),
          ("    if n:", "    if n:\n        t.k = 3"), ("return walk(n.left", "return walk(t, n.left"))),
    Edit((("return self.k", "return n.x"),), (("k=self.k", "k=n.x"),)),
    Edit((("        if n:", "        if n:\n            self.m()"),
          ("    def walk", "    def m(self):\n        self.k = 3\n\n    def walk")),
         (("return walk(n, k=self.k)", "return walk(self, n, k=self.k)"), ("def walk(n", "def walk(t, n"),
          ("    if n:", "    if n:\n        t.m()"), ("return walk(n.left", "return walk(t, n.left"),
          ("    def walk", "    def m(self):\n        self.k = 3\n\n    def walk"))),
    _after("n.left", "n.right"),
    _after("n.left, k=k", "n.left, k=2"),
    _after("n.left, k=k", "n.left, k=n"),
    Edit((("self.walk(n.left)", "n.owner.walk(n.left)"),)),
    Edit((("self.walk(n.left)", "n.owner.walk(n.left)"),), (("self, n)", "self, n, e=0)"),)),
    Edit((("self, n)", "self, n, e=0)"), ("n.left", "n.left, 5"), ("return self.k", "return e")),
         (("self, n)", "self, n, e=0)"), ("k=self.k", "k=e"))),
    Edit((("self, n)", "self, n, e=0)"), ("n.left", "n.left, 5")), (("self, n)", "self, n, e=0)"),)),
]  # fmt: skip
_METHOD = """\
class T:
    def f(self):
        b = self.a(1)
        del b
        return self.a(1)
"""
_SPLIT = """\
class T:
    def f(self):
        return f(a=self.a)


def f(*, a):
    b = a(1)
    del b
    return a(1)
"""
Text = str | dict[str, str]


def _moved(code: str, head: str = "") -> tuple[Text, Text]:
    """A definition that goes from one module to another."""
    rest = "def stays(a, b):\n    return a + b\n"
    text = f"{head}\n\n{code}\n"
    return {"m.py": f"{text}\n\n{rest}", "n.py": head + "\n"}, {"m.py": f"{head}\n\n{rest}", "n.py": text}


_STANDS = [
    *(_moved(f"def f(a):\n    return a, {name}") for name in ("__name__", "__file__", "__spec__", "__package__")),
    *(_moved(f"def f(a):\n    b = a\n    return {name}()") for name in ("locals", "globals", "vars", "dir")),
    _moved("class K:\n    def f(self):\n        return __class__"),
    _moved("class K:\n    def f(self):\n        b = 1\n        return locals()"),
    _moved("def f(a, b=(1, c.v)):\n    return a, b", "import c"),
    _moved("def f(a, b=v):\n    return a, b", "from c import v"),
    _moved("def f(a, b=-c.v):\n    return a, b", "import c"),
    _moved("x = 1\n\n\ndef f(a):\n    global x\n    del x\n    return a"),
]  # fmt: skip

SAME_MODULES: list[tuple[Text, Text]] = [
    _moved("class K:\n    def f(self):\n        return super().f()"),
    _moved("def f(a, b=(1, -2), c=int):\n    return a, b, c"),
    _moved("def f(a):\n    b = a()\n    del b\n    return a"),
    (_METHOD, _SPLIT),
    (_OBJECT, _FIELD),
    (_OBJECT, _GETTER),
    (_CALLED, _CALLBACK),
    (_SELF, _FREE),
    Edit(((_CALL, "Helper(n=f(), runner=runner)"),), ((_CALL_NOW, "Helper(n=f(), size=runner.size)"),)).of(
        _OBJECT, _FIELD
    ),
]
DIFFERENT_MODULES: list[tuple[Text, Text]] = [
    (_METHOD, edited(_SPLIT, ("    return a(1)", "    return 2"))),
    (edited(_METHOD, ("        del b\n", "        del b\n        b.x\n")), edited(_SPLIT, ("del b", "del a"))),
    *_STANDS,
    *(each.of(_OBJECT, _FIELD) for each in _FIELDS),
    *(each.of(_OBJECT, _GETTER) for each in _GETTERS),
    *(each.of(_CALLED, _CALLBACK) for each in _CALLBACKS),
    *(each.of(_SELF, _FREE) for each in _RECURSION),
]


def module_change(before: Text, after: Text) -> TreeChange:
    trees = [text if isinstance(text, dict) else {"m.py": text} for text in (before, after)]
    return between(*(FileSet(MemoryTree({path: text.encode() for path, text in tree.items()})) for tree in trees))


@pytest.mark.parametrize(("before", "after"), SAME_MODULES)
def test_modules_that_are_the_same(before: Text, after: Text) -> None:
    ledger = examine(module_change(before, after), *checks(None, None))
    assert [*ledger.residue, *ledger.problems] == []
    assert ledger.verdict.value == "mechanical"


@pytest.mark.parametrize(("before", "after"), DIFFERENT_MODULES)
def test_modules_that_differ(before: Text, after: Text) -> None:
    ledger = examine(module_change(before, after), *checks(None, None))
    assert ledger.problems or ledger.verdict.value != "mechanical"
