"""`prove` on the history that the commands were made for: helpers that were taken out of a class of 3,400 lines, and
the methods that they were taken out of. Every difference that a reader found, at its place, and no other.

Skipped where UNMOVED_TEST_HISTORY does not name the repository (bare; a mirror of sglang's main)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from codemods.cli.prove_derived import changed_paths
from codemods.cli.prove_trees import Trees
from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.spec import load_spec
from codemods.prove.stable import Twins
from codemods.schema.config import Settings
from codemods.schema.prove import DeclaredDelta, Level, Pair, PairResult, ProofVerdict

pytestmark = [pytest.mark.real, pytest.mark.slow]

SPECS = Path(__file__).parent / "specs"
RUNNER = "sglang.srt.model_executor.model_runner:ModelRunner"
_SECONDS = 400.0


@pytest.fixture(scope="module")
def trees() -> Iterator[Trees]:
    place = os.environ.get("UNMOVED_TEST_HISTORY", "")
    if not Path(place, "objects").is_dir():
        pytest.skip("UNMOVED_TEST_HISTORY names no bare repository")
    with Trees(Path(place), Settings()) as found:
        yield found


def proved(trees: Trees, old: str, new: str, pair: Pair, *, mutants: int = 0, seconds: float = _SECONDS) -> PairResult:
    opaque.forget()
    change = trees.change(old, new)
    twins = Twins(Side("old", change.old), Side("new", change.new), changed_paths(change))
    return prove_pair(twins, pair, ProveOptions(jobs=1, mutants=mutants, seconds=seconds))


def of_commit(trees: Trees, commit: str, old: str, new: str = "", **domains: str) -> PairResult:
    pair = Pair(old=old, new=new or old, domains=domains)
    return proved(trees, f"git:{commit}^", f"git:{commit}", pair, seconds=120.0)


def places(found: PairResult) -> set[tuple[str, str, int]]:
    """Code, file and line on the new side of everything that differs."""
    return {(each.code, each.path.rpartition("/")[2], each.line) for each in found.deltas}


def shown(found: PairResult) -> str:
    lines = [f"{each.code} {each.path}:{each.line} {each.declared} {each.message}" for each in found.deltas]
    left = [f"{each.id} {each.line} {each.before} -> {each.after}" for each in found.mutants.survivors if not each.why]
    return "\n".join([f"{found.verdict.value} {found.level.value} {found.reason}", *lines, *left])


@pytest.mark.parametrize(("name", "level"), [("numa_binding", Level.SAMPLED), ("torch_distributed", Level.EXHAUSTIVE)])
def test_the_helpers_agree_but_for_what_is_declared_and_every_mutant_is_told_apart(
    trees: Trees, name: str, level: Level
) -> None:
    spec = load_spec(SPECS / f"{name}.toml")
    for pair in spec.pairs:
        found = proved(trees, spec.old_tree, spec.new_tree, pair, mutants=60)
        assert found.verdict is ProofVerdict.AGREES, shown(found)
        assert found.level is level, shown(found)
        assert found.mutants.total >= 20, shown(found)
        assert all(each.why for each in found.mutants.survivors), shown(found)


def test_a_declaration_that_does_not_occur_is_refused(trees: Trees) -> None:
    spec = load_spec(SPECS / "numa_binding.toml")
    stale = DeclaredDelta(code="D8", where="get_cpu_ids_by_node", why="nothing of the kind")
    pair = replace(spec.pairs[0], deltas=(*spec.pairs[0].deltas, stale))
    found = proved(trees, spec.old_tree, spec.new_tree, pair, seconds=120.0)
    assert found.verdict is ProofVerdict.DIFFERS
    assert "does not occur any more" in found.reason


def test_init_torch_distributed_differs_in_what_a_reader_found_and_in_nothing_else(trees: Trees) -> None:
    pair = Pair(old=f"{RUNNER}.init_torch_distributed", new=f"{RUNNER}.init_torch_distributed", domains={"*": "opaque"})
    found = proved(trees, "git:caa85ea02^", "git:caa85ea02", pair)
    runner, bootstrap = "model_runner.py", "bootstrap.py"
    assert places(found) == {
        *(("D1", bootstrap, line) for line in (70, 140, 212, 274, 291)),
        *((code, runner, line) for code in ("D2", "D3", "D8") for line in (1119, 1120, 1121)),
        ("D3", runner, 1122),
        ("D8", runner, 1122),
        ("D6", runner, 1122),
        ("D4", runner, 1117),
        ("D5", bootstrap, 75),
    }, shown(found)


def test_initialize_as_it_was_split_agrees(trees: Trees) -> None:
    found = of_commit(trees, "0fe2dbd42", f"{RUNNER}.initialize", **{"*": "opaque"})
    assert found.verdict is ProofVerdict.AGREES, shown(found)


def test_the_rest_of_that_split_differs_in_what_a_reader_found(trees: Trees) -> None:
    recovered = of_commit(
        trees,
        "0fe2dbd42",
        f"{RUNNER}.maybe_recover_ep_ranks",
        "sglang.srt.elastic_ep.elastic_ep:maybe_recover_ep_ranks",
    )
    assert places(recovered) >= {("D1", "elastic_ep.py", 272), ("D6", "elastic_ep.py", 242)}, shown(recovered)
    assert any(each.code == "D8" and "forward_pass_id" in each.message for each in recovered.deltas), shown(recovered)
    fault = of_commit(trees, "0fe2dbd42", f"{RUNNER}._maybe_rebalance_after_rank_fault")
    roots = [each for each in fault.deltas if each.code == "D1" and "[root]" in each.message]
    assert [each.line for each in roots] == [284], shown(fault)


def test_arguments_that_are_read_before_they_are_needed_are_named_where_they_are_read(trees: Trees) -> None:
    found = of_commit(trees, "c9b408101", "sglang.srt.eplb.eplb_manager:EPLBManager.rebalance")
    read = {each.line: each.message for each in found.deltas if each.code == "D4"}
    assert set(read) == {107, 108}, shown(found)
    assert "expert_backup_client" in read[107]
    assert "weight_updater" in read[108]


def test_a_short_circuit_that_is_lost_and_an_override_that_is_recorded_late(trees: Trees) -> None:
    found = of_commit(trees, "45dfa318f", f"{RUNNER}.configure_kv_cache_dtype")
    said = [(each.code, each.message) for each in found.deltas]
    assert ("D8", "now also: call self.spec_algorithm.is_dflash()") in said, shown(found)
    assert any(code == "D7" for code, _ in said), shown(found)


def test_what_is_overwritten_only_at_times_and_what_is_set_outside_of_a_region(trees: Trees) -> None:
    found = of_commit(trees, "5b540b16d", f"{RUNNER}.load_model")
    said = [(each.code, each.message) for each in found.deltas]
    assert ("D8", "no longer: set self.sliding_window_size = None") in said, shown(found)
    assert {message for code, message in said if code == "D2"} >= {
        "self.loader is written at another moment",
        "self.model is written at another moment",
    }, shown(found)
