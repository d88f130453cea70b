"""Compares a folder of golden files with its MANIFEST.toml. Reads only; who may add a file is a reviewer's business."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

MANIFEST = "MANIFEST.toml"


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`sha256` maps a path relative to the folder, with `/`, to the hex digest of the file's bytes."""

    sha256: dict[str, str]


def mismatches(folder: Path) -> list[str]:
    """One line for each file that is missing, changed or not listed; an empty list when all agree."""
    manifest = msgspec.toml.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    present = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    del present[MANIFEST]
    found = [f"{name}: listed, but missing" for name in sorted(manifest.sha256.keys() - present.keys())]
    for name, path in sorted(present.items()):
        listed = manifest.sha256.get(name)
        actual = hashlib.sha256(path.read_bytes()).hexdigest()
        if listed is None:
            found.append(f"{name}: not listed (sha256 {actual})")
        elif listed != actual:
            found.append(f"{name}: changed (listed {listed}, is {actual})")
    return found
