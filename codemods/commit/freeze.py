"""Freezes what a plan is about to change: which files are kept below golden/, what MANIFEST.toml says of them, and what
may not be done to a file that is listed. Writes all or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from codemods.commit.journal import exclusive, roll_back, write_all
from codemods.schema.errors import GitError
from codemods.schema.manifest import NAME, Kept, Manifest, digest, manifest_text, parse_manifest
from codemods.schema.plan import Plan
from codemods.schema.result import FileChange
from codemods.source.files import FileSet
from codemods.source.modules import modules_of

FOREVER = ("originals/", "plans/")  # never changed, whoever asks


class Unfreezable(GitError):
    """What is to be kept is there already, as something else, or what is kept was changed."""

    code = "unfreezable"


class Frozen(Struct, frozen=True, kw_only=True):
    """Paths relative to the folder. added, updated: what the manifest says anew; gone: listed before, not
    there any more. kept: how many files it lists now."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    gone: tuple[str, ...]
    kept: int


def originals(plan: Plan, files: FileSet) -> dict[str, bytes]:
    """The files that hold what the plan moves, and those that receive it and are there before, as they are: by path
    below the folder. What an earlier step of the plan makes is not there yet, and is left out."""
    modules = modules_of(files)
    found: dict[str, bytes] = {}
    for step in plan.step:
        for text in (step.target, step.destination):
            path = modules.path_of(text.partition(":")[0])
            if path is not None and path in files:
                found[f"originals/{plan.id}/{path}"] = files.read(path)
    return found


def freeze(
    root: Path, golden: str, more: Mapping[str, bytes], *, commit: str, date: str, updates: bool = False
) -> Frozen:
    """Write `more` (path below the folder -> bytes), then list every file of the folder that is not listed yet.

    golden: the folder, relative to root. commit, date: of what is new. updates: specs and recordings that have changed,
    or are gone, are listed as they are now. Raises Unfreezable naming the first file that may not be as it is, and then
    nothing is written."""
    folder = root / golden
    listed = _manifest(folder)
    present = {**_present(folder), **{path: digest(raw) for path, raw in more.items()}}
    for path, raw in sorted(more.items()):
        _refuse_other_content(folder / path, golden, path, raw)
    gone = sorted(listed.files.keys() - present.keys())
    changed = sorted(path for path, kept in listed.files.items() if path in present and present[path] != kept.sha256)
    for path in (*changed, *gone):
        if path.startswith(FOREVER):
            raise Unfreezable(
                "is evidence of how it was, and is listed with other bytes"
                if path in changed
                else "is listed, and gone",
                fix="restore it from git: originals and plans are never changed",
                path=f"{golden}/{path}",
            )
        if not updates:
            raise Unfreezable(
                "is not what the manifest lists" if path in changed else "is listed, and gone",
                fix="restore it from git, or give --update where the change is meant",
                path=f"{golden}/{path}",
            )
    added = sorted(present.keys() - listed.files.keys())
    files = {path: kept for path, kept in listed.files.items() if path not in gone}
    for path in (*added, *changed):
        files[path] = Kept(sha256=present[path], commit=commit, date=date)
    if added or changed or gone:
        _write(root, golden, more, manifest_text(files))
    return Frozen(added=tuple(added), updated=tuple(changed), gone=tuple(gone), kept=len(files))


def _manifest(folder: Path) -> Manifest:
    try:
        raw = (folder / NAME).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Manifest()
    return parse_manifest(raw, path=str(folder / NAME))


def _present(folder: Path) -> dict[str, str]:
    return {path: digest((folder / path).read_bytes()) for path in _files(folder) if path != NAME}


def _files(folder: Path) -> Iterator[str]:
    """Plain files below the folder, but for what Python leaves behind and hidden ones."""
    for base, directories, names in os.walk(folder):
        directories[:] = sorted(each for each in directories if each != "__pycache__" and not each.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                yield (Path(base) / name).relative_to(folder).as_posix()


def _refuse_other_content(place: Path, golden: str, path: str, raw: bytes) -> None:
    if place.is_file() and place.read_bytes() != raw:
        raise Unfreezable(
            "is kept already, with other bytes",
            fix="give the plan another id: what a plan began with is kept once",
            path=f"{golden}/{path}",
        )


def _write(root: Path, golden: str, more: Mapping[str, bytes], manifest: bytes) -> None:
    wanted = {f"{golden}/{path}": raw for path, raw in {**more, NAME: manifest}.items()}
    changes = []
    for path, raw in sorted(wanted.items()):
        before = (root / path).read_bytes() if (root / path).is_file() else None
        if before != raw:
            changes.append(FileChange(path=path, before=before, after=raw))
    with exclusive(root):
        roll_back(root)
        write_all(root, changes, {})
