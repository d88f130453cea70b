"""make_static with a wrapper: the method stays under its name and calls the static one. Tables of methods."""

from __future__ import annotations

import pytest

from codemods.schema.plan import ExtractMethod
from tests.support.steps import check_step

HEAD = """\
class A:
    count = 0

    def __init__(self, a: int):
        self.a = a
        self.b = 2

"""

METHODS = {
    "a result": (
        """\
    def f(self, x):
        return self.a + x
""",
        """\
    def f(self, x):
        return A._f(x, a=self.a)

    @staticmethod
    def _f(x, *, a: int):
        return a + x
""",
    ),
    "no result": (
        """\
    def f(self):
        print(self.b)
""",
        """\
    def f(self):
        A._f(b=self.b)

    @staticmethod
    def _f(*, b):
        print(b)
""",
    ),
    "nothing of the object": (
        """\
    def f(self):
        return 1
""",
        """\
    def f(self):
        return A._f()

    @staticmethod
    def _f():
        return 1
""",
    ),
    "an attribute": (
        """\
    def f(self, x):
        self.b = x
""",
        """\
    def f(self, x):
        self.b = A._f(x)

    @staticmethod
    def _f(x):
        b = x
        return b
""",
    ),
    "a result and attributes": (
        """\
    def f(self, x) -> int:
        self.b = x
        self.a = x
        return 3
""",
        """\
    def f(self, x) -> int:
        result, self.b, self.a = A._f(x)
        return result

    @staticmethod
    def _f(x):
        b = x
        a = x
        return 3, b, a
""",
    ),
    "a local as the result": (
        """\
    def f(self, x):
        total = self.b + x
        self.b = 0
        return total
""",
        """\
    def f(self, x):
        total, self.b = A._f(x, b=self.b)
        return total

    @staticmethod
    def _f(x, *, b):
        total = b + x
        b = 0
        return total, b
""",
    ),
    "an attribute as the result": (
        """\
    def f(self, x: int) -> int:
        self.a += x
        return self.a
""",
        """\
    def f(self, x: int) -> int:
        self.a = A._f(x, a=self.a)
        return self.a

    @staticmethod
    def _f(x: int, *, a: int) -> int:
        a += x
        return a
""",
    ),
    "annotated results": (
        """\
    def f(self, x) -> str:
        self.a = 1
        return "x"
""",
        """\
    def f(self, x) -> str:
        result, self.a = A._f(x)
        return result

    @staticmethod
    def _f(x) -> tuple[str, int]:
        a = 1
        return "x", a
""",
    ),
    "every kind of parameter": (
        """\
    def f(self, a1, /, b1: str = "x, y", *c1: int, d1, e1=(1, 2), **f1) -> None:
        print(a1, b1, c1, d1, e1, f1)
""",
        """\
    def f(self, a1, /, b1: str = "x, y", *c1: int, d1, e1=(1, 2), **f1) -> None:
        A._f(a1, b1, *c1, d1=d1, e1=e1, **f1)

    @staticmethod
    def _f(a1, /, b1: str, *c1: int, d1, e1, **f1) -> None:
        print(a1, b1, c1, d1, e1, f1)
""",
    ),
    "only self is positional": (
        """\
    def f(self, /, *, key=1):
        return self.b, key
""",
        """\
    def f(self, /, *, key=1):
        return A._f(key=key, b=self.b)

    @staticmethod
    def _f(*, key, b):
        return b, key
""",
    ),
    "decorators, comments and a docstring": (
        """\
    # Above.
    @decorated  # why
    # Between.
    @again(
        1
    )
    def f(
        self,  # the object
        x: int,  # first, (or not)
    ) -> int:  # noqa: X100
        \"\"\"One.

        More.
        \"\"\"
        # Below.
        return self.b + x
""",
        """\
    # Above.
    @decorated  # why
    # Between.
    @again(
        1
    )
    def f(
        self,  # the object
        x: int,  # first, (or not)
    ) -> int:  # noqa: X100
        \"\"\"One.

        More.
        \"\"\"
        return A._f(x, b=self.b)

    @staticmethod
    def _f(x: int, *, b) -> int:
        \"\"\"One.

        More.
        \"\"\"
        # Below.
        return b + x
""",
    ),
    "a property": (
        """\
    @property
    def f(self):
        return self.b
""",
        """\
    @property
    def f(self):
        return A._f(b=self.b)

    @staticmethod
    def _f(*, b):
        return b
""",
    ),
    "a property with a setter": (
        """\
    @property
    def f(self):
        return self.b * 2

    @f.setter
    def f(self, value):
        self.b = value
""",
        """\
    @property
    def f(self):
        return A._f(b=self.b)

    @staticmethod
    def _f(*, b):
        return b * 2

    @f.setter
    def f(self, value):
        self.b = value
""",
    ),
    "a class method": (
        """\
    @classmethod
    def f(cls, x):
        cls.count = x
        return cls.count
""",
        """\
    @classmethod
    def f(cls, x):
        cls.count = A._f(x)
        return cls.count

    @staticmethod
    def _f(x):
        count = x
        return count
""",
    ),
    "a coroutine": (
        """\
    async def f(self, x):
        self.b = await x
""",
        """\
    async def f(self, x):
        self.b = await A._f(x)

    @staticmethod
    async def _f(x):
        b = await x
        return b
""",
    ),
    "a generator": (
        """\
    def f(self, x):
        yield from range(self.b)
""",
        """\
    def f(self, x):
        yield from A._f(x, b=self.b)

    @staticmethod
    def _f(x, *, b):
        yield from range(b)
""",
    ),
    "a generator with a result": (
        """\
    def f(self, x):
        y = yield self.b
        return y
""",
        """\
    def f(self, x):
        return (yield from A._f(x, b=self.b))

    @staticmethod
    def _f(x, *, b):
        y = yield b
        return y
""",
    ),
    "a call of itself stays dynamic": (
        """\
    def f(self, x):
        return self.f(x - 1) if x else self.b
""",
        """\
    def f(self, x):
        return A._f(x, f=self.f, b=self.b)

    @staticmethod
    def _f(x, *, f, b):
        return f(x - 1) if x else b
""",
    ),
    "on the line of the header": (
        """\
    def f(self, x): return self.b + x  # why
""",
        """\
    def f(self, x):
        return A._f(x, b=self.b)

    @staticmethod
    def _f(x, *, b):
        return b + x  # why
""",
    ),
    "several statements on the line of the header": (
        """\
    def f(self, x): self.b = x; return x
""",
        """\
    def f(self, x):
        x, self.b = A._f(x)
        return x

    @staticmethod
    def _f(x):
        b = x
        return x, b
""",
    ),
    "longer than a line": (
        """\
    def f(self, first_argument, second_argument, third_argument="three") -> dict[str, int]:
        return g(self.a, self.b, first_argument, second_argument, third_argument)
""",
        """\
    def f(self, first_argument, second_argument, third_argument="three") -> dict[str, int]:
        return A._f(first_argument, second_argument, third_argument, a=self.a, b=self.b)

    @staticmethod
    def _f(
        first_argument, second_argument, third_argument, *, a: int, b
    ) -> dict[str, int]:
        return g(a, b, first_argument, second_argument, third_argument)
""",
    ),
    "much longer than a line": (
        """\
    def f(self, first_argument_of_all, second_argument_of_all, third_argument_of_all):
        self.first_result_of_all, self.second_result_of_all = first_argument_of_all, 2
        return third_argument_of_all
""",
        """\
    def f(self, first_argument_of_all, second_argument_of_all, third_argument_of_all):
        (
            third_argument_of_all,
            self.first_result_of_all,
            self.second_result_of_all,
        ) = A._f(first_argument_of_all, second_argument_of_all, third_argument_of_all)
        return third_argument_of_all

    @staticmethod
    def _f(first_argument_of_all, second_argument_of_all, third_argument_of_all):
        first_result_of_all, second_result_of_all = first_argument_of_all, 2
        return third_argument_of_all, first_result_of_all, second_result_of_all
""",
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    before, after = METHODS[name]
    check_step(HEAD + before, HEAD + after, ExtractMethod(method="m:A.f", wrapper=True))


ACCEPTED = {
    "a generator that writes": (
        {"U103": "nobody looks in between"},
        """\
    def f(self):
        self.b += 1
        yield self.b
""",
        """\
    def f(self):
        self.b = yield from A._f(b=self.b)

    @staticmethod
    def _f(*, b):
        b += 1
        yield b
        return b
""",
    ),
    "an asynchronous generator": (
        {"U113": "nothing is sent in"},
        """\
    async def f(self, x):
        async for y in x:
            yield y + self.b
""",
        """\
    async def f(self, x):
        async for item in A._f(x, b=self.b):
            yield item

    @staticmethod
    async def _f(x, *, b):
        async for y in x:
            yield y + b
""",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    accept, before, after = ACCEPTED[name]
    check_step(HEAD + before, HEAD + after, ExtractMethod(method="m:A.f", wrapper=True, accept=accept))


NAMES = {
    "a public name": ("f", "", "_f"),
    "a private name": ("_f", "", "_f_impl"),
    "a name of the plan": ("f", "made", "made"),
    "a name that is taken": ("f", "", "_f_impl"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name: str) -> None:
    method, wanted, static = NAMES[name]
    head = HEAD.replace("self.b = 2", "self._f = self.b = 2") if name == "a name that is taken" else HEAD
    before = f"{head}    def {method}(self):\n        return self.b\n"
    after = f"{head}    def {method}(self):\n        return A.{static}(b=self.b)\n\n"
    after += f"    @staticmethod\n    def {static}(*, b):\n        return b\n"
    check_step(before, after, ExtractMethod(method=f"m:A.{method}", wrapper=True, name=wanted))


@pytest.mark.parametrize(("old", "new"), [("    ", "\t"), ("    ", "  "), ("\n", "\r\n")])
def test_keeps_indentation_and_newlines(old: str, new: str) -> None:
    before, after = METHODS["a result and attributes"]
    before, after = HEAD + before, HEAD + after
    if old == "\n":
        before, after = (f"# file: m.py\n{text.replace(old, new)}" for text in (before, after))
    else:
        before, after = (text.replace(old, new) for text in (before, after))
    check_step(before, after, ExtractMethod(method="m:A.f", wrapper=True))


def test_a_class_in_a_class() -> None:
    before = "class Outer:\n    class A:\n        x = 1\n\n        def f(self):\n            return self.x\n"
    after = (
        "class Outer:\n    class A:\n        x = 1\n\n        def f(self):\n            return Outer.A._f(x=self.x)\n\n"
        "        @staticmethod\n        def _f(*, x):\n            return x\n"
    )
    check_step(before, after, ExtractMethod(method="m:Outer.A.f", wrapper=True))


def test_no_newline_at_the_end() -> None:
    before = "class A:\n    def f(self):\n        self.x = 1"
    after = "class A:\n    def f(self):\n        self.x = A._f()\n\n"
    after += "    @staticmethod\n    def _f():\n        x = 1\n        return x"
    check_step(before, after, ExtractMethod(method="m:A.f", wrapper=True))
