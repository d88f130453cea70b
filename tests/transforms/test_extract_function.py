"""A block becomes a function: tables of before and after, by what the block does to the variables around it."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from codemods.schema.plan import ExtractFunction
from codemods.transforms import extract_function
from tests.support.trees import check, tree

TRANSFORM = extract_function.TRANSFORM


def step(**keys: Any) -> ExtractFunction:
    keys.setdefault("function", "m:f")
    keys.setdefault("name", "_new")
    return ExtractFunction(**keys)


def extract(before: str, after: str, **keys: Any) -> None:
    check(TRANSFORM, step(**keys), f"# file: m.py\n{before}", f"# file: m.py\n{after}")


def extracted(before: str, **keys: Any) -> str:
    """The new text of m.py."""
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{before}"), step(**keys))
    assert planned.files is not None, planned.refusals
    return planned.files.read("m.py").decode()


# (body of f, first, last, body of f after, signature and body of the new function)
VARIABLES = {
    "reads": ("y = a + b\nreturn y", "y = a", "", "y = _new(a=a, b=b)\nreturn y", "*, a, b", "y = a + b\nreturn y"),
    "order of first use": (
        "y = b + a\nreturn y",
        "y =",
        "",
        "y = _new(b=b, a=a)\nreturn y",
        "*, b, a",
        "y = b + a\nreturn y",
    ),
    "nothing": ("g()\nreturn a", "g()", "", "_new()\nreturn a", "", "g()"),
    "globals are no parameters": (
        "y = g(a)\nreturn y",
        "y",
        "",
        "y = _new(a=a)\nreturn y",
        "*, a",
        "y = g(a)\nreturn y",
    ),
    "several results": (
        "x = a\ny = b\nz = x\nreturn y, x",
        "x = a",
        "z = x",
        "x, y = _new(a=a, b=b)\nreturn y, x",
        "*, a, b",
        "x = a\ny = b\nz = x\nreturn x, y",
    ),
    "not read afterwards": ("x = a\ng(x)\nreturn b", "x = a", "g(x)", "_new(a=a)\nreturn b", "*, a", "x = a\ng(x)"),
    "written again first": (
        "x = a\ng(x)\nx = b\nreturn x",
        "x = a",
        "g(x)",
        "_new(a=a)\nx = b\nreturn x",
        "*, a",
        "x = a\ng(x)",
    ),
    "written on some paths": (
        "x = 0\nif a:\n    x = b\nreturn x",
        "if a",
        "",
        "x = 0\nx = _new(a=a, b=b, x=x)\nreturn x",
        "*, a, b, x",
        "if a:\n    x = b\nreturn x",
    ),
    "written on every path": (
        "if a:\n    x = b\nelse:\n    x = 1\nreturn x",
        "if a",
        "",
        "x = _new(a=a, b=b)\nreturn x",
        "*, a, b",
        "if a:\n    x = b\nelse:\n    x = 1\nreturn x",
    ),
    "read in the next round": (
        "n = 0\nfor x in a:\n    n = n + x\nreturn 1",
        "n = n",
        "",
        "n = 0\nfor x in a:\n    n = _new(n=n, x=x)\nreturn 1",
        "*, n, x",
        "n = n + x\nreturn n",
    ),
    "augmented": ("a += b\nreturn a", "a +=", "", "a = _new(a=a, b=b)\nreturn a", "*, a, b", "a += b\nreturn a"),
    "index and attribute": (
        "a[b] = 1\na.c = 2\nreturn a",
        "a[b]",
        "a.c",
        "_new(a=a, b=b)\nreturn a",
        "*, a, b",
        "a[b] = 1\na.c = 2",
    ),
    "with": (
        "with open(a) as h:\n    y = h.read()\nreturn y",
        "with",
        "",
        "y = _new(a=a)\nreturn y",
        "*, a",
        "with open(a) as h:\n    y = h.read()\nreturn y",
    ),
    "try": (
        "try:\n    y = g(a)\nexcept E as e:\n    y = e\nreturn y",
        "try",
        "",
        "y = _new(a=a)\nreturn y",
        "*, a",
        "try:\n    y = g(a)\nexcept E as e:\n    y = e\nreturn y",
    ),
    "match": (
        "match a:\n    case [x, y]:\n        z = x\n    case _:\n        z = b\nreturn z",
        "match",
        "",
        "z = _new(a=a, b=b)\nreturn z",
        "*, a, b",
        "match a:\n    case [x, y]:\n        z = x\n    case _:\n        z = b\nreturn z",
    ),
    "walrus": (
        "if (n := g(a)) > 1:\n    h(n)\nreturn n",
        "if",
        "",
        "n = _new(a=a)\nreturn n",
        "*, a",
        "if (n := g(a)) > 1:\n    h(n)\nreturn n",
    ),
    "comprehension names stay inside": (
        "y = [a for a in b if a]\nreturn y, a",
        "y =",
        "",
        "y = _new(b=b)\nreturn y, a",
        "*, b",
        "y = [a for a in b if a]\nreturn y",
    ),
    "local import": (
        "import os.path\ny = os.path.join(a)\nreturn y",
        "import",
        "y =",
        "y = _new(a=a)\nreturn y",
        "*, a",
        "import os.path\ny = os.path.join(a)\nreturn y",
    ),
    "local import above": (
        "import os\ny = os.sep + a\nreturn y",
        "y =",
        "",
        "import os\ny = _new(os=os, a=a)\nreturn y",
        "*, os, a",
        "y = os.sep + a\nreturn y",
    ),
    "local function": (
        "def h(x):\n    return x + b\ny = h(a)\nreturn y",
        "y =",
        "",
        "def h(x):\n    return x + b\ny = _new(h=h, a=a)\nreturn y",
        "*, h, a",
        "y = h(a)\nreturn y",
    ),
    "local class": (
        "class K:\n    pass\ny: K = K()\nreturn y",
        "y: K",
        "",
        "class K:\n    pass\ny = _new(K=K)\nreturn y",
        "*, K",
        "y: K = K()\nreturn y",
    ),
    "closure over what stays the same": (
        "k = a\ng(lambda: k)\nreturn k",
        "g(",
        "",
        "k = a\n_new(k=k)\nreturn k",
        "*, k",
        "g(lambda: k)",
    ),
    "declared only": (
        "y: int\ny = a\nreturn y",
        "y: int",
        "y = a",
        "y = _new(a=a)\nreturn y",
        "*, a",
        "y: int\ny = a\nreturn y",
    ),
    "deleted inside": ("x = a\ndel x\nreturn b", "x = a", "del x", "_new(a=a)\nreturn b", "*, a", "x = a\ndel x"),
    "unpacked": ("(x, *y), a = b\nreturn y", "(x,", "", "y = _new(b=b)\nreturn y", "*, b", "(x, *y), a = b\nreturn y"),
    "f-string": (
        'y = f"{a!r:>{b}} # {{"\nreturn y',
        "y =",
        "",
        "y = _new(a=a, b=b)\nreturn y",
        "*, a, b",
        'y = f"{a!r:>{b}} # {{"\nreturn y',
    ),
    "assert": ("assert a, b\nreturn b", "assert", "", "_new(a=a, b=b)\nreturn b", "*, a, b", "assert a, b"),
    "bare raise": (
        "try:\n    g()\nexcept E:\n    h(a)\n    raise\nreturn b",
        "h(a)",
        "raise",
        "try:\n    g()\nexcept E:\n    _new(a=a)\nreturn b",
        "*, a",
        "h(a)\nraise",
    ),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_variables(name: str) -> None:
    body, first, last, rest, items, new = VARIABLES[name]
    before = f"def f(a, b):\n{textwrap.indent(body, '    ')}\n"
    after = f"def f(a, b):\n{textwrap.indent(rest, '    ')}\n\n\ndef _new({items}):\n{textwrap.indent(new, '    ')}\n"
    extract(before, after, first=first, last=last)


RETURNS = {
    "at the end": (
        "if a:\n    return 1\nreturn b",
        "return b",
        "",
        "if a:\n    return 1\nreturn _new(b=b)",
        "*, b",
        "return b",
    ),
    "falls off the end": (
        "g()\nif a:\n    return b",
        "if a",
        "",
        "g()\nreturn _new(a=a, b=b)",
        "*, a, b",
        "if a:\n    return b",
    ),
    "bare, at the end": (
        "g()\nif a:\n    return\nh(b)",
        "if a",
        "h(b)",
        "g()\n_new(a=a, b=b)",
        "*, a, b",
        "if a:\n    return\nh(b)",
    ),
    "at the end of a branch": (
        "if a:\n    g()\n    if b:\n        return 1\nelse:\n    h()",
        "g()",
        "if b",
        "if a:\n    return _new(b=b)\nelse:\n    h()",
        "*, b",
        "g()\nif b:\n    return 1",
    ),
    "every path, code behind": (
        "if a:\n    g()\n    return 1\nreturn b",
        "g()",
        "return 1",
        "if a:\n    return _new()\nreturn b",
        "",
        "g()\nreturn 1",
    ),
    "every path, without a value": (
        "if a:\n    g()\n    return\nh(b)",
        "g()",
        "return",
        "if a:\n    _new()\n    return\nh(b)",
        "",
        "g()\nreturn",
    ),
    "through a finally": (
        "try:\n    return g(a)\nfinally:\n    h()",
        "return g",
        "",
        "try:\n    return _new(a=a)\nfinally:\n    h()",
        "*, a",
        "return g(a)",
    ),
    "loop whole": (
        "for x in a:\n    if x:\n        break\n    else:\n        continue\nelse:\n    return b\nreturn 1",
        "for",
        "return 1",
        "return _new(a=a, b=b)",
        "*, a, b",
        "for x in a:\n    if x:\n        break\n    else:\n        continue\nelse:\n    return b\nreturn 1",
    ),
    "raises only": (
        "if a:\n    x = g(b)\n    raise E(x)\nreturn b",
        "x = g(b)",
        "raise E(x)",
        "if a:\n    _new(b=b)\nreturn b",
        "*, b",
        "x = g(b)\nraise E(x)",
    ),
    "yield": (
        "for x in a:\n    yield x\nreturn b",
        "for",
        "",
        "yield from _new(a=a)\nreturn b",
        "*, a",
        "for x in a:\n    yield x",
    ),
    "yield and result": (
        "x = yield a\nreturn x",
        "x = yield",
        "",
        "x = yield from _new(a=a)\nreturn x",
        "*, a",
        "x = yield a\nreturn x",
    ),
    "yield and return": (
        "yield a\nreturn b",
        "yield a",
        "return b",
        "return (yield from _new(a=a, b=b))",
        "*, a, b",
        "yield a\nreturn b",
    ),
}


@pytest.mark.parametrize("name", RETURNS)
def test_ways_out(name: str) -> None:
    body, first, last, rest, items, new = RETURNS[name]
    before = f"def f(a, b):\n{textwrap.indent(body, '    ')}\n"
    after = f"def f(a, b):\n{textwrap.indent(rest, '    ')}\n\n\ndef _new({items}):\n{textwrap.indent(new, '    ')}\n"
    extract(before, after, first=first, last=last)


@pytest.mark.parametrize(
    ("body", "first", "call", "head"),
    [
        ("x = await g(a)\n    return x", "x =", "x = await _new(a=a)", "async def _new(*, a):"),
        ("async with a as x:\n        y = x\n    g()\n    return y", "async with", None, ""),
        (
            "async with a.lock as x:\n        y = x\n    return y",
            "async with",
            "y = await _new(a=a)",
            "async def _new(*, a):",
        ),
        ("x = [y async for y in a]\n    return x", "x =", "x = await _new(a=a)", "async def _new(*, a):"),
        ("x = g(a)\n    return await x", "x =", "x = _new(a=a)", "def _new(*, a):"),
        ("return await g(a)", "return", "return await _new(a=a)", "async def _new(*, a):"),
        ("async def h():\n        await g(a)\n    return h", "async def", "h = _new(a=a)", "def _new(*, a):"),
    ],
)
def test_coroutines(body: str, first: str, call: str | None, head: str) -> None:
    planned = TRANSFORM.plan(tree(f"# file: m.py\nasync def f(a):\n    {body}\n"), step(first=first))
    assert planned.files is not None
    if call is None:
        assert [hazard.code for hazard in planned.hazards] == ["U102"]  # the manager may swallow what the body raises
        return
    lines = planned.files.read("m.py").decode().splitlines()
    assert f"    {call}" in lines
    assert head in lines
