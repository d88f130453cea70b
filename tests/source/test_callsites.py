"""Every place that refers to a method or function, and how sure. A place is told as `path:line kind certainty`."""

from __future__ import annotations

import pytest

from codemods.schema.errors import SourceError
from codemods.schema.refs import DefRef
from codemods.source.callsites import CallSites, call_sites, node_at
from codemods.source.parse import load
from tests.support.trees import tree


def sites(text: str, ref: str) -> CallSites:
    return call_sites(tree(text), DefRef.parse(ref))


def told(found: CallSites) -> list[str]:
    return [f"{each.path}:{each.line} {each.kind.value} {each.certainty.value}" for each in found.sites]


CLASSES = """\
# file: m.py
import functools
from threading import Thread


class Mixin:
    def a(self):
        self.step(1)


class Base:
    def b(self):
        self.step(2)


class Runner(Mixin, Base):
    def step(self, n): ...

    @classmethod
    def c(cls):
        cls.step(None, 3)

    def d(self, xs):
        f = self.step
        map(self.step, xs)
        Thread(target=self.step)
        functools.partial(self.step, 1)
        return f"{self.step(4)}", lambda: self.step(5), [self.step(x) for x in xs]

    again = step


class Fast(Runner):
    def e(self):
        self.step(6)
        super().step(7)


class Other:
    def step(self): ...

    def f(self):
        self.step()
# file: use.py
import m
from m import Other, Runner as R


def go(r: R, o: Other, u, fast: "m.Fast"):
    r.step(1)
    o.step()
    u.step(2)
    fast.step(3)
    R.step(r, 4)
    m.Runner.step(r, 5)
    Other.step(o)
    R().step(6)
    r.step = None
    del r.step
# file: only_text.py
def step(): ...


TEXT = "step"
"""


def test_every_kind_of_reference() -> None:
    found = sites(CLASSES, "m:Runner.step")
    assert told(found) == [
        "m.py:7 self-call sure",
        "m.py:12 self-call sure",
        "m.py:20 cls-call sure",
        "m.py:23 reference sure",
        "m.py:24 reference sure",
        "m.py:25 reference sure",
        "m.py:26 reference sure",
        "m.py:27 self-call sure",
        "m.py:27 self-call sure",
        "m.py:27 self-call sure",
        "m.py:29 reference sure",
        "m.py:34 self-call sure",
        "m.py:35 super-call sure",
        "use.py:6 instance-call sure",
        "use.py:8 instance-call possible",
        "use.py:9 instance-call sure",
        "use.py:10 class-call sure",
        "use.py:11 class-call sure",
        "use.py:13 instance-call sure",
        "use.py:14 assignment sure",
        "use.py:15 deletion sure",
    ]
    assert not found.is_unique
    by_line = {(each.path, each.line): each for each in found.sites}
    assert by_line["m.py", 34].via_subclass
    assert not by_line["m.py", 27].via_subclass
    assert str(by_line["m.py", 34].enclosing_class) == "m:Fast"
    assert by_line["use.py", 8].reason == "u has no annotation"


def test_nodes_are_found_again() -> None:
    files = tree(CLASSES)
    for site in call_sites(files, DefRef.parse("m:Runner.step")).sites:
        node = node_at(load(files, site.path), site)
        assert type(node) is type(site.node)
        assert node.lineno <= site.line  # type: ignore[attr-defined]


def test_the_only_one_of_its_name_is_sure() -> None:
    text = """\
# file: m.py
class Runner:
    def init_cublas(self): ...


def go(anything, thing):
    anything.init_cublas()
    thing.part.init_cublas()
"""
    found = sites(text, "m:Runner.init_cublas")
    assert found.is_unique
    assert told(found) == ["m.py:6 instance-call sure", "m.py:7 instance-call sure"]


@pytest.mark.parametrize(
    "other",
    [
        "class Other:\n    def init_cublas(self): ...\n",
        "class Other:\n    init_cublas = None\n",
        "class Other:\n    init_cublas: int\n",
        "def init_cublas(): ...\n",
        "def f(x):\n    x.init_cublas = 1\n",
        "class Other:\n    a, init_cublas = 1, 2\n",
    ],
)
def test_another_of_the_name_makes_it_only_possible(other: str) -> None:
    text = "# file: m.py\nclass Runner:\n    def init_cublas(self): ...\n\n\ndef go(x):\n    x.init_cublas()\n"
    found = sites(f"{text}# file: n.py\n{other}", "m:Runner.init_cublas")
    assert not found.is_unique
    assert "m.py:6 instance-call possible" in told(found)


def test_a_name_that_everything_has_is_never_sure_by_itself() -> None:
    text = "# file: m.py\nclass Runner:\n    def append(self, x): ...\n\n\ndef go(x):\n    x.append(1)\n"
    assert told(sites(text, "m:Runner.append")) == ["m.py:6 instance-call possible"]


def test_a_subclass_that_overrides_means_its_own() -> None:
    text = """\
# file: m.py
class Base:
    def m(self): ...
    def go(self): self.m()


class Sub(Base):
    def m(self): ...
    def here(self): self.m()


class Deep(Sub):
    def there(self): self.m()


def f(b: Base, s: Sub, d: Deep):
    b.m(); s.m(); d.m()
    Base().m(); Sub().m()
"""
    assert told(sites(text, "m:Base.m")) == [
        "m.py:3 self-call sure",
        "m.py:16 instance-call sure",
        "m.py:17 instance-call sure",
    ]
    assert told(sites(text, "m:Sub.m")) == [
        "m.py:3 self-call possible",
        "m.py:8 self-call sure",
        "m.py:12 self-call sure",
        "m.py:16 instance-call possible",
        "m.py:16 instance-call sure",
        "m.py:16 instance-call sure",
        "m.py:17 instance-call sure",
    ]


