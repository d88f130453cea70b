"""Verdicts that need not be found again, kept by content in ROOT/.unmoved_cache/prove.

Only what agrees is kept: a difference, or what could not be checked, is looked at anew each time. An entry counts only
when this user's copy of the tool has made it: the root may be a stranger's branch, which can bring files of any name
and content, so each entry is sealed with a key that lies in the user's own directory. Whatever is wrong with an entry,
or with the place for it, costs time and never a verdict. What a verdict depends on, the callers put into its key."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import secrets
import sys
from enum import Enum
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

import codemods
from codemods.repo.cache_dir import cache_dir, user_cache_dir
from codemods.schema.errors import SourceError

MAX_BYTES = 64 << 20
_MAX_ENTRY_BYTES = 4 << 20
_SEAL_BYTES = 32
_LOOK_EVERY = 200  # entries written between two looks at the size of it all
_KEPT_PART = 0.75  # of what is allowed, after some had to go
_AGREES = "agrees"

_Result = TypeVar("_Result", bound=Struct)


@functools.cache
def _tool() -> str:
    """Of the tool's files what changes with an edit: while it is worked on, it keeps its version."""
    found = []
    for folder, folders, names in os.walk(os.path.dirname(codemods.__file__)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                found.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(found)


def key_of(*parts: bytes | str) -> str:
    """Of all that a verdict depends on, in this order. The tool itself and the version of Python are part of every
    key."""
    python = ".".join(map(str, sys.version_info))
    digest = hashlib.blake2b(digest_size=24)
    for part in (codemods.__version__, _tool(), f"{sys.implementation.name} {python}", *parts):
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(raw).to_bytes(8, "big") + (b"s" if isinstance(part, str) else b"b") + raw)
    return digest.hexdigest()


class Cache:
    """root: where the trees come from; None for no cache. why_not: why nothing is read or kept; "" when it works.
    max_bytes: of all entries together; the oldest go."""

    def __init__(self, root: Path | None, *, max_bytes: int = MAX_BYTES) -> None:
        self.why_not = "" if root else "it was not asked for"
        self._max_bytes, self._written = max_bytes, 0
        self._place, self._seal_key = Path(), b""
        if root:
            try:
                self._seal_key = _own_key()
                self._place = _made(cache_dir(root) / "prove")
            except SourceError as error:
                self.why_not = str(error)
            except OSError as error:
                self.why_not = f"{error.filename or 'its directory'} can't be used: {error.strerror}"

    def get(self, key: str, type: type[_Result]) -> _Result | None:  # noqa: A002 - as msgspec has it
        """What was put there; None when nothing was, or it can't be trusted or read."""
        if self.why_not:
            return None
        path = self._path(key)
        try:
            with path.open("rb") as file:
                raw = file.read(_MAX_ENTRY_BYTES + 1)
            if len(raw) > _MAX_ENTRY_BYTES or not hmac.compare_digest(raw[:_SEAL_BYTES], self._seal(key, raw)):
                return None
            result = msgspec.json.decode(raw[_SEAL_BYTES:], type=type)
        except (OSError, msgspec.DecodeError):
            return None
        if not _agrees(result):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what is asked for stays
        return result

    def put(self, key: str, result: Struct) -> bool:
        """Whether it was kept: not unless its `verdict` is `agrees`."""
        if self.why_not or not _agrees(result):
            return False
        body = bytes(_SEAL_BYTES) + msgspec.json.encode(result)
        if len(body) > _MAX_ENTRY_BYTES:
            return False
        path = self._path(key)
        new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        try:
            _made(path.parent)
            new.write_bytes(self._seal(key, body) + body[_SEAL_BYTES:])
            os.replace(new, path)
        except OSError:
            with contextlib.suppress(OSError):
                new.unlink()
            return False
        if self._written % _LOOK_EVERY == 0:
            self._shrink()
        self._written += 1
        return True

    def _path(self, key: str) -> Path:
        return self._place / key[:2] / key[2:]

    def _seal(self, key: str, raw: bytes) -> bytes:
        """Of an entry under its key: one that is moved to another does not count."""
        return hashlib.blake2b(key.encode() + raw[_SEAL_BYTES:], key=self._seal_key, digest_size=_SEAL_BYTES).digest()

    def _shrink(self) -> None:
        entries = sorted(_entries(self._place))
        excess = sum(num_bytes for _, num_bytes, _ in entries) - self._max_bytes
        if excess <= 0:
            return
        excess += int(self._max_bytes * (1 - _KEPT_PART))
        for _, num_bytes, path in entries:
            if excess <= 0:
                return
            excess -= num_bytes
            with contextlib.suppress(OSError):
                os.unlink(path)


def _agrees(result: Struct) -> bool:
    verdict = getattr(result, "verdict", None)
    return bool((verdict.value if isinstance(verdict, Enum) else verdict) == _AGREES)


def _entries(place: Path) -> list[tuple[float, int, str]]:
    """(last used, bytes, path) of each file, half-written ones included; nothing that a link leads to. What another run
    has removed meanwhile is left out."""
    found = []
    folders = [entry.path for entry in _listed(place) if entry.is_dir(follow_symlinks=False)]
    for entry in (entry for folder in folders for entry in _listed(folder)):
        with contextlib.suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            found.append((status.st_mtime, status.st_size, entry.path))
    return found


def _listed(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _made(place: Path) -> Path:
    if place.is_symlink():
        raise OSError(0, "it is a symlink", str(place))
    place.mkdir(exist_ok=True)
    return place


def _own_key() -> bytes:
    """Of this user on this machine; made when it is missing. Raises OSError."""
    path = user_cache_dir() / "seal"
    with contextlib.suppress(FileNotFoundError):
        return _read_key(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"seal.{secrets.token_hex(4)}.new")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(secrets.token_bytes(32))
    try:
        os.link(new, path)  # two first runs at once: one key wins
    except FileExistsError:
        pass
    finally:
        os.unlink(new)
    return _read_key(path)


def _read_key(path: Path) -> bytes:
    raw = path.read_bytes()
    if len(raw) != 32:
        raise OSError(0, "it is not a key; remove it", str(path))
    return raw
