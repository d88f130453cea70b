"""The list of what is kept below golden/: the hash of each file, and where it came from. Data alone; who writes a file
there, and whether it may, commit/freeze.py says."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from codemods.schema.errors import ConfigError

NAME = "MANIFEST.toml"
SCHEMA = 1
_HEAD = """\
# Every file below this folder: its SHA-256, the commit it was taken from, and the day. Only `unmoved freeze` writes it.
# What is listed is evidence: originals and plans never change, specs and recordings in the open alone.
"""


class BadManifest(ConfigError):
    """MANIFEST.toml is not what `unmoved freeze` writes."""

    code = "bad-manifest"


class Kept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file. commit: the full hash of the commit that holds these bytes, for an original; the one that was there
    when it was listed, for the rest. date: YYYY-MM-DD."""

    sha256: str
    commit: str
    date: str


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """files: by path relative to the folder, with `/`."""

    schema: int = SCHEMA
    files: dict[str, Kept] = {}


def digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def parse_manifest(raw: bytes, *, path: str) -> Manifest:
    """Raises BadManifest."""
    try:
        found = msgspec.toml.decode(raw, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadManifest(str(error), fix="restore the file from git", path=path) from None
    if found.schema != SCHEMA:
        raise BadManifest(f"schema {found.schema}, known is {SCHEMA}", fix="use the release that wrote it", path=path)
    return found


def manifest_text(files: Mapping[str, Kept]) -> bytes:
    """The file, sorted by path, so that two additions merge."""
    rows = [f"{_HEAD}schema = {SCHEMA}\n"]
    for path, kept in sorted(files.items()):
        name = msgspec.json.encode(path).decode()  # a basic string of TOML is one of JSON
        rows.append(f'[files.{name}]\nsha256 = "{kept.sha256}"\ncommit = "{kept.commit}"\ndate = "{kept.date}"\n')
    return "\n".join(rows).encode()
