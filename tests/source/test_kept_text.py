"""What f-strings print of their own source stays, whatever becomes of the expression."""

from __future__ import annotations

import ast
import sys

import pytest

from codemods.source.kept_text import keep_printed
from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits

FIELDS = [
    'f"{x=}"',
    'f"{x=!s}|{x=!r:>9}|{x=:>9}|{x = }"',
    'f"{ x + 1=}"',
    "f'{[x, \"x\"]=}'",
    'f"{ {1: x}=}"',
    'f"{x}{y=}"',
    "f\"{f'{x=}'}\"",
    'f"{y:{x=}}"',
    'rf"\\d{x=}"',
    'f"a" f"{x=}" "{x=}"',
    'f"""{x=}\n{\nx\n=}"""',
]
NESTED = ['f"{f"{x=}"=}"', 'f"{d["x"] + x=}"', "f'{x + len('''\n''')=}'"]


def renamed(text: str) -> str:
    """x becomes longer, wherever it stands as code in a field."""
    source = Source("m.py", f"t = {text}\n".encode())
    body = source.body
    spans = [(source.start(node), source.end(node)) for node in walk(source)]
    kept = keep_printed(source, spans)
    assert kept.unkept == ()
    edits = [*(Edit(start, end, b"longer") for start, end in spans), *kept.edits]
    return apply_edits(body, edits).decode()


def walk(source: Source) -> list[ast.Name]:
    return [node for node in ast.walk(source.tree) if isinstance(node, ast.Name) and node.id == "x"]


def value(text: str, **names: object) -> object:
    found: dict[str, object] = dict(names)
    exec(text, found)
    return found["t"]


@pytest.mark.parametrize("text", FIELDS if sys.version_info < (3, 12) else FIELDS + NESTED)
@pytest.mark.parametrize("x", [3, "a'b"])
def test_the_printed_text_is_the_same(text: str, x: object) -> None:
    if "x + " in text or "+ x" in text:
        x = 3 if "d[" not in text else 2
    names = {"y": 7, "d": {"x": 1}}
    try:
        before = value(f"t = {text}\n", x=x, **names)
    except (TypeError, ValueError):
        pytest.skip("this value has no such format")
    assert value(renamed(text), longer=x, **names) == before


def test_a_raw_string_can_not_hold_its_own_quote() -> None:
    source = Source("m.py", b"t = rf'''{x + len(\"'\")=}'''\n")
    kept = keep_printed(source, [(10, 11)])
    assert (kept.edits, kept.unkept) == ((), (9,))


def test_fields_that_do_not_change_are_left_alone() -> None:
    source = Source("m.py", b't = f"{y=}"\n')
    assert keep_printed(source, [(0, 1)]).edits == ()
