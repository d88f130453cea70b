"""A commit is the same tree as a clean check-out of it, whatever the work tree looks like now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemods.repo import object_tree
from codemods.repo.object_tree import CommitTree, NoSuchRevision
from codemods.repo.worktree import WorkTree
from codemods.schema.errors import ConfigError, GitError, SourceError
from tests.support.repository import make_repository, run_git, write_files

FILES = {
    "pkg/a.py": b"a\r\n\x0c\n",
    "pkg/empty.py": b"",
    "pkg/b c\n.py": b"\xff\n",
    os.fsdecode(b"\xe9.py"): b"no end of line",
    "env/pyvenv.cfg": b"",
    "env/x.py": b"",
    "gen/g_pb2.py": b"",
}


def test_it_lists_and_reads_what_a_clean_work_tree_does(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    (tmp_path / "link.py").symlink_to("pkg/a.py")
    run_git(tmp_path, "add", "-A")
    run_git(tmp_path, "commit", "-q", "-m", "link")
    work = WorkTree(tmp_path, ["*_pb2.py"])
    with CommitTree(tmp_path, "HEAD", ["*_pb2.py"]) as tree:
        assert tree.paths() == work.paths()
        assert list(tree.read_many(tree.paths())) == list(work.read_many(work.paths()))
    assert len(work.paths()) == 4


def test_the_work_tree_has_no_say(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"old\n"})
    write_files(tmp_path, {"a.py": b"new\n", "b.py": b""})
    with CommitTree(tmp_path, "main") as tree:
        assert tree.commit == run_git(tmp_path, "rev-parse", "HEAD").strip()
        assert tree.paths() == ("a.py",)
        assert tree.read("a.py") == b"old\n"


def test_another_file_can_be_read_in_the_middle_of_a_search(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"a", "b.py": b"b", "c.py": b"c"})
    with CommitTree(tmp_path, "HEAD") as tree:
        seen = [(path, raw, tree.read("c.py")) for path, raw in tree.read_many(["a.py", "b.py"])]
        assert seen == [("a.py", b"a", b"c"), ("b.py", b"b", b"c")]


def test_searches_pass_over_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_tree, "MAX_SEARCH_BYTES", 2)
    make_repository(tmp_path, {"a.py": b"1", "b.py": b"123", "c.py": b"12"})
    with CommitTree(tmp_path, "HEAD") as tree:
        assert dict(tree.read_many(tree.paths())) == {"a.py": b"1", "c.py": b"12"}
        assert tree.read("b.py") == b"123"


def test_a_root_below_the_top_and_a_bare_repository(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"python/pkg/a.py": b"1\n", "b.py": b""})
    run_git(tmp_path, "clone", "-q", "--bare", "r", "bare.git")
    with CommitTree(tmp_path / "r/python", "HEAD") as below, CommitTree(tmp_path / "bare.git", "main") as bare:
        assert below.paths() == ("pkg/a.py",)
        assert below.read("pkg/a.py") == b"1\n"
        assert bare.paths() == ("b.py", "python/pkg/a.py")


@pytest.mark.parametrize(
    "rev", ["nope", "", "-x", "HEAD..HEAD", "^HEAD", "HEAD:a.py", "HEAD@{99}", "a b", "0" * 40, "x\0y"]
)
def test_a_revision_that_names_no_commit_is_refused(tmp_path: Path, rev: str) -> None:
    make_repository(tmp_path, {"a.py": b""})
    with pytest.raises(NoSuchRevision, match="names no commit"):
        CommitTree(tmp_path, rev)


def test_a_tag_stands_for_its_commit(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b""})
    run_git(tmp_path, "tag", "-a", "-m", "x", "v1")
    with CommitTree(tmp_path, "v1") as tree:
        assert tree.commit == run_git(tmp_path, "rev-parse", "HEAD").strip()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not in a git repository"):
        CommitTree(tmp_path, "HEAD")
    with pytest.raises(ConfigError, match="not a directory"):
        CommitTree(tmp_path / "gone", "HEAD")
    make_repository(tmp_path, {"a.py": b""})
    (tmp_path / "later").mkdir()
    with pytest.raises(GitError, match="has no directory 'later/'"):
        CommitTree(tmp_path / "later", "HEAD").paths()
    with CommitTree(tmp_path, "HEAD") as tree, pytest.raises(SourceError) as caught:
        tree.read("b.py")
    assert caught.value.path == "b.py"


def test_a_missing_object_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    oid = run_git(tmp_path, "rev-parse", "HEAD:a.py").strip()
    (tmp_path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with CommitTree(tmp_path, "HEAD") as tree, pytest.raises(GitError, match=f"lacks the object {oid}"):
        tree.read("a.py")


def test_a_closed_tree_can_be_read_again(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    tree = CommitTree(tmp_path, "HEAD")
    tree.close()
    assert tree.read("a.py") == b"1\n"
    tree.close()
    assert tree.read("a.py") == b"1\n"
    tree.close()
