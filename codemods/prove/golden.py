"""Recordings as files: their names, their bytes, and what a new run means for those that are there.

A file's name comes from the behaviour it holds. A file stays as it is while its behaviour is seen, so that recording
the same program twice changes no byte; it changes only where the same inputs came to something else."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from codemods.prove.record_shape import behaviour, inputs
from codemods.schema.errors import ConfigError
from codemods.schema.recording import SCHEMA, Change, Recording

_SUFFIX = ".json"
_MAX_BYTES = 4 << 20


class BadRecording(ConfigError):
    """A file of recordings is not what it should be."""

    code = "bad-recording"


class NoRecordings(ConfigError):
    """There is nothing to replay."""

    code = "no-recordings"


class GoldenFile(Struct, frozen=True):
    """A recording and where it lies."""

    path: Path
    recording: Recording


def load_recordings(directory: Path | str) -> list[Recording]:
    """Every recording in a directory and below it, by file name. Raises BadRecording."""
    return [each.recording for each in golden_files([Path(directory)])]


def golden_files(places: Iterable[Path]) -> list[GoldenFile]:
    """Of files and directories, each once, in order. Raises BadRecording, and NoRecordings for a place without one."""
    found: dict[Path, GoldenFile] = {}
    for place in places:
        paths = sorted(place.rglob(f"*{_SUFFIX}")) if place.is_dir() else [place]
        if not paths:
            raise NoRecordings(f"{place} holds no recording", fix="make some with `unmoved record`")
        for path in paths:
            if path not in found:
                found[path] = GoldenFile(path, read_recording(path))
    return list(found.values())


def read_recording(path: Path) -> Recording:
    """Raises BadRecording."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadRecording(f"can't be read: {error.strerror}", fix="name a recording", path=os.fspath(path)) from error
    if len(raw) > _MAX_BYTES:
        raise BadRecording("too large for a recording", fix="name a recording", path=os.fspath(path))
    try:
        given = msgspec.json.decode(raw)
        if isinstance(given, dict) and given.get("schema") not in (None, SCHEMA):
            raise BadRecording(
                f"it has schema {given['schema']}, this version reads {SCHEMA}",
                fix="use the version of unmoved that wrote it, or record anew",
                path=os.fspath(path),
            )
        return checked(msgspec.convert(given, Recording))
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise BadRecording(f"no recording: {error}", fix="record anew, or take it out", path=os.fspath(path)) from error


def checked(recording: Recording) -> Recording:
    """Raises msgspec.ValidationError for what the types can't say."""
    if (recording.returned is msgspec.UNSET) == (recording.raised is None):
        raise msgspec.ValidationError("exactly one of `returned` and `raised` must be there")
    module, colon, qualname = recording.target.partition(":")
    if not (module and colon and qualname):
        raise msgspec.ValidationError(f"target {recording.target!r} is not MODULE:QUALNAME")
    return recording


def dump(recording: Recording) -> bytes:
    """The bytes of a recording's file."""
    return msgspec.json.format(msgspec.json.encode(recording), indent=2) + b"\n"


def as_data(recording: Recording) -> dict[str, Any]:
    """As plain data, with every key."""
    given: dict[str, Any] = {name: getattr(recording, name) for name in Recording.__struct_fields__}
    if recording.returned is msgspec.UNSET:
        del given["returned"]
    found: dict[str, Any] = msgspec.to_builtins(given)
    return found


def file_name(recording: Recording) -> str:
    """`Class.method-` and a digest of the behaviour."""
    return f"{recording.target.partition(':')[2]}-{behaviour(as_data(recording))}{_SUFFIX}"


def difference(old: Recording, new: Recording, name: str) -> str:
    """The change of one file as a unified diff."""
    before, after = (dump(each).decode().splitlines() for each in (old, new))
    return "\n".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="", n=3))


class Planned(Struct, frozen=True, kw_only=True):
    """What is to become of one file. recording: what it is to hold. old: what it holds, None for a new one."""

    path: Path
    change: Change
    recording: Recording
    old: Recording | None = None


def plan_files(
    directory: Path, examples: Sequence[Recording], targets: Sequence[str] = ()
) -> tuple[list[Planned], list[str]]:
    """What a run's examples mean for the recordings in `directory`, and what was left out. targets: of this run; other
    targets' files are none of its business."""
    old = golden_files([directory]) if directory.is_dir() and any(directory.rglob(f"*{_SUFFIX}")) else []
    steady, notes = _steady(examples)
    by_inputs = {inputs(as_data(each)): each for each in steady}
    by_behaviour: dict[str, Recording] = {}
    for each in sorted(steady, key=_size):
        by_behaviour.setdefault(behaviour(as_data(each)), each)
    planned: list[Planned] = []
    taken: set[str] = set()
    for file in old:
        if targets and not _is_of(file.recording.target, targets):
            continue
        data = as_data(file.recording)
        again, own = by_inputs.get(inputs(data)), behaviour(data)
        taken.add(own)
        if again is not None and not same_outcome(again, file.recording):
            taken.add(behaviour(as_data(again)))
            planned.append(Planned(path=file.path, change=Change.CHANGED, recording=again, old=file.recording))
        else:
            change = Change.SAME if again is not None else Change.KEPT if own in by_behaviour else Change.UNSEEN
            planned.append(Planned(path=file.path, change=change, recording=file.recording, old=file.recording))
    for digest, each in by_behaviour.items():
        if digest not in taken:
            planned.append(Planned(path=directory / file_name(each), change=Change.NEW, recording=each))
    return sorted(planned, key=lambda each: each.path), notes


def _is_of(target: str, targets: Sequence[str]) -> bool:
    return any(target == each or target.rpartition(".")[0] == each for each in targets)


def _size(recording: Recording) -> tuple[int, bytes]:
    raw = dump(recording)
    return len(raw), raw


def _steady(examples: Sequence[Recording]) -> tuple[list[Recording], list[str]]:
    """Without those whose inputs came to different outcomes: what decides is not among the inputs."""
    found: dict[str, list[Recording]] = {}
    for each in examples:
        found.setdefault(inputs(as_data(each)), []).append(each)
    unsteady: dict[str, int] = {}
    steady = []
    for group in found.values():
        if all(same_outcome(group[0], each) for each in group):
            steady.append(group[0])
        else:
            unsteady[group[0].target] = unsteady.get(group[0].target, 0) + 1
    return steady, [
        f"{target}: {number} left out: the same inputs came to different outcomes, so something else decides"
        for target, number in sorted(unsteady.items())
    ]


def same_outcome(one: Recording, other: Recording) -> bool:
    """Whether all that came of two calls is equal."""
    return _outcome(one) == _outcome(other)


def _outcome(recording: Recording) -> bytes:
    returned = None if recording.returned is msgspec.UNSET else recording.returned
    return msgspec.json.encode([returned, recording.raised, recording.writes, recording.env_writes, recording.logs])


def write_planned(planned: Iterable[Planned], changes: Sequence[Change]) -> int:
    """Write the files whose change is among `changes`; how many. A file's name follows its behaviour."""
    number = 0
    for each in planned:
        if each.change not in changes:
            continue
        replace_file(each.path, each.recording)
        number += 1
    return number


def replace_file(path: Path, recording: Recording) -> Path:
    """Write a recording in place of the file at `path`, which need not be there. Where it lies now."""
    place = path.parent / file_name(recording)
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(".part")
    part.write_bytes(dump(recording))
    part.replace(place)
    if path != place and path.exists():
        path.unlink()
    return place
