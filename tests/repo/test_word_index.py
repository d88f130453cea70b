"""An index of words says what `git grep` says, one kept from another run as well; and one that is damaged, another's or
of another version is made anew."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import codemods
from codemods.repo import commit_files, store, word_cache, word_index
from codemods.repo.commit_files import CommitFiles, use_index
from codemods.repo.store import ObjectStore
from codemods.repo.word_cache import keep_index, load_index
from codemods.repo.word_index import Part, WordIndex
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.verify.asked_lines import Asked
from codemods.verify.change import TreeChange
from codemods.verify.tree_lines import TreeLines
from tests.support.repository import make_repository, run_git, write_files

FILES = {
    "a.py": b"class A(B):\n    def f(self):\n        self.x = one\n    y = property(f)\n",
    "b.py": b'text = "class X("\nasync def  f(): pass\nz.x, q = 1\nclass  C :\n',
    "pkg/c.pyi": b"one_two: int\nclass A: ...\n",
    "pkg/d.py": b"one\xc3\xa9 = 'f'\r\nclass E(\n    A,\n):\n    pass",
    "pkg/same.py": b"one\n",
    "pkg/too.py": b"one\n",
    "pkg/empty.py": b"",
    "pkg/nothing.py": b"\xff\x00()\n",
    "docs/d.md": b"see one, class Z(A)\n",
    "data.bin": b"one\0",
    os.fsdecode(b"\xe9.py"): b"def one(): ...\n",
}
WORDS = ["one", "one_two", "f", "x", "A", "E", "def", "nowhere", "X"]
ASKED = Asked(written={"x"}, defined={"f", "one", "nowhere"}, said={"q"}, classes={"A"})


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose trees are large enough for an index; the cache is the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(commit_files, "MIN_INDEXED", 1)
    monkeypatch.setattr(word_cache, "WRITE_AFTER", 1)
    return make_repository(tmp_path / "r", FILES)


def tree_of(root: Path) -> str:
    return run_git(root, "rev-parse", "HEAD^{tree}").strip()


def said(objects: ObjectStore, tree: str) -> tuple[object, ...]:
    """Everything that is searched for."""
    files = CommitFiles(objects, tree)
    base = FileSet(files)
    lines = TreeLines(TreeChange(old=base, new=base, changes=()), ASKED)
    lines.begin()
    hits = [hit for name in ("x", "f", "one", "q", "A", "E", "y", "C") for hit in lines.saying(name)]
    around = [lines.class_around(hit) for hit in hits]
    heirs = [lines.heirs({name}) for name in "ABX"]
    known = [lines.is_customary(name) for name in ("a", "e", "z", "nowhere")]
    defined = [lines.defines(name) for name in ("f", "y", "one")]
    assert hits and any(around) and any(heirs) and True in known and False in known
    return (
        files.mentions(WORDS),
        (hits, around, heirs, known, defined, lines.writes("x")),
        mentioning(FileSet(CommitFiles(objects, tree)), "oneé"),
    )


def by_git(root: Path, tree: str = "") -> tuple[object, ...]:
    with ObjectStore(root / ".git") as objects:
        return said(objects, tree or tree_of(root))


def by_index(root: Path, index: WordIndex, tree: str = "") -> tuple[object, ...]:
    with ObjectStore(root / ".git") as objects:
        use_index(objects, index)
        found = said(objects, tree or tree_of(root))
        assert CommitFiles(objects, tree or tree_of(root))._index() is index
    return found


def kept(root: Path) -> Path:
    (place,) = [each for each in (root.parent / "cache").rglob("*") if each.is_file()]
    return place


def test_an_index_says_what_git_says(root: Path) -> None:
    mentions, hits, accented = by_git(root)
    assert isinstance(mentions, dict)
    assert mentions["one"] == ("a.py", "docs/d.md", "pkg/d.py", "pkg/same.py", "pkg/too.py", "\udce9.py")
    assert accented == ["pkg/d.py"]
    assert by_index(root, WordIndex()) == (mentions, hits, accented)


def test_an_index_grows_with_the_commits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, trees = WordIndex(), [tree_of(root)]
    before = by_index(root, index)
    for number in range(3):
        write_files(root, {"a.py": b"x = %d\n" % number, f"new{number}.py": b"class A(one): x = f\n"})
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "-m", "next")
        trees.append(tree_of(root))
        monkeypatch.setattr(word_index, "MAX_WORD_BYTES", 10**6 if number else 1)
        assert by_index(root, index) == by_git(root)
    assert by_index(root, index, trees[0]) == before
    assert index.num_new >= 6


def test_an_index_is_kept_for_the_next_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = load_index(root / ".git")
    expected = by_index(root, index)
    assert keep_index(root / ".git", index)
    assert not keep_index(root / ".git", index)
    assert kept(root).stat().st_mode & 0o077 == 0
    monkeypatch.setattr(word_index, "_words_of", lambda _: pytest.fail("found again"))
    again = load_index(root / ".git")
    assert by_index(root, again) == expected == by_git(root)
    assert again.num_new == 0
    assert not keep_index(root / ".git", again)


def damages(raw: bytes) -> Iterator[bytes]:
    yield b""
    yield raw[:-1]
    yield raw + b"\0"
    for at in (0, 40, 70, 110, len(raw) // 2, len(raw) - 1):
        yield raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def test_a_damaged_file_counts_as_none(root: Path) -> None:
    index = load_index(root / ".git")
    expected = by_index(root, index)
    assert keep_index(root / ".git", index)
    place = kept(root)
    raw = place.read_bytes()
    for bad in damages(raw):
        place.write_bytes(bad)
        again = load_index(root / ".git")
        assert again.part.oids == []
        assert by_index(root, again) == expected
        assert keep_index(root / ".git", again)
        assert load_index(root / ".git").part.oids == again.part.oids


def test_what_is_not_ones_own_or_of_another_version_counts_as_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = load_index(root / ".git")
    by_index(root, index)
    assert keep_index(root / ".git", index)
    place = kept(root)
    assert load_index(root / ".git").part.oids
    place.chmod(0o666)
    assert not load_index(root / ".git").part.oids
    place.chmod(0o600)
    assert load_index(root / ".git").part.oids
    for module, name in ((codemods, "__version__"), (word_cache, "RECIPE")):
        with monkeypatch.context() as changed:
            changed.setattr(module, name, "another")
            assert not load_index(root / ".git").part.oids
            os.link(place, word_cache._path_of(root / ".git"))
            assert not load_index(root / ".git").part.oids
            word_cache._path_of(root / ".git").unlink()
    with monkeypatch.context() as changed:
        changed.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert not load_index(root / ".git").part.oids
    assert not load_index(root).part.oids
    place.unlink()
    place.mkdir()
    assert not load_index(root / ".git").part.oids
    assert not keep_index(root / ".git", index)


def test_where_nothing_can_be_written_it_is_done_without(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = root.parent / "file"
    blocked.write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    index = load_index(root / ".git")
    assert by_index(root, index) == by_git(root)
    assert not keep_index(root / ".git", index)
    assert blocked.read_bytes() == b""


def test_the_files_together_have_a_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_cache, "MAX_BYTES", 2500)
    for number in range(4):
        index = WordIndex(Part())
        by_index(root, index)
        assert keep_index(root.parent / f"r{number}", index)
        for at, place in enumerate(sorted((root.parent / "cache/unmoved/words").iterdir(), key=os.path.getmtime)):
            os.utime(place, (at, at))
    left = list((root.parent / "cache/unmoved/words").iterdir())
    assert 0 < len(left) < 4
    assert load_index(root.parent / "r3").part.oids
    monkeypatch.setattr(word_cache, "MAX_FILE_BYTES", 100)
    index.num_new = 100
    assert not keep_index(root.parent / "r4", index)
    assert not load_index(root.parent / "r3").part.oids


def test_a_blob_that_can_not_be_read_leaves_the_tree_to_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BLOB_BYTES", 50)
    with ObjectStore(root / ".git") as objects:
        use_index(objects, WordIndex())
        files = CommitFiles(objects, tree_of(root))
        assert files._index() is None
        assert files.mentions(["property"]) == {"property": ("a.py",)}


STORES = (
    b"self.x = 1\n",
    b"a.b().x: int = 1\n",
    b"a[0].x += 1\n",
    b"a.x //= 1\n",
    b"q.x, y = 1, 2\n",
    b"y, q.x = 1, 2\n",
    b"(\n    q.x,\n    y\n) = 1, 2\n",
    b"(\n    y,\n    q[0].x\n) = 1, 2\n",
    b"for q.x in y: pass\n",
    b"for y, q.x in z: pass\n",
    b"with y as q.x, z as w: pass\n",
    b"del q.x\n",
    b"if y: del q.x\n",
    b"setattr(q, 'x', 1)\n",
    b'    safe_setattr(q, "x", 1)\n',
    b"q.__dict__['x'] = 1\n",
)
READS = (b"f(q.x)\n", b"y = q.x == 1\n", b"'x'\n", b"f(\n    q.x,\n    x=q.x,\n)\n", b"x = 1\n", b"q.xx = 1\n")


@pytest.mark.parametrize("store", STORES)
def test_files_that_only_read_an_attribute_are_not_read_for_its_stores(
    root: Path, store: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(root, {"stores.py": store, **{f"reads{at}.py": read for at, read in enumerate(READS)}})
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "next")
    found, index, read = [], WordIndex(), set[str]()
    read_many = CommitFiles.read_many

    def noted(self: CommitFiles, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(paths)
        read.update(wanted)
        return read_many(self, wanted)

    with ObjectStore(root / ".git") as objects:
        for is_indexed in (False, True):
            if is_indexed:
                use_index(objects, index)
                monkeypatch.setattr(CommitFiles, "read_many", noted)
            files = FileSet(CommitFiles(objects, tree_of(root)))
            lines = TreeLines(TreeChange(old=files, new=files, changes=()), Asked(written={"x"}))
            lines.begin()
            found.append([(hit.path, hit.number, receiver) for hit, receiver in lines.writes("x")])
    assert "stores.py" in {path for path, *_ in found[0]}
    assert found[0] == found[1] and index.num_new
    assert "stores.py" in read
    assert not any(path.startswith("reads") for path in read)


def test_what_is_new_is_kept_beside_what_was_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = load_index(root / ".git")
    by_index(root, index)
    assert keep_index(root / ".git", index)
    write_files(root, {"new.py": b"class New(A):\n    def one(self): self.x = q\n"})
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "-m", "next")
    again = load_index(root / ".git")
    expected = by_git(root)
    assert by_index(root, again) == expected
    assert any(isinstance(text, memoryview) for text in again.part.texts), "all of it was copied for one new file"
    assert keep_index(root / ".git", again)
    assert by_index(root, again) == expected
    monkeypatch.setattr(word_index, "_words_of", lambda _: pytest.fail("found again"))
    assert by_index(root, load_index(root / ".git")) == expected
