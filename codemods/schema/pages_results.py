"""Hazards about what a function promises and gives: results and annotations. Pages only."""

from __future__ import annotations

from codemods.schema.hazards import Severity
from codemods.schema.page import Example, Page, Settling, accept

U116 = Page(
    code="U116",
    title="a parameter that may be None is annotated as if it could not be",
    severity=Severity.NOTE,
    text=(
        "The annotation of an attribute is copied to the parameter it becomes. Classes often declare an attribute by "
        "its final type and fill it later, so at this call it may still be None. Nothing changes as long as nobody "
        "acts on annotations; a validator, a serializer or a reader who trusts the type does."
    ),
    example=Example(
        before="""\
class Runner:
    def __init__(self):
        self.group = None

    def size(self):
        return 1 if self.group is None else len(self.group)


def run():
    return Runner().size()
""",
        after="""\
from inspect import signature


def checked(function):
    def call(**given):
        for name, value in given.items():
            wanted = signature(function).parameters[name].annotation
            if not isinstance(value, wanted):
                raise TypeError(f"{name} must be {wanted.__name__}")
        return function(**given)

    return call


@checked
def size(*, group: list):
    return 1 if group is None else len(group)


def run():
    return size(group=None)
""",
        was="1",
        now="TypeError: group must be list",
    ),
    settle=(
        Settling(key="annotate", how="false writes the parameters without annotations"),
        accept("say why the value is never None at these calls"),
    ),
)

U117 = Page(
    code="U117",
    title="a result is dropped or a new one appears",
    severity=Severity.PROVE,
    text=(
        "A method that wrote attributes now returns them. If it also returned something of its own, or returned "
        "nothing and its callers test or forward that nothing, they meet another value. A caller that ignores the "
        "result loses the assignment altogether."
    ),
    example=Example(
        before="""\
class Cache:
    size = 0

    def grow(self):
        self.size += 1


def run():
    cache = Cache()
    return "failed" if cache.grow() else "grown"
""",
        after="""\
class Cache:
    size = 0

    @staticmethod
    def grow(*, size):
        size += 1
        return size


def run():
    cache = Cache()
    return "failed" if Cache.grow(size=cache.size) else "grown"
""",
        was="'grown'",
        now="'failed'",
    ),
    settle=(
        Settling(key="wrapper", how="true keeps a method that assigns the result and returns what it always did"),
        Settling(key="returns", how="list the attributes, in order, that callers are to assign"),
        accept("say why no caller looks at the result"),
    ),
)

PAGES = (U116, U117)
