"""Hazards about the new home of a definition: names, imports, import time, paths. Pages only."""

from __future__ import annotations

from codemods.schema.hazards import Severity
from codemods.schema.page import Example, Page, Settling, accept

U107 = Page(
    code="U107",
    title="a name would be captured or shadowed in its new place",
    severity=Severity.STOP,
    text=(
        "A name means what the nearest scope says. In the new module the same word may already be another function, "
        "an import or a later assignment, also one that a star import brings; a parameter may hide a global or a "
        "builtin that the body uses. Then the moved text runs against another object, or the newcomer takes a name "
        "away from those who had it."
    ),
    example=Example(
        before="""\
# file: home.py
def scale(value):
    return value * 10


def label(value):
    return f"{scale(value)} units"
# file: main.py
import home


def run():
    return home.label(2)
""",
        after="""\
# file: home.py
def scale(value):
    return value * 10
# file: other.py
def scale(value):
    return value / 10


def label(value):
    return f"{scale(value)} units"
# file: main.py
import other


def run():
    return other.label(2)
""",
        was="'20 units'",
        now="'0.2 units'",
    ),
    settle=(
        Settling(key="name", how="give the function another name where its own is taken"),
        Settling(key="parameters", how="give the parameter another name"),
        Settling(key="to", how="choose another module"),
        Settling(key="", how="rename the definition that is in the way, in a step before this one"),
    ),
)

U108 = Page(
    code="U108",
    title="a module-level import would close an import cycle",
    severity=Severity.STOP,
    text=(
        "The moved code needs something of a module that, directly or through others, imports its new home. With the "
        "import at the top, whichever is loaded second finds the first half done. Where only the body needs it, the "
        "tool imports it inside the function, which runs when both are complete. A default, a decorator or a base "
        "class is needed at import itself, and there is no such way out."
    ),
    example=Example(
        before="""\
# file: runner.py
BLOCK = 16


def blocks(tokens):
    return -(-tokens // BLOCK)
# file: main.py
import runner


def run():
    return runner.blocks(33)
""",
        after="""\
# file: sizes.py
from runner import BLOCK


def blocks(tokens):
    return -(-tokens // BLOCK)
# file: runner.py
import sizes

BLOCK = 16
# file: main.py
import runner


def run():
    return runner.sizes.blocks(33)
""",
        was="3",
        now="ImportError: cannot import name 'BLOCK' from partially initialized module 'runner'",
    ),
    settle=(
        Settling(key="carry", how="let what the code needs move along, so that it no longer imports its old home"),
        Settling(key="to", how="choose a module that the old home does not import"),
        Settling(key="", how="break the cycle first, in a step before this one"),
    ),
)

U109 = Page(
    code="U109",
    title="effects of importing, or their order, change",
    severity=Severity.PROVE,
    text=(
        "Importing a module runs it: it may register things, read the environment, patch a library, pick a device. "
        "An import that is added, dropped or moved changes whether and when that happens. An import that looks unused "
        "may be there for its effect alone, so the tool keeps it unless its module is known to do nothing."
    ),
    example=Example(
        before="""\
# file: registry.py
KERNELS = {}
# file: fast.py
import registry

registry.KERNELS["add"] = "fast"
# file: main.py
import fast
import registry


def run():
    return registry.KERNELS.get("add", "none")
""",
        after="""\
# file: registry.py
KERNELS = {}
# file: fast.py
import registry

registry.KERNELS["add"] = "fast"
# file: main.py
import registry


def run():
    return registry.KERNELS.get("add", "none")
""",
        was="'fast'",
        now="'none'",
    ),
    settle=(
        accept("say why the effect is not needed, or happens elsewhere in time"),
        Settling(key="", how="a test that imports the module alone, in a new process"),
    ),
)

U110 = Page(
    code="U110",
    title="the logger, `__name__`, `__file__`, `__qualname__` or a pickle path changes",
    severity=Severity.NOTE,
    text=(
        "A definition carries the name of its module and its path inside it. A logger made from `__name__` gets "
        "another name, so filters, levels and tests that listen to the old one miss the record. A path computed from "
        "`__file__` points elsewhere, and what was pickled by reference looks for the old place."
    ),
    example=Example(
        before="""\
# file: runner.py
import logging

logger = logging.getLogger(__name__)


def warm_up():
    return logger.name
# file: main.py
import runner


def run():
    return runner.warm_up()
""",
        after="""\
# file: warm.py
import logging

logger = logging.getLogger(__name__)


def warm_up():
    return logger.name
# file: main.py
import warm


def run():
    return warm.warm_up()
""",
        was="'runner'",
        now="'warm'",
    ),
    settle=(
        Settling(key="reexport", how="true keeps the old path importable, for pickles and for other people's imports"),
        Settling(key="carry", how="name the logger to take the old one along"),
        accept("say why nobody depends on the old name"),
    ),
)

U111 = Page(
    code="U111",
    title="a patch or getattr string points at the old place",
    severity=Severity.NOTE,
    text=(
        "`mock.patch`, `monkeypatch.setattr`, entry points, `__all__` and documentation name code by text. A string "
        "that no longer resolves fails loudly. Worse is one that still resolves to a name nobody reads any more: the "
        "test goes on, unpatched. The tool rewrites the strings it can resolve and lists the others."
    ),
    example=Example(
        before="""\
# file: clock.py
import time


def stamp():
    return f"at {time.time()}"
# file: main.py
from unittest import mock

import clock


def run():
    with mock.patch("clock.time") as fake:
        fake.time.return_value = 5
        return clock.stamp() == "at 5"
""",
        after="""\
# file: stamps.py
import time


def stamp():
    return f"at {time.time()}"
# file: clock.py
import time

from stamps import stamp
# file: main.py
from unittest import mock

import clock


def run():
    with mock.patch("clock.time") as fake:
        fake.time.return_value = 5
        return clock.stamp() == "at 5"
""",
        was="True",
        now="False",
    ),
    settle=(
        Settling(key="strings", how='"rewrite" points the strings at the new place, "keep" leaves them alone'),
        Settling(key="wrapper", how="true keeps the old name on the class for strings that patch it there"),
        accept("say why the string need not follow"),
    ),
)

PAGES = (U107, U108, U109, U110, U111)
