"""Hazards about everyone else in the tree who reads, fakes or calls what a step changes. Pages only."""

from __future__ import annotations

from codemods.schema.hazards import Severity
from codemods.schema.page import Example, Page, Settling, accept

U119 = Page(
    code="U119",
    title="what this commit removes or renames is still read somewhere in the tree",
    severity=Severity.STOP,
    text=(
        "An attribute, method, field or import that goes away may have readers far from its class: subclasses, "
        "mixins that expect their host to have it, code that takes any object with that attribute, tests, strings. "
        "Python finds out when the line runs, which may be in production on one device only. Every single commit has "
        "to be free of such readers, not only the last one of a chain."
    ),
    example=Example(
        before="""\
class LoraMixin:
    def adapters(self):
        return f"{self.slots()} slots"


class Runner(LoraMixin):
    def slots(self):
        return 8


def run():
    return Runner().adapters()
""",
        after="""\
class LoraMixin:
    def adapters(self):
        return f"{self.slots()} slots"


class Runner(LoraMixin):
    pass


def slots():
    return 8


def run():
    return Runner().adapters()
""",
        was="'8 slots'",
        now="AttributeError: 'Runner' object has no attribute 'slots'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps a method of the old name"),
        Settling(key="reexport", how="true keeps the old name importable from the old module"),
        accept("say why the reader never meets this class"),
    ),
)

U120 = Page(
    code="U120",
    title="a mock or stub in the tests still defines what the class no longer has",
    severity=Severity.NOTE,
    text=(
        "A test double that sets the old attribute or method keeps the old code under test alive: a reader that was "
        "left behind finds it on the double and passes, and fails on the real object. Tests that are green then say "
        "nothing about U119. Change the double in the same commit, or build it with `spec` of the class."
    ),
    example=Example(
        before="""\
class Runner:
    tp_size = 2


class StubRunner:
    tp_size = 1


def ranks(runner):
    return list(range(runner.tp_size))


def run():
    return ranks(StubRunner()), ranks(Runner())
""",
        after="""\
class Parallel:
    tp_size = 2


class Runner:
    ps = Parallel()


class StubRunner:
    tp_size = 1


def ranks(runner):
    return list(range(runner.tp_size))


def run():
    return ranks(StubRunner()), ranks(Runner())
""",
        was="([0], [0, 1])",
        now="AttributeError: 'Runner' object has no attribute 'tp_size'",
    ),
    settle=(
        Settling(key="", how="change the double in the same commit, or give it `spec=` of the real class"),
        accept("say why the double means something else"),
    ),
)

U121 = Page(
    code="U121",
    title="a call in the tree no longer matches the signature of what it calls",
    severity=Severity.STOP,
    text=(
        "A parameter was added without a default, dropped, renamed or made keyword-only, and some call still has the "
        "old form. It also happens between two branches that are each right alone: one adds a call while the other "
        "changes the signature, and nothing conflicts when they meet. Calls through variables and partials count."
    ),
    example=Example(
        before="""\
def allocate(size):
    return [0] * size


def run():
    return allocate(2)
""",
        after="""\
def allocate(size, *, device):
    return [device] * size


def run():
    return allocate(2)
""",
        was="[0, 0]",
        now="TypeError: allocate() missing 1 required keyword-only argument: 'device'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps the old signature on a method that fills in the rest"),
        Settling(key="optional", how="pass the value with a fallback where a caller can't supply it"),
        Settling(key="", how="change the call in the same commit; after a merge, check the merged tree again"),
        accept("say why the call is never reached"),
    ),
)

PAGES = (U119, U120, U121)
