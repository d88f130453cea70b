"""Golden files are what the manifest says, and the check that says so notices every way in which they might not be."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codemods.schema.manifest import Kept, manifest_text
from tests.support.golden import mismatches
from tests.support.house import ROOT


def test_every_golden_file_has_the_hash_the_manifest_lists() -> None:
    assert mismatches(ROOT / "golden") == []


def folder_with(root: Path, listed: dict[str, bytes], present: dict[str, bytes]) -> Path:
    files = {
        name: Kept(sha256=hashlib.sha256(raw).hexdigest(), commit="0" * 40, date="2026-12-01")
        for name, raw in listed.items()
    }
    (root / "MANIFEST.toml").write_bytes(manifest_text(files))
    for name, raw in present.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(raw)
    return root


@pytest.mark.parametrize(
    ("listed", "present", "complaints"),
    [
        ({"a/x.py": b"1\n"}, {"a/x.py": b"1\n"}, []),
        ({"a/x.py": b"1\n"}, {"a/x.py": b"1\r\n"}, ["a/x.py: changed"]),
        ({"a/x.py": b"1\n"}, {}, ["a/x.py: listed, but missing"]),
        ({}, {"a/x.py": b"1\n"}, ["a/x.py: not listed"]),
        ({"y": b"1", "x": b"1"}, {"y": b"2", "z": b"1"}, ["x: listed", "y: changed", "z: not listed"]),
    ],
)
def test_a_missing_changed_or_unlisted_file_is_named(
    tmp_path: Path, listed: dict[str, bytes], present: dict[str, bytes], complaints: list[str]
) -> None:
    found = mismatches(folder_with(tmp_path, listed, present))
    assert len(found) == len(complaints)
    assert all(line.startswith(start) for line, start in zip(found, complaints, strict=True))
