"""Data flow of a block: what each construct reads and writes, on which paths, and when."""

from __future__ import annotations

import ast
import sys
import textwrap
from typing import Any

import pytest

from codemods.source.flow import Flow, Kind, Risk, attributes, flow_of, names


def flow(code: str, *, of: str = "", **options: Any) -> Flow:
    key_of = attributes(of) if of else names()
    return flow_of(ast.parse(textwrap.dedent(code)).body, key_of, **options)


def facts(code: str, question: str, *, of: str = "") -> str:
    return " ".join(sorted(getattr(flow(code, of=of), question)))


@pytest.mark.parametrize(
    ("code", "exposed", "definite", "every"),
    [
        ("a = b", "b", "a", "b"),
        ("a += b", "a b", "a", "a b"),
        ("a = a", "a", "a", "a"),
        ("a[i] = b", "a b i", "", "a b i"),
        ("a.x = b", "a b", "", "a b"),
        ("a, (b, *c) = d", "d", "a b c", "d"),
        ("a = b = c", "c", "a b", "c"),
        ("a: int = b", "b", "a", "b"),
        ("a: T", "", "", ""),
        ("if t:\n    a = b\nelse:\n    a = c", "b c t", "a", "t"),
        ("if t:\n    a = b", "b t", "", "t"),
        ("if t:\n    a = 1\nelif u:\n    a = 2\nelse:\n    a = 3", "t u", "a", "t"),
        ("if t:\n    a = 1\nelse:\n    raise E\nb = a", "E t", "a b", "t"),
        ("a = b and c", "b c", "a", "b"),
        ("a = b or c or d", "b c d", "a", "b"),
        ("a = b if t else c", "b c t", "a", "t"),
        ("t = a < b < c", "a b c", "t", "a b"),
        ("if (a := f()) and (b := g()):\n    c = a + b", "f g", "a", "f"),
        ("if not (a and (b := c)):\n    raise E\nd = b", "E a c", "b d", "a"),
        ("while t:\n    a = b", "b t", "", "t"),
        ("while True:\n    a = b\n    if t:\n        break", "b t", "a", "b t"),
        ("while t:\n    a = 1\nelse:\n    a = 2", "t", "a", "t"),
        ("while t:\n    a = 1\n    break\nelse:\n    a = 2", "t", "a", "t"),
        ("for a in b:\n    c = a", "b", "", "b"),
        ("for a in b:\n    c = d\n    continue\n    e = 1\nelse:\n    c = 2", "b d", "c", "b"),
        ("for a in b:\n    s = s + a", "b s", "", "b"),
        ("try:\n    a = f()\nexcept E:\n    a = b", "E b f", "a", "f"),
        ("try:\n    a = f()\nexcept E:\n    pass", "E f", "", "f"),
        ("try:\n    a = f()\nexcept E:\n    raise", "E f", "a", "f"),
        ("try:\n    a = f()\nexcept E as e:\n    b = e", "E f", "", "f"),
        ("try:\n    f()\nexcept E:\n    a = 1\nelse:\n    a = 2", "E f", "a", "f"),
        ("try:\n    f()\nfinally:\n    a = b", "b f", "a", "b f"),
        ("try:\n    a = f()\nfinally:\n    b = a", "a f", "a b", "f"),
        ("try:\n    a = 1\n    f()\nexcept E:\n    c = a\nelse:\n    c = 0", "E f", "a c", "f"),
        ("try:\n    f()\n    a = 1\nexcept E:\n    c = a\nelse:\n    c = 0", "E a f", "c", "f"),
        ("try:\n    a = 1\nfinally:\n    g()", "g", "a", "g"),
        ("with m as a:\n    b = a", "m", "a", "m"),
        ("with m.lock:\n    b = 1", "m", "b", "m"),
        ("with suppress(E):\n    b = f()", "E f suppress", "", "E f suppress"),
        ("with open(p) as h:\n    b = h.read()", "open p", "b h", "open p"),
        ("match s:\n    case [a, b]:\n        c = a\n    case _:\n        c = 0", "s", "c", "s"),
        ("match s:\n    case {'k': v, **rest}:\n        c = v", "s", "", "s"),
        ("match s:\n    case P(x=a) as q if t:\n        c = a\n    case other:\n        c = other", "P s t", "c", "s"),
        ("del a", "", "", ""),
        ("a = 1\ndel a", "", "", ""),
        ("del a[b]", "a b", "", "a b"),
        ("import os.path as p, sys\nfrom m import x as y", "", "p sys y", ""),
        ("def g(x=a):\n    return x + b", "a b", "g", "a"),
        ("class C(B):\n    k = j\n    def m(self): return n", "B j n", "C", "B j"),
        ("class C:\n    k = 1\n    v = k\n    def m(self): return k", "k", "C", ""),
        ("g = lambda x, y=a: x + b", "a b", "g", "a"),
        ("r = [x for x in xs if x > y]", "xs y", "r", "xs"),
        ("r = [last := x for x in xs]", "xs", "r", "xs"),
        ("r = {k: v for k in ks for v in k.vs}", "ks", "r", "ks"),
        ("r = any(x in y for x in xs)", "any xs y", "r", "any xs"),
        ("r = (x + y for x in xs)", "xs y", "r", "xs"),
        ("x = [x for x in x]", "x", "x", "x"),
        ("assert t, m", "m t", "", "t"),
        ("r = f'{a!r:{w}}'", "a w", "r", "a w"),
        ("a = await f(b)", "b f", "a", "b f"),
        ("global a\na = 1", "", "a", ""),
        ("async def g():\n    return a", "a", "g", ""),
    ],
)
def test_reads_and_writes(code: str, exposed: str, definite: str, every: str) -> None:
    assert facts(code, "reads_before_write") == exposed
    assert facts(code, "definite_writes") == definite
    assert facts(code, "read_on_every_path") == every


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12")
def test_a_type_alias_is_evaluated_later() -> None:
    code = "type a = b\nc = a"
    assert facts(code, "definite_writes") == "a c"
    assert facts(code, "late_reads") == "b"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs Python 3.11")
