"""A range is checked commit by commit, in order, by one process or several, with the same result; and whatever goes
wrong in a commit is a finding or an error, never a pass and never a hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from codemods import __version__
from codemods.cli.session import encode
from codemods.repo.plain_tree import PlainTree
from codemods.repo.ranges import resolve_range
from codemods.repo.store import ObjectStore
from codemods.schema.certificate import Certificate
from codemods.schema.config import Settings
from codemods.schema.errors import InternalError, UnmovedError
from codemods.schema.progress import Silent
from codemods.schema.verdict import Verdict
from codemods.verify import certificate as certificate_module
from codemods.verify.certificate import Explain, certify, certify_directories
from codemods.verify.chain import Request, verify_chain
from codemods.verify.check_certificate import BadCertificate, check_commit, read_certificate
from tests.support import fake_explain
from tests.support.repository import make_repository, run_git, write_files


def commit(root: Path, message: str, **files: bytes) -> str:
    write_files(root, {f"{name}.py": raw for name, raw in files.items()})
    run_git(root, "add", "-A")
    run_git(root, "commit", "-q", "--allow-empty", "-m", message)
    return run_git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A history of six commits over `base`."""
    root = make_repository(tmp_path / "r", {"a.py": b"x = 1\n", "b.py": b""})
    run_git(root, "tag", "base")
    commit(root, "moves", a=b"x = 1\nmoved = 1\n")
    commit(root, "mixes", a=b"x = 2\nmoved = 1\nmoved = 2\n")
    commit(root, "leaves", b=b"moved = 1  # left\n")
    commit(root, "changes", a=b"x = 3\nmoved = 1\nmoved = 2\n")
    commit(root, "nothing")
    commit(root, "breaks", b=b"moved = (\n")
    return root


def checked(
    root: Path, text: str = "base..HEAD", *, jobs: int = 1, explain: Explain = fake_explain.explain
) -> list[Certificate]:
    found = resolve_range(root, text)
    request = Request(
        git_dir=found.git_dir, commits=found.commits, settings=Settings(), explain=explain, readers=fake_explain.readers
    )
    return list(verify_chain(request, jobs, Silent()))


def really_checked(root: Path, jobs: int, *, caches: bool) -> list[bytes]:
    """What is found by the real functions."""
    found = resolve_range(root, "base..HEAD")
    request = Request(git_dir=found.git_dir, commits=found.commits, settings=Settings(), caches=caches)
    return [msgspec.json.encode(each) for each in verify_chain(request, jobs, Silent())]


