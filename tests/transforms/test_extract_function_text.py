"""Where a new function stands and what it looks like: classes, annotations, comments, newlines, lines, expressions."""

from __future__ import annotations

from typing import Any

import pytest

from codemods.schema.hazards import Severity
from codemods.schema.plan import ExtractFunction
from codemods.transforms import extract_function
from tests.support.trees import check, codes, tree

TRANSFORM = extract_function.TRANSFORM


def extract(before: str, after: str, *, newline: str = "\n", **keys: Any) -> None:
    step = ExtractFunction(**{"function": "m:f", "name": "_new", **keys})
    check(TRANSFORM, step, f"# file: m.py\n{before}", f"# file: m.py\n{after}", newline=newline)


METHOD = """\
import os


# What it is.
@decorated
class C:
    limit: int = 3

    def __init__(self, top: int):
        self.top = top
        self.low = None

    def f(self, a: int, *, names: "list[str]" = ()) -> int:
        total: int = 0
        for name in names:
            total += len(name) + a + self.top
        if total > self.limit:
            return self.limit
        return total

    def last(self): ...
"""


def test_a_function_stands_above_the_class_it_comes_from() -> None:
    after = METHOD.replace(
        "# What it is.",
        """\
def _total(*, names: "list[str]", a: int, top: int) -> int:
    total: int = 0
    for name in names:
        total += len(name) + a + top
    return total


# What it is.""",
    ).replace(
        """\
        total: int = 0
        for name in names:
            total += len(name) + a + self.top
        if""",
        """\
        total = _total(names=names, a=a, top=self.top)
        if""",
    )
    extract(METHOD, after, function="m:C.f", name="_total", first="total: int", last="for name")


def test_a_method_stands_below_its_method() -> None:
    after = METHOD.replace(
        """\
        if total > self.limit:
            return self.limit
        return total
""",
        """\
        return self._capped(total)

    def _capped(self, total: int) -> int:
        if total > self.limit:
            return self.limit
        return total
""",
    )
    extract(METHOD, after, function="m:C.f", name="_capped", kind="method", first="if total", last="return total")


def test_a_static_method_takes_attributes_by_keyword() -> None:
    after = METHOD.replace(
        """\
        if total > self.limit:
            return self.limit
        return total
""",
        """\
        return self._capped(total=total, limit=self.limit)

    @staticmethod
    def _capped(*, total: int, limit: int) -> int:
        if total > limit:
            return limit
        return total
""",
    )
    extract(METHOD, after, function="m:C.f", name="_capped", kind="staticmethod", first="if total", last="return total")


@pytest.mark.parametrize(
    ("decorator", "first", "kind", "call", "head"),
    [
        ("@classmethod", "cls", "method", "x = cls._new(a)", "    @classmethod\n    def _new(cls, a):\n"),
        ("@classmethod", "cls", "staticmethod", "x = cls._new(a=a)", "    @staticmethod\n    def _new(*, a):\n"),
        ("@staticmethod", "", "staticmethod", "x = Outer.C._new(a=a)", "    @staticmethod\n    def _new(*, a):\n"),
        ("@property", "self", "method", "x = self._new()", "    def _new(self):\n"),
    ],
)
def test_kinds_of_methods(decorator: str, first: str, kind: str, call: str, head: str) -> None:
    parameters = ", ".join(each for each in (first, "a" if decorator != "@property" else "") if each)
    value = "a" if decorator != "@property" else "1"
    head_lines = f"class Outer:\n    class C:\n        {decorator}\n        def f({parameters}):\n"
    text = f"{head_lines}            x = {value}\n            return x\n"
    step = ExtractFunction(function="m:Outer.C.f", name="_new", kind=kind, first="x =")  # type: ignore[arg-type]
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step)
    assert planned.files is not None, planned.refusals
    made = planned.files.read("m.py").decode()
    assert f"            {call}\n" in made
    assert "".join(f"    {line}" for line in head.splitlines(keepends=True)) in made


def test_functions_stand_in_the_order_of_their_calls() -> None:
    before = "def f(a):\n    x = a\n    y = x + 1\n    return y\n\n\ndef other(): ...\n"
    once = """\
def f(a):
    x = _one(a=a)
    y = x + 1
    return y


def _one(*, a):
    x = a
    return x


def other(): ...
"""
    twice = once.replace("y = x + 1", "y = _two(x=x)", 1).replace(
        "def other", "def _two(*, x):\n    y = x + 1\n    return y\n\n\ndef other"
    )
    extract(before, once, name="_one", first="x = a")
    extract(once, twice, name="_two", first="y = x + 1")


