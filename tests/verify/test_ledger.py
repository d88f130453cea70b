"""Every changed line stands in the ledger once, and only what means nothing to Python is certified without a mark."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from codemods.schema.verdict import Explained, Ledger, Mark, Problem, Side, Verdict
from codemods.source.files import FileSet, MemoryTree
from codemods.verify import ledger as ledger_module
from codemods.verify.change import Opaque, TreeChange, between
from codemods.verify.ledger import account
from codemods.verify.line_diff import changed_lines, split_lines


def change(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> TreeChange:
    return between(FileSet(MemoryTree(old)), FileSet(MemoryTree(new)))


def ledger(before: bytes, after: bytes, explained: Explained | None = None, *, path: str = "m.py") -> Ledger:
    return account(change({path: before}, {path: after}), explained or Explained())


def kinds(made: Ledger) -> dict[str, int]:
    """Kind, or reason, -> number of lines."""
    found: dict[str, int] = {}
    for entry in made.entries:
        name = entry.mark.reason or entry.mark.kind
        found[name] = found.get(name, 0) + entry.lines
    return found


def num_changed(before: bytes, after: bytes) -> int:
    return sum(
        hunk.old_end - hunk.old_start + hunk.new_end - hunk.new_start
        for hunk in changed_lines(split_lines(before), split_lines(after))
    )


CODE = b'def f(a):\n    """Says\n\n    # so."""\n    return [\n        a,\n    ]\n'
LINE = st.sampled_from(
    [b"x = 1\n", b"\n", b"# c\n", b"if x:\n", b"    y = 2\n", b'"""\n', b"x = \\\n", b"\xc3\xa9 = 1\r\n", b"("]
)
MARKS = st.dictionaries(st.integers(1, 12), st.sampled_from([Mark("move"), Mark("", reason="no", code="U102")]))


@given(st.lists(LINE, max_size=10), st.lists(LINE, max_size=10), MARKS, MARKS)
def test_the_sum_is_the_number_of_changed_lines(
    old: list[bytes], new: list[bytes], old_marks: dict[int, Mark], new_marks: dict[int, Mark]
) -> None:
    before, after = b"".join(old), b"".join(new)
    made = ledger(before, after, Explained(old={"m.py": old_marks}, new={"m.py": new_marks}))
    event(made.verdict.value)
    assert made.lines == num_changed(before, after)
    assert made.lines == made.certified + sum(entry.lines for entry in made.residue)
    places = [(entry.side, number) for entry in made.entries for number in range(entry.line, entry.line + entry.lines)]
    assert len(places) == len(set(places)) == made.lines


def test_marks_stand_and_runs_of_one_mark_are_one_entry() -> None:
    moved, differs = Mark("move"), Mark("", reason="differs", code="U102", function="f")
    marks = {1: moved, 2: moved, 3: differs}
    made = ledger(b"", b"a = 1\nb = 1\nc = 1\nd = 1\n", Explained(new={"m.py": marks}))
    assert [(entry.line, entry.lines, entry.mark.kind, entry.mark.code) for entry in made.entries] == [
        (1, 2, "move", ""),
        (3, 1, "", "U102"),
        (4, 1, "", ""),
    ]
    assert made.verdict is Verdict.MIXED


def test_what_has_no_mark_is_residue_of_its_function() -> None:
    made = ledger(
        b"", b"class C:\n    @d\n    def f(self):\n        def g():\n            return 1\n        return g\n"
    )
    assert {entry.mark.reason for entry in made.entries} == {"nothing explains it"}
    assert [entry.mark.function for entry in made.entries] == ["C", "C.f", "C.f.<locals>.g", "C.f"]
    assert made.verdict is Verdict.OTHER


WHOLE = st.sampled_from([
    b"x = 1\n", b"x = ( 1 )\n", b"x = 2\n", b"y = 2; z = 3\n", b"\n", b"    \n", b"# c\n", b"if x: y = 1\n",
    b"if x:\n    y = 2\n", b"if x:\n    y = (2)\n", b"if x:\n    y = 2\nelse:\n    y = 1\n", b's = """a\nb"""\n',
    b's = """\nx = 1\n"""\n', b"x = \\\n1\n", b"(\n1)\n", b"(\n\n1)\n", b"def f():\n    return x\n",
    b"@d\ndef f():\n    return x\n", b"x = 1\r\n", b"if x:\r\n  y = 2\r\n", b's = """a\r\nb"""\r\n',
])  # fmt: skip
HALF = st.sampled_from([b'"""\n', b"    y = 2\n", b"else:\n", b"    \n", b"# c\n", b"(\n", b")\n", b"\\\n", b"x = 1"])


