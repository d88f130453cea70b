"""U101: an attribute that is passed at the call although something in the body changes it before it is read there.

Each was once extracted without a word, and printed another value afterwards."""

from __future__ import annotations

from textwrap import dedent

import pytest

from codemods.plan.check import run_plan
from codemods.schema.config import Settings
from codemods.schema.plan import ExtractMethod, Plan
from codemods.schema.progress import Silent
from tests.support.keyword_trees import tree

HEAD = "class A:\n    def __init__(self):\n        self.x = 1\n"
CHANGES = {
    "a function of the module writes it": (
        "REG = []\n\n\ndef tick():\n    for o in REG:\n        o.x += 1\n\n\n" + HEAD,
        "def m(self):\n    tick()\n    return self.x",
        "print(1)\n",
    ),
    "a parameter may be the object": (HEAD, "def m(self, o):\n    o.x = 4\n    return self.x", ""),
    "a property counts": (
        "class A:\n    n = 0\n\n    @property\n    def x(self):\n        self.n += 1\n        return self.n\n",
        "def m(self):\n    return [self.x, self.x]",
        "",
    ),
    "setattr in a method": (
        HEAD + "\n    def put(self, k, v):\n        setattr(self, k, v)\n",
        "def m(self, k):\n    self.put(k, 8)\n    return self.x",
        "",
    ),
    "__dict__ in a method": (
        HEAD + "\n    def load(self, d):\n        self.__dict__.update(d)\n",
        "def m(self, d):\n    self.load(d)\n    return self.x",
        "",
    ),
    "a callback that is given": (
        HEAD,
        "def m(self, cb):\n    cb()\n    return self.x",
        "a = A()\n\n\ndef f():\n    a.x = 9\n",
    ),
    "a generator that is given": (
        HEAD,
        "def m(self, it):\n    return [self.x for i in it]",
        "a = A()\n\n\ndef f():\n    for i in range(3):\n        a.x = i\n        yield i\n",
    ),
    "__getattr__": (
        "class A:\n    def __getattr__(self, k):\n        print(k)\n        return k\n",
        "def m(self):\n    print('in')\n    return self.x",
        "",
    ),
}
QUIET = {
    "nobody else writes it": (HEAD, "def m(self):\n    print(1)\n    return self.x", ""),
    "another object's attribute": (
        HEAD,
        "def m(self, cb):\n    cb()\n    return self.x",
        "class B:\n    x = 0\n\n\nb = B()\n\n\ndef f():\n    b.x = 9\n",
    ),
}


def codes(head: str, method: str, user: str) -> list[str]:
    body = "\n".join(f"    {line}" for line in dedent(method).splitlines())
    files = tree(p__a=f"{head}\n{body}\n", p__main=f"from p.a import A\n\n{user}", p__b="")
    step = ExtractMethod(method="p.a:A.m", to="p.b", wrapper=True)
    result = run_plan(files, Plan(id="x", step=(step,)), Settings(), Silent())
    return [hazard.code for hazard in result.steps[0].hazards]


@pytest.mark.parametrize("name", CHANGES)
def test_is_reported(name: str) -> None:
    assert "U101" in codes(*CHANGES[name])


@pytest.mark.parametrize("name", QUIET)
def test_is_no_alarm(name: str) -> None:
    assert "U101" not in codes(*QUIET[name])