def test_a_decorated_function_may_run_before_the_next_line() -> None:
    extract(
        "@register\ndef f(a):\n    x = a\n    return x\n",
        "def _new(*, a):\n    x = a\n    return x\n\n\n@register\ndef f(a):\n    x = _new(a=a)\n    return x\n",
        first="x = a",
    )


def test_inside_an_if_at_module_level() -> None:
    extract(
        "if here:\n    def f(a):\n        x = a\n        return x\nelse:\n    h = None\n",
        "if here:\n    def f(a):\n        x = _new(a=a)\n        return x\n\n"
        "    def _new(*, a):\n        x = a\n        return x\nelse:\n    h = None\n",
        first="x = a",
    )


COMMENTS = {
    "above": (
        "    g()\n    # Why.\n    # More.\n    x = a\n    return x\n",
        "    g()\n    x = _new(a=a)\n    return x\n",
        "    # Why.\n    # More.\n    x = a\n    return x\n",
    ),
    "above, apart": (
        "    g()\n    # Why.\n\n    x = a\n    return x\n",
        "    g()\n    # Why.\n\n    x = _new(a=a)\n    return x\n",
        "    x = a\n    return x\n",
    ),
    "beside": (
        "    x = a  # here\n    return x\n",
        "    x = _new(a=a)\n    return x\n",
        "    x = a  # here\n    return x\n",
    ),
    "below, above what stays": (
        "    x = a\n    # Next.\n    return x\n",
        "    x = _new(a=a)\n    # Next.\n    return x\n",
        "    x = a\n    return x\n",
    ),
    "below, apart from what stays": (
        "    x = a\n    # That was it.\n\n    return x\n",
        "    x = _new(a=a)\n\n    return x\n",
        "    x = a\n    # That was it.\n    return x\n",
    ),
    "deeper, below": (
        "    if a:\n        x = a\n        # Else.\n    else:\n        x = 1\n        # Or one.\n    return x\n",
        "    x = _new(a=a)\n    return x\n",
        "    if a:\n        x = a\n        # Else.\n    else:\n        x = 1\n        # Or one.\n    return x\n",
    ),
}


@pytest.mark.parametrize("name", COMMENTS)
def test_comments(name: str) -> None:
    body, rest, new = COMMENTS[name]
    first = "if a" if name == "deeper, below" else "x = a"
    extract(f"def f(a):\n{body}", f"def f(a):\n{rest}\n\ndef _new(*, a):\n{new}", first=first)


def test_what_ends_the_function_stays_with_it() -> None:
    extract(
        "def f(a):\n    x = a\n    return x\n    # The end.\n\n# Next.\ny = 1\n",
        "def f(a):\n    x = _new(a=a)\n    return x\n    # The end.\n\n\n"
        "def _new(*, a):\n    x = a\n    return x\n\n# Next.\ny = 1\n",
        first="x = a",
    )


def test_text_in_strings_stays_where_it_is() -> None:
    extract(
        'class C:\n    def f(self, a):\n        x = """one\n        two\n"""\n        y = g(f"""{a}\n  three""")\n'
        "        return x, y\n",
        "class C:\n    def f(self, a):\n        x, y = self._new(a)\n        return x, y\n\n"
        '    def _new(self, a):\n        x = """one\n        two\n"""\n        y = g(f"""{a}\n  three""")\n'
        "        return x, y\n",
        function="m:C.f",
        kind="method",
        first="x =",
        last="y =",
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines(newline: str) -> None:
    extract(
        "def f(a):\n    x = a\n    return x\n",
        "def f(a):\n    x = _new(a=a)\n    return x\n\n\ndef _new(*, a):\n    x = a\n    return x\n",
        newline=newline,
        first="x = a",
    )


def test_tabs() -> None:
    extract(
        "def f(a):\n\tif a:\n\t\tx = a\n\t\tg(x)\n",
        "def f(a):\n\tif a:\n\t\t_new(a=a)\n\n\ndef _new(*, a):\n\tx = a\n\tg(x)\n",
        first="x = a",
        last="g(x)",
    )


def test_long_lines_are_laid_out_as_the_formatter_would() -> None:
    parameters = [f"parameter_{letter}" for letter in "abcdefgh"]
    body = f"x = g({', '.join(parameters[:5])})"
    extract(
        f"def f({', '.join(parameters[:5])}):\n    {body}\n    return x\n",
        f"""\
def f({", ".join(parameters[:5])}):
    x = _new(
        parameter_a=parameter_a,
        parameter_b=parameter_b,
        parameter_c=parameter_c,
        parameter_d=parameter_d,
        parameter_e=parameter_e,
    )
    return x


def _new(
    *, parameter_a, parameter_b, parameter_c, parameter_d, parameter_e
):
    {body}
    return x
""".replace("def _new(\n    *, ", "def _new(*, ").replace("parameter_e\n):", "parameter_e):"),
        first="x =",
    )


@pytest.mark.parametrize(
    ("signature", "first", "expected"),
    [
        ("a: int, b: str = ''", "x = a, b", "def _new(*, a: int, b: str):"),
        ("a: int, b", "g(a, b)", "def _new(*, a: int, b) -> None:"),
        ("a, b", "g(a, b)", "def _new(*, a, b):"),
        ("a: 'int', b: unknown.T", "g(a, b)", "def _new(*, a: 'int', b) -> None:"),
        ("*a: int, **b: str", "g(a, b)", "def _new(*, a, b) -> None:"),
        ("a: mod.T, b: list[mod.T]", "x = a, b", "def _new(*, a: mod.T, b: list[mod.T]):"),
    ],
)
def test_annotations_come_along_where_they_mean_the_same(signature: str, first: str, expected: str) -> None:
    text = f"import mod\n\n\ndef f({signature}):\n    {first}\n    return x\n"
    step = ExtractFunction(function="m:f", name="_new", first=first)
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step)
    assert planned.files is not None, planned.refusals
    assert expected in planned.files.read("m.py").decode()


