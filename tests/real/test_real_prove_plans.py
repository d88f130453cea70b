"""The three plans on the large real tree, proved commit by commit: every callable whose text a commit changes agrees,
but for what the step's hazards declare. Each difference that is allowed has its hazard and its reason here, and must
occur.

Skipped, saying so, when the tree can't be had."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from codemods.plan.check import run_plan
from codemods.plan.load import load_plan
from codemods.prove.options import ProveOptions
from codemods.repo.worktree import WorkTree
from codemods.schema.config import Settings
from codemods.schema.progress import Silent
from codemods.schema.prove import Delta, PairResult, ProofVerdict
from codemods.source.files import FileSet
from tests.support.plan_commits import Commit, changed_callables, commits_of
from tests.support.real_tree import Unreachable, real_tree

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif("UNMOVED_TEST_LONG" not in os.environ, reason="minutes: `tox run -e real` runs it"),
]

HERE = Path(__file__).parent
_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=300, faults=1200, seconds=60.0)


@dataclass(frozen=True)
class Allowed:
    """A difference of one commit (named by a part of its subject) and one callable (a pattern). hazard: what the step
    declares it under; "" where the step is asked for that very difference. where: in the message or in the world."""

    commit: str
    callable: str
    code: str
    where: str
    hazard: str
    why: str
    can_miss: bool = False


_LOGGER = "the record comes from the logger of the module that the function is in now"
_LATER = "the wrapper assigns what the function returns, when it has run"
_EARLY = "what is passed is read before the call"
_OPTIONAL = "the plan passes it as getattr(self, ..., None), so that a runner without it no longer fails"
ALLOWED = {
    "leaf_helpers": [
        Allowed("Split ModelRunner.init_threads", "init_threads_binding", "D2", "local_omp_cpuid", "U103", _LATER),
        Allowed("Move _init_threads", "_?init_threads_binding", "D1", "numa nodes", "U110", _LOGGER),
        Allowed("Move _apply_torch", "_?apply_torch_tp", "D1", "tensor parallelism", "U110", _LOGGER),
        Allowed("Make ModelRunner.prealloc", "init_cuda_graphs", "D4", "enable_symm_mem", "U102", _EARLY),
        Allowed("Move prealloc_symm", "init_cuda_graphs", "D1", "Pre-allocating", "U110", _LOGGER),
        Allowed("Move prealloc_symm", "prealloc_symmetric_.*", "D1", "Pre-allocating", "U110", _LOGGER),
    ],
    "initialize": [],
    "torch_distributed": [
        *(
            Allowed("Split ModelRunner.init_torch", "init_torch_distributed", code, name, "U103", _LATER)
            for code in ("D2", "D3")
            for name in ("self.tp_group", "self.pp_group", "self.attention_tp_group")
        ),
        Allowed("Split ModelRunner.init_torch", "init_torch_distributed", "D4", "", "U102", _EARLY),
        Allowed("Split ModelRunner.init_torch", "init_torch_distributed", "D9", "local_omp_cpuid", "", _OPTIONAL),
        Allowed("Split ModelRunner.init_torch", "init_torch_distributed", "D8", "local_omp_cpuid", "", _OPTIONAL, True),
        Allowed("Move _init_torch", "_?init_torch_distributed", "D1", "Init torch distributed begin", "U110", _LOGGER),
        Allowed("Move _init_torch", "_?init_torch_distributed", "D1", "", "U110", _LOGGER),
        Allowed(
            "Return TorchDistributedResult", "bootstrap:init_torch_distributed", "D6", "TorchDistributedResult", "",
            "the step is asked for another result; its one caller, a pair of this commit too, agrees",
        ),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ALLOWED))
def test_every_commit_of_a_plan_agrees_but_for_its_hazards(name: str) -> None:
    try:
        tree = real_tree("before")
    except Unreachable as error:
        pytest.skip(f"the tree can't be had: {error}")
    files = FileSet(WorkTree(tree))
    result = run_plan(files, load_plan(HERE / f"{name}.toml"), Settings(), Silent())
    assert not result.refusals
    wrong: list[str] = []
    used: set[Allowed] = set()
    pairs = 0
    for commit in commits_of(files, result):
        for pair in changed_callables(commit):
            found = commit.prove(pair, _OPTIONS)
            pairs += 1
            wrong += _unmeant(commit, found, ALLOWED[name], used)
    assert not wrong, "\n".join(wrong)
    stale = [each for each in ALLOWED[name] if each not in used and not each.can_miss]
    assert not stale, f"allowed, but it does not occur: {stale}"
    assert pairs >= sum(len(step.commits) > 0 for step in result.steps)


def _unmeant(commit: Commit, found: PairResult, allowed: list[Allowed], used: set[Allowed]) -> list[str]:
    here = [each for each in allowed if each.commit in commit.draft.subject and _is_of(each, found)]
    wrong = []
    for delta in found.deltas:
        meant = [each for each in here if _is_meant(each, delta)]
        used.update(meant)
        wrong += [] if meant else [f"{commit.draft.subject}: {found.new}: {delta.code} {delta.message}"]
        wrong += [
            f"{each} is no hazard of the step" for each in meant if each.hazard and each.hazard not in commit.hazards
        ]
    wanted = ProofVerdict.DIFFERS if found.deltas else ProofVerdict.AGREES
    if found.verdict is not wanted:
        wrong.append(f"{commit.draft.subject}: {found.new}: {found.verdict.value} {found.reason}")
    return wrong


def _is_of(each: Allowed, found: PairResult) -> bool:
    return re.search(rf"[.:]{each.callable}\Z", found.new) is not None


def _is_meant(each: Allowed, delta: Delta) -> bool:
    return each.code == delta.code and each.where in "\n".join([delta.message, *delta.world])
