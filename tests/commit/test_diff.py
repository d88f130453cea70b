"""A diff is what git takes: applied to the files before, it gives the files after, byte for byte."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from codemods.commit.diff import unified
from codemods.schema.result import FileChange
from tests.support.repository import change, run_git, write_files


def applied(root: Path, changes: list[FileChange]) -> dict[str, bytes]:
    """The files below `root` after `git apply` of the diff to the files before."""
    write_files(root, {one.path: one.before for one in changes if one.before is not None})
    run_git(root, "init", "-q")
    text = unified(changes).encode("utf-8", "surrogateescape")
    if text:
        run_git(root, "apply", "--whitespace=nowarn", "-", stdin=text)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def after(changes: list[FileChange]) -> dict[str, bytes]:
    return {one.path: one.after for one in changes if one.after is not None}


def test_it_reads_as_git_writes_it() -> None:
    before = b"".join(b"line %d\n" % number for number in range(1, 31))
    changed = before.replace(b"line 2\n", b"line two\n").replace(b"line 29\n", b"") + b"more"
    assert unified([change("a.py", before, changed)]) == (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        "@@ -1,5 +1,5 @@\n line 1\n-line 2\n+line two\n line 3\n line 4\n line 5\n"
        "@@ -26,5 +26,5 @@\n line 26\n line 27\n line 28\n-line 29\n line 30\n+more\n\\ No newline at end of file\n"
    )


def test_new_removed_and_unchanged_files() -> None:
    changes = [change("new.py", None, b"1\n"), change("old.py", b"1\n2", None), change("same.py", b"x", b"x")]
    assert unified(changes) == (
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+1\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n"
        "@@ -1,2 +0,0 @@\n-1\n-2\n\\ No newline at end of file\n"
    )
    assert unified([]) == ""


@pytest.mark.parametrize(
    "changes",
    [
        [change("crlf.py", b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n")],
        [change("mixed.py", b"a\r\nb\nc\rd\r", b"a\nb\nc\rD\r")],
        [change("feed.py", b"a\n\x0c\nb\x0bc\x1cd\n", b"a\n\x0c\nb\x0bc\x1cD\n")],
        [change("latin.py", b"# \xe9\n\xff", b"# \xe9\n\xfe\n")],
        [change("bom.py", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n")],
        [change("end.py", b"a", b"a\n"), change("end2.py", b"a\n", b"a")],
        [change("empty.py", b"", b"a\n"), change("emptied.py", b"a\n", b"")],
        [change("pkg/__init__.py", None, b""), change("gone/__init__.py", b"", None), change("none.py", None, b"x")],
        [
            change("two words.py", b"a\n", b"b\n"),
            change("new words.py", None, b"b\n"),
            change("no words.py", b"b\n", None),
        ],
        [
            change('q"\\.py', b"a\n", b"b\n"),
            change("tab\tline\n\x01\x7f.py", None, b"b\n"),
            change("größe.py", b"", None),
        ],
        [change(os.fsdecode(b"latin-\xe9.py"), b"a\n", b"b\n")],
        [change("words.py", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n", b"+++ b/x\n--- a/x\n@@ -1 +1 @@\n")],
    ],
    ids=lambda changes: changes[0].path.encode("unicode_escape").decode(),
)
def test_git_applies_it(tmp_path: Path, changes: list[FileChange]) -> None:
    assert applied(tmp_path, changes) == after(changes)


LINES = st.sampled_from([b"a\n", b"b\n", b"\n", b"    c\n", b"d\r\n", b"\x0c\n", b"\xff\n", b"unique %d\n"])
TEXT = st.lists(LINES, max_size=30).map(
    lambda lines: b"".join(line % n if b"%" in line else line for n, line in enumerate(lines))
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A text and the same with some runs of lines cut, pasted elsewhere or replaced."""
    before = draw(TEXT)
    lines = before.split(b"\n")
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(lines)))
        end = draw(st.integers(start, min(len(lines), start + 6)))
        block = lines[start:end]
        del lines[start:end]
        place = draw(st.integers(0, len(lines)))
        lines[place:place] = draw(st.sampled_from([block, [], [b"new"], [*block, b"new"]]))
    return before, b"\n".join(lines)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(edited(), min_size=1, max_size=6))
@example(pairs=[(b"", b"\n"), (b"\n", b""), (b"a", b"a\nb"), (b"a\n" * 500, b"b\n" + b"a\n" * 499)])
def test_git_applies_whatever_was_edited(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[bytes, bytes]]
) -> None:
    changes = [change(f"f{number}.py", *pair) for number, pair in enumerate(pairs)]
    text = unified(changes)
    event("several hunks in a file" if text.count("@@ -") > text.count("diff --git") else "one hunk a file")
    assert applied(tmp_path_factory.mktemp("diff"), changes) == after(changes)


def test_a_moved_block_is_cut_and_pasted_and_nothing_else() -> None:
    functions = [f"def f{n}(x):\n    y = x\n    return y\n\n\n".encode() for n in range(200)]
    moved = [*functions[:20], *functions[21:150], functions[20], *functions[150:]]
    text = unified([change("m.py", b"".join(functions), b"".join(moved))])
    marked = [line for line in text.split("\n")[3:] if line[:1] in ("+", "-")]
    assert sorted(line[0] for line in marked) == ["+"] * 5 + ["-"] * 5


def test_many_edits_of_a_long_file_do_not_take_long() -> None:
    lines = [b"    value = self.x\n" if number % 3 else b"x%d = 1\n" % number for number in range(9_000)]
    edits = [line if number % 50 else b"# " + line for number, line in enumerate(lines)]
    started = time.perf_counter()
    text = unified([change("m.py", b"".join(lines), b"".join(edits))])
    assert time.perf_counter() - started < 1.5  # 0.05 s alone on the machine, minutes when it is quadratic
    assert text.count("\n+") == 180 + 1  # and the head's `+++`
