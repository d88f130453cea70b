"""Replaying recordings: the function as it is now gets the recorded inputs, in processes of its own, which are confined
and have of the environment what Python needs, and what comes of it is compared with what was recorded.

A recording that can't be run, or whose run was refused something, is inconclusive. One whose target is gone is
unmatched, which fails. One that differs is run once more in a fresh process before it is reported, as those before it
may have left something behind. The processes are not told what was recorded of the outcome."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

import codemods.prove
from codemods.prove.golden import GoldenFile, as_data, difference
from codemods.prove.record_entries import ALL_VARIABLES
from codemods.prove.replay_compare import compare
from codemods.repo.run_program import Answering, run_answering
from codemods.repo.scratch import scratch_directory
from codemods.repo.warden import empty_folder
from codemods.schema.recording import LogLine, Raised, Recording, Replayed, ReplayVerdict

_BOOT = (
    "import sys, types; package = types.ModuleType('_unmoved_recorder'); package.__path__ = [sys.argv[1]];"
    " sys.modules['_unmoved_recorder'] = package; sys.path[:] = [p for p in sys.path if p];"
    " from _unmoved_recorder.replay_worker import main; main(*sys.argv[2:4])"
)


# What a Python and the libraries that it loads are found by, and what texts look like; all else stays out.
_KEPT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH", "__PYVENV_LAUNCHER__", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "UNMOVED_RECORD_BY",
)  # fmt: skip
_MOST_REFUSED = 3
_OUTCOME = ("returned", "raised", "writes", "env_writes", "logs")


class ReplayRequest(Struct, frozen=True, kw_only=True):
    """against: MODULE:QUALNAME of another function than the recorded one, "" for the same. paths: where modules are
    imported from. timeout_s: for one recording, with the import of its module. environment: names of further variables
    that the program gets. is_confined: False for a program that needs more than a sandbox gives."""

    root: Path
    paths: tuple[str, ...] = ()
    against: str = ""
    redact: tuple[str, ...] = ()
    timeout_s: float = 60.0
    python: str = ""
    environment: tuple[str, ...] = ()
    is_confined: bool = True


class Ran(Struct, frozen=True, kw_only=True):
    """updated: the recording as it would be now, where it differs and could be run."""

    file: GoldenFile
    replayed: Replayed
    updated: Recording | None = None


def replay(
    files: Sequence[GoldenFile], request: ReplayRequest, environ: Mapping[str, str]
) -> tuple[list[Ran], tuple[str, ...]]:
    """Each recording, in order, and what this system lacks to confine it. Raises CannotStart."""
    answers, lacks = _answers(dict(enumerate(files)), request, environ)
    found = []
    for number, file in enumerate(files):
        ran = _judged(file, answers[number], request)
        if ran.replayed.verdict is ReplayVerdict.DIFFERS and len(files) > 1:
            ran = _judged(file, _answers({number: file}, request, environ)[0][number], request)
        found.append(ran)
    return found, lacks


def _answers(
    files: Mapping[int, GoldenFile], request: ReplayRequest, environ: Mapping[str, str]
) -> tuple[dict[int, dict[str, Any]], tuple[str, ...]]:
    """What the worker says of each, and what its confinement lacks; it is started anew behind one that ended it."""
    found: dict[int, dict[str, Any]] = {}
    refused: dict[int, list[str]] = {}
    lacks: tuple[str, ...] = ()
    while waiting := [number for number in files if number not in found]:
        with scratch_directory() as scratch:
            begun = -1
            ended, lines = _worker([(number, files[number]) for number in waiting], request, environ, scratch)
            for line in lines:
                begun = line.get("begun", begun)
                lacks = tuple(line.get("lacks", lacks))
                if "refused" in line:
                    refused.setdefault(begun, []).append(line["refused"])
                if "done" in line:
                    found[line["done"]] = line
        left = [number for number in waiting if number not in found]
        if left:
            # The one that was begun and not done ended the process; when none was begun, none can be.
            for number in [begun] if begun in left else left:
                found[number] = {"status": "inconclusive", "reason": _why(ended, request.timeout_s)}
    for number, tried in refused.items():
        if number in found:
            what = "; ".join(dict.fromkeys(tried[:_MOST_REFUSED]))
            found[number] = {"status": "inconclusive", "reason": f"it reached out, which is refused here: {what}"}
    return found, lacks


def _worker(
    files: Sequence[tuple[int, GoldenFile]], request: ReplayRequest, environ: Mapping[str, str], scratch: Path
) -> tuple[Answering, list[dict[str, Any]]]:
    asked, answers, folder = scratch / "request.json", scratch / "answers.jsonl", scratch / "home"
    folder.mkdir()
    root = request.root.resolve()
    given = {
        "paths": [str(root / path) for path in dict.fromkeys([*request.paths, ""])],
        "folder": str(folder.resolve()) if request.is_confined else "",
        "readable": [str(root)],
        "against": request.against,
        "redact": list(request.redact),
        "recordings": [(number, _inputs(file.recording)) for number, file in files],
    }
    asked.write_bytes(msgspec.json.encode(given))
    package = str(Path(codemods.prove.__file__).parent)
    argv = [request.python or sys.executable, "-c", _BOOT, package, str(asked), str(answers)]
    ended = run_answering(argv, _environ(environ, request), root, answers=answers, timeout_s=request.timeout_s)
    empty_folder(str(folder))  # a hostile tree would be in the way of whoever removes the rest
    said = answers.read_text(encoding="ascii").splitlines(keepends=True) if answers.exists() else []
    return ended, [json.loads(each) for each in said if each.endswith("\n")]  # the last may be cut off


def _inputs(recording: Recording) -> dict[str, Any]:
    return {name: value for name, value in as_data(recording).items() if name not in _OUTCOME}


def _environ(environ: Mapping[str, str], request: ReplayRequest) -> dict[str, str]:
    kept = (*_KEPT, *request.environment) if request.is_confined else tuple(environ)
    given = {name: environ[name] for name in kept if name in environ}
    # No bytecode is left in the user's tree.
    return {**given, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def _why(ended: Answering, timeout_s: float) -> str:
    if ended.status is None:
        return f"it took more than {timeout_s:g} s"
    said = ended.stderr.strip().splitlines()
    told = f": {said[-1][:200]}" if said else ""
    if ended.status < 0:
        return f"it was ended by signal {-ended.status}{told}"
    return f"it ended the process with status {ended.status}{told}"


def _judged(file: GoldenFile, answer: Mapping[str, Any], request: ReplayRequest) -> Ran:
    recording, path = file.recording, os.fspath(file.path)
    if answer["status"] != "ran":
        verdict = ReplayVerdict(answer["status"])
        replayed = Replayed(file=path, target=recording.target, verdict=verdict, reason=answer["reason"])
        return Ran(file=file, replayed=replayed)
    new_module = (request.against or recording.target).partition(":")[0]
    differences, notes = compare(recording, answer, new_module)
    if request.is_confined and _is_denied(answer) and not _is_denied({"raised": msgspec.to_builtins(recording.raised)}):
        reason = f"{answer['raised']['type'].rpartition(':')[2]}: {answer['raised']['text']}, as it runs confined"
        denied = Replayed(file=path, target=recording.target, verdict=ReplayVerdict.INCONCLUSIVE, reason=reason)
        return Ran(file=file, replayed=denied)
    if not differences:
        agrees = Replayed(file=path, target=recording.target, verdict=ReplayVerdict.AGREES, notes=notes)
        return Ran(file=file, replayed=agrees)
    if ALL_VARIABLES in recording.notes:
        reason = f"{differences[0].place} differs, and it {ALL_VARIABLES}"
        unknown = Replayed(file=path, target=recording.target, verdict=ReplayVerdict.INCONCLUSIVE, reason=reason)
        return Ran(file=file, replayed=unknown)
    updated = _updated(recording, answer)
    replayed = Replayed(
        file=path, target=recording.target, verdict=ReplayVerdict.DIFFERS, notes=notes, differences=differences,
        reason=f"{differences[0].place} differs", diff=difference(recording, updated, file.path.name),
    )  # fmt: skip
    return Ran(file=file, replayed=replayed, updated=updated)


def _is_denied(answer: Mapping[str, Any]) -> bool:
    """Whether it ended with what a kernel says to code that may not; it may well do in the program."""
    raised = answer.get("raised") or {"type": "", "text": ""}
    denials = ("[Errno 1]", "[Errno 13]", "[Errno 38]", "Permission denied", "Operation not permitted")
    return raised["type"] == "builtins:PermissionError" or any(each in raised["text"] for each in denials)


def _updated(recording: Recording, answer: Mapping[str, Any]) -> Recording:
    """The recorded inputs with what came of them now."""
    raised = answer.get("raised")
    return msgspec.structs.replace(
        recording,
        returned=msgspec.UNSET if raised else answer.get("returned"),
        raised=msgspec.convert(raised, Raised) if raised else None,
        writes=answer["writes"],
        env_writes=answer["env_writes"],
        logs=msgspec.convert(answer["logs"], tuple[LogLine, ...]),
    )