def test_what_is_kept_changes_no_result(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(root, "class", a=b"class A:\n    def __init__(self):\n        self.n = self.m = 1\n")
    commit(root, "reader", **{f"r{n}": b"from a import A\nA().n + %d\n\nclass B(A): ...\n" % n for n in range(310)})
    commit(root, "renames", a=b"class A:\n    def __init__(self):\n        self.k = self.m = 1\n")
    expected = really_checked(root, 1, caches=False)
    assert b"U119" in expected[-1]
    for jobs in (2, 1):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache{jobs}"))
        assert really_checked(root, jobs, caches=True) == expected  # nothing is kept yet
        (kept,) = [each for each in (tmp_path / f"cache{jobs}").rglob("*") if each.is_file()]
        assert really_checked(root, 3 - jobs, caches=True) == expected
        raw = kept.read_bytes()
        kept.write_bytes(raw[:5000] + b"?" + raw[5001:])
        assert really_checked(root, jobs, caches=True) == expected
        assert kept.read_bytes()[5000:5001] != b"?"


def test_each_commit_gets_its_verdict_in_order(root: Path) -> None:
    found = checked(root)
    assert [(one.subject, one.verdict, one.passes) for one in found] == [
        ("moves", Verdict.MECHANICAL, True),
        ("mixes", Verdict.MIXED, False),
        ("leaves", Verdict.MECHANICAL, False),
        ("changes", Verdict.OTHER, False),
        ("nothing", Verdict.MECHANICAL, True),
        ("breaks", Verdict.MIXED, False),
    ]
    assert [one.against[0].lines for one in found] == [1, 3, 1, 2, 0, 2]
    assert [problem.code for problem in found[2].findings] == ["U119"]
    assert all(one.against[0].parent == one.parents[0] for one in found)


def test_several_processes_say_the_same(root: Path) -> None:
    assert checked(root, jobs=3) == checked(root)


def test_a_merge_is_checked_against_each_parent(root: Path) -> None:
    run_git(root, "switch", "-q", "-c", "side", "base")
    commit(root, "side", c=b"moved = 1\n")
    run_git(root, "merge", "-q", "--no-ff", "-m", "merge", "main")
    (found,) = checked(root, "HEAD")
    assert [one.parent for one in found.against] == found.parents
    assert [one.verdict for one in found.against] == [Verdict.MIXED, Verdict.MECHANICAL]
    assert found.verdict is Verdict.MIXED


def test_the_first_commit_is_compared_with_nothing(root: Path) -> None:
    (found,) = checked(root, "base")
    assert (found.parents, found.against[0].parent, found.against[0].lines) == ([], "", 1)


def test_what_is_checked_does_not_follow_the_work_tree_or_the_index(root: Path) -> None:
    before = checked(root)
    write_files(root, {"a.py": b"evil\n", ".gitattributes": b"* binary\n", "unmoved.toml": b"exclude = ['*']\n"})
    run_git(root, "config", "diff.external", "false")
    run_git(root, "config", "core.attributesFile", str(root / ".gitattributes"))
    run_git(root, "add", "a.py")
    assert checked(root) == before


@pytest.mark.parametrize(
    ("explain", "words"),
    [(fake_explain.refuse, "is odd"), (fake_explain.recurse, "nested too deep"), (fake_explain.spin, "more than 1 s")],
)
def test_code_that_can_not_be_got_through_is_a_finding(
    root: Path, monkeypatch: pytest.MonkeyPatch, explain: Explain, words: str
) -> None:
    monkeypatch.setattr(certificate_module, "MAX_COMMIT_S", 1)
    (found,) = checked(root, "base~0..HEAD~5", explain=explain)
    assert [problem.code for problem in found.findings] == ["gave-up"]
    assert words in found.findings[0].message
    assert found.verdict is Verdict.OTHER


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_commit_that_can_not_be_checked_ends_the_range(root: Path, jobs: int) -> None:
    with pytest.raises(UnmovedError, match="the repository is gone") as caught:
        checked(root, jobs=jobs, explain=fake_explain.fail)
    assert caught.value.code == "git-error"
    with pytest.raises(InternalError, match="ZeroDivisionError in fake_explain"):
        checked(root, jobs=jobs, explain=fake_explain.crash)


def test_a_process_that_dies_is_an_error(root: Path) -> None:
    with pytest.raises(InternalError, match="was killed, or crashed"):
        checked(root, jobs=2, explain=fake_explain.die)


def test_a_missing_object_is_an_error(root: Path) -> None:
    oid = run_git(root, "rev-parse", "HEAD~3:a.py").strip()
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(UnmovedError, match=f"lacks the object {oid}"):
        checked(root)


def test_processes_end_with_the_reader(root: Path) -> None:
    found = resolve_range(root, "base..HEAD")
    request = Request(
        git_dir=found.git_dir, commits=found.commits, settings=Settings(), explain=fake_explain.explain,
        readers=fake_explain.readers,
    )  # fmt: skip
    results = verify_chain(request, 2, Silent())
    next(results)
    start = time.monotonic()
    results.close()
    assert time.monotonic() - start < 30
    assert next(results, None) is None


@pytest.mark.parametrize(
    ("message", "is_refuted"),
    [
        ("Move it\n\nUnmoved-Plan: p\nUnmoved-Step: 1\nUnmoved-Phase: move\n", True),
        ("Pure move of f", True),
        ("Mechanical refactoring", True),
        ("Fix it; no functional change", False),
        ("Remove the moved", False),
    ],
)
def test_a_claim_that_is_not_so_is_a_finding(root: Path, message: str, is_refuted: bool) -> None:
    commit(root, message, a=b"y = 1\n")
    (found,) = checked(root, "HEAD")
    assert [problem.code for problem in found.findings] == (["claim-refuted"] if is_refuted else [])
    commit(root, message, a=b"y = 1\nmoved = 1\n")
    (found,) = checked(root, "HEAD")
    assert found.passes


def test_a_message_is_data(root: Path) -> None:
    commit(root, "\x1b[31mred\x07 \udcff \u202e", a=b"moved = 1\n")
    (found,) = checked(root, "HEAD")
    assert found.subject.isprintable()
    assert encode(found)


@pytest.fixture
def store(root: Path) -> Iterator[ObjectStore]:
    with ObjectStore(root / ".git") as made:
        yield made


def certificate(store: ObjectStore, root: Path, rev: str) -> Certificate:
    oid = run_git(root, "rev-parse", rev).strip()
    return certify(store, oid, Settings(), fake_explain.explain, fake_explain.readers)


def differences(store: ObjectStore, given: Certificate) -> tuple[str, ...]:
    return check_commit(store, given, Settings(), kernel=fake_explain.recheck, readers=fake_explain.readers).differences


@pytest.mark.parametrize("rev", ["HEAD", "HEAD~1", "HEAD~2", "HEAD~3", "HEAD~4", "base"])
def test_a_certificate_holds_after_a_round_trip(root: Path, store: ObjectStore, rev: str) -> None:
    made = certificate(store, root, rev)
    assert read_certificate(encode(made), "c.json") == made
    assert differences(store, made) == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"reason":"nothing explains it"', '"reason":""', "entries differ"),
        ('"verdict":"mixed"', '"verdict":"mechanical"', "verdict is mixed, not mechanical"),
        ('"lines":3,"certified":1', '"lines":1,"certified":1', "lines is 3, not 1"),
        ('"claims":["moved"]', '"claims":["nonsense"]', "certified is 0, not 1"),
        ('"claims":["moved"]', '"claims":[]', "certified is 0, not 1"),
        ('"subject":"mixes"', '"subject":"fine"', "subject is 'mixes'"),
    ],
)
def test_a_forged_certificate_does_not_hold(root: Path, store: ObjectStore, old: str, new: str, words: str) -> None:
    raw = msgspec.json.encode(certificate(store, root, "HEAD~4")).decode()
    assert old in raw
    forged = read_certificate(raw.replace(old, new).encode(), "c.json")
    assert any(words in one for one in differences(store, forged))


