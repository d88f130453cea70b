"""`python -m tests.equivalence.rerecord [RUN] [--update]`: makes golden/recordings anew, by running the code before the
split in a work tree of its own: the scenarios, and real serving on one rank, two stages and tensor-parallel ranks.

What is there stays as it is while its behaviour is seen; new behaviours are added; changed ones are shown, and written
with --update. `unmoved freeze` (--update for changed ones) lists the files afterwards. Takes some minutes."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from codemods.prove.golden import read_recording
from tests.bisect.__main__ import git, work_tree
from tests.support.house import ROOT

RECORDINGS = ROOT / "golden/recordings"
RUNNER = "engine.runner.model_runner:ModelRunner"
TRAILER = "Unmoved-Plan: leaf-helpers"
# Method -> what it has become.
METHODS = {
    "init_cublas": "engine.host.cublas:init_cublas",
    "apply_torch_tp": "engine.layers.model_parallel:apply_torch_tp",
    "init_threads_binding": "engine.host.numa:init_threads_binding",
    "prealloc_symmetric_memory_pool": "engine.distributed.symmetric_memory:prealloc_symmetric_memory_pool",
    "resolve_language_model": "engine.loader.language_model:resolve_language_model",
    "_build_step_span_name": "engine.runner.profiling:build_step_span_name",
    "init_torch_distributed": "engine.distributed.bootstrap:init_torch_distributed",
}
GENERATE = ("python", "-m", "engine", "generate", "--max-tokens", "2", "--model", "smollm2-135m-instruct", "Hi")
# SmolLM2 has nine heads: three ranks share them, two can't (and say so). Two ranks serve as stages.
RUNS: dict[str, tuple[str, ...]] = {
    "scenarios": ("python", "-m", "tests.equivalence.scenarios"),
    "one": GENERATE,
    "pp2": (*GENERATE, "--pp-size", "2"),
    "tp3": (*GENERATE, "--tp-size", "3"),
    "tp3-dtensor": (*GENERATE, "--tp-size", "3", "--enable-torch-tp"),
}
HIDDEN = ("result",)  # in real runs: how much memory a machine has free


def folder_of(target: str) -> str:
    return target.rpartition(".")[2].lstrip("_")


def before_the_split() -> str:
    """The parent of the first commit of the plan."""
    found = git(ROOT, "log", "--format=%H", "--reverse", f"--grep=^{TRAILER}$", "HEAD").split()
    if not found:
        raise SystemExit(f"no commit here has the trailer {TRAILER!r}: run it in a clone with its whole history")
    return git(ROOT, "rev-parse", f"{found[0]}^").strip()


def record(tree: Path, name: str, *, is_update: bool) -> int:
    """One run, in the tree; the exit status of `unmoved record`."""
    boot = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from codemods.cli.app import main; main()"
    options = ["--to", str(RECORDINGS), "--root", str(tree), *(["--update"] if is_update else [])]
    if name != "scenarios":
        options += ["--config", f"redact={list(HIDDEN)!r}".replace("'", '"')]
    # A model is recorded as a whole, once: whatever it has may be what makes its text.
    wanted = [method for method in METHODS if method != "resolve_language_model" or name == "one"]
    targets = [f"{RUNNER}.{method}" for method in wanted]
    argv = [sys.executable, "-c", boot, "record", *targets, *options, "--", *RUNS[name]]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    environ = {name: it for name, it in os.environ.items() if not name.startswith(("ENGINE_", "UNMOVED_"))}
    environ |= {"PYTHONPATH": str(tree), "PATH": path, "OMP_NUM_THREADS": "1"}
    return subprocess.run(argv, cwd=tree, env=environ, check=False).returncode


def sort(run: str) -> None:
    """New files into the folder of their method, apart by whether the machine was a simulated one."""
    for path in sorted(RECORDINGS.glob("*.json")):
        recording = read_recording(path)
        if recording.target.endswith(".apply_torch_tp") and recording.arguments["self"]["attributes"]["rank"]:
            path.unlink()  # it holds a whole model, of which every rank has the same parts
            continue
        kind = "simulated" if run == "scenarios" else "real"
        place = RECORDINGS / folder_of(path.name.rpartition("-")[0]) / kind
        place.mkdir(parents=True, exist_ok=True)
        path.rename(place / path.name)


def main(arguments: Sequence[str]) -> int:
    """0: recorded; 1: some would change; 2: a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence.rerecord")
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", choices=[*RUNS, []], help=f"of {', '.join(RUNS)}; all of them"
    )
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args(arguments)
    worst = 0
    with work_tree(ROOT, before_the_split()) as tree:
        (tree / "tests/equivalence").mkdir(exist_ok=True)
        shutil.copy(ROOT / "tests/equivalence/scenarios.py", tree / "tests/equivalence")
        RECORDINGS.mkdir(parents=True, exist_ok=True)
        for name in given.runs or RUNS:
            worst = max(worst, record(tree, name, is_update=given.update))
            sort(name)
    return worst


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
