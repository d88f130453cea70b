"""The three plans on the large real tree, commit by commit, and their result beside what people made by hand.

Skipped, saying so, when the registry does not give the tree. `-s` shows each function's differences."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from codemods.commit.branch import write_branch
from codemods.plan.check import run_plan
from codemods.plan.load import load_plan
from codemods.repo.worktree import WorkTree
from codemods.schema.config import Settings
from codemods.schema.hazards import Severity
from codemods.schema.progress import Silent
from codemods.schema.result import PlanResult
from codemods.source.files import FileSet
from tests.support.compare_functions import difference, function_text
from tests.support.real_tree import Unreachable, clone, real_tree

pytestmark = [pytest.mark.real, pytest.mark.slow]

HERE = Path(__file__).parent
RUNNER = "sglang/srt/model_executor/model_runner.py"
BOOTSTRAP = "sglang/srt/distributed/bootstrap.py"

# What our plans make, and whether it is what people made (other commits lie between the two releases as well).
MADE = {
    "leaf_helpers": [
        ("sglang/srt/utils/common.py", "init_cublas", True),
        ("sglang/srt/utils/numa_utils.py", "init_threads_binding", False),
        ("sglang/srt/layers/model_parallel.py", "apply_torch_tp", False),
        ("sglang/srt/distributed/device_communicators/pynccl_allocator.py", "prealloc_symmetric_memory_pool", False),
        ("sglang/srt/model_loader/utils.py", "resolve_language_model", True),
        ("sglang/srt/utils/profile_utils.py", "build_step_span_name", True),
        (RUNNER, "ModelRunner.init_threads_binding", False),
        (RUNNER, "ModelRunner.apply_torch_tp", False),
    ],
    "torch_distributed": [
        (BOOTSTRAP, "TorchDistributedResult", False),
        (BOOTSTRAP, "init_torch_distributed", False),
        (BOOTSTRAP, "_resolve_backend", False),
        (BOOTSTRAP, "_resolve_dist_init_method", False),
        (BOOTSTRAP, "_set_all_reduce_flags", False),
        (BOOTSTRAP, "_init_cpu_threads_env", False),
        (BOOTSTRAP, "_init_parallel_groups", False),
        (BOOTSTRAP, "_prewarm_nccl", False),
        (BOOTSTRAP, "_check_tp_memory_balance", False),
        (RUNNER, "ModelRunner.init_torch_distributed", False),
    ],
    "initialize": [
        (RUNNER, "ModelRunner.initialize", False),
        (RUNNER, "ModelRunner.init_memory_saver_adapter", True),
        (RUNNER, "ModelRunner.maybe_init_elastic_ep", True),
        (RUNNER, "ModelRunner.init_token_oracle", True),
        (RUNNER, "ModelRunner.maybe_init_lora_manager", False),
        (RUNNER, "ModelRunner.maybe_enable_batch_invariant_mode", False),
    ],
}


def tree_or_skip(which: str) -> Path:
    try:
        return real_tree(which)
    except Unreachable as error:
        pytest.skip(f"the {which} tree can't be had: {error}")


@pytest.fixture(params=sorted(MADE))
def applied(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, PlanResult]:
    name = str(request.param)
    tree = clone(tree_or_skip("before"), tmp_path / "tree")
    plan = load_plan(HERE / f"{name}.toml")
    result = run_plan(FileSet(WorkTree(tree)), plan, Settings(), Silent())
    assert not result.refusals, [f"{each.code} {each.path}:{each.line} {each.message}" for each in result.refusals]
    return name, tree, result


def test_plan_on_the_real_tree(applied: tuple[str, Path, PlanResult], capsys: pytest.CaptureFixture[str]) -> None:
    name, tree, result = applied
    before = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True, text=True, check=True)
    commits = write_branch(tree, result, "made", None)
    assert len(commits) == sum(len(step.commits) for step in result.steps)
    after = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True, text=True, check=True)
    assert (before.stdout, after.stdout) == ("", "")
    for step in result.steps:
        for draft in step.commits:
            for change in draft.changes:
                if change.after is not None:
                    ast.parse(change.after)
    assert not [each for step in result.steps for each in step.hazards if each.severity is Severity.STOP]
    subprocess.run(["git", "checkout", "-q", "made"], cwd=tree, check=True)
    again = run_plan(FileSet(WorkTree(tree)), load_plan(HERE / f"{name}.toml"), Settings(), Silent())
    assert not again.refusals
    assert not [draft for step in again.steps for draft in step.commits]
    by_hand = tree_or_skip("after")
    wrong = []
    with capsys.disabled():
        for path, qualname, is_same in MADE[name]:
            ours = function_text(tree, path, qualname)
            assert ours, f"{qualname} is not in {path}"
            lines = difference(ours, function_text(by_hand, path, qualname))
            verdict = "same as by hand" if not lines else "differs from by hand"
            sys.stdout.write(f"\n{name}: {path} {qualname}: {verdict}\n")
            sys.stdout.writelines(f"    {line[:160]}\n" for line in lines)
            wrong += [qualname] if is_same and lines else []
    assert not wrong, f"no longer the same as by hand: {wrong}"
