"""rename of locals and parameters: tables of before and after, and of what refuses."""

from __future__ import annotations

import ast

import pytest

from codemods.schema.plan import Rename
from codemods.transforms.rename import TRANSFORM
from tests.support.trees import check, codes, tree


def in_function(body: str) -> str:
    return "# file: m.py\ndef f(x, n=2):\n" + "".join(f"    {line}\n" for line in body.splitlines())


LOCALS = {
    "every use": ("y = x\nx += 1\ndel x\nreturn [x]", "y = new\nnew += 1\ndel new\nreturn [new]"),
    "a comprehension of its own": ("return [x for x in range(x)]", "return [x for x in range(new)]"),
    "a comprehension that reads": ("return {x: i for i in x if x}", "return {new: i for i in new if new}"),
    "nested functions": ("def g(): return x\ndef h(x): return x", "def g(): return new\ndef h(x): return x"),
    "nonlocal": ("def g():\n    nonlocal x\n    x = 1", "def g():\n    nonlocal new\n    new = 1"),
    "lambdas": ("return lambda: x, lambda x: x", "return lambda: new, lambda x: x"),
    "a default of a nested function": ("def g(x=x): return x", "def g(x=new): return x"),
    "walrus": ("if (x := 1): pass\n[x := i for i in range(3)]", "if (new := 1): pass\n[new := i for i in range(3)]"),
    "except": ("try: pass\nexcept E as x: print(x)", "try: pass\nexcept E as new: print(new)"),
    "with and for": (
        "with o() as x: pass\nfor x, (y, *x) in z: pass",
        "with o() as new: pass\nfor new, (y, *new) in z: pass",
    ),
    "match": (
        "match x:\n    case [x, *r]: pass\n    case {'x': 1, **x}: pass\n    case C(x=x) as k: pass",
        "match new:\n    case [new, *r]: pass\n    case {'x': 1, **new}: pass\n    case C(x=new) as k: pass",
    ),
    "imports": (
        "import x\nfrom m import x\nfrom m import y as x",
        "import x as new\nfrom m import x as new\nfrom m import y as new",
    ),
    "a class body": (
        "class K:\n    y = x\n    x: int = 1\n    def m(self): return x",
        "class K:\n    y = x\n    x: int = 1\n    def m(self): return new",
    ),
    "attributes and keywords stay": ("return x.x, g(x=x), {'x': x}", "return new.x, g(x=new), {'x': new}"),
    "f-strings": ("return f'{x} {x!r:>{x}} {{x}}', f'x'", "return f'{new} {new!r:>{new}} {{x}}', f'x'"),
    "a quoted annotation": ("y: 'x' = x", "y: 'new' = new"),
    "text": ("bar = 'x \\\nx'\nreturn bar, 'x', b'x', r'x'  # x", "bar = 'x \\\nx'\nreturn bar, 'x', b'x', r'x'  # x"),
}


