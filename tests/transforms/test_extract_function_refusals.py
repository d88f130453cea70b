"""When a block can't become a function, and why: each with the one code that says so."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from codemods.schema.hazards import Severity
from codemods.schema.plan import ExtractFunction
from codemods.transforms import extract_function
from codemods.transforms.transform import Planned
from tests.support.trees import codes, tree


def planned(text: str, **keys: Any) -> Planned:
    keys = {"function": "m:f", "name": "_new", **keys}
    return extract_function.TRANSFORM.plan(tree(f"# file: m.py\n{text}"), ExtractFunction(**keys))


def body(text: str) -> str:
    return f"def f(a, b):\n{textwrap.indent(text, '    ')}\n"


@pytest.mark.parametrize(
    ("text", "first", "last", "code"),
    [
        ("x = a\nreturn x", "y = a", "", "unknown-block"),
        ("x = a\nreturn x", "x = ab", "", "unknown-block"),
        ("xa = a\nreturn xa", "x", "", "unknown-block"),
        ("x = a\nreturn x", "return", "x = a", "unknown-block"),
        ("if a:\n    g()\nh()", "g()", "h()", "unknown-block"),
        ("if a:\n    g()\nelif b:\n    h()", "elif b", "", "unknown-block"),
        ("g()\nh()\ng()", "g()", "", "ambiguous-block"),
        ("g()\nh()\nh()", "g()", "h()", "ambiguous-block"),
        ("if a: g()\nreturn b", "g()", "", "shares-line"),
        ("x = a; y = b\nreturn x", "y = b", "", "shares-line"),
        ('"""Doc."""\nreturn a', '"""Doc', "", "docstring"),
        ("return a\ng(b)", "g(b)", "", "unreachable-block"),
        ("for x in a:\n    g(x)\n    break", "g(x)", "break", "leaves-loop"),
        ("for x in a:\n    if x:\n        continue\n    g(x)", "if x", "", "leaves-loop"),
        ("while a:\n    for x in a:\n        g()\n    else:\n        break", "for x", "", "leaves-loop"),
        ("if a:\n    return 1\ng(b)\nreturn b", "if a", "", "returns-inside"),
        ("if a:\n    return\ng(b)", "if a", "", "returns-inside"),
        ("for x in a:\n    if x:\n        return x\n    g()", "if x", "g()", "returns-inside"),
        ("x = 1\ntry:\n    x = a\n    return b\nfinally:\n    g(x)", "x = a", "return b", "two-results"),
        ("x = a\ndel x\nreturn b", "del x", "", "deletes-local"),
        ("x = locals()\nreturn a", "x =", "", "frame-dependent"),
        ("x = a\nreturn g(**vars())", "x =", "", "frame-dependent"),
        ("x = a\nreturn eval(b)", "x =", "", "frame-dependent"),
        ("x = a\nreturn sys._getframe(1)", "x =", "", "frame-dependent"),
        ("x = a\nreturn inspect.stack()", "x =", "", "frame-dependent"),
        ("def h():\n    return x\nx = a\nreturn h()", "def h", "", "unbound-name"),
        ("x = 0\ndef h():\n    nonlocal x\n    x = 1\nh()\nreturn x", "def h", "h()", "U106"),
        ("return __class__", "return", "", "U105"),
        ("return super().f(a)", "return", "", "U105"),
        ("class K:\n    pass\nx: K\nx = a\nreturn x", "x: K", "x = a", "local-annotation"),
        ("class K:\n    pass\nx: K = a\nreturn x", "class K", "", "out-of-reach"),
        ("x = a\nraise E\nreturn x", "x = a", "", "out-of-reach"),
        ("if a:\n    del x\nreturn x", "del x", "", "out-of-reach"),
        ("x = a\ng(x)\nraise E\nh(x)", "raise E", "h(x)", "out-of-reach"),
    ],
)
def test_refused(text: str, first: str, last: str, code: str) -> None:
    found = planned(body(text), first=first, last=last)
    assert found.files is None
    assert [refusal.code for refusal in found.refusals] == [code]
    assert all(refusal.settle and refusal.message and refusal.line for refusal in found.refusals)


