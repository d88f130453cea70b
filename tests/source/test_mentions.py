"""The first look by bytes: whatever binds a name or sets an attribute is let through, and most of the rest is not."""

from __future__ import annotations

import ast

import pytest

from codemods.source.mentions import may_bind, sets_attribute

BINDS = [
    "x = 1", "x: int", "x: int = 1", "a = x = 1", "a, x = b", "(a, x) = b", "[x, a] = b", "*x, a = b", "(a, *x) = b",
    "(\n    a,\n    x\n) = b", "x, = b", "a[x], x = b",
    "def x(): ...", "async def x(): ...", "class x: ...", "class A: x = 1", "class A: a = 1; x = 2", "if a: x = 1",
    "a = 1; x = 2", "for x in a: ...", "for a, x in b: ...", "for (a, x) in b: ...", "[a for a, x in b]",
    "with a as x: ...", "with a as (b, x): ...", "with a as b, c as x: ...", "import x", "import a, x", "import a as x",
    "import x.y", "from a import x", "from a import b, x", "from a import (\n    b,\n    x\n)", "from a import b as x",
    "from a import b; import x", "try: ...\nexcept A as x: ...", "f(x := 1)", "if (x := a): ...", "while x := a: ...",
    "match a:\n    case x: ...", "match a:\n    case A(b=x): ...", "match a:\n    case [1, *x]: ...",
    "match a:\n    case {'k': x}: ...", "class A:\n    x = 1", "class A: x: int", "try: x = 1\nfinally: ...",
    "x += 1", "(x) = 1",
]  # fmt: skip
NOT = [
    "a.x = 1",
    "print(x)",
    "a = x + 1",
    "if x: ...",
    "y = 1",
    "x()",
    "x.y = 1",
    "x == 1",
    "a[x] = 1",
    "return_ = x.y",
]
SETS = [
    "a.x = 1", "a.x: int = 1", "a.x: int", "a.b.x = 1", "a.x = b = 1", "b = a.x = 1", "a.x, b = c", "b, a.x = c",
    "(b, a.x) = c", "[a.x, b] = c", "(b, (c, a.x)) = d", "b, (c, a.x) = d", "*a.x, b = c", "(\n    b,\n    a.x\n) = c",
    "(\n    a.x,\n) = c", "a.x += 1", "a.x //= 2", "a.x **= 2", "a.x <<= 1", "a.x |= b", "a.x @= b",
    "for a.x in b: ...", "for b, a.x in c: ...", "for (b, a.x) in c: ...", "[1 for a.x in b]",
    "with b as a.x: ...", "with b as (c, a.x): ...", "with b as a.x, c as d: ...", "with (b as a.x): ...",
    "with (\n    b as a.x\n): ...", "for a().x in b: ...", "a[0].x = 1", "f(1).x = 2",
    "(f(1).x, b) = c", "(b, f(1).x) = c",
]  # fmt: skip
NOT_SETS = [
    "a.x == 1",
    "print(a.x)",
    "return_ = a.x",
    "if a.x in b: ...",
    "f(a.x)",
    "a.x()",
    "del a.x",
    "x = 1",
    "a.y = 1",
]


@pytest.mark.parametrize("text", BINDS)
def test_what_binds(text: str) -> None:
    tree = ast.parse(text)
    bound = [getattr(node, "id", "") for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store)]
    bound += [getattr(node, "name", "") or "" for node in ast.walk(tree)]
    bound += [
        part for node in ast.walk(tree) if isinstance(node, ast.alias) for part in (node.asname, node.name[:1]) if part
    ]
    assert "x" in bound
    assert may_bind(text.encode(), b"x")


@pytest.mark.parametrize("text", SETS)
def test_what_sets(text: str) -> None:
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute) and node.attr == "x"]
    assert any(isinstance(node.ctx, ast.Store) for node in nodes)
    assert sets_attribute(text.encode(), b"x")


@pytest.mark.parametrize("text", NOT)
def test_what_binds_nothing(text: str) -> None:
    assert not may_bind(text.encode(), b"x")


@pytest.mark.parametrize("text", NOT_SETS)
def test_what_sets_nothing(text: str) -> None:
    assert not sets_attribute(text.encode(), b"x")
