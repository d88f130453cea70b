"""make_static: the calls of a method that becomes static. Tables of one statement, and of whole trees."""

from __future__ import annotations

import pytest

from codemods.schema.plan import ExtractMethod
from tests.support.steps import check_step, codes, run

READS = """\
class A:
    def __init__(self):
        self.a = 1
        self.child = self

    def f(self, x, y=1, *zs, **kw):
        return self.a + x


"""
WRITES = READS.replace("return self.a + x", "self.a = x\n        return x").replace(", **kw", "")
PLAIN = READS.replace(", *zs, **kw", "")
COUNTS = READS.replace("return self.a + x", "self.a += x").replace(", **kw", "")


def static(method: str) -> str:
    """The class with the method as the tests expect it."""
    return (
        method.replace("    def f(self, x, y=1, *zs, **kw):", "    @staticmethod\n    def f(x, y=1, *zs, a, **kw):")
        .replace("    def f(self, x, y=1, *zs):", "    @staticmethod\n    def f(x, y=1, *zs):")
        .replace("return self.a + x", "return a + x")
        .replace("self.a = x\n        return x", "a = x\n        return x, a")
        .replace("self.a += x", "a += x\n        return a")
    )


def within(statement: str, head: str = "def use(o: A, p):\n") -> str:
    return head + "".join(f"    {line}\n" for line in statement.split("\n"))


CALLS = {
    "a statement": ("o.f(1)", "A.f(1, a=o.a)"),
    "in an expression": ("return 2 * o.f(1) + 1", "return 2 * A.f(1, a=o.a) + 1"),
    "no blanks": ("return o . f( 1 )", "return A.f( 1, a=o.a )"),
    "keywords": ("o.f(x=1, y=2)", "A.f(x=1, y=2, a=o.a)"),
    "stars": ("o.f(*p, **p)", "A.f(*p, **p, a=o.a)"),
    "a trailing comma": ("o.f(1,)", "A.f(1, a=o.a)"),
    "a generator": ("o.f(q for q in p)", "A.f((q for q in p), a=o.a)"),
    "in brackets": ("(o.f)(1)", "A.f(1, a=o.a)"),
    "through the class": ("A.f(o, 1)", "A.f(1, a=o.a)"),
    "through the class, with keywords": ("A.f(o, x=1)", "A.f(x=1, a=o.a)"),
    "a chain": ("return o.f(1).real", "return A.f(1, a=o.a).real"),
    "a dotted receiver": ("o.child.f(1)", "A.f(1, a=o.child.a)"),
    "a comprehension": ("return [o.f(q) for q in p]", "return [A.f(q, a=o.a) for q in p]"),
    "a lambda": ("return lambda q: o.f(q)", "return lambda q: A.f(q, a=o.a)"),
    "a default": ("def g(q=o.f(1)):\n    return q", "def g(q=A.f(1, a=o.a)):\n    return q"),
    "an f-string": ("return f'{o.f(1)!r:>9}'", "return f'{A.f(1, a=o.a)!r:>9}'"),
    "inside itself": ("return o.f(o.f(1))", "return A.f(A.f(1, a=o.a), a=o.a)"),
    "a condition": ("if o.f(1) and o.f(2):\n    pass", "if A.f(1, a=o.a) and A.f(2, a=o.a):\n    pass"),
    "over lines": (
        "o.f(\n    1,\n    y=2,\n)",
        "A.f(\n    1,\n    y=2,\n    a=o.a,\n)",
    ),
    "over lines with comments": (
        "o.f(\n    1,  # one, or (two)\n    y=2  # last\n)",
        "A.f(\n    1,  # one, or (two)\n    y=2,  # last\n    a=o.a,\n)",
    ),
    "aligned": (
        "return o.f(1,\n           y=2)",
        "return A.f(1,\n           y=2, a=o.a)",
    ),
    "aligned, a longer receiver": (
        "return o.child.f(1,\n                 y=2)",
        "return A.f(1,\n           y=2, a=o.child.a)",
    ),
    "a comment that is no argument": ("o.f(1)  # o.f(2)", "A.f(1, a=o.a)  # o.f(2)"),
}