@pytest.mark.parametrize("name", LOCALS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_locals(name: str, newline: str) -> None:
    before, after = LOCALS[name]
    expected = in_function(after).replace("def f(x,", "def f(new,")
    check(TRANSFORM, Rename(definition="m:f.x", to="new"), in_function(before), expected, newline=newline)


PRINTED = {
    'f"{x=}"': 'f"x={new!r}"',
    'f"{x = :>4}|{x=!s}|{x=!r:>3}"': 'f"x = {new:>4}|x={new!s}|x={new!r:>3}"',
    'f"{ x + 1 = }"': 'f" x + 1 = { new + 1!r}"',
    "f'{d[\"x\"] + x=}'": 'f\'d["x"] + x={d["x"] + new!r}\'',
    'f"{n=} {x}"': 'f"{n=} {new}"',
    'f"{ {x: 1}=}"': 'f" {{x: 1}}={ {new: 1}!r}"',
    "f\"{f'{x=}'}\"": "f\"{f'x={new!r}'}\"",
    'f"{n:{x=}}"': 'f"{n:x={new!r}}"',
    'rf"{x=}\\d"': 'rf"x={new!r}\\d"',
}


@pytest.mark.parametrize("before", PRINTED)
def test_what_an_f_string_prints_stays(before: str) -> None:
    try:
        ast.parse(before)
    except ValueError:
        pytest.skip("this Python can't parse a field with `=` in a format spec")
    text = in_function(f"return {before}")
    after = in_function(f"return {PRINTED[before]}").replace("f(x,", "f(new,")
    check(TRANSFORM, Rename(definition="m:f.x", to="new"), text, after)


def test_tabs_and_odd_blanks_stay() -> None:
    before = "# file: m.py\ndef f( x ):\n\tif x :\n\t\treturn  (x,\n\t  x)\n"
    after = "# file: m.py\ndef f( new ):\n\tif new :\n\t\treturn  (new,\n\t  new)\n"
    check(TRANSFORM, Rename(definition="m:f.x", to="new"), before, after)


def test_a_walrus_in_a_comprehension_binds_in_the_function() -> None:
    before = (
        "# file: m.py\ndef keep(xs):\n    last = None\n    kept = [last := x for x in xs if x]\n    return kept, last\n"
    )
    check(TRANSFORM, Rename(definition="m:keep.last", to="seen"), before, before.replace("last", "seen"))


CALLERS = """\
# file: m.py
def f(x, n=2):
    return x
class A:
    def m(self, size): return size
    def __init__(self, width): self.width = width
class B(A):
    def __init__(self, width):
        super().__init__(width=width)
f(1), f(x=2), f(n=1, x=3)
f(**{"x": 1, "n": 2})
# file: user.py
import m
from functools import partial
from m import A, B, f as g
m.f(x=1), g(x=1), partial(g, x=1), h(x=1), dict(x=1)
def use(a: A, other: dict):
    a.m(size=1), A.m(a, size=2), other.m(size=3), A(width=1), B(width=1), A.__init__(a, width=3)
"""


@pytest.mark.parametrize(
    ("definition", "changes"),
    [
        (
            "m:f.x",
            [
                ("def f(x, n=2):\n    return x", "def f(new, n=2):\n    return new"),
                ("f(x=2), f(n=1, x=3)", "f(new=2), f(n=1, new=3)"),
                ('{"x": 1, "n"', '{"new": 1, "n"'),
                ("m.f(x=1), g(x=1), partial(g, x=1)", "m.f(new=1), g(new=1), partial(g, new=1)"),
            ],
        ),
        (
            "m:A.m.size",
            [
                ("def m(self, size): return size", "def m(self, new): return new"),
                ("a.m(size=1), A.m(a, size=2)", "a.m(new=1), A.m(a, new=2)"),
            ],
        ),
        (
            "m:A.__init__.width",
            [
                ("def __init__(self, width): self.width = width", "def __init__(self, new): self.width = new"),
                ("super().__init__(width=width)", "super().__init__(new=width)"),
                ("A(width=1)", "A(new=1)"),
                ("A.__init__(a, width=3)", "A.__init__(a, new=3)"),
            ],
        ),
        ("m:A.m.self", [("def m(self, size)", "def m(new, size)")]),
    ],
)
def test_callers_pass_a_parameter_by_its_new_name(definition: str, changes: list[tuple[str, str]]) -> None:
    after = CALLERS
    for old, new in changes:
        assert after.count(old) == 1
        after = after.replace(old, new)
    planned = check(TRANSFORM, Rename(definition=definition, to="new"), CALLERS, after)
    assert codes(planned) == []


HAZARDS = [
    ("def f(x): ...\nf(**options)\n", "m:f.x", ["stop U121"]),
    ("def f(x): ...\nf(**{'n': 1}, **{k: 1})\n", "m:f.x", ["stop U121"]),
    ("def f(x): return locals()\n", "m:f.x", ["stop U111"]),
    ("def f(x): return vars(x), dir(x)\n", "m:f.x", []),
    ("def f(x): return [eval('x') for _ in y]\n", "m:f.x", ["stop U111"]),
    ("class A:\n    def m(self, x): ...\ndef g(a): a.m(x=1)\n", "m:A.m.x", ["stop U115"]),
    ("class A:\n    def m(self, x): ...\nclass B(A):\n    def m(self, x): ...\nA().m(x=1)\n", "m:A.m.x", ["stop U104"]),
    ("class A:\n    def m(self, x): ...\nclass B(A):\n    def m(self, x): ...\nA().m(1)\n", "m:A.m.x", []),
    ("@app.command()\ndef f(x): ...\n", "m:f.x", ["stop U112"]),
    ("import functools\n@functools.cache\ndef f(x): ...\n", "m:f.x", []),
]


@pytest.mark.parametrize(("text", "definition", "expected"), HAZARDS)
def test_hazards(text: str, definition: str, expected: list[str]) -> None:
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), Rename(definition=definition, to="new"))
    assert codes(planned) == expected
    assert planned.files is not None


def test_a_test_function_asks_for_fixtures_by_name() -> None:
    planned = TRANSFORM.plan(
        tree("# file: test_m.py\ndef test_a(x): ...\n"), Rename(definition="test_m:test_a.x", to="new")
    )
    assert codes(planned) == ["stop U119"]


REFUSALS = [
    ("def f(x):\n    new = 1\n", "m:f.x", "U107"),
    ("def f(x):\n    return new\nnew = 1\n", "m:f.x", "U107"),
    ("def f(x):\n    return print(x)\n", "m:f.x", "U107"),
    ("def f(x):\n    def g(new): return x\n", "m:f.x", "U107"),
    ("def f(x):\n    return [x for new in y]\n", "m:f.x", "U107"),
    ("def f(x):\n    def g():\n        global new\n        return x, new\n", "m:f.x", "U107"),
    ("def f(x):\n    def g():\n        nonlocal x\n        new = x\n", "m:f.x", "U107"),
    ("def f():\n    global x\n    x = 1\n", "m:f.x", "not-local"),
    ("def f():\n    x = 1\n    def g():\n        nonlocal x\n", "m:f.g.x", "not-local"),
    ("def f():\n    return [x for x in y], [x for x in z]\n", "m:f.x", "unknown-definition"),
    ("def f():\n    return 1\n", "m:f.x", "unknown-definition"),
    ("def f():\n    import x.y\n", "m:f.x", "U107"),
]


@pytest.mark.parametrize(("text", "definition", "code"), REFUSALS)
def test_refusals(text: str, definition: str, code: str) -> None:
    to = "print" if "print" in text else "new"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), Rename(definition=definition, to=to))
    assert {each.code for each in planned.refusals} == {code}
    assert planned.files is None
    assert all(each.message and each.settle and each.path == "m.py" for each in planned.refusals)


@pytest.mark.parametrize("name", ["class", "1x", "a b", "", "x.y", "None"])
def test_no_name(name: str) -> None:
    planned = TRANSFORM.plan(tree("# file: m.py\ndef f(x): ...\n"), Rename(definition="m:f.x", to=name))
    assert [each.code for each in planned.refusals] == ["bad-name"]


def test_a_text_that_a_raw_string_can_not_hold_is_refused() -> None:
    text = '# file: m.py\ndef f(x):\n    return rf\'{x+d["a"]=}\' + rf"""{x+\'\'\'"\'\'\'=}"""\n'
    planned = TRANSFORM.plan(tree(text), Rename(definition="m:f.x", to="new"))
    assert {each.code for each in planned.refusals} == {"U107"}
