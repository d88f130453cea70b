"""redirect-attribute: reads, writes and what becomes of the attribute itself."""

from __future__ import annotations

import pytest

from codemods.schema.plan import RedirectAttribute
from codemods.transforms.redirect_attribute import TRANSFORM, words
from tests.support.trees import check, codes, tree

RUNNER = """\
# file: m.py
class Parallel:
    def __init__(self, tp_size): self.tp_size = tp_size
class Runner:
    tp_size: int
    def __init__(self, tp_size):
        self.ps = Parallel(tp_size=tp_size)
        # how many ranks
        self.tp_size = tp_size
        self.other = self.tp_size = tp_size
    def f(self):
        print(f"{self.tp_size=} {self.tp_size = :>3}", self . tp_size)
        self.tp_size += 1
        for self.tp_size, y in z: pass
        del self.tp_size
        return self.ps.tp_size, [self.tp_size for tp_size in range(self.tp_size)], tp_size
class Sub(Runner):
    def g(self, o: Runner): return self.tp_size + o.tp_size
class Args:
    tp_size = 1
    def f(self): return self.tp_size
# file: user.py
from m import Args, Runner
def f(r: Runner, args: Args):
    r.tp_size = args.tp_size
    return r.tp_size
"""
REDIRECTED = """\
# file: m.py
class Parallel:
    def __init__(self, tp_size): self.tp_size = tp_size
class Runner:
    tp_size: int
    def __init__(self, tp_size):
        self.ps = Parallel(tp_size=tp_size)
        # how many ranks
        self.ps.tp_size = tp_size
        self.other = self.ps.tp_size = tp_size
    def f(self):
        print(f"self.tp_size={self.ps.tp_size!r} self.tp_size = {self.ps.tp_size:>3}", self . ps.tp_size)
        self.ps.tp_size += 1
        for self.ps.tp_size, y in z: pass
        del self.ps.tp_size
        return self.ps.tp_size, [self.ps.tp_size for tp_size in range(self.ps.tp_size)], tp_size
class Sub(Runner):
    def g(self, o: Runner): return self.ps.tp_size + o.ps.tp_size
class Args:
    tp_size = 1
    def f(self): return self.tp_size
# file: user.py
from m import Args, Runner
def f(r: Runner, args: Args):
    r.ps.tp_size = args.tp_size
    return r.ps.tp_size
"""
STEP = RedirectAttribute(attribute="m:Runner.tp_size", via="ps")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_reads_and_writes(newline: str) -> None:
    planned = TRANSFORM.plan(tree(RUNNER, newline), STEP)
    assert codes(planned) == []
    assert planned.files is not None
    assert {path: planned.files.read(path) for path in planned.files.paths()} == {
        path: tree(REDIRECTED, newline).read(path) for path in ("m.py", "user.py")
    }


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_drop(newline: str) -> None:
    dropped = (
        REDIRECTED.replace("    tp_size: int\n", "")
        .replace("        self.ps.tp_size = tp_size\n", "")
        .replace("self.other = self.ps.tp_size = tp_size", "self.other = tp_size")
    )
    step = RedirectAttribute(attribute="m:Runner.tp_size", via="ps", drop=True)
    assert codes(check(TRANSFORM, step, RUNNER, dropped, newline=newline)) == []