ASSIGNED = {
    "a statement": ("o.f(1)", "_, o.a = A.f(1)"),
    "assigned": ("q = o.f(1)", "q, o.a = A.f(1)"),
    "assigned to two": ("q, r = o.f(1)", "(q, r), o.a = A.f(1)"),
    "assigned to two in brackets": ("(q, r) = o.f(1)", "(q, r), o.a = A.f(1)"),
    "assigned to a list": ("[q, r] = o.f(1)", "[q, r], o.a = A.f(1)"),
    "assigned to an attribute": ("o.b = o.f(1)", "o.b, o.a = A.f(1)"),
    "returned": ("return o.f(1)", "x, o.a = A.f(1)\nreturn x"),
    "returned where the name is taken": ("x = 1\nreturn o.f(x)", "x = 1\nx_2, o.a = A.f(x)\nreturn x_2"),
    "returned with a comment": ("return o.f(1)  # why", "x, o.a = A.f(1)  # why\nreturn x"),
    "in a block": ("if p:\n    return o.f(1)\nreturn 0", "if p:\n    x, o.a = A.f(1)\n    return x\nreturn 0"),
    "behind a colon": ("if p: o.f(1)", "if p: _, o.a = A.f(1)"),
}

COUNTED = {
    "a statement": ("o.f(1)", "o.a = A.f(1, a=o.a)"),
    "assigned": ("q = o.f(1)", "o.a = A.f(1, a=o.a)\nq = None"),
    "returned": ("return o.f(1)", "o.a = A.f(1, a=o.a)\nreturn None"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    before, after = CALLS[name]
    # a splat may bring a keyword of the same name: said, and tested elsewhere
    check_step(READS + within(before), static(READS) + within(after), ExtractMethod(method="m:A.f"))


@pytest.mark.parametrize("name", ASSIGNED)
def test_calls_with_results(name: str) -> None:
    before, after = ASSIGNED[name]
    check_step(WRITES + within(before), static(WRITES) + within(after), ExtractMethod(method="m:A.f"))


@pytest.mark.parametrize("name", COUNTED)
def test_calls_with_nothing_but_attributes(name: str) -> None:
    before, after = COUNTED[name]
    expected = static(COUNTS).replace("*zs):", "*zs, a):")
    check_step(COUNTS + within(before), expected + within(after), ExtractMethod(method="m:A.f"))


def test_a_result_that_is_an_attribute() -> None:
    method = COUNTS.replace("self.a += x", "self.a += x\n        return self.a")
    expected = static(COUNTS).replace("*zs):", "*zs, a):")
    uses = within("o.f(1)\nq = o.f(2)\nreturn o.f(q)")
    assigned = within("o.a = A.f(1, a=o.a)\no.a = A.f(2, a=o.a)\nq = o.a\no.a = A.f(q, a=o.a)\nreturn o.a")
    check_step(method + uses, expected + assigned, ExtractMethod(method="m:A.f"))


def test_an_underscore_that_means_something() -> None:
    head = "def use(o: A, _):\n    print(_('text'))\n"
    before, after = within("o.f(1)", head), within("_result, o.a = A.f(1)", head)
    check_step(WRITES + before, static(WRITES) + after, ExtractMethod(method="m:A.f"))


AWAITED = {
    "await": ("q = await o.f(1)", "q, o.a = await A.f(1)"),
    "await alone": ("await o.f(1)", "_, o.a = await A.f(1)"),
    "await returned": ("return await o.f(1)", "x, o.a = await A.f(1)\nreturn x"),
}


@pytest.mark.parametrize("name", AWAITED)
def test_awaited_calls(name: str) -> None:
    before, after = AWAITED[name]
    method, expected = (text.replace("def f(", "async def f(") for text in (WRITES, static(WRITES)))
    head = "async def use(o: A, p):\n"
    check_step(method + within(before, head), expected + within(after, head), ExtractMethod(method="m:A.f"))


RECEIVERS = {
    "a subclass": (
        "class B(A):\n    def g(self):\n        return self.f(1)\n",
        "class B(A):\n    def g(self):\n        return A.f(1, a=self.a)\n",
    ),
    "constructed": (
        "def use():\n    o = A()\n    return o.f(1)\n",
        "def use():\n    o = A()\n    return A.f(1, a=o.a)\n",
    ),
    "isinstance is no call": (
        "def use(o):\n    return isinstance(o, A)\n",
        "def use(o):\n    return isinstance(o, A)\n",
    ),
    "another class": (
        "class C:\n    def f(self, x):\n        return x\n\n\ndef use(c: C, o: A):\n    return c.f(1), o.f(1)\n",
        "class C:\n    def f(self, x):\n        return x\n\n\ndef use(c: C, o: A):\n    return c.f(1), A.f(1, a=o.a)\n",
    ),
    "a union with None": (
        "def use(o: A | None):\n    return o and o.f(1)\n",
        "def use(o: A | None):\n    return o and A.f(1, a=o.a)\n",
    ),
}


@pytest.mark.parametrize("name", RECEIVERS)
def test_receivers(name: str) -> None:
    before, after = RECEIVERS[name]
    check_step(READS + before, static(READS) + after, ExtractMethod(method="m:A.f"))


RECURSION = {
    "a call of itself": ("return self.f(x - 1) if x else self.a", "a", "return A.f(x - 1, a=a) if x else a"),
    "on another object": (
        "return self.child.f(x) + self.a",
        "child, a",
        "return A.f(x, child=child.child, a=child.a) + a",
    ),
    "with attributes as arguments": (
        "return self.child.f(self.a)",
        "child, a",
        "return A.f(a, child=child.child, a=child.a)",
    ),
    "through the class": ("return A.f(self.child, self.a)", "child, a", "return A.f(a, child=child.child, a=child.a)"),
    "in a closure": ("return [self.f(y) for y in x] or self.a", "a", "return [A.f(y, a=a) for y in x] or a"),
}


@pytest.mark.parametrize("name", RECURSION)
def test_recursion(name: str) -> None:
    body, names, new_body = RECURSION[name]
    head = 'class A:\n    def __init__(self, child: "A"):\n        self.a = 1\n        self.child = child\n\n'
    before = f"{head}    def f(self, x):\n        {body}\n"
    after = f"{head}    @staticmethod\n    def f(x, *, {names}):\n        {new_body}\n"
    check_step(before, after, ExtractMethod(method="m:A.f", annotate=False))


def test_recursion_with_results() -> None:
    before = """\
class A:
    def __init__(self, child: "A"):
        self.n = 0
        self.child = child

    def f(self, x):
        self.n += 1
        if x > 2:
            return self.f(x - 3)
        if x:
            y = self.f(x - 1)
            self.f(y)
            self.child.f(self.n)
        return x
"""
    after = """\
class A:
    def __init__(self, child: "A"):
        self.n = 0
        self.child = child

    @staticmethod
    def f(x, *, n, child):
        n += 1
        if x > 2:
            return A.f(x - 3, n=n, child=child)
        if x:
            y, n = A.f(x - 1, n=n, child=child)
            _, n = A.f(y, n=n, child=child)
            _, child.n = A.f(n, n=child.n, child=child.child)
        return x, n
"""
    check_step(before, after, ExtractMethod(method="m:A.f", annotate=False))


PACKAGE = "# file: pkg/__init__.py\n# file: pkg/a.py\n"
FOR_TYPES = "from typing import TYPE_CHECKING\n\n{}if TYPE_CHECKING:\n    from pkg.a import A\n\n\n"

TREES = {
    "an import by name": (
        f"{PACKAGE}{READS.rstrip()}\n# file: pkg/b.py\nfrom pkg.a import A\n\n\n{within('o.f(1)')}",
        f"# file: pkg/b.py\nfrom pkg.a import A\n\n\n{within('A.f(1, a=o.a)')}",
    ),
    "an import of the module": (
        f"{PACKAGE}{READS.rstrip()}\n# file: pkg/b.py\nimport pkg.a\n\n\ndef use(o: pkg.a.A):\n    o.f(1)\n",
        "# file: pkg/b.py\nimport pkg.a\n\n\ndef use(o: pkg.a.A):\n    pkg.a.A.f(1, a=o.a)\n",
    ),
    "an import for types only": (
        f"{PACKAGE}{READS.rstrip()}\n# file: pkg/b.py\n{FOR_TYPES.format('')}" + within("o.f(1)", 'def use(o: "A"):\n'),
        f"# file: pkg/b.py\n{FOR_TYPES.format('from pkg.a import A{0}{0}'.format(chr(10)))}"
        + within("A.f(1, a=o.a)", 'def use(o: "A"):\n'),
    ),
    "an import that would close a cycle": (
        f"{PACKAGE}import pkg.b\n\n\n{READS.rstrip()}\n# file: pkg/b.py\n{FOR_TYPES.format('')}"
        + within("o.f(1)", 'def use(o: "A"):\n'),
        f'# file: pkg/b.py\n{FOR_TYPES.format("")}def use(o: "A"):\n    from pkg.a import A\n\n    A.f(1, a=o.a)\n',
    ),
    "no import at all": (
        f"{PACKAGE}{READS.rstrip()}\n\n\ndef make() -> A:\n    return A()\n# file: pkg/b.py\n"
        + within("o = pkg.a.make()\no.f(1)", "import pkg.a\n\n\ndef use():\n"),
        "# file: pkg/b.py\n" + within("o = pkg.a.make()\npkg.a.A.f(1, a=o.a)", "import pkg.a\n\n\ndef use():\n"),
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_other_files(name: str) -> None:
    before, after = TREES[name]
    changed = before.partition("# file: pkg/a.py\n")[2].partition("# file: ")[0]
    check_step(before, f"# file: pkg/a.py\n{static(changed)}{after}", ExtractMethod(method="pkg.a:A.f"))


PRIVATE = """\
class _A:
    def __init__(self):
        self.__k = 1

    def f(self):
        self.__k += 1

    def own(self):
        self.f()

    class Inner:
        def g(self, a: "_A"):
            a.f()


class B(_A):
    def below(self):
        self.f()


def outside(a: _A):
    a.f()
"""
NOT_PRIVATE = """\
class _A:
    def __init__(self):
        self.__k = 1

    @staticmethod
    def f(*, k):
        k += 1
        return k

    def own(self):
        self.__k = _A.f(k=self.__k)

    class Inner:
        def g(self, a: "_A"):
            a._A__k = _A.f(k=a._A__k)


class B(_A):
    def below(self):
        self._A__k = _A.f(k=self._A__k)


def outside(a: _A):
    a._A__k = _A.f(k=a._A__k)
"""


def test_private_names_are_spelt_as_the_place_needs_it() -> None:
    check_step(PRIVATE, NOT_PRIVATE, ExtractMethod(method="m:_A.f"))


def test_a_private_name_in_a_text_is_the_real_one() -> None:
    before = "class A:\n    def f(self, x):\n        return x and self.__k\n\n\n" + within("o.f(1)")
    after = "class A:\n    @staticmethod\n    def f(x, *, k):\n        return x and k\n\n\n"
    after += within('A.f(1, k=getattr(o, "_A__k", None))')
    check_step(before, after, ExtractMethod(method="m:A.f", optional=("__k",)))


LAZY = {
    "a parameter": ("return o.f(1)", "return A.f(1, a=lambda: o.a)"),
    "a loop": ("return [q.f(1) for q in r]", "return [A.f(1, a=lambda q=q: q.a) for q in r]"),
    "a name that is bound twice": (
        "s = o\ns = o.child\nreturn s.f(1)",
        "s = o\ns = o.child\nreturn A.f(1, a=lambda s=s: s.a)",
    ),
    "an attribute": ("return o.child.f(1)", "return A.f(1, a=lambda child=o.child: child.a)"),
    "bound in a loop": ("while o:\n    s = o\n    s.f(1)", "while o:\n    s = o\n    A.f(1, a=lambda s=s: s.a)"),
}


@pytest.mark.parametrize("name", LAZY)
def test_getters_keep_their_object(name: str) -> None:
    before, after = LAZY[name]
    method = READS.replace("return self.a + x", "return lambda: self.a").replace("*zs, **kw", "*zs")
    expected = static(READS).replace("return a + x", "return lambda: a()").replace("a, **kw", "a")
    head = "def use(o: A, r: list[A]):\n"
    check_step(
        method + within(before, head), expected + within(after, head), ExtractMethod(method="m:A.f", lazy=("a",))
    )


def test_keywords_that_callers_use() -> None:
    before = READS + within("o.f(1, a=2)")
    after = static(READS).replace("*zs, a, ", "*zs, self_a, ").replace("a + x", "self_a + x")
    check_step(before, after + within("A.f(1, a=2, self_a=o.a)"), ExtractMethod(method="m:A.f"))


REFUSED = {
    "a reference": (PLAIN, "return map(o.f, p)", ["refused U118"]),
    "a reference that is kept": (PLAIN, "q = o.f\nreturn q(1)", ["refused U118"]),
    "an assignment": (PLAIN, "o.f = p", ["refused U104"]),
    "a constructor": (READS, "return A().f(1)", ["refused U101"]),
    "a call": (READS, "return p().f(1)", ["refused U101"]),
    "an item": (READS, "return p[0].f(1)", ["refused U101"]),
    "an argument that binds the receiver": (READS, "return o.f(o := p)", ["refused U101"]),
    "a larger expression": (WRITES, "return 1 + o.f(1)", ["refused U103"]),
    "several targets": (WRITES, "q = r = o.f(1)", ["refused U103"]),
    "an item as the target": (WRITES, "p[o.a] = o.f(1)", ["refused U103"]),
    "the attribute as the target": (WRITES, "o.a = o.f(1)", ["refused U103"]),
    "the receiver as the target": (WRITES, "o = o.f(1)", ["refused U103"]),
    "a lambda": (WRITES, "return lambda: o.f(1)", ["refused U103"]),
    "a return on a line with others": (WRITES, "if p: return o.f(1)", ["refused U103"]),
    "a name that is another thing here": (READS, "A = p\nreturn o.f(1)", ["stop U107"]),
    "a changing receiver": (READS, "return o.child.f(p())", ["prove U101"]),
    "a splat of keywords": (READS, "return o.f(**p)", ["prove U107"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_calls_that_can_not_be_rewritten(name: str) -> None:
    method, statement, expected = REFUSED[name]
    result, _ = run(method + within(statement), ExtractMethod(method="m:A.f"))
    assert codes(result) == expected


def test_an_unknown_receiver() -> None:
    other = "class C:\n    def f(self, x):\n        return x\n\n\n"
    result, _ = run(PLAIN + other + within("return p.f(1)"), ExtractMethod(method="m:A.f"))
    assert codes(result) == ["stop U115"]


def test_a_call_while_the_class_is_made() -> None:
    text = "class A:\n    def f(self):\n        return 1\n\n    X = f(None)\n"
    result, _ = run(text, ExtractMethod(method="m:A.f"))
    assert codes(result) == ["refused U104"]


def test_a_global_receiver_that_arguments_may_bind_anew() -> None:
    tail = "ONE = A()\n\n\ndef reset():\n    global ONE\n    ONE = A()\n\n\nprint(ONE.f(reset()))\n"
    result, _ = run(READS + tail, ExtractMethod(method="m:A.f"))
    assert codes(result) == ["prove U101"]


def test_a_property_as_receiver() -> None:
    tail = "class H:\n    @property\n    def o(self) -> A:\n        return A()\n\n"
    tail += "    def g(self):\n        return self.o.f(1)\n"
    result, _ = run(READS + tail, ExtractMethod(method="m:A.f"))
    assert codes(result) == ["stop U101"]
