"""The plan that is applied may lie in the tree: it names what moves, and must neither follow it nor count as one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.small_tree import FILES, PLAN


def unmoved(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codemods", *arguments, "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_plan_in_the_tree_is_left_alone(tmp_path: Path) -> None:
    for path, raw in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    done = unmoved(tmp_path, "apply", str(plan), "--in-place")
    assert done.returncode == 0, done.stdout + done.stderr
    assert plan.read_text() == PLAN
    assert "numa.bind" in (tmp_path / "pkg/caller.py").read_text()
    again = unmoved(tmp_path, "apply", str(plan), "--check")
    assert again.returncode == 0, again.stdout + again.stderr


def test_a_folder_outside_of_the_root_is_named(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for path, raw in FILES.items():
        (root / path).parent.mkdir(exist_ok=True, parents=True)
        (root / path).write_bytes(raw)
    (tmp_path / "shared").mkdir()
    (root / "shared").symlink_to(tmp_path / "shared")
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    for arguments in (("apply", str(plan), "--diff"), ("plan", "pkg.runner:Runner.bind", "--to", "pkg.numa")):
        done = unmoved(root, *arguments)
        assert done.returncode == 0, done.stderr
        assert "shared leads out of the root and was not read" in done.stderr
