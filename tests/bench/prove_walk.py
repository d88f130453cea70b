"""`python -m tests.bench.prove_walk HISTORY`: every path of one large method as it became a module of functions, then
the same with each call made to fail. Prints paths, faults and CPU seconds as JSON; who compares them is prove.py.

Runs in one process and unconfined, as a worker does it after its confinement."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from pathlib import Path

from codemods.prove import opaque
from codemods.prove.explore import Budget
from codemods.prove.pairing import PairOfSubjects, walk
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.repo.commit_files import CommitFiles
from codemods.repo.store import ObjectStore
from codemods.source.files import FileSet

COMMIT = "caa85ea022dc58c89ae5782f1f606d70ae55954d"
METHOD = "sglang.srt.model_executor.model_runner:ModelRunner.init_torch_distributed"
_ROOTS = ("python",)
_NO_BOUND, _NO_END = 1_000_000, 3600.0


def main(history: Path) -> int:
    """Measure and print."""
    old_tree, new_tree = (_git(history, "rev-parse", f"{COMMIT}{end}") for end in ("^^{tree}", "^{tree}"))
    changed = _git(history, "diff", "--name-only", old_tree, new_tree).split()
    git_dir = Path(_git(history, "rev-parse", "--absolute-git-dir"))
    gc.disable()  # as in a worker (codemods/prove/task.py)
    with ObjectStore(git_dir) as store:
        sides = [FileSet(CommitFiles(store, Path(tree).name), source_roots=_ROOTS) for tree in (old_tree, new_tree)]
        found = {"paths": _measured(sides, changed, with_faults=False)}
        found["faults"] = _measured(sides, changed, with_faults=True)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


def _measured(sides: list[FileSet], changed: list[str], *, with_faults: bool) -> dict[str, float]:
    """Of the walk alone, and of loading the pair apart."""
    opaque.forget()
    began = time.process_time()
    twins = Twins(Side("old", sides[0]), Side("new", sides[1]), changed)
    pair = PairOfSubjects(twins, METHOD, METHOD)
    loaded, wall = time.process_time(), time.perf_counter()
    made = walk(pair, Budget(_NO_BOUND, _NO_BOUND, _NO_END), most=_NO_BOUND, with_faults=with_faults)
    return {
        "paths": made.paths,
        "faults": made.faults,
        "is_complete": made.is_complete,
        "load_s": loaded - began,
        "cpu_s": time.process_time() - loaded,
        "wall_s": time.perf_counter() - wall,
    }


def _git(history: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=history, capture_output=True, check=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
