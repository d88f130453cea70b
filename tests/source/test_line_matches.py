"""Lines that are tried only where a word stands are found as if all were."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemods.source.line_matches import line_matches

PATTERNS = {
    rb"^([ \t]*)class[ \t]+(\w+)[ \t]*[(:]": (b"class",),
    rb"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)": (b"def", b"class"),
    rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)": (b"from",),
    rb"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)": (b"import",),
}
PARTS = [
    b"class",
    b"def",
    b"async",
    b"from",
    b"import",
    b"as",
    b"A",
    b"b.c",
    b"(",
    b")",
    b":",
    b"\n",
    b"\n",
    b" ",
    b"\t",
    b"\r",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=60))
def test_the_same_as_every_line(pattern: bytes, parts: list[bytes]) -> None:
    raw, compiled = b"".join(parts), re.compile(pattern, re.MULTILINE)
    assert [each.span() for each in line_matches(compiled, raw, PATTERNS[pattern])] == [
        each.span() for each in compiled.finditer(raw)
    ]


def test_several_on_lines_of_their_own() -> None:
    raw = b"class A:\n  async def f(): class\n\tdef  g():\nfrom a import (b,\nc)\nclass\tB(A):\n"
    compiled = {pattern: re.compile(pattern, re.MULTILINE) for pattern in PATTERNS}
    found = {
        pattern: [each[0] for each in line_matches(compiled[pattern], raw, PATTERNS[pattern])] for pattern in PATTERNS
    }
    assert list(found.values()) == [
        [b"class A:", b"class\tB("],
        [b"class A", b"  async def f", b"\tdef  g", b"class\tB"],
        [b"from a import (b,\nc)"],
        [],
    ]
