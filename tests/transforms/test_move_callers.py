"""Who names a moved definition: imports, aliases, types, the target itself, re-exports."""

from __future__ import annotations

import pytest

from codemods.transforms.move_definition import TRANSFORM, MoveArgs
from tests.support.trees import check

Case = tuple[str, MoveArgs, str, str]  # name, what moves, before, after (only files that change)

CASES: list[Case] = [
    (
        "all ways to reach a class",
        MoveArgs(definition="pkg.src:A.f", to="pkg.dst"),
        """\
# file: pkg/__init__.py
# file: pkg/src.py
class A:
    @staticmethod
    def f(x):
        return x + 1
# file: user.py
import pkg.src as s
import pkg.src
from pkg import src as t
from pkg.src import A as B

OUT = [s.A.f(1), pkg.src.A.f(2), t.A.f(3), B.f(4)]
""",
        """\
# file: pkg/dst.py
def f(x):
    return x + 1
# file: pkg/src.py
class A:
    pass
# file: user.py
from pkg import dst

OUT = [dst.f(1), dst.f(2), dst.f(3), dst.f(4)]
""",
    ),
    (
        "imports in functions stay there",
        MoveArgs(definition="src:A.f", to="dst"),
        """\
# file: src.py
class A:
    @staticmethod
    def f(x):
        return x

    def h(self):
        return 0
# file: dst.py
Z = 9
# file: u.py
def one():
    from src import A

    return A.f(1)


def two():
    from src import A

    return A.f(1) + A().h()


def three():
    import src as s

    if True:
        return s.A.f(3)


def four():
    from src import A; return A.f(4)


def five(dst):
    from src import A

    return A.f(dst)


def six():
    import dst
    from src import A

    return A.f(dst.Z)
""",
        """\
# file: dst.py
Z = 9


def f(x):
    return x
# file: src.py
class A:
    def h(self):
        return 0
# file: u.py
def one():
    import dst

    return dst.f(1)


def two():
    from src import A
    import dst

    return dst.f(1) + A().h()


def three():
    import dst

    if True:
        return dst.f(3)


def four():
    import dst; return dst.f(4)


def five(dst):
    import dst as dst_module
    from src import A

    return dst_module.f(dst)


def six():
    import dst

    return dst.f(dst.Z)
""",
    ),
    (
        "a package that passes it on goes on doing so",
        MoveArgs(definition="pkg.src:f", to="pkg.dst", call="name"),
        """\
# file: pkg/__init__.py
from .src import f, other
# file: pkg/src.py
def f(x):
    return x


def other():
    return f(2)
# file: u.py
import pkg
from pkg import f as via
from pkg.src import f as g

OUT = pkg.f(1), via(2), g(3)
""",
        """\
# file: pkg/__init__.py
from .dst import f
from .src import other
# file: pkg/dst.py
def f(x):
    return x
# file: pkg/src.py
from pkg.dst import f


def other():
    return f(2)
# file: u.py
import pkg
from pkg import f as via
from pkg.dst import f as g

OUT = pkg.f(1), via(2), g(3)
""",
    ),
    (
        "try, types only, quoted, in a list",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
def f(x):
    return x


def other():
    return 1
# file: u1.py
try:
    from src import f
except ImportError:
    f = None
# file: u2.py
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from src import f


def x(a: "f") -> "f":
    from src import f, other

    return f(1) + other()
# file: u3.py
from src import (
    f,
    other,
)

OUT = f(1), other()
""",
        """\
# file: dst.py
def f(x):
    return x
# file: src.py
def other():
    return 1
# file: u1.py
try:
    from dst import f
except ImportError:
    f = None
# file: u2.py
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dst import f


def x(a: "f") -> "f":
    from src import other
    from dst import f

    return f(1) + other()
# file: u3.py
from dst import f
from src import (
    other,
)

OUT = f(1), other()
""",
    ),
    (
        "quoted and unquoted types of a class",
        MoveArgs(definition="src:Cfg", to="dst", call="name"),
        """\
# file: src.py
class Cfg:
    pass
# file: u.py
import src
from src import Cfg

x: "src.Cfg" = Cfg()


def z(q: "src.Cfg", r: "list[src.Cfg]"):
    assert isinstance(q, src.Cfg)
""",
        """\
# file: dst.py
class Cfg:
    pass
# file: src.py
# file: u.py
from dst import Cfg

x: "Cfg" = Cfg()


def z(q: "Cfg", r: "list[Cfg]"):
    assert isinstance(q, Cfg)
""",
    ),
    (
        "types whose import is for types only",
        MoveArgs(definition="src:Cfg", to="dst", call="name"),
        """\
# file: src.py
class Cfg:
    pass
# file: u.py
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import src


def z(q: src.Cfg) -> "src.Cfg":
    return q
""",
        """\
# file: dst.py
class Cfg:
    pass
# file: src.py
# file: u.py
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dst import Cfg


def z(q: Cfg) -> "Cfg":
    return q
""",
    ),
    (
        "a real import takes the place of one for types",
        MoveArgs(definition="src:Box", to="dst", call="name"),
        """\
# file: src.py
class Box:
    pass
# file: dst.py
from src import Box
# file: u.py
from __future__ import annotations

from typing import TYPE_CHECKING

import src

if TYPE_CHECKING:
    from dst import Box


def z() -> Box:
    return src.Box()
""",
        """\
# file: dst.py
class Box:
    pass
# file: src.py
# file: u.py
from __future__ import annotations

from dst import Box


def z() -> Box:
    return Box()
""",
    ),
    (
        "the target's own uses, and its import of the source",
        MoveArgs(definition="src:A.f", to="dst"),
        """\
# file: src.py
class A:
    @staticmethod
    def f():
        return 1

    def g(self):
        return A.f()
# file: dst.py
from src import A


def use():
    return A.f()
""",
        """\
# file: dst.py
def use():
    return f()


def f():
    return 1
# file: src.py
import dst


class A:
    def g(self):
        return dst.f()
""",
    ),
    (
        "above code of the target that runs at import",
        MoveArgs(definition="src:A.f", to="dst"),
        """\
# file: src.py
class A:
    @staticmethod
    def f():
        return 1
# file: dst.py
from src import A

LIMIT = 2


def use():
    return A.f() + LIMIT


OUT = use()
""",
        """\
# file: dst.py
LIMIT = 2


def f():
    return 1


def use():
    return f() + LIMIT


OUT = use()
# file: src.py
class A:
    pass
""",
    ),
    (
        "below the path that is set up",
        MoveArgs(definition="pkg.src:A.f", to="pkg.dst"),
        """\
# file: pkg/__init__.py
# file: pkg/src.py
class A:
    @staticmethod
    def f(x):
        return x
# file: scripts/run.py
import sys

sys.path.insert(0, "..")

from pkg.src import A  # noqa: E402

print(A.f(1))
""",
        """\
# file: pkg/dst.py
def f(x):
    return x
# file: pkg/src.py
class A:
    pass
# file: scripts/run.py
import sys

sys.path.insert(0, "..")

from pkg import dst  # noqa: E402

print(dst.f(1))
""",
    ),
    (
        "a class body reads the name before it binds it",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
def f():
    return 1


class K:
    v = f()

    def f(self):
        return f()
""",
        """\
# file: dst.py
def f():
    return 1
# file: src.py
from dst import f


class K:
    v = f()

    def f(self):
        return f()
""",
    ),
    (
        "a re-export on a continued line",
        MoveArgs(definition="m:half", to="dst", reexport=True),
        """\
# file: m.py
from dst \\
    import join, \\
    split


def half(path):
    return split(path)[0]
# file: dst.py
from os.path import join, split
""",
        """\
# file: dst.py
from os.path import join, split


def half(path):
    return split(path)[0]
# file: m.py
from dst import join
from dst import half  # noqa: F401
""",
    ),
    (
        "a re-export joins one that is marked",
        MoveArgs(definition="m:g", to="dst", reexport=True),
        """\
# file: m.py
from dst import f  # noqa: F401


def g():
    return 2
# file: dst.py
def f():
    return 1
""",
        """\
# file: dst.py
def f():
    return 1


def g():
    return 2
# file: m.py
from dst import f, g  # noqa: F401
""",
    ),
    (
        "__all__ in both",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
__all__ = ["g"]
__all__ += ["f"]


def f():
    return 1


def g():
    return 2
# file: dst.py
__all__ = [
    "a",
    "z",
]


def a(): ...


def z(): ...
""",
        """\
# file: dst.py
__all__ = [
    "a",
    "f",
    "z",
]


def a(): ...


def z(): ...


def f():
    return 1
# file: src.py
from dst import f

__all__ = ["g"]
__all__ += ["f"]


def g():
    return 2
""",
    ),
    (
        "a package's attribute that has the module's name",
        MoveArgs(definition="pkg.core:A.f", to="pkg.dst.numa", alias=True),
        """\
# file: pkg/__init__.py
# file: pkg/dst/__init__.py
from .numa import numa
# file: pkg/dst/numa.py
def numa():
    return 1
# file: pkg/core.py
class A:
    @staticmethod
    def f():
        return 1
""",
        """\
# file: pkg/core.py
from pkg.dst.numa import f as numa_f


class A:
    f = staticmethod(numa_f)
# file: pkg/dst/numa.py
def numa():
    return 1


def f():
    return 1
""",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_callers(case: Case) -> None:
    _, args, before, after = case
    check(TRANSFORM, args, before, after)