DROPS = {
    "the only statement of a block": (
        "    def m(self):\n        if x:\n            self.v = self.q.v\n",
        "    def m(self):\n        if x:\n            pass\n",
    ),
    "on one line with others": (
        "    def m(self):\n        self.v = self.q.v; a = 1; self.v = self.q.v  # why\n        b = 2; self.v = self.q.v\n",
        "    def m(self):\n        a = 1  # why\n        b = 2\n",
    ),
    "the first target of a chain": ("    def m(self):\n        self.v = a = self.q.v\n", "    def m(self):\n        a = self.q.v\n"),
    "several lines": ("    def m(self):\n        self.v = (\n            self.q.v\n        )\n        a = 1\n", "    def m(self):\n        a = 1\n"),
    "a body of nothing else": (
        "    def m(self):\n        self.v = self.q.v\n        self.v = self.q.v\n",
        "    def m(self):\n        pass\n",
    ),
    "an annotation": ("    def m(self):\n        self.v: int = self.q.v\n        a = 1\n", "    def m(self):\n        a = 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPS)
def test_what_goes(name: str) -> None:
    before, after = DROPS[name]
    head = "# file: m.py\nclass Q:\n    v = 1\nclass A:\n    def __init__(self):\n        self.q = Q()\n"
    step = RedirectAttribute(attribute="m:A.v", via="q", drop=True)
    assert codes(check(TRANSFORM, step, head + before, head + after)) == []


def test_a_property_that_only_forwards() -> None:
    before = '''\
# file: m.py
class Q:
    n = 1
class A:
    def __init__(self):
        self.q = Q()

    @property
    def v(self):
        """How many."""
        return self.q.n

    @v.setter
    def v(self, value):
        self.q.n = value

    def f(self):
        self.v = self.v
'''
    after = """\
# file: m.py
class Q:
    n = 1
class A:
    def __init__(self):
        self.q = Q()

    def f(self):
        self.q.n = self.q.n
"""
    check(TRANSFORM, RedirectAttribute(attribute="m:A.v", via="q", to="n", drop=True), before, after)
    kept = before.replace("self.v = self.v", "self.q.n = self.q.n")
    planned = TRANSFORM.plan(tree(before), RedirectAttribute(attribute="m:A.v", via="q", to="n"))
    assert planned.files is not None
    assert planned.files.read("m.py") == tree(kept).read("m.py")


def a_class(body: str, head: str = "class Q:\n    def __init__(self, v=0): self.v = v\n") -> str:
    return f"# file: m.py\n{head}class A:\n" + "".join(f"    {line}\n" for line in body.splitlines())


HAZARDS = [
    ("def __init__(self):\n    self.q = None\n    self.v = 1", False, ["stop U102"]),
    (
        "def __init__(self, q: 'Q | None'):\n    self.q: 'Q | None' = q\n    self.v = 1",
        False,
        ["prove U101", "stop U102"],
    ),
    ("def __init__(self):\n    self.v = 1\n    self.q = Q()", False, ["stop U102"]),
    ("def __init__(self, q: Q):\n    self.q = q\n    self.v = 1", False, ["prove U101"]),
    ("def __init__(self):\n    self.q = Q()\n    self.v = 1\ndef f(self): self.q = Q()", False, ["prove U101"]),
    ("v = 1\ndef __init__(self): self.q = Q()", False, ["prove U101"]),
    ("def __init__(self):\n    self.v = 1\ndef init(self): self.q = Q()", False, ["prove U102"]),
    ("def __init__(self, n):\n    self.q = Q(v=n)\n    self.v = n", True, []),
    ("def __init__(self, n):\n    self.q = Q(v=n)\n    self.v = n + 1", True, ["prove U101", "stop U117"]),
    ("def __init__(self, n):\n    self.q = Q()\n    self.v = n", True, ["prove U101"]),
    ("def __init__(self):\n    self.q = Q()\n    self.v = self.q.v", True, []),
    ("def __init__(self):\n    self.q = Q()\n    self.v = 1\ndef f(self, x): return x.v", False, ["stop U115"]),
    ("def __init__(self):\n    self.q = Q()\n    self.v = getattr(self, 'v', 1)", False, ["stop U111"]),
    (
        "def __init__(self):\n    self.q = Q()\n    self.v = self.q.v\ndef f(self): return vars(self)",
        True,
        ["stop U119"],
    ),
]


@pytest.mark.parametrize(("body", "drop", "expected"), HAZARDS)
def test_hazards(body: str, drop: bool, expected: list[str]) -> None:
    planned = TRANSFORM.plan(tree(a_class(body)), RedirectAttribute(attribute="m:A.v", via="q", drop=drop))
    assert sorted(codes(planned)) == expected
    assert planned.files is not None


FROZEN = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Q:\n    v: int = 0\n"
REFUSALS = [
    ("def __init__(self): self.v = 1", "", "U102"),
    ("def __init__(self):\n    self.q = Q()\n    self.v = 1", "class Q:\n    w = 1\n", "U102"),
    ("def __init__(self):\n    self.q = Q()\n    self.v = 1", FROZEN, "frozen"),
    ("def __init__(self): self.q = Q()\n@property\ndef v(self): return 1", "class Q: v = 1\n", "U112"),
    ("def __init__(self): self.q = Q()\ndef v(self): return 1", "class Q: v = 1\n", "U112"),
    ("v = 1\nw = v\ndef __init__(self): self.q = Q()", "class Q: v = 1\n", "U102"),
    ("def __init__(self): self.q = Q()\nv = 1\n@classmethod\ndef c(cls): return cls.v", "class Q: v = 1\n", "U102"),
    ("def __init__(self): self.q = Q(); self.v = 1\ndef f(self):\n    match self:\n        case A(v=1): pass", "class Q: v = 1\n", "U119"),
    ("def __init__(self): self.q = 1", "", "unknown-definition"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "head", "code"), REFUSALS)
def test_refusals(body: str, head: str, code: str) -> None:
    planned = TRANSFORM.plan(tree(a_class(body, head)), RedirectAttribute(attribute="m:A.v", via="q"))
    assert {each.code for each in planned.refusals} == {code}
    assert planned.files is None


def test_a_field_of_a_dataclass_is_a_parameter_too() -> None:
    text = a_class("v: int = 1\nq: Q = None", "from dataclasses import dataclass\nclass Q: v = 1\n@dataclass\n")
    planned = TRANSFORM.plan(tree(text), RedirectAttribute(attribute="m:A.v", via="q"))
    assert {each.code for each in planned.refusals} == {"U121"}


@pytest.mark.parametrize(("via", "to"), [("v", ""), ("q.class", ""), ("", ""), ("q", "1")])
def test_no_name(via: str, to: str) -> None:
    planned = TRANSFORM.plan(
        tree(a_class("def f(self): self.v = 1")), RedirectAttribute(attribute="m:A.v", via=via, to=to)
    )
    assert {each.code for each in planned.refusals} == {"bad-name"}


def test_words() -> None:
    found = words(RedirectAttribute(attribute="m:Runner.tp_size", via="ps", drop=True))
    assert found.subject == "Read Runner.tp_size as ps.tp_size"
