"""How parameter and argument lists are laid out when they lose and gain items: as the formatter would where the list is
in its form, else line by line. Comments and pragmas stay where they mean something."""

from __future__ import annotations

import pytest

from codemods.schema.plan import ExtractMethod
from tests.support.steps import check_step

INIT = """\
class A:
    def __init__(self, k):
        self.key_of_the_first_thing = k
        self.key_of_the_other_thing = k

"""
READS = "        return self.key_of_the_first_thing, self.key_of_the_other_thing\n"
NAMES = "key_of_the_first_thing, key_of_the_other_thing"
READ = "        return key_of_the_first_thing, key_of_the_other_thing\n"

HEADERS = {
    "on its line": (
        "    def f(self) -> int:\n",
        "    def f(*, key_of_the_first_thing, key_of_the_other_thing) -> int:\n",
    ),
    "all on a line of their own": (
        "    def f(self, a_rather_long_parameter) -> int:\n",
        """\
    def f(
        a_rather_long_parameter, *, key_of_the_first_thing, key_of_the_other_thing
    ) -> int:
""",
    ),
    "one a line": (
        "    def f(self, a_rather_long_parameter, another_long_parameter=None) -> int:\n",
        """\
    def f(
        a_rather_long_parameter,
        another_long_parameter=None,
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ) -> int:
""",
    ),
    "one a line already": (
        """\
    def f(
        self,
        a,
        *b,
        **c,
    ):
""",
        """\
    def f(
        a,
        *b,
        key_of_the_first_thing,
        key_of_the_other_thing,
        **c,
    ):
""",
    ),
    "self alone on a line": (
        """\
    def f(
        self,
    ):
""",
        """\
    def f(
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ):
""",
    ),
    "on one line below": (
        """\
    def f(
        self, a_parameter: dict[str, list[int]], another_parameter: dict[str, str] = 1
    ) -> int:
""",
        """\
    def f(
        a_parameter: dict[str, list[int]],
        another_parameter: dict[str, str] = 1,
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ) -> int:
""",
    ),
    "comments": (
        """\
    def f(
        self,  # me, myself
        a,  # one, (two)
        # three
        b=(1, 2)  # four
    ):
""",
        """\
    def f(
        # me, myself
        a,  # one, (two)
        # three
        b=(1, 2),  # four
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ):
""",
    ),
    "comments and keywords": (
        """\
    def f(
        self,
        a,  # one
        *,
        b=1,  # two
        **c,  # three
    ):
""",
        """\
    def f(
        a,  # one
        *,
        b=1,  # two
        key_of_the_first_thing,
        key_of_the_other_thing,
        **c,  # three
    ):
""",
    ),
    "aligned": (
        """\
    def f(self, a,
          b=1):
""",
        """\
    def f(a,
          b=1, *, key_of_the_first_thing, key_of_the_other_thing):
""",
    ),
    "aligned, self alone": (
        """\
    def f(self,
          a, b=1):
""",
        """\
    def f(a, b=1, *, key_of_the_first_thing, key_of_the_other_thing):
""",
    ),
    "aligned, with a comment behind the last": (
        """\
    def f(self,
          a,  # type: int
          ):
""",
        """\
    def f(a,  # type: int
          *,
          key_of_the_first_thing,
          key_of_the_other_thing,
          ):
""",
    ),
    "positional only": (
        "    def f(self, /, a):\n",
        "    def f(a, *, key_of_the_first_thing, key_of_the_other_thing):\n",
    ),
    "positional only, more": (
        "    def f(self, a, /, b):\n",
        "    def f(a, /, b, *, key_of_the_first_thing, key_of_the_other_thing):\n",
    ),
    "keyword only": (
        "    def f(self, *, a):\n",
        "    def f(*, a, key_of_the_first_thing, key_of_the_other_thing):\n",
    ),
    "an annotated self": (
        '    def f(self: "A", a):\n',
        "    def f(a, *, key_of_the_first_thing, key_of_the_other_thing):\n",
    ),
    "a pragma of a default": (
        "    def f(self, first_moment=now(), second_moment=None):  # noqa: B008\n",
        """\
    def f(
        first_moment=now(),  # noqa: B008
        second_moment=None,
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ):
""",
    ),
    "a pragma of the name": (
        "    def f(self, first_moment=None, second_moment=None):  # noqa: C901, PLR0912\n",
        """\
    def f(  # noqa: C901, PLR0912
        first_moment=None,
        second_moment=None,
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ):
""",
    ),
    "a pragma of two defaults": (
        "    def f(self, first_moment=now(), second_moment=now()):  # noqa: B008\n",
        """\
    def f(
        first_moment=now(),  # noqa: B008
        second_moment=now(),  # noqa: B008
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ):
""",
    ),
    "pragmas of different places": (
        "    def f(self, first_moment=now(), second_moment=None):  # noqa: B008, C901\n",
        f"    def f(first_moment=now(), second_moment=None, *, {NAMES}):  # noqa: B008, C901\n",
    ),
    "a pragma that may mean anything": (
        "    def f(self, first_moment=None, second_moment=None):  # type: ignore[override]\n",
        f"    def f(first_moment=None, second_moment=None, *, {NAMES}):  # type: ignore[override]\n",
    ),
    "a comment that is no pragma": (
        "    def f(self, first_moment=None, second_moment=None):  # when\n",
        """\
    def f(
        first_moment=None,
        second_moment=None,
        *,
        key_of_the_first_thing,
        key_of_the_other_thing,
    ):  # when
""",
    ),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers(name: str) -> None:
    before, after = HEADERS[name]
    check_step(INIT + before + READS, f"{INIT}    @staticmethod\n{after}{READ}", ExtractMethod(method="m:A.f"))


CALLED = """\
class A:
    def __init__(self, k):
        self.key_of_the_first_thing = k
        self.key_of_the_other_thing = k

    def f(self, x=0, y=0, z=0):
        return self.key_of_the_first_thing, self.key_of_the_other_thing


def use(one: A):
"""
STATIC = (
    CALLED.replace("    def f(self, x=0", "    @staticmethod\n    def f(x=0")
    .replace("z=0)", "z=0, *, key_of_the_first_thing, key_of_the_other_thing)")
    .replace("return self.key_of_the_first_thing, self.key", "return key_of_the_first_thing, key")
)
KEYS = "key_of_the_first_thing=one.key_of_the_first_thing"
MORE = "key_of_the_other_thing=one.key_of_the_other_thing"

CALLS = {
    "all on a line of their own": (
        "    one.f()\n",
        f"    A.f(\n        {KEYS},\n        {MORE},\n    )\n",
    ),
    "one a line": (
        "    return one.f(1, z=2) and 3\n",
        f"    return A.f(\n        1,\n        z=2,\n        {KEYS},\n        {MORE},\n    ) and 3\n",
    ),
    "one a line already": (
        "    one.f(\n        1,\n        z=2,\n    )\n",
        f"    A.f(\n        1,\n        z=2,\n        {KEYS},\n        {MORE},\n    )\n",
    ),
    "in brackets of another call": (
        "    print(\n        one.f(1),\n    )\n",
        f"    print(\n        A.f(\n            1,\n            {KEYS},\n            {MORE},\n        ),\n    )\n",
    ),
    "comments": (
        "    one.f(\n        1,  # one, two\n        z=2  # three\n    )\n",
        f"    A.f(\n        1,  # one, two\n        z=2,  # three\n        {KEYS},\n        {MORE},\n    )\n",
    ),
    "through the class, with comments": (
        "    A.f(\n        one,  # it\n        1,  # one\n    )\n",
        f"    A.f(\n        # it\n        1,  # one\n        {KEYS},\n        {MORE},\n    )\n",
    ),
    "a text over lines": (
        '    one.f("""a\n    b""")\n',
        f'    A.f("""a\n    b""",\n        {KEYS},\n        {MORE})\n',
    ),
    "a pragma": (
        "    return one.f(g(1))  # noqa: F821\n",
        f"    return A.f(g(1), {KEYS}, {MORE})  # noqa: F821\n",
    ),
    "a comment": (
        "    return one.f(1)  # why\n",
        f"    return A.f(\n        1,\n        {KEYS},\n        {MORE},\n    )  # why\n",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    before, after = CALLS[name]
    check_step(CALLED + before, STATIC + after, ExtractMethod(method="m:A.f"))


def test_the_line_length_of_the_project() -> None:
    before = INIT + HEADERS["all on a line of their own"][0] + READS
    header = "    def f(a_rather_long_parameter, *, key_of_the_first_thing, key_of_the_other_thing) -> int:\n"
    check_step(before, f"{INIT}    @staticmethod\n{header}{READ}", ExtractMethod(method="m:A.f"), line_length=100)


def test_results_count_for_the_line() -> None:
    before = """\
class A:
    def f(self, first_argument, second_argument):
        self.result = first_argument, second_argument
        return 1


def use(one: A, first_argument_of_use, second_argument_of_use):
    name = one.f(first_argument_of_use, second_argument_of_use)
    return name
"""
    after = """\
class A:
    @staticmethod
    def f(first_argument, second_argument):
        result = first_argument, second_argument
        return 1, result


def use(one: A, first_argument_of_use, second_argument_of_use):
    name, one.result = A.f(first_argument_of_use, second_argument_of_use)
    return name
"""
    check_step(before, after, ExtractMethod(method="m:A.f"))
