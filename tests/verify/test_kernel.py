"""The kernel on small functions: what it takes for the same, what it does not, and what it hands on as a duty."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.source.files import FileSet, MemoryTree
from codemods.verify.change import between
from codemods.verify.frames import Claims
from codemods.verify.infer import infer
from codemods.verify.kernel import Kernel
from codemods.verify.levels import Levels
from codemods.verify.names import Names


def concluded(before: str, after: str) -> Kernel:
    """What the kernel concludes of a module that was edited."""
    trees = [FileSet(MemoryTree({"m.py": dedent(text).encode()})) for text in (before, after)]
    change = between(*trees)
    old, new = Names(change.old), Names(change.new)
    levels = Levels(change, infer(change, old, new, ["m.py"]), old, new)
    levels.run()
    return levels.kernel


def residue(before: str, after: str) -> list[str]:
    return sorted(
        {f"{'new' if line.side else 'old'} {line.first}" for line in concluded(before, after).lines if line.reason}
    )


def function(body: str, head: str = "def f(self, a, b, c):") -> str:
    return head + "\n" + "\n".join("    " + line for line in body.split("\n")) + "\n"


SAME = [
    ("x = a\nreturn x + b", "y = a\nreturn y + b"),
    ("if a:\n    return b\nreturn c", "if not a:\n    return c\nreturn b"),
    ("if a:\n    return b\nelse:\n    return c", "if a:\n    return b\nreturn c"),
    ("if not (a and b):\n    return 1\nreturn 2", "if a and b:\n    return 2\nreturn 1"),
    ("if a:\n    if b:\n        c()", "if a and b:\n    c()"),
    ("if a is not b:\n    c()", "if not a is b:\n    c()"),
    ("for x in a:\n    if x:\n        b(x)", "for x in a:\n    if not x:\n        continue\n    b(x)"),
    ("x = a\nfor y in b:\n    x = x + y\nreturn x", "z = a\nfor y in b:\n    z = z + y\nreturn z"),
    ("try:\n    a()\nexcept b as e:\n    c(e)", "try:\n    a()\nexcept b as error:\n    c(error)"),
    ("with a as x:\n    return x", "with a as y:\n    return y"),
    ("x = b\nreturn a(x)", "return a(b)"),
    ("x = a if b else c\nreturn x", "if b:\n    x = a\nelse:\n    x = c\nreturn x"),
    ("try:\n    a()\nexcept b:\n    return None\nc()", "try:\n    a()\nexcept b:\n    pass\nelse:\n    c()"),
    ("return a(b)", "x = b\nreturn a(x)"),
    ("x, y = a\nreturn x, y", "p, q = a\nreturn p, q"),
    ("return [x for x in a if x]", "return [y for y in a if y]"),
    ("return a(k=b, n=c)", "return a(n=c, k=b)"),
    ("def g():\n    return a\nreturn g", "def g():\n    return a\nreturn g"),
    ("match a:\n    case [x, y]:\n        return x, y", "match a:\n    case [p, q]:\n        return p, q"),
    ("a()\nreturn None", "a()"),
    ("x = 1\nif a:\n    x = 2\nreturn x", "y = 1\nif a:\n    y = 2\nreturn y"),
]

DIFFERENT = [
    ("return a", "return b"),
    ("return a + b", "return b + a"),
    ("return a.x", "return a.y"),
    ("return a()", "return a"),
    ("a()\nb()", "b()\na()"),
    ("a()", "a()\na()"),
    ("if a:\n    b()", "if not a:\n    b()"),
    ("if a and b:\n    c()", "if a or b:\n    c()"),
    ("if a() and b():\n    c()", "if b() and a():\n    c()"),
    ("if a:\n    b()\nc()", "if a:\n    b()\n    c()"),
    ("for x in a:\n    b(x)\nreturn x", "for x in a:\n    b(x)\n    return x"),
    ("x = a\ny = b\nfor z in c:\n    x = y\nreturn x", "x = a\ny = b\nfor z in c:\n    y = x\nreturn x"),
    ("x = None\ny = None\nfor z in a:\n    x = z\nreturn x", "x = None\ny = None\nfor z in a:\n    y = z\nreturn x"),
    ("while a():\n    b()", "while b():\n    a()"),
    ("for x in a:\n    break\nelse:\n    b()", "for x in a:\n    break\nb()"),
    ("try:\n    a()\nexcept b:\n    c()", "try:\n    a()\nexcept c:\n    b()"),
    ("try:\n    a()\n    b()\nexcept c:\n    pass", "try:\n    a()\nexcept c:\n    pass\nb()"),
    ("try:\n    x = a()\nfinally:\n    b()\nreturn x", "x = a()\nb()\nreturn x"),
    ("with a:\n    b()\nc()", "with a:\n    b()\n    c()"),
    ("x = a()\nb()\nreturn x", "b()\nreturn a()"),
    ("x = a.v\nb()\nreturn x", "b()\nreturn a.v + 0"),
    ("x, y = a\nreturn x", "y, x = a\nreturn x"),
    ("return a(k=b(), n=c())", "return a(n=c(), k=b())"),
    ("return a(*b)", "return a(b)"),
    ("return a(**b)", "return a(b)"),
    ("return lambda x: x + a", "return lambda x: x + b"),
    ("return [x for x in a if x]", "return [x for x in a]"),
    ("return {x: y for x in a for y in b}", "return {x: y for y in b for x in a}"),
    ("return f'{a}'", "return f'{a!r}'"),
    ("return f'{a=}'", "return f'{b=}'"),
    ("return 1", "return True"),
    ("return 'a'", "return b'a'"),
    ("return a[b]", "return a[c]"),
    ("return a < b < c", "return a < b and b < c"),
    ("a.x = b", "a.y = b"),
    ("a.x = b", "c.x = b"),
    ("a.x = b\nc()", "c()\na.x = b\nreturn a.x"),
    ("a += b", "a = a + b"),
    ("a += b", "a -= b"),
    ("del a.x", "del a.y"),
    ("del a[b]", "del a[c]"),
    ("raise a", "raise b"),
    ("raise a from b", "raise a"),
    ("assert a, b", "assert a, c"),
    ("return a if b else c", "return c if b else a"),
    ("match a:\n    case 1:\n        b()", "match a:\n    case 2:\n        b()"),
    ("match a:\n    case [x, y]:\n        return x", "match a:\n    case [y, x]:\n        return x"),
    ("import os\nreturn os", "import sys as os\nreturn os"),
    ("global g\ng = a", "global h\nh = a"),
    ("x = a\ndef g():\n    return x\nx = b\nreturn g", "y = a\ndef g():\n    return y\nx = b\nreturn g"),
    ("return (yield a)", "return (yield b)"),
    ("if a:\n    x = b\nreturn x", "if a:\n    y = b\nreturn x"),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_the_same(before: str, after: str) -> None:
    assert residue(function(before), function(after)) == []


@pytest.mark.parametrize(("before", "after"), SAME)
def test_the_same_the_other_way_round(before: str, after: str) -> None:
    assert residue(function(after), function(before)) == []


@pytest.mark.parametrize(("before", "after"), DIFFERENT)
def test_different(before: str, after: str) -> None:
    assert residue(function(before), function(after)) != []


@pytest.mark.parametrize(("before", "after"), DIFFERENT)
def test_different_the_other_way_round(before: str, after: str) -> None:
    assert residue(function(after), function(before)) != []


@pytest.mark.parametrize(
    ("before", "after", "duty"),
    [
        (
            "class K:\n    def f(self):\n        if self.a:\n            g(self.b)\n",
            "class K:\n    def f(self):\n        h(a=self.a, b=self.b)\n\n\ndef h(*, a, b):\n    if a:\n        g(b)\n",
            "eager self.b",
        ),
        (
            "class K:\n    def f(self):\n        self.m()\n        return self.a\n",
            (
                "class K:\n    def f(self):\n        return h(self, a=self.a)\n\n\n"
                "def h(k, *, a):\n    k.m()\n    return a\n"
            ),
            "stable self.a",
        ),
        (
            "class K:\n    def f(self, c):\n        for x in c:\n            g(self.a)\n            self.m()\n",
            (
                "class K:\n    def f(self, c):\n        h(self, c, a=self.a)\n\n\n"
                "def h(k, c, *, a):\n    for x in c:\n        g(a)\n        k.m()\n"
            ),
            "stable self.a",
        ),
        (
            "class K:\n    def f(self):\n        self.a = 1\n        g()\n",
            "class K:\n    def f(self):\n        self.a = h()\n\n\ndef h():\n    a = 1\n    g()\n    return a\n",
            "late self.a",
        ),
        (
            "class K:\n    def f(self):\n        g()\n",
            "class K:\n    def f(self):\n        self.m()\n\n    def m(self):\n        g()\n",
            "dispatch m.py",
        ),
        (
            "def f():\n    import a.b\n    return a.b.c()\n",
            "import a.b\n\n\ndef f():\n    return a.b.c()\n",
            "eager-import ",
        ),
    ],
)
def test_what_the_text_does_not_show_is_a_duty(before: str, after: str, duty: str) -> None:
    found = concluded(before, after)
    assert [line for line in found.lines if line.reason] == []
    kind = duty.partition(" ")[0]
    assert [f"{each.kind} {each.what[0]}" for each in found.duties if each.kind == kind] == [duty]


def test_a_wrong_claim_makes_residue_and_nothing_else() -> None:
    trees = [
        FileSet(MemoryTree({"m.py": text})) for text in (b"def f(a):\n    return a\n", b"def g(a):\n    return -a\n")
    ]
    change = between(*trees)
    names = Names(change.old), Names(change.new)
    claims = Claims(pairs={("m.py", "f"): ("m.py", "g")}, changed=frozenset({"m.py"}))
    levels = Levels(change, claims, *names)
    levels.run()
    assert {line.first for line in levels.kernel.lines if line.reason} == {2}


_NAMES = st.sampled_from(["a", "b", "c", "x", "y"])
_LEAVES = st.one_of(
    _NAMES,
    st.builds("{}.{}".format, _NAMES, st.sampled_from(["p", "q"])),
    st.builds("{}({})".format, st.sampled_from(["g", "h"]), _NAMES),
    st.sampled_from(["1", "None", "'t'"]),
)
_EXPRESSIONS = st.one_of(_LEAVES, st.builds("{} + {}".format, _LEAVES, _LEAVES), st.builds("not {}".format, _LEAVES))
_SIMPLE = st.one_of(
    st.builds("{} = {}".format, _NAMES, _EXPRESSIONS),
    st.builds("a.{} = {}".format, st.sampled_from(["p", "q"]), _EXPRESSIONS),
    st.builds("g({})".format, _EXPRESSIONS),
    st.builds("return {}".format, _EXPRESSIONS),
    st.builds("{} += {}".format, _NAMES, _EXPRESSIONS),
)


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def _compound(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.one_of(
        st.builds(lambda test, body: [f"if {test}:", *_indented(body)], _EXPRESSIONS, inner),
        st.builds(
            lambda test, body, other: [f"if {test}:", *_indented(body), "else:", *_indented(other)],
            _EXPRESSIONS, inner, inner,
        ),
        st.builds(lambda name, body: [f"for {name} in c:", *_indented(body)], _NAMES, inner),
        st.builds(lambda body, other: ["try:", *_indented(body), "except E:", *_indented(other)], inner, inner),
        st.builds(lambda body: ["with c:", *_indented(body)], inner),
    )  # fmt: skip


_STATEMENTS: st.SearchStrategy[list[str]] = st.recursive(
    st.builds(lambda line: [line], _SIMPLE),
    lambda inner: st.one_of(_compound(inner), st.builds(list.__add__, inner, inner)),
)
_BODIES = st.lists(_STATEMENTS, min_size=1, max_size=5).map(lambda parts: [line for part in parts for line in part])


@settings(max_examples=30, deadline=None)
@given(_BODIES)
def test_a_body_is_the_same_as_itself_under_other_names(body: list[str]) -> None:
    before = function("\n".join(body), "def f(a, b, c, x, y):")
    tree = ast.parse(before)
    other = {"x": "left", "y": "right"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = other.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = other.get(node.arg, node.arg)
    assert residue(before, ast.unparse(tree)) == []


@settings(max_examples=30, deadline=None)
@given(_BODIES, st.data())
def test_a_statement_that_is_added_is_seen(body: list[str], data: st.DataObject) -> None:
    before = function("\n".join(body), "def f(a, b, c):")
    tree = ast.parse(before)
    found = [getattr(node, "body", None) for node in ast.walk(tree)][1:]
    blocks: list[list[ast.stmt]] = [block for block in found if isinstance(block, list) and block]
    block = data.draw(st.sampled_from(blocks))
    block.insert(data.draw(st.integers(0, len(block) - 1)), ast.parse("noticed()").body[0])
    after = ast.unparse(ast.fix_missing_locations(tree))
    assert residue(before, after) != [] or _is_dead(ast.parse(after))


def _is_dead(tree: ast.Module) -> bool:
    """Whether the statement that was added stands behind a `return` of its own block, or of blocks around it."""
    for node in ast.walk(tree):
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, [])
            for at, statement in enumerate(block if isinstance(block, list) else []):
                if "noticed()" in ast.unparse(statement) and any(_leaves(each) for each in block[:at]):
                    return True
    return False


def _leaves(node: ast.stmt) -> bool:
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.If):
        return any(map(_leaves, node.body)) and any(map(_leaves, node.orelse))
    if isinstance(node, ast.Try):
        return any(map(_leaves, node.body)) and all(any(map(_leaves, each.body)) for each in node.handlers)
    return isinstance(node, ast.With) and any(map(_leaves, node.body))


@pytest.mark.parametrize("store", ["b().x = 1", "b().x += 1", "b[0].x = 1", "del b().x", "b().x, c = a"])
def test_a_store_into_what_a_call_gives_may_stand_where_nothing_corresponds(store: str) -> None:
    block = f"if a:\n    for y in c:\n        {store}\n    a()\nreturn c"
    assert residue(function(block), function("return c"))
    assert residue(function("return c"), function(block))