def test_an_annotation_is_not_evaluated_before_its_name_is_there() -> None:
    before = "{head}class C:\n    def f(self, a: 'Late', b: Late):\n        g(a, b)\n\n\nclass Late: ...\n"
    step = ExtractFunction(function="m:C.f", name="_new", first="g(a, b)")
    for head, expected in (
        ("", "def _new(*, a: 'Late', b) -> None:"),
        ("from __future__ import annotations\n", "def _new(*, a: 'Late', b: Late) -> None:"),
    ):
        planned = TRANSFORM.plan(tree(f"# file: m.py\n{before.format(head=head)}"), step)
        assert planned.files is not None, planned.refusals
        assert expected in planned.files.read("m.py").decode()


def test_an_annotation_of_an_attribute_waits_for_its_name_too() -> None:
    text = (
        "class C:\n    def __init__(self, n):\n        self.n: Late = n\n\n    def f(self):\n        g(self.n)\n\n\n"
        "class Late: ...\n"
    )
    step = ExtractFunction(function="m:C.f", name="_new", first="g(self.n)")
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step)
    assert planned.files is not None
    assert planned.files.read("m.py").startswith(b"def _new(*, n):\n")


def test_a_local_class_in_an_annotation_of_a_local_function_comes_along() -> None:
    extract(
        "from __future__ import annotations\n\n\ndef f(a):\n    class K: ...\n\n    def h(x: K): ...\n\n    return h\n",
        "from __future__ import annotations\n\n\ndef f(a):\n    class K: ...\n\n    h = _new(K=K)\n\n    return h\n"
        "\n\ndef _new(*, K):\n    def h(x: K): ...\n    return h\n",
        first="def h",
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("x = 'a'", "x: str"),
        ("x = f'{n}'", "x: str"),
        ("x = h(n)", "x: float"),
        ("x = n", "x: int"),
        ("if n:\n        x = 1\n    else:\n        x = 2", "x: int"),
        ("if n:\n        x = 1\n    else:\n        x = None", "x"),
        ("if n:\n        x = 1\n    else:\n        x = True", "x"),
        ("x = k(n)", "x"),
        ("x = 1\n    x += n", "x"),
        ("for x in (1, 2): pass", "x"),
        ("x, y = 1, 2", "x"),
    ],
)
def test_the_type_of_a_local_where_every_assignment_says_it(given: str, expected: str) -> None:
    text = (
        f"@wrap\ndef k(n) -> int: ...\n\n\ndef h(n) -> float: ...\n\n\ndef f(n: int) -> None:\n    {given}\n    g(x)\n"
    )
    step = ExtractFunction(function="m:f", name="_new", first="g(x)")
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step)
    assert planned.files is not None, planned.refusals
    assert f"def _new(*, {expected}) -> None:\n" in planned.files.read("m.py").decode()


def test_no_annotations_where_the_plan_wants_none() -> None:
    extract(
        "def f(a: int) -> int:\n    x: int = a\n    return x\n",
        "def f(a: int) -> int:\n    x = _new(a=a)\n    return x\n\n\ndef _new(*, a):\n    x: int = a\n    return x\n",
        first="x: int",
        annotate=False,
    )


