"""rename of methods and attributes: with overrides, receivers, strings; what stops, and what refuses."""

from __future__ import annotations

import pytest

from codemods.schema.plan import Rename
from codemods.transforms.rename import TRANSFORM
from tests.support.trees import check, codes, tree

MEMBERS: dict[str, tuple[str, str, str, str]] = {
    "a method with its family": (
        "m:Runner.start",
        "begin",
        '''\
# file: m.py
class Base:
    """See :meth:`start`."""
    def start(self): return 1
    again = start
class Mixin:
    def go(self): return self.start()
class Runner(Mixin, Base):
    def start(self):
        f = self.start
        return super().start(), f"{self.start=}", getattr(self, "start")
class Other:
    def start(self): return self.start()
# file: user.py
from m import Base, Runner, Other
def use(r: Runner, b: "Base | None", o: Other, start=1):
    r.start(), b.start(), Base.start(r), o.start(), map(r.start, x), start
    for each in [Runner()]:
        each.start()
    match r:
        case Runner(start=k): pass
# file: test_m.py
from m import Runner, Other
patch("m.Base.start"), patch.object(Runner, "start"), patch.object(Other, "start"), patch("m.Other.start")
''',
        '''\
# file: m.py
class Base:
    """See :meth:`begin`."""
    def begin(self): return 1
    again = begin
class Mixin:
    def go(self): return self.begin()
class Runner(Mixin, Base):
    def begin(self):
        f = self.begin
        return super().begin(), f"self.start={self.begin!r}", getattr(self, "begin")
class Other:
    def start(self): return self.start()
# file: user.py
from m import Base, Runner, Other
def use(r: Runner, b: "Base | None", o: Other, start=1):
    r.begin(), b.begin(), Base.begin(r), o.start(), map(r.begin, x), start
    for each in [Runner()]:
        each.begin()
    match r:
        case Runner(begin=k): pass
# file: test_m.py
from m import Runner, Other
patch("m.Base.begin"), patch.object(Runner, "begin"), patch.object(Other, "start"), patch("m.Other.start")
''',
    ),
    "an attribute that methods set": (
        "m:A.size",
        "width",
        """\
# file: m.py
class A:
    __slots__ = ("size", "b")
    def __init__(self, size):
        self.size: int = size
    def f(self):
        self.size += 1
        del self.size
        return f"{self.size = !r:>3}", [self.size for size in range(self.size)]
class B(A):
    def g(self, other: A): return self.size + other.size
""",
        """\
# file: m.py
class A:
    __slots__ = ("width", "b")
    def __init__(self, size):
        self.width: int = size
    def f(self):
        self.width += 1
        del self.width
        return f"self.size = {self.width!r:>3}", [self.width for size in range(self.width)]
class B(A):
    def g(self, other: A): return self.width + other.width
""",
    ),
    "a name that nothing else has": (
        "m:A.slot_table",
        "table",
        "# file: m.py\nclass A:\n    def __init__(self): self.slot_table = {}\n# file: u.py\ndef f(x): return x.slot_table\n",
        "# file: m.py\nclass A:\n    def __init__(self): self.table = {}\n# file: u.py\ndef f(x): return x.table\n",
    ),
    "a property with a setter": (
        "m:A.area",
        "zone",
        """\
# file: m.py
class A:
    @property
    def area(self): return self.size
    @area.setter
    def area(self, area): self.size = area
A().area = A().area
""",
        """\
# file: m.py
class A:
    @property
    def zone(self): return self.size
    @zone.setter
    def zone(self, area): self.size = area
A().zone = A().zone
""",
    ),
    "a field of a dataclass": (
        "m:A.size",
        "width",
        """\
# file: m.py
from dataclasses import dataclass, replace
from functools import partial
@dataclass
class A:
    size: int = 1
    def f(self): return self.size
@dataclass
class B(A):
    other: int = 2
class C(A):
    def __init__(self): super().__init__(size=5)
A(size=1), B(size=2), replace(A(), size=3), dict(size=4), partial(A, size=6)
""",
        """\
# file: m.py
from dataclasses import dataclass, replace
from functools import partial
@dataclass
class A:
    width: int = 1
    def f(self): return self.width
@dataclass
class B(A):
    other: int = 2
class C(A):
    def __init__(self): super().__init__(width=5)
A(width=1), B(width=2), replace(A(), width=3), dict(size=4), partial(A, width=6)
""",
    ),
    "a class attribute": (
        "m:A.LIMIT",
        "TOP",
        "# file: m.py\nclass A:\n    LIMIT = 1\n    BOTH = [LIMIT for _ in range(LIMIT)]\n    def f(self): return A.LIMIT, self.LIMIT, LIMIT\n",
        "# file: m.py\nclass A:\n    TOP = 1\n    BOTH = [LIMIT for _ in range(TOP)]\n    def f(self): return A.TOP, self.TOP, LIMIT\n",
    ),
    "a mangled name in its class": (
        "m:A.__x",
        "_x",
        "# file: m.py\nclass A:\n    def __x(self): ...\n    def f(self): self.__x()\nclass B:\n    def f(self): self.__x()\n",
        "# file: m.py\nclass A:\n    def _x(self): ...\n    def f(self): self._x()\nclass B:\n    def f(self): self.__x()\n",
    ),
    "a class method": (
        "m:A.make",
        "build",
        "# file: m.py\nclass A:\n    @classmethod\n    def make(cls): return cls.make, A.make, type(cls()).make\n",
        "# file: m.py\nclass A:\n    @classmethod\n    def build(cls): return cls.build, A.build, type(cls()).build\n",
    ),
}


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_members(name: str, newline: str) -> None:
    definition, to, before, after = MEMBERS[name]
    planned = check(TRANSFORM, Rename(definition=definition, to=to), before, after, newline=newline)
    assert codes(planned) == (["note U110"] if "dataclass" in name else [])


