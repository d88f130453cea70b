"""One case from the field: a small tree, a plan, and what is right. Runs the plan commit by commit beside a probe."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from codemods.plan.check import run_plan
from codemods.plan.load import load_plan
from codemods.repo.worktree import WorkTree
from codemods.schema.config import Settings
from codemods.schema.progress import Silent
from codemods.schema.result import FileChange, PlanResult
from codemods.source.files import FileSet

ROOT = Path(__file__).parents[1] / "cases" / "codemods"
_PROBE_SECONDS = 30


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """case.toml. refuses: codes that must be among the refusals; empty when the plan applies.

    hazards: codes that must be reported although the plan applies. python: oldest minor version that can parse it."""

    id: str
    kind: str
    fault: str
    report: str
    right: str
    refuses: tuple[str, ...] = ()
    hazards: tuple[str, ...] = ()
    python: int = 10


def load_cases() -> list[tuple[Path, Case]]:
    """Every case folder with its description, by name."""
    folders = sorted(path.parent for path in ROOT.glob("*/case.toml"))
    return [(folder, msgspec.toml.decode((folder / "case.toml").read_bytes(), type=Case)) for folder in folders]


def probe(folder: Path, tree: Path, *, after: bool) -> str | None:
    """What the case's probe prints beside a tree; None when the case has none."""
    script = folder / "probe_after.py" if after and (folder / "probe_after.py").exists() else folder / "probe.py"
    if not script.exists():
        return None
    shutil.copy(script, tree / "_probe.py")
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", "import sys; sys.path.insert(0, '.'); exec(open('_probe.py').read())"],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=_PROBE_SECONDS,
        check=False,
    )
    (tree / "_probe.py").unlink()
    return done.stdout if done.returncode == 0 else f"exit {done.returncode}\n{done.stderr}"


def apply_case(folder: Path, tree: Path) -> PlanResult:
    """The case's plan on a tree, in memory."""
    plan = load_plan(folder / "plan.toml")
    return run_plan(FileSet(WorkTree(tree)), plan, Settings(), Silent())


def write(tree: Path, changes: tuple[FileChange, ...]) -> None:
    """The changes of one commit, on disk."""
    for change in changes:
        path = tree / change.path
        assert (path.read_bytes() if path.exists() else None) == change.before, change.path
        if change.after is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(change.after)


def contents(tree: Path) -> dict[str, bytes]:
    """Every file of a tree."""
    files = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}
