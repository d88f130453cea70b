"""Edits of several files that happen all or not at all, also across Ctrl-C, kill -9 and a full disk.

The journal under ROOT/.unmoved_cache holds the originals before anything else is touched. While it is there, the edit
has not happened: `roll_back` restores the state before, as often as it is asked to. Removing the journal is what makes
an edit happen. Whether the files may be edited at all is preflight.py's to say."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from codemods.repo.cache_dir import NAME, cache_dir, remove_cache_dir
from codemods.schema.errors import UnmovedError
from codemods.schema.result import FileChange

_JOURNAL, _DRAFT = "journal", "journal.new"


class WriteFailed(UnmovedError):
    """The operating system refused a write; what had been written was taken back."""

    code = "write-failed"


class InterruptedWrite(UnmovedError):
    """An earlier run was cut short, and what it left can't be taken back without losing somebody's edit."""

    code = "interrupted-write"


class Busy(UnmovedError):
    """Another process is writing to the same root."""

    code = "busy"


class Edit(Struct, frozen=True, kw_only=True):
    """One file of a journal. Paths are bytes relative to the root: a name need not be UTF-8.

    before: the original, None for a new file. after: SHA-256 of the new content, None for a removed file.
    mode: permission bits to restore; owner: uid and gid."""

    path: bytes
    temporary: bytes
    before: bytes | None
    after: bytes | None
    mode: int
    owner: tuple[int, int]


class Journal(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """made: directories that were not there before, the outermost first; `made_cache`: nor was the cache directory."""

    format: int = 1
    edits: tuple[Edit, ...]
    made: tuple[bytes, ...]
    made_cache: bool


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Keeps other processes of ours from writing to `root` meanwhile; ends with the process, however that ends."""
    try:
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise WriteFailed(
            f"{root}: {error.strerror}; nothing was changed", fix="mend that, or name another --root"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Busy(
                f"another unmoved is writing to {root}", fix="wait until it has ended, then run again"
            ) from error
        except OSError:
            pass  # a file system without locks, as some network ones are; the journal still guards against crashes
        yield
    finally:
        os.close(handle)


def has_journal(root: Path) -> bool:
    """Whether an edit of `root` was cut short (or is under way in another process)."""
    return not (root / NAME).is_symlink() and (root / NAME / _JOURNAL).exists()


def write_all(root: Path, changes: Sequence[FileChange], modes: Mapping[str, int]) -> None:
    """Makes all changes or none. modes: permission bits of new files that are not to get the usual ones.

    Call it inside `exclusive` and with no journal left. Raises WriteFailed, or what interrupted it."""
    made_cache = not (root / NAME).exists()
    try:
        journal = _begin(root, changes, made_cache)
        _write_new(root, journal, changes, modes)
        _swap(root, journal)
        (root / NAME / _JOURNAL).unlink()
    except OSError as error:
        roll_back(root)
        raise WriteFailed(
            f"{error.filename or root}: {error.strerror}; nothing was changed",
            fix="mend that (disk full? permissions?) and run again",
        ) from error
    except BaseException:
        roll_back(root)
        raise
    finally:
        # What fails from here on is no reason to say that the edit did: it has happened, or has been taken back. Should
        # the removal of the journal not last, the next run takes the whole edit back.
        with contextlib.suppress(OSError):
            if not has_journal(root):
                _sync_directory(root / NAME)
                if made_cache:
                    remove_cache_dir(root)


def _begin(root: Path, changes: Sequence[FileChange], made_cache: bool) -> Journal:
    cache = cache_dir(root)
    token = secrets.token_hex(4)
    edits = tuple(_edit(root, change, f".unmoved-{token}-{number}.tmp") for number, change in enumerate(changes))
    parents = {parent for change in changes if change.before is None for parent in _parents(change.path)}
    made = tuple(os.fsencode(parent) for parent in sorted(parents) if not (root / parent).exists())
    journal = Journal(edits=edits, made=made, made_cache=made_cache)
    draft = cache / _DRAFT
    draft.unlink(missing_ok=True)
    _write_file(draft, msgspec.msgpack.encode(journal), mode=0o600, owner=None)
    os.replace(draft, cache / _JOURNAL)
    _sync_directory(cache)
    _sync_directory(root)
    return journal


def _edit(root: Path, change: FileChange, temporary: str) -> Edit:
    directory = change.path.rpartition("/")[0]
    mode, owner = 0, (0, 0)
    if change.before is not None:
        status = os.lstat(root / change.path)
        mode, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
    return Edit(
        path=os.fsencode(change.path),
        temporary=os.fsencode(f"{directory}/{temporary}" if directory else temporary),
        before=change.before,
        after=None if change.after is None else hashlib.sha256(change.after).digest(),
        mode=mode,
        owner=owner,
    )


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _write_new(root: Path, journal: Journal, changes: Sequence[FileChange], modes: Mapping[str, int]) -> None:
    for name in journal.made:
        (root / os.fsdecode(name)).mkdir()
    for edit, change in zip(journal.edits, changes, strict=True):
        if change.after is not None:
            mode = edit.mode if change.before is not None else modes.get(change.path)
            owner = edit.owner if change.before is not None else None
            _write_file(root / os.fsdecode(edit.temporary), change.after, mode=mode, owner=owner)


def _swap(root: Path, journal: Journal) -> None:
    for edit in journal.edits:
        target = root / os.fsdecode(edit.path)
        if edit.after is None:
            target.unlink()
            _remove_empty(root, os.fsdecode(edit.path))
        else:
            os.replace(root / os.fsdecode(edit.temporary), target)
    _sync_directories(root, journal)


def _remove_empty(root: Path, path: str) -> None:
    """A package without files would still be importable, as a namespace."""
    with contextlib.suppress(OSError):  # not empty: then it stays
        for parent in reversed(_parents(path)):
            (root / parent).rmdir()


def roll_back(root: Path) -> bool:
    """Restores the state before the edit that was cut short; False when there was none.

    Raises InterruptedWrite, and changes nothing, when one of the files is neither what it was nor what it was to be."""
    cache = root / NAME
    if cache.is_dir() and not cache.is_symlink():
        (cache / _DRAFT).unlink(missing_ok=True)
    if not has_journal(root):
        return False
    journal = _read(root)
    states = [_is_edited(root, edit, cache / _JOURNAL) for edit in journal.edits]
    try:
        _restore(root, journal, [edit for edit, is_edited in zip(journal.edits, states, strict=True) if is_edited])
        (cache / _JOURNAL).unlink()
        _sync_directory(cache)
    except OSError as error:
        raise WriteFailed(
            f"{error.filename or root}: {error.strerror}; a change that was cut short could not be taken back yet",
            fix="mend that (disk full? permissions?) and run again: the originals are safe in .unmoved_cache",
        ) from error
    if journal.made_cache:
        remove_cache_dir(root)
    return True


def _read(root: Path) -> Journal:
    """A journal may also have come with a tree from elsewhere, so it is believed only about files inside the root."""
    place = root / NAME / _JOURNAL
    fix = f"restore the tree by hand (`git restore .`), then delete {place}"
    try:
        journal = msgspec.msgpack.decode(place.read_bytes(), type=Journal)
    except (msgspec.DecodeError, OSError) as error:
        raise InterruptedWrite(f"the journal of an earlier run can't be read: {error}", fix=fix) from error
    for name in [*(name for edit in journal.edits for name in (edit.path, edit.temporary)), *journal.made]:
        path = os.fsdecode(name)
        is_plain = not {"", ".", "..", ".git"}.intersection(path.split("/"))
        if not is_plain or not Path(os.path.realpath((root / path).parent)).is_relative_to(root):
            raise InterruptedWrite(f"the journal of an earlier run names {path!r}, which is not ours to write", fix=fix)
    return journal


def _restore(root: Path, journal: Journal, edited: Sequence[Edit]) -> None:
    for edit in journal.edits:  # first of all: when the disk is full, this makes room
        (root / os.fsdecode(edit.temporary)).unlink(missing_ok=True)
    for edit in edited:
        temporary, target = root / os.fsdecode(edit.temporary), root / os.fsdecode(edit.path)
        if edit.before is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        _write_file(temporary, edit.before, mode=edit.mode, owner=edit.owner)
        os.replace(temporary, target)
    for name in reversed(journal.made):
        with contextlib.suppress(OSError):  # never made, or somebody else put a file there
            (root / os.fsdecode(name)).rmdir()
    _sync_directories(root, journal)


def _is_edited(root: Path, edit: Edit, journal: Path) -> bool:
    """True for what the edit made of the file (or its absence), False for what it was before."""
    path = os.fsdecode(edit.path)
    try:
        found: bytes | None = (root / path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        found = None
    if found == edit.before:
        return False
    # Where a file is gone, restoring it loses nothing, whoever removed it.
    if found is None or hashlib.sha256(found).digest() == edit.after:
        return True
    raise InterruptedWrite(
        "was edited after a run of unmoved was cut short, whose changes would now be taken back",
        fix=f"put your edit aside (`git stash`, or a copy) and run again, or keep all as it is: delete {journal}",
        path=path,
    )


def _write_file(place: Path, raw: bytes, *, mode: int | None, owner: tuple[int, int] | None) -> None:
    """Writes a file that does not exist, down to the disk. mode None: what the umask leaves."""
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else 0o600)
    try:
        left = memoryview(raw)
        while left:
            left = left[os.write(handle, left) :]
        status = os.fstat(handle)
        if owner is not None and owner != (status.st_uid, status.st_gid):
            with contextlib.suppress(PermissionError):  # only root may give a file away; else it becomes ours
                os.fchown(handle, *owner)
        if mode is not None:
            os.fchmod(handle, mode)  # after the owner: changing that clears bits
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_directories(root: Path, journal: Journal) -> None:
    names = [*(edit.path for edit in journal.edits), *journal.made]
    for directory in sorted({(root / os.fsdecode(name)).parent for name in names}):
        if directory.is_dir():
            _sync_directory(directory)


def _sync_directory(directory: Path) -> None:
    """Makes names last: a rename is on disk when its directory is."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