def test_in_a_diamond_super_and_self_follow_the_order() -> None:
    text = """\
# file: m.py
class Root:
    def m(self): ...


class Left(Root):
    def left(self): super().m()


class Right(Root):
    def m(self): ...


class Leaf(Left, Right):
    def go(self): self.m(); super().m()
"""
    assert told(sites(text, "m:Right.m")) == [
        "m.py:6 super-call possible",
        "m.py:14 self-call sure",
        "m.py:14 super-call sure",
    ]
    assert told(sites(text, "m:Root.m")) == ["m.py:6 super-call sure"]


def test_a_class_method_and_an_instance_method_of_one_name() -> None:
    text = """\
# file: m.py
class Rule:
    @staticmethod
    def test(v): ...


class Probe:
    def test(self, v): ...


def run(p, q: Probe):
    return Rule.test(1), p.test(1), q.test(1)
"""
    assert told(sites(text, "m:Rule.test")) == ["m.py:11 class-call sure", "m.py:11 instance-call possible"]


def test_a_property_is_read_without_a_call() -> None:
    text = """\
# file: m.py
def watched(fn):
    @property
    def inner(self): return fn(self)
    return inner


class Box:
    @watched
    def size(self): ...

    def go(self):
        self.size
        return self.size.real


def f(b: Box):
    return type(b).size.fget(b), b.size
"""
    assert told(sites(text, "m:Box.size")) == [
        "m.py:12 access sure",
        "m.py:13 access sure",
        "m.py:17 access sure",
        "m.py:17 access sure",
    ]


def test_self_with_an_annotation_is_believed() -> None:
    text = """\
# file: m.py
class Scheduler:
    def poll(self): ...
class Wrong:
    def poll(self): ...
# file: mix.py
class PollMixin:
    def loop(self: "Scheduler"):
        self.poll()
    def other(self):
        self.poll()
from m import Scheduler
"""
    assert told(sites(text, "m:Scheduler.poll")) == ["mix.py:3 self-call sure", "mix.py:5 self-call possible"]


def test_mocks_are_possible_receivers() -> None:
    text = """\
# file: m.py
class Runner:
    def init_cublas(self): ...
# file: test_m.py
from unittest.mock import MagicMock
def test():
    r = MagicMock()
    r.init_cublas()
"""
    assert told(sites(text, "m:Runner.init_cublas")) == ["test_m.py:4 instance-call possible"]


FUNCTIONS = """\
# file: pkg/__init__.py
from .m import f as exported, f
# file: pkg/m.py
def f(x): return f(x - 1)


def g(f): return f(1)


def h():
    return f(2), list(map(f, []))
# file: pkg/a.py
import pkg.m
import pkg.m as mod
from pkg import m
from pkg import exported
import pkg


def go():
    pkg.m.f(1), mod.f(2), m.f(3), exported(4), pkg.f(5)
    mod.f = None
# file: pkg/b.py
def go():
    from .m import f as g
    from . import m
    return g(1), m.f(2)


def f(): ...
def own(): return f()
# file: pkg/c.py
from pkg.m import *


def go(x: "f") -> None:
    f(1)


@f
def decorated(): ...
# file: pkg/d.py
try:
    from fast import f
except ImportError:
    from pkg.m import f


def go():
    f(1)
# file: pkg/e.py
def go(x):
    x.f(1)
    f = 2
    return f
"""


def test_a_function_through_imports_aliases_and_modules() -> None:
    found = sites(FUNCTIONS, "pkg.m:f")
    assert told(found) == [
        "pkg/__init__.py:1 import sure",
        "pkg/__init__.py:1 import sure",
        "pkg/a.py:4 import sure",
        "pkg/a.py:9 function-call sure",
        "pkg/a.py:9 function-call sure",
        "pkg/a.py:9 function-call sure",
        "pkg/a.py:9 function-call sure",
        "pkg/a.py:9 function-call sure",
        "pkg/a.py:10 assignment sure",
        "pkg/b.py:2 import sure",
        "pkg/b.py:4 function-call sure",
        "pkg/b.py:4 function-call sure",
        "pkg/c.py:4 reference sure",
        "pkg/c.py:5 function-call sure",
        "pkg/c.py:8 decorator sure",
        "pkg/d.py:4 import sure",
        "pkg/d.py:8 function-call possible",
        "pkg/m.py:1 function-call sure",
        "pkg/m.py:8 function-call sure",
        "pkg/m.py:8 reference sure",
    ]


def test_classes_and_constants_too() -> None:
    text = """\
# file: m.py
class C: ...
LIMIT = 3
OLD = LIMIT
# file: n.py
from m import C, LIMIT, OLD


def go(c: C) -> "C":
    return C(), LIMIT, OLD
"""
    assert told(sites(text, "m:C")) == [
        "n.py:1 import sure",
        "n.py:4 reference sure",
        "n.py:4 reference sure",
        "n.py:5 function-call sure",
    ]
    assert told(sites(text, "m:LIMIT")) == ["m.py:3 reference sure", "n.py:1 import sure", "n.py:5 reference sure"]
    assert told(sites(text, "m:OLD")) == ["n.py:1 import sure", "n.py:5 reference sure"]


def test_a_file_that_does_not_parse_matters_only_with_the_name() -> None:
    good = "# file: m.py\nclass A:\n    def m(self): self.m()\n"
    assert told(sites(f"{good}# file: bad.py\nm = = 1\n", "m:A.m")) == ["m.py:2 self-call sure"]
    with pytest.raises(SourceError, match=r"bad\.py"):
        sites(f"{good}# file: bad.py\nx.m( = 1\n", "m:A.m")