def test_a_certificate_without_its_findings_does_not_hold(root: Path, store: ObjectStore) -> None:
    made = certificate(store, root, "HEAD~3")
    raw = msgspec.to_builtins(made)
    raw["against"][0]["problems"] = []
    forged = msgspec.convert(raw, Certificate)
    assert any("it leaves out U119" in one for one in differences(store, forged))


@pytest.mark.parametrize(
    "raw",
    [b"", b"{}", b"[]", b"\xff", b'{"version": 2}', b'{"version": 1}', b'{"version": 1, "evil": 2}', b"[" * 100_000],
)
def test_what_is_no_certificate_is_refused(raw: bytes) -> None:
    with pytest.raises(BadCertificate):
        read_certificate(raw, "c.json")


def test_two_directories_are_one_commit(tmp_path: Path) -> None:
    write_files(tmp_path, {"old/a.py": b"x = 1\n", "new/a.py": b"x = 1\nmoved = 1\n"})
    trees = PlainTree(tmp_path / "old"), PlainTree(tmp_path / "new")
    found = certify_directories("old..new", *trees, Settings(), fake_explain.explain, fake_explain.readers)
    assert (found.commit, found.verdict, found.against[0].lines) == ("old..new", Verdict.MECHANICAL, 1)
    assert found.tree.startswith("sha256:") and found.tree != found.parents[0]


def test_names_that_are_no_text_can_be_told(root: Path) -> None:
    write_files(root, {os.fsdecode(b"\xff\n.py"): b"moved = 1\n"})
    commit(root, "odd name")
    (found,) = checked(root, "HEAD")
    assert found.against[0].entries[0].path == "\\xff\\n.py"
    assert encode(found)


def test_certificates_name_the_version_of_the_distribution() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in project.splitlines()


_INTERRUPTED = """
import sys
from pathlib import Path
from codemods.repo.ranges import resolve_range
from codemods.schema.config import Settings
from codemods.schema.progress import Silent
from codemods.verify.chain import Request, verify_chain
from tests.support import fake_explain

if __name__ == "__main__":
    found = resolve_range(Path(sys.argv[1]), "base..HEAD")
    list(verify_chain(Request(
        git_dir=found.git_dir, commits=found.commits, settings=Settings(), explain=fake_explain.say_and_sleep,
        readers=fake_explain.no_readers,
    ), 2, Silent()))
"""


def test_an_interrupted_run_ends_at_once_and_leaves_nobody(root: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(_INTERRUPTED)
    repository = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, str(script), str(root)], cwd=repository, env={**os.environ, "PYTHONPATH": str(repository)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "asleep\n"
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert said.count("Traceback") == 1, said
    assert "KeyboardInterrupt" in said
    deadline = time.monotonic() + 20  # what helps the processes to end may take a moment longer
    while time.monotonic() < deadline and is_there(process.pid):
        time.sleep(0.05)
    assert not is_there(process.pid)


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