def parsed(raw: bytes) -> str | None:
    try:
        return ast.dump(ast.parse(raw))
    except SyntaxError:
        return None


@settings(max_examples=400)
@given(
    st.lists(WHOLE, min_size=1, max_size=6), st.lists(WHOLE | HALF, max_size=3), st.integers(0, 6), st.integers(0, 2)
)
def test_without_marks_mechanical_means_the_same_tree(
    old: list[bytes], new: list[bytes], at: int, dropped: int
) -> None:
    before, after = b"".join(old), b"".join([*old[:at], *new, *old[at + dropped :]])
    made = ledger(before, after)
    if before != after and parsed(before) is not None and parsed(after) is not None:
        event(made.verdict.value)
        if made.verdict is Verdict.MECHANICAL:
            assert parsed(before) == parsed(after)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (b"x = 1\ny = 1\n", b"x = 1\n\n\x0c\ny = 1\n", "layout"),
        (b"x = 1\n", b"#!/usr/bin/env python\n# type: ignore\nx = 1\n", "comment"),
        (b"x = [\n1]\n", b"x = [\n# one\n1]\n", "comment"),
        (b'x = ("a"\n"b")\n', b'x = ("a"\n# and\n"b")\n', "comment"),
        (b"x = 1\ny = 2\n", b"x = 1\r\ny = 2\r\n", "layout"),
        (b'x = """a\nb"""\n', b'x = """a\r\nb"""\r\n', "layout"),
        (b"x = 1", b"x = 1\n", "layout"),
        (b"x = 1\n", b"\xef\xbb\xbfx = 1\n", "layout"),
        (b"# -*- coding: utf-8 -*-\nx = 1\n", b"x = 1\n", "comment"),
        (CODE, CODE.replace(b"[\n        a,\n    ]", b"[a]"), "format"),
        (b"x = 'a'\n", b'x = "a"\n', "format"),
        (b"x = f(1)  # one\n", b"x = f(1)  # two\n", "format"),
        (b"def f(a):\n    x = ( 1 )\n\ny = 1\n", b"def f(a):\n    x = (1)\n\ny = 1\n", "format"),
        (b"@d( 1 )\nclass C:\n  x = 1\n", b"@d(1)\nclass C:\n    x = 1\n", "format"),
    ],
)
def test_what_means_nothing_is_certified(before: bytes, after: bytes, kind: str) -> None:
    made = ledger(before, after)
    assert made.verdict is Verdict.MECHANICAL
    assert kind in kinds(made)
    assert made.problems == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CODE, CODE.replace(b"Says\n\n", b"Says\n\n\n")),
        (CODE, CODE.replace(b"# so", b"# not")),
        (b'x = f"""\n{a}"""\n', b'x = f"""\n\n{a}"""\n'),
        (b'x = b"""a\\\nb"""\n', b'x = b"""a\\\n# b\nb"""\n'),
        (b"x = 'a\\\nb'\n", b"x = 'a\\\n\\\nb'\n"),
        (b"x = 1\n", b"x = 1.0\n"),
        (b"x = 0.0\n", b"x = -0.0\n"),
        (b"x = True\n", b"x = 1\n"),
        (b"x = 'a'\n", b"x = b'a'\n"),
        (b"if a:\n    x = 1\ny = 2\n", b"if a:\n    x = 1\n    y = 2\n"),
        (b"x = 1\ny = 2\n", b"y = 2\nx = 1\n"),
        (b"def f(a): pass\n", b"def f(a, /): pass\n"),
        (b"if a: x = ( 1 )\n", b"if b: x = (1)\n"),
        (b"if a:\n    x = ( 1 ); y = 2\n", b"if a:\n    x = (1); y = 3\n"),
        (b"if a:\n    x = 1\nelse: y = 1\n", b"if a:\n    x = 1\nelif b: y = 1\n"),
        (b"async def f(): pass\n", b"def f(): pass\n"),
        (b"x = a\n+b\n", b"x = a \\\n+b\n"),
        (b"x = a \\\n+b\n", b"x = a \\\n\n+b\n"),
        (b"import a\nimport b\n", b"import b\nimport a\n"),
        (b"try:\n    a\nexcept E:\n    b\n", b"try:\n    a\nexcept F:\n    b\n"),
    ],
)
def test_what_means_something_is_not(before: bytes, after: bytes) -> None:
    made = ledger(before, after)
    assert made.residue
    assert made.verdict is not Verdict.MECHANICAL