HAZARDS = [
    ("def f(x): x.run()\nclass O:\n    def run(self): ...\n", ["stop U115"]),
    ("def f(x): getattr(x, 'run')\n", ["stop U111"]),
    ("def f(x): getattr(x, f'ru{y}')\n", []),
    ("from unittest.mock import MagicMock\nMagicMock().run()\n", ["note U120"]),
    ("class C(A):\n    def __getattr__(self, n): ...\ndef f(c: C): c.run()\n", []),
    ("class P:\n    def __getattr__(self, n): return getattr(A(), n)\ndef f(p: P): p.run()\n", ["stop U115"]),
    ("class C(A, dict): ...\n", []),
    ("import ext\nclass C(ext.Base, A): ...\n", ["stop U104"]),
    ("import torch\nclass C(torch.nn.Module, A): ...\n", []),
    ("d = {'a': 'm.A.run'}\n", ["stop U111"]),
]


@pytest.mark.parametrize(("text", "expected"), HAZARDS)
def test_hazards(text: str, expected: list[str]) -> None:
    planned = TRANSFORM.plan(
        tree(f"# file: m.py\nclass A:\n    def run(self): ...\n{text}"), Rename(definition="m:A.run", to="execute")
    )
    assert codes(planned) == expected
    assert planned.files is not None


def test_a_pattern_that_may_come_to_the_name() -> None:
    text = (
        "# file: m.py\nclass A:\n    def do_ping(self): ...\n    def go(self, x): return getattr(self, f'do_{x}')()\n"
    )
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.do_ping", to="ping"))) == ["stop U111"]


def test_overriding_something_from_outside() -> None:
    text = (
        "# file: m.py\nimport torch\nclass A(torch.nn.Module):\n    def forward(self): ...\n    def _own(self): ...\n"
    )
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.forward", to="run"))) == ["stop U104"]
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A._own", to="_mine"))) == []
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A._own", to="train"))) == ["refused U107"]


def test_a_private_name_below_an_unknown_base_is_taken_for_our_own() -> None:
    text = "# file: m.py\nimport ext\nclass A(ext.Base):\n    def _own(self): ...\n"
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A._own", to="_mine"))) == ["note U104"]


def test_fields_that_are_keys_of_data() -> None:
    text = "# file: m.py\nimport msgspec\nclass A(msgspec.Struct):\n    size: int\nA(size=1)\n"
    planned = TRANSFORM.plan(tree(text), Rename(definition="m:A.size", to="width"))
    assert codes(planned) == ["stop U119", "note U110"]