def test_the_handlers_of_a_group_may_all_run() -> None:
    code = "try:\n    f()\nexcept* A:\n    a = 1\nexcept* B:\n    b = a"
    assert facts(code, "reads_before_write") == "A B a f"
    assert facts(code, "definite_writes") == ""


@pytest.mark.parametrize(
    ("code", "late_reads", "late_writes"),
    [
        ("g = lambda: a", "a", ""),
        ("g = (x for x in b for y in c)", "c", ""),
        ("r = sum(x + k for x in b)", "", ""),
        ("def g():\n    nonlocal a\n    a = b", "b", "a"),
        ("def g():\n    a = b\n    return lambda: a", "b", ""),
        ("def g():\n    global a\n    a = 1", "", ""),
        ("class C:\n    x = b", "", ""),
        ("class C:\n    def m(self): return [b for q in r]", "b r", ""),
        ("def g(a):\n    def h():\n        nonlocal a\n        a = 1", "", ""),
    ],
)
def test_what_happens_later(code: str, late_reads: str, late_writes: str) -> None:
    assert facts(code, "late_reads") == late_reads
    assert facts(code, "late_writes") == late_writes


def test_attributes_of_one_owner() -> None:
    code = """
        self.a.b = self.c[self.d].e
        self.f += other.g
        [self.h for self in self.i]
        f"{self.j=}"
        self.k()
        del self.l
    """
    assert facts(code, "reads", of="self") == "a c d f i j k"
    assert facts(code, "writes", of="self") == "f"
    assert facts(code, "deletes", of="self") == "l"


def test_an_augmented_assignment_names_the_node_of_the_tree() -> None:
    tree = ast.parse("self.n += 1")
    found = flow_of(tree.body, attributes("self")).events
    assert [(event.kind, event.node) for event in found] == [
        (Kind.READ, tree.body[0].target),  # type: ignore[attr-defined]
        (Kind.WRITE, tree.body[0].target),  # type: ignore[attr-defined]
    ]


def test_every_point_belongs_to_the_tree() -> None:
    tree = ast.parse("x.a += 1\ny[0] -= f(z)\nw **= 2\nfor self.i in q: pass")
    nodes = {id(node) for node in ast.walk(tree)}
    found = flow_of(tree.body, names())
    assert all(id(point.node) in nodes for point in found.points if point.risk is not Risk.NONE or point.key)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = 1", ["end 1"]),
        ("return x", ["return 1"]),
        ("if x:\n    return\ny = 1", ["return 2", "end 3"]),
        ("break", ["break 1"]),
        ("for i in x:\n    break", ["end 1"]),
        ("for i in x:\n    continue\nelse:\n    continue", ["continue 4"]),
        ("raise E", ["raise 1"]),
        ("try:\n    raise E\nexcept E:\n    pass", ["end 1"]),
        ("try:\n    return\nfinally:\n    break", ["break 4"]),
        ("def f():\n    return", ["end 1"]),
        ("while True:\n    pass", []),
        ("while True:\n    if x: return", ["return 2"]),
        ("try:\n    f()\nexcept BaseException:\n    raise", ["raise 4", "end 1"]),
    ],
)
def test_exits(code: str, expected: list[str]) -> None:
    found = flow(code).exits
    assert sorted(f"{way.kind.value} {way.node.lineno}" for way in found) == sorted(expected)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "returns"),
    [
        ("a = 1\nif t:\n    return a\nb = 2", "a"),
        ("if t:\n    a = 1\n    return\na = 2", "a"),
        ("if t:\n    return\na = 2", ""),
        ("try:\n    return f()\nfinally:\n    a = 1", "a"),
        ("for i in x:\n    a = i\n    return a", ""),
        ("raise E", ""),
    ],
)
def test_definite_at_returns(code: str, returns: str) -> None:
    assert facts(code, "definite_at_returns") == returns


def test_risks() -> None:
    found = flow(
        """\
        self.a = 1
        check(self.b)
        for item in [1, 2]:
            self.c = item + self.d
        raise E(self.e)
        """,
        of="self",
    )
    assert [place.line for place in found.risks_before_read("b")] == []
    assert [place.line for place in found.risks_before_read("d")] == [2]
    assert [place.line for place in found.risks_before_read("e")] == [2]
    assert {(place.line, place.risk) for place in found.risks_after_write("c")} == {(5, Risk.CALL), (5, Risk.RAISE)}
    assert [place.line for place in found.risks_after_write("a")] == [2, 5, 5]


def test_reads_that_a_handler_may_catch() -> None:
    code = "try:\n    a = self.a\nexcept AttributeError:\n    a = self.b\nfinally:\n    self.c()"
    assert facts(code, "guarded_reads", of="self") == "a"


def test_a_late_read_comes_after_everything_behind_it() -> None:
    found = flow("g = lambda: self.a\nh()", of="self")
    assert [place.line for place in found.risks_before_read("a")] == [2]


def test_a_loop_comes_around() -> None:
    found = flow("for i in range(3):\n    use(self.n)\n    self.n = i", of="self")
    assert found.reads_before_write == {"n"}
    assert [place.line for place in found.risks_after_write("n")] == [2]
    assert found.definite_writes == frozenset()