GLOBALS = {
    "declaration stays where it is needed": (
        "    global n\n    n = a\n    n += 1\n",
        "    global n\n    _new(a=a)\n    n += 1\n",
        "    global n\n    n = a\n",
        "n = a",
    ),
    "declaration goes along": (
        "    global n\n    n = a\n    g()\n",
        "    _new(a=a)\n    g()\n",
        "    global n\n    n = a\n",
        "n = a",
    ),
    "reads need none": (
        "    global n\n    g(n)\n    n = a\n",
        "    global n\n    _new()\n    n = a\n",
        "    g(n)\n",
        "g(n)",
    ),
    "declaration taken, rest binds": (
        "    global n\n    n = a\n    g()\n    n = 2\n",
        "    global n\n    _new(a=a)\n    n = 2\n",
        "    global n\n    n = a\n    g()\n",
        "global n",
    ),
}


@pytest.mark.parametrize("name", GLOBALS)
def test_globals(name: str) -> None:
    body, rest, new, first = GLOBALS[name]
    items = "*, a" if " a\n" in new else ""
    extract(
        f"n = 0\n\n\ndef f(a):\n{body}",
        f"n = 0\n\n\ndef f(a):\n{rest}\n\ndef _new({items}):\n{new}",
        first=first,
        last="g()" if first == "global n" else "",
    )


EXPRESSIONS = {
    "call": ("return g(a) + 1", "g(a)", "return _new(a=a) + 1", "*, a", "return g(a)"),
    "sole generator": (
        "return sum(x * a for x in b)",
        "x * a for x in b",
        "return sum(_new(a=a, b=b))",
        "*, a, b",
        "return (x * a for x in b)",
    ),
    "generator beside": (
        "return g((x for x in b), 1)",
        "(x for x in b)",
        "return g(_new(b=b), 1)",
        "*, b",
        "return (x for x in b)",
    ),
    "in a comprehension": (
        "return [x + a for x in b]",
        "x + a",
        "return [_new(x=x, a=a) for x in b]",
        "*, x, a",
        "return x + a",
    ),
    "in a lambda": (
        "return lambda x: g(x, a)",
        "g(x, a)",
        "return lambda x: _new(x=x, a=a)",
        "*, x, a",
        "return g(x, a)",
    ),
    "in an f-string": ('return f"{a + 1:>3}"', "a + 1", 'return f"{_new(a=a):>3}"', "*, a", "return a + 1"),
    "printed": ('return f"{a + 1=}"', "a + 1", None, "", ""),
    "touching words": ("return[a]if b else[b]", "[a]", "return _new(a=a) if b else[b]", "*, a", "return [a]"),
    "condition": (
        "return 1 if a and b else 2",
        "a and b",
        "return 1 if _new(a=a, b=b) else 2",
        "*, a, b",
        "return a and b",
    ),
    "tuple": ("return a, b", "a, b", "return _new(a=a, b=b)", "*, a, b", "return a, b"),
    "several lines": (
        "return g(\n        a +\n        b,\n    )",
        "a +\n        b",
        "return g(\n        _new(a=a, b=b),\n    )",
        "*, a, b",
        "return (\n        a +\n        b\n    )",
    ),
    "several lines in brackets": (
        "x = g(\n        a,\n        # why\n        b,\n    )\n    return x",
        "g(\n        a,\n        # why\n        b,\n    )",
        "x = _new(a=a, b=b)\n    return x",
        "*, a, b",
        "return g(\n        a,\n        # why\n        b,\n    )",
    ),
    "walrus": ("return (y := a)", "y := a", "return (_new(a=a))", "*, a", "return (y := a)"),
    "own walrus": ("return g(y := a, y)", "g(y := a, y)", "return _new(a=a)", "*, a", "return g(y := a, y)"),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name: str) -> None:
    body, text, rest, items, new = EXPRESSIONS[name]
    if rest is None:
        step = ExtractFunction(function="m:f", name="_new", expression=text)
        planned = TRANSFORM.plan(tree(f"# file: m.py\ndef f(a, b):\n    {body}\n"), step)
        assert planned.files is not None
        assert b'f"a + 1={_new(a=a)!r}"' in planned.files.read("m.py")
        return
    extract(
        f"def f(a, b):\n    {body}\n",
        f"def f(a, b):\n    {rest}\n\n\ndef _new({items}):\n    {new}\n",
        expression=text,
    )


