"""Patterns mean what git says they mean: git is asked about each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from codemods.repo.gitignore import Ignored, parse
from tests.support.repository import make_repository, run_git, write_files

NAMES = ("a", "b", "ab", "a.py", "[a", "a]", "-", "a b ", "\\a", "!a", "#a", "*", "Z", "9", "_", "^")
PATHS = (*NAMES, "a/b", "a/a", "a/b/a.py", "x/a/b", "x/y/a", "a.py/b", "b/x/a", "x/y/z/b", "ab/b")
PATTERNS = st.lists(
    st.sampled_from(
        ["a", "b", "x", "/", "*", "**", "?", "[", "]", "!", "^", "-", "\\", " ", "[:alpha:]", ".py", "#", "Z"]
    ),
    min_size=1,
    max_size=6,
).map("".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("ignore"))


def git_hides(repository: Path, lines: list[str]) -> list[str]:
    """Of PATHS, as files that do not exist, those for which git finds a deciding pattern that is not negated."""
    write_files(repository, {".gitignore": "\n".join(lines).encode()})
    asked = "".join(f"{path}\0" for path in PATHS).encode()
    said = run_git(repository, "check-ignore", "--no-index", "-z", "--stdin", stdin=asked, check=False)
    return said.split("\0")[:-1]


def we_hide(lines: list[str]) -> list[str]:
    ignored = Ignored().below("", lines)

    def is_hidden(path: str) -> bool:
        above = path.rpartition("/")[0]
        return bool(above) and (is_hidden(above) or ignored.hides(above, is_directory=True))

    return [path for path in PATHS if is_hidden(path) or ignored.hides(path, is_directory=False)]


@settings(max_examples=120)
@given(lines=st.lists(PATTERNS, min_size=1, max_size=3))
@example(lines=["*", "!a", "!*/"])
@example(lines=["a", "!/a"])
@example(lines=["**/a", "b/**", "x/**/b", "a**/b"])
@example(lines=["[a-b]", "[!a-b]?", "[^a]*", "[]a]*", "[a-", "[[:alpha:][:digit:]]", "[[:nope:]]", "[z-a]"])
@example(lines=["a\\", "\\a", "\\\\a", "\\!a", "\\#a", "a b\\ ", "a b  ", "a\\ "])
@example(lines=["***/b", "/", "//", "/**", "!/x/", "[a\\]]*", "[\\a-\\b]", "[-a]", "[a-]"])
def test_patterns_mean_what_git_says(repository: Path, lines: list[str]) -> None:
    expected = git_hides(repository, lines)
    event(f"{min(len(expected), 3)} or more hidden")
    assert we_hide(lines) == expected


def test_a_deeper_file_overrides_and_its_patterns_start_where_it_lies() -> None:
    top = Ignored().below("", ["*.log", "!keep.log"])
    deep = top.below("pkg/", ["!*.log", "/gen", "keep.log"])
    assert top.hides("pkg/x.log", is_directory=False)
    assert not deep.hides("pkg/x.log", is_directory=False)
    assert deep.hides("pkg/sub/keep.log", is_directory=False)
    assert deep.hides("pkg/gen", is_directory=True)
    assert not deep.hides("pkg/sub/gen", is_directory=True)


@pytest.mark.parametrize("line", ["", "   ", "# x", "!", "/", "\r"])
def test_lines_that_are_no_patterns(line: str) -> None:
    assert parse(line) is None
