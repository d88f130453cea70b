"""`unmoved freeze`: what is kept of a plan, what the manifest says, and what may not be changed any more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from codemods.schema.manifest import digest, parse_manifest
from tests.cli.conftest import Ran
from tests.support.golden import mismatches
from tests.support.repository import make_repository, run_git, write_files

RUNNER = (
    b"class Runner:\n    def __init__(self):\n        self.n = 1\n\n    def double(self):\n        return self.n * 2\n"
)
USER = b"from app.runner import Runner\n\n\ndef go(r: Runner):\n    return r.double()\n"
PLAN = b"""id = "split"

[[step]]
do = "extract-method"
method = "app.runner:Runner.double"
to = "app.leaf"
"""
Unmoved = Callable[..., Ran]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"app/__init__.py": b"", "app/runner.py": RUNNER, "app/leaf.py": b'"""Leaves."""\n', "app/user.py": USER}
    return make_repository(tmp_path / "r", files)


@pytest.fixture
def freeze(root: Path, unmoved: Unmoved) -> Callable[..., Ran]:
    (root.parent / "split.toml").write_bytes(PLAN)
    return lambda *given: unmoved("freeze", *given, "--root", str(root))


Freeze = Callable[..., Ran]


def test_what_a_plan_moves_and_where_to_is_kept_as_it_is_in_the_commit(root: Path, freeze: Freeze) -> None:
    (root / "app/runner.py").write_bytes(RUNNER + b"# not committed\n")
    ran = freeze(str(root.parent / "split.toml"), "--format", "json")
    kept = {"plans/split.toml", "originals/split/app/runner.py", "originals/split/app/leaf.py"}
    assert (ran.status, set(json.loads(ran.out)["added"])) == (0, kept)
    assert (root / "golden/originals/split/app/runner.py").read_bytes() == RUNNER
    manifest = parse_manifest((root / "golden/MANIFEST.toml").read_bytes(), path="")
    entry = manifest.files["originals/split/app/runner.py"]
    assert (entry.sha256, entry.commit) == (digest(RUNNER), run_git(root, "rev-parse", "HEAD").strip())
    assert mismatches(root / "golden") == []
    again = freeze(str(root.parent / "split.toml"))
    assert (again.status, "nothing is new" in again.out) == (0, True)


def test_new_files_are_listed_and_changed_ones_only_when_it_is_meant(root: Path, freeze: Freeze) -> None:
    write_files(root, {"golden/specs/a.toml": b"schema = 1\n"})
    assert freeze().status == 0
    write_files(root, {"golden/specs/a.toml": b"schema = 1\n# more\n"})
    ran = freeze()
    assert (ran.status, "golden/specs/a.toml" in ran.err, "--update" in ran.err) == (2, True, True)
    assert mismatches(root / "golden") != []
    assert freeze("--update").status == 0
    (root / "golden/specs/a.toml").unlink()
    assert freeze().status == 2
    assert freeze("--update").status == 0
    assert mismatches(root / "golden") == []


@pytest.mark.parametrize("is_gone", [False, True])
def test_evidence_stays(root: Path, freeze: Freeze, is_gone: bool) -> None:
    assert freeze(str(root.parent / "split.toml")).status == 0
    place = root / "golden/originals/split/app/runner.py"
    place.unlink() if is_gone else place.write_bytes(RUNNER + b"\n")
    before = (root / "golden/MANIFEST.toml").read_bytes()
    for more in ([], ["--update"]):
        ran = freeze(*more)
        assert (ran.status, "restore it from git" in ran.err) == (2, True)
    assert (root / "golden/MANIFEST.toml").read_bytes() == before


def test_a_plan_is_kept_once(root: Path, freeze: Freeze) -> None:
    plan = root.parent / "split.toml"
    assert freeze(str(plan)).status == 0
    plan.write_bytes(PLAN + b"wrapper = true\n")
    ran = freeze(str(plan))
    assert (ran.status, "another id" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("plan", "more", "message"),
    [
        (PLAN.replace(b"double", b"triple"), (), "does not apply"),
        (PLAN, ("--base", "nowhere"), "no commit nowhere"),
        (PLAN, ("--golden", "../x"), "no folder below the root"),
        (b"id = 1\n", (), "id"),
    ],
)
def test_refused_and_nothing_written(
    root: Path, freeze: Freeze, plan: bytes, more: tuple[str, ...], message: str
) -> None:
    (root.parent / "split.toml").write_bytes(plan)
    ran = freeze(str(root.parent / "split.toml"), *more)
    assert (ran.status, message in ran.err, (root / "golden").exists()) == (2, True, False)
    assert freeze("--base", "HEAD").status == 2
    write_files(root, {"golden/MANIFEST.toml": b"schema = 9\n"})
    assert "known is 1" in freeze().err