@pytest.mark.parametrize(
    ("text", "first", "last", "hazard"),
    [
        ("if a:\n    x = b\nif a:\n    g(x)", "if a:\n    x", "", "U102"),
        ("if a:\n    x = 1\nif b:\n    g(x)", "if b", "", "U102"),
        ("if a:\n    x = 1\nb.n += 1\ng(x)", "b.n", "g(x)", "U102"),
        ("if a:\n    x = 1\nassert b\ng(x)", "assert", "g(x)", "U102"),
        ("with a:\n    x = b\ng()\nreturn x", "with", "", "U102"),
        ("for x in a:\n    y = x\nif b:\n    g(y)", "for", "", "U102"),
        ("for x in a:\n    y = x\nb.c\nreturn y", "for", "", "U102"),
        ("for x in a:\n    y = x\ntry:\n    g(y)\nexcept NameError:\n    pass", "for", "", "U102"),
        ("for z in b:\n    for x in a:\n        y = x\n    g(y)", "for x", "", "U102"),
        ("x = a\ntry:\n    x = b\n    g()\nexcept E:\n    g(x)", "x = b", "g()", "U103"),
        ("for x in a:\n    try:\n        y = x\n        g()\n    finally:\n        g(y)", "y = x", "g()", "U103"),
        ("x = a\nh(lambda: x)\nx = b\nreturn x", "h(", "", "U106"),
        ("x = a\nh(lambda: x)\nx = b\ng()\nreturn x", "x = b", "g()", "U106"),
        ("for x in a:\n    h(lambda: x)\nreturn b", "h(", "", "U106"),
        ("x = 0\ndef h():\n    nonlocal x\n    x += 1\ng(h)\nk(x)\nreturn a", "k(x)", "", "U106"),
        ("h(x for x in a if x > b)\nb = 2\nreturn b", "h(", "", "U106"),
        ("warnings.warn(a, stacklevel=2)\nreturn b", "warnings", "", "U110"),
        ("x = a\nx = b\ndel x\nreturn x", "x = b", "del x", "U102"),
    ],
)
def test_stopped_until_accepted(text: str, first: str, last: str, hazard: str) -> None:
    found = planned(body(text), first=first, last=last)
    assert found.files is not None
    assert codes(found) == [f"stop {hazard}"]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("x = a\nh(lambda: x)\nreturn x", "h(", ""),
        ("x = a\nx = b\nh(lambda: x)\nreturn x", "x = b", ""),
        ("h(x for x in a if x > b)\nreturn b", "h(", ""),
        ("y = sum(x for x in a if x > b)\nb = 2\nreturn b, y", "y =", ""),
        ("def h():\n    n = 0\n    def k():\n        nonlocal n\n        n += 1\n    return k\nreturn h", "def h", ""),
        ("n = 0\ndef k():\n    nonlocal n\n    n += 1\nk()\nreturn a", "n = 0", "k()"),
        ("x = a\ntry:\n    x = g(b)\nexcept E:\n    g(x)\nreturn x", "x = g", ""),
        ("model.eval()\nreturn eval(a, {})", "model", ""),
        ("super(K, a).f()\nreturn b", "super", ""),
        ("if a:\n    x = b\nelse:\n    raise E\nreturn x", "if a", ""),
        ("while True:\n    x = g(a)\n    if x:\n        break\nreturn x", "while", ""),
        ("try:\n    x = a\nfinally:\n    g()\nreturn x", "try", ""),
        ("for x in a:\n    y = x\nreturn y", "for", ""),
        ("if a:\n    x = 1\ny = x, b\nreturn y", "y =", ""),
        (
            "if a:\n    def h():\n        nonlocal c\n        c = 7\nb.n += 1\nfor c in b:\n    g(c)\nreturn 1",
            "if a",
            "return 1",
        ),
        ("while a:\n    y = a\n    a -= 1\nz = y, b\nreturn z", "while", ""),
        ("class K(a):\n    def m(self):\n        return super().m()\nreturn K", "class K", ""),
    ],
)
def test_no_false_alarm(text: str, first: str, last: str) -> None:
    found = planned(body(text), first=first, last=last)
    assert found.files is not None, found.refusals
    assert not [hazard for hazard in found.hazards if hazard.severity is Severity.STOP]


@pytest.mark.parametrize(
    ("text", "keys", "code"),
    [
        ("_new = 1\ndef f(a):\n    g(a)\n", {}, "U107"),
        ("from x import _new\ndef f(a):\n    g(a)\n", {}, "U107"),
        ("def f(_new):\n    g(a)\n", {}, "U107"),
        ("def f(a):\n    g(a)\ndef h():\n    print(1)\n", {"name": "print"}, "U107"),
        ("from x import *\ndef f(a):\n    g(a)\n    taken()\n", {"name": "taken"}, "U107"),
        ("def f(a):\n    g(a)\n", {"name": "class"}, "bad-name"),
        ("def f(a):\n    g(a)\n", {"name": "two words"}, "bad-name"),
        ("def f(a):\n    g(a)\n", {"kind": "method"}, "not-a-method"),
        ("def f(a):\n    g(a)\n", {"kind": "staticmethod"}, "not-a-method"),
        ("def f[T](a: T):\n    g(T)\n", {"first": "g(T)"}, "type-parameter"),
    ],
)
def test_names_and_kinds(text: str, keys: dict[str, Any], code: str) -> None:
    if "[T]" in text:
        pytest.importorskip("tomllib")  # stands for 3.11; the syntax itself needs 3.12
        try:
            compile(text, "m.py", "exec")
        except SyntaxError:
            pytest.skip("needs Python 3.12")
    found = planned(text, **{"first": "g(a)", **keys})
    assert [refusal.code for refusal in found.refusals] == [code]


