"""What a moved definition needs in its new file: imported there, found there, or imported in its body."""

from __future__ import annotations

import pytest

from codemods.transforms.move_definition import TRANSFORM, MoveArgs
from tests.support.trees import check

Case = tuple[str, MoveArgs, str, str]  # name, what moves, before, after (only files that change)

CASES: list[Case] = [
    (
        "taken at module level, so imported in the body",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
from util import k


def f():
    return k + 1
# file: util.py
k = 1
# file: dst.py
k = 5
""",
        """\
# file: dst.py
k = 5


def f():
    from util import k

    return k + 1
# file: src.py
""",
    ),
    (
        "at home under a taken name, below the docstring",
        MoveArgs(definition="src:f", to="dst", call="name"),
        '''\
# file: src.py
LIMIT = 3


def f(n=1):
    """Doc."""
    return LIMIT + n


OUT = f()
# file: dst.py
LIMIT = 5
''',
        '''\
# file: dst.py
LIMIT = 5


def f(n=1):
    """Doc."""
    from src import LIMIT

    return LIMIT + n
# file: src.py
from dst import f

LIMIT = 3


OUT = f()
''',
    ),
    (
        "a star import of the target brings another k",
        MoveArgs(definition="src:f", to="dst", reexport=True),
        """\
# file: src.py
from util import k


def f():
    return k
# file: util.py
k = 1
# file: star.py
k = 2
z = 1
# file: dst.py
from star import *


def y():
    return k, z
""",
        """\
# file: dst.py
from star import *


def y():
    return k, z


def f():
    from util import k

    return k
# file: src.py
from dst import f  # noqa: F401
""",
    ),
    (
        "a star import of the source has the last word",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
from util import k
from star import *


def f():
    return k
# file: util.py
k = 1
# file: star.py
k = 2
""",
        """\
# file: dst.py
from star import k


def f():
    return k
# file: src.py
from star import *
""",
    ),
    (
        "below a star import from outside",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
from attr import k


def f():
    return k
# file: dst.py
from os.path import *
""",
        """\
# file: dst.py
from os.path import *

from attr import k


def f():
    return k
# file: src.py
from attr import k
""",
    ),
    (
        "a probe is imported where the code surely reads it",
        MoveArgs(definition="src:h", to="dst", call="name"),
        """\
# file: src.py
try:
    import gone_xyz

    HAVE = True
except ImportError:
    HAVE = False


def h(x):
    if HAVE:
        y = gone_xyz.z
        return gone_xyz.w + y
    for i in range(2):
        if HAVE:
            print(gone_xyz.q)
    return x
""",
        """\
# file: dst.py
from src import HAVE


def h(x):
    if HAVE:
        from src import gone_xyz

        y = gone_xyz.z
        return gone_xyz.w + y
    for i in range(2):
        if HAVE:
            from src import gone_xyz

            print(gone_xyz.q)
    return x
# file: src.py
try:
    import gone_xyz

    HAVE = True
except ImportError:
    HAVE = False
""",
    ),
    (
        "bound in every arm is surely there",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
try:
    import json as j
except ImportError:
    j = None


def f(x):
    return j.dumps(x)
""",
        """\
# file: dst.py
from src import j


def f(x):
    return j.dumps(x)
# file: src.py
try:
    import json as j
except ImportError:
    j = None
""",
    ),
    (
        "relative imports in the body and above it",
        MoveArgs(definition="pkg.a.src:A.f", to="pkg.a.b.dst", alias=True),
        """\
# file: pkg/__init__.py
# file: pkg/util.py
k = 7
# file: pkg/a/__init__.py
# file: pkg/a/b/__init__.py
# file: pkg/a/src.py
from ..util import k


class A:
    @staticmethod
    def f():
        from .. import util
        from ..util import (
            k as other,
        )

        return k + util.k + other
""",
        """\
# file: pkg/a/b/dst.py
from ...util import k


def f():
    from ... import util
    from ...util import (
        k as other,
    )

    return k + util.k + other
# file: pkg/a/src.py
from .b import dst


class A:
    f = staticmethod(dst.f)
""",
    ),
    (
        "relative imports become absolute outside of the package",
        MoveArgs(definition="pkg.src:f", to="dst", call="name"),
        """\
# file: pkg/__init__.py
# file: pkg/util.py
k = 7
# file: pkg/src.py
from .util import k


def f():
    from . import util

    return k + util.k
""",
        """\
# file: dst.py
from pkg.util import k


def f():
    from pkg import util

    return k + util.k
# file: pkg/src.py
""",
    ),
    (
        "annotations need names for types only, the body at run time",
        MoveArgs(definition="src:A.make", to="dst"),
        """\
# file: src.py
from __future__ import annotations


class A:
    @staticmethod
    def make(x: Later, z: A | None = None) -> A:
        return A()

    def go(self):
        return A.make(1)


class Later:
    pass
""",
        """\
# file: dst.py
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from src import A, Later


def make(x: Later, z: A | None = None) -> A:
    from src import A

    return A()
# file: src.py
from __future__ import annotations

import dst


class A:
    def go(self):
        return dst.make(1)


class Later:
    pass
""",
    ),
    (
        "the logger follows the target",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import logging

logger = logging.getLogger(__name__)


def f():
    logger.info("x")
# file: dst.py
import logging

log = logging.getLogger(__name__)
""",
        """\
# file: dst.py
import logging

log = logging.getLogger(__name__)


def f():
    log.info("x")
# file: src.py
import logging

logger = logging.getLogger(__name__)
""",
    ),
    (
        "a logger is made as the source makes it",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
from vl.log import init_logger

logger = init_logger(__name__)


def f():
    logger.info("x")
""",
        """\
# file: dst.py
from vl.log import init_logger

logger = init_logger(__name__)


def f():
    logger.info("x")
# file: src.py
from vl.log import init_logger

logger = init_logger(__name__)
""",
    ),
    (
        "state is shared, not copied",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import threading

_cache = {}
_lock = threading.Lock()


def f(x):
    with _lock:
        _cache[x] = 1
    return len(_cache)


def g():
    return f(1) + len(_cache)
""",
        """\
# file: dst.py
def f(x):
    from src import _cache, _lock

    with _lock:
        _cache[x] = 1
    return len(_cache)
# file: src.py
import threading

from dst import f

_cache = {}
_lock = threading.Lock()


def g():
    return f(1) + len(_cache)
""",
    ),
    (
        "state that goes along",
        MoveArgs(definition="src:f", to="dst", call="name", carry=("_cache", "_lock")),
        """\
# file: src.py
import threading

_cache = {}  # by key
_lock = threading.Lock()


def f(x):
    with _lock:
        _cache[x] = 1
    return len(_cache)


def g():
    return f(1)
""",
        """\
# file: dst.py
import threading

_cache = {}  # by key
_lock = threading.Lock()


def f(x):
    with _lock:
        _cache[x] = 1
    return len(_cache)
# file: src.py
from dst import f


def g():
    return f(1)
""",
    ),
    (
        "an import of what is at home there goes",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
def f():
    from dst import helper

    return helper()
# file: dst.py
def helper():
    return 1
""",
        """\
# file: dst.py
def helper():
    return 1


def f():
    return helper()
# file: src.py
""",
    ),
    (
        "two local names of one thing",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
from util import k
from util import k as kk


def f():
    return k + kk
# file: util.py
k = 1
""",
        """\
# file: dst.py
from util import k, k as kk


def f():
    return k + kk
# file: src.py
""",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_names(case: Case) -> None:
    _, args, before, after = case
    check(TRANSFORM, args, before, after)
