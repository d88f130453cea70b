"""`unmoved verify` on a real history: one commit, the eleven of the split, a long range; the peer where it is given."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.measure import Measured, measure

# The split of ModelRunner as it was merged, in https://github.com/modal-projects/sglang.
SPLIT = (
    *("cad8fe7a6", "caa85ea02", "0fe2dbd42", "45dfa318f", "c9b408101", "5b540b16d", "440aebdfe", "6999007a1"),
    *("39e508b7f", "ed2fcd320", "2cf753c4f"),
)
RANGE = "caa85ea02~{count}..caa85ea02"
MAX_ONE_S, MAX_SPLIT_S, MAX_MB = 0.5, 4.0, 300.0
_ONE_RUN = "verify: the eleven commits of the split, in one run"
_PEER = "mechanical_refactor_proof_generator.py"


class Unusable(Exception):
    """The history is not there or is another one."""


def rows(history: Path, here: Path, *, runs: int, length: int, peer: Path | None) -> list[tuple[str, Measured]]:
    """What was measured. length: commits of the long range, 0 for none. Raises Unusable."""
    missing = [commit for commit in SPLIT if not _has(history, commit)]
    if missing:
        raise Unusable(f"{history} lacks the commits {', '.join(missing)}; clone modal-projects/sglang there")
    unmoved = [sys.executable, "-m", "codemods", "verify", "--root", str(history), "--exit-zero"]
    usual = measure([*unmoved, "-j", "1", _usual(history)], here, runs=runs)
    found = [("verify: a commit of usual size", usual)]
    singles = [measure([*unmoved, "-j", "1", commit], here, runs=runs) for commit in SPLIT]
    found.append(("verify: the largest of the split (`5b540b16d`)", singles[SPLIT.index("5b540b16d")]))
    found.append(("verify: the eleven commits of the split, one process each", _sum(singles)))
    split = [sys.executable, "-m", "tests.bench.verify_split", str(history), *SPLIT]
    found.append((_ONE_RUN, measure(split, here, runs=runs)))
    if length:
        command = [*unmoved, "--format", "jsonl", RANGE.format(count=length)]
        found.append((f"verify: a range of {length:,} first-parent steps", measure(command, here, timeout_s=3600)))
    if peer is not None:
        with tempfile.TemporaryDirectory(prefix="unmoved-peer-") as folder:
            command = [sys.executable, str(peer / _PEER), "cad8fe7a6", "--out", folder]
            found.append(("the peer: the proof of one commit (`cad8fe7a6`)", measure(command, history)))
    return found


def bounds(found: Sequence[tuple[str, Measured]]) -> list[str]:
    """What was promised and does not hold."""
    usual, split = found[0][1], dict(found)[_ONE_RUN]
    missed = []
    if usual.wall_s > MAX_ONE_S:
        missed.append(f"verifying one commit takes {usual.wall_s:.2f} s (bound {MAX_ONE_S} s)")
    if split.wall_s > MAX_SPLIT_S:
        missed.append(f"verifying the eleven commits takes {split.wall_s:.2f} s (bound {MAX_SPLIT_S} s)")
    missed += [
        f"{name} needs {each.peak_mb:.0f} MB (bound {MAX_MB:.0f} MB)"
        for name, each in found[:4]
        if each.peak_mb > MAX_MB
    ]
    return missed


def _usual(history: Path) -> str:
    """Of the fifty commits before the split the one in the middle by the number of changed Python lines."""
    said = _git(history, "log", "--no-merges", "-n", "50", "--format=%x00%H", "--numstat", "cad8fe7a6~", "--", "*.py")
    sizes = []
    for block in said.split("\0")[1:]:
        commit, *lines = block.split("\n")
        changed = sum(int(a) + int(b) for a, b in re.findall(r"^(\d+)\t(\d+)\t", "\n".join(lines), re.MULTILINE))
        sizes.append((changed, commit))
    return sorted(sizes)[len(sizes) // 2][1]


def _sum(parts: Sequence[Measured]) -> Measured:
    return Measured(
        wall_s=sum(each.wall_s for each in parts),
        cpu_s=sum(each.cpu_s for each in parts),
        peak_mb=max(each.peak_mb for each in parts),
        exit_code=max(each.exit_code for each in parts),
        output="".join(each.output for each in parts if each.exit_code),
    )


def _has(history: Path, commit: str) -> bool:
    asked = subprocess.run(
        ["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=history, capture_output=True, check=False
    )
    return asked.returncode == 0


def _git(history: Path, *args: str) -> str:
    return subprocess.run(
        ["git", *args], cwd=history, capture_output=True, check=True, text=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout
