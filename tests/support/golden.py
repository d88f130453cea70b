"""Compares a folder of golden files with its MANIFEST.toml. Reads only; `unmoved freeze` adds files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from codemods.schema.manifest import NAME, parse_manifest


def mismatches(folder: Path) -> list[str]:
    """One line for each file that is missing, changed or not listed; an empty list when all agree."""
    manifest = parse_manifest((folder / NAME).read_bytes(), path=NAME)
    present = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    del present[NAME]
    found = [f"{name}: listed, but missing" for name in sorted(manifest.files.keys() - present.keys())]
    for name, path in sorted(present.items()):
        listed = manifest.files.get(name)
        actual = hashlib.sha256(path.read_bytes()).hexdigest()
        if listed is None:
            found.append(f"{name}: not listed (sha256 {actual})")
        elif listed.sha256 != actual:
            found.append(f"{name}: changed (listed {listed.sha256}, is {actual})")
    return found
