"""Commits beside the work tree: right in every entry, and nothing but a new branch is left behind, or not even that."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codemods.commit import branch as branch_module
from codemods.commit.branch import NotInBase, write_branch
from codemods.commit.preflight import (
    DetachedHead,
    DirtyTree,
    NotARepository,
    ShallowClone,
    UnbornHead,
    UnfinishedOperation,
)
from codemods.repo.object_tree import NoSuchRevision
from codemods.repo.objects import BadBranchName, BranchExists, NoIdentity
from codemods.schema.errors import GitError, InternalError, UnmovedError
from codemods.schema.result import Phase, PlanResult
from tests.support.repository import change, draft, make_repository, plan_result, run_git, status_and_index, write_files

EDIT = plan_result(draft(change("a.py", b"1\n", b"2\n")))
FILES = {"a.py": b"1\n", "pkg/b.py": b"b\n"}


def refs(root: Path) -> str:
    return run_git(root, "for-each-ref", "--format=%(refname) %(objectname)")


def committed(root: Path, rev: str) -> dict[str, bytes]:
    names = run_git(root, "ls-tree", "-r", "-z", "--name-only", rev).split("\0")[:-1]
    return {
        name: run_git(root, "cat-file", "blob", f"{rev}:{name}").encode("utf-8", "surrogateescape") for name in names
    }


def refused(root: Path, error: type[UnmovedError], fix: str, *, result: PlanResult = EDIT, name: str = "split",
            base: str | None = None) -> None:  # fmt: skip
    """Raises unless the write is refused with `error`, exit code 2 and a next move that has `fix` in it."""
    before = refs(root)
    with pytest.raises(error) as caught:
        write_branch(root, result, name, base)
    assert caught.value.exit_code == 2
    assert fix in caught.value.fix
    assert refs(root) == before


def test_one_commit_a_draft_on_top_of_head(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    write_files(tmp_path, {"untracked.py": b"mine\n"})
    before = status_and_index(tmp_path)
    result = plan_result(
        draft(change("a.py", b"1\n", b"2\n"), phase=Phase.PREP, subject="Make f static", body="make-static f"),
        draft(change("a.py", b"2\n", b""), change("pkg/c.py", None, b"2\n"), subject="Move f"),
        draft(change("pkg/b.py", b"b\n", None), phase=Phase.POST, subject="Inline b"),
    )
    written = write_branch(tmp_path, result, "split/leaf")
    assert status_and_index(tmp_path) == before
    log = run_git(tmp_path, "log", "--reverse", "--format=%H %s", "main..split/leaf").splitlines()
    assert log == [f"{one.commit} {one.subject}" for one in written]
    assert [(one.step, one.phase) for one in written] == [(1, Phase.PREP), (2, Phase.MOVE), (3, Phase.POST)]
    assert committed(tmp_path, written[0].commit) == {"a.py": b"2\n", "pkg/b.py": b"b\n"}
    assert committed(tmp_path, written[1].commit) == {"a.py": b"", "pkg/b.py": b"b\n", "pkg/c.py": b"2\n"}
    assert committed(tmp_path, "split/leaf") == {"a.py": b"", "pkg/c.py": b"2\n"}
    assert run_git(tmp_path, "log", "-1", "--format=%an %ae %B", written[0].commit) == (
        "Test test@example.invalid Make f static\n\nmake-static f\n\n"
        "Unmoved-Plan: leaf-helpers\nUnmoved-Step: 1\nUnmoved-Phase: prep\n\n"
    )
    run_git(tmp_path, "fsck", "--strict", "--no-dangling")


def test_a_root_below_the_top_changes_only_what_is_below(tmp_path: Path) -> None:
    make_repository(tmp_path, {"python/a.py": b"1\n", "python/pkg/x.py": b"", "docs/a.py": b"1\n"})
    write_files(tmp_path, {"docs/a.py": b"dirty, but not below the root\n"})
    before = status_and_index(tmp_path)
    write_branch(tmp_path / "python", EDIT, "split")
    assert status_and_index(tmp_path) == before
    assert committed(tmp_path, "split") == {"python/a.py": b"2\n", "python/pkg/x.py": b"", "docs/a.py": b"1\n"}


def test_modes_links_and_submodules_stay(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": b""})
    root = make_repository(tmp_path / "outer", {"a.py": b"1\n", "run.py": b"#!x\n", "tool.py": b"#!y\n"})
    for name in ("run.py", "tool.py"):
        (root / name).chmod(0o755)
    (root / "link.py").symlink_to("a.py")
    run_git(root, "submodule", "--quiet", "add", str(inner), "sub")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "more")
    result = plan_result(
        draft(change("run.py", b"#!x\n", b"#!x\n1\n")),
        draft(change("tool.py", b"#!y\n", None), change("renamed.py", None, b"#!y\n"), change("new.py", None, b"#!y")),
        draft(change("renamed.py", b"#!y\n", b"#!y\n2\n")),
    )
    write_branch(root, result, "split")
    modes = {line.split("\t")[1]: line[:6] for line in run_git(root, "ls-tree", "-r", "split").splitlines()}
    assert modes == {
        ".gitmodules": "100644",
        "a.py": "100644",
        "link.py": "120000",
        "new.py": "100644",
        "renamed.py": "100755",
        "run.py": "100755",
        "sub": "160000",
    }
    for name in ("sub", "link.py"):
        assert run_git(root, "rev-parse", f"split:{name}") == run_git(root, "rev-parse", f"HEAD:{name}")


def test_odd_names_and_bytes(tmp_path: Path) -> None:
    names = ["a b.py", "größe.py", "two\nlines.py", 'q"\\.py', os.fsdecode(b"latin-\xe9.py")]
    make_repository(tmp_path, dict.fromkeys(names, b"\xff\r\n\x0c"))
    result = plan_result(
        draft(
            *(change(name, b"\xff\r\n\x0c", b"\xfe\r\n\x0c") for name in names), change("new dir/\té.py", None, b"\0")
        )
    )
    write_branch(tmp_path, result, "split")
    assert committed(tmp_path, "split") == {**dict.fromkeys(names, b"\xfe\r\n\x0c"), "new dir/\té.py": b"\0"}


def test_a_plan_without_commits_makes_no_branch(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    before = refs(tmp_path)
    assert write_branch(tmp_path, plan_result(), "split") == ()
    assert refs(tmp_path) == before


def test_uncommitted_changes_are_refused_unless_a_base_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    write_files(tmp_path, {"pkg/b.py": b"dirty\n"})
    refused(tmp_path, DirtyTree, "--base REV")
    run_git(tmp_path, "add", "-A")
    refused(tmp_path, DirtyTree, "commit or stash")
    write_branch(tmp_path, EDIT, "split", "HEAD")
    assert committed(tmp_path, "split")["pkg/b.py"] == b"b\n"


def test_a_detached_head_is_refused_unless_a_base_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    run_git(tmp_path, "checkout", "-q", "--detach")
    refused(tmp_path, DetachedHead, "git switch NAME")
    assert write_branch(tmp_path, EDIT, "split", "HEAD")


def test_a_shallow_clone_is_refused_unless_a_base_is_named(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", {})
    write_files(origin, FILES)
    run_git(origin, "add", "-A")
    run_git(origin, "commit", "-q", "-m", "second")
    run_git(tmp_path, "clone", "-q", "--depth=1", origin.as_uri(), "shallow")
    refused(tmp_path / "shallow", ShallowClone, "git fetch --unshallow")
    write_branch(tmp_path / "shallow", EDIT, "split", "main")
    assert committed(tmp_path / "shallow", "split")["a.py"] == b"2\n"


def test_nowhere_to_commit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as caught:
        write_branch(tmp_path, EDIT, "split")
    assert "git init" in caught.value.fix
    make_repository(tmp_path / "unborn")
    refused(tmp_path / "unborn", UnbornHead, "git commit")
    make_repository(tmp_path / "r", FILES)
    run_git(tmp_path, "clone", "-q", "--bare", "r", "bare.git")
    refused(tmp_path / "bare.git", NotARepository, "clone")
    refused(tmp_path / "bare.git", NotARepository, "clone", base="main")


def test_an_unfinished_merge_is_refused(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    run_git(tmp_path, "switch", "-q", "-c", "side")
    run_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "side")
    run_git(tmp_path, "switch", "-q", "main")
    run_git(tmp_path, "merge", "-q", "--no-ff", "--no-commit", "side")
    refused(tmp_path, UnfinishedOperation, "git merge --abort")


def test_branch_and_base_names_are_checked(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    refused(tmp_path, BranchExists, "another name", name="main")
    refused(tmp_path, BranchExists, "another name", name="main/x")
    refused(tmp_path, BadBranchName, "such as", name="a b")
    refused(tmp_path, NoSuchRevision, "a commit hash", base="nope")


def test_without_an_identity_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repository(tmp_path / "r", FILES)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name)
    write_files(tmp_path, {"config": b"[user]\n\tuseConfigOnly = true\n"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    refused(root, NoIdentity, "user.email")


def test_a_base_that_is_not_what_the_plan_read_is_refused(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    write_files(tmp_path, {"untracked.py": b"x\n"})
    (tmp_path / "link.py").symlink_to("a.py")
    run_git(tmp_path, "add", "link.py")
    run_git(tmp_path, "commit", "-q", "-m", "link")
    for one, fix in (
        (change("a.py", b"other\n", b"2\n"), "again"),
        (change("a.py", None, b"2\n"), "again"),
        (change("untracked.py", b"x\n", b"y\n"), "git add untracked.py"),
        (change("link.py", b"1\n", b"2\n"), "commit it"),
        (change("pkg", b"1\n", b"2\n"), "commit it"),
    ):
        refused(tmp_path, NotInBase, fix, result=plan_result(draft(one)))
    refused(tmp_path, GitError, "below a directory", result=plan_result(draft(change("a.py/x.py", None, b""))))


def test_line_ends_are_converted_as_on_a_commit_by_hand(tmp_path: Path) -> None:
    make_repository(tmp_path, {".gitattributes": b"*.py text eol=crlf\n", "a.py": b"1\n", "b.py": b"1\n"})
    run_git(tmp_path, "rm", "-q", "--cached", "-r", ".")
    run_git(tmp_path, "reset", "-q", "--hard")
    assert (tmp_path / "a.py").read_bytes() == b"1\r\n"
    result = plan_result(
        draft(change("a.py", b"1\r\n", b"2\r\n")),
        draft(change("a.py", b"2\r\n", b"3\r\n4\r\n")),
    )
    write_branch(tmp_path, result, "split")
    assert committed(tmp_path, "split")["a.py"] == b"3\n4\n"
    assert committed(tmp_path, "split~1")["a.py"] == b"2\n"


def test_a_draft_without_changes_is_a_fault_of_ours(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    refused(tmp_path, InternalError, "report", result=plan_result(draft(change("a.py", b"1\n", b"2\n")), draft()))


@pytest.mark.parametrize("step", ["blob_ids", "write_commit", "create_branch"])
def test_an_interrupt_leaves_no_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    make_repository(tmp_path, FILES)
    before = (refs(tmp_path), status_and_index(tmp_path))
    original: Callable[..., object] = getattr(branch_module, step)
    calls = []

    def interrupted(*args: object, **named: object) -> object:
        calls.append(step)
        if len(calls) == 2 or step == "create_branch":
            raise KeyboardInterrupt
        return original(*args, **named)

    monkeypatch.setattr(branch_module, step, interrupted)
    result = plan_result(draft(change("a.py", b"1\n", b"2\n")), draft(change("a.py", b"2\n", b"3\n")))
    with pytest.raises(KeyboardInterrupt):
        write_branch(tmp_path, result, "split")
    assert (refs(tmp_path), status_and_index(tmp_path)) == before


def test_somebody_else_may_be_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path, FILES)
    original: Callable[..., str] = getattr(branch_module, step := "write_commit")

    def slow(*args: object, **named: object) -> str:
        run_git(tmp_path, "branch", "split", "main")
        return original(*args, **named)

    monkeypatch.setattr(branch_module, step, slow)
    with pytest.raises(BranchExists):
        write_branch(tmp_path, EDIT, "split")
    assert run_git(tmp_path, "rev-parse", "split") == run_git(tmp_path, "rev-parse", "main")