@pytest.mark.parametrize(
    ("body", "text", "rest"),
    [
        ("return (await g(a)).b", "await g(a)", "return (await _new(a=a)).b"),
        ("return h(await g(a)).b", "h(await g(a))", "return (await _new(a=a)).b"),
        ("return h(await g(a))", "await g(a)", "return h(await _new(a=a))"),
        ("return h(await g(a)) ** 2", "h(await g(a))", "return (await _new(a=a)) ** 2"),
    ],
)
def test_awaited_expressions(body: str, text: str, rest: str) -> None:
    extract(
        f"async def f(a):\n    {body}\n",
        f"async def f(a):\n    {rest}\n\n\nasync def _new(*, a):\n    return {text}\n",
        expression=text,
    )


SELF = """\
class C:
    def __init__(self, n):
        self.n = n
        self._m = n

    @property
    def p(self): return g(self.n)

    def grow(self):
        self.n += 1

    def f(self, n):
        {body}
        return n
"""


@pytest.mark.parametrize(
    ("body", "head", "call", "found"),
    [
        ("g(self.n)", "def _new(*, n):\n    g(n)\n", "_new(n=self.n)", []),
        ("g(self.n, n)", "def _new(*, self_n, n):\n    g(self_n, n)\n", "_new(self_n=self.n, n=n)", []),
        ("g(self._m)", "def _new(*, m):\n    g(m)\n", "_new(m=self._m)", []),
        ("g(f'{self.n=}')", "def _new(*, n):\n    g(f'self.n={n!r}')\n", "_new(n=self.n)", []),
        ("g(lambda: self.n)", "def _new(*, n):\n    g(lambda: n)\n", "_new(n=self.n)", ["stop U106"]),
        ("g(self.p)", "def _new(*, p):\n    g(p)\n", "_new(p=self.p)", []),
        ("h(g(), self.p)", "def _new(*, p):\n    h(g(), p)\n", "_new(p=self.p)", ["prove U101"]),
        ("g() and h(self.gone)", "def _new(*, gone):\n    g() and h(gone)\n", "_new(gone=self.gone)", ["stop U102"]),
    ],
)
def test_attributes_become_parameters(body: str, head: str, call: str, found: list[str]) -> None:
    step = ExtractFunction(function="m:C.f", name="_new", first=body)
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{SELF.format(body=body)}"), step)
    assert planned.files is not None, planned.refusals
    made = planned.files.read("m.py").decode()
    assert made.startswith(head)
    assert f"        {call}\n" in made
    assert codes(planned) == found


def test_an_alias_of_an_attribute_is_read_as_the_attribute() -> None:
    extract(
        "class C:\n    def __init__(self, a):\n        self.a = a\n\n"
        "    def f(self):\n        a = self.a\n        g(a.x)\n        h(a.y)\n",
        "class C:\n    def __init__(self, a):\n        self.a = a\n\n"
        "    def f(self):\n        a = self.a\n        g(a.x)\n        self._new()\n\n"
        "    def _new(self):\n        h(self.a.y)\n",
        function="m:C.f",
        kind="method",
        first="h(a.y)",
    )


def test_an_alias_of_what_may_change_is_passed() -> None:
    extract(
        "class C:\n    def turn(self):\n        self.a = 1\n\n"
        "    def f(self):\n        a = self.a\n        self.turn()\n        h(a)\n",
        "class C:\n    def turn(self):\n        self.a = 1\n\n"
        "    def f(self):\n        a = self.a\n        self.turn()\n        self._new(a)\n\n"
        "    def _new(self, a):\n        h(a)\n",
        function="m:C.f",
        kind="method",
        first="h(a)",
    )


def test_a_local_class_in_an_annotation_stays_at_the_call() -> None:
    before = "def f(n):\n    class K:\n        pass\n\n    x: K = n\n    y: K = x\n    return y\n"
    after = (
        "def f(n):\n    class K:\n        pass\n\n    y: K = _new(n=n)\n    return y\n\n\n"
        "def _new(*, n):\n    x = n\n    y = x\n    return y\n"
    )
    extract(before, after, first="x: K", last="y: K")


def test_a_class_made_in_the_block_is_noted() -> None:
    step = ExtractFunction(function="m:f", name="_new", first="class K")
    planned = TRANSFORM.plan(tree("# file: m.py\ndef f():\n    class K:\n        pass\n    return K\n"), step)
    assert [(hazard.code, hazard.severity) for hazard in planned.hazards] == [("U110", Severity.NOTE)]
