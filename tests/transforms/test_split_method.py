"""A long method becomes several: pieces in order, locals that cross them, aliases, blank lines; and what is refused."""

from __future__ import annotations

import pytest

from codemods.schema.hazards import Severity
from codemods.schema.plan import Piece, SplitMethod
from codemods.transforms import split_method
from codemods.transforms.transform import Planned
from tests.support.trees import check, codes, tree

TRANSFORM = split_method.TRANSFORM


def step(*pieces: tuple[str, ...], method: str = "m:C.start") -> SplitMethod:
    """Pieces as (name, first) or (name, first, last)."""
    made = tuple(Piece(name=name, first=first, last="".join(last)) for name, first, *last in pieces)
    return SplitMethod(method=method, pieces=made)


def split(before: str, after: str, *pieces: tuple[str, ...]) -> Planned:
    return check(TRANSFORM, step(*pieces), f"# file: m.py\n{before}", f"# file: m.py\n{after}")


def test_pieces_become_methods_in_order() -> None:
    split(
        '''\
class C:
    def start(self):
        """Set everything up."""
        args = self.args

        # The pool.
        self.pool = make(
            size=args.size,
        )

        if args.fast:
            # Quick.
            self.warm()

        self.model = load()
        # Ready.
        self.ready = True
        log(args.name)

    def __init__(self, args):
        self.args = args
''',
        '''\
class C:
    def start(self):
        """Set everything up."""

        self.init_pool()
        self.maybe_warm()

        self.model = load()
        self.finish()

    def init_pool(self):
        # The pool.
        self.pool = make(
            size=self.args.size,
        )

    def maybe_warm(self):
        if self.args.fast:
            # Quick.
            self.warm()

    def finish(self):
        # Ready.
        self.ready = True
        log(self.args.name)

    def __init__(self, args):
        self.args = args
''',
        ("init_pool", "self.pool ="),
        ("maybe_warm", "if args.fast"),
        ("finish", "self.ready", "log("),
    )


def test_locals_that_cross_are_passed_and_given_back() -> None:
    split(
        """\
class C:
    def start(self, n: int):
        size: int = n * 2
        names = []
        for i in range(size):
            names.append(i)
        self.names = names
        return size
""",
        """\
class C:
    def start(self, n: int):
        size, names = self.measure(n)
        self.keep(size, names)
        return size

    def measure(self, n: int):
        size: int = n * 2
        names = []
        return size, names

    def keep(self, size: int, names) -> None:
        for i in range(size):
            names.append(i)
        self.names = names
""",
        ("measure", "size: int", "names ="),
        ("keep", "for i", "self.names"),
    )


def test_a_piece_inside_a_branch_and_one_that_returns() -> None:
    split(
        """\
class C:
    def start(self, n):
        if n:
            a = n + 1
            self.a = a
        else:
            self.a = 0
        if self.a:
            return 1
        return 2
""",
        """\
class C:
    def start(self, n):
        if n:
            self.one(n)
        else:
            self.a = 0
        return self.two()

    def one(self, n):
        a = n + 1
        self.a = a

    def two(self):
        if self.a:
            return 1
        return 2
""",
        ("one", "a = n", "self.a = a"),
        ("two", "if self.a", "return 2"),
    )


def test_async_pieces_are_awaited() -> None:
    split(
        "class C:\n    async def start(self):\n        a = await g()\n        await h(a)\n        k()\n",
        "class C:\n    async def start(self):\n"
        "        a = await self.one()\n        await self.two(a)\n        self.three()\n"
        "\n    async def one(self):\n        a = await g()\n        return a\n"
        "\n    async def two(self, a):\n        await h(a)\n"
        "\n    def three(self):\n        k()\n",
        ("one", "a ="),
        ("two", "await h"),
        ("three", "k()"),
    )


def test_what_stands_behind_the_method_stays_behind_the_pieces() -> None:
    split(
        "class C:\n    def start(self):\n        g()\n        h()\n\n    # Then.\n    def stop(self): ...\n",
        "class C:\n    def start(self):\n        self.one()\n        h()\n\n    def one(self):\n        g()\n\n"
        "    # Then.\n    def stop(self): ...\n",
        ("one", "g()"),
    )


def test_an_attribute_that_is_read_again_is_noted() -> None:
    text = "class C:\n    def start(self):\n        a = self.a\n        g(a)\n"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step(("one", "g(a)")))
    assert codes(planned) == ["note U101"]


ALIASES = {
    "written by another method": "    def turn(self):\n        self.a = 1\n",
    "a property": "    @property\n    def a(self): return 1\n",
    "looked up by code": "    def __getattr__(self, name): return 1\n",
}


@pytest.mark.parametrize("name", ALIASES)
def test_an_alias_of_what_may_change_stays_a_parameter(name: str) -> None:
    text = f"class C:\n    def start(self):\n        a = self.a\n        g(a)\n\n{ALIASES[name]}"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step(("one", "g(a)")))
    assert planned.files is not None
    made = planned.files.read("m.py").decode()
    assert "        a = self.a\n        self.one(a)\n" in made
    assert "    def one(self, a):\n        g(a)\n" in made


def test_a_subclass_that_writes_the_attribute_counts() -> None:
    text = (
        "# file: m.py\nclass C:\n    def start(self):\n        a = self.a\n        g(a)\n"
        "# file: n.py\nfrom m import C\nclass D(C):\n    def turn(self):\n        self.a = 2\n"
    )
    planned = TRANSFORM.plan(tree(text), step(("one", "g(a)")))
    assert planned.files is not None
    assert b"self.one(a)" in planned.files.read("m.py")


@pytest.mark.parametrize(
    ("body", "pieces", "code"),
    [
        ("g()\nh()\nk()", [("one", "g()", "h()"), ("two", "h()", "k()")], "pieces-overlap"),
        ("if a:\n    g()\nh()", [("one", "if a"), ("two", "g()")], "pieces-overlap"),
        ("g()\nh()", [("one", "g()"), ("one", "h()")], "U107"),
        ("g()\nh()", [("stop", "g()")], "U107"),
        ("g()\nh()", [("one", "k()")], "unknown-block"),
        ("g()\ng()", [("one", "g()")], "ambiguous-block"),
        ("g()", [], "no-pieces"),
        ("if a:\n    return 1\nh()", [("one", "if a")], "returns-inside"),
    ],
)
def test_refused(body: str, pieces: list[tuple[str, ...]], code: str) -> None:
    inner = "\n".join(f"        {line}" for line in body.split("\n"))
    text = f"class C:\n    def start(self, a):\n{inner}\n\n    def stop(self): ...\n"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step(*pieces))
    assert planned.files is None
    assert code in [refusal.code for refusal in planned.refusals]


def test_every_problem_of_every_piece_is_told_at_once() -> None:
    text = "class C:\n    def start(self):\n        g()\n        h()\n"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step(("one", "x()"), ("two", "y()")))
    assert [refusal.message.partition(":")[0] for refusal in planned.refusals] == ["one", "two"]


def test_a_name_of_an_unseen_base_is_noted() -> None:
    text = "from lib import Base\n\n\nclass C(Base):\n    def start(self):\n        g()\n"
    planned = TRANSFORM.plan(tree(f"# file: m.py\n{text}"), step(("one", "g()")))
    assert [(hazard.code, hazard.severity) for hazard in planned.hazards] == [("U107", Severity.NOTE)]
