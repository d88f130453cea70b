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
