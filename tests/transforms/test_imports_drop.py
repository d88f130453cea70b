"""Which imports go with a definition, which stay, and what the statements look like then."""

from __future__ import annotations

import pytest

from codemods.transforms.move_definition import TRANSFORM, MoveArgs
from tests.support.trees import check

Case = tuple[str, MoveArgs, str, str]  # name, what moves, before, after (only files that change)

CASES: list[Case] = [
    (
        "names out of lists, with their comments",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import os  # paths
import re, sys

from a import (  # things
    x,
    # the z
    z,  # z is
)
from b import p, q  # noqa: F401
from c import r, s  # pq
from d import (t, u,
               v)
from e import w as w


def f():
    return os, re, x, p, r, t, v, w


def g():
    return sys, z, q, s, u
""",
        """\
# file: dst.py
import os
import re

from a import x
from b import p
from c import r
from d import t, v
from e import w


def f():
    return os, re, x, p, r, t, v, w
# file: src.py
import sys

from a import (  # things
    # the z
    z,  # z is
)
from b import p, q  # noqa: F401
from c import s  # pq
from d import u
from e import w as w


def g():
    return sys, z, q, s, u
""",
    ),
    (
        "imports that others read through the file",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import json
import os
import re


def f():
    return os, re, json


def g():
    return 1
# file: u.py
import src
from src import os

src.re.compile("x")
""",
        """\
# file: dst.py
import json
import os
import re


def f():
    return os, re, json
# file: src.py
import os
import re


def g():
    return 1
""",
    ),
    (
        "one group bound in several arms, and a probe",
        MoveArgs(definition="m:pack", to="dst", call="name"),
        """\
# file: m.py
import sys

if sys.maxsize > 1:
    from json import dumps as fast
else:
    fast = None


def pack(x):
    return fast(x)
""",
        """\
# file: dst.py
from m import fast


def pack(x):
    return fast(x)
# file: m.py
import sys

if sys.maxsize > 1:
    from json import dumps as fast
else:
    fast = None
""",
    ),
    (
        "fixtures are asked for by parameter",
        MoveArgs(definition="test_a:util", to="support", call="name"),
        """\
# file: test_a.py
import pytest
from fix import client, helper, server


@pytest.mark.usefixtures("server")
def test_it(client):
    assert client


def util():
    return helper(), client, server
# file: fix.py
def client(): ...
def helper(): ...
def server(): ...
""",
        """\
# file: support.py
from fix import client, helper, server


def util():
    return helper(), client, server
# file: test_a.py
import pytest
from fix import client, server


@pytest.mark.usefixtures("server")
def test_it(client):
    assert client
""",
    ),
    (
        "a package's own imports stay",
        MoveArgs(definition="pkg:f", to="pkg.dst", call="name"),
        """\
# file: pkg/__init__.py
import os


def f():
    return os.sep
""",
        """\
# file: pkg/__init__.py
import os
# file: pkg/dst.py
import os


def f():
    return os.sep
""",
    ),
    (
        "types in strings and comments",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import decimal
from typing import Any, Dict, List, Optional, TypeVar, cast

from a import K, L

T = TypeVar("T", bound="K")
x = []  # type: List[int]


def f(a: Optional[List[K]], b: Dict[str, L]) -> Any:
    return decimal


def g(q: "Optional[int]") -> Dict:
    return cast("decimal.Decimal", q)
""",
        """\
# file: dst.py
import decimal
from typing import Any, Dict, List, Optional

from a import K, L


def f(a: Optional[List[K]], b: Dict[str, L]) -> Any:
    return decimal
# file: src.py
import decimal
from typing import Dict, List, Optional, TypeVar, cast

from a import K

T = TypeVar("T", bound="K")
x = []  # type: List[int]


def g(q: "Optional[int]") -> Dict:
    return cast("decimal.Decimal", q)
""",
    ),
    (
        "an import for types only, with its block",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from g import T


def f(o: T):
    return o


def g():
    return 1
""",
        """\
# file: dst.py
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from g import T


def f(o: T):
    return o
# file: src.py
from __future__ import annotations


def g():
    return 1
""",
    ),
    (
        "a module with effects goes on being imported",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import noisy
import quiet


def f():
    return noisy.k, quiet.k


def g():
    return 1
# file: noisy.py
k = 1
print("hi")
# file: quiet.py
k = 1
""",
        """\
# file: dst.py
import noisy
import quiet


def f():
    return noisy.k, quiet.k
# file: src.py
import noisy


def g():
    return 1
""",
    ),
    (
        "a name that a class body reads before it binds it",
        MoveArgs(definition="src:f", to="dst", call="name"),
        """\
# file: src.py
import time


def f():
    return time.time()


class K:
    time = time.time()
""",
        """\
# file: dst.py
import time


def f():
    return time.time()
# file: src.py
import time


class K:
    time = time.time()
""",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_drops(case: Case) -> None:
    _, args, before, after = case
    check(TRANSFORM, args, before, after)
