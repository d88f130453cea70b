"""Objects, differences, listings and searches agree with git, and believe nothing but the objects themselves."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import pytest

from codemods.repo import commit_files, store, tree_diff
from codemods.repo.commit_files import CommitFiles
from codemods.repo.git import Conversation
from codemods.repo.store import BadObject, ObjectStore, empty_tree
from codemods.repo.tree_diff import TooMuch, differences, entry_at
from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.index import expect, mentioning
from tests.support.repository import make_repository, run_git, write_files

FILES = {
    "a.py": b"import b\n",
    "pkg/b.py": b"x = one\n",
    "pkg/deep/er/c.py": b"one_two = 1\n",
    "pkg/odd name\n.py": b"one\n",
    "docs/d.md": b"see one\n",
    "data.bin": b"one\0",
    os.fsdecode(b"\xe9.py"): b"x\n",
}


def git_dir(root: Path) -> Path:
    return root / ".git"


def commit_all(root: Path, message: str = "next") -> str:
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD").strip()


def tree_of(root: Path, rev: str) -> str:
    return run_git(root, "rev-parse", f"{rev}^{{tree}}").strip()


def test_differences_are_those_of_git(tmp_path: Path) -> None:
    root = make_repository(tmp_path, FILES)
    (root / "link").symlink_to("a.py")
    old = commit_all(root)
    (root / "a.py").unlink()
    (root / "a.py").mkdir()
    write_files(root, {"a.py/inner.py": b"", "pkg/deep/er/c.py": b"changed\n", "new/dir/f.py": b"1\n"})
    (root / "pkg/b.py").chmod(0o755)
    (root / "link").unlink()
    new = commit_all(root)
    said = run_git(root, "diff-tree", "-r", "-z", "--no-renames", "--name-only", old, new)
    with ObjectStore(git_dir(root)) as objects:
        found = differences(objects, tree_of(root, old), tree_of(root, new))
        assert [one.path for one in found] == sorted(said.split("\0")[:-1])
        by_path = {one.path: one for one in found}
        assert by_path["a.py"].new is None
        mode = by_path["pkg/b.py"]
        assert mode.old is not None and mode.new is not None
        assert (mode.old.mode, mode.new.mode) == ("100644", "100755")
        assert len(differences(objects, empty_tree(new), tree_of(root, new))) == len(FILES) + 1
        assert differences(objects, tree_of(root, old), tree_of(root, old)) == []


def test_a_tree_lists_and_reads_its_plain_files(tmp_path: Path) -> None:
    root = make_repository(tmp_path, FILES)
    (root / "link").symlink_to("a.py")
    commit = commit_all(root)
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, objects.commit(commit).tree)
        assert files.read("pkg/deep/er/c.py") == b"one_two = 1\n"
        assert files.paths() == tuple(sorted(FILES))
        assert {path: files.read(path) for path in files.paths()} == FILES
        entry = entry_at(objects, files.tree, "link")
        assert entry is not None and entry.mode == "120000"
        for path in ("link", "pkg", "pkg/b.py/x", "nothing"):
            with pytest.raises(SourceError):
                files.read(path)


def test_mentions_are_whole_words_of_python_files_and_documents(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {**FILES, ".gitattributes": b"*.py binary -diff\n", "pkg/z.py": b"\0one\n"})
    run_git(root, "config", "grep.lineNumber", "true")
    run_git(root, "config", "grep.patternType", "perl")
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        files.expect(["one", "one_two", "on.", "é", "nowhere", "b"])
        assert files.mentions(["one", "one_two", "nowhere", "b"]) == {
            "one": ("docs/d.md", "pkg/b.py", "pkg/odd name\n.py", "pkg/z.py"),
            "one_two": ("pkg/deep/er/c.py",),
            "nowhere": (),
            "b": ("a.py",),
        }


def test_many_files_are_read_in_the_order_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BLOB_BYTES", 10)
    many = {f"f{number}.py": b"%d\n" % number for number in range(150)}
    root = make_repository(tmp_path, {**many, "f7.py": b"x" * 100})
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        asked = [*many][::-1]
        seen = [(path, raw, files.read("f1.py")) for path, raw in files.read_many(asked)]
        assert seen == [(path, many[path], b"1\n") for path in asked if path != "f7.py"]


def test_a_name_is_found_the_same_way_by_search_and_by_reading(tmp_path: Path) -> None:
    root = make_repository(tmp_path, FILES)
    with ObjectStore(git_dir(root)) as objects:
        files = FileSet(CommitFiles(objects, tree_of(root, "HEAD")), {"new.py": b"one\n", "pkg/b.py": None})
        expected = ["new.py", "pkg/odd name\n.py"]
        expect(files, ["one", "x"])
        assert mentioning(files, "one") == expected
        assert mentioning(files, "one_two") == ["pkg/deep/er/c.py"]
        assert mentioning(files, "one", suffixes=(".py", ".md")) == ["docs/d.md", *expected]
        assert mentioning(files, "x", "one") == []


def test_after_one_search_reading_is_faster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_files, "MAX_SEARCHES", 1)
    root = make_repository(tmp_path, FILES)
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        assert files.mentions(["one"]) is not None
        assert files.mentions(["two"]) is None
        assert files.mentions(["one"]) is not None


def test_too_many_finds_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_files, "MAX_SEARCH_OUTPUT", 40)
    root = make_repository(tmp_path, FILES)
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        assert files.mentions(["one"]) is None
        assert mentioning(FileSet(files), "one") == ["pkg/b.py", "pkg/odd name\n.py"]


def test_a_git_that_can_not_search_so_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_files, "_GREP", ("grep", "--no-such-option"))
    root = make_repository(tmp_path, FILES)
    with ObjectStore(git_dir(root)) as objects:
        files = FileSet(CommitFiles(objects, tree_of(root, "HEAD")))
        expect(files, ["one"])
        assert mentioning(files, "one") == ["pkg/b.py", "pkg/odd name\n.py"]


def test_a_search_nobody_waits_for_is_ended(tmp_path: Path) -> None:
    root = make_repository(tmp_path, FILES)
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        files.expect(["one"])
        search = files._search
        assert search is not None
        search.close()
        assert search._process.returncode is not None


def test_replace_refs_and_grafts_change_nothing(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    first = run_git(root, "rev-parse", "HEAD").strip()
    write_files(root, {"a.py": b"2\n"})
    second = commit_all(root)
    run_git(root, "replace", second, first)
    (root / ".git/info/grafts").write_text(f"{second}\n")
    with ObjectStore(git_dir(root)) as objects:
        found = objects.commit(second)
        assert (found.parents, found.tree, found.subject) == ((first,), tree_of_object(root, second), "next")


def tree_of_object(root: Path, commit: str) -> str:
    return run_git(root, "--no-replace-objects", "rev-parse", f"{commit}^{{tree}}").strip()


def test_an_object_that_is_not_what_its_id_says_is_refused(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    oid = run_git(root, "rev-parse", "HEAD:a.py").strip()
    place = root / ".git/objects" / oid[:2] / oid[2:]
    place.chmod(0o644)
    place.write_bytes(zlib.compress(b"blob 2\x002\n"))
    with ObjectStore(git_dir(root)) as objects, pytest.raises(BadObject, match=r"another hash|can't be read|lacks"):
        objects.blob(oid)


@pytest.mark.parametrize("oid", ["HEAD", "0" * 40, "0" * 39, f"{'0' * 40}\n{'0' * 40}", ""])
def test_only_full_ids_of_what_is_there_are_answered(tmp_path: Path, oid: str) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    with ObjectStore(git_dir(root)) as objects, pytest.raises(BadObject):
        objects.blob(oid)


def test_a_tree_is_not_read_as_a_blob(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    with ObjectStore(git_dir(root)) as objects:
        with pytest.raises(BadObject, match="is a tree, not a blob"):
            objects.blob(tree_of(root, "HEAD"))
        with pytest.raises(BadObject, match="is a commit, not a tree"):
            objects.tree(run_git(root, "rev-parse", "HEAD").strip())


@pytest.mark.parametrize("name", [b"..", b".", b".git", b"a/b", b""])
def test_names_that_leave_the_tree_are_refused(tmp_path: Path, name: bytes) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    blob = bytes.fromhex(run_git(root, "rev-parse", "HEAD:a.py").strip())
    raw = b"100644 " + name + b"\0" + blob
    tree = run_git(root, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw).strip()
    with ObjectStore(git_dir(root)) as objects, pytest.raises(BadObject, match="git would not write"):
        objects.tree(tree)


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    blob = bytes.fromhex(run_git(root, "rev-parse", "HEAD:a.py").strip())
    raw = 2 * (b"100644 a.py\0" + blob)
    tree = run_git(root, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw).strip()
    with ObjectStore(git_dir(root)) as objects, pytest.raises(BadObject, match="twice"):
        objects.tree(tree)


def nested(root: Path, levels: int, width: int) -> str:
    """A tree of `width` entries, each the same tree again, `levels` deep: width ** levels files in few objects."""
    oid, mode = run_git(root, "rev-parse", "HEAD:a.py").strip(), b"100644"
    for _ in range(levels):
        raw = b"".join(b"%s n%03d\0" % (mode, number) + bytes.fromhex(oid) for number in range(width))
        oid = run_git(root, "hash-object", "-w", "-t", "tree", "--stdin", stdin=raw).strip()
        mode = b"40000"
    return oid


def test_a_tree_that_unfolds_without_end_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_diff, "MAX_CHANGED_FILES", 5_000)
    monkeypatch.setattr(tree_diff, "MAX_FILES", 5_000)
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    bomb = nested(root, 12, 10)
    with ObjectStore(git_dir(root)) as objects:
        with pytest.raises(TooMuch):
            differences(objects, empty_tree(bomb), bomb)
        with pytest.raises(TooMuch):
            CommitFiles(objects, bomb).paths()


def test_directories_without_bottom_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_TREE_DEPTH", 20)
    root = make_repository(tmp_path, {"a.py": b"1\n"})
    deep = nested(root, 30, 1)
    with ObjectStore(git_dir(root)) as objects, pytest.raises(BadObject, match="more than 20 deep"):
        differences(objects, empty_tree(deep), deep)


def test_huge_blobs_are_not_read_and_the_next_answer_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BLOB_BYTES", 10)
    root = make_repository(tmp_path, {"a.py": b"x" * 3_000_000, "b.py": b"1\n"})
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        with pytest.raises(SourceError, match="bytes"):
            files.read("a.py")
        assert files.read("b.py") == b"1\n"


def test_after_an_interruption_the_next_answer_is_to_the_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path, {"a.py": b"1\n", "b.py": b"2\n"})
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        files.paths()
        with monkeypatch.context() as patch:
            patch.setattr(Conversation, "line", interrupt)
            with pytest.raises(KeyboardInterrupt):
                files.read("a.py")
        assert files.read("b.py") == b"2\n"
        assert files.read("a.py") == b"1\n"


def interrupt(*_: object) -> bytes:
    raise KeyboardInterrupt


def test_a_repository_of_the_other_hash(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "--object-format=sha256")
    write_files(tmp_path, {"a.py": b"1\n", "b/c.py": b"2\n"})
    commit = commit_all(tmp_path)
    with ObjectStore(git_dir(tmp_path)) as objects:
        found = objects.commit(commit)
        assert len(found.tree) == 64
        changed = differences(objects, empty_tree(commit), found.tree)
        assert [(one.path, objects.blob(one.new.oid)) for one in changed if one.new] == [
            ("a.py", b"1\n"),
            ("b/c.py", b"2\n"),
        ]


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_KEEP_BLOB_BYTES", 25)
    monkeypatch.setattr(store, "_KEEP_ENTRIES", 3)
    root = make_repository(tmp_path, {f"d{number}/f.py": b"%010d" % number for number in range(8)})
    with ObjectStore(git_dir(root)) as objects:
        files = CommitFiles(objects, tree_of(root, "HEAD"))
        assert {path: files.read(path) for path in files.paths()} == {
            f"d{number}/f.py": b"%010d" % number for number in range(8)
        }
        assert objects._blob_bytes <= 25
        assert objects._num_entries <= 8


def test_no_lazy_fetch_runs_what_the_repository_names(tmp_path: Path) -> None:
    """A partial clone fetches what is missing, with the program its configuration names for the remote."""
    root = make_repository(tmp_path / "r", {"a.py": b"1\n"})
    oid = run_git(root, "rev-parse", "HEAD:a.py").strip()
    trap, mark = tmp_path / "trap.sh", tmp_path / "mark"
    trap.write_text(f"#!/bin/sh\ntouch {mark}\n")
    trap.chmod(0o755)
    settings = {
        "extensions.partialClone": "evil", "remote.evil.promisor": "true", "remote.evil.url": str(tmp_path / "other"),
        "remote.evil.uploadpack": str(trap), "protocol.file.allow": "always", "core.repositoryFormatVersion": "1",
    }  # fmt: skip
    make_repository(tmp_path / "other", {})
    for key, value in settings.items():
        run_git(root, "config", key, value)
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with ObjectStore(git_dir(root)) as objects, pytest.raises(Exception, match=r"lacks the object|cat-file"):
        objects.blob(oid)
    assert not mark.exists()
    run_git(root, "cat-file", "blob", oid, check=False)
    assert mark.exists(), "the trap does not work, so the test shows nothing"
