"""Slips in what the language itself does with values, exceptions and functions: each differs, and the same thing in
other words does not."""

from __future__ import annotations

import pytest

from codemods.schema.prove import ProofVerdict
from tests.support.prove_texts import proved

_HEAD = "from ext import load, make, fill, run\n\n\n"
_TRY = "def f(a):\n    try:\n        {}\n    except {}:\n        return {}\n"
_COUNTS = "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n"
_DIFFERS = {
    "a conversion with a width": ("def f(a):\n    return f'{a!s:>5}'\n", "def f(a):\n    return f'{a:>5}'\n"),
    "a conversion to ascii": ("def f(a):\n    return f'{a!a}'\n", "def f(a):\n    return f'{a}'\n"),
    "a conversion in a template": (
        "def f(a):\n    return '{!a}'.format(a)\n",
        "def f(a):\n    return '{}'.format(a)\n",
    ),
    "one and the same, or equal": ("def f(a, b):\n    return a is b\n", "def f(a, b):\n    return a == b\n"),
    "True itself, or equal to it": (
        "def f(a):\n    return 1 if a is True else 0\n",
        "def f(a):\n    return 1 if a == True else 0\n",
    ),
    "True itself, or what is true": (
        "def f(a):\n    return 1 if a is True else 0\n",
        "def f(a):\n    return 1 if a else 0\n",
    ),
    "zero, or False": ("def f(a):\n    return 1 if a == 0 else 0\n", "def f(a):\n    return 1 if a is False else 0\n"),
    "a case of True, or of one": (
        "def f(a):\n    match a:\n        case True:\n            return 'x'\n    return 'y'\n",
        "def f(a):\n    match a:\n        case 1:\n            return 'x'\n    return 'y'\n",
    ),
    "a default of a function that is handed out": (
        "def f(n):\n    run(lambda x=n: x)\n",
        "def f(n):\n    run(lambda x=None: x)\n",
    ),
    "what a generator is sent": (
        "def f():\n    x = yield 1\n    return x\n",
        "def f():\n    yield 1\n    return None\n",
    ),
    "what a generator that is delegated to gives back": (
        "def f(x):\n    r = yield from x.items()\n    return r\n",
        "def f(x):\n    for each in x.items():\n        yield each\n",
    ),
    "a cause that is taken away": (
        "def f(x):\n    try:\n        x.a()\n    except Exception:\n        raise ValueError('b') from None\n",
        "def f(x):\n    try:\n        x.a()\n    except Exception:\n        raise ValueError('b')\n",
    ),
    "what is no Exception": (
        _TRY.format("a.x()", "Exception", "2"),
        _TRY.format("a.x()", "BaseException", "2"),
    ),
    "what is no Exception, without a name": (
        _TRY.format("a.x()", "Exception", "2"),
        _TRY.format("a.x()", "Exception", "2").replace(" Exception", ""),
    ),
    "an interrupt": (
        _TRY.format("a.x()", "KeyboardInterrupt", "2"),
        "def f(a):\n    a.x()\n",
    ),
    "an attribute that is not there": (_TRY.format("return a.x", "AttributeError", "0"), "def f(a):\n    return a.x\n"),
    "another way out for it": (
        _TRY.format("return a.x", "AttributeError", "0"),
        _TRY.format("return a.x", "AttributeError", "1"),
    ),
    "a key that is not there": (
        _TRY.format("return a.b['x']", "KeyError", "0"),
        "def f(a):\n    return a.b['x']\n",
    ),
    "an index that is not there": (
        _TRY.format("return a.b[1]", "IndexError", "0"),
        _TRY.format("return a.b[1]", "(IndexError, KeyError)", "1"),
    ),
    "a list that a call has, changed later": (
        "def f(x):\n    a = [x]\n    fill(a)\n    a.append(1)\n",
        "def f(x):\n    a = [x]\n    fill(a)\n",
    ),
    "a list that an attribute has, changed later": (
        "def f(x):\n    a = []\n    x.a = a\n    a.append(1)\n",
        "def f(x):\n    a = []\n    x.a = a\n",
    ),
    "a list that an item has, copied": (
        "def f(x):\n    a = []\n    x.y['a'] = a\n    a.append(1)\n",
        "def f(x):\n    a = []\n    x.y['a'] = list(a)\n    a.append(1)\n",
    ),
    "what a call did to a dict": (
        "def f(x):\n    a = {}\n    fill(a)\n    return a\n",
        "def f(x):\n    a = {}\n    fill(a)\n    return {}\n",
    ),
    "what a call did to a set of another one": (
        "def f(x):\n    a = {1}\n    fill(a)\n    x.use(a)\n",
        "def f(x):\n    fill({1})\n    x.use({1})\n",
    ),
    "a function that is called at once": (
        f"{_COUNTS}    run(g)\n    return n\n",
        f"{_COUNTS}    run(g)\n    return 0\n",
    ),
    "a function that is called twice": (
        "def f():\n    n = []\n    def g():\n        n.append(1)\n        return len(n)\n    run(g)\n",
        "def f():\n    def g():\n        return 1\n    run(g)\n",
    ),
    "a default that calls share": (
        "def g(x, a={}):\n    a[x] = 1\n    return a\ndef f(x):\n    return g(x)\n",
        "def g(x, a=None):\n    a = {}\n    a[x] = 1\n    return a\ndef f(x):\n    return g(x)\n",
    ),
}  # fmt: skip
_AGREES = {
    "a conversion that happens anyway": ("def f(a):\n    return f'{a!s}'\n", "def f(a):\n    return f'{a}'\n"),
    "one and the same, the other way round": ("def f(a, b):\n    return a is b\n", "def f(a, b):\n    return b is a\n"),
    "True itself": (
        "def f(a):\n    return 1 if a is True else 0\n",
        "def f(a):\n    if a is not True:\n        return 0\n    return 1\n",
    ),
    "what is no Exception": (
        _TRY.format("a.x()", "BaseException", "2"),
        _TRY.format("a.x()", "Exception", "2").replace(" Exception", ""),
    ),
    "an attribute that is not there": (
        _TRY.format("return a.x", "AttributeError", "0"),
        _TRY.format("b = a.x", "AttributeError", "0") + "    return b\n",
    ),
    "a key that is not there": (
        _TRY.format("return a.b['x']", "KeyError", "0"),
        _TRY.format("b = a.b['x']", "KeyError", "0") + "    return b\n",
    ),
    "a list that is handed on": (
        "def f(x):\n    a = [x]\n    a.append(1)\n    fill(a)\n    return a\n",
        "def f(x):\n    a = [x, 1]\n    fill(a)\n    return a\n",
    ),
    "a function that is handed out": (
        "def f(x):\n    def g():\n        return x.a\n    run(g)\n    return x.b\n",
        "def f(x):\n    run(lambda: x.a)\n    return x.b\n",
    ),
    "a default that nobody changes": (
        "def g(x, a={}):\n    return a.get(x, 0)\ndef f(x):\n    return g(x.y)\n",
        "def g(x, b={}):\n    return b.get(x, 0)\ndef f(x):\n    return g(x.y)\n",
    ),
    "what a generator is sent": (
        "def f():\n    x = yield 1\n    return x\n",
        "def f():\n    return (yield 1)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", _DIFFERS)
def test_a_slip_differs(what: str) -> None:
    before, after = _DIFFERS[what]
    found = proved(_HEAD + before, _HEAD + after, "f")
    assert found.verdict is ProofVerdict.DIFFERS, found.reason
    for text in (before, after):
        same = proved(_HEAD + text, _HEAD + text.replace("\n", "\n    \n"), "f")
        assert same.verdict is ProofVerdict.AGREES, (same.reason, same.deltas)


@pytest.mark.parametrize("what", _AGREES)
def test_the_same_in_other_words_agrees(what: str) -> None:
    before, after = _AGREES[what]
    found = proved(_HEAD + before, _HEAD + after, "f")
    assert found.verdict is ProofVerdict.AGREES, (found.reason, found.deltas)
