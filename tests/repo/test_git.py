"""Failures carry what git said; neither the caller's environment, nor hooks, nor replace refs change an answer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemods.repo import git as git_module
from codemods.repo.git import Conversation, DubiousOwnership, GitFailed, GitMissing, git, git_or_none
from codemods.repo.state import find_repository
from codemods.schema.errors import GitError
from tests.support.repository import make_repository, run_git


def test_a_failure_carries_argv_code_and_stderr(tmp_path: Path) -> None:
    make_repository(tmp_path)
    with pytest.raises(GitFailed) as caught:
        git("cat-file", "blob", "nothing-here", cwd=tmp_path)
    assert caught.value.argv == ("git", "cat-file", "blob", "nothing-here")
    assert caught.value.returncode == 128
    assert "nothing-here" in caught.value.stderr
    assert "nothing-here" in str(caught.value)


def test_exit_code_one_is_an_answer_only_where_it_was_asked_for(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert git_or_none("symbolic-ref", "--quiet", "HEAD", cwd=tmp_path) == b"refs/heads/main\n"
    assert git_or_none("rev-parse", "--quiet", "--verify", "HEAD", cwd=tmp_path) is None
    with pytest.raises(GitFailed):
        git_or_none("cat-file", "blob", "HEAD:a.py", cwd=tmp_path)


def test_the_directory_decides_and_not_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = make_repository(tmp_path / "here", {"a.py": b"1\n"})
    there = make_repository(tmp_path / "there", {"b.py": b"2\n"})
    monkeypatch.setenv("GIT_DIR", str(there / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(there))
    monkeypatch.setenv("GIT_INDEX_FILE", str(there / ".git/index"))
    assert git("ls-files", cwd=here) == b"a.py\n"
    assert git("ls-files", cwd=here, as_user=True) == b"a.py\n"


def test_replace_refs_are_not_followed(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n", "b.py": b"2\n"})
    run_git(tmp_path, "replace", "HEAD:a.py", "HEAD:b.py")
    assert run_git(tmp_path, "cat-file", "blob", "HEAD:a.py") == "2\n"
    assert git("cat-file", "blob", "HEAD:a.py", cwd=tmp_path) == b"1\n"


def test_hooks_do_not_run(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"1\n"})
    hook = tmp_path / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/it-ran\n")
    hook.chmod(0o755)
    git("update-ref", "refs/heads/new", "HEAD", cwd=tmp_path)
    assert not (tmp_path / "it-ran").exists()
    run_git(tmp_path, "update-ref", "refs/heads/newer", "HEAD")
    assert (tmp_path / "it-ran").exists()


def test_the_users_configuration_counts_only_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "r")
    config = tmp_path / "config"
    config.write_text("[core]\n\tabbrev = 7\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    assert git("config", "core.abbrev", cwd=tmp_path / "r", as_user=True) == b"7\n"
    assert git_or_none("config", "core.abbrev", cwd=tmp_path / "r") is None


def test_without_git_the_error_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    git_module._safe_directories.cache_clear()
    with pytest.raises(GitMissing, match="install git"):
        git("version", cwd=tmp_path)
    with pytest.raises(GitMissing):
        Conversation("cat-file", "--batch", cwd=tmp_path)


def test_a_missing_directory_is_not_taken_for_a_missing_git(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a directory") as caught:
        git("version", cwd=tmp_path / "gone")
    assert not isinstance(caught.value, GitMissing)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a directory away")
def test_somebody_elses_repository_gets_a_clear_error_until_it_is_called_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    for place in (root, root / ".git"):
        os.chown(place, 12345, 12345)
    git_module._safe_directories.cache_clear()
    with pytest.raises(DubiousOwnership, match=r"git config --global --add safe\.directory"):
        find_repository(root)
    config = tmp_path / "config"
    config.write_text(f"[safe]\n\tdirectory = {root}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    git_module._safe_directories.cache_clear()
    try:
        found = find_repository(root)
        assert found is not None
        assert found.top == root
    finally:
        git_module._safe_directories.cache_clear()


def test_a_conversation_answers_in_turn_and_ends_with_an_error(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.py": b"one\ntwo\n"})
    with Conversation("cat-file", "--batch", cwd=tmp_path) as objects:
        for _ in range(2):
            objects.ask(b"HEAD:a.py\n")
            assert objects.line().endswith(b" blob 8")
            assert objects.exactly(9) == b"one\ntwo\n\n"
    with Conversation("cat-file", "--no-such-option", cwd=tmp_path) as broken, pytest.raises(GitFailed) as caught:
        broken.line()
    assert caught.value.returncode == 129
    assert "no-such-option" in caught.value.stderr
