"""A range is what git says it is, in an order that can be checked; whatever cuts or bends history is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.repo import ranges
from codemods.repo.object_tree import NoSuchRevision
from codemods.repo.ranges import BadRange, CutHistory, EmptyRange, resolve_range
from codemods.repo.store import ObjectStore
from codemods.schema.errors import GitError
from tests.support.repository import make_repository, run_git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """main: base, one, merge of (side: two), three."""
    root = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    for name in ("one",):
        run_git(root, "commit", "-q", "--allow-empty", "-m", name)
    run_git(root, "switch", "-q", "-c", "side", "HEAD~1")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "two")
    run_git(root, "switch", "-q", "main")
    run_git(root, "merge", "-q", "--no-ff", "-m", "merge", "side")
    run_git(root, "commit", "-q", "--allow-empty", "-m", "three")
    return root


def subjects(root: Path, text: str) -> list[str]:
    return [run_git(root, "log", "-1", "--format=%s", commit).strip() for commit in resolve_range(root, text).commits]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HEAD", ["three"]),
        ("main~1..main", ["three"]),
        ("main~1..", ["three"]),
        ("HEAD^^..HEAD^", ["two", "merge"]),
        ("side..main", ["one", "merge", "three"]),
        ("main~3", ["base"]),
    ],
)
def test_ranges(root: Path, text: str, expected: list[str]) -> None:
    assert subjects(root, text) == expected


def test_parents_come_first(root: Path) -> None:
    found = subjects(root, "main~3..main")
    assert sorted(found[:2]) == ["one", "two"]
    assert found[2:] == ["merge", "three"]


def test_both_sides_of_a_fork_are_no_range(root: Path) -> None:
    with pytest.raises(BadRange) as caught:
        resolve_range(root, "side...main")
    assert "side..main" in caught.value.fix


@pytest.mark.parametrize("text", ["main..main", "main..side", "main.."])
def test_a_range_without_commits_is_an_error(root: Path, text: str) -> None:
    with pytest.raises(EmptyRange, match="holds no commit"):
        resolve_range(root, text)


@pytest.mark.parametrize("text", ["nope", "nope..main", "main..nope", "", "--all", "^main", "main..^side", "a b"])
def test_what_names_no_commit_is_refused(root: Path, text: str) -> None:
    with pytest.raises(NoSuchRevision):
        resolve_range(root, text)


def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not in a git repository"):
        resolve_range(tmp_path, "HEAD")


def test_grafts_and_replace_refs_are_not_heard(root: Path) -> None:
    tip, base = (run_git(root, "rev-parse", rev).strip() for rev in ("main", "main~3"))
    expected = subjects(root, "main~3..main")
    run_git(root, "replace", "--graft", tip, base)
    (root / ".git/info/grafts").write_text(f"{tip} {base}\n")
    assert [*resolve_range(root, f"{base}..{tip}").commits][-1] == tip
    assert len(resolve_range(root, f"{base}..{tip}").commits) == len(expected)


def test_a_shallow_boundary_in_the_range_is_an_error(root: Path, tmp_path: Path) -> None:
    """git would take the commit at the boundary for one that adds every file."""
    run_git(tmp_path, "clone", "-q", "--depth", "2", f"file://{root}", "shallow")
    shallow = tmp_path / "shallow"
    assert len(resolve_range(shallow, "HEAD~1..HEAD").commits) == 1
    run_git(shallow, "switch", "-q", "--orphan", "elsewhere")
    run_git(shallow, "commit", "-q", "--allow-empty", "-m", "x")
    with pytest.raises(CutHistory, match="inside the range"):
        resolve_range(shallow, "elsewhere..main")


def test_more_commits_than_anybody_checks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MAX_COMMITS", 3)
    with pytest.raises(BadRange, match="more than 3 commits"):
        resolve_range(root, "main~3..main")
    assert len(resolve_range(root, "side..main").commits) == 3


def test_a_directory_below_and_a_bare_repository(root: Path, tmp_path: Path) -> None:
    (root / "sub").mkdir()
    run_git(tmp_path, "clone", "-q", "--bare", "r", "bare.git")
    for place in (root / "sub", tmp_path / "bare.git"):
        assert len(resolve_range(place, "side..main").commits) == 3


def test_a_stale_commit_graph_is_not_believed(root: Path) -> None:
    run_git(root, "commit-graph", "write", "--reachable")
    place = root / ".git/objects/info/commit-graph"
    place.chmod(0o644)
    raw = bytearray(place.read_bytes())
    raw[len(raw) // 2 : -20] = bytes(len(raw[len(raw) // 2 : -20]))
    place.write_bytes(raw)
    assert subjects_by_object(root, "side..main") == ["one", "merge", "three"]


def subjects_by_object(root: Path, text: str) -> list[str]:
    with ObjectStore(root / ".git") as objects:
        return [objects.commit(commit).subject for commit in resolve_range(root, text).commits]


def test_objects_of_another_repository_are_read_and_missed(root: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", "--shared", "r", "borrower")
    assert subjects_by_object(tmp_path / "borrower", "HEAD~1..HEAD") == ["three"]
    root.rename(tmp_path / "gone")
    with pytest.raises(GitError):
        subjects_by_object(tmp_path / "borrower", "HEAD~1..HEAD")
