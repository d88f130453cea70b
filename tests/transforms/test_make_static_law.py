"""The law of make_static: where it applies without a hazard, programs do what they did, down to attributes and errors.

Programs are drawn over a grammar of statements and run for several states of the object, before and after."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from codemods.schema.hazards import Severity
from codemods.schema.plan import ExtractMethod
from codemods.transforms.make_static import TRANSFORM
from codemods.transforms.run import run_stage
from tests.support.trees import tree

FRAME = """\
import contextlib

LOG = []


def note(value):
    LOG.append(repr(value))
    return value


class Gate:
    def __enter__(self):
        LOG.append("in")
        return 3

    def __exit__(self, *error):
        LOG.append("out")


class Base:
    unit = 2

    def peek(self):
        return note(self.b)


class A(Base):
    def __init__(self, a, b):
        self.a = a
        self.b = b
        self.xs = [1, 2]
        self.load()
        if a > 1:
            self.rare = 5

    def load(self):
        self.c = note(7)

    def bump(self):
        self.a = self.a + 1
        return self.a

    @property
    def double(self):
        return self.a * 2

    def f(self, x, y=1):
{body}


OBJ = A(1, 2)


def poke():
    OBJ.c += 1
    return 0


def drop(o, x):
    o.f(x)
    return "dropped"


def keep(o, x):
    got = o.f(x)
    return got


def back(o, x):
    return o.f(x, y=0)


def try_both(o, x):
    try:
        o.f(x)
    finally:
        LOG.append(str(sorted(vars(o))))
    return o.f(x, 2)
