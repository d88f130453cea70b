"""The walk over a range finds the commits that fail by themselves, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.bisect.__main__ import Unable, commits, main, work_tree
from tests.support.house import ROOT
from tests.support.repository import make_repository, run_git

TEST = b"from shop import price\n\n\ndef test_price():\n    assert price() == 3\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A base and three commits: the second breaks what the third mends."""
    root = tmp_path / "r"
    make_repository(root, {"shop.py": b"def price():\n    return 3\n", "tests/test_shop.py": TEST})
    run_git(root, "tag", "base")
    for body, subject in ((b"1 + 2", "a sum"), (b"4", "a slip"), (b"2 + 1", "mended")):
        (root / "shop.py").write_bytes(b"def price():\n    return " + body + b"\n")
        run_git(root, "commit", "-aqm", subject)
    return root


def walked(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tests.bisect", "--repository", str(root), *arguments]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120)
    return ran.returncode, ran.stdout + ran.stderr


def test_the_commit_that_fails_by_itself_is_named(repository: Path) -> None:
    before = run_git(repository, "status", "--porcelain", "--ignored"), run_git(repository, "for-each-ref")
    status, text = walked(repository, "base..HEAD", "--", "tests/test_shop.py")
    assert status == 1
    assert "2 of 3 commits pass" in text
    [failed] = [row for row in text.splitlines() if row.startswith("failed: ")]
    assert failed.endswith("a slip: pytest ended with 1")
    assert (run_git(repository, "status", "--porcelain", "--ignored"), run_git(repository, "for-each-ref")) == before
    assert run_git(repository, "worktree", "list").count("\n") == 1
    assert list((repository / ".git").glob("worktrees/*")) == []


def test_it_can_stop_at_the_first(repository: Path) -> None:
    status, text = walked(repository, "base..HEAD", "--first", "--", "tests/test_shop.py")
    assert status == 1
    assert "stopped: 1 commits were not looked at" in text
    assert "mended" not in text


def test_a_range_that_passes(repository: Path) -> None:
    assert walked(repository, "base..HEAD~2", "--", "tests/test_shop.py")[0] == 0


@pytest.mark.parametrize("range_", ["HEAD..HEAD", "HEAD", "nowhere..HEAD", "--all..HEAD"])
def test_what_can_not_be_walked_is_no_pass(repository: Path, range_: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unable):
        commits(repository, range_)
    if not range_.startswith("-"):
        assert main(["--repository", str(repository), range_]) == 2
        assert capsys.readouterr().err


def test_a_commit_without_the_tests_is_no_pass(repository: Path) -> None:
    status, text = walked(repository, "base..HEAD~2")
    assert status == 1
    assert "it has none of the tests" in text
    status, text = walked(repository, "base..HEAD~2", "--", "tests", "-k", "nothing_of_the_kind")
    assert status == 1
    assert "no test was found" in text


def test_the_work_tree_is_gone_after_an_error(repository: Path) -> None:
    with pytest.raises(KeyboardInterrupt), work_tree(repository, "HEAD") as tree:  # noqa: PT012 - the error is ours
        assert (tree / "shop.py").is_file()
        raise KeyboardInterrupt
    assert not tree.parent.exists()
    assert tree.parent.parent == Path(tempfile.gettempdir())
    assert run_git(repository, "worktree", "list").count("\n") == 1
