"""Git repositories and plan results for tests. Starts git by itself, so that tests do not lean on what they test."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from codemods.schema.result import CommitDraft, FileChange, Phase, PlanResult, StepResult


def run_git(root: Path, *args: str, stdin: bytes = b"", check: bool = True) -> str:
    """What a user's git says, with the settings that newer versions would ask for."""
    settings = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "advice.detachedHead=false")
    done = subprocess.run(["git", *settings, *args], cwd=root, input=stdin, capture_output=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"git {args}: {done.stderr!r}")
    return os.fsdecode(done.stdout)


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    for path, raw in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(raw)


def make_repository(root: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """A repository at `root` with one commit that holds `files`; without files there is no commit."""
    root.mkdir(parents=True, exist_ok=True)
    run_git(root, "init", "-q")
    if files is not None:
        write_files(root, files)
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "--allow-empty", "-m", "base")
    return root


def change(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(path=path, before=before, after=after)


def draft(*changes: FileChange, phase: Phase = Phase.MOVE, subject: str = "Move it", body: str = "") -> CommitDraft:
    return CommitDraft(phase=phase, subject=subject, body=body, changes=changes)


def plan_result(*drafts: CommitDraft, plan_id: str = "leaf-helpers") -> PlanResult:
    """A plan whose n-th step has the n-th draft as its only commit."""
    steps = (
        StepResult(number=number, do="move", target="a:f", to="b", commits=(one,))
        for number, one in enumerate(drafts, start=1)
    )
    return PlanResult(plan_id=plan_id, steps=tuple(steps))


def snapshot(root: Path, *, leave_out: Sequence[str] = (".git",)) -> dict[str, tuple[str, int]]:
    """Kind, content and permission bits of everything below `root`: equal for equal trees."""
    found: dict[str, tuple[str, int]] = {}
    for folder, directories, names in os.walk(root):
        directories[:] = [
            name for name in directories if Path(folder, name).relative_to(root).as_posix() not in leave_out
        ]
        for name in [*directories, *names]:
            place = Path(folder, name)
            if place.is_symlink():
                content = f"-> {place.readlink()}"
            else:
                content = "/" if place.is_dir() else hashlib.sha256(place.read_bytes()).hexdigest()
            found[place.relative_to(root).as_posix()] = (content, place.lstat().st_mode)
    return found


def status_and_index(root: Path) -> tuple[str, str, str, str]:
    """What must stay as it is when commits are written beside the work tree: status, index, HEAD, stash of files."""
    index = Path(root, run_git(root, "rev-parse", "--git-path", "index").strip())
    return (
        run_git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all"),
        hashlib.sha256(index.read_bytes()).hexdigest(),
        run_git(root, "rev-parse", "HEAD"),
        str(snapshot(root)),
    )