"""

NAMES = ("a", "b", "c")


def _join(parts: list[str]) -> str:
    return "\n".join(parts)


def _block(lines: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in lines.split("\n"))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    simple = ["x", "y", "1", "0", "self.a", "self.b", "self.c", "self.unit", "len(self.xs)", "self.xs[0]"]
    if depth == 0:
        return draw(st.sampled_from(simple))
    inner = expressions(depth - 1)
    kind = draw(st.integers(0, 21))
    one, two = draw(inner), draw(inner)
    return [
        f"({one} + {two})",
        f"({one} - {two})",
        f"({one} // {two})",
        f"({one} if {two} else {one})",
        f"({one} and {two})",
        f"sum([{one} + i for i in range(2)])",
        f"sum({one} + i for i in range(2) if i < {two})",
        f"int(f'{{{one}}}')",
        f"note({one})",
        f"max([1, 2], key=lambda v: v * {one})",
        f"(lambda v: v + {one})({two})",
        "getattr(self, 'a', 9)",
        "getattr(self, 'rare', 4)",
        "int(hasattr(self, 'rare'))",
        "self.rare",
        "self.double",
        "self.peek()",
        "self.bump()",
        "len(f'{self.a=}')",
        f"(z := {one})",
        one,
        two,
    ][kind]


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> str:
    name = draw(st.sampled_from(NAMES))
    value = draw(expressions(2))
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(
            st.sampled_from(
                [
                    f"self.{name} = {value}",
                    f"self.{name} += {value}",
                    f"self.{name}: int = {value}",
                    f"self.{name}, y = {value}, self.b",
                    f"y = {value}",
                    f"a = {value}",
                    f"note({value})",
                    f"self.xs.append({value})",
                    f"return {value}",
                    f"return {value}, self.{name}",
                    f"return self.{name}",
                    "return",
                    f"for self.{name} in range(2):\n    note(self.{name})",
                    f"if {value}:\n    raise ValueError(self.{name})",
                    "self.bump()",
                    "poke()",
                    "if x > 1:\n    self.f(x - 1)",
                    "if x > 1:\n    y = self.f(x - 1)",
                    "if x > 1:\n    return self.f(x - 1)",
                    "c = self.c\nnote(c)",
                    f"def h():\n    return self.{name}\n\ny = h()",
                    f"del self.{name}",
                ]
            )
        )
    body, other = draw(statements(depth - 1)), draw(statements(depth - 1))
    kind = draw(st.integers(0, 7))
    return [
        f"if {value}:\n{_block(body)}\nelse:\n{_block(other)}",
        f"if {value}:\n{_block(body)}",
        f"for i in range(2):\n{_block(body)}",
        f"try:\n{_block(body)}\nexcept (ZeroDivisionError, AttributeError, TypeError):\n{_block(other)}",
        f"try:\n{_block(body)}\nfinally:\n{_block(other)}",
        f"with Gate() as y:\n{_block(body)}",
        f"{body}\n{other}",
        f"with contextlib.suppress(ZeroDivisionError):\n{_block(body)}\n{other}",
    ][kind]


@st.composite
def methods(draw: st.DrawFn) -> str:
    return _join(draw(st.lists(statements(), min_size=1, max_size=4)))


def _run(text: str, driver: str, a: int, b: int, x: int) -> tuple[Any, ...]:
    """What a driver comes to: its result or error, the object after it, and the log."""
    space: dict[str, Any] = {}
    exec(compile(text, "m.py", "exec"), space)
    instance = space["OBJ"] = space["A"](a, b)
    function: Callable[..., Any] = space[driver]
    outcome: tuple[str, Any]
    try:
        outcome = ("returned", repr(function(instance, x)))
    except RecursionError:
        outcome = ("raised", "RecursionError")
    except Exception as error:  # noqa: BLE001
        outcome = ("raised", repr(error))
    return (*outcome, repr(sorted(vars(instance).items())), tuple(space["LOG"]))


def _check(body: str, step: ExtractMethod) -> str:
    text = FRAME.replace("{body}", _block(_block(body)))
    with contextlib.suppress(SyntaxError):
        compile(text, "m.py", "exec")
        done = run_stage(tree({"m.py": text.encode()}), [(TRANSFORM, step)], {"U101": "", "U102": ""})
        if done.files is None:
            return "refused " + " ".join(sorted({each.code for each in done.refusals}))
        if any(hazard.severity is not Severity.NOTE for hazard in done.hazards):
            return "to prove"
        new = done.files.read("m.py").decode()
        for driver in ("drop", "keep", "back", "try_both"):
            for a, b, x in ((1, 2, 2), (0, 0, 0), (2, 1, 3)):
                assert _run(new, driver, a, b, x) == _run(text, driver, a, b, x), f"{driver} {a, b, x}\n{new}"
        return "the same" if new != text else "unchanged"
    return "no program"


@given(methods(), st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@example("if getattr(self, 'rare', 4):\n    self.a = x\nelse:\n    return self.b\n    self.a = self.rare", False)
@example("self.a = x\nif x > 1:\n    y = self.f(x - 1)", False)
@example("if x:\n    poke()\nelse:\n    self.c = x", False)
@example("self.a += x\nif x > 1:\n    y = self.f(x - 1)\n    return self.f(x - 2)\nreturn self.a, y", False)
@example("try:\n    y = self.rare\nfinally:\n    self.a = 1", False)
@example("if x:\n    try:\n        self.rare\n    finally:\n        self.b, y = self.c + x, self.b", False)
@example("self.a = 1\ny = self.rare\nself.rare = 3", False)
@example("self.a = 1\nif x > 1:\n    c = 2\ny = c", False)
@example("try:\n    if x > 1:\n        self.f(x - 1)\n    return x, self.c\nfinally:\n    poke()", False)
@example("note((y // 0) // self.rare)", True)
@example("if (lambda v: v + self.bump())(self.b):\n    self.b = getattr(self, 'a', 9)", False)
@example("try:\n    y = self.rare\nfinally:\n    note(x)", False)
def test_programs_do_what_they_did(body: str, wrapper: bool) -> None:
    event(_check(body, ExtractMethod(method="m:A.f", wrapper=wrapper)))


@pytest.mark.parametrize("wrapper", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        "return self.a + x",
        "c = self.c\nself.a, self.b = x, c",
        "for self.b in range(2):\n    pass",
        "return f'{self.a=}', [self.a + i for i in self.xs], getattr(self, 'rare', 4)",
        "def h():\n    return self.a\n\ny = h()\nself.c = y",
        "if x:\n    self.a = 1\nelse:\n    self.b = 2\nreturn",
    ],
)
def test_the_law_is_not_empty(body: str, wrapper: bool) -> None:
    assert _check(body, ExtractMethod(method="m:A.f", wrapper=wrapper)) == "the same"