CLASS = """\
class Base:
    def there(self): ...


class C(Base):
    def f(self, a):
        {body}
        return a

    @staticmethod
    def s(a):
        g(a)

    def present(self): ...


class D(C):
    def below(self):
        self.set_later = 1
"""


@pytest.mark.parametrize(
    ("body", "keys", "code"),
    [
        ("g(self)", {}, "U106"),
        ("g(self.present)", {}, "U106"),
        ("self.x = a", {}, "writes-self"),
        ("self.x += a", {}, "writes-self"),
        ("del self.x", {}, "writes-self"),
        ("g(getattr(self, 'x'))", {}, "U106"),
        ("g(a.__x)", {}, "U105"),
        ("g(a)", {"name": "__new"}, "U105"),
        ("g(a)", {"kind": "method", "name": "present"}, "U107"),
        ("g(a)", {"kind": "method", "name": "there"}, "U107"),
        ("g(a)", {"kind": "method", "name": "below"}, "U107"),
        ("g(a)", {"kind": "method", "name": "set_later"}, "U107"),
        ("g(a)", {"kind": "method", "name": "__enter__"}, "bad-name"),
        ("self = a", {"kind": "method"}, "receiver-rebound"),
        ("g(a)", {"kind": "method", "to": "n"}, "stays-in-class"),
        ("g(a)", {"kind": "method", "function": "m:C.s"}, "no-receiver"),
    ],
)
def test_methods(body: str, keys: dict[str, Any], code: str) -> None:
    found = planned(
        CLASS.format(body=body), **{"function": "m:C.f", "first": body if "s" not in keys else "g(a)", **keys}
    )
    assert [refusal.code for refusal in found.refusals] == [code]


@pytest.mark.parametrize(
    ("body", "text", "code"),
    [
        ("g(a + 1, a + 1)", "a + 1", "ambiguous-block"),
        ("g(a + 1)", "a + 2", "unknown-block"),
        ("x: a + 1 = b", "a + 1", "unknown-block"),
        ("a[1:2] = b", "1:2", "unknown-block"),
        ("x = (yield a)", "yield a", "U113"),
        ("g((y := a)); h(y)", "(y := a)", "two-results"),
    ],
)
def test_expressions(body: str, text: str, code: str) -> None:
    found = planned(f"def f(a, b):\n    {body}\n", expression=text)
    assert [refusal.code for refusal in found.refusals] == [code]


@pytest.mark.parametrize(
    ("text", "first", "found"),
    [
        (
            "async def f(a):\n    try:\n        x = await g(next(a))\n    except StopIteration:\n        x = 0\n",
            "x = await",
            ["stop U113"],
        ),
        (
            "def f(a):\n    try:\n        yield next(a)\n    except (E, StopIteration):\n        pass\n",
            "yield",
            ["stop U113"],
        ),
        ("def f(a):\n    try:\n        x = next(a)\n    except StopIteration:\n        x = 0\n", "x = next", []),
        ("async def f(a):\n    try:\n        x = await a\n    except E:\n        x = 0\n", "x = await", []),
    ],
)
def test_stop_iteration_does_not_leave_a_coroutine(text: str, first: str, found: list[str]) -> None:
    assert codes(planned(text, first=first)) == found


def test_the_lines_of_an_ambiguous_text_are_told() -> None:
    found = planned(body("g()\nh()\ng()\nk()"), first="g()")
    assert "(lines 2, 4)" in found.refusals[0].message
    assert "more of the statement's text" in found.refusals[0].settle


def test_more_text_tells_alike_beginnings_apart() -> None:
    found = planned(body("x = g(\n    a)\nx = g(\n    b)\nreturn x"), first="x = g( b)")
    assert found.files is not None
    assert b"x = _new(b=b)" in found.files.read("m.py")


def test_a_statement_tells_alike_expressions_apart() -> None:
    found = planned(body("g(a + 1)\nh(a + 1)"), expression="a + 1", first="h(")
    assert found.files is not None
    assert b"h(_new(a=a))" in found.files.read("m.py")


def test_a_public_name_that_a_star_import_would_bring_to_another_file() -> None:
    text = "# file: m.py\ndef f(a):\n    g(a)\n# file: n.py\nfrom m import *\ndef h(): return fresh\n"
    step = ExtractFunction(function="m:f", name="fresh", first="g(a)")
    assert codes(extract_function.TRANSFORM.plan(tree(text), step)) == ["stop U107"]
