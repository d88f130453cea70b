"""What a file had once, by the commits that lead to HEAD."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.repo.history import History
from tests.support.repository import make_repository, run_git, write_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(
        tmp_path / "repo", {"pkg/m.py": b"def old_one(): ...\ndef kept(): ...\n", "n.py": b"x = 1\n"}
    )
    write_files(root, {"pkg/m.py": b"def kept(): ...\n"})
    return root


def test_what_is_not_committed_yet(root: Path) -> None:
    assert History(root).held("pkg/m.py", "old_one") is True
    assert History(root).held("pkg/m.py", "kept") is True
    assert History(root).held("pkg/m.py", "old") is False
    assert History(root).held("n.py", "old_one") is False
    assert History(root / "pkg").held("m.py", "old_one") is True


def test_what_is_committed_and_what_was_renamed(root: Path) -> None:
    run_git(root, "commit", "-q", "-a", "-m", "gone")
    assert History(root).held("pkg/m.py", "old_one") is True
    run_git(root, "mv", "pkg/m.py", "pkg/k.py")
    run_git(root, "commit", "-q", "-m", "renamed")
    assert History(root).held("pkg/k.py", "old_one") is True
    assert History(root).held("pkg/k.py", "another") is False
    assert History(root, "HEAD~2").held("pkg/k.py", "old_one") is False


def test_where_nothing_tells(root: Path, tmp_path: Path) -> None:
    run_git(root, "commit", "-q", "-a", "-m", "gone")
    run_git(tmp_path, "clone", "-q", "--depth=1", root.as_uri(), "shallow")
    plain, empty = tmp_path / "plain", make_repository(tmp_path / "empty")
    plain.mkdir()
    assert History(tmp_path / "shallow").held("pkg/m.py", "old_one") is None
    assert History(tmp_path / "shallow").held("pkg/m.py", "kept") is True
    assert History(plain).held("pkg/m.py", "old_one") is None
    assert History(empty).held("pkg/m.py", "old_one") is None
    assert History(root, "no-such-rev").held("pkg/m.py", "old_one") is None
