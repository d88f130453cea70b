"""Objects and branches are written as git itself would, and only where nobody else has put one meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.repo.objects import (
    BadBranchName,
    BranchExists,
    Entry,
    Identity,
    NoIdentity,
    TreeWriter,
    blob_ids,
    check_branch_name,
    create_branch,
    filtered_blob,
    user_identity,
    write_commit,
)
from codemods.schema.errors import GitError
from tests.support.repository import make_repository, run_git, write_files

WHO = Identity(
    tuple(
        (f"GIT_{role}_{what}", value)
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "N"), ("EMAIL", "n@example.invalid"), ("DATE", "@1 +0000"))
    )
)


def head(root: Path) -> str:
    return run_git(root, "rev-parse", "HEAD").strip()


def rewritten(root: Path, changes: dict[str, bytes | None]) -> str:
    """The tree that TreeWriter makes of HEAD."""
    ids = blob_ids(root, (raw for raw in changes.values() if raw is not None), store=True)
    with TreeWriter(root, head(root)) as tree:
        for path, raw in changes.items():
            tree.put(path, None if raw is None else Entry("100644", ids[raw]))
        return tree.write()


@pytest.mark.parametrize(
    "changes",
    [
        {"a.py": b"new\n"},
        {"pkg/sub/deep.py": b"new\n", "pkg/b.py": None},
        {"pkg/sub/deep.py": None},  # the directory goes with its last file
        {"fresh/one/two.py": b"", "fresh/one.py": b""},
        {
            "pkg.py": b"",
            "pkg-x": b"",
            "pkg0": b"",
            "pkg/!": b"",
        },  # git sorts a directory as if its name ended in a slash
        {"a b\n\"'\t.py": b"odd\n", "größe/é.py": b""},
        {"a.py": None, "pkg/b.py": None, "pkg/sub/deep.py": None},
    ],
    ids=lambda changes: ",".join(repr(path) for path in changes),
)
def test_a_rewritten_tree_is_the_one_git_would_make(tmp_path: Path, changes: dict[str, bytes | None]) -> None:
    make_repository(tmp_path, {"a.py": b"1\n", "pkg/b.py": b"2\n", "pkg/sub/deep.py": b"3\n"})
    made = rewritten(tmp_path, changes)
    write_files(tmp_path, {path: raw for path, raw in changes.items() if raw is not None})
    for path in (path for path, raw in changes.items() if raw is None):
        (tmp_path / path).unlink()
    run_git(tmp_path, "add", "-A")
    assert made == run_git(tmp_path, "write-tree").strip()


def test_a_tree_can_be_written_again_and_again(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n", "pkg/b.py": b"2\n"})
    ids = blob_ids(tmp_path, [b"x", b"y"], store=True)
    with TreeWriter(tmp_path, head(tmp_path)) as tree:
        assert tree.write() == f"{head(tmp_path)}^{{tree}}"
        tree.put("pkg/b.py", None)
        tree.put("new/c.py", Entry("100644", ids[b"x"]))
        first = tree.write()
        tree.put("pkg/b.py", Entry("100755", ids[b"y"]))
        tree.put("new/c.py", None)
        second = tree.write()
    assert run_git(tmp_path, "ls-tree", "-r", "--name-only", first).split() == ["a.py", "new/c.py"]
    assert run_git(tmp_path, "ls-tree", "-r", second, "pkg/").split()[0] == "100755"
    assert run_git(tmp_path, "ls-tree", "-r", "--name-only", second).split() == ["a.py", "pkg/b.py"]


def test_submodules_links_and_modes_stay(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": b""})
    root = make_repository(tmp_path / "outer", {"pkg/a.py": b"1\n", "pkg/run.sh": b"#!/bin/sh\n"})
    run_git(root, "submodule", "--quiet", "add", str(inner), "pkg/sub")
    (root / "pkg/link").symlink_to("a.py")
    (root / "pkg/run.sh").chmod(0o755)
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "more")
    made = rewritten(root, {"pkg/a.py": b"2\n"})
    before = run_git(root, "ls-tree", "-r", "HEAD").splitlines()
    after = run_git(root, "ls-tree", "-r", made).splitlines()
    assert [line for line in before if "pkg/a.py" not in line] == [line for line in after if "pkg/a.py" not in line]
    assert sorted(line[:6] for line in after) == ["100644", "100644", "100755", "120000", "160000"]


def test_nothing_is_put_through_a_link_or_into_a_submodule(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner", {"i.py": b""})
    root = make_repository(tmp_path / "outer", {"a.py": b"1\n"})
    run_git(root, "submodule", "--quiet", "add", str(inner), "sub")
    (root / "link").symlink_to("sub")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "more")
    with TreeWriter(root, head(root)) as tree:
        for place, kind in (("sub", "a submodule"), ("link", "a symlink"), ("a.py", "a file")):
            with pytest.raises(GitError, match=f"{place}: is {kind} in the commit"):
                tree.entry(f"{place}/new.py")


def test_blobs_are_stored_as_they_are_and_only_when_asked_for(tmp_path: Path) -> None:
    make_repository(tmp_path, {".gitattributes": b"* text eol=lf\n"})
    contents = [b"a\r\n", b"", b"a\r\n", b"\xff\0\n"]
    ids = blob_ids(tmp_path, contents, store=False)
    assert run_git(tmp_path, "cat-file", "-e", ids[b"a\r\n"], check=False) == ""
    assert "missing" in run_git(tmp_path, "cat-file", "--batch-check", stdin=ids[b"a\r\n"].encode())
    assert blob_ids(tmp_path, contents, store=True) == ids
    assert run_git(tmp_path, "cat-file", "blob", ids[b"a\r\n"]) == "a\r\n"
    assert blob_ids(tmp_path, [], store=True) == {}
    filtered = filtered_blob(tmp_path, "a.py", b"a\r\n")
    assert run_git(tmp_path, "cat-file", "blob", filtered) == "a\n"


def test_a_commit_says_who_what_and_where_from(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b""})
    run_git(tmp_path, "config", "commit.gpgSign", "true")
    run_git(tmp_path, "config", "i18n.commitEncoding", "ISO-8859-1")
    text = "Größe\n\n# not a comment\n\nUnmoved-Plan: x\n"
    made = write_commit(tmp_path, tree="HEAD^{tree}", parents=[head(tmp_path)], message=text, identity=WHO)
    tree, parent = run_git(tmp_path, "rev-parse", "HEAD^{tree}").strip(), head(tmp_path)
    assert run_git(tmp_path, "cat-file", "commit", made) == (
        f"tree {tree}\nparent {parent}\n"
        f"author N <n@example.invalid> 1 +0000\ncommitter N <n@example.invalid> 1 +0000\n\n{text}"
    )


def test_the_identity_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repository(tmp_path / "r")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    write_files(tmp_path, {"config": b"[user]\n\tuseConfigOnly = true\n"})
    with pytest.raises(NoIdentity, match=r"git config --global user\.name"):
        user_identity(root)
    write_files(tmp_path, {"config": "[user]\n\tname = Ä <B>\n\temail = ab@example.invalid\n".encode()})
    variables = dict(user_identity(root).variables)
    assert variables["GIT_AUTHOR_NAME"] == variables["GIT_COMMITTER_NAME"] == "Ä B"
    assert variables["GIT_AUTHOR_EMAIL"] == "ab@example.invalid"
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Other")
    variables = dict(user_identity(root).variables)
    assert (variables["GIT_AUTHOR_NAME"], variables["GIT_COMMITTER_NAME"]) == ("Other", "Ä B")


@pytest.mark.parametrize(
    "name", ["", "-x", "HEAD", "a..b", "a b", "a.lock", "/a", "a/", "a//b", "@{-1}", "a~1", "x\0y", ".a"]
)
def test_bad_branch_names_are_refused(tmp_path: Path, name: str) -> None:
    make_repository(tmp_path, {"a.py": b""})
    with pytest.raises(BadBranchName, match="not a valid branch name"):
        check_branch_name(tmp_path, name)


def test_the_name_of_a_ref_is_no_name_of_a_branch(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b""})
    for name, short in (("refs/heads/split/one", "split/one"), ("refs/x", "x"), ("refs/remotes/origin/x", "x")):
        with pytest.raises(BadBranchName) as caught:
            check_branch_name(tmp_path, name)
        assert caught.value.fix == f"write {short}"


def test_a_name_that_is_taken_or_collides_is_refused(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b""})
    run_git(tmp_path, "branch", "split/one")
    for name, what in (
        ("split/one", "exists already"),
        ("split", "beside the branch split/one"),
        ("split/one/x", "beside"),
    ):
        with pytest.raises(BranchExists, match=what):
            check_branch_name(tmp_path, name)
    for name in ("split/two", "spli", "split-one", "größe"):
        check_branch_name(tmp_path, name)


def test_a_branch_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b""})
    other = write_commit(tmp_path, tree="HEAD^{tree}", parents=[], message="x\n", identity=WHO)
    create_branch(tmp_path, name="new", commit=other, identity=WHO, why="because")
    assert run_git(tmp_path, "rev-parse", "new").strip() == other
    assert "because" in run_git(tmp_path, "reflog", "new")
    with pytest.raises(BranchExists):
        create_branch(tmp_path, name="new", commit=head(tmp_path), identity=WHO, why="because")
    assert run_git(tmp_path, "rev-parse", "new").strip() == other
