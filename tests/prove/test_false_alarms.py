"""Rewrites that keep behaviour are not said to change it, and the usual slip of each is found: on the trees that come
with the repository. tests/real has the same on a large real tree."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

import pytest

from codemods.prove.options import ProveOptions
from codemods.schema.prove import PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree
from tests.prove.regression_pairs import load_cases
from tests.support.field_cases import contents
from tests.support.plan_commits import changed_callables
from tests.support.rewrites.by_transform import made
from tests.support.rewrites.trials import Trial, chosen, side_of

_CASES = Path(__file__).parents[1] / "cases"
_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=300, faults=600, seconds=90.0)
_SPREAD = "`**` of an opaque value on every path: inconclusive"
# What is not decided though it keeps behaviour; slips that are not told, and why.
UNDECIDED = {
    "annotated_local minirunner.config:ModelConfig.from_server_args": _SPREAD,
    "conditional_to_statement minirunner.engine:Engine.__init__": _SPREAD,
}
MISSED = {
    "conditional_to_statement minirunner.engine:Engine.__init__": _SPREAD,
    "annotated_local m:lock": "shows with two parents in a row; the values that decide have one at most",
}


def _trees() -> list[tuple[str, FileSet]]:
    found = [("demo", contents(_CASES / "demo" / "before")), ("base", contents(_CASES / "mutants" / "base"))]
    found.extend((case.id, case.tree("before")) for case in load_cases())
    return [(name, FileSet(MemoryTree(tree))) for name, tree in found]


@functools.cache
def trials() -> tuple[Trial, ...]:
    found: list[Trial] = []
    for name, files in _trees():
        side = side_of(files)
        paths = [path for path in files.paths() if path.endswith(".py")]
        found.extend(chosen(side, paths, 36 if name == "demo" else 2, each_kind=2))
    return tuple(found)


@pytest.mark.parametrize("trial", trials(), ids=lambda each: each.label)
def test_a_safe_rewrite_is_no_difference(trial: Trial) -> None:
    found = trial.prove()
    wanted = ProofVerdict.INCONCLUSIVE if trial.label in UNDECIDED else ProofVerdict.AGREES
    assert found.verdict is wanted, _shown(trial, found)


@pytest.mark.parametrize(
    "trial", [each for each in trials() if each.change.slip is not None], ids=lambda each: each.label
)
def test_its_usual_slip_is_one(trial: Trial) -> None:
    found = trial.prove(is_slip=True)
    is_missed = trial.label in MISSED
    assert (found.verdict is ProofVerdict.DIFFERS) is not is_missed, _shown(trial, found, is_slip=True)


def test_what_our_transforms_make_is_no_difference() -> None:
    counts: Counter[str] = Counter()
    for _, files in _trees()[:1]:
        side = side_of(files)
        paths = [path for path in files.paths() if path.endswith(".py")]
        for commit in made(side, paths, 8):
            for pair in changed_callables(commit):
                found = commit.prove(pair, _OPTIONS)
                counts[found.verdict.value] += 1
                is_open = found.verdict is ProofVerdict.INCONCLUSIVE and "** of an opaque value" in found.reason
                assert found.verdict is ProofVerdict.AGREES or is_open, (commit.draft.subject, pair, found)
    assert counts["agrees"] >= 10, counts


def test_there_are_enough_of_them() -> None:
    kinds = Counter(each.kind for each in trials())
    assert len(trials()) >= 60
    assert len(kinds) >= 20
    assert len(UNDECIDED) * 20 <= len(trials())
    assert len(MISSED) * 20 <= len([each for each in trials() if each.change.slip is not None])


def _shown(trial: Trial, found: PairResult, *, is_slip: bool = False) -> str:
    deltas = "\n".join(f"{each.code} {each.line} {each.message} {each.world}" for each in found.deltas)
    return f"{found.verdict.value} {found.reason}\n{deltas}\n{trial.text(is_slip=is_slip)}"
