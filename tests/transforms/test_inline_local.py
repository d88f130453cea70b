"""inline-method on a local: its value where it was read, or the reason why not."""

from __future__ import annotations

import textwrap

import pytest

from codemods.schema.errors import UnmovedError
from codemods.schema.plan import InlineMethod
from codemods.transforms.inline_function import TRANSFORM
from tests.support.trees import check, codes, tree

STEP = InlineMethod(method="m:f.bar")


def function(body: str, head: str = "", parameters: str = "a, b") -> str:
    return f"# file: m.py\n{head}def f({parameters}):\n" + textwrap.indent(textwrap.dedent(body), "    ")


APPLIES = {
    "text in strings stays": (
        'bar = 42\ntext = "bar \\\nbar"\nreturn text, bar, \'bar\', f"bar {bar}"\n',
        'text = "bar \\\nbar"\nreturn text, 42, \'bar\', f"bar {42}"\n',
    ),
    "a literal anywhere, also later": (
        "bar = -1\nreturn [bar for _ in a], lambda: bar ** 2\n",
        "return [-1 for _ in a], lambda: (-1) ** 2\n",
    ),
    "a name that is never rebound": ("bar = a\nb = bar + bar\nreturn b\n", "b = a + a\nreturn b\n"),
    "a call read once, right after": ("bar = g(a)\nreturn bar.x + h(b)\n", "return g(a).x + h(b)\n"),
    "brackets": ("bar = a + b\nreturn bar * 2\n", "return (a + b) * 2\n"),
    "in a block of its own": (
        "if a:\n    bar = g(a)\n    h(bar)\nreturn b\n",
        "if a:\n    h(g(a))\nreturn b\n",
    ),
    "several statements on a line": ("bar = 1; b = bar\nreturn b\n", "b = 1\nreturn b\n"),
    "the last of a line": ("b = 2; bar = 1\nreturn b + bar\n", "b = 2\nreturn b + 1\n"),
    "printed text": ('bar = 3\nreturn f"{bar=}"\n', 'return f"bar={3!r}"\n'),
    "a value over several lines": (
        "bar = g(\n    a,\n    b,\n)\nreturn bar\n",
        "return g(\n    a,\n    b,\n)\n",
    ),
    "annotated, in a nested block": ("with a:\n    bar: int = 3\nreturn b\n", "with a:\n    pass\nreturn b\n"),
}


@pytest.mark.parametrize("name", APPLIES)
def test_applies(name: str) -> None:
    before, after = APPLIES[name]
    check(TRANSFORM, STEP, function(before), function(after))


REFUSES = {
    "a parameter": ("return bar\n", "bar", "not-a-local"),
    "two assignments": ("bar = 1\nbar = 2\nreturn bar\n", "a", "assigned-again"),
    "an augmented one": ("bar = 1\nbar += a\nreturn bar\n", "a", "assigned-again"),
    "deleted": ("bar = 1\ndel bar\n", "a", "assigned-again"),
    "unpacked": ("bar, b = a\nreturn bar\n", "a", "not-an-assignment"),
    "a loop's": ("for bar in a:\n    print(bar)\n", "a", "not-an-assignment"),
    "on another path": ("if a:\n    bar = 1\nreturn bar\n", "a", "U102"),
    "before it": ("while a:\n    print(bar)\n    bar = 1\n", "a", "U102"),
    "a call read twice": ("bar = g()\nreturn bar, bar\n", "a", "U101"),
    "a call never read": ("bar = g()\nreturn 1\n", "a", "U101"),
    "a new list read twice": ("bar = []\nbar.append(1)\nreturn bar\n", "a", "U101"),
    "a name that is rebound": ("bar = a\na = 2\nreturn bar\n", "a", "U101"),
    "a name read later": ("bar = a\nreturn lambda: bar\n", "a", "U101"),
    "a name caught": ("bar = a\nreturn [bar for a in range(3)]\n", "a", "U107"),
    "read by its name": ("bar = 1\nreturn locals()\n", "a", "U111"),
    "quotes in an f-string": ("bar = 'x'\nreturn f'{bar}'\n", "a", "f-string"),
}


@pytest.mark.parametrize("name", REFUSES)
def test_refuses(name: str) -> None:
    body, parameters, code = REFUSES[name]
    planned = TRANSFORM.plan(tree(function(body, parameters=parameters)), STEP)
    assert planned.files is None
    assert f"refused {code}" in codes(planned)


STOPS = {
    "something in between": "bar = a.x\ng()\nreturn bar\n",
    "something first": "bar = a.x\nreturn g() + bar\n",
    "a new object that is changed": "bar = g()\nwhile bar:\n    pass\n",
}


@pytest.mark.parametrize("name", STOPS)
def test_stops(name: str) -> None:
    planned = TRANSFORM.plan(tree(function(STOPS[name])), STEP)
    assert codes(planned) == ["stop U101"]


def test_only_sometimes() -> None:
    planned = TRANSFORM.plan(tree(function("bar = a.x\nreturn b or bar\n")), STEP)
    assert codes(planned) == ["stop U102"]


def test_tells_what_goes_with_it() -> None:
    planned = TRANSFORM.plan(tree(function("bar: int = 42  # the answer\nreturn bar\n")), STEP)
    assert [each.topic for each in planned.findings] == ["calls", "comments", "annotations"]


def test_a_local_that_is_not_there() -> None:
    with pytest.raises(UnmovedError, match="has no local 'bar'"):
        TRANSFORM.plan(tree(function("return a\n")), STEP)
    with pytest.raises(UnmovedError, match="has no local 'bar'"):
        TRANSFORM.plan(tree(function("global bar\nbar = 1\n")), STEP)
