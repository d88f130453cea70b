"""What a string expression comes to, and where its text stands."""

from __future__ import annotations

import ast

import pytest

from codemods.source.binder import table
from codemods.source.parse import Source
from codemods.source.string_text import WILD, fold, text_of

TEXTS = [
    ("'a.b'", "a.b"),
    ("'a.' 'b'", "a.b"),
    ("('a.'\n 'b')", "a.b"),
    (r"'a\x41\n\u00e9'", "aA\né"),
    (r"r'a\x41'", r"a\x41"),
    ("f'a.{x}'", f"a.{WILD}"),
    ("f'{M}.b{{}}'", "pkg.m.b{}"),
    ("f'{M!r}.b'", f"{WILD}.b"),
    ("M + '.b'", "pkg.m.b"),
    ("x + '.b'", f"{WILD}.b"),
    ("'%s.b' % M", "pkg.m.b"),
    ("'%s.%s' % (M, x)", f"{WILD}.{WILD}"),
    ("'{}.b'.format(M)", "pkg.m.b"),
    ("'{a}.b'.format(a=M)", f"{WILD}.b"),
    ("f'{__name__}.b'", "here.b"),
    ("f'{N}'", "pkg.m.n"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_texts(text: str, expected: str) -> None:
    source = Source("m.py", f"M = 'pkg.m'\nN = M + '.n'\nt = {text}\n".encode())
    node = source.tree.body[-1].value  # type: ignore[attr-defined]
    found = text_of(source, node, table(source).module, module="here")
    assert found is not None
    assert found.value == expected


@pytest.mark.parametrize("text", ["1", "x()", "b'a'", "x", "[1]"])
def test_no_texts(text: str) -> None:
    source = Source("m.py", f"t = {text}\n".encode())
    assert text_of(source, source.tree.body[-1].value, table(source).module) is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "'é.name'",
        "'x.' 'é.name'",
        r"'\x41.name'",
        "f'{x}é.name'",
        "'''\r\né.name'''",
        "M + '.name'",
        "'%s.name' % M",
        "'{}.name'.format(M)",
        "f'{{.name'",
    ],
)
def test_spans(text: str) -> None:
    source = Source("m.py", f"M = 'pkg.m'\r\nt = {text}\r\n".encode())
    found = text_of(source, source.tree.body[-1].value, table(source).module)  # type: ignore[attr-defined]
    assert found is not None
    at = found.value.index("name")
    span = found.span(at, at + 4)
    assert span is not None
    assert source.body[slice(*span)] == b"name"


def test_a_text_that_is_put_together_has_no_span() -> None:
    source = Source("m.py", b"t = 'na' 'me'\n")
    found = text_of(source, source.tree.body[0].value)  # type: ignore[attr-defined]
    assert found is not None
    assert found.span(0, 4) is None


def test_the_whole_of_a_literal() -> None:
    source = Source("m.py", b"t = 'a' + x + 'b'\nu = '%s' % x\nv = 'a{}'.format(x)\nw = f'a{x}'\nz = x % 'a'\n")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant):
            whole = fold(source, node)
            statement = source.statement_of(node)
            is_whole = whole is statement.value  # type: ignore[attr-defined]
            assert is_whole is (statement.targets[0].id != "z")  # type: ignore[attr-defined]
