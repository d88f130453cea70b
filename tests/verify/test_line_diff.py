"""The line diff leaves out nothing, invents nothing, and is as short as it can be."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from codemods.verify import line_diff
from codemods.verify.line_diff import Hunk, changed_lines, split_lines
from tests.support.repository import make_repository, run_git, write_files

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"    d\n"]), max_size=14)


def kept(old: list[bytes], new: list[bytes], hunks: list[Hunk]) -> tuple[list[bytes], list[bytes]]:
    """What is left of each side without the changed lines."""
    left, right = list(old), list(new)
    for hunk in reversed(hunks):
        del left[hunk.old_start : hunk.old_end]
        del right[hunk.new_start : hunk.new_end]
    return left, right


def num_common(old: list[bytes], new: list[bytes]) -> int:
    """The length of a longest common subsequence, by the textbook."""
    row = [0] * (len(new) + 1)
    for one in old:
        above, row = row, [0]
        for at, other in enumerate(new):
            row.append(above[at] + 1 if one == other else max(above[at + 1], row[at]))
    return row[-1]


@given(LINES, LINES)
def test_it_is_right_and_minimal(old: list[bytes], new: list[bytes]) -> None:
    hunks = changed_lines(old, new)
    left, right = kept(old, new, hunks)
    event(f"{min(len(hunks), 4)} hunks")
    assert left == right
    assert len(left) == num_common(old, new)
    ends = [(hunk.old_end, hunk.new_end) for hunk in hunks]
    starts = [(hunk.old_start, hunk.new_start) for hunk in hunks[1:]]
    assert all(end[0] < start[0] and end[1] < start[1] for end, start in zip(ends, starts, strict=False))


@given(LINES, LINES)
def test_above_the_limit_it_is_still_right(old: list[bytes], new: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_diff, "MAX_BITS", 4)
        left, right = kept(old, new, changed_lines(old, new))
    assert left == right


def test_above_the_limit_lines_that_occur_once_hold_it_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_diff, "MAX_BITS", 30)
    old = [b"x\n", b"one\n", b"x\n", b"x\n", b"two\n", b"y\n", b"x\n"]
    new = [b"y\n", b"one\n", b"x\n", b"two\n", b"x\n", b"y\n", b"y\n"]
    left, right = kept(old, new, changed_lines(old, new))
    assert left == right
    assert {b"one\n", b"two\n"} <= set(left)


def test_counts_are_those_of_git(tmp_path: Path) -> None:
    """On texts without lines that occur over and over; git gives up being minimal at those."""
    old = b"".join(b"line %d\n" % number for number in range(300))
    new = b"".join(
        b"line %d\n" % (number if number % 17 else number + 1000) for number in (*range(40, 300), *range(30))
    )
    texts = {
        "moved.py": (old, new),
        "end.py": (b"a\nb", b"a\nb\n"),
        "feed.py": (b"a\n\x0c\nb\r\n", b"a\nb\n"),
        "grown.py": (b"a\nb\nc\n", b"a\nx\nb\ny\nc\nz\n"),
        "emptied.py": (b"a\nb\n", b""),
    }
    make_repository(tmp_path, {path: before for path, (before, _) in texts.items()})
    write_files(tmp_path, {path: after for path, (_, after) in texts.items()})
    said = run_git(tmp_path, "diff", "--numstat", "--minimal")
    expected = {line.split("\t")[2]: tuple(line.split("\t")[:2]) for line in said.splitlines()}
    for path, (before, after) in texts.items():
        hunks = changed_lines(split_lines(before), split_lines(after))
        added = sum(hunk.new_end - hunk.new_start for hunk in hunks)
        removed = sum(hunk.old_end - hunk.old_start for hunk in hunks)
        assert (str(added), str(removed)) == expected[path], path


def test_a_new_function_comes_whole() -> None:
    old = b"def a():\n    return 1\n\n\ndef c():\n    return 1\n".splitlines(keepends=True)
    new = b"def a():\n    return 1\n\n\ndef b():\n    return 1\n\n\ndef c():\n    return 1\n".splitlines(keepends=True)
    (hunk,) = changed_lines(old, new)
    assert b"".join(new[hunk.new_start : hunk.new_end]) == b"def b():\n    return 1\n\n\n"


@pytest.mark.parametrize("number", [3_000, 20_000])
def test_long_texts_with_nothing_in_order_take_no_time(number: int) -> None:
    """Repeated lines, reversed: the worst case of the usual algorithm. A hang would be noticed by the run's limit."""
    old = [b"%d\n" % (at % (number // 3)) for at in range(number)]
    hunks = changed_lines(old, old[::-1])
    left, right = kept(old, old[::-1], hunks)
    assert left == right


@pytest.mark.parametrize(
    ("raw", "lines"),
    [(b"", []), (b"a", [b"a"]), (b"a\n", [b"a\n"]), (b"a\rb\x0cc\n\nd", [b"a\rb\x0cc\n", b"\n", b"d"])],
)
def test_lines_end_at_line_feeds_alone(raw: bytes, lines: list[bytes]) -> None:
    assert split_lines(raw) == lines