DATA = {
    "a dictionary of one": ("def f(a: A): return asdict(a)", ["stop U119"]),
    "a dictionary of what holds one": ("def f(o: Outer): return asdict(o)", ["stop U119"]),
    "a dictionary of who knows": ("def f(x): return asdict(x)", ["note U119"]),
    "a dictionary of something else": ("def f(x: int): return asdict(x)", []),
    "made of a dictionary": ("A(**d)", ["stop U119"]),
    "made of a dictionary by a class method": (
        "class B(A):\n    @classmethod\n    def of(cls, d): return cls(**d)",
        ["stop U119"],
    ),
    "made of a dictionary by the class below": (
        "class B(A):\n    def __init__(self, **d): super().__init__(**d)",
        ["stop U119"],
    ),
    "something else of a dictionary": ("class C: ...\nC(**d)", []),
    "replaced by a dictionary": ("def f(a: A): return replace(a, **d)", ["stop U119"]),
    "its attributes": ("def f(a: A): return vars(a), a.__dict__", ["stop U119", "stop U119"]),
    "one of its attributes": ("def f(a: A): return vars(a)['size']", []),
    "an encoder": ("import json\ndef f(a: A): return json.dumps(a, default=str)", ["stop U119"]),
    "a decoder": ("import msgspec\ndef f(raw): return msgspec.json.decode(raw, type=A)", ["stop U119"]),
}


@pytest.mark.parametrize("name", DATA)
def test_a_field_that_is_a_key_of_data(name: str) -> None:
    code, expected = DATA[name]
    text = (
        "# file: m.py\nfrom dataclasses import asdict, dataclass, replace\n@dataclass\nclass A:\n    size: int = 1\n"
        f"@dataclass\nclass Outer:\n    inner: 'list[A]'\n# file: user.py\nfrom m import *\n"
        f"from m import A, Outer\nfrom dataclasses import asdict, replace\n{code}\n"
    )
    planned = TRANSFORM.plan(tree(text), Rename(definition="m:A.size", to="width"))
    assert sorted(codes(planned)) == sorted([*expected, "note U110"])


def test_a_field_of_a_named_tuple_as_data() -> None:
    text = (
        "# file: m.py\nfrom typing import NamedTuple\nclass A(NamedTuple):\n    size: int\n"
        "def f(x: A): return x._asdict(), x._fields, x._replace(**d), A._make([1])\n"
    )
    planned = TRANSFORM.plan(tree(text), Rename(definition="m:A.size", to="width"))
    assert sorted(codes(planned)) == ["note U110", "stop U119", "stop U119", "stop U119"]


def test_an_attribute_of_a_plain_class_as_data() -> None:
    text = "# file: m.py\nclass A:\n    def __init__(self): self.size = 1\n    def dump(self): return dict(self.__dict__)\n"
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.size", to="width"))) == ["stop U119"]
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.dump", to="data"))) == []


def test_members_of_an_enumeration_are_looked_up_by_name() -> None:
    text = "# file: m.py\nfrom enum import Enum\nclass A(Enum):\n    RED = 1\n"
    assert "stop U119" in codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.RED", to="BLUE")))


REFUSALS = [
    ("class A:\n    def run(self): ...\n    def new(self): ...\n", "m:A.run", "U107"),
    ("class A:\n    def run(self): ...\nclass B(A):\n    def f(self): self.new = 1\n", "m:A.run", "U107"),
    ("class A:\n    def run(self): ...\nclass B(A): ...\n", "m:B.run", "inherited"),
    ("class A:\n    def run(self): ...\n", "m:A.walk", "unknown-definition"),
]


@pytest.mark.parametrize(("text", "definition", "code"), REFUSALS)
def test_refusals(text: str, definition: str, code: str) -> None:
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), Rename(definition=definition, to="new"))
    assert {each.code for each in planned.refusals} == {code}


def test_a_mangled_name_outside_of_its_class() -> None:
    text = "# file: m.py\nclass A:\n    def x(self): ...\nA().x()\n"
    assert codes(TRANSFORM.plan(tree(text), Rename(definition="m:A.x", to="__x"))) == ["refused U105"]


def test_many_notes_hide_no_stop() -> None:
    text = "# file: m.py\nfrom dataclasses import asdict, dataclass\n@dataclass\nclass A:\n    size: int = 1\n"
    notes = "".join(f"def f{number}(x): return asdict(x)\n" for number in range(20))
    planned = TRANSFORM.plan(
        tree(f"{text}{notes}def g(a: A): return asdict(a)\n"), Rename(definition="m:A.size", to="w")
    )
    assert codes(planned).count("note U119") == 12
    assert codes(planned).count("stop U119") == 1
