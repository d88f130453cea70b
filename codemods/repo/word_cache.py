"""Keeps a word index from one run to the next, in the user's own cache directory: one file for each repository.

The repository decides nothing about the file but its name, and the facts in it are keyed by the ids of blobs, the
version of the tool and the way words are found. A file that is damaged, another's, or of another version counts as
missing; one that can't be written is done without. So it costs time, and never a verdict."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import struct
import sys
from array import array
from itertools import accumulate, pairwise
from pathlib import Path

import codemods
from codemods.repo.word_index import KINDS, RECIPE, Part, WordIndex

# Of all files together; those that were used longest ago go.
MAX_BYTES = 256 << 20
MAX_FILE_BYTES = 64 << 20
# With fewer new blobs, finding their words again costs less than writing the file.
WRITE_AFTER = 64
_HEAD = struct.Struct("<32s32sQQ" + "Q" * KINDS)  # digest of all that follows, key, blobs, bytes of an id, of each text


def load_index(git_dir: Path) -> WordIndex:
    """What was kept of a repository; an empty index when that is nothing."""
    path = _path_of(git_dir)
    part = _read(path)
    if part is None:
        return WordIndex()
    with contextlib.suppress(OSError):
        os.utime(path)  # what is used stays
    return WordIndex(part)


def keep_index(git_dir: Path, index: WordIndex) -> bool:
    """Whether it was written: not when next to nothing is new, or there is no place for it."""
    if index.num_new < WRITE_AFTER:
        return False
    path = _path_of(git_dir)
    raw = _packed(index.whole())
    if raw is None:
        return False
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.writelines(raw)
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        return False
    index.num_new = 0
    _shrink(path)
    return True


def _path_of(git_dir: Path) -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~"), ".cache")
    # Versions side by side: two that take turns would each time make anew what the other has kept.
    name = hashlib.sha256(_key() + os.fsencode(os.path.realpath(git_dir))).hexdigest()[:32]
    return home / "unmoved" / "words" / name


def _key() -> bytes:
    return hashlib.sha256(f"{codemods.__version__} 1 {sys.byteorder} {RECIPE}".encode()).digest()


def _packed(part: Part) -> list[bytes | bytearray | memoryview] | None:
    """What stands in the file; None when it is too much."""
    num_id_bytes = len(part.oids[0]) // 2 if part.oids else 20
    numbers = [ends.tobytes() for ends in part.ends]
    body: list[bytes | bytearray | memoryview] = [bytes.fromhex("".join(part.oids)), *numbers, *part.texts]
    head = _HEAD.pack(b"", _key(), len(part.oids), num_id_bytes, *map(len, part.texts))[32:]
    if any(len(oid) != 2 * num_id_bytes for oid in part.oids) or sum(map(len, body)) > MAX_FILE_BYTES - _HEAD.size:
        return None
    digest = hashlib.sha256(head)
    for each in body:
        digest.update(each)
    return [digest.digest(), head, *body]


def _read(path: Path) -> Part | None:
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
            if not is_own or not _HEAD.size <= status.st_size <= MAX_FILE_BYTES:
                return None
            raw = file.read(status.st_size)
    except OSError:
        return None
    if len(raw) < _HEAD.size or hashlib.sha256(memoryview(raw)[32:]).digest() != raw[:32]:
        return None
    _, key, num_blobs, num_id_bytes, *num_bytes = _HEAD.unpack_from(raw)
    sizes = [num_blobs * num_id_bytes, *[(num_blobs + 1) * 4] * len(num_bytes), *num_bytes]
    if key != _key() or num_id_bytes not in (20, 32) or sum(sizes) != len(raw) - _HEAD.size:
        return None
    ends = list(accumulate(sizes, initial=_HEAD.size))
    oids, *pieces = [memoryview(raw)[start:end] for start, end in pairwise(ends)]
    digits, width = oids.hex(), 2 * num_id_bytes
    part = Part()
    part.oids = [digits[start : start + width] for start in range(0, len(digits), width)]
    part.ends = tuple(array("I", bytes(piece)) for piece in pieces[:KINDS])
    part.texts = list(pieces[KINDS:])
    return part


def _shrink(newest: Path) -> None:
    """Lets go of what was used longest ago, and of what a run that was killed left half written."""
    found = []
    with contextlib.suppress(OSError), os.scandir(newest.parent) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                found.append((status.st_mtime, status.st_size, entry.path))
    excess = sum(num_bytes for _, num_bytes, _ in found) - MAX_BYTES
    for _, num_bytes, path in sorted(found):
        if excess <= 0:
            return
        if path != os.fspath(newest):
            excess -= num_bytes
            with contextlib.suppress(OSError):
                os.unlink(path)
