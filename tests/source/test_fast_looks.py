"""Short cuts of reading: each gives what the long way gives, over our own sources and over odd texts."""

from __future__ import annotations

import ast
import gc
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.source import parse
from codemods.source.files import FileSet, MemoryTree
from codemods.source.fstrings import outermost, outermost_in
from codemods.source.nodes import below, statements, walk
from codemods.source.text import Text

OURS = sorted(Path(__file__).parents[2].glob("codemods/*/*.py"))[::7]
_SKIPPED = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_on_our_own_sources(path: Path) -> None:
    body = path.read_bytes()
    tree = ast.parse(body)
    every = list(ast.walk(tree))
    assert list(walk(tree)) == [node for node in every if not isinstance(node, _SKIPPED)]
    assert set(statements(tree)) == {node for node in every if isinstance(node, ast.stmt)}
    assert set(outermost_in(Text("a.py", body), tree)) == set(outermost(tree))


def test_f_strings_in_odd_places() -> None:
    body = b"""\
@d(
    f"{a}",
)
def f(x=("b"
         f"{x}")): return [
    lambda: rf'''
{y}''' for z in (F"{z}",)]
class C(metaclass=M[fr"{q}"]): v: f"{w}"
"""
    tree = ast.parse(body)
    assert len(set(outermost(tree))) == 6
    assert set(outermost_in(Text("a.py", body), tree)) == set(outermost(tree))


@given(st.lists(st.sampled_from(["a", "\n", "\r", "\r\n", "\x0c", "\u2028", "\x1c", "é"]), max_size=12).map("".join))
def test_lines_start_where_python_starts_them(text: str) -> None:
    body = text.encode()
    assert Text("a.py", body).line_starts == [0, *(match.end() for match in re.finditer(rb"\r\n|\n|\r", body))]


def test_a_file_is_parsed_once_however_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """First lightly, then in full; the f-strings stand where they stand in both."""
    files = FileSet(MemoryTree({"a.py": b"def once(x):\n    return f'{x} {x!r} {x:{x}}'\n"}))
    parsed: list[str] = []
    real = parse.parse_tree

    def counting(path: str, body: bytes) -> ast.Module:
        parsed.append(path)
        return real(path, body)

    monkeypatch.setattr(parse, "parse_tree", counting)
    _, tree = parse.light_tree(files, "a.py")
    source = parse.load(files, "a.py")
    assert parse.light_tree(files, "a.py")[1] is source.tree is tree
    assert parsed == ["a.py"]
    names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
    assert {source.segment(node) for node in names} == {b"x"}
    assert all(source.parents[node] for node in names)


def test_what_is_forgotten_is_collected_when_nobody_else_collects(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[bool] = []
    monkeypatch.setattr(gc, "collect", lambda: collected.append(True))
    monkeypatch.setattr(parse, "_COLLECT_AFTER", 100)
    monkeypatch.setattr(parse, "_litter", [])
    source = parse.Source("a.py", b"x = 1\n" * 10)
    was_enabled = gc.isenabled()
    try:
        gc.enable()
        for _ in range(4):
            parse.forget(source)
        assert collected == []
        gc.disable()
        for _ in range(4):
            parse.forget(source)
        assert collected == [True, True]
    finally:
        if was_enabled:
            gc.enable()


_MANY_KINDS = """\
match x:
    case {'a': 1, **rest}: pass
    case [None, *y] | C(a=True): pass
f(*a, **{**b, 'c': lambda p, /, q=1, *, r, s=2: (yield)})
global g
import a.b as c
"""
_PARAMETERS_OF_TYPES = "type A[T: int] = T\ndef h[*U, **P](): nonlocal z\n"


def test_every_kind_of_node_is_walked() -> None:
    tree = ast.parse(_MANY_KINDS + _PARAMETERS_OF_TYPES * (sys.version_info >= (3, 12)))
    wanted = [node for node in ast.walk(tree) if not isinstance(node, _SKIPPED)]
    assert list(walk(tree)) == wanted
    assert below(tree) == wanted[1:]
    assert below(tree) is below(tree)
