"""What agrees is found again; nothing else is, whoever put it there."""

from __future__ import annotations

import os
import subprocess
import sys
from enum import Enum
from pathlib import Path

import pytest
from msgspec import Struct

import codemods
from codemods.prove import cache as cache_module
from codemods.prove.cache import Cache, key_of
from tests.support.repository import make_repository


class Verdict(Enum):
    AGREES = "agrees"
    DIFFERS = "differs"


class Result(Struct, frozen=True):
    verdict: Verdict
    text: str = ""


class Other(Struct, frozen=True, forbid_unknown_fields=True):
    verdict: str


GOOD = Result(Verdict.AGREES, "é")
KEY = key_of("a")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def entries(root: Path) -> list[Path]:
    return sorted(path for path in (root / ".unmoved_cache/prove").rglob("*") if path.is_file())


def test_what_agrees_is_found_again(root: Path) -> None:
    cache = Cache(root)
    assert cache.get(KEY, Result) is None
    assert cache.put(KEY, GOOD)
    assert cache.get(KEY, Result) == Cache(root).get(KEY, Result) == GOOD
    assert cache.get(key_of("b"), Result) is None
    newer = Result(Verdict.AGREES, "newer")
    assert cache.put(KEY, newer)
    assert cache.get(KEY, Result) == newer
    assert len(entries(root)) == 1


@pytest.mark.parametrize("result", [Result(Verdict.DIFFERS), Other("inconclusive"), Other("Agrees"), Other("")])
def test_nothing_else_is_kept(root: Path, result: Struct) -> None:
    assert not Cache(root).put(KEY, result)
    assert entries(root) == []


def test_keys_differ_with_each_part_and_each_version(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {key_of(), key_of(""), key_of(b""), key_of("a", "b"), key_of("ab"), key_of("b", "a"), key_of("\udce9")}
    assert len(keys) == 7
    assert key_of("a") == KEY
    monkeypatch.setattr(codemods, "__version__", "9")
    assert key_of("a") != KEY
    monkeypatch.undo()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert key_of("a") != KEY


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[:0],
        lambda raw: raw[:-1],
        lambda raw: raw + b" ",
        lambda raw: raw.replace(b"agrees", b"agreed"),
        lambda raw: bytes(32) + raw[32:],
        lambda raw: raw + bytes(5 << 20),
    ],
    ids=["empty", "cut", "longer", "changed", "unsealed", "huge"],
)
def test_a_damaged_entry_is_ignored_and_replaced(root: Path, damage: object) -> None:
    cache = Cache(root)
    cache.put(KEY, GOOD)
    (path,) = entries(root)
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get(KEY, Result) is None
    assert cache.put(KEY, GOOD)
    assert cache.get(KEY, Result) == GOOD


def test_an_entry_of_another_shape_is_ignored(root: Path) -> None:
    cache = Cache(root)
    cache.put(KEY, GOOD)
    assert cache.get(KEY, Other) is None


def test_an_entry_counts_under_its_own_key_only(root: Path) -> None:
    cache = Cache(root)
    cache.put(KEY, GOOD)
    (path,) = entries(root)
    other = key_of("b")
    moved = path.parent.parent / other[:2] / other[2:]
    moved.parent.mkdir(exist_ok=True)
    path.rename(moved)
    assert cache.get(other, Result) is None


def test_an_entry_that_a_branch_brings_does_not_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "stranger"))
    Cache(root).put(KEY, GOOD)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert Cache(root).get(KEY, Result) is None


def test_the_key_is_the_users_own(root: Path, home: Path) -> None:
    Cache(root).put(KEY, GOOD)
    assert (home / "unmoved/seal").stat().st_mode & 0o777 == 0o600
    assert os.listdir(home / "unmoved") == ["seal"]
    (home / "unmoved/seal").write_bytes(b"short")
    assert "it is not a key; remove it" in Cache(root).why_not


def test_git_does_not_see_it(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repository", {"a.py": b""})
    Cache(root).put(KEY, GOOD)
    done = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, check=True)
    assert done.stdout == b""
    assert (root / ".unmoved_cache/CACHEDIR.TAG").exists()


def test_no_cache(root: Path) -> None:
    cache = Cache(None)
    assert cache.why_not and not cache.put(KEY, GOOD)
    assert cache.get(KEY, Result) is None
    assert os.listdir(root) == []


@pytest.mark.parametrize("name", [".unmoved_cache", ".unmoved_cache/prove"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_place_that_leads_elsewhere(root: Path, tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / name).parent.mkdir(exist_ok=True)
    if kind == "link":
        (root / name).symlink_to(tmp_path / "elsewhere")
    else:
        (root / name).write_text("")
    cache = Cache(root)
    assert ".unmoved_cache" in cache.why_not
    assert not cache.put(KEY, GOOD)
    assert cache.get(KEY, Result) is None
    assert os.listdir(tmp_path / "elsewhere") == []


def test_links_among_the_entries_are_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_bytes(bytes(20_000))
    cache = Cache(root, max_bytes=10_000)
    (root / ".unmoved_cache/prove/zz").symlink_to(tmp_path / "elsewhere")
    (root / ".unmoved_cache/prove" / KEY[:2]).symlink_to(tmp_path / "elsewhere")
    assert not cache.put(KEY, GOOD)
    assert cache.put(key_of("b"), GOOD)
    assert os.listdir(tmp_path / "elsewhere") == ["file"]


def test_a_write_that_fails_leaves_the_old_entry(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(root)
    cache.put(KEY, GOOD)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert not cache.put(KEY, Result(Verdict.AGREES, "newer"))
    assert cache.get(KEY, Result) == GOOD
    assert len(entries(root)) == 1


def test_the_oldest_go_when_it_grows_too_large(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_LOOK_EVERY", 1)
    cache = Cache(root, max_bytes=10_000)
    keys = [key_of(str(number)) for number in range(40)]
    for age, key in enumerate(keys):
        assert cache.put(key, Result(Verdict.AGREES, "x" * 500))
        path = root / ".unmoved_cache/prove" / key[:2] / key[2:]
        if path.exists():
            os.utime(path, (1000 + age, 1000 + age))
        cache.get(keys[0], Result)  # asked for again and again
    assert 5_000 < sum(path.stat().st_size for path in entries(root)) <= 10_000
    assert cache.get(keys[0], Result) and cache.get(keys[-1], Result) and not cache.get(keys[1], Result)


def test_nothing_is_written_into_a_bare_repository(tmp_path: Path, home: Path) -> None:
    """It is given as the root where there is no work tree; what is kept of it belongs to who asked."""
    bare, other = tmp_path / "bare", tmp_path / "other"
    for each in (bare, other):
        subprocess.run(["git", "init", "-q", "--bare", str(each)], check=True)
    before = sorted(bare.rglob("*"))
    cache = Cache(bare)
    assert cache.put(KEY, GOOD)
    assert Cache(bare).get(KEY, Result) == GOOD
    assert Cache(other).get(KEY, Result) is None
    assert sorted(bare.rglob("*")) == before
    assert any(path.is_file() for path in (home / "unmoved" / "roots").rglob("prove/*/*"))
