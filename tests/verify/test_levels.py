"""Module and class bodies: what may move, what may go, and what loading a module or looking around shows."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest

from codemods.schema.verdict import Verdict
from codemods.source.files import FileSet, MemoryTree
from codemods.verify.change import between
from codemods.verify.explain import explain
from codemods.verify.ledger import account
from codemods.verify.level_loading import Loading, is_harmless
from codemods.verify.level_moments import missing_at_run_time, used_too_early
from codemods.verify.names import Names


def files(texts: Mapping[str, str]) -> FileSet:
    return FileSet(MemoryTree({path: text.encode() for path, text in texts.items()}))


def said(old: Mapping[str, str], new: Mapping[str, str], **both: str) -> str:
    """Everything that stands against certifying the change; "" when nothing does. both: module -> its text."""
    same = {f"p/{name}.py": text for name, text in both.items()} | {"p/__init__.py": ""}
    change = between(files(same | dict(old)), files(same | dict(new)))
    ledger = account(change, explain(change))
    found = [f"{each.mark.code} {each.mark.reason}" for each in ledger.residue]
    found += [f"{each.code} {each.message}" for each in ledger.problems]
    assert not (ledger.verdict is Verdict.MECHANICAL and ledger.residue)
    return "\n".join(found)


# ---- imports


def test_imports_of_quiet_modules_may_change_places() -> None:
    old, new = "import p.a\nimport p.b\nX = p.a, p.b\n", "import p.b\nimport p.a\nX = p.a, p.b\n"
    assert said({"p/m.py": old}, {"p/m.py": new}, a="A = 1\n", b="B = 2\n") == ""


def test_imports_of_modules_that_do_something_may_not() -> None:
    old, new = "import p.a\nimport p.b\nX = p.a, p.b\n", "import p.b\nimport p.a\nX = p.a, p.b\n"
    assert "another order" in said({"p/m.py": old}, {"p/m.py": new}, a="print(1)\n", b="print(2)\n")


def test_the_last_of_two_imports_of_one_name_counts() -> None:
    old = "from p.a import f\nfrom p.b import f\nX = f\n"
    new = "from p.b import f\nfrom p.a import f\nX = f\n"
    assert "more than once" in said({"p/m.py": old}, {"p/m.py": new}, a="def f(): pass\n", b="def f(): pass\n")


def test_an_unused_import_of_a_quiet_module_may_go() -> None:
    assert said({"p/m.py": "import p.a\nX = 1\n"}, {"p/m.py": "X = 1\n"}, a="A = 1\n") == ""


def test_an_import_that_did_something_may_not_go() -> None:
    assert "does something" in said({"p/m.py": "import p.a\nX = 1\n"}, {"p/m.py": "X = 1\n"}, a="print(1)\n")


def test_it_may_go_where_another_import_loads_the_module() -> None:
    old, new = "import p.a\nimport p.b\nX = p.b\n", "import p.b\nX = p.b\n"
    assert said({"p/m.py": old}, {"p/m.py": new}, a="print(1)\n", b="import p.a\n") == ""


def test_a_module_read_through_its_package_has_to_be_loaded() -> None:
    old, new = "import p.a\nimport p.b\nX = p.a.A, p.b\n", "import p.b\nX = p.a.A, p.b\n"
    assert "still read" in said({"p/m.py": old}, {"p/m.py": new}, a="A = 1\n", b="B = 1\n")


def test_a_module_from_outside_that_may_do_something_has_to_stay() -> None:
    assert "only loads" in said({"p/m.py": "import unknown_thing\nX = 1\n"}, {"p/m.py": "X = 1\n"})
    assert said({"p/m.py": "import json\nX = 1\n"}, {"p/m.py": "X = 1\n"}) == ""
    assert is_harmless("collections.abc") and not is_harmless("readline")


# ---- loading


def test_loading_follows_imports_and_packages() -> None:
    texts = {"p/__init__.py": "", "p/a.py": "from p import b\n", "p/b.py": "import p.c\n", "p/c.py": "", "p/d.py": ""}
    loading = Loading(Names(files(texts)))
    assert loading.reaches("p/a.py", "p/c.py") and loading.reaches("p/a.py", "p/__init__.py")
    assert not loading.reaches("p/a.py", "p/d.py")


@pytest.mark.parametrize(
    ("text", "is_quiet"),
    [
        ("def q():\n    return 1\nX = q()\n", True),
        ("def q():\n    STATE.x = 1\nX = q()\n", False),
        ("def q():\n    register(1)\nX = q()\n", False),
        ("def q():\n    global Y\n    Y = 1\nX = q()\n", False),
        ("import re\nX = re.compile('a')\n", True),
        ("X = []\nX.append(1)\n", False),
    ],
)
def test_modules_that_do_something(text: str, is_quiet: bool) -> None:
    assert Loading(Names(files({"m.py": text}))).effects("m.py") is not is_quiet


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f()\ndef f(): pass\n", {"f"}),
        ("def g():\n    return f()\ng()\ndef f(): pass\n", {"f"}),
        ("def g():\n    return f()\ndef f(): pass\n", set()),
        ("def g(x=A): pass\nA = 1\n", {"A"}),
        ("@d\ndef g(): pass\ndef d(f): return f\n", {"d"}),
        ("class C(B): pass\nclass B: pass\n", {"B"}),
        ("class C:\n    a = 1\n    b = a\n", set()),
        ("def g(x: A): pass\nclass A: pass\n", {"A"}),
        ("from __future__ import annotations\ndef g(x: A): pass\nclass A: pass\n", set()),
        ("X = [a for a in ()]\na = 1\n", set()),
    ],
)
def test_used_before_it_is_bound(text: str, names: set[str]) -> None:
    assert set(used_too_early(ast.parse(text))) == names


_TYPED = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.t import T\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"{_TYPED}def f():\n    return T()\n", {"T"}),
        (f"{_TYPED}def f(T):\n    return T()\n", set()),
        (f"{_TYPED}def f():\n    from p.t import T\n    return T()\n", set()),
        (f"{_TYPED}def f(x: T): pass\n", {"T"}),
        (f"from __future__ import annotations\n{_TYPED}def f(x: T): pass\n", set()),
        (f"{_TYPED}class C(T): pass\n", {"T"}),
        (f"{_TYPED}if TYPE_CHECKING:\n    A = T | None\n", set()),
        (f"{_TYPED}if TYPE_CHECKING:\n    A = T | None\ndef f():\n    return A\n", {"A"}),
        (f"{_TYPED}if TYPE_CHECKING:\n    A = T | None\nelse:\n    A = T\n", {"T"}),
        (f"{_TYPED}class C:\n    def f(self):\n        return T\n", {"T"}),
        ("def f(x: Gone): pass\n", {"Gone"}),
        ("from p.t import *\ndef f(x: Gone): pass\n", set()),
    ],
)
def test_there_for_type_checkers_only(text: str, names: set[str]) -> None:
    assert set(missing_at_run_time(ast.parse(text), text.encode())) == names


# ---- values


def test_state_moves_with_its_users() -> None:
    text = "_seen = set()\ndef see(x):\n    _seen.add(x)\n"
    kept = "def other(): pass\n"
    assert said({"p/a.py": text + kept}, {"p/a.py": kept, "p/b.py": text}) == ""


def test_a_name_that_is_bound_again_must_not_be_copied_by_an_import() -> None:
    state = "step = 0\ndef go():\n    global step\n    step += 1\n"
    old = state + "def show():\n    return step\n"
    new = "from p.b import step\ndef show():\n    return step\n"
    assert "first value" in said({"p/a.py": old}, {"p/a.py": new, "p/b.py": state})


def test_a_value_read_from_a_table_belongs_to_its_moment() -> None:
    old, new = "from p.t import T\nT['x'] = 2\nA = T['x']\ndef f():\n    return A\n", "from p.t import T\nT['x'] = 2\n"
    moved = "from p.t import T\nA = T['x']\ndef f():\n    return A\n"
    assert "another module" in said({"p/a.py": old}, {"p/a.py": new, "p/b.py": moved}, t="T = {'x': 1}\n")


def test_plain_constants_may_change_places() -> None:
    assert said({"p/a.py": "A = 1\nB = (2, 3)\n"}, {"p/a.py": "B = (2, 3)\nA = 1\n"}) == ""
    assert said({"p/a.py": "A = 1\nB = f()\nC = g()\n"}, {"p/a.py": "A = 1\nC = g()\nB = f()\n"}) != ""


# ---- classes


def test_plain_methods_may_change_places() -> None:
    one, two = "    def a(self): pass\n", "    def b(self): pass\n"
    assert said({"p/a.py": f"class C:\n{one}{two}"}, {"p/a.py": f"class C:\n{two}{one}"}) == ""
    old, new = (f"class C:\n{body}X = list(vars(C))\n" for body in (one + two, two + one))
    assert said({"p/a.py": old}, {"p/a.py": new}) != ""


@pytest.mark.parametrize(
    ("reader", "is_told"),
    [
        ("vars(c)", True), ("c.__dict__", True), ("vars(c)[k]", True), ("'k' in list(vars(c))", True),
        ("vars(c)['k']", False), ("c.__dict__.get('k')", False), ("'k' in vars(c)", False),
        ("'k' not in c.__dict__", False), ("c.__dict__.update(k=1)", False),
    ],
)  # fmt: skip
def test_who_lists_members_is_told_of_another_order(reader: str, is_told: bool) -> None:
    one, two = "    def a(self): pass\n", "    def b(self): pass\n"
    old, new = (f"class C:\n{body}" for body in (one + two, two + one))
    found = said({"p/a.py": old}, {"p/a.py": new}, b=f"from p.a import C\ndef g(c: C, k):\n    return {reader}\n")
    assert ("may list what C holds" in found) is is_told


@pytest.mark.parametrize("line", ["x = 0", "(x): int = 0", "x: str = 0"])
def test_fields_keep_their_annotations(line: str) -> None:
    head = "from dataclasses import dataclass\n@dataclass\nclass C:\n    "
    assert said({"p/a.py": f"{head}x: int = 0\n"}, {"p/a.py": f"{head}{line}\n"}) != ""


def test_slots_follow_their_attributes() -> None:
    text = "class C:\n    __slots__ = ('{0}',)\n    def __init__(self, n):\n        self.{1} = n\n"
    assert said({"p/a.py": text.format("a", "a")}, {"p/a.py": text.format("b", "b")}) == ""
    assert "no slot" in said({"p/a.py": text.format("a", "a")}, {"p/a.py": text.format("a", "b")})


def test_a_wrapper_keeps_its_default() -> None:
    old = "class C:\n    def f(self, n, m=1):\n        return self.k + n + m\n"
    new = "from p.b import f\nclass C:\n    def f(self, n, m=2):\n        return f(n, m, k=self.k)\n"
    moved = "def f(n, m=1, *, k):\n    return k + n + m\n"
    assert said({"p/a.py": old}, {"p/a.py": new, "p/b.py": moved}) != ""
    assert said({"p/a.py": old}, {"p/a.py": new.replace("m=2", "m=1"), "p/b.py": moved}) == ""


# ---- dead code


_PRIVATE = "class C:\n    def run(self):\n        return 1\n"
_DEAD = "    def _old_way(self):\n        return 2\n"


def test_what_nothing_mentions_may_go() -> None:
    assert said({"p/a.py": _PRIVATE + _DEAD}, {"p/a.py": _PRIVATE}) == ""
    assert said({"p/a.py": "def _old_way():\n    pass\nX = 1\n"}, {"p/a.py": "X = 1\n"}) == ""


@pytest.mark.parametrize(
    "other",
    [
        "def f(c):\n    return c._old_way()\n",
        "NAME = '_old_way'\n",
        "def f(c: 'C', x):\n    return getattr(c, f'_old_{x}')\n",
    ],
)
def test_what_somebody_may_want_is_not_dead(other: str) -> None:
    assert "nothing explains it" in said({"p/a.py": _PRIVATE + _DEAD}, {"p/a.py": _PRIVATE}, b=other)


def test_a_class_with_a_base_from_outside_may_be_called_from_there() -> None:
    head = "from lib import Base\nclass C(Base):\n    def run(self):\n        return 1\n"
    assert said({"p/a.py": head + _DEAD}, {"p/a.py": head}) != ""


# ---- order and meaning


def test_a_definition_that_reads_what_is_bound_again_keeps_its_place() -> None:
    default, again, other = "def f(x=N):\n    return x\n", "N = 2\n", "def g():\n    return 1\n"
    old = "N = 1\n" + default + other + again
    new = "N = 1\n" + other + again + default
    assert said({"p/a.py": old}, {"p/a.py": new}) != ""


def test_a_class_that_moved_means_the_same_by_its_own_statements() -> None:
    kept, text = "def k(): pass\n", "class C:\n    limit = MAX + 1\n"
    old = {"p/a.py": "from p.t import MAX\n" + text + kept, "p/b.py": "from p.u import MAX\nX = MAX\n"}
    new = {"p/a.py": kept, "p/b.py": "from p.u import MAX\nX = MAX\n" + text}
    assert said(old, new, t="MAX = 1\n", u="MAX = 2\n") != ""


def test_a_class_that_a_base_counts_keeps_its_place() -> None:
    base = "class Base:\n    def __init_subclass__(cls):\n        KINDS.append(cls)\nKINDS = []\n"
    one, two = "class One(Base):\n    pass\n", "class Two(Base):\n    pass\n"
    head = "from p.base import Base\n"
    assert said({"p/a.py": head + one + two}, {"p/a.py": head + two + one}, base=base) != ""
    assert said({"p/a.py": head + one + two}, {"p/a.py": head + two + one}, base="class Base:\n    pass\n") == ""


def test_an_import_that_is_done_for_type_checkers_only_now() -> None:
    old = "from typing import TYPE_CHECKING\nfrom p.t import T\ndef f(x: 'T'): pass\nY = TYPE_CHECKING\n"
    new = old.replace("from p.t import T\n", "if TYPE_CHECKING:\n    from p.t import T\n")
    assert said({"p/a.py": old}, {"p/a.py": new}, t="class T: pass\n") == ""
    assert "does something" in said({"p/a.py": old}, {"p/a.py": new}, t="class T: pass\nprint(1)\n")


def test_annotations_of_fields_that_become_text() -> None:
    text = "from dataclasses import dataclass\n@dataclass\nclass C:\n    x: int\n"
    assert said({"p/a.py": text}, {"p/a.py": "from __future__ import annotations\n" + text}) != ""
    plain = "def f(x: int):\n    return x\n"
    assert said({"p/a.py": plain}, {"p/a.py": "from __future__ import annotations\n" + plain}) == ""


def test_public_names_and_bases_are_no_dead_code() -> None:
    assert said({"p/a.py": "def run(): pass\nX = 1\n"}, {"p/a.py": "X = 1\n"}) != ""
    base = "class Base: pass\n"
    assert said({"p/a.py": base + "class _Old(Base): pass\nX = 1\n"}, {"p/a.py": base + "X = 1\n"}) != ""


def test_a_name_that_nothing_binds_any_more() -> None:
    old, new = "A = 1\nB = 0 and A\nX = 1\n", "B = 0 and A\nX = 1\n"
    assert "nothing binds it" in said({"p/a.py": old}, {"p/a.py": new})


def test_imports_that_lead_back_too_early() -> None:
    helper, user = "def helper(n):\n    return n\n", "def f(n):\n    return helper(n)\n"
    old = {"p/a.py": helper + user + "X = f(1)\n"}
    new = {"p/a.py": "from p.b import f\n" + helper + "X = f(1)\n", "p/b.py": "from p.a import helper\n" + user}
    assert "before it is there" in said(old, new)
    apart = {"p/a.py": "from p.b import f\nX = f(1)\n", "p/b.py": helper + user}
    assert said(old, apart) == ""


def test_the_package_around_a_file_is_no_way_back_to_it() -> None:
    used = "from p.a import f\nY = f(2)\n"
    kept, code = "from p.b import f\n", "from p import c\n\n\ndef f(n):\n    return n + c.C\n"
    old = {"p/__init__.py": used, "p/a.py": code}
    new = {"p/__init__.py": used, "p/a.py": kept, "p/b.py": code}
    assert said(old, new, c="C = 1\n") == "", "`p.a` keeps the name, and `p` has begun to load before both"
    assert "nothing uses" in said({"p/a.py": "X = 1\n"}, {"p/a.py": kept + "X = 1\n"}, b="def f(n):\n    return n\n")


@pytest.mark.parametrize("how", ["from p.a import f", "from p.a import *"])
def test_a_module_that_nobody_can_parse_is_as_far_away_as_none(how: str) -> None:
    old = f"{how}\n\n\ndef g():\n    return f(1)\n"
    new = old.replace("return f(1)", "x = f(1)\n    return x")
    both = {"a": "print 'old'\ndef f(x): pass\n", "b": "def f(x): pass\n"}
    assert said({"p/m.py": old}, {"p/m.py": new}, **both) == ""
    assert "differs" in said({"p/m.py": old}, {"p/m.py": new.replace(how, "from p.b import f")}, **both)


def test_what_one_difference_entails_is_no_news() -> None:
    body = "    if a:\n        g(a)\n        g(a + 1)\n    for x in a:\n        g(x)\n"
    old = f"def g(x):\n    print(x)\n\n\ndef f(a):\n{body}"
    new = f"def g(x):\n    print(x)\n\n\ndef f(b):\n    a = b or h()\n{body}"
    told = said({"p/m.py": old}, {"p/m.py": new}).split("\n")
    assert told != [""]
    assert not [each for each in told if "the same text as before" in each]


def test_what_is_gone_from_between_is_told_where_it_stood() -> None:
    old = {"p/m.py": "def f():\n    return g(\n        1,\n        2,\n        3,\n    )\n"}
    new = {"p/m.py": "def f():\n    return g(\n        1,\n        3,\n    )\n"}
    assert said(old, new) == " differs"
    assert "the same text as before" in said(
        {"p/m.py": "from p.a import g\n" + old["p/m.py"], "p/a.py": "def g(*n): pass\n", "p/b.py": "def g(*n): pass\n"},
        {"p/m.py": "from p.b import g\n" + old["p/m.py"], "p/a.py": "def g(*n): pass\n", "p/b.py": "def g(*n): pass\n"},
    )


def test_a_base_that_means_something_else_now_is_told_once() -> None:
    both = {"a": "class A: pass\n", "b": "class A: pass\n"}
    old, new = "from p.a import A\n\n\nclass C(A):\n    x = 1\n", "from p.b import A\n\n\nclass C(A):\n    x = 1\n"
    told = said({"p/m.py": old}, {"p/m.py": new}, **both).split("\n")
    assert [each for each in told if "line of the old file" not in each] == [
        "differs the same text as before, and differs"
    ]
    assert said({"p/m.py": "class C(A): pass\n"}, {"p/m.py": "class C(B): pass\n"}) == " differs\n differs"


@pytest.mark.parametrize("old", ["f = lambda n: n\n", "f = g(1)\n", "class f: pass\n", "import f\n"])
def test_a_name_that_is_a_function_now_was_none(old: str) -> None:
    told = said(
        {"p/m.py": f"{old}\n\ndef h():\n    return f(2)\n"},
        {"p/m.py": "def f(n):\n    return n\n\n\ndef h():\n    return f(3)\n"},
    )
    assert "nothing explains it" in told or "differs" in told