def test_a_string_that_swallows_code_is_not_format() -> None:
    before = b"a = 1\nx = 0\nb = 1\ny = 0\nc = 1\n"
    after = b'a = 1\ns = """\nx = 0\n"""\nb = 1\ny = 0\nc = 1\n'
    assert kinds(ledger(before, after)) == {"nothing explains it": 2}


def test_the_encoding_of_a_file_is_no_comment() -> None:
    made = ledger(b"# coding: utf-8\nx = '\xc3\xa9'\n", b"# coding: latin-1\nx = '\xc3\xa9'\n")
    assert kinds(made) == {"the file's encoding changed": 2}
    assert [problem.code for problem in made.problems] == ["encoding-change"]


def test_a_cookie_that_slides_out_of_reach_is_said() -> None:
    """No line of the cookie changes; what it means does."""
    made = ledger(b"# coding: latin-1\nx = '\xc3\xa9'\n", b"#\n#\n# coding: latin-1\nx = '\xc3\xa9'\n")
    assert [problem.code for problem in made.problems] == ["encoding-change"]
    assert made.verdict is not Verdict.MECHANICAL


def test_a_new_file_of_another_encoding_is_said() -> None:
    made = account(change({}, {"m.py": b"# coding: latin-1\nx = '\xe9'\n"}), Explained())
    assert [problem.code for problem in made.problems] == ["encoding-change"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"x = (\n", "can't parse it"),
        (b"x = 1\n\0", "NUL byte"),
        (b"#\n#\nx = '\xff'\n", "not UTF-8"),
        (b"x = '\xff'\n", "can't be decoded"),
        (b"x = 1\ry = 2\n", "carriage returns"),
        (b"# coding: nonsense\nx = 1\n", "can't be decoded"),
        (b"x = " + b"(" * 5000 + b")" * 5000 + b"\n", "can't parse it"),
        (b"x = " + b"-" * 200_000 + b"1\n", "can't parse it"),
    ],
)
def test_what_is_no_python_is_residue_whatever_the_marks_say(raw: bytes, words: str) -> None:
    marks = {number: Mark("move") for number in range(1, len(split_lines(raw)) + 1)}
    made = ledger(b"", raw + b"\n# more\n", Explained(new={"m.py": marks}))
    assert made.certified == 0
    assert all(words in entry.mark.reason for entry in made.residue)


def test_other_files_are_documents_or_residue() -> None:
    made = account(change({}, {"a.md": b"x\n", "b.rst": b"x\n", "c.toml": b"x\n", "d.txt": b"\n"}), Explained())
    assert kinds(made) == {"documentation": 2, "not Python": 2}


def test_right_to_left_controls_are_found_in_new_lines_of_any_file() -> None:
    evil = "x = 1  # \u202e gnihton\n".encode()
    both = account(change({"a.py": evil, "b.md": b""}, {"a.py": b"x = 1\n", "b.md": evil}), Explained())
    assert both.problems == (
        Problem("b.md", 1, "bidi-control", "a right-to-left control character makes this line look other than it is"),
    )


def test_what_is_not_read_is_residue() -> None:
    made = account(
        TreeChange(
            old=FileSet(MemoryTree({})),
            new=FileSet(MemoryTree({})),
            changes=(),
            opaque=(Opaque(path="lib", what="a submodule", old_lines=1, new_lines=1),),
        ),
        Explained(),
    )
    assert [(entry.side, entry.lines, entry.mark.reason) for entry in made.entries] == [
        (Side.OLD, 1, "is a submodule"),
        (Side.NEW, 1, "is a submodule"),
    ]


def test_findings_are_sorted_said_once_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "MAX_FINDINGS_OF_A_CODE", 2)
    many = [Problem("a.py", line, "U119", "read") for line in (3, 1, 2, 1)]
    made = ledger(b"", b"", Explained(problems=[*many, Problem("a.py", 9, "U120", "call")]))
    found = [(problem.line, problem.code) for problem in made.problems]
    assert found == [(1, "U119"), (2, "U119"), (9, "U120"), (0, "U119")]
    assert made.problems[-1].message == "1 more of this kind"
